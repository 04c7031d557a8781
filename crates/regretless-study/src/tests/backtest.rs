//! Backtests: no leak, the same bytes for threads, shards and resumes, and baselines by hand.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use crate::backtest::{
    Backtest, BacktestFold, BacktestResults, BacktestTable, GivenMethod, Periods, RepeatedCosts,
    RollingOrigin, TrainingWindow,
};
use regretless::data::{
    CsvDialect, Dataset, FeatureOptions, Layout, Matrix, TableSource, WideColumns,
};
use regretless::label::{LabeledDataset, Shard};
use regretless::method::Method;
use regretless::oracle::Oracle;
use regretless::problem::Problem;
use regretless_base::decision::Decision;
use regretless_base::observer::NoopObserver;
use regretless_base::parallel::Threads;
use regretless_base::random::{Purpose, RandomStream};

/// A table with a problem, its labels and periods.
struct History {
    problem: Problem,
    data: LabeledDataset,
    oracle: Oracle,
    periods: Periods,
}

impl History {
    fn new(problem: Problem, data: Dataset, times: &[String]) -> Self {
        let oracle = Oracle::new(problem.kind().clone());
        let data = LabeledDataset::solve(data, &oracle, &NoopObserver).unwrap();
        Self {
            problem,
            data,
            oracle,
            periods: Periods::from_times(times).unwrap(),
        }
    }

    /// Rows of a benchmark, one per day.
    fn generated(name: &str, rows: usize) -> Self {
        let problem = Problem::benchmark(name).unwrap();
        let data = Dataset::generate(&problem, rows).unwrap();
        Self::new(problem, data, &numbers(rows))
    }

    fn table<'a>(&'a self, folds: &'a [BacktestFold]) -> BacktestTable<'a> {
        BacktestTable {
            spec: self.problem.spec(),
            data: &self.data,
            oracle: &self.oracle,
            periods: &self.periods,
            folds,
        }
    }

    fn run(&self, backtest: &Backtest, folds: &[BacktestFold]) -> BacktestResults {
        self.run_with(backtest, folds, &[])
    }

    fn run_with(
        &self,
        backtest: &Backtest,
        folds: &[BacktestFold],
        given: &[GivenMethod],
    ) -> BacktestResults {
        let results = backtest.run(&self.table(folds), given, &NoopObserver);
        let results = results.unwrap();
        assert_eq!(results.failures, []);
        results
    }

    fn with_threads(mut self, count: usize) -> Self {
        self.oracle = self.oracle.with_threads(Threads::new(count).unwrap());
        self
    }
}

fn numbers(count: usize) -> Vec<String> {
    (0..count).map(|number| number.to_string()).collect()
}

/// A quick backtest that stores its cells in a folder.
fn quick(methods: &[&str], folder: Option<&Path>) -> Backtest {
    let methods = methods.iter().map(|name| name.parse::<Method>().unwrap());
    let mut backtest = Backtest::new(methods.collect());
    backtest.training.epochs = 3;
    backtest.folder = folder.map(Path::to_path_buf);
    backtest
}

/// Trainings of three epochs with a learning rate that is too small for them.
fn short_trainings(periods: usize, step: usize, methods: &[&str]) -> BacktestResults {
    let history = History::generated("KS8", periods);
    let folds = rolling(40, step).folds(&history.periods).unwrap();
    let mut backtest = quick(methods, None);
    backtest.training.learning_rate = 1e-3;
    history.run(&backtest, &folds)
}

fn rolling(window: usize, step: usize) -> RollingOrigin {
    RollingOrigin {
        window: TrainingWindow::Rolling(window),
        step: Some(step),
        ..RollingOrigin::default()
    }
}

/// Content of all files of a folder by path.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut content = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            content.extend(files(&path));
        } else {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            content.insert(name, std::fs::read(&path).unwrap());
        }
    }
    content
}

/// The cells of one fold.
fn cells_of(folder: &Path, fold: usize) -> BTreeMap<String, Vec<u8>> {
    let mut cells = files(folder);
    cells.retain(|name, _| name.contains(&format!("-{fold}-")));
    cells
}

