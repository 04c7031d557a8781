//! Linear problems that differ from their file in some numbers: compared with files in which the
//! same numbers were edited.

#![cfg(feature = "highs")]
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use regretless::problem::{CostColumns, LinearFile, ProblemKind, ProblemSpec};
use regretless::random::{Purpose, RandomStream};
use regretless::solve::SearchLimits;

const INFINITE: f64 = f64::INFINITY;

/// A model as text: what a user edits.
#[derive(Debug, Clone)]
struct TextModel {
    /// Bounds of columns x0, x1, ….
    columns: Vec<[f64; 2]>,
    integer: Vec<bool>,
    /// Bounds and coefficients of rows r0, r1, …; `None`: no entry.
    rows: Vec<([f64; 2], Vec<Option<f64>>)>,
}

impl TextModel {
    /// A small model that is feasible at a random point.
    fn random(stream: &mut RandomStream, is_integer: bool) -> Self {
        let num_columns = 3 + stream.index_below(6);
        let mut columns = Vec::new();
        let mut point = Vec::new();
        for _ in 0..num_columns {
            let lower = stream.index_below(3) as f64 - 2.0;
            let width = stream.index_below(5) as f64;
            columns.push([lower, lower + width]);
            point.push(lower + stream.index_below(width as usize + 1) as f64);
        }
        let integer = (0..num_columns).map(|_| is_integer && stream.index_below(3) > 0);
        let integer = integer.collect();
        let rows = (0..2 + stream.index_below(4)).map(|_| {
            let draw = |_| {
                let value = stream.uniform(-4.0, 4.0);
                (stream.index_below(4) > 0).then_some(value)
            };
            let mut entries: Vec<Option<f64>> = (0..num_columns).map(draw).collect();
            entries[0] = Some(entries[0].unwrap_or(1.5));
            let activity = exact(activity(&entries, &point));
            let slack = exact(stream.uniform(0.0, 3.0));
            let bounds = match stream.index_below(4) {
                0 => [-INFINITE, activity + slack],
                1 => [activity - slack, INFINITE],
                2 => [activity, activity],
                _ => [activity - slack - 0.25, activity + slack],
            };
            (bounds, entries)
        });
        Self {
            rows: rows.collect(),
            columns,
            integer,
        }
    }

    /// The model in MPS format.
    fn text(&self) -> String {
        let (mut kinds, mut right, mut ranges) = (String::new(), String::new(), String::new());
        for (row, ([lower, upper], _)) in self.rows.iter().enumerate() {
            let (kind, rhs) = match (lower.is_finite(), upper.is_finite()) {
                (true, true) if lower == upper => ("E", lower),
                (true, false) => ("G", lower),
                _ => ("L", upper),
            };
            _ = writeln!(kinds, " {kind} r{row}");
            _ = writeln!(right, " rhs r{row} {rhs}");
            if lower.is_finite() && upper.is_finite() && lower != upper {
                _ = writeln!(ranges, " ranges r{row} {}", upper - lower);
            }
        }
        let mut columns = String::new();
        for (column, integer) in self.integer.iter().enumerate() {
            if *integer {
                columns.push_str(" m 'MARKER' 'INTORG'\n");
            }
            _ = writeln!(columns, " x{column} obj {}", column + 1);
            for (row, (_, entries)) in self.rows.iter().enumerate() {
                if let Some(entry) = entries[column] {
                    _ = writeln!(columns, " x{column} r{row} {entry}");
                }
            }
            if *integer {
                columns.push_str(" m 'MARKER' 'INTEND'\n");
            }
        }
        let mut bounds = String::new();
        for (column, [lower, upper]) in self.columns.iter().enumerate() {
            _ = writeln!(bounds, " LO b x{column} {lower}\n UP b x{column} {upper}");
        }
        format!(
            "NAME m\nROWS\n N obj\n{kinds}COLUMNS\n{columns}RHS\n{right}RANGES\n{ranges}\
             BOUNDS\n{bounds}ENDATA\n"
        )
    }
}

/// A multiple of 1/16: a file states the width of a range, which is to be exact.
fn exact(value: f64) -> f64 {
    (value * 16.0).round() / 16.0
}

fn activity(entries: &[Option<f64>], point: &[f64]) -> f64 {
    let terms = entries.iter().zip(point);
    terms
        .map(|(entry, value)| entry.unwrap_or(0.0) * value)
        .sum()
}

