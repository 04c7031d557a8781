"""Cases on the command line: a problem file and tables, one process per command."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas

from regretless.results.savings import method_rows

from .files import toml_text, write_csv, write_parquet
from .outcomes import Evaluated, Failed, Noted, Session, Solved
from .references import FEASIBLE, UNBOUNDED, UNDECIDED, statuses_under
from .studies import (
    backtested_numbers,
    compared_numbers,
    days_of,
    decided_by_predictions,
    is_suitable,
    split_text,
)

POSITION_NOTE = "costs are matched by position"


def program():
    """The words that start the program: of REGRETLESS_PROGRAM, or the Python package's."""
    given = os.environ.get("REGRETLESS_PROGRAM")
    if given:
        return [given]
    script = Path(sys.executable).with_name("regretless")
    return [str(script)] if script.exists() else [sys.executable, "-m", "regretless"]


class CommandLineRun:
    """The commands of one case."""

    def __init__(self, case, folder):
        self.case, self.folder, self.rng = case, folder, case.rng
        self.session = Session()
        drawn = case.drawn
        self.format = str(self.rng.choice(["csv", "csv", "semicolon", "parquet", "npy"]))
        if case.draw.parameters and self.format == "npy":
            # Arrays have no columns with names.
            self.format = "parquet"
        self.names = drawn.names or [f"c_{cost:02}" for cost in range(drawn.width)]
        # Costs of absent items may be empty.
        self.with_gaps = drawn.present is not None and self.rng.random() < 0.5
        if self.with_gaps and (drawn.present == 0).any() and self.format == "npy":
            self.format = "csv"
        self.order = np.arange(drawn.width)
        if drawn.names and self.format != "npy":
            self.order = self.rng.permutation(drawn.width)
        self.unequal_names = self.format == "npy" and drawn.names is not None

    def run(self):
        case = self.case
        for name, text in case.drawn.files.items():
            (self.folder / name).write_text(text, encoding="utf-8")
        (self.folder / "problem.toml").write_text(toml_text(case.drawn.spec), encoding="utf-8")
        data = self.write_table()
        predicted, _ = statuses_under(case, case.predictions)
        undecided = (case.best.statuses == UNDECIDED).any()
        undecided |= (predicted.statuses == UNDECIDED).any()
        if self.rng.random() < 0.3 or undecided:
            self.label(data)
        if not undecided:
            self.evaluate(data, predicted)
        if self.rng.random() < 0.3 and self.format != "npy":
            self.decide(data)
        if self.rng.random() < 0.4 and self.format not in ("npy", "semicolon"):
            self.study(data)
        return self.session

    def write_table(self):
        """Write the table; returns the flags that name it."""
        case, folder = self.case, self.folder
        costs = case.costs.copy()
        if self.with_gaps:
            costs[case.drawn.present == 0] = np.nan
        columns = {"day": days_of(case.rows), "feature": case.rng.normal(size=case.rows)}
        columns.update(case.draw.parameters)
        named = {self.names[place]: costs[:, place] for place in self.order}
        chosen = [f"--costs={','.join(named)}"]
        if any("," in name for name in named) or case.rng.random() < 0.1:
            # A flag separates names by commas.
            (folder / "settings.toml").write_text(toml_text({"costs": list(named)}))
            chosen = ["--config", "settings.toml"]
        if self.format == "npy":
            write_csv(folder / "table.csv", columns)
            kind = np.float32 if case.rng.random() < 0.5 else np.float64
            np.save(folder / "costs.npy", np.nan_to_num(costs).astype(kind))
            return ["--data", "table.csv", "--cost-data", "costs.npy"]
        columns.update(named)
        if self.format == "parquet":
            if self.with_gaps:
                columns = {
                    name: [None if one != one else one for one in np.asarray(column).tolist()]
                    for name, column in columns.items()
                }
                columns = {name: np.array(one, dtype=object) for name, one in columns.items()}
            write_parquet(folder / "table.parquet", columns)
            return ["--data", "table.parquet", *chosen]
        if self.format == "semicolon":
            write_csv(folder / "table.csv", columns, ";", ",")
            return ["--data", "table.csv", "--delimiter", ";", "--decimal", ",", *chosen]
        write_csv(folder / "table.csv", columns)
        return ["--data", "table.csv", *chosen]

    def run_program(self, command, flags):
        """Run a command; returns the process and its notes."""
        words = [*program(), command, *flags, "--json", "--force", "--threads", "1"]
        self.session.reproduction.append(f"cd {self.folder} && {shell_text(words)}")
        done = subprocess.run(
            words, cwd=self.folder, capture_output=True, text=True, timeout=120, check=False
        )
        return done, done.stderr.splitlines()

    def call(self, command, flags, expects_error=False):
        """Run a command; returns its JSON, or None, and its notes."""
        done, notes = self.run_program(command, flags)
        # Costs of the period before cannot be repeated where items differ; the others are compared.
        is_partial = done.returncode == 2 and "last period failed" in done.stderr
        if done.returncode != 0 and not is_partial:
            message = f"exit code {done.returncode}: {done.stderr.strip()[-600:]}"
            if expects_error is None:
                # A training ends where predictions have no decision.
                expects_error = "unbounded" in message or "cycle" in message
            is_expected = expects_error and done.returncode == 4
            self.session.outcomes.append(Failed(command, message, is_expected))
            return None, notes
        if expects_error:
            self.session.outcomes.append(Noted(command, "an error", False, True))
        return json.loads(done.stdout), notes

    def check_position_note(self, command, notes):
        appeared = any(POSITION_NOTE in note for note in notes)
        if self.case.drawn.names is not None:
            self.session.outcomes.append(
                Noted(command, POSITION_NOTE, appeared, self.unequal_names)
            )

    def label(self, data):
        case = self.case
        result, notes = self.call("label", [*data, "--problem", "problem.toml"])
        if result is None:
            return
        self.check_position_note("label", notes)
        named = {entry["row"] for entry in result["failed"]}
        wrong = case.best.statuses != FEASIBLE
        unsure = set(np.flatnonzero(case.best.statuses == UNDECIDED).tolist())
        expected = set(np.flatnonzero(wrong).tolist())
        is_right = named - unsure == expected - unsure
        self.session.outcomes.append(
            Noted("label", f"failed rows {sorted(expected)}", is_right, True)
        )
        if named:
            note = rf"row {min(named)} \(.*is skipped"
            appeared = any(re.search(note, line) for line in notes)
            self.session.outcomes.append(Noted("label", note, appeared, True))

    def evaluate(self, data, predicted):
        case = self.case
        solvable = case.best.statuses == FEASIBLE
        expects_error = bool((predicted.statuses[solvable] == UNBOUNDED).any())
        predictions = {self.names[place]: case.predictions[:, place] for place in self.order}
        if self.format == "npy" and self.rng.random() < 0.5:
            np.save(self.folder / "predictions.npy", case.predictions)
            file = "predictions.npy"
        elif self.format == "npy":
            names = case.drawn.names or [f"c{cost}" for cost in range(case.drawn.width)]
            write_csv(self.folder / "predictions.csv", dict(zip(names, case.predictions.T)))
            file = "predictions.csv"
        elif self.format == "semicolon":
            write_csv(self.folder / "predictions.csv", predictions, ";", ",")
            file = "predictions.csv"
        else:
            write_csv(self.folder / "predictions.csv", predictions)
            file = "predictions.csv"
        rows_file = "rows.csv" if self.rng.random() < 0.7 else "rows.jsonl"
        result, notes = self.call(
            "evaluate",
            [*data, "--problem", "problem.toml", "--predictions", file, "--rows-out", rows_file],
            expects_error,
        )
        if result is None:
            return
        self.check_position_note("evaluate", notes)
        rows = read_rows(self.folder / rows_file)

        def column(name):
            return np.array([number(row[name]) for row in rows])

        self.session.outcomes.append(
            Evaluated(
                "evaluate",
                case.predictions,
                case.costs,
                column("regret"),
                column("objective"),
                column("optimal_objective"),
                column("relative_regret"),
                result,
                {entry["row"] for entry in result["skipped_rows"]},
            )
        )

    def decide(self, data):
        """Train a least-squares model, and decide all rows of its table by it."""
        case = self.case
        size = np.abs(case.costs).max() or 1.0
        if (case.best.statuses == FEASIBLE).sum() < 10 or not 1e-4 < size < 1e9:
            return
        model = ["--out", "model.safetensors", "--method", "least squares", "--split"]
        trained, notes = self.call(
            "train",
            [*data, "--problem", "problem.toml", "--features", "feature", *model, "order:0.1,0.1"],
            None,
        )
        if trained is None:
            return
        dialect = data[2:] if self.format == "semicolon" else []
        dialect = dialect[:4]
        out = "decisions.csv" if self.rng.random() < 0.6 else "decisions.jsonl"
        words = ["--model", "model.safetensors", *data[:2], *dialect, "--out", out]
        words += ["--predictions-out", "predicted.csv"]
        done, notes = self.run_program("decide", words)
        if done.returncode not in (0, 4):
            self.session.outcomes.append(Failed("decide", done.stderr.strip()[-600:], False))
            return
        names = case.drawn.names or self.names
        with (self.folder / "predicted.csv").open(newline="", encoding="utf-8") as file:
            predicted = [[number(row[name]) for name in names] for row in csv.DictReader(file)]
        predicted = np.array(predicted)
        solved = self.decided_rows(read_rows(self.folder / out), names, predicted)
        if solved is not None and np.isnan(predicted).any():
            # A cost that no training row has: decisions leave out what it belongs to, as the
            # references do not.
            taken = np.nan_to_num(solved.decisions[:, : len(names)])[np.isnan(predicted)]
            self.session.outcomes.append(
                Noted("decide", "what has no prediction is left out", not taken.any(), True)
            )
        elif solved is not None:
            self.session.outcomes.append(solved)
            failed = [status == "failed" for status in solved.statuses]
            self.session.outcomes.append(
                Noted("decide", "exit code 4", done.returncode == 4, any(failed))
            )

    def study(self, data):
        """A comparison, or a backtest of given predictions, whose regrets are known."""
        case = self.case
        objectives = decided_by_predictions(case) if is_suitable(case) else None
        if objectives is None:
            return
        words = [*data, "--problem", "problem.toml", "--features", "feature", "--epochs", "1"]
        if case.rng.random() < 0.5:
            in_order = case.rng.random() < 0.5
            words += ["--methods", "MSE", "--seeds", "3", "--split", split_text(in_order)]
            result, _ = self.call("compare", [*words, "--out", "compared"], None)
            if result is not None:
                methods = pandas.read_csv(self.folder / "compared" / "summary.csv")
                runs = pandas.read_csv(self.folder / "compared" / "results.csv")
                numbers = compared_numbers(case, methods, runs, in_order, objectives)
                self.session.outcomes.append(numbers)
            return
        predictions = {self.names[place]: case.predictions[:, place] for place in self.order}
        write_csv(self.folder / "mine.csv", {"day": days_of(case.rows), **predictions})
        words += ["--time", "day", "--methods", "least squares", "--window", str(case.rows // 2)]
        words += ["--step", "10", "--predictions", "mine=mine.csv", "--out", "tested"]
        result, _ = self.call("backtest", words, None)
        if result is not None:
            methods = pandas.DataFrame(method_rows(result))
            periods = pandas.read_csv(self.folder / "tested" / "periods.csv")
            numbers = backtested_numbers(case, methods, periods, objectives)
            self.session.outcomes.append(numbers)

    def decided_rows(self, rows, names, predicted):
        """The decisions of a file, with failures for the rows that it lacks."""
        case = self.case
        if len(predicted) != case.rows:
            return None
        known = getattr(case.drawn.reference, "known", np.zeros(0, dtype=bool))
        others = [f"x{place}" for place in np.flatnonzero(known)]
        decisions = np.full((case.rows, len(names) + len(others)), np.nan)
        objectives, statuses = np.full(case.rows, np.nan), ["failed"] * case.rows
        for row in rows:
            values = row.get("values", row)
            place = int(row["key"] if "key" in row else row["instance"])
            # A name that a spreadsheet would run has a quote in front.
            cells = [values.get(name, values.get(f"'{name}")) for name in [*names, *others]]
            decisions[place] = [number(cell) for cell in cells]
            objectives[place], statuses[place] = number(row["objective"]), row["status"]
        return Solved("decide", predicted, decisions, objectives, statuses)


def number(cell):
    """A number of a file of rows; NaN where it is missing."""
    return float("nan") if cell in (None, "") else float(cell)


def read_rows(path):
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def shell_text(words):
    """A command as a shell reads it."""
    import shlex

    return shlex.join(words)


def remove(folder):
    """Remove the files of a case that passed."""
    shutil.rmtree(folder, ignore_errors=True)
