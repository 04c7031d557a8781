# %% [markdown]
# # Which houses to buy?
#
# Every week 40 houses are offered, and the budget is limited. A house earns its value minus its
# price; the value is predicted from its surroundings.
#
# ![The offers of one week](figures/buy-houses-week.svg)
#
# ![What each method earned](figures/buy-houses-totals.svg)
#
# ## Data
#
# California housing, 20,640 block groups of the 1990 census
# ([reference data](../../testdata/README.md)). The asking price is made up: the value times an
# unknown random factor. Weeks are random draws.

# %% tags=["hide-input"]
import csv
import random

import gallery
from figure import Figure

random.seed(7)
with (gallery.DATA / "california" / "cal_housing.csv").open() as file:
    blocks = [{name: float(cell) for name, cell in row.items()} for row in csv.DictReader(file)]
blocks = [block for block in blocks if block["medianHouseValue"] < 500_000]  # the rest is capped
FEATURES = ["longitude", "latitude", "age", "rooms", "bedrooms", "people", "income"]
HEADER = ["week", "house", *FEATURES, "price", "budget", "value"]
table = []
for week in range(gallery.size(90, 260)):
    budget = random.choice([800, 1000, 1200])
    for number, block in enumerate(random.sample(blocks, 40)):
        homes = block["households"]
        value = block["medianHouseValue"] / 1000
        price = value * random.lognormvariate(-0.05, 0.2)
        features = [
            block["longitude"], block["latitude"], block["housingMedianAge"],
            block["totalRooms"] / homes, block["totalBedrooms"] / homes,
            block["population"] / homes, block["medianIncome"],
        ]  # fmt: skip
        table.append([week, f"{week}-{number:02}", *features, price, budget, value])
gallery.write_csv("offers.csv", HEADER, table)
print(f"{len(table)} offers in {week + 1} weeks, thousands of USD")

# %% [markdown]
# ## Problem
#
# A [knapsack](../problems/knapsack.md): the price of a house is its weight and the known part of
# its objective; the capacity is the budget. [Items
# differ](../tutorials/row-parameters.md#items-that-differ-between-instances) between weeks.

# %% tags=["hide-input"]
gallery.write(
    "purchase.toml",
    """kind = "knapsack"
weights = { column = "price" }
capacity = { column = "budget" }
known = { column = "price", factor = -1 }
""",
)

# %% [markdown]
# ## Backtest

# %%
EPOCHS = gallery.size(5, 50)
COLUMNS = "--instance-column week --item-column house --cost-column value"
summary = gallery.backtest(
    f"--data offers.csv {COLUMNS} --problem purchase.toml --time week "
    "--methods 'MSE;MAE(O,S);MSE(C,O,S);SPO+' "
    f"--initial {gallery.size(30, 100)} --step {gallery.size(30, 20)} --epochs {EPOCHS}",
    unit="kUSD",
)

# %% tags=["hide-input"]
gallery.show(gallery.totals(summary, "Earned (thousand USD)"), "buy-houses-totals")

# %% [markdown]
# ## One week, explained
#
# The week in which least squares has the highest regret.

# %%
week = max(gallery.periods("least squares"), key=lambda row: float(row["regret"]))["period"]
gallery.write_csv("before.csv", HEADER, [row for row in table if row[0] < float(week)])
gallery.regretless(
    f"train --data before.csv {COLUMNS} --problem purchase.toml --method 'MSE(C,O,S)' "
    "--split order:0.2,0.1 --ignore week "
    f"--epochs {EPOCHS} --out purchase.safetensors --force",
    show=["validation regret", "test regret"],
)
gallery.write_csv("week.csv", HEADER, [row for row in table if row[0] == float(week)])
gallery.explain(f"--model purchase.safetensors --data week.csv {COLUMNS} --row 0")

# %% tags=["hide-input"]
offers = [row for row in table if row[0] == float(week)]
bought = gallery.decisions(week, "MSE(C,O,S)")
names = {row[1] for row in offers}
picked = {name for name, value in bought.items() if value > 0.5 and name in names}
if not picked:  # items are numbered where they differ from week to week
    picked = {offers[int(name.strip("c"))][1] for name, value in bought.items() if value > 0.5}
drawing = Figure(330, f"The 40 offers of week {week} by price and worth; bought ones are filled")
drawing.text(0, 16, f"Week {week}: price and worth of 40 houses", "head")
scale = 300 / max(max(row[-1], row[-3]) for row in offers)
drawing.line(40, 300, 340, 0 + 300 - 300 * 0.9, "grid")
drawing.path([(40, 300), (40, 30)])
drawing.path([(40, 300), (350, 300)])
for row in offers:
    x, y = 40 + scale * row[-3], 300 - 0.9 * scale * row[-1]
    classes = "fill green" if row[1] in picked else "stroke gray"
    drawing.circle(x, y, 6 if row[1] in picked else 4, classes)
drawing.text(350, 318, "asking price", "small end")
drawing.text(44, 40, "worth", "small")
drawing.text(396, 262, f"green: bought ({len(picked)})", "small end ink green")
gallery.show(drawing, "buy-houses-week")
