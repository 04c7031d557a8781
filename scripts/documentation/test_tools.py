"""Tests of the tools that build and check the documentation: python3 -m unittest test_tools."""

import datetime
import sys
import tempfile
import unittest
from pathlib import Path

import built_site
import cells
import command_reference
import execute
import last_run
import number_coverage

sys.path.insert(0, str(execute.ROOT / "docs" / "gallery"))
import figure  # noqa: E402

TICKS = "```"


def run(markdown, size="quick"):
    """Execute a page of this text."""
    target = execute.ROOT / "target"
    target.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target) as folder:
        path = Path(folder) / "page.md"
        path.write_text(markdown)
        return execute.run_page(path, size)


def block(language, text):
    """Return a code block."""
    return f"{TICKS}{language}\n{text}\n{TICKS}\n"


class ExecutedPages(unittest.TestCase):
    """What a page may and may not say."""

    def test_a_command_that_fails_is_a_finding(self):
        outcome = run("text\n\n" + block("sh", "true") + block("sh", "false"))
        self.assertEqual(len(outcome.findings), 1)
        self.assertIn("exit code 1", outcome.findings[0])
        self.assertIn(":6:", outcome.findings[0])

    def test_printed_lines_are_compared(self):
        page = block("sh", "echo one; echo two 2.00") + block("text", "{}")
        self.assertEqual(run(page.replace("{}", "two 2.00")).findings, [])
        self.assertEqual(run(page.replace("{}", "two …")).findings, [])
        self.assertEqual(len(run(page.replace("{}", "two 2.01")).findings), 1)
        self.assertEqual(len(run(page.replace("{}", "tw")).findings), 1)

    def test_a_tolerance_is_for_numbers_alone(self):
        page = block("sh", "echo cost 100.0 EUR") + "<!-- check: tolerance 5 % -->\n{}"
        self.assertEqual(run(page.replace("{}", block("text", "cost 104.0 EUR"))).findings, [])
        self.assertEqual(len(run(page.replace("{}", block("text", "cost 110.0 EUR"))).findings), 1)
        self.assertEqual(len(run(page.replace("{}", block("text", "gain 100.0 EUR"))).findings), 1)

    def test_marked_numbers_are_checked(self):
        mark = (
            'about {} %<!-- check: {} within 1 % | echo \'[1, {{"a": 5}}]\' | result[1]["a"] -->\n'
        )
        self.assertEqual(run(mark.format("5.0", "5.0")).findings, [])
        self.assertEqual(len(run(mark.format("6.0", "6.0")).findings), 1)
        self.assertIn("not in the text", run(mark.format("5.1", "5.0")).findings[0])

    def test_rows_of_tables_are_checked(self):
        table = "printf 'method,ratio\\nMSE,1\\nMAE,0.5\\n'"
        mark = f'0.5<!-- check: 0.5 within 0 % | {table} | row(result, method="MAE")["ratio"] -->'
        self.assertEqual(run(mark).findings, [])
        self.assertEqual(run(mark).counts, {"numbers": 1})

    def test_tables_are_checked(self):
        table = (
            "| method | SP5x5 (20 seeds) | published | KS32, ours |\n|---|---:|---:|---|\n"
            "| `MSE`, MAE | 1.00 ± 0.00 | 9 | |\n"
            "| MSE(O\\_S,S) | **0.62 ± 0.10** | 9 | 1,200 |\n\n"
        )
        rows = [
            "method,problem,mean,deviation", "MSE,SP5x5,1,0", "MAE,SP5x5,1.004,0",
            '"MSE(O_S,S)",SP5x5,0.624,0.099', '"MSE(O_S,S)",KS32,1200,0', "MSE,KS32,5,0",
        ]  # fmt: skip
        result = "printf '" + "\\n".join(rows) + "\\n'"
        mark = "<!-- check: {}table within 0 % | " + result + " | {} -->\n"
        given = "<!-- given: columns published | the paper's -->\n"
        every = mark.format("", "method, problem, mean deviation") + given
        self.assertEqual(run(table + every).findings, [])
        self.assertEqual(run(table + every).counts, {"numbers of tables": 5})
        for shown, message in [
            (("0.62", "0.63"), "0.63 is 0.624 (mean)"),
            (("0.10", "0.11"), "0.11 is 0.099 (deviation)"),
            (("`MSE`, MAE", "SPO+"), "no row 'SPO+'"),
            (("9 | |", "9 | 5 |"), "no 'MAE' of 'KS32, ours'"),
        ]:
            findings = run(table.replace(*shown) + every).findings
            self.assertEqual(len(findings), 1, findings)
            self.assertIn(message, findings[0])
        long = mark.format("long ", "method, problem, mean") + given
        self.assertEqual(run(table + long).counts, {"tables of long runs": 1})
        self.assertEqual(run(table + long, size="long").counts, {"numbers of tables": 3})
        self.assertEqual(len(run("no table\n" + every).findings), 1)

    def test_tables_may_have_two_keys_and_sums(self):
        table = "| loss | on | solves |\n|---|---|---|\n| SPO+ | KS32 | 30 |\n\n"
        result = "printf 'method,problem,exact,relaxed\\nSPO+,KS32,10,20\\nSPO+,SP5x5,0,1\\n'"
        spec = 'method problem, "solves", exact+relaxed'
        mark = f"<!-- check: table within 0 % | {result} | {spec} -->"
        self.assertEqual(run(table + mark).findings, [])
        self.assertEqual(len(run(table.replace("30", "31") + mark).findings), 1)

    def test_cells_may_lack_numbers_that_the_result_lacks(self):
        table = "| method | KS32 |\n|---|---|\n| SPO+ | 0.5 (0.6, −0.1) 2 s |\n"
        table += "| LAVA | 0.7 3 s |\n\n"
        result = "printf 'method,problem,ratio,published,seconds\nSPO+,KS32,0.5,0.6,9\n"
        result += "LAVA,KS32,0.7,,3\n'"
        mark = f"<!-- check: table within 0 % | {result} | method, problem, {{}} -->\n"
        ratios = mark.format("ratio published ratio-published")
        findings = run(table + ratios).findings
        self.assertEqual(len(findings), 2, findings)
        self.assertIn("no mark compares 'SPO+', 'KS32': 0.5", findings[0])
        seconds = mark.format("(ratio) (published) (ratio-published) seconds")
        findings = run(table + ratios + seconds).findings
        self.assertEqual(len(findings), 1, findings)
        self.assertIn("2 is 9 (seconds)", findings[0])

    def test_numbers_that_a_time_limit_cut_may_differ_by_a_factor_of_five(self):
        mark = "<!-- check: table within 1 % | printf 'a,b\nx,{}\n' | 1 key -->\n"
        table = "| a | b |\n|---|---|\n| x | 2.0{} |\n\n"
        for dagger, printed, count in [("", 2.5, 1), ("†", 9, 0), ("†", 11, 1)]:
            findings = run(table.format(dagger) + mark.format(printed)).findings
            self.assertEqual(len(findings), count, findings)

    def test_a_wrong_mark_is_a_finding_and_ends_nothing(self):
        table = "| a | b |\n|---|---|\n| x | 0.5 |\n| y |\n\n"
        mark = "<!-- check: table within 0 % | printf 'a,b\nx,0.5\ny,\n' | {} -->\n"
        self.assertEqual(run(table + mark.format("1 key")).findings, [])
        findings = run(table + mark.format("a, wrong, b")).findings
        self.assertEqual(len(findings), 1, findings)
        self.assertIn("cannot be executed", findings[0])

    def test_whole_numbers_of_a_checked_table_are_compared(self):
        table = "| a | ms |\n|---|---|\n| x | 25 |\n\n"
        mark = "<!-- check: table within 0 % | printf 'a,MS,b\nx,99,1\n' | 1 key -->\n"
        self.assertIn("no number of the table", run(table + mark).findings[0])

    def test_long_blocks_run_on_demand(self):
        page = "<!-- run: long, last run 2026-01-01 -->\n" + block("sh", "false")
        page += block("text", "anything")
        self.assertEqual(run(page).findings, [])
        self.assertEqual(len(run(page, size="long").findings), 1)
        page = page.replace("long", "hours")
        page += "5<!-- check: hours 5 within 0 % | echo 6 | result -->"
        self.assertEqual(run(page, size="long").findings, [])
        self.assertEqual(run(page, size="long").counts["numbers of hours runs"], 1)
        self.assertEqual(len(run(page, size="hours").findings), 2)

    def test_times_are_compared_alone(self):
        page = block("sh", "false") + "| a | ms | x | ms |\n|---|---|---|---|\n"
        page += "| 1,000 | 2.0 | 9 | 5.0 |\n\n<!-- check: times table within 50 % "
        page += "| printf 'a,ms,y,x,ms\\n1000,{},7,9,5' | 1 key -->\n"
        self.assertEqual(run(page.format("2"), size="times").findings, [])
        self.assertEqual(run(page.format("3.9"), size="times").findings, [])
        self.assertEqual(run(page.format("3.9"), size="times").counts["numbers of tables"], 3)
        self.assertEqual(len(run(page.format("4.3"), size="times").findings), 1)
        self.assertEqual(len(run(page.format("4.3"), size="hours").findings), 1)
        self.assertEqual(run(page.format("2"), size="hours").counts["tables of times runs"], 1)
        self.assertEqual(len(run(page.replace("1000", "7"), size="times").findings), 2)

    def test_blocks_that_are_not_executed_need_a_reason(self):
        self.assertEqual(len(run(block("rust", "fn main() {}")).findings), 1)
        self.assertEqual(run("<!-- run: no, a test has it -->\n" + block("rust", "x")).findings, [])

    def test_blocks_of_python_share_names_and_files(self):
        page = block("csv data.csv", "a,b") + block("python", "x = open('data.csv').read()")
        page += block("python", "print(x.strip())") + block("text", "a,b")
        self.assertEqual(run(page).findings, [])
        self.assertEqual(len(run(page + block("python", "1 / 0")).findings), 1)

    def test_setup_is_executed(self):
        page = "<!-- setup sh\necho hello > file\n-->\n" + block("sh", "cat file")
        self.assertEqual(run(page + block("text", "hello")).findings, [])

    def test_toml_is_parsed(self):
        self.assertEqual(len(run(block("toml", "a = ")).findings), 1)


