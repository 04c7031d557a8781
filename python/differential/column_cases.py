"""Cases of kind `columns`: one model, the same predictions from every source of a table."""

from __future__ import annotations

import os
import subprocess
import warnings

import numpy as np
import pyarrow.parquet

import regretless as rl

from .columns import (
    CLOCK_CHANCE,
    CLOCK_KIND,
    KINDS,
    arrow_table,
    draw_column,
    features_by_hand,
    pandas_table,
    polars_table,
    write_csv_table,
)
from .command_line import program, shell_text
from .outcomes import Failed, Noted, Predicted, Session

PROBLEM = 'kind = "top_k"\nitems = 3\nk = 1\nsense = "minimize"\n'
COSTS = ("c0", "c1", "c2")
# Predictions are computed and written in single precision.
TOLERANCE = 2e-5


class ColumnCase:
    """A table of columns of all types."""

    def __init__(self, seed, number, interface, rng):
        self.seed, self.number, self.kind, self.interface = seed, number, "columns", interface
        self.rng = rng
        self.rows = int(rng.integers(60, 200))
        kinds = [*rng.choice(KINDS, size=int(rng.integers(1, 5))), "float"]
        if rng.random() < CLOCK_CHANCE:
            kinds.append(CLOCK_KIND)
        self.columns = [draw_column(rng, place, one, self.rows) for place, one in enumerate(kinds)]
        self.costs = rng.uniform(1, 10, size=(self.rows, 3)).astype(np.float32)
        self.style = ", ".join(
            f"{one.kind}[{one.unit}{' ' + one.zone if one.zone else ''} {one.type} "
            f"{one.precision},{one.scale}]"
            for one in self.columns
        )

    @property
    def training_rows(self):
        return range(self.rows - 2 * int(0.2 * self.rows + 0.5))

    @property
    def categories(self):
        return [one.name for one in self.columns if one.is_category]

    @property
    def clock(self):
        """The column of times of day, which only CSV files may have; None if there is none."""
        return next((one.name for one in self.columns if one.kind == CLOCK_KIND), None)

    @property
    def has_other_clock(self):
        """Whether Parquet holds times whose clock it does not know."""
        return any(one.zone not in (None, "UTC") for one in self.columns)