fn method<'r>(results: &'r BacktestResults, name: &str) -> &'r crate::backtest::MethodHistory {
    let mut methods = results.methods.iter();
    methods.find(|method| method.name == name).unwrap()
}

/// What is changed in a table of mixed columns.
#[derive(Clone, Copy, PartialEq)]
enum Change {
    Nothing,
    /// The rows from this one on are in reversed order.
    Shuffle(usize),
    /// The rows from this one on have other features, categories, gaps and costs.
    Replace(usize),
    /// The costs from this row on are different.
    ReplaceCosts(usize),
}

/// Sixty days with numbers, gaps, categories, suppliers with target statistics, and eight costs.
fn mixed_table(change: Change, path: &Path) {
    let mut lines: Vec<String> = Vec::new();
    for day in 0..60 {
        let replaces = matches!(change, Change::Replace(from) if day >= from);
        let replaces_costs =
            replaces || matches!(change, Change::ReplaceCosts(from) if day >= from);
        let seed = if replaces { 7 } else { 1 };
        let mut stream = RandomStream::new(Purpose::Benchmark, seed, [day as u64, 0]);
        let load = stream.normal();
        let wind = if stream.standard_uniform() < 0.2 {
            String::new()
        } else {
            format!("{:.4}", stream.normal())
        };
        let town = ["bonn", "ulm", "trier"][stream.index_below(3)];
        let town = if replaces { "aachen" } else { town };
        let supplier = stream.index_below(9);
        let seed = if replaces_costs { 7 } else { 1 };
        let mut stream = RandomStream::new(Purpose::Benchmark, seed, [day as u64, 1]);
        let mut line = format!("{},{load:.4},{wind},{town},s{supplier}", 2000 + day);
        for item in 0..8 {
            let cost = 10.0 + f64::from(item) * load + stream.normal();
            write!(line, ",{cost:.4}").unwrap();
        }
        lines.push(line);
    }
    if let Change::Shuffle(from) = change {
        lines[from..].reverse();
    }
    let header = "day,load,wind,town,supplier,c0,c1,c2,c3,c4,c5,c6,c7\n";
    std::fs::write(path, format!("{header}{}\n", lines.join("\n"))).unwrap();
}

fn mixed_history(change: Change, folder: &Path) -> History {
    let file = folder.join("table.csv");
    mixed_table(change, &file);
    let source = TableSource::Csv {
        file,
        layout: Layout::Wide(WideColumns {
            features: Vec::new(),
            costs: vec!["c*".into()],
            ignore: vec!["day".into()],
            options: FeatureOptions {
                target_statistics: vec!["supplier".into()],
                ..FeatureOptions::default()
            },
        }),
        dialect: CsvDialect::default(),
        parameters: Vec::new(),
    };
    let problem = Problem::benchmark("KS8").unwrap();
    let (problem, data) = source.read_for_problem(&problem).unwrap();
    let oracle = Oracle::new(problem.kind().clone());
    let data = LabeledDataset::solve(data, &oracle, &NoopObserver).unwrap();
    let periods = Periods::read(&source, "day").unwrap();
    History {
        problem,
        data,
        oracle,
        periods,
    }
}

/// The cells of the folds of a mixed table with a change.
fn run_mixed(change: Change, warm_start: bool) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let history = mixed_history(change, folder.path());
    let mut backtest = quick(&["MSE", "SPO+", "MAE(O,S)"], Some(folder.path()));
    backtest.season = Some(7);
    backtest.warm_start = warm_start;
    let folds = rolling(30, 10).folds(&history.periods).unwrap();
    let results = history.run(&backtest, &folds);
    assert_eq!(results.periods.len(), 30);
    folder
}

#[test]
fn rows_after_the_end_of_a_fold_change_no_byte_of_its_models_and_decisions() {
    for warm_start in [false, true] {
        let original = run_mixed(Change::Nothing, warm_start);
        // Fold 0 decides rows 30 to 39, fold 1 rows 40 to 49.
        for change in [Change::Shuffle(50), Change::Replace(50)] {
            let changed = run_mixed(change, warm_start);
            for fold in 0..2 {
                let cells = cells_of(original.path(), fold);
                assert!(cells.len() >= 7, "{:?}", cells.keys());
                assert!(cells == cells_of(changed.path(), fold));
            }
            let last = cells_of(original.path(), 2);
            assert_eq!(
                last == cells_of(changed.path(), 2),
                change == Change::Shuffle(50)
            );
        }
    }
}