/// Which numbers are changed at random.
#[derive(Clone, Copy, PartialEq)]
enum Changed {
    Bounds,
    BoundsAndCoefficients,
}

/// Changes of a model, as fields of a file and in the text.
fn random_changes(
    stream: &mut RandomStream,
    model: &TextModel,
    changed: Changed,
) -> (LinearFile, TextModel) {
    let (mut file, mut edited) = (LinearFile::default(), model.clone());
    for (row, (bounds, entries)) in edited.rows.iter_mut().enumerate() {
        let (name, shift) = (format!("r{row}"), exact(stream.uniform(-1.0, 1.5)));
        let is_ranged = bounds[0].is_finite() && bounds[1].is_finite() && bounds[0] != bounds[1];
        match stream.index_below(3) {
            0 => {}
            1 if !is_ranged => {
                let value = shift
                    + if bounds[0].is_finite() {
                        bounds[0]
                    } else {
                        bounds[1]
                    };
                for bound in bounds.iter_mut().filter(|bound| bound.is_finite()) {
                    *bound = value;
                }
                file.rhs.insert(name.clone(), value);
            }
            _ if bounds[1].is_finite() => {
                bounds[1] = bounds[1].max(bounds[0]) + shift.abs();
                file.row_upper.insert(name.clone(), bounds[1]);
            }
            _ => {
                bounds[0] -= shift;
                file.row_lower.insert(name.clone(), bounds[0]);
            }
        }
        if changed == Changed::BoundsAndCoefficients {
            for (column, entry) in entries.iter_mut().enumerate() {
                let value = match stream.index_below(6) {
                    0 => stream.uniform(-3.0, 3.0),
                    1 => 0.0,
                    _ => continue,
                };
                *entry = Some(value);
                let row = file.coefficients.entry(name.clone()).or_default();
                row.insert(format!("x{column}"), value);
            }
        }
    }
    for (column, bounds) in edited.columns.iter_mut().enumerate() {
        let name = format!("x{column}");
        match stream.index_below(6) {
            // Not an integer: bounds of integer columns are rounded.
            0 => {
                bounds[1] += 1.25;
                file.upper.insert(name, bounds[1]);
            }
            1 => {
                bounds[0] -= 0.75;
                file.lower.insert(name, bounds[0]);
            }
            2 => {
                *bounds = [bounds[0], bounds[0]];
                file.fixed.insert(name, bounds[0]);
            }
            3 if bounds[0] <= 0.0 && bounds[1] >= 0.0 => {
                *bounds = [0.0, 0.0];
                file.present.insert(name, 0.0);
            }
            4 => {
                file.present.insert(name, 1.0);
            }
            _ => {}
        }
    }
    (file, edited)
}

fn build(file: LinearFile) -> Result<Arc<dyn ProblemKind>, String> {
    let spec = ProblemSpec::Linear(file);
    spec.build().map_err(|error| error.to_string())
}

fn write_model(path: &Path, model: &TextModel) -> LinearFile {
    std::fs::write(path, model.text()).unwrap();
    LinearFile::new(path, CostColumns::All)
}

#[test]
fn changed_numbers_equal_those_of_an_edited_file() {
    let folder = tempfile::tempdir().unwrap();
    let (mut solved, mut absent) = (0, 0);
    for case in 0..300 {
        let mut stream = RandomStream::new(Purpose::Benchmark, 181, [case, 0]);
        let model = TextModel::random(&mut stream, case % 2 == 0);
        let original = write_model(&folder.path().join("model.mps"), &model);
        let (changes, edited) = random_changes(&mut stream, &model, Changed::BoundsAndCoefficients);
        let changed = build(LinearFile {
            file: original.file.clone(),
            ..changes
        });
        let edited = build(write_model(&folder.path().join("edited.mps"), &edited)).unwrap();
        let changed = changed.unwrap();
        assert_eq!(
            changed.model_parts().fingerprint(),
            edited.model_parts().fingerprint(),
            "case {case}"
        );
        assert_eq!(changed.choices().bounds(), edited.choices().bounds());
        absent += usize::from(changed.present_costs().is_some());
        let limits = SearchLimits::default();
        let (mut solver, mut expected) = (changed.solver(&limits), edited.solver(&limits));
        for _ in 0..3 {
            let costs: Vec<f64> = (0..changed.num_costs())
                .map(|_| stream.uniform(-2.0, 3.0))
                .collect();
            let (solution, expected) = (solver.solve(&costs), expected.solve(&costs));
            solved += usize::from(solution.is_ok());
            assert_eq!(solution, expected, "case {case}");
        }
    }
    assert!(
        solved > 300 && absent > 100,
        "{solved} solved, {absent} with absent columns"
    );
}