class ColumnRun:
    """Trains from one source and predicts from all of them."""

    def __init__(self, case, folder):
        self.case, self.folder = case, folder
        self.session = Session()

    def run(self):
        with warnings.catch_warnings():
            # Rows that differ from the training rows are no matter here.
            warnings.simplefilter("ignore")
            self.compare_sources()

    def compare_sources(self):
        case, folder = self.case, self.folder
        self.write()
        frames = {
            "pandas": pandas_table(case.columns),
            "polars": polars_table(case.columns),
            "arrow": arrow_table(case.columns),
        }
        if case.interface == "python":
            model = self.train_in_python(frames)
        else:
            model = self.train_on_file()
        if model is None:
            return
        features = features_by_hand(model.feature_names, case.columns, case.training_rows)
        terms = features @ np.asarray(model.coefficients).T
        expected = terms + model.intercepts
        size = np.abs(np.asarray(model.coefficients)) @ np.abs(features).max(axis=0)
        scale = np.tile(TOLERANCE * (size + np.abs(model.intercepts)), (case.rows, 1))
        is_clock_used = case.clock and any(
            name.startswith(case.clock) for name in model.feature_names
        )
        for name, frame in frames.items():
            if is_clock_used:
                self.refused_in_python(f"predict from {name}", model.predict, frame)
                continue
            predictions = np.asarray(model.predict(frame), dtype=float)
            outcome = Predicted(f"predict from {name}", predictions, expected, scale)
            self.session.outcomes.append(outcome)
        if case.interface == "command line":
            model.save(folder / "model.safetensors", force=True)
            for file in ("table.csv", "arrow.parquet", "polars.parquet", "pandas.parquet"):
                self.decide(file, expected, scale)

    def write(self):
        case, folder = self.case, self.folder
        (folder / "problem.toml").write_text(PROBLEM, encoding="utf-8")
        write_csv_table(folder / "table.csv", case.columns)
        pyarrow.parquet.write_table(arrow_table(case.columns), folder / "arrow.parquet")
        polars_table(case.columns).write_parquet(folder / "polars.parquet")
        pandas_table(case.columns).to_parquet(folder / "pandas.parquet")

    def train_in_python(self, frames):
        case = self.case
        name = str(case.rng.choice(list(frames)))
        options = {"categories": case.categories} if case.categories else {}
        self.session.reproduction.append(f"train from {name}")

        def train():
            return rl.train(
                rl.Problem.from_file(self.folder / "problem.toml"),
                frames[name],
                case.costs,
                "least squares",
                split="order:0.2,0.2",
                **options,
            )[0]

        if case.clock:
            return self.refused_in_python(f"train from {name}", train)
        return train()

    def refused_in_python(self, operation, call, *arguments):
        """Call what must name the column of times of day in an error."""
        try:
            call(*arguments)
            appeared = False
        except ValueError as error:
            appeared = self.case.clock in str(error) and "datetime.time" in str(error)
        self.session.outcomes.append(Noted(operation, "times of day", appeared, True))

    def train_on_file(self):
        case, folder = self.case, self.folder
        file = str(case.rng.choice(["table.csv", "arrow.parquet", "polars.parquet"]))
        if file.endswith("csv"):
            lines = (folder / file).read_text(encoding="utf-8").splitlines()
            added = [",".join(COSTS), *(",".join(map(repr, row)) for row in case.costs.tolist())]
            text = "".join(f"{line},{costs}\n" for line, costs in zip(lines, added))
            (folder / f"train-{file}").write_text(text, encoding="utf-8")
        else:
            table = pyarrow.parquet.read_table(folder / file)
            for place, name in enumerate(COSTS):
                table = table.append_column(name, pyarrow.array(case.costs[:, place]))
            pyarrow.parquet.write_table(table, folder / f"train-{file}")
        words = ["train", "--data", f"train-{file}", "--costs", ",".join(COSTS)]
        words += ["--problem", "problem.toml", "--method", "least squares"]
        words += ["--split", "order:0.2,0.2", "--out", "trained.safetensors"]
        if case.categories:
            words += ["--categories", ",".join(case.categories)]
        refusal = None if file.endswith("csv") else self.refusal
        if not self.command(words, refusal):
            return None
        return rl.Model.load(folder / "trained.safetensors")

    @property
    def refusal(self):
        """What the command line says about a Parquet file that it cannot read; None if it can."""
        if self.case.clock:
            return "times of day without a date are not supported"
        return "were written in the zone" if self.case.has_other_clock else None

    def command(self, words, refusal):
        """Run a command, which may have to be refused; returns whether it has succeeded."""
        words = [*program(), *words, "--force", "--quiet", "--threads", "1"]
        self.session.reproduction.append(f"cd {self.folder} && {shell_text(words)}")
        done = subprocess.run(
            words,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            env=os.environ,
        )
        operation = " ".join(words[1:4])
        if refusal:
            appeared = done.returncode == 3 and refusal in done.stderr
            self.session.outcomes.append(Noted(operation, refusal, appeared, True))
        elif done.returncode != 0:
            self.session.outcomes.append(Failed(operation, done.stderr[-600:], False))
        return done.returncode == 0

    def decide(self, file, expected, scale):
        words = ["decide", "--model", "model.safetensors", "--data", file, "--out", "out.csv"]
        words += ["--predictions-out", "predictions.csv"]
        if not self.command(words, self.refusal if file.endswith("parquet") else None):
            return
        path = self.folder / "predictions.csv"
        predictions = np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
        self.session.outcomes.append(Predicted(f"decide from {file}", predictions, expected, scale))