/// Model hash and decisions of every method on a fold.
fn models_and_decisions(folder: &Path, fold: usize) -> BTreeMap<String, serde_json::Value> {
    let mut found = BTreeMap::new();
    for (name, bytes) in cells_of(folder, fold) {
        if !name.ends_with(".json") {
            continue;
        }
        let mut cell: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        for row in cell["rows"].as_array_mut().unwrap() {
            row["cost"].take();
            row["regret"].take();
            // Predictions of the costs of the decision, and of that in hindsight, which may change.
            let decided = row["columns"].clone();
            let is_decided =
                |pair: &serde_json::Value| decided.as_array().unwrap().contains(&pair[0]);
            row["predicted"].as_array_mut().unwrap().retain(is_decided);
        }
        let name = cell["name"].as_str().unwrap().to_owned();
        let outcome = serde_json::json!([cell["model_hash"], cell["rows"]]);
        found.insert(name, outcome);
    }
    found
}

#[test]
fn the_costs_of_decided_periods_change_neither_models_nor_decisions() {
    let original = run_mixed(Change::Nothing, false);
    let changed = run_mixed(Change::ReplaceCosts(40), false);
    // Fold 1 decides rows 40 to 49; their costs are the future of its models.
    let before = models_and_decisions(original.path(), 1);
    assert!(before.len() >= 7);
    for (name, outcome) in models_and_decisions(changed.path(), 1) {
        assert!(
            before[&name] == outcome,
            "{name}: {} {}",
            before[&name],
            outcome
        );
    }
    assert!(before["MSE"][0].is_string(), "a model has a hash");
    // Models that have seen these costs differ.
    let [before, after] = [&original, &changed].map(|run| models_and_decisions(run.path(), 2));
    assert!(before["least squares"][0] != after["least squares"][0]);
    assert!(before["MSE"][0] != after["MSE"][0]);
}

/// Result files of a backtest.
fn written(results: &BacktestResults) -> BTreeMap<String, Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    results.write(folder.path()).unwrap();
    files(folder.path())
}

#[test]
fn results_are_the_same_for_any_number_of_threads_shards_and_after_an_interruption() {
    let one = History::generated("KS8", 90);
    let folds = rolling(20, 10).folds(&one.periods).unwrap();
    let mut backtest = quick(&["MSE", "MAE(O,S)", "SPO+"], None);
    backtest.unit = Some("EUR".into());
    let expected = written(&one.run(&backtest, &folds));
    assert_eq!(expected.len(), 3);
    let three = History::generated("KS8", 90).with_threads(3);
    assert!(expected == written(&three.run(&backtest, &folds)));

    let folder = tempfile::tempdir().unwrap();
    backtest.folder = Some(folder.path().to_path_buf());
    for index in [1, 0, 2] {
        let shard = Shard { index, count: 3 };
        let cells = backtest.run_shard(&one.table(&folds), &[], shard, &NoopObserver);
        assert!(cells.unwrap() > 0);
    }
    let cells = files(folder.path());
    assert_eq!(cells.len(), 7 * 6, "seven folds of six methods");
    assert!(expected == written(&three.run(&backtest, &folds)));
    assert!(cells == files(folder.path()), "no cell is run again");

    // An interruption leaves some cells and maybe a damaged one.
    for (number, name) in cells.keys().enumerate() {
        let path = folder.path().join("cells/folds").join(name);
        match number % 3 {
            0 => std::fs::remove_file(path).unwrap(),
            1 => std::fs::write(path, "{\"key\"").unwrap(),
            _ => {}
        }
    }
    assert!(expected == written(&one.run(&backtest, &folds)));
    assert!(cells == files(folder.path()));
}