/// A solver that moves from row to row gives what new solvers give, also after rows without a
/// feasible decision.
#[test]
fn a_solver_that_moves_to_another_problem_equals_a_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let (mut solved, mut infeasible) = (0, 0);
    for case in 0..40 {
        let mut stream = RandomStream::new(Purpose::Benchmark, 182, [case, 0]);
        let model = TextModel::random(&mut stream, case % 2 == 0);
        let original = write_model(&folder.path().join("model.mps"), &model);
        let costs = CostColumns::Named(vec!["x0".into(), "x1".into(), "x2".into()]);
        let base = regretless::problem::LinearProblem::read(&original.file, &costs, None).unwrap();
        // Few nodes: HiGHS solves mixed-integer problems too.
        let limits = SearchLimits {
            nodes: if case % 4 < 2 { 10_000_000 } else { 1000 },
            ..SearchLimits::default()
        };
        let mut moving = base.solver(&limits);
        for row in 0..20 {
            let changed = if row % 4 == 3 {
                Changed::BoundsAndCoefficients
            } else {
                Changed::Bounds
            };
            let (mut file, _) = random_changes(&mut stream, &model, changed);
            file.present.clear();
            let problem = file.change(base.clone()).unwrap();
            assert!(problem.reuse_solver(moving.as_mut()));
            let mut new = problem.solver(&limits);
            let costs: Vec<f64> = (0..3).map(|_| stream.uniform(-2.0, 3.0)).collect();
            let (solution, expected) = (moving.solve(&costs), new.solve(&costs));
            assert_eq!(solution, expected, "case {case}, row {row}");
            if let (Ok(solution), Ok(expected)) = (solution, expected) {
                solved += 1;
                assert_eq!(moving.auxiliary_values(), new.auxiliary_values());
                assert_eq!((moving.nodes(), moving.work()), (new.nodes(), new.work()));
                assert_eq!(
                    solution.objective.to_bits(),
                    expected.objective.to_bits(),
                    "case {case}, row {row}"
                );
            } else {
                infeasible += 1;
            }
        }
    }
    assert!(
        solved > 300 && infeasible > 50,
        "{solved} solved, {infeasible} infeasible"
    );
}

#[test]
fn a_solver_of_another_problem_is_not_moved() {
    let folder = tempfile::tempdir().unwrap();
    let mut stream = RandomStream::new(Purpose::Benchmark, 183, [0, 0]);
    let model = TextModel::random(&mut stream, false);
    let file = write_model(&folder.path().join("model.mps"), &model);
    let (one, other) = (build(file.clone()).unwrap(), build(file).unwrap());
    let limits = SearchLimits::default();
    assert!(!one.reuse_solver(other.solver(&limits).as_mut()));
    let top_k = regretless::problem::TopK::new(3, 1, regretless::Sense::Minimize).unwrap();
    assert!(!one.reuse_solver(top_k.solver(&limits).as_mut()));
}

/// a, b and c cost 1, 1 and 2; a + b + c <= 5, a + b >= 1, 1 <= a + c <= 4, a = b; a and b are at
/// most 3, c is from 1 to 4, b is integer.
const MPS: &str = "\
NAME m
ROWS
 N obj
 L most
 G least
 L range
 E exact
COLUMNS
 a obj 1 most 1
 a least 1 range 1
 a exact 1
 m 'MARKER' 'INTORG'
 b obj 1 most 1
 b least 1 exact -1
 m 'MARKER' 'INTEND'
 c obj 2 most 1
 c range 1
RHS
 rhs most 5 least 1
 rhs range 4
RANGES
 ranges range 3
BOUNDS
 UP bounds a 3
 UP bounds b 3
 LO bounds c 1
 UP bounds c 4
ENDATA
";

fn changed(toml: &str) -> Result<Arc<dyn ProblemKind>, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.mps");
    std::fs::write(&path, MPS).unwrap();
    let text = format!(
        "file = \"{}\"\ncosts = [\"a\", \"b\"]\n{toml}",
        path.display()
    );
    let file: LinearFile = toml::from_str(&text).map_err(|error| error.to_string())?;
    build(file)
}

