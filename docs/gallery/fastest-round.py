# %% [markdown]
# # Which is the fastest round today?
#
# A technician visits the same twelve customers every day. Travel times depend on weather and
# traffic; the round is fixed in the morning.
#
# ![The round of one day](figures/fastest-round-day.svg)
#
# ![What each method cost](figures/fastest-round-totals.svg)
#
# ## Data
#
# Generated: travel times of all 66 edges, slowed by rain in the valley, traffic in the center on
# weekdays, and events in the stadium; effects multiply. One row per day.

# %% tags=["hide-input"]
import itertools
import math
import random

import gallery
from figure import Figure

random.seed(21)
PLACES = 12
DAYS = gallery.size(90, 320)
places = [(random.random(), random.random()) for _ in range(PLACES)]
edges = list(itertools.combinations(range(PLACES), 2))


def nearness(edge, point):
    """How close the middle of an edge is to a point."""
    x, y = ((places[edge[0]][axis] + places[edge[1]][axis]) / 2 for axis in (0, 1))
    return math.exp(-8 * ((x - point[0]) ** 2 + (y - point[1]) ** 2))


COLUMNS = [f"e{first}_{second}" for first, second in edges]
HEADER = ["date", "rain", "traffic", "event", "temperature", *COLUMNS]
table = []
for day in range(DAYS):
    rain, traffic = max(random.gauss(0, 1), 0), random.random() * (1.5 if day % 7 < 5 else 0.3)
    event, temperature = float(random.random() < 0.25), random.gauss(12, 6)
    costs = []
    for edge in edges:
        minutes = 8 + 60 * math.dist(places[edge[0]], places[edge[1]])
        minutes *= 1 + 1.2 * rain * nearness(edge, (0.2, 0.7))
        minutes *= 1 + 1.6 * traffic**2 * nearness(edge, (0.5, 0.5))
        minutes *= 1 + 1.5 * event * nearness(edge, (0.8, 0.2))
        costs.append(0.7 * minutes * random.uniform(0.8, 1.2))
    table.append([gallery.date(day), rain, traffic, event, temperature, *costs])
gallery.write_csv("rounds.csv", HEADER, table)
print(f"{DAYS} days, {len(edges)} edges, EUR at 0.70 a minute")

# %% [markdown]
# ## Problem
#
# The [traveling salesperson](../problems/tsp.md).

# %% tags=["hide-input"]
gallery.write("round.toml", f'kind = "tsp"\nnodes = {PLACES}\n')

# %% [markdown]
# ## Backtest

# %%
EPOCHS = gallery.size(5, 60)
summary = gallery.backtest(
    "--data rounds.csv --costs 'e*_*' --problem round.toml --time date --ignore date "
    f"--methods 'MSE;MAE(O,S);MAE(C,O,S);SPO+' --initial {gallery.size(30, 120)} "
    f"--step {gallery.size(30, 20)} --epochs {EPOCHS} --learning-rate 0.02"
)

# %% tags=["hide-input"]
gallery.show(gallery.totals(summary, "Cost of all rounds (EUR)"), "fastest-round-totals")

# %% [markdown]
# ## One day, explained
#
# The day on which least squares has the highest regret.

# %%
day = max(gallery.periods("least squares"), key=lambda row: float(row["regret"]))["period"]
gallery.write_csv("before.csv", HEADER, [row for row in table if row[0] < day])
gallery.regretless(
    "train --data before.csv --costs 'e*_*' --problem round.toml --method 'MAE(O,S)' --ignore date "
    f"--split order:0.2,0.1 --epochs {EPOCHS} --learning-rate 0.02 --out round.safetensors --force",
    show=["validation regret", "test regret"],
)
gallery.explain(
    f"--model round.safetensors --data rounds.csv --costs 'e*_*' --key date={day} "
    "--force-choice e0_1"
)

# %% tags=["hide-input"]
rounds = {name: gallery.decisions(day, name) for name in ("least squares", "MAE(O,S)")}
spot = [(16 + 368 * x, 34 + 290 * y) for x, y in places]
bottom = max(y for _, y in spot)
drawing = Figure(round(bottom) + 42, f"Rounds of {day}: least squares dashed, MAE(O,S) in green")
drawing.text(0, 16, f"Two rounds for {day}", "head")
drawing.text(0, bottom + 36, "dashed: least squares; green: MAE(O,S)", "small faint")
for plan, classes in zip(rounds.values(), ("line dash", "stroke green")):
    for column, value in plan.items():
        if value > 0.5:
            first, second = (int(part) for part in column[1:].split("_"))
            drawing.line(*spot[first], *spot[second], classes)
for number, (x, y) in enumerate(spot):
    drawing.circle(x, y, 10, "fill blue")
    drawing.text(x, y + 4.5, number, "small middle on")
gallery.show(drawing, "fastest-round-day")