#[test]
fn a_warm_start_continues_the_model_of_the_fold_before_and_resumes() {
    let history = History::generated("KS8", 60);
    let folds = rolling(30, 10).folds(&history.periods).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut backtest = quick(&["MSE", "auto 1s"], Some(folder.path()));
    backtest.training.epochs = 1;
    let cold = history.run(&backtest, &folds);
    backtest.warm_start = true;
    let warm = history.run(&backtest, &folds);
    let [cold, warm_costs] = [&cold, &warm].map(|results| method(results, "MSE").costs.clone());
    assert_eq!(
        cold[..10],
        warm_costs[..10],
        "the first fold has no fold before"
    );
    assert_ne!(cold[10..], warm_costs[10..]);
    let model = files(folder.path());
    let last = model.keys().find(|name| name.ends_with("safetensors"));
    let path = folder.path().join("cells/folds").join(last.unwrap());
    std::fs::remove_file(path).unwrap();
    assert_eq!(written(&history.run(&backtest, &folds)), written(&warm));
}

#[test]
fn without_refits_the_first_model_decides_all_periods() {
    let history = History::generated("KS8", 70);
    let origin = rolling(30, 10);
    let folds = origin.folds(&history.periods).unwrap();
    let mut backtest = quick(&["MSE"], None);
    backtest.refit = false;
    let results = history.run(&backtest, &folds);
    assert_eq!((results.trainings, results.periods.len()), (1, 40));
    let single = [BacktestFold {
        history: (0..30).collect(),
        test: (30..70).collect(),
    }];
    backtest.refit = true;
    let once = history.run(&backtest, &single);
    let refitted = history.run(&backtest, &folds);
    for name in ["MSE", "least squares"] {
        assert_eq!(method(&results, name), method(&once, name));
        assert_ne!(method(&results, name), method(&refitted, name));
    }
    // What needs no fit follows the history.
    assert_eq!(
        method(&results, "last period"),
        method(&refitted, "last period")
    );
}

/// The cost of the best decision for some predicted costs under the true costs of a row, both in
/// the user's sense.
fn cost_of(history: &History, predicted: &[f64], row: usize) -> f64 {
    let sense = history.problem.sense();
    let minimized: Vec<f64> = predicted.iter().map(|cost| sense.convert(*cost)).collect();
    let mut worker = history.oracle.worker();
    worker.set_instance(row);
    let decision = worker.solve(&minimized).unwrap().decision;
    sense.convert(history.data.data().costs().objective_of(&decision, row))
}

/// The stated costs of a row, in the user's sense.
fn stated(history: &History, row: usize) -> Vec<f64> {
    let costs = history.data.data().costs().row(row).iter();
    costs
        .map(|cost| history.problem.sense().convert(f64::from(*cost)))
        .collect()
}

#[test]
fn known_costs_are_repeated_and_nothing_within_the_horizon_is() {
    let problem = Problem::benchmark("KS8").unwrap();
    let data = Dataset::generate(&problem, 40).unwrap();
    let history = History::new(problem, data, &numbers(40));
    let horizon = 3;
    let origin = RollingOrigin {
        gap: horizon - 1,
        ..rolling(20, 5)
    };
    let folds = origin.folds(&history.periods).unwrap();
    let mut backtest = quick(&[], None);
    backtest.season = Some(7);
    backtest.repeated = RepeatedCosts::Known(horizon);
    let results = history.run(&backtest, &folds);
    for (position, period) in (22..40).enumerate() {
        let repeated = [
            ("last period", period - horizon),
            ("seasonal naive 7", period - 7),
        ];
        for (name, source) in repeated {
            let expected = cost_of(&history, &stated(&history, source), period);
            assert_eq!(method(&results, name).costs[position], expected, "{name}");
        }
    }
    // The season before is not known yet.
    backtest.season = Some(2);
    let results = history.run(&backtest, &folds);
    for (position, period) in (22..40).enumerate() {
        let expected = cost_of(&history, &stated(&history, period - 4), period);
        assert_eq!(
            method(&results, "seasonal naive 2").costs[position],
            expected
        );
    }
}

