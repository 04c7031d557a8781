"""Tables of all types of columns: the same features and predictions from every source.

A table is written as CSV and as Parquet (by pyarrow and by polars) for the command line, and handed
to the Python package as DataFrames of pandas, polars and pyarrow. A model is trained from one of
them; the predictions of all are compared with those computed by hand from its coefficients.
"""

from __future__ import annotations

import datetime
import decimal
import math
import zoneinfo

import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.parquet

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
UNITS = ("s", "ms", "us", "ns")
KINDS = (
    "integer",
    "float",
    "text",
    "boolean",
    "date",
    "timestamp",
    "zoned",
    "codes",
    "category",
    "number category",
    "decimal",
    "small integer",
)
# No feature of it exists but in a CSV file, where it is a text: other sources refuse it.
CLOCK_KIND = "time of day"
# Chance of a table to have times of day, of which little else is checked.
CLOCK_CHANCE = 0.1
SMALL_TYPES = ("int8", "int16", "int32", "uint8", "uint16", "uint32", "uint64")
# Digits of decimal numbers: stored by Parquet in three, four, eight and more bytes.
PRECISIONS = (5, 9, 18, 30)
EPOCH = datetime.datetime(1970, 1, 1)


class Column:
    """A column: its values as Python objects, None where there is a gap."""

    def __init__(self, name, kind, values, unit="us", zone=None):
        self.name, self.kind, self.values = name, kind, values
        self.unit, self.zone = unit, zone
        # What is left of times below a microsecond, which Python's times lack.
        self.nanoseconds = [0] * len(values)
        # The type of small integers; digits of decimal numbers, all and behind the point.
        self.type, self.precision, self.scale = "int64", 0, 0

    @property
    def is_time(self):
        return self.kind in ("timestamp", "zoned")

    @property
    def is_category(self):
        return self.kind in ("codes", "category", "number category")

    def epoch_nanoseconds(self):
        """Nanoseconds since 1970 of every row; None for gaps."""
        found = []
        for value, rest in zip(self.values, self.nanoseconds):
            if value is None:
                found.append(None)
                continue
            if value.tzinfo is not None:
                value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
            found.append((value - EPOCH) // datetime.timedelta(microseconds=1) * 1000 + rest)
        return found


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
        values = [WORDS[i] for i in rng.integers(0, 5, size=rows)]
    elif kind == "category":
        values = [WORDS[i] for i in rng.integers(0, len(WORDS), size=rows)]
    elif kind == "number category":
        values = (rng.integers(0, 6, size=rows) * 3 - 2).tolist()
    elif kind == "small integer":
        return small_integers(rng, f"{kind} {number}", gaps)
    elif kind == "decimal":
        return decimal_numbers(rng, f"{kind} {number}", gaps)
    elif kind == CLOCK_KIND:
        seconds = rng.integers(0, 24 * 3600, size=4).tolist()
        clock = [(EPOCH + datetime.timedelta(seconds=one)).time() for one in seconds]
        values = [clock[i] for i in rng.integers(0, 4, size=rows)]
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
        # Clocks skip hours: only times that were shown.
        utc = datetime.timezone.utc
        values = [
            value.replace(tzinfo=zoneinfo.ZoneInfo(zone))
            .astimezone(utc)
            .astimezone(zoneinfo.ZoneInfo(zone))
            for value in values
        ]
    unit = str(rng.choice(UNITS))
    if unit == "s":
        values = [
            v.replace(microsecond=0) if isinstance(v, datetime.datetime) else v for v in values
        ]
    values = [None if gap else value for gap, value in zip(gaps, values)]
    column = Column(f"{kind} {number}", kind, values, unit, zone)
    if column.is_time and unit == "ns" and rng.random() < 0.7:
        column.nanoseconds = rng.integers(0, 1000, size=rows).tolist()
    return column


WORDS = ["sun", "rain", "snow", "fog, thick", 'say "x"', "née", "x;y"]


def small_integers(rng, name, gaps):
    """Integers of a few bits, the least and the largest among them."""
    kind = str(rng.choice(SMALL_TYPES))
    # Larger numbers leave no digits for the others in single precision.
    least, largest = (
        max(np.iinfo(kind).min, -(2**24)),
        min(int(np.iinfo(kind).max), 2**24),
    )
    values = rng.integers(least, largest, size=len(gaps), endpoint=True).tolist()
    values[:2] = [int(least), largest]
    values = [None if gap else value for gap, value in zip(gaps, values)]
    column = Column(name, "small integer", values)
    column.type = kind
    return column


def decimal_numbers(rng, name, gaps):
    """Decimal numbers of some digits, with zeros behind the point."""
    precision, scale = int(rng.choice(PRECISIONS)), int(rng.integers(0, 4))
    digits = min(precision, 6)
    units = rng.integers(-(10**digits) + 1, 10**digits, size=len(gaps)).tolist()
    with decimal.localcontext() as context:
        context.prec = 40
        values = [decimal.Decimal(unit).scaleb(-scale) for unit in units]
    values = [None if gap else value for gap, value in zip(gaps, values)]
    column = Column(name, "decimal", values)
    column.precision, column.scale = precision, scale
    return column


def arrow_column(column):
    types = {
        "integer": pyarrow.int64(),
        "codes": pyarrow.int64(),
        "number category": pyarrow.int64(),
        "float": pyarrow.float64(),
        "text": pyarrow.string(),
        "category": pyarrow.string(),
        "boolean": pyarrow.bool_(),
        "date": pyarrow.date32(),
        "decimal": pyarrow.decimal128(max(column.precision, 1), column.scale),
        "small integer": getattr(pyarrow, column.type)(),
    }
    if column.kind == CLOCK_KIND:
        kind = pyarrow.time32 if column.unit in ("s", "ms") else pyarrow.time64
        return pyarrow.array(column.values, type=kind(column.unit))
    if column.is_time and column.unit == "ns":
        numbers = pyarrow.array(column.epoch_nanoseconds(), type=pyarrow.int64())
        return numbers.cast(pyarrow.timestamp("ns", column.zone))
    if column.is_time:
        return pyarrow.array(column.values, type=pyarrow.timestamp(column.unit, column.zone))
    values = pyarrow.array(column.values, type=types[column.kind])
    is_dictionary = column.kind in ("category", "number category")
    return values.dictionary_encode() if is_dictionary else values


def arrow_table(columns):
    """A table of pyarrow with the units and zones of the columns."""
    return pyarrow.table({column.name: arrow_column(column) for column in columns})


def pandas_column(column):
    values, kind = column.values, column.kind
    if column.is_time and column.unit == "ns":
        numbers = [np.iinfo(np.int64).min if n is None else n for n in column.epoch_nanoseconds()]
        times = pandas.DatetimeIndex(np.array(numbers, dtype="datetime64[ns]"))
        if column.zone:
            times = times.tz_localize("UTC").tz_convert(column.zone)
        return pandas.Series(times)
    if column.is_time and column.zone:
        times = [pandas.NaT if v is None else pandas.Timestamp(v) for v in values]
        return pandas.Series(pandas.DatetimeIndex(times, tz=column.zone).as_unit(column.unit))
    if column.is_time:
        times = pandas.to_datetime(pandas.Series(values, dtype=object))
        return times.astype(f"datetime64[{column.unit}]")
    if kind == "boolean" and None in values:
        return pandas.Series(values, dtype="boolean")
    if kind in ("integer", "codes") and None in values:
        return pandas.Series(values, dtype="Int64")
    if kind == "small integer":
        name = column.type
        nullable = name.replace("uint", "UInt") if "uint" in name else name.replace("int", "Int")
        return pandas.Series(values, dtype=nullable if None in values else name)
    if kind in ("category", "number category"):
        return pandas.Series(pandas.Categorical(values))
    if kind in ("decimal", CLOCK_KIND):
        return pandas.Series(values, dtype=object)
    return pandas.Series(values)


def pandas_table(columns):
    return pandas.DataFrame({column.name: pandas_column(column) for column in columns})


def polars_column(column):
    types = {
        "integer": polars.Int64,
        "codes": polars.Int64,
        # Categories of polars are texts.
        "number category": polars.Int64,
        "float": polars.Float64,
        "text": polars.String,
        "category": polars.Categorical,
        "boolean": polars.Boolean,
        "date": polars.Date,
        "decimal": polars.Decimal(max(column.precision, 1), column.scale),
        CLOCK_KIND: polars.Time,
    }
    if column.kind == "small integer":
        name = column.type.replace("uint", "UInt").replace("int", "Int")
        return polars.Series(column.name, column.values, dtype=getattr(polars, name))
    if column.is_time and column.unit == "ns":
        numbers = polars.Series(column.name, column.epoch_nanoseconds(), dtype=polars.Int64)
        if column.zone is None:
            return numbers.cast(polars.Datetime("ns"))
        return numbers.cast(polars.Datetime("ns", "UTC")).dt.convert_time_zone(column.zone)
    if column.is_time:
        unit = "ms" if column.unit == "s" else column.unit
        kind = polars.Datetime(unit, column.zone)
        return polars.Series(column.name, column.values, dtype=kind)
    return polars.Series(column.name, column.values, dtype=types[column.kind])


def polars_table(columns):
    return polars.DataFrame([polars_column(column) for column in columns])


def csv_text(value, nanoseconds=0):
    """A cell as pandas writes it."""
    if value is None:
        return ""
    if isinstance(value, datetime.datetime):
        if not nanoseconds:
            return value.isoformat()
        clock = value.replace(tzinfo=None).isoformat(timespec="microseconds")
        zone = value.isoformat(timespec="microseconds")[len(clock) :]
        return f"{clock}{nanoseconds:03}{zone}"
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, str):
        return '"' + value.replace('"', '""') + '"'
    return str(value)


def write_csv_table(path, columns):
    lines = [",".join(csv_text(column.name) for column in columns)]
    for row in zip(*(zip(column.values, column.nanoseconds) for column in columns)):
        lines.append(",".join(csv_text(*cell) for cell in row))
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
