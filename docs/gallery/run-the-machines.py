# %% [markdown]
# # When to run the machines tomorrow?
#
# A mill needs 10 hours of power a day, 1 MW at a time, in any half-hours, but at most 14 half-hours
# before noon and at least 4 in the morning shift from 6 to 10. The schedule is made the day before.
# <!-- given: 10 | the problem -->
#
# ![The hours that were chosen on one day](figures/run-the-machines-day.svg)
#
# ![What each method paid](figures/run-the-machines-totals.svg)
#
# ## Data
#
# The Irish prices of the [battery](charge-or-discharge.md). One row per half-hour.

# %% tags=["hide-input"]
import gallery
from figure import Figure

HEADER = ["date", "slot", *gallery.FORECASTS, "cost"]
days = gallery.irish_days(gallery.size(120, 789))
table, actual = [], {}
for date, rows in days.items():
    for number, (*features, price) in enumerate(rows):
        slot, cost = f"h{number:02}", price / 2  # half a MWh
        table.append([date, slot, *features, cost])
        actual.setdefault(date, {})[slot] = cost
gallery.write_csv("prices.csv", HEADER, table)
print(f"{len(days)} days from {table[0][0]} to {table[-1][0]}")

# %% [markdown]
# ## Problem
#
# A [linear problem](../problems/linear.md) with one binary variable per half-hour, in an LP file.

# %% tags=["hide-input"]
slots = [f"h{number:02}" for number in range(48)]
gallery.write(
    "mill.lp",
    "Minimize\n cost: " + " + ".join(slots) + "\nSubject To\n"
    " hours: " + " + ".join(slots) + " = 20\n"
    " before_noon: " + " + ".join(slots[:24]) + " <= 14\n"
    " morning: " + " + ".join(slots[12:20]) + " >= 4\n"
    "Binary\n " + " ".join(slots) + "\nEnd\n",
)
gallery.write("mill.toml", 'kind = "linear"\nfile = "mill.lp"\ncosts = "all"\n')

# %% [markdown]
# ## Backtest

# %%
EPOCHS = gallery.size(5, 30)
COLUMNS = "--instance-column date --item-column slot --cost-column cost --problem mill.toml"
summary = gallery.backtest(
    f"--data prices.csv {COLUMNS} --time date --methods 'MSE;MAE(O,S);MSE(O,E)' "
    f"--window {gallery.size(60, 365)} --step {gallery.size(30, 14)} --season 7 --epochs {EPOCHS}"
)

# %% tags=["hide-input"]
gallery.show(gallery.totals(summary, "Paid for power (EUR)"), "run-the-machines-totals")

# %% [markdown]
# ## One day, explained
#
# The day on which `MAE(O,S)` and least squares differ most. What would it take to run at 5 p.m.
# (`h34`)?

# %%
day = gallery.widest("MAE(O,S)")
gallery.write_csv("before.csv", HEADER, [row for row in table if row[0] < day])
gallery.regretless(
    f"train --data before.csv {COLUMNS} --method 'MAE(O,S)' --split time:date,0.2,0 "
    f"--ignore date --epochs {EPOCHS} --out mill.safetensors --force",
    show=["validation regret"],
)
gallery.explain(
    f"--model mill.safetensors --data prices.csv {COLUMNS} --key date={day} --force-choice h34"
)

# %% tags=["hide-input"]
chosen = {name: gallery.decisions(day, name) for name in ("least squares", "MAE(O,S)")}
drawing = Figure(250, f"Costs of the half-hours of {day}, and when two methods run the mill")
drawing.text(0, 16, f"{day}: price of a half-hour, and who runs", "head")
top = max(actual[day].values())
for number, slot in enumerate(slots):
    drawing.rect(10 + 8.0 * number, 150, 6, -110.0 * actual[day][slot] / top, "pale gray", 0)
    for place, name in enumerate(chosen):
        color = ("gray", "blue")[place]
        if chosen[name].get(slot):
            drawing.rect(10 + 8.0 * number, 182 + 38 * place, 6, 14, f"fill {color}", 0)
for place, name in enumerate(chosen):
    paid = sum(actual[day][slot] for slot, value in chosen[name].items() if value > 0.5)
    drawing.text(0, 177 + 38 * place, f"{name}: {paid:.0f} EUR", "small strong")
drawing.text(0, 246, "midnight to midnight", "small faint")
gallery.show(drawing, "run-the-machines-day")