#[test]
fn stored_cells_of_known_costs_are_those_of_the_table_as_it_is() {
    let problem = Problem::benchmark("KS8").unwrap();
    let data = Dataset::generate(&problem, 40).unwrap();
    let (features, mut costs) = (data.features().clone(), data.costs().clone());
    let history = History::new(problem.clone(), data, &numbers(40));
    let origin = RollingOrigin {
        gap: 2,
        ..rolling(20, 10)
    };
    let folds = origin.folds(&history.periods).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut backtest = quick(&[], Some(folder.path()));
    backtest.repeated = RepeatedCosts::Known(3);
    history.run(&backtest, &folds);
    // Period 20 is in the gap of the first fold: neither history nor decided.
    costs.row_mut(20).fill(0.0);
    costs.row_mut(20)[0] = -9.0;
    let changed = Dataset::new(features, costs, None).unwrap();
    let changed = History::new(problem, changed, &numbers(40));
    let again = changed.run(&backtest, &folds);
    backtest.folder = None;
    let fresh = changed.run(&backtest, &folds);
    let costs = |results: &BacktestResults| method(results, "last period").costs.clone();
    assert_eq!(costs(&again), costs(&fresh));
}

#[test]
fn baselines_repeat_what_was_known_before_the_gap() {
    let history = History::generated("KS8", 40);
    let origin = RollingOrigin {
        gap: 2,
        ..rolling(20, 5)
    };
    let folds = origin.folds(&history.periods).unwrap();
    let mut backtest = quick(&[], None);
    backtest.season = Some(7);
    let results = history.run(&backtest, &folds);
    assert_eq!(results.periods[0], "22");
    for (position, period) in (22..40).enumerate() {
        // The history of the fold of a period ends two periods before the fold's first one.
        let latest = 19 + 5 * (position / 5);
        let last = cost_of(&history, &stated(&history, latest), period);
        assert_eq!(method(&results, "last period").costs[position], last);
        let season = (1..)
            .map(|seasons| period - 7 * seasons)
            .find(|row| *row <= latest);
        let seasonal = cost_of(&history, &stated(&history, season.unwrap()), period);
        assert_eq!(
            method(&results, "seasonal naive 7").costs[position],
            seasonal
        );
        let mut mean = [0.0; 8];
        for row in latest - 19..=latest {
            for (sum, cost) in mean.iter_mut().zip(stated(&history, row)) {
                *sum += cost / 20.0;
            }
        }
        let mean = cost_of(&history, &mean, period);
        assert_eq!(method(&results, "mean of history").costs[position], mean);
    }
}

#[test]
fn regrets_and_costs_are_in_the_sense_of_the_user() {
    // A maximization and a minimization.
    for (name, sign) in [("KS8", -1.0), ("SP3x3", 1.0)] {
        let history = History::generated(name, 30);
        let folds = rolling(20, 5).folds(&history.periods).unwrap();
        let results = history.run(&quick(&[], None), &folds);
        for method in &results.methods {
            for (period, cost) in method.costs.iter().enumerate() {
                let regret = sign * (cost - results.best[period]);
                assert!((method.regrets[period] - regret).abs() < 1e-6);
                assert!(regret > -1e-6);
            }
            assert!(
                method
                    .decisions
                    .iter()
                    .all(|decision| !decision.columns.is_empty())
            );
        }
    }
}

#[test]
fn rows_of_one_period_are_added_up() {
    let problem = Problem::benchmark("SP3x3").unwrap();
    let data = Dataset::generate(&problem, 60).unwrap();
    let twice: Vec<String> = (0..60).map(|row| (row / 2).to_string()).collect();
    let double = History::new(problem.clone(), data.clone(), &twice);
    let single = History::new(problem, data, &numbers(60));
    let backtest = quick(&[], None);
    let double_folds = rolling(20, 10).folds(&double.periods).unwrap();
    let single_folds = rolling(40, 20).folds(&single.periods).unwrap();
    assert_eq!(double_folds, single_folds);
    let double = double.run(&backtest, &double_folds);
    let single = single.run(&backtest, &single_folds);
    assert_eq!((double.periods.len(), single.periods.len()), (10, 20));
    let [double, single] = [&double, &single].map(|results| method(results, "least squares"));
    for (period, cost) in double.costs.iter().enumerate() {
        let sum = single.costs[2 * period] + single.costs[2 * period + 1];
        assert!((cost - sum).abs() < 1e-9);
    }
}

