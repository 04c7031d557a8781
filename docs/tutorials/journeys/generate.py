"""Writes the tables of the journeys: python3 generate.py [FOLDER]

Everything but the battery is invented, from a fixed seed. The prices of the battery are those of
the Irish electricity market 2011 to 2013 (testdata/energy; origin: testdata/README.md).
"""

import csv
import gzip
import math
import random
import sys
from datetime import date, timedelta
from pathlib import Path

HERE = Path(__file__).resolve().parent
PRICES = HERE.parents[2] / "testdata" / "energy" / "prices2013.dat.gz"


def write(folder, name, header, rows):
    with open(folder / name, "w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(header)
        table.writerows(rows)


def days(first, count):
    return [first + timedelta(days=day) for day in range(count)]


def transport(folder):
    """Freight rates of nine lanes. The pass through the mountains costs a surcharge in bad weather,
    the ferry one in strong wind; both come suddenly, not in proportion to the weather."""
    draw = random.Random(1)
    plants, shops = ["North", "South", "Island"], ["Alder", "Birch", "Cedar"]
    lanes = [f"{plant}-{shop}" for plant in plants for shop in shops]
    base = [14, 17, 21, 19, 13, 16, 15, 16, 14]
    rows, past = [], []
    for day in days(date(2026, 1, 5), 150):
        snow, wind = draw.random(), draw.random()
        diesel = 1.55 + 0.12 * math.sin(day.toordinal() / 25) + draw.uniform(-0.03, 0.03)
        demand = [draw.randint(14, 26) for _ in shops]
        costs = []
        for lane, rate in zip(lanes, base):
            cost = rate * (0.6 + 0.4 * diesel / 1.55) + draw.uniform(-0.8, 0.8)
            if lane.startswith("North") and snow > 0.7:
                cost += 7 + 6 * (snow - 0.7)
            if lane.startswith("Island") and wind > 0.65:
                cost += 6 + 8 * (wind - 0.65)
            costs.append(f"{cost:.2f}")
        rows.append([day, f"{snow:.2f}", f"{wind:.2f}", f"{diesel:.3f}", *demand, *costs])
        past.append([day, *usual_plan(demand)])
    header = ["date", "snow", "wind", "diesel", *(f"need_{shop}" for shop in shops)]
    write(folder, "transport.csv", [*header, *lanes], rows)
    write(folder, "transport-past.csv", ["date", *lanes], past)


def usual_plan(demand):
    """The plan of the past: North serves Alder, South serves Birch, Island serves Cedar."""
    plan = [[0] * 3 for _ in range(3)]
    for place, need in enumerate(demand):
        plan[place][place] = need
    return [amount for row in plan for amount in row]


def battery(folder):
    """Hourly prices of 150 days with the forecasts of the day before, as means of four hours."""
    by_day = {}
    with gzip.open(PRICES, "rt") as file:
        for line in file:
            if line.startswith("#"):
                continue
            moment = line.split('"')[1].split()[1]
            numbers = line.split('"')[4].split()
            by_day.setdefault(moment, []).append([float(number) for number in numbers[7:]])
    whole = [(day, slots) for day, slots in by_day.items() if len(slots) == 48]
    rows, past = [], []
    for moment, slots in whole[200:400]:
        number, month, year = (int(part) for part in moment.split("/"))
        day = date(year, month, number)
        # Columns of the source: forecasts of wind, load and price first, the price last.
        blocks = [slots[start : start + 8] for start in range(0, 48, 8)]
        features = []
        for column in (0, 1, 2):
            features += [f"{sum(slot[column] for slot in block) / 8:.1f}" for block in blocks]
        prices = [(slots[2 * hour][-1] + slots[2 * hour + 1][-1]) / 2 for hour in range(24)]
        rows.append([day, *features, *(f"{price:.2f}" for price in prices)])
        past.append([day, *usual_trades()])
    names = [
        f"{name}_{4 * block:02}h" for name in ("wind", "load", "forecast") for block in range(6)
    ]
    hours = [f"h{hour:02}" for hour in range(24)]
    write(folder, "battery.csv", ["date", *names, *hours], rows)
    write(folder, "battery-past.csv", ["date", *hours], past)


def usual_trades():
    """The timer of the past: charge from 3 to 5 in the night, sell from 17 to 19."""
    trades = [0.0] * 24
    trades[3] = trades[4] = 1.0
    trades[17] = trades[18] = -0.81
    return trades


def sites(folder):
    """Takings of ten places for a food truck. Rain empties the open squares at once, an event fills
    the places next to the stadium."""
    draw = random.Random(3)
    places = [
        "Arcade",
        "Bridge",
        "Campus",
        "Docks",
        "Exchange",
        "Fair",
        "Garden",
        "Hall",
        "Inn",
        "Jetty",
    ]
    is_open = {"Bridge", "Fair", "Garden", "Jetty"}
    near_stadium = {"Docks", "Fair", "Hall"}
    base = dict(zip(places, [520, 470, 560, 430, 540, 480, 500, 450, 410, 440]))
    rows, past = [], []
    for day in days(date(2026, 3, 2), 150):
        rain, event = draw.random(), int(draw.random() < 0.25)
        is_weekend = day.weekday() >= 5
        for place in places:
            footfall = base[place] * draw.uniform(0.7, 1.3) / 5
            takings = 3.2 * footfall + 0.3 * base[place]
            if place in is_open:
                takings *= 0.45 if rain > 0.6 else 1.2
            if place in near_stadium and event:
                takings *= 1.5
            if is_weekend and place in ("Campus", "Exchange"):
                takings *= 0.5
            takings += draw.gauss(0, 25)
            open_air = int(place in is_open)
            stadium = int(place in near_stadium)
            office = int(place in ("Campus", "Exchange"))
            rows.append(
                [day, place, f"{footfall:.0f}", open_air, f"{open_air * rain:.2f}", stadium * event]
                + [office * int(is_weekend), f"{takings:.0f}"]
            )
        past.append([day, *(int(place in ("Arcade", "Campus", "Exchange")) for place in places)])
    header = [
        "date",
        "site",
        "footfall",
        "open_air",
        "rain_if_open",
        "event_nearby",
        "office_on_weekend",
    ]
    write(folder, "sites.csv", [*header, "takings"], rows)
    write(folder, "sites-past.csv", ["date", *places], past)


def tours(folder):
    """Minutes between nine addresses. Three roads jam: one in rain, one at a high load, one on days
    with a fair."""
    draw = random.Random(4)
    spots = {
        "Depot": (0.0, 0.0),
        "Harbor": (3.2, 1.0),
        "Mill": (1.1, 2.7),
        "Castle": (2.6, 3.4),
        "School": (-1.6, 2.2),
        "Market": (-2.7, 0.4),
        "Clinic": (-1.2, -2.3),
        "Station": (1.3, -2.6),
        "Park": (3.0, -1.6),
    }
    names = list(spots)
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    rows, past = [], []
    usual = usual_tour(names)
    for day in days(date(2026, 2, 2), 150):
        load, rain, fair = draw.random(), draw.random(), int(draw.random() < 0.3)
        jams = {
            ("Mill", "Castle"): 14 + 10 * (load - 0.6) if load > 0.6 else 0,
            ("Clinic", "Station"): 12 + 10 * (rain - 0.55) if rain > 0.55 else 0,
            ("School", "Market"): 13 * fair,
        }
        minutes = []
        for pair in pairs:
            length = math.dist(spots[pair[0]], spots[pair[1]])
            time = 2 + 4.5 * length * (1 + 0.25 * load) + draw.uniform(-0.7, 0.7)
            minutes.append(f"{time + jams.get(pair, 0):.1f}")
        rows.append([day, f"{load:.2f}", f"{rain:.2f}", fair, *minutes])
        past.append([day, *(int(pair in usual) for pair in pairs)])
    header = [f"min_{a}-{b}" for a, b in pairs]
    write(folder, "tours.csv", ["date", "load", "rain", "fair", *header], rows)
    write(folder, "tours-past.csv", ["date", *header], past)
    write(folder, "addresses.csv", ["node", "x", "y"], [[name, *spots[name]] for name in names])


def usual_tour(names):
    """The tour of the past: clockwise from the north."""
    order = ["Depot", "Mill", "Castle", "Harbor", "Park", "Station", "Clinic", "Market", "School"]
    place = {name: number for number, name in enumerate(names)}
    steps = zip(order, order[1:] + order[:1])
    return {tuple(sorted(step, key=place.get)) for step in steps}


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    for journey in (transport, battery, sites, tours):
        journey(folder)


if __name__ == "__main__":
    main()
