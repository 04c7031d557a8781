"""Tables of all types of columns: the same features and predictions from every source.

A table is written as CSV and as Parquet (by pyarrow and by polars) for the command line, and handed
to the Python package as DataFrames of pandas, polars and pyarrow. A model is trained from one of
them; the predictions of all are compared with those computed by hand from its coefficients.
"""

from __future__ import annotations

import datetime
import math
import zoneinfo

import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.parquet

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
UNITS = ("s", "ms", "us", "ns")
KINDS = ("integer", "float", "text", "boolean", "date", "timestamp", "zoned", "codes")


class Column:
    """A column: its values as Python objects, None where there is a gap."""

    def __init__(self, name, kind, values, unit="us", zone=None):
        self.name, self.kind, self.values = name, kind, values
        self.unit, self.zone = unit, zone


def draw_column(rng, number, kind, rows):
    gaps = rng.random(rows) < rng.choice([0.0, 0.0, 0.15])
    zone = None
    if kind == "integer":
        values = rng.integers(-50, 50, size=rows).tolist()
    elif kind == "codes":
        values = (rng.integers(0, 5, size=rows) + 123456789).tolist()
    elif kind == "float":
        values = rng.normal(0, 5, size=rows).round(2).tolist()
    elif kind == "text":
        words = ["sun", "rain", "snow", "fog, thick", 'say "x"', "née", "x;y"]
        values = [words[i] for i in rng.integers(0, 5, size=rows)]
    elif kind == "boolean":
        values = (rng.random(rows) < 0.6).tolist()
    else:
        start = datetime.datetime(2024, 1, 1) + datetime.timedelta(days=int(rng.integers(0, 700)))
        days = rng.permutation(rows) * float(rng.choice([1.0, 1.0, 6.0]))
        if rng.random() < 0.2:
            start = datetime.datetime(1969, 6, 1)
        values = [start + datetime.timedelta(days=float(day)) for day in days]
        if kind == "date":
            values = [value.date() for value in values]
        else:
            seconds = rng.integers(0, 24 * 3600, size=rows)
            micro = rng.integers(0, 10**6, size=rows) * (rng.random() < 0.3)
            values = [
                value.replace(hour=0, minute=0, second=0)
                + datetime.timedelta(seconds=int(s), microseconds=int(m) // 1000 * 1000)
                for value, s, m in zip(values, seconds, micro)
            ]
    if kind == "zoned":
        zone = str(rng.choice(["UTC", "UTC", "Europe/Berlin", "America/New_York"]))
        values = [value.replace(tzinfo=zoneinfo.ZoneInfo(zone)) for value in values]
    unit = str(rng.choice(UNITS))
    if unit == "s":
        values = [
            v.replace(microsecond=0) if isinstance(v, datetime.datetime) else v for v in values
        ]
    values = [None if gap else value for gap, value in zip(gaps, values)]
    return Column(f"{kind} {number}", kind, values, unit, zone)


def arrow_table(columns):
    """A table of pyarrow with the units and zones of the columns."""
    types = {
        "integer": pyarrow.int64(),
        "codes": pyarrow.int64(),
        "float": pyarrow.float64(),
        "text": pyarrow.string(),
        "boolean": pyarrow.bool_(),
        "date": pyarrow.date32(),
    }
    arrays = {}
    for column in columns:
        kind = types.get(column.kind) or pyarrow.timestamp(column.unit, column.zone)
        arrays[column.name] = pyarrow.array(column.values, type=kind)
    return pyarrow.table(arrays)


def pandas_table(columns):
    data = {}
    for column in columns:
        values = column.values
        if column.kind in ("timestamp", "zoned"):
            kind = f"datetime64[{column.unit}]"
            if column.zone:
                kind = f"datetime64[{column.unit}, {column.zone}]"
            data[column.name] = pandas.Series(
                pandas.to_datetime(pandas.Series(values, dtype=object)).astype(kind)
                if not column.zone
                else pandas.Series(
                    pandas.DatetimeIndex(
                        [pandas.NaT if v is None else pandas.Timestamp(v) for v in values],
                        tz=column.zone,
                    ).as_unit(column.unit)
                )
            )
        elif column.kind == "boolean" and None in values:
            data[column.name] = pandas.Series(values, dtype="boolean")
        elif column.kind in ("integer", "codes") and None in values:
            data[column.name] = pandas.Series(values, dtype="Int64")
        else:
            data[column.name] = pandas.Series(values)
    return pandas.DataFrame(data)


def polars_table(columns):
    types = {
        "integer": polars.Int64,
        "codes": polars.Int64,
        "float": polars.Float64,
        "text": polars.String,
        "boolean": polars.Boolean,
        "date": polars.Date,
    }
    series = []
    for column in columns:
        kind = types.get(column.kind)
        if kind is None:
            unit = "ms" if column.unit == "s" else column.unit
            kind = polars.Datetime(unit, column.zone)
        series.append(polars.Series(column.name, column.values, dtype=kind))
    return polars.DataFrame(series)


def csv_text(value):
    """A cell as pandas writes it."""
    if value is None:
        return ""
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, str):
        return '"' + value.replace('"', '""') + '"'
    return str(value)


def write_csv_table(path, columns):
    lines = [",".join(csv_text(column.name) for column in columns)]
    for row in zip(*(column.values for column in columns)):
        lines.append(",".join(csv_text(value) for value in row))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def features_by_hand(names, columns, training_rows):
    """The features of these names, from the values of the columns."""
    by_name = {column.name: column for column in columns}
    return np.column_stack([feature_by_hand(name, by_name, training_rows) for name in names])


def feature_by_hand(name, by_name, training_rows):
    column = next(
        (
            by_name[known]
            for known in sorted(by_name, key=len, reverse=True)
            if name.startswith(known)
        ),
        None,
    )
    part = name[len(column.name) :]
    values = column.values
    if part == "":
        known = [float(values[row]) for row in training_rows if values[row] is not None]
        if column.kind == "boolean":
            fill = float(2 * sum(known) > len(known))
        else:
            fill = sorted(np.float32(known).tolist())[(len(known) - 1) // 2]
        return [fill if value is None else float(np.float32(value)) for value in values]
    if part == " is missing":
        return [float(value is None) for value in values]
    if part.startswith("="):
        wanted = part[1:]
        return [float(value is not None and csv_plain(value) == wanted) for value in values]
    if part.startswith(" weekday="):
        wanted = part.removeprefix(" weekday=")
        return [float(v is not None and WEEKDAYS[v.weekday()] == wanted) for v in values]
    if part.startswith(" hour="):
        wanted = int(part.removeprefix(" hour="))
        return [float(v is not None and v.hour == wanted) for v in values]
    if part in (" season sin", " season cos"):
        function = math.sin if part.endswith("sin") else math.cos
        return [0.0 if v is None else function(2 * math.pi * year_fraction(v)) for v in values]
    raise AssertionError(f"unknown feature {name}")


def csv_plain(value):
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def year_fraction(value):
    start = datetime.datetime(value.year, 1, 1)
    end = datetime.datetime(value.year + 1, 1, 1)
    moment = datetime.datetime(value.year, value.month, value.day)
    if isinstance(value, datetime.datetime):
        moment = value.replace(tzinfo=None, microsecond=0)
    return (moment - start) / (end - start)