class Coverage(unittest.TestCase):
    """Numbers that no check compares."""

    def uncovered(self, markdown):
        """Return the numbers of a page that nothing covers."""
        page = number_coverage.read(markdown)
        return [shown for line, shown, _ in page.shown if not page.is_covered(line, shown)]

    def test_numbers_with_decimals_or_units_need_a_check(self):
        page = "0.25 of TSP100, 7 rows, 30 s, 40 %, 2× or 1e-9; 95 % intervals of 2.2.7\n"
        self.assertEqual(self.uncovered(page), ["0.25", "30", "40", "2", "1e-9"])
        self.assertEqual(self.uncovered("30s, 64MB, 5 MiB or 3-fold\n"), ["30", "64", "5", "3"])
        self.assertEqual(self.uncovered("3 to 22 %, 1, 2 and 5 s\n"), ["3", "22", "1", "2", "5"])
        self.assertEqual(self.uncovered("`lr 0.5`, [a](b-0.5.md), a grid of 5 × 5\n"), [])

    def test_checks_blocks_and_checked_tables_cover_numbers(self):
        claim = "0.25<!-- check: 0.25 within 0 % | echo 0.25 | result -->\n"
        self.assertEqual(self.uncovered(claim), [])
        self.assertEqual(self.uncovered("0.25\n\n" + block("text", "regret 0.25")), [])
        self.assertEqual(self.uncovered("100 s, 3.0\n\n" + block("sh", "TSP100 3")), ["100", "3.0"])
        table = "| a | b |\n|---|---|\n| x | 0.5 |\n\n"
        self.assertEqual(self.uncovered(table), ["0.5"])
        mark = "<!-- check: times table within 50 % | echo | 1 key -->\n"
        self.assertEqual(self.uncovered(table + mark + "about 0.5\n"), [])

    def test_marks_explain_numbers_of_their_section_and_columns_of_their_table(self):
        mark = "<!-- given: 0.25, 30 | settings -->\n"
        self.assertEqual(self.uncovered("0.25 for 30 s\n" + mark), [])
        self.assertEqual(self.uncovered("0.25\n\n# Next\n\n0.25\n" + mark), ["0.25"])
        table = "| a | b | c |\n|---|---|---|\n| x | 0.5 | 0.6 |\n\n"
        self.assertEqual(self.uncovered(table + "<!-- given: columns b | why -->\n"), ["0.6"])
        for wrong in ("<!-- given: columns d | why -->\n", "<!-- given: 0.5 -->\n"):
            self.assertEqual(len(number_coverage.read(table + wrong).findings), 1)

    def test_copied_numbers_are_checked_where_they_come_from(self):
        target = execute.ROOT / "docs" / "results" / "methods.md"
        name = str(target.relative_to(execute.ROOT / "docs"))
        checked = number_coverage.checked_numbers(name)
        self.assertIn(0.34, checked)
        self.assertNotIn(0.7777, checked)
        self.assertEqual(number_coverage.checked_numbers("no-such-page.md"), set())