#[test]
fn true_costs_as_predictions_have_no_regret_and_missing_ones_are_refused() {
    let history = History::generated("KS8", 30);
    let folds = rolling(20, 5).folds(&history.periods).unwrap();
    let mut values: Vec<f64> = (0..30).flat_map(|row| stated(&history, row)).collect();
    let given = |values: &[f64]| GivenMethod::Predictions {
        name: "oracle".into(),
        costs: Arc::new(Matrix::from_f64(30, 8, values).unwrap()),
    };
    let results = history.run_with(&quick(&[], None), &folds, &[given(&values)]);
    let perfect = method(&results, "oracle");
    assert!(perfect.regrets.iter().all(|regret| regret.abs() < 1e-9));
    // A row that is not decided may have none.
    values[3] = f64::NAN;
    history.run_with(&quick(&[], None), &folds, &[given(&values)]);
    values[8 * 25 + 2] = f64::NAN;
    let refused = quick(&[], None).run(&history.table(&folds), &[given(&values)], &NoopObserver);
    let message = refused.unwrap_err().to_string();
    assert!(
        message.contains("25 (row 25") && message.contains("1 of the decided"),
        "{message}"
    );
}

#[test]
fn present_decisions_are_checked_by_the_problem_and_cost_what_they_cost() {
    let history = History::generated("KS8", 30);
    let folds = rolling(20, 5).folds(&history.periods).unwrap();
    let mut decisions: Vec<Option<Decision>> = vec![None; 30];
    for (row, decision) in decisions.iter_mut().enumerate().skip(20) {
        *decision = Some(history.data.optimal_decision(row).clone());
    }
    let given = |decisions: &[Option<Decision>]| GivenMethod::Decisions {
        name: "present".into(),
        columns: 8,
        decisions: Arc::new(decisions.to_vec()),
    };
    let run = |decisions: &[Option<Decision>]| {
        quick(&[], None).run(&history.table(&folds), &[given(decisions)], &NoopObserver)
    };
    let results = run(&decisions).unwrap();
    assert_eq!(method(&results, "present").costs, results.best);
    decisions[22] = Some(Decision::from_indices(0..8));
    decisions[24] = None;
    let message = run(&decisions).unwrap_err().to_string();
    assert!(message.contains("2 of the decided rows"), "{message}");
    assert!(
        message.contains("22 (row 22, counted from 0): infeasible"),
        "{message}"
    );
}

#[test]
fn invalid_settings_are_refused_before_anything_runs() {
    let history = History::generated("KS8", 30);
    let folds = rolling(20, 5).folds(&history.periods).unwrap();
    let refused = |change: fn(&mut Backtest)| {
        let mut backtest = quick(&["MSE"], None);
        change(&mut backtest);
        let outcome = backtest.run(&history.table(&folds), &[], &NoopObserver);
        outcome.unwrap_err().to_string()
    };
    assert!(refused(|backtest| backtest.unit = Some("E\u{7}R".into())).contains("control"));
    assert!(refused(|backtest| backtest.unit = Some(" ".into())).contains("empty"));
    assert!(refused(|backtest| backtest.season = Some(0)).contains("season"));
    assert!(refused(|backtest| backtest.validation = 1.0).contains("validation fraction"));
    let twice = |backtest: &mut Backtest| backtest.methods.push("MSE".parse().unwrap());
    assert!(refused(twice).contains("two methods have the name 'MSE'"));
    // A season longer than the history fails that baseline only.
    let mut backtest = quick(&[], None);
    backtest.season = Some(25);
    let results = backtest.run(&history.table(&folds), &[], &NoopObserver);
    let results = results.unwrap();
    assert_eq!(results.failures[0].name, "seasonal naive 25");
    assert_eq!(results.methods.len(), 3);
}

