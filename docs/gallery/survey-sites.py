# %% [markdown]
# # Which 50 sites to survey next month?
#
# A team counts a rare bird at 200 sites, with time for 50 of them each month.
#
# ![Sites on a map, those that were chosen, and where the birds were](figures/survey-sites-map.svg)
#
# ![How many birds each method found](figures/survey-sites-totals.svg)
#
# ## Data
#
# Generated: more birds near water and at the season's height, a few sites with flocks that come and
# go. Features of a site and month: last month's count, the mean of a year, distance to water,
# season.

# %% tags=["hide-input"]
import math
import random

import gallery
from figure import Figure

random.seed(11)
NUM_SITES, CHOSEN = 200, 50
MONTHS = gallery.size(84, 132)
sites = [(random.random(), random.random()) for _ in range(NUM_SITES)]
flock = [random.random() < 0.15 for _ in range(NUM_SITES)]
HEADER = ["month", "site", "last", "year", "water", "height", "warmth", "count"]
counts = [[] for _ in range(NUM_SITES)]
table = []
for month in range(MONTHS + 12):
    season = math.cos(2 * math.pi * month / 12)
    warmth = random.gauss(0, 1)
    for site, (x, y) in enumerate(sites):
        level = math.exp(1.6 - 3 * x + 0.5 * season * (1 - y) + 0.25 * warmth * y)
        if flock[site] and random.random() < 0.4:
            level += 12
        count = min(sum(random.random() < level / 60 for _ in range(60)), 60)
        past = counts[site]
        if month >= 12:
            row = [past[-1], sum(past[-12:]) / 12, x, y, warmth]
            table.append([month, f"s{site:03}", *map(float, row), count])
        past.append(count)
gallery.write_csv("counts.csv", HEADER, table)
print(f"{len(table)} site-months, {sum(row[-1] for row in table)} birds")

# %% [markdown]
# ## Problem
#
# [The k best](../problems/top-k.md) of all sites.

# %% tags=["hide-input"]
gallery.write(
    "survey.toml",
    f"""kind = "top_k"
items = {NUM_SITES}
k = {CHOSEN}
sense = "maximize"
""",
)

# %% [markdown]
# ## Backtest
#
# Month by month, by models of the months before.

# %%
EPOCHS = gallery.size(5, 40)
COLUMNS = "--instance-column month --item-column site --cost-column count"
summary = gallery.backtest(
    f"--data counts.csv {COLUMNS} --problem survey.toml --time month --ignore month "
    f"--methods 'MSE;MAE(O,S);MSE(O,E);SPO+' --initial {gallery.size(24, 36)} "
    f"--step {gallery.size(30, 6)} --season 12 --epochs {EPOCHS}",
    unit="birds",
)

# %% tags=["hide-input"]
gallery.show(gallery.totals(summary, "Birds counted"), "survey-sites-totals")

# %% [markdown]
# ## One month, explained

# %%
month = gallery.periods("least squares")[-1]["period"]
gallery.write_csv("before.csv", HEADER, [row for row in table if row[0] < float(month)])
gallery.regretless(
    f"train --data before.csv {COLUMNS} --problem survey.toml --method 'MAE(O,S)' --ignore month "
    f"--split order:0.2,0.1 --epochs {EPOCHS} --out survey.safetensors --force",
    show=["validation regret", "test regret", "training mean"],
)
gallery.explain(f"--model survey.safetensors --data counts.csv {COLUMNS} --key month={month}")

# %% tags=["hide-input"]
chosen = gallery.decisions(month, "MAE(O,S)")
now = {row[1]: row[-1] for row in table if row[0] == float(month)}
drawing = Figure(330, f"200 sites on a map; 50 are chosen in month {month}")
drawing.text(0, 16, f"Month {month}: the size of a disk is the count", "head")
for site, (x, y) in enumerate(sites):
    name = f"s{site:03}"
    color = "green" if chosen.get(name) else "gray"
    drawing.circle(8 + 384 * x, 30 + 270 * y, 2.0 + 0.8 * now[name] ** 0.8, f"pale {color}")
    if chosen.get(name):
        drawing.circle(8 + 384 * x, 30 + 270 * y, 2.5, "fill green")
drawing.text(0, 324, "green: visited; water is on the left", "small faint")
gallery.show(drawing, "survey-sites-map")