class LastRuns(unittest.TestCase):
    """Dates of measurements that are repeated on demand."""

    table = "| a | b |\n|---|---|\n| x | 2 |\n\n"

    def test_measurements_on_demand_need_a_date(self):
        checks = "<!-- check: long table within 1 % | true | 1 key -->\n"
        block_mark = "<!-- run: long, last run 2026-01-31 -->\n" + block("sh", "true")
        times = "<!-- check: times 2 within 50 % | true | result -->\n"
        self.assertEqual(list(last_run.undated("text\n" + checks)), [(2, "check: long")])
        self.assertEqual(list(last_run.undated(block_mark + checks)), [])
        self.assertEqual(len(list(last_run.undated(checks + block_mark))), 1)
        self.assertEqual(list(last_run.undated(block_mark + times)), [(5, "check: times")])
        self.assertEqual(list(last_run.undated("<!-- run: hours -->\n")), [(1, "run: hours")])
        self.assertEqual(list(last_run.undated(block("markdown", "<!-- run: long -->"))), [])

    def test_readers_see_date_and_tolerance(self):
        mark = "<!-- check: times table within {} %, last run 2026-01-31 | x within 3 % | 1 key -->"
        for tolerance, words in [("50", "a factor of 2"), ("80", "a factor of 5"), ("2", "2 %")]:
            caption = last_run.caption(mark.format(tolerance))
            self.assertEqual(caption, f"Last compared with a run: 31 January 2026, within {words}.")
        self.assertIn("2026, equal.", last_run.caption(mark.format("0")))
        block_mark = "<!-- run: hours, last run 2026-02-01 -->"
        self.assertEqual(last_run.caption(block_mark), "Last run: 1 February 2026.")
        self.assertEqual(last_run.caption("<!-- run: no, a reason -->"), "")
        with self.assertRaisesRegex(ValueError, "allows any number"):
            last_run.caption(mark.format("100"))

    def recorded(self, markdown, size):
        """Return a page after it was executed and dates were recorded."""
        target = execute.ROOT / "target"
        target.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target) as folder:
            path = Path(folder) / "page.md"
            path.write_text(markdown)
            execute.run_page(path, size, is_recording=True)
            return path.read_text()

    def test_dates_are_written_for_what_ran_and_agreed(self):
        today = datetime.date.today().isoformat()
        mark = (
            "<!-- check: times table within 50 %, last run 2026-01-31 | printf '{}' | 1 key -->\n"
        )
        agrees, differs = mark.format("a,b\\nx,3\\n"), mark.format("a,b\\nx,9\\n")
        page = self.table + agrees + self.table + differs
        expected = self.table + agrees.replace("2026-01-31", today) + self.table + differs
        self.assertEqual(self.recorded(page, execute.TIMES), expected)
        self.assertEqual(self.recorded(page, "hours"), page)
        run_mark = "<!-- run: long, last run 2026-01-31 -->\n"
        page = run_mark + block("sh", "true") + run_mark + block("sh", "false")
        self.assertEqual(self.recorded(page, "long"), page.replace("2026-01-31", today, 1))
        self.assertEqual(self.recorded(page, "quick"), page)

    def test_blocks_whose_output_differs_keep_their_dates(self):
        today = datetime.date.today().isoformat()
        run_mark = "<!-- run: long, last run 2026-01-31 -->\n"
        for language, code in [("sh", "echo 1"), ("python", "print(1)")]:
            page = run_mark + block(language, code) + block("text", "{}")
            right, wrong = page.replace("{}", "1"), page.replace("{}", "2")
            self.assertEqual(self.recorded(right, "long"), right.replace("2026-01-31", today))
            self.assertEqual(self.recorded(wrong, "long"), wrong)

    def test_a_page_that_changed_during_the_run_keeps_its_dates(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "page.md"
            path.write_text("new text")
            self.assertFalse(last_run.record(path, "old text", []))
            self.assertEqual(path.read_text(), "new text")


class Scripts(unittest.TestCase):
    """Pages and notebooks of scripts."""

    def test_a_page_without_output_is_that_of_the_script(self):
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder) / "small.py"
            script.write_text("# %% [markdown]\n# # Title\n#\n# Text.\n\n# %%\nprint(1)\n")
            page = cells.page(script, ["", "1\n"], "2026-01-01")
            self.assertIn("```text\n1\n```", page)
            self.assertEqual(cells.without_output(page), cells.page(script, None, ""))
            script.write_text(script.read_text().replace("print(1)", "print(2)"))
            self.assertNotEqual(cells.without_output(page), cells.page(script, None, ""))
            self.assertIn('"print(2)"', cells.notebook(script))

    def test_a_page_shows_only_the_output_of_a_hidden_cell(self):
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder) / "small.py"
            text = '# %% [markdown]\n# # Title\n\n# %% tags=["hide-input"]\nprint(1)\n'
            script.write_text(f"{text}\n# %%\nprint(2)\n")
            page = cells.page(script, ["", "1\n", "2\n"], "2026-01-01")
            self.assertIn("```text\n1\n```", page)
            self.assertNotIn("print(1)", page)
            self.assertIn("print(2)", page)
            self.assertEqual(cells.without_output(page), cells.page(script, None, ""))
            self.assertIn('"print(1)"', cells.notebook(script))


