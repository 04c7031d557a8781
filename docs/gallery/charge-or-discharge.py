# %% [markdown]
# # Charge or discharge?
#
# A battery of 10 MWh buys and sells electricity. Every day at noon it commits to a plan for the 48
# half-hours of the next day, whose prices are unknown.
#
# ![Prices of one day, and two plans](figures/charge-or-discharge-day.svg)
#
# ![What each method earned](figures/charge-or-discharge-totals.svg)
#
# ## Data
#
# Half-hourly prices of the Irish market from November 2011 on, with the previous day's forecasts of
# wind, load and price ([reference data](../../testdata/README.md)). One row per half-hour.

# %% tags=["hide-input"]
import gallery
from figure import Figure

HEADER = ["date", "step", *gallery.FORECASTS, "price"]
days = gallery.irish_days(gallery.size(120, 789))
table = [
    [date, f"h{step:02}", *row] for date, rows in days.items() for step, row in enumerate(rows)
]
gallery.write_csv("prices.csv", HEADER, table)
print(f"{len(days)} days from {table[0][0]} to {table[-1][0]}")

# %% [markdown]
# ## Problem
#
# The [storage](../problems/storage.md) problem: the decision is the energy bought (or, if negative,
# sold) in each half-hour.

# %% tags=["hide-input"]
gallery.write(
    "battery.toml",
    """kind = "storage"
steps = 48
capacity = 10.0
charge_limit = 1.25         # 2.5 MW for half an hour
discharge_limit = 1.25
charge_efficiency = 0.92
discharge_efficiency = 0.95
initial = 5.0
""",
)

# %% [markdown]
# ## Backtest
#
# Models are trained on a rolling window. The objective is a cost: negative costs are earnings.

# %%
EPOCHS = gallery.size(5, 30)
COLUMNS = "--instance-column date --item-column step --cost-column price --problem battery.toml"
summary = gallery.backtest(
    f"--data prices.csv {COLUMNS} --time date --methods 'MSE;MAE(O,S);MSE(C,O,S);SPO+' "
    f"--window {gallery.size(60, 365)} --step {gallery.size(30, 14)} --season 7 --epochs {EPOCHS}"
)

# %% tags=["hide-input"]
for method in summary["methods"]:
    method["total_cost"] *= -1
summary["sense"] = "maximize"
gallery.show(gallery.totals(summary, "Earned with the battery (EUR)"), "charge-or-discharge-totals")

# %% [markdown]
# ## One day, explained
#
# The day on which least squares has the highest regret, decided by a model of the days before.

# %%
worst = max(gallery.periods("least squares"), key=lambda row: float(row["regret"]))["period"]
before = [row for row in table if row[0] < worst]
gallery.write_csv("before.csv", HEADER, before)
gallery.regretless(
    f"train --data before.csv {COLUMNS} --method 'MAE(O,S)' --split time:date,0.2,0 "
    f"--ignore date --epochs {EPOCHS} --out battery.safetensors --force",
    show=["validation regret"],
)
gallery.explain(f"--model battery.safetensors --data prices.csv {COLUMNS} --key date={worst}")

# %% tags=["hide-input"]
plans = {name: gallery.decisions(worst, name) for name in ("least squares", "MAE(O,S)")}
prices = [row[-1] for row in days[worst]]
drawing = Figure(330, f"Prices of {worst}, and the plans of least squares and of MAE(O,S)")
drawing.text(0, 16, f"Price on {worst} (EUR/MWh)", "head")
top = max(max(prices), 1)
for step, price in enumerate(prices):
    drawing.rect(10 + 8.0 * step, 150, 6, -110.0 * max(price, 0) / top, "pale gray", 0)
drawing.text(398, 38, f"up to {top:.0f}", "small faint end")
for place, (name, plan) in enumerate(plans.items()):
    base = 200 + 76 * place
    drawing.text(0, base - 26, name, "small strong")
    drawing.line(6, base, 396, base, "grid")
    for step in range(48):
        amount = plan.get(f"h{step:02}", 0.0)
        color = "green" if amount > 0 else "red"
        drawing.rect(10 + 8.0 * step, base, 6, -18.0 * amount, f"fill {color}", 0)
drawing.text(0, 322, "green: buy, red: sell; midnight to midnight", "small faint")
gallery.show(drawing, "charge-or-discharge-day")
