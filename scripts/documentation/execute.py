"""Execute what pages show: commands, code, printed lines and numbers.

A page is executed from top to bottom in an empty folder:

* a code block whose language is followed by a name is a file;
* `sh` blocks run in bash, `python` blocks in one interpreter per page; both must succeed;
* a `text` block has lines that the block before it printed; `…` stands for any text. After
  `<!-- check: tolerance 5 % -->` numbers may differ by so much;
* `toml` blocks must be TOML.

Marks in comments change that (page_steps.py). What is repeated on demand has the date of its last
run (last_run.py).

A block of another language (`rust`) needs a mark that it is not executed. Numbers of the text and
of tables that no mark compares are findings, too (number_coverage.py).
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean

import last_run
import number_coverage
import program
import tables
import tomllib
from page_steps import SIZES, TIMES, Step, percentage, size_of, steps, without_size
from printed import agrees, is_close, parsed, published_differences, row, tail, value

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["README.md", "docs/**/*.md"]
SHOWN = ("toml", "csv", "lp", "json", "bibtex", "markdown", "html", "mps", "")
# Most seconds of a block of each size. Generous: a machine that runs other tests, too, may be ten
# times as slow.
MAX_SECONDS = {"quick": 600, "long": 3600, "hours": 36000, TIMES: 36000}
INTERPRETER = """
import json, sys, io, contextlib, traceback
scope = {"__name__": "__main__"}
for line in sys.stdin:
    out, error = io.StringIO(), ""
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(json.loads(line), "<page>", "exec"), scope)
        except ModuleNotFoundError as missing:
            error = f"missing {missing.name}"
        except BaseException:
            error = traceback.format_exc()
    sys.__stdout__.write(json.dumps([out.getvalue(), error]) + "\\n")
    sys.__stdout__.flush()