class Figures(unittest.TestCase):
    """Drawings of the gallery and of the concepts."""

    def test_text_that_would_be_cut_is_refused(self):
        drawing = figure.Figure(100, "a drawing")
        drawing.text(0, 16, "2026-11-18: least squares and others", "head")
        drawing.text(400, 16, "at the right", "small end")
        for x, classes in [(0, "head"), (200, "middle strong"), (0, "small end"), (300, "small")]:
            with self.assertRaisesRegex(ValueError, "is cut"):
                drawing.text(
                    x,
                    16,
                    "a title that is much too long for the picture: it goes on and on",
                    classes,
                )


class BuiltSite(unittest.TestCase):
    """Findings about built pages."""

    def test_dead_links_and_requests_are_found(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "a.html").write_text(
                '<h1 id="top"></h1><a href="b.html"></a><a href="#top"></a><a href="#none"></a>'
                '<script src="https://example.org/x.js"></script><img src="data:,">'
            )
            found = list(built_site.findings(Path(folder)))
        self.assertEqual(len(found), 4, found)


class Help(unittest.TestCase):
    """The help of a command as options."""

    def test_options_are_read_in_both_layouts(self):
        text = (
            "Does it\n\nUsage: x [OPTIONS]\n\nData:\n      --data <FILE>  A table\n"
            "                     of two lines [default: none]\n\nOutput:\n      --out <FILE>\n"
            "          Where to\n\nExamples:\n  x --data y\n"
        )
        _, usage, options, trailing = command_reference.parse(text)
        self.assertEqual(usage, "x [OPTIONS]")
        self.assertEqual([option.name for option in options], ["--data <FILE>", "--out <FILE>"])
        self.assertEqual(options[0].text, "A table of two lines")
        self.assertEqual(options[0].default, "none")
        self.assertTrue(trailing.startswith("Examples:"))


if __name__ == "__main__":
    unittest.main()