#[test]
fn wrong_changes_are_refused_with_the_name() {
    let cases = [
        (
            "rhs = { demand = 1.0 }",
            "rhs: no row is called 'demand'; the rows are most, least",
        ),
        (
            "rhs = { 'm*' = 3.0 }",
            "'rhs.m*' is a pattern, and its value is no column; write { column = \"...\" }",
        ),
        (
            "lower = { d = 1 }",
            "lower: no column is called 'd'; the columns are a, b, c",
        ),
        (
            "coefficients = { most = { z = 1.0 } }",
            "coefficients: no column is called 'z'",
        ),
        ("rhs = { range = 2.0 }", "row range has no right-hand side"),
        (
            "rhs = { most = nan }",
            "the right-hand side of row most is not a number",
        ),
        (
            "rhs = { exact = inf }",
            "the bounds of row exact, inf to inf, contain no number",
        ),
        (
            "rhs = { most = -inf }",
            "the bounds of row most, -inf to -inf, contain no number",
        ),
        (
            "rhs = { most = 1.0 }\nrow_lower = { most = 0.0 }",
            "row most is in rhs and in row_lower",
        ),
        (
            "fixed = { a = 1.0 }\nupper = { a = 2.0 }",
            "column a is in fixed and in lower or upper",
        ),
        (
            "row_lower = { range = 5.0 }",
            "the bounds of row range, 5 to 4, contain no number",
        ),
        (
            "lower = { a = 4.0 }",
            "the bounds of column a, 4 to 3, contain no number",
        ),
        ("fixed = { b = 1.5 }", "there is no integer from 1.5 to 1.5"),
        (
            "present = { c = 0 }",
            "the cost of column c is not predicted",
        ),
        (
            "present = { a = 2 }",
            "column a has 2, which is neither 0 nor 1",
        ),
        (
            "lower = { a = 1.0 }\npresent = { a = 0 }",
            "column a cannot be absent",
        ),
        (
            "coefficients = { most = { a = 1e15 } }",
            "in row most is 1000000000000000, which is too",
        ),
        ("rhs = { most = \"many\" }", "a number is expected"),
    ];
    for (toml, expected) in cases {
        let message = changed(toml).unwrap_err();
        assert!(message.contains(expected), "{toml}: {message}");
    }
}

#[test]
fn bounds_may_be_removed_and_absent_columns_have_no_cost() {
    let limits = SearchLimits::default();
    let free = changed("rhs = { most = inf }\nupper = { a = inf, b = 1e30 }").unwrap();
    assert_eq!(
        free.solver(&limits).solve(&[-1.0, 0.0]),
        changed("row_upper = { most = 1e20 }\nupper = { a = 1e25, b = inf }")
            .unwrap()
            .solver(&limits)
            .solve(&[-1.0, 0.0])
    );
    let absent = changed("present = { a = 0, b = 1 }\nrhs = { least = 0 }").unwrap();
    assert_eq!(absent.present_costs(), Some(&[false, true][..]));
    let solution = absent.solver(&limits).solve(&[-1.0, -1.0]).unwrap();
    assert!(solution.decision.indices().is_empty(), "{solution:?}");
    assert_eq!(
        changed("present = { a = 1 }").unwrap().present_costs(),
        None
    );
}

#[test]
fn specifications_without_changes_stay_the_same_and_infinite_bounds_survive_json() {
    let plain = ProblemSpec::Linear(LinearFile::new("m.lp", CostColumns::All));
    assert_eq!(
        serde_json::to_string(&plain).unwrap(),
        r#"{"kind":"linear","file":"m.lp","costs":"all"}"#
    );
    let mut file = LinearFile::new("m.lp", CostColumns::All);
    file.upper = BTreeMap::from([("a".into(), INFINITE), ("b".into(), 0.1)]);
    file.row_lower.insert("r".into(), -INFINITE);
    let changed = ProblemSpec::Linear(file);
    let json = serde_json::to_string(&changed).unwrap();
    assert_eq!(
        json,
        concat!(
            r#"{"kind":"linear","file":"m.lp","costs":"all","row_lower":{"r":"-inf"},"#,
            r#""upper":{"a":"inf","b":0.1}}"#
        )
    );
    assert_eq!(serde_json::from_str::<ProblemSpec>(&json).unwrap(), changed);
}
