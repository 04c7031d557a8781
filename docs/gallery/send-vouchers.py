# %% [markdown]
# # Which customers get the voucher?
#
# Every week each of 60 customers gets nothing, 5 EUR or 10 EUR, within a budget. Some buy more with
# a voucher, some would have bought anyway.
#
# ![Who gets what in one week](figures/send-vouchers-week.svg)
#
# ![What each method earned](figures/send-vouchers-totals.svg)
#
# ## Data
#
# Generated: the margin of a customer's purchase under each option, without the voucher itself.
# Occasional customers react; loyal ones buy anyway. One row per week, customer and option.

# %% tags=["hide-input"]
import math
import random

import gallery
from figure import Figure

random.seed(5)
CUSTOMERS, OFFERS = 60, (0, 5, 10)
WEEKS = gallery.size(90, 220)
HEADER = ["date", "item", "offer", "recency", "visits", "basket", "offer_recency", "offer_visits",
          "margin"]  # fmt: skip
table = []
for week in range(WEEKS):
    for customer in range(CUSTOMERS):
        recency, visits = random.expovariate(0.3), random.expovariate(0.5)
        basket = random.lognormvariate(3, 0.4)
        for offer in OFFERS:
            persuaded = math.exp(-((recency - 4) ** 2) / 6) * math.exp(-((visits - 2) ** 2) / 4)
            rate = 0.15 + 0.5 * math.tanh(visits / 3) + 0.09 * offer * persuaded
            margin = 0.4 * basket * min(rate, 1) + random.gauss(0, 1)
            name = f"k{customer:02}-{offer}"
            row = [float(offer), recency, visits, basket, offer * recency, offer * visits, margin]
            table.append([gallery.date(7 * week), name, *row])
gallery.write_csv("campaigns.csv", HEADER, table)
print(f"{WEEKS} weeks, {CUSTOMERS} customers, {len(table)} rows")

# %% [markdown]
# ## Problem
#
# A [multiple-choice knapsack](../problems/multiple-choice-knapsack.md): one option per customer,
# within a budget of 150 EUR.

# %% tags=["hide-input"]
weights = ", ".join(str(list(OFFERS)) for _ in range(CUSTOMERS))
gallery.write(
    "campaign.toml",
    f'kind = "multiple_choice_knapsack"\nweights = [{weights}]\ncapacity = 150\n',
)

# %% [markdown]
# ## Backtest
#
# The reaction is not linear in the features, so the methods train a small network. Least squares
# stays linear.

# %%
EPOCHS = gallery.size(5, 50)
COLUMNS = "--instance-column date --item-column item --cost-column margin"
summary = gallery.backtest(
    f"--data campaigns.csv {COLUMNS} --problem campaign.toml --time date --ignore date "
    f"--methods 'MSE;MAE(O,S);SPO+' --predictor mlp:16 --initial {gallery.size(30, 80)} "
    f"--step {gallery.size(30, 14)} --epochs {EPOCHS}"
)

# %% tags=["hide-input"]
gallery.show(gallery.totals(summary, "Margin (EUR)"), "send-vouchers-totals")

# %% [markdown]
# ## One week, explained
#
# What would it cost to give the first customer 10 EUR?

# %%
week = gallery.periods("least squares")[-1]["period"]
gallery.write_csv("before.csv", HEADER, [row for row in table if row[0] < week])
gallery.regretless(
    f"train --data before.csv {COLUMNS} --problem campaign.toml --method SPO+ --predictor mlp:16 "
    f"--ignore date --split order:0.2,0.1 --epochs {EPOCHS} --out campaign.safetensors --force",
    show=["validation regret", "test regret"],
)
gallery.explain(
    f"--model campaign.safetensors --data campaigns.csv {COLUMNS} --key date={week} "
    "--force-choice k00-10"
)

# %% tags=["hide-input"]
chosen = gallery.decisions(week, "SPO+")
people = {row[1]: row for row in table if row[0] == week}
drawing = Figure(
    320, f"60 customers of the week of {week} by recency and visits, with their vouchers"
)
drawing.text(0, 16, f"Week of {week}: vouchers by customer", "head")
drawing.path([(30, 290), (30, 30)])
drawing.path([(30, 290), (392, 290)])
for name, row in people.items():
    if not chosen.get(name):
        continue
    x, y = 30 + min(row[3], 12) * 30, 290 - min(row[4], 7.5) * 32
    classes = {0: "stroke gray", 5: "pale green", 10: "fill green"}[int(row[2])]
    drawing.circle(x, y, {0: 4, 5: 6, 10: 7}[int(row[2])], classes)
drawing.text(392, 308, "weeks since the last visit", "small end")
drawing.text(36, 40, "visits a month", "small")
drawing.text(30, 308, "filled: 10 EUR, pale: 5", "small ink green")
gallery.show(drawing, "send-vouchers-week")