"""


@dataclass
class TableRun:
    """What the marks below a table have compared."""

    step: Step
    marks: int = 0
    comparisons: list = field(default_factory=list)

    def is_complete(self):
        """Whether all marks have compared it, and found nothing."""
        is_quiet = not any(done.findings for done in self.comparisons)
        return len(self.comparisons) == self.marks and is_quiet


@dataclass
class Outcome:
    """What became of a page."""

    page: str
    counts: dict = field(default_factory=dict)
    findings: list = field(default_factory=list)
    seconds: float = 0.0

    def count(self, what, amount=1):
        """Count something that was executed, compared or left out."""
        self.counts[what] = self.counts.get(what, 0) + amount


class PageRun:
    """Executes one page in a folder of its own."""

    def __init__(self, path, folder, size, is_recording=False):
        self.outcome = Outcome(str(path.relative_to(ROOT)))
        self.path, self.folder, self.size = path, Path(folder), size
        self.is_recording = is_recording
        self.printed, self.is_skipped, self.interpreter = "", False, None
        # By the cells of a table.
        self.table_runs = {}
        # Where the marks begin whose command ran and whose numbers agree, and that of the block
        # whose output is compared next.
        self.held_marks = set()
        self.compared_mark = None
        places = [str(program.find().parent), os.environ["PATH"]]
        if program.python() is not None:
            places.insert(1, str(program.python().parent))
        self.environment = {**os.environ, "PATH": os.pathsep.join(places), "COLUMNS": "100"}
        self.environment["CLONE"] = str(ROOT)
        self.environment.pop("REGRETLESS_ABORT_AT_FAIL_POINT", None)

    def is_left_out(self, mark):
        """Whether a block or check takes longer than this run allows, or measures times."""
        size = size_of(mark)
        if TIMES in (size, self.size):
            return size != self.size
        return SIZES.index(size) > SIZES.index(self.size)

    def report(self, step, message):
        """Keep a finding with its place."""
        self.outcome.findings.append(f"{self.outcome.page}:{step.line}: {message}")

    def execute(self):
        """Execute all steps; return what became of them."""
        begin = time.monotonic()
        markdown = self.path.read_text()
        prose = re.sub(r"^```.*?^```$", "", markdown, flags=re.MULTILINE | re.DOTALL)
        if re.search(r"^<!-- run: none: .+ -->$", prose, re.MULTILINE):
            self.outcome.count("page not executed")
            return self.outcome
        try:
            for step in steps(markdown):
                self.try_step(step)
        finally:
            if self.interpreter is not None:
                self.interpreter.stdin.close()
                self.interpreter.wait()
                self.interpreter.stdout.close()
        self.report_uncompared(markdown)
        if self.is_recording and not last_run.record(self.path, markdown, self.held_marks):
            self.outcome.findings.append(
                f"{self.outcome.page}: changed during the run: dates are not recorded"
            )
        self.outcome.seconds = time.monotonic() - begin
        return self.outcome

    def report_uncompared(self, markdown):
        """Report numbers of checked tables that none of their marks has compared."""
        for table in number_coverage.read(markdown).tables:
            run = self.table_runs.get(str(table.cells))
            if run is None or not run.is_complete():
                continue
            for cell in number_coverage.uncompared(
                table.cells, table.given_columns, run.comparisons
            ):
                self.report(run.step, f"no mark compares {cell}")

    def try_step(self, step):
        """Execute a step; a mark that is wrong is a finding and does not stop other pages."""
        try:
            self.execute_step(step)
        except (LookupError, ValueError, StopIteration, subprocess.TimeoutExpired) as error:
            self.report(step, f"the mark cannot be executed: {type(error).__name__}: {error}")

    def execute_step(self, step):
        """Execute or compare one step."""
        mark = step.mark.removeprefix("run: ")
        if step.kind == "number":
            self.check_number(step)
        elif step.kind == "table":
            self.check_table(step)
        elif step.mark.startswith("run: no") or self.is_left_out(mark):
            self.outcome.count(size_of(mark) if self.is_left_out(mark) else "not executed")
            self.is_skipped = True
        elif step.kind.startswith("file "):
            path = self.folder / step.kind.removeprefix("file ")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(step.text)
            self.outcome.count("files")
        elif step.kind == "sh":
            self.run_commands(step, MAX_SECONDS[size_of(mark)])
        elif step.kind == "python":
            self.run_python(step)
        elif step.kind == "text":
            self.compare(step)
        elif step.kind == "toml":
            self.parse_toml(step)
        elif step.kind not in SHOWN:
            self.report(step, f"a block of {step.kind} is not executed; mark it with the reason")

    def run_commands(self, step, seconds):
        """Run a block of commands."""
        words = ["bash", "-euo", "pipefail", "-c", step.text]
        try:
            done = subprocess.run(
                words, cwd=self.folder, env=self.environment, timeout=seconds,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            self.report(step, f"takes more than {seconds} s; mark it as long or hours")
            self.is_skipped = True
            return
        self.printed, self.is_skipped = done.stdout, done.returncode != 0
        self.outcome.count("commands", count_commands(step.text))
        if done.returncode != 0:
            self.report(step, f"exit code {done.returncode}:\n{tail(done.stdout)}")
        else:
            self.hold_block(step)

    def hold_block(self, step):
        """Keep the mark of a block that was executed; its output may be compared next."""
        self.compared_mark = step.mark_place if step.mark else None
        if step.mark:
            self.held_marks.add(step.mark_place)

    def run_python(self, step):
        """Run a block of Python in the interpreter of the page."""
        if self.interpreter is None:
            path = program.python()
            words = [path or sys.executable, "-u", "-c", INTERPRETER]
            self.interpreter = subprocess.Popen(
                words, cwd=self.folder, env=self.environment, text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        self.interpreter.stdin.write(json.dumps(step.text) + "\n")
        self.interpreter.stdin.flush()
        self.printed, error = json.loads(self.interpreter.stdout.readline())
        self.is_skipped = bool(error)
        missing = re.match(
            r"missing (\w+)|.*NameError: name '(\w+)' is not defined", error, re.DOTALL
        )
        if not error:
            self.outcome.count("code blocks")
            self.hold_block(step)
        elif missing and (
            missing[1] or any(key.startswith("without") for key in self.outcome.counts)
        ):
            name = missing[1] or "what an earlier block defines"
            if name == "regretless" and program.python() is not None:
                self.report(step, "the package is not installed")
            self.outcome.count(f"without {name}")
        else:
            self.report(step, f"fails:\n{tail(error)}")

    def compare(self, step):
        """Compare shown lines with what was printed last."""
        if self.is_skipped:
            self.outcome.count("lines of blocks that were not executed", step.text.count("\n"))
            return
        for line in step.text.splitlines():
            if any(agrees(line, printed, step.tolerance) for printed in self.printed.splitlines()):
                self.outcome.count("lines")
            else:
                self.report(step, f"'{line}' is not in:\n{tail(self.printed, 40)}")
                self.held_marks.discard(self.compared_mark)

    def result_of(self, step, claim, command):
        """Return what the command of a check prints, or None if it is left out or fails."""
        if self.is_left_out(claim):
            self.outcome.count(f"{step.kind}s of {size_of(claim)} runs")
            return None
        # What building HiGHS needs may be in .venv of the checkout.
        prepared = f'eval "$("$CLONE"/scripts/setup)"; {command}' if "cargo" in command else command
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", prepared], cwd=self.folder, env=self.environment,
            capture_output=True, text=True, timeout=MAX_SECONDS[size_of(claim)],
        )  # fmt: skip
        if done.returncode != 0:
            self.report(step, f"{command}: {tail(done.stderr)}")
            return None
        return done.stdout

    def check_number(self, step):
        """Check a number of the text by what a command prints."""
        before, _, check = step.text.partition("\0")
        claim, command, expression = (part.strip() for part in check.split("|"))
        shown, _, tolerance = without_size(claim).partition(" within ")
        if shown not in before:
            self.report(step, f"{shown} is not in the text before the mark")
        result = self.result_of(step, claim, command)
        if result is None:
            return
        helpers = {"row": row, "mean": mean, "published_differences": published_differences}
        found = eval(expression, {"result": parsed(result), **helpers})
        self.outcome.count("numbers")
        if not is_close(value(shown), float(found), percentage(tolerance)):
            self.report(step, f"{shown} is {found:.6g}")
        else:
            self.held_marks.add(step.mark_place)

    def check_table(self, step):
        """Check the table before a mark by what a command prints."""
        before, _, check = step.text.partition("\0")
        claim, command, spec = (part.strip() for part in check.split("|"))
        table = tables.last_table(before)
        run = self.table_runs.setdefault(str(table), TableRun(step))
        run.marks += 1
        result = self.result_of(step, claim, command)
        if result is None:
            return
        tolerance = percentage(claim.partition(" within ")[2])
        if spec.endswith((" key", " keys")):
            keys = int(spec.split()[0])
            done = tables.compare_headings(table, result, keys, tolerance)
        else:
            done = tables.compare(table, parsed(result), spec, tolerance)
        run.comparisons.append(done)
        self.outcome.count("numbers of tables", len(done.compared))
        for finding in done.findings:
            self.report(step, finding)
        if not done.findings:
            self.held_marks.add(step.mark_place)

    def parse_toml(self, step):
        """Parse a block of TOML."""
        try:
            tomllib.loads(step.text)
            self.outcome.count("TOML blocks")
        except tomllib.TOMLDecodeError as error:
            self.report(step, f"no TOML: {error}")


def count_commands(text):
    """Return the number of commands of a block, continued lines being one."""
    lines = re.sub(r"\\\n", " ", text).splitlines()
    return sum(1 for line in lines if line.strip() and not line.lstrip().startswith("#"))


def run_page(path, size, is_recording=False):
    """Execute a page in an empty folder, up to blocks of a size."""
    with tempfile.TemporaryDirectory(prefix="docs-") as folder:
        return PageRun(path, folder, size, is_recording).execute()


def undated(paths):
    """Yield page, line and mark of every measurement on demand without the date of its last run."""
    for path in paths:
        for line, mark in last_run.undated(path.read_text()):
            yield f"{path.relative_to(ROOT)}:{line}: '{mark}' has no 'last run YYYY-MM-DD'"


def list_blocks(paths):
    """Print how many blocks of each kind pages have."""
    for path in paths:
        counts = {}
        for step in steps(path.read_text()):
            kind = (
                step.mark.split(",")[0] if step.mark else step.kind.split()[0] if step.kind else ""
            )
            counts[kind] = counts.get(kind, 0) + 1
        print(path.relative_to(ROOT), counts)


def check(names, size=SIZES[0], only_list=False, is_recording=False):
    """Execute pages; print what is wrong and a summary; return whether nothing is.

    Recording writes today's date into the marks of measurements that were repeated and agree.
    """
    paths = [Path(name).resolve() for name in names]
    if not paths:
        paths = [path for pattern in PAGES for path in sorted(ROOT.glob(pattern))]
    if only_list:
        list_blocks(paths)
        return True
    # Measurements would disturb each other.
    with ThreadPoolExecutor(1 if size == TIMES else os.cpu_count()) as workers:
        outcomes = list(workers.map(lambda path: run_page(path, size, is_recording), paths))
    unchecked = [*number_coverage.findings(paths), *undated(paths)]
    for finding in unchecked:
        print(f"docs: {finding}", file=sys.stderr)
    totals = {}
    for outcome in outcomes:
        for what, amount in outcome.counts.items():
            totals[what] = totals.get(what, 0) + amount
        for finding in outcome.findings:
            print(f"docs: {finding}", file=sys.stderr)
    slowest = max(outcomes, key=lambda outcome: outcome.seconds)
    found = len(unchecked) + sum(len(outcome.findings) for outcome in outcomes)
    print(f"docs: {len(paths)} pages with {program.find()}")
    for what, amount in sorted(totals.items()):
        print(f"docs: {amount:6} {what}")
    print(f"docs: slowest page {slowest.page}, {slowest.seconds:.1f} s; {found} findings")
    return found == 0
