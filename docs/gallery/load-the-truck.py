# %% [markdown]
# # What to load on the truck?
#
# A market stall sells 20 kinds of goods. Every morning a truck of changing size is loaded. Margins
# depend on weather, weekday and season.
#
# ![What was loaded on one day](figures/load-the-truck-day.svg)
#
# ![What each method earned](figures/load-the-truck-totals.svg)
#
# ## Data
#
# Generated: margins in EUR, nonlinear in temperature and rain. One row per day, with the capacity
# of the truck in a column.

# %% tags=["hide-input"]
import math
import random

import gallery
from figure import Figure

random.seed(8)
GOODS = ["ice", "soup", "bread", "apples", "berries", "flowers", "umbrellas", "juice", "coffee",
         "cheese", "fish", "eggs", "honey", "jam", "herbs", "melons", "pumpkins", "salad",
         "nuts", "cake"]  # fmt: skip
DAYS = gallery.size(90, 730)
volume = [random.randint(3, 9) for _ in GOODS]
best_at = [random.uniform(-4, 32) for _ in GOODS]
rain_effect = [random.uniform(-0.4, 0.5) for _ in GOODS]
level = [random.uniform(15, 60) * size / 6 for size in volume]
HEADER = ["date", "temperature", "rain", "weekend", "truck", *GOODS]
table = []
for day in range(DAYS):
    temperature = 13 + 10 * math.sin(2 * math.pi * day / 365) + random.gauss(0, 5)
    rain, weekend = max(random.gauss(0, 1), 0), float(day % 7 >= 5)
    margins = []
    for number in range(len(GOODS)):
        fit = math.exp(-(((temperature - best_at[number]) / 9) ** 2))
        margin = level[number] * (0.2 + 1.6 * fit) * math.exp(rain_effect[number] * rain)
        margins.append(margin * (1 + 0.3 * weekend) * random.uniform(0.7, 1.3))
    table.append(
        [gallery.date(day), temperature, rain, weekend, random.choice([30, 45, 60]), *margins]
    )
gallery.write_csv("market.csv", HEADER, table)
print(f"{DAYS} days, {len(GOODS)} kinds of goods")

# %% [markdown]
# ## Problem
#
# A [knapsack](../problems/knapsack.md) with the capacity of the day's truck.

# %% tags=["hide-input"]
gallery.write(
    "truck.toml",
    f'kind = "knapsack"\nweights = {volume}\ncapacity = {{ column = "truck" }}\n',
)

# %% [markdown]
# ## Backtest

# %%
EPOCHS = gallery.size(5, 80)
COSTS = f"--costs {','.join(GOODS)}"
summary = gallery.backtest(
    f"--data market.csv {COSTS} --problem truck.toml --time date --ignore date "
    f"--methods 'MSE;MAE(O,S);MSE(C,O,S);SPO+' --initial {gallery.size(30, 365)} "
    f"--step {gallery.size(30, 25)} --epochs {EPOCHS} --learning-rate 0.02"
)

# %% tags=["hide-input"]
gallery.show(gallery.totals(summary, "Margin of all days (EUR)"), "load-the-truck-totals")

# %% [markdown]
# ## One day, explained
#
# What would it take to have melons on the truck?

# %%
day = gallery.periods("least squares")[-1]["period"]
gallery.write_csv("before.csv", HEADER, [row for row in table if row[0] < day])
gallery.regretless(
    f"train --data before.csv {COSTS} --problem truck.toml --method 'MSE(C,O,S)' --ignore date "
    f"--split order:0.2,0.1 --epochs {EPOCHS} --learning-rate 0.02 --out truck.safetensors --force",
    show=["validation regret", "test regret"],
)
gallery.explain(
    f"--model truck.safetensors --data market.csv {COSTS} --key date={day} --force-choice melons"
)

# %% tags=["hide-input"]
loaded = gallery.decisions(day, "MSE(C,O,S)")
today = next(row for row in table if row[0] == day)
drawing = Figure(300, f"Margins of 20 goods on {day}; those on the truck are green")
drawing.text(0, 16, f"{day}: margins; green is loaded", "head")
top = max(today[5:])
for number, name in enumerate(GOODS):
    column, line = divmod(number, 10)
    x, y = 200 * column, 30 + 26 * line
    color = "fill green" if loaded.get(name) else "pale gray"
    drawing.text(x + 66, y + 13, name, "small end")
    drawing.rect(x + 72, y, max(110.0 * today[5 + number] / top, 1.0), 16, color)
drawing.text(0, 296, f"truck of {today[4]}, {today[1]:.0f} °C", "small faint")
gallery.show(drawing, "load-the-truck-day")
