# %% [markdown]
# # Which route to send the driver?
#
# A courier crosses a city of 49 crossings. Travel times depend on the hour and the weather; the
# route is chosen before the drive.
#
# ![Two routes of one trip](figures/route-the-driver-trip.svg)
#
# ![What each method cost](figures/route-the-driver-totals.svg)
#
# ## Data
#
# Generated: a grid of two-way streets with a ring road, 168 arcs; the center is slow in the rush
# hour, the river bank in rain. One row per trip, with origin and destination.

# %% tags=["hide-input"]
import math
import random

import gallery
from figure import Figure

random.seed(17)
SIDE = 7
TRIPS = gallery.size(90, 500)
nodes = [(row, column) for row in range(SIDE) for column in range(SIDE)]
arcs = [(start, end) for start in nodes for end in nodes if math.dist(start, end) == 1]
names = [f"a{number:03}" for number in range(len(arcs))]
gallery.write_csv(
    "streets.csv", ["from", "to", "name"],
    [[f"n{a}{b}", f"n{c}{d}", name] for ((a, b), (c, d)), name in zip(arcs, names)],
)  # fmt: skip
HEADER = ["trip", "rush", "rain", "weekend", "origin", "destination", *names]
table = []
for trip in range(TRIPS):
    rush, rain = random.random() ** 2, max(random.gauss(0, 1), 0)
    weekend = float(random.random() < 2 / 7)
    costs = []
    for (a, b), (c, d) in arcs:
        row, column = (a + c) / 2, (b + d) / 2
        is_ring = row in (0, SIDE - 1) or column in (0, SIDE - 1)
        minutes = 2.4 if is_ring else 1.8
        center = math.exp(-((row - 3) ** 2 + (column - 3) ** 2) / 4)
        minutes *= 1 + 8 * rush**2 * center * (1 - 0.7 * weekend)
        minutes *= 1 + 0.6 * rain**2 * math.exp(-((row - 5) ** 2))
        costs.append(0.8 * minutes * random.uniform(0.8, 1.2))
    ends = random.sample([(0, 1), (1, 0), (3, 0), (5, 6), (6, 3), (6, 6), (2, 6), (6, 0)], 2)
    table.append([trip, rush, rain, weekend, *(f"n{a}{b}" for a, b in ends), *costs])
gallery.write_csv("trips.csv", HEADER, table)
print(f"{TRIPS} trips, {len(arcs)} arcs, EUR at 0.80 a minute")

# %% [markdown]
# ## Problem
#
# A [shortest path in a graph](../problems/graph-path.md) from origin to destination.

# %% tags=["hide-input"]
gallery.write(
    "route.toml",
    """kind = "graph_path"
arcs = { file = "streets.csv", from = "from", to = "to", name = "name" }
source = { column = "origin" }
target = { column = "destination" }
""",
)

# %% [markdown]
# ## Backtest

# %%
EPOCHS = gallery.size(5, 60)
COLUMNS = "--costs 'a*' --features rush,rain,weekend"
summary = gallery.backtest(
    f"--data trips.csv {COLUMNS} --problem route.toml --time trip "
    f"--methods 'MSE;MAE(O,S);MSE(O,E);SPO+' --initial {gallery.size(30, 200)} "
    f"--step {gallery.size(30, 30)} --epochs {EPOCHS} --learning-rate 0.02"
)

# %% tags=["hide-input"]
gallery.show(gallery.totals(summary, "Cost of all trips (EUR)"), "route-the-driver-totals")

# %% [markdown]
# ## One trip, explained
#
# The trip on which least squares has the highest regret.

# %%
trip = max(gallery.periods("least squares"), key=lambda row: float(row["regret"]))["period"]
gallery.write_csv("before.csv", HEADER, [row for row in table if row[0] < float(trip)])
gallery.regretless(
    f"train --data before.csv {COLUMNS} --problem route.toml --method SPO+ --split order:0.2,0.1 "
    f"--epochs {EPOCHS} --learning-rate 0.02 --out route.safetensors --force",
    show=["validation regret", "test regret"],
)
gallery.explain(f"--model route.safetensors --data trips.csv {COLUMNS} --key trip={trip}")

# %% tags=["hide-input"]
routes = {name: gallery.decisions(trip, name) for name in ("least squares", "SPO+")}
row = next(row for row in table if row[0] == float(trip))
cost = dict(zip(names, row[6:]))
drawing = Figure(400, f"Trip {trip} from {row[4]} to {row[5]}: routes of least squares and SPO+")
paid = {name: sum(cost[arc] for arc in plan) for name, plan in routes.items()}
drawing.text(0, 16, f"Two routes for trip {trip}", "head")
drawing.text(0, 374, f"dashed: least squares, {paid['least squares']:.1f} EUR", "small faint")
drawing.text(0, 392, f"green: SPO+, {paid['SPO+']:.1f} EUR", "small faint")
spot = {node: (40 + 53 * node[1], 40 + 50 * node[0]) for node in nodes}
for arc in arcs:
    if arc[0] < arc[1]:
        drawing.line(*spot[arc[0]], *spot[arc[1]], "grid")
for plan, classes, shift in zip(routes.values(), ("line dash", "stroke green thick"), (-3, 3)):
    for (start, end), name in zip(arcs, names):
        if plan.get(name):
            (x1, y1), (x2, y2) = spot[start], spot[end]
            drawing.arrow(x1 + shift, y1 + shift, x2 + shift, y2 + shift, classes)
for node, (x, y) in spot.items():
    is_end = f"n{node[0]}{node[1]}" in row[4:6]
    drawing.circle(x, y, 8 if is_end else 3, "fill blue" if is_end else "fill gray")
gallery.show(drawing, "route-the-driver-trip")