/// Irish days: enough periods for a verdict.
#[test]
fn a_method_that_sees_the_true_costs_saves_and_equal_methods_do_not() {
    let history = History::generated("KS8", 120);
    let folds = rolling(40, 40).folds(&history.periods).unwrap();
    let values: Vec<f64> = (0..120).flat_map(|row| stated(&history, row)).collect();
    let oracle = GivenMethod::Predictions {
        name: "oracle".into(),
        costs: Arc::new(Matrix::from_f64(120, 8, &values).unwrap()),
    };
    let mut backtest = quick(&[], None);
    backtest.unit = Some("EUR".into());
    let results = history.run_with(&backtest, &folds, &[oracle]);
    let sentence = results.verdict().sentence();
    assert!(
        sentence.starts_with("`oracle` gains ") && sentence.contains(" EUR per period more than"),
        "{sentence}"
    );
    let saving = results.savings.last().unwrap();
    assert!(saving.interval.unwrap().lower > 0.0 && saving.lost == 0.0 && saving.won > 0.2);
    let alone = history.run(&backtest, &folds);
    let sentence = alone.verdict().sentence();
    assert!(
        sentence.starts_with("no compared method beats least squares: `least squares` gains ")
            && sentence.contains("; 80 periods from 40 to 119)")
            && sentence.ends_with("; compared with these, a linear regression is enough"),
        "{sentence}"
    );
}

#[test]
fn a_verdict_without_a_winner_says_what_the_best_method_may_save() {
    let history = History::generated("KS8", 120);
    let folds = rolling(40, 40).folds(&history.periods).unwrap();
    // The true costs, but now and then their opposite.
    let distort = |row: usize| {
        let factor = if row % 12 == 5 { -1.0 } else { 1.0 };
        let costs = stated(&history, row).into_iter();
        costs.map(move |cost| factor * cost)
    };
    let values: Vec<f64> = (0..120).flat_map(distort).collect();
    let mixed = GivenMethod::Predictions {
        name: "mixed".into(),
        costs: Arc::new(Matrix::from_f64(120, 8, &values).unwrap()),
    };
    let results = history.run_with(&quick(&[], None), &folds, &[mixed]);
    let best = results
        .savings
        .iter()
        .max_by(|a, b| a.per_period.total_cmp(&b.per_period));
    let best = best.unwrap();
    let interval = best.interval.unwrap();
    let regret = results.methods[0].total_regret() / results.periods.len() as f64;
    let sentence = results.verdict().sentence();
    assert!(interval.lower <= 0.0 && interval.upper > 0.1 * regret);
    let is_open = "no compared method is certain to beat least squares: `";
    assert!(sentence.starts_with(is_open), "{sentence} {interval:?}");
    assert!(sentence.ends_with("; more periods may decide"));
}

#[test]
fn trainings_that_have_not_converged_are_named() {
    let results = short_trainings(120, 40, &["MSE"]);
    let remarks = results.remarks.join("; ");
    assert!(remarks.contains("MSE has not converged"), "{remarks}");
}

#[test]
fn a_loss_without_a_lower_bound_is_not_said_to_be_unfinished() {
    let results = short_trainings(120, 40, &["NCE", "MSE"]);
    let remarks = results.remarks.join("; ");
    assert!(remarks.contains("MSE has not converged"), "{remarks}");
}

#[test]
fn trainings_that_have_not_converged_are_named_below_sixty_periods() {
    let results = short_trainings(60, 10, &["MSE"]);
    assert!(results.verdict().sentence().starts_with("too few periods"));
    let remarks = results.remarks.join("; ");
    assert!(remarks.contains("MSE has not converged"), "{remarks}");
}

#[test]
fn least_squares_saves_what_another_method_loses() {
    let history = History::generated("KS8", 160);
    let folds = rolling(40, 40).folds(&history.periods).unwrap();
    let results = history.run(&quick(&["MSE"], None), &folds);
    for lost in &results.savings {
        let saved = results.saving_against(&lost.name, "least squares").unwrap();
        assert!((saved.per_period + lost.per_period).abs() < 1e-12);
        let [saved_ends, lost_ends] = [saved.interval, lost.interval]
            .map(|interval| interval.map(|ends| [ends.lower, ends.upper]));
        assert_eq!(saved_ends, lost_ends.map(|[lower, upper]| [-upper, -lower]));
    }
}
