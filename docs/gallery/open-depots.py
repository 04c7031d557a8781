# %% [markdown]
# # Which depots to open?
#
# Every week up to five depots are rented for known rents, and eight shops are served from them.
# Delivery costs depend on fuel, snow and traffic.
#
# ![The depots of one week](figures/open-depots-week.svg)
#
# ![What each method cost](figures/open-depots-totals.svg)
#
# ## Data
#
# Generated: weekly costs of all 40 lanes in EUR; mountain lanes suffer from snow, city lanes from
# traffic. One row per week.

# %% tags=["hide-input"]
import math
import random

import gallery
from figure import Figure

random.seed(29)
DEPOTS, SHOPS = 5, 8
WEEKS = gallery.size(90, 260)
depots = [(random.random(), random.random()) for _ in range(DEPOTS)]
shops = [(random.random(), random.random()) for _ in range(SHOPS)]
rent = [60, 45, 50, 70, 55]
lanes = [(depot, shop) for depot in range(DEPOTS) for shop in range(SHOPS)]
names = [f"x{depot}_{shop}" for depot, shop in lanes]
HEADER = ["date", "fuel", "snow", "traffic", *names]
table = []
for week in range(WEEKS):
    fuel = 1.5 + 0.3 * math.sin(week / 20) + random.gauss(0, 0.1)
    snow = max(math.cos(2 * math.pi * week / 52) + random.gauss(0, 0.6), 0)
    traffic = random.random()
    costs = []
    for depot, shop in lanes:
        (x1, y1), (x2, y2) = depots[depot], shops[shop]
        height, center = max(y1, y2), math.exp(-4 * ((x2 - 0.5) ** 2 + (y2 - 0.4) ** 2))
        cost = (30 + 140 * math.dist((x1, y1), (x2, y2))) * fuel / 1.5
        cost *= (1 + 0.9 * snow**2 * height**2) * (1 + 1.2 * traffic**2 * center)
        costs.append(cost * random.uniform(0.85, 1.15))
    table.append([gallery.date(7 * week), fuel, snow, traffic, *costs])
gallery.write_csv("lanes.csv", HEADER, table)
print(f"{WEEKS} weeks, {len(lanes)} lanes")

# %% [markdown]
# ## Problem
#
# A [linear problem](../problems/linear.md) with binary variables: `x` assigns shops to depots
# (predicted costs), `open` rents depots (known costs).

# %% tags=["hide-input"]
objective = [f"{rent[depot]} open{depot}" for depot in range(DEPOTS)] + names
lines = ["Minimize", " cost: " + " + ".join(objective), "Subject To"]
for shop in range(SHOPS):
    lines.append(
        f" serve{shop}: " + " + ".join(f"x{depot}_{shop}" for depot in range(DEPOTS)) + " = 1"
    )
for depot, shop in lanes:
    lines.append(f" use{depot}_{shop}: x{depot}_{shop} - open{depot} <= 0")
lines += ["Binary", " " + " ".join(names + [f"open{depot}" for depot in range(DEPOTS)]), "End"]
gallery.write("depots.lp", "\n".join(lines) + "\n")
gallery.write("depots.toml", 'kind = "linear"\nfile = "depots.lp"\ncosts = ["x*"]\n')

# %% [markdown]
# ## Backtest
#
# Rents are [known costs](../methods/cost-sensitive.md#known-costs): whether a depot pays off
# depends on the level of the predicted costs, which S ignores. (A first run had `MSE(C,O,S)`
# instead of `MAE(O)` and `SPO+`, with the same verdict.)

# %%
EPOCHS = gallery.size(3, 60)
summary = gallery.backtest(
    "--data lanes.csv --costs 'x*' --problem depots.toml --time date --ignore date "
    f"--methods 'MSE;MAE(O);MAE(O,S);SPO+' --initial {gallery.size(30, 104)} "
    f"--step {gallery.size(30, 26)} --epochs {EPOCHS} --learning-rate 0.02"
)

# %% tags=["hide-input"]
gallery.show(gallery.totals(summary, "Rent and deliveries (EUR)"), "open-depots-totals")

# %% [markdown]
# ## One week, decided and explained
#
# The week in which least squares has the highest regret.

# %%
week = max(gallery.periods("least squares"), key=lambda row: float(row["regret"]))["period"]
gallery.write_csv("before.csv", HEADER, [row for row in table if row[0] < week])
gallery.write_csv("week.csv", HEADER[:4], [row[:4] for row in table if row[0] == week])
gallery.regretless(
    "train --data before.csv --costs 'x*' --problem depots.toml --method 'MAE(O)' --ignore date "
    f"--split order:0.2,0.1 --epochs {EPOCHS} --learning-rate 0.02 "
    "--out depots.safetensors --force",
    show=["validation regret", "test regret"],
)
gallery.explain(
    f"--model depots.safetensors --data lanes.csv --costs 'x*' --key date={week} --max-solves 60"
)
decided = gallery.regretless(
    "decide --model depots.safetensors --data week.csv --key date --out - --sparse", show=["open"]
)

# %% tags=["hide-input"]
served = [name for name, value in gallery.decisions(week, "MAE(O)").items() if value > 0.5]
drawing = Figure(340, f"Depots and shops of the week of {week}; lines are deliveries")
drawing.text(0, 16, f"Week of {week}: green depots are rented", "head")
spot = lambda point: (16 + 368 * point[0], 40 + 280 * (1 - point[1]))  # noqa: E731
used = set()
for name in served:
    if "_" in name:
        depot, shop = (int(part) for part in name[1:].split("_"))
        used.add(depot)
        drawing.line(*spot(depots[depot]), *spot(shops[shop]), "stroke green")
for depot, point in enumerate(depots):
    x, y = spot(point)
    drawing.rect(x - 9, y - 9, 18, 18, "fill green" if depot in used else "fill gray")
    drawing.text(x, y + 4.5, depot, "small middle on")
for point in shops:
    drawing.circle(*spot(point), 6, "fill blue")
drawing.text(0, 336, "mountains at the top, the city in the middle", "small faint")
gallery.show(drawing, "open-depots-week")
