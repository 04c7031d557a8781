# %% [markdown]
# # Who drives which job?
#
# Every morning ten drivers get ten jobs. How long a job takes depends on the driver, the distance,
# the load and the weather.
#
# ![Drivers and jobs of one day](figures/assign-drivers-day.svg)
#
# ![What each method cost](figures/assign-drivers-totals.svg)
#
# ## Data
#
# Generated: the cost of every pair of driver and job, at 0.6 EUR a minute. Some drivers are slow
# with heavy loads, some in rain. These effects multiply, so a linear predictor cannot represent
# them. One row per day and pair.
# <!-- given: 0.6 | a price of the generator -->

# %% tags=["hide-input"]
import random

import gallery
from figure import Figure

random.seed(3)
DRIVERS = ["Ann", "Ben", "Cem", "Dora", "Emil", "Fay", "Gus", "Hana", "Ivo", "Jin"]
JOBS = [f"job{number}" for number in range(10)]
DAYS = gallery.size(90, 300)
skill = {driver: (random.uniform(0, 1), random.uniform(0, 1)) for driver in DRIVERS}
HEADER = ["date", "pair", "distance", "load", "rain", "heavy_load", "wet_road", "cost"]
table = []
for day in range(DAYS):
    rain = random.choice([0.0, 0.0, 0.5, 1.0])
    homes = {driver: (random.random(), random.random()) for driver in DRIVERS}
    for job in JOBS:
        x, y, load = random.random(), random.random(), random.random() ** 2
        for driver in DRIVERS:
            distance = abs(homes[driver][0] - x) + abs(homes[driver][1] - y)
            heavy, wet = skill[driver]
            minutes = (30 + 60 * distance) * (1 + 1.5 * load * heavy) * (1 + 0.8 * rain * wet)
            cost = 0.6 * minutes * random.uniform(0.85, 1.15)
            table.append(
                [
                    gallery.date(day),
                    f"{driver}-{job}",
                    distance,
                    load,
                    rain,
                    load * heavy,
                    rain * wet,
                    cost,
                ]
            )
table.sort(key=lambda row: (row[0], DRIVERS.index(row[1].split("-")[0]), row[1]))
gallery.write_csv("jobs.csv", HEADER, table)
print(f"{DAYS} days with {len(DRIVERS) * len(JOBS)} pairs")

# %% [markdown]
# ## Problem
#
# An [assignment](../problems/assignment.md) of all drivers to all jobs.

# %% tags=["hide-input"]
gallery.write(
    "jobs.toml",
    f"""kind = "assignment"
agents = {DRIVERS}
tasks = {JOBS}
""".replace("'", '"'),
)

# %% [markdown]
# ## Backtest

# %%
EPOCHS = gallery.size(5, 50)
COLUMNS = "--instance-column date --item-column pair --cost-column cost"
summary = gallery.backtest(
    f"--data jobs.csv {COLUMNS} --problem jobs.toml --time date --ignore date "
    f"--methods 'MSE;MAE(O,S);MSE(C,O,S);SPO+' --initial {gallery.size(30, 120)} "
    f"--step {gallery.size(30, 18)} --epochs {EPOCHS}"
)

# %% tags=["hide-input"]
gallery.show(gallery.totals(summary, "Cost of all jobs (EUR)"), "assign-drivers-totals")

# %% [markdown]
# ## One day, explained
#
# The day on which `MAE(O,S)` and least squares differ most.

# %%
day = gallery.widest("MAE(O,S)")
gallery.write_csv("before.csv", HEADER, [row for row in table if row[0] < day])
gallery.regretless(
    f"train --data before.csv {COLUMNS} --problem jobs.toml --method 'MAE(O,S)' --ignore date "
    f"--split order:0.2,0.1 --epochs {EPOCHS} --out jobs.safetensors --force",
    show=["validation regret", "test regret"],
)
gallery.explain(
    f"--model jobs.safetensors --data jobs.csv {COLUMNS} --key date={day} --force-choice Ann-job0"
)

# %% tags=["hide-input"]
plans = {name: gallery.decisions(day, name) for name in ("least squares", "MAE(O,S)")}
drawing = Figure(340, f"Who got which job on {day}, by least squares and by MAE(O,S)")
drawing.text(0, 16, f"Who drives which job on {day}", "head")
drawing.text(0, 334, "thick gray: least squares; green: MAE(O,S)", "small faint")
place = {}
for number, (driver, job) in enumerate(zip(DRIVERS, JOBS)):
    place[driver], place[job] = (90, 40 + 29 * number), (310, 40 + 29 * number)
for plan, classes in zip(plans.values(), ("stroke gray thick", "stroke green")):
    for pair, value in plan.items():
        if value > 0.5:
            driver, job = pair.split("-")
            drawing.line(*place[driver], *place[job], classes)
for driver, job in zip(DRIVERS, JOBS):
    drawing.circle(*place[driver], 6, "fill blue")
    drawing.circle(*place[job], 6, "fill purple")
    drawing.text(place[driver][0] - 12, place[driver][1] + 4, driver, "small end")
    drawing.text(place[job][0] + 12, place[job][1] + 4, job, "small")
gallery.show(drawing, "assign-drivers-day")
