//! The label store: labels in a folder beside a table are reused for rows with the same costs,
//! problem and solver limits, and computed again when their file is damaged.

use std::fs;
use std::path::{Path, PathBuf};

use regretless::data::synthetic::{self, SyntheticSpec};
use regretless::data::{Dataset, FeatureShape, Features, Matrix};
use regretless::label::{LabelReport, LabelStore, LabeledDataset, Shard};
use regretless::observer::NoopObserver;
use regretless::oracle::{Heuristic, Oracle};
use regretless::problem::{ExternalProblem, GridPath, ProblemSpec, Sense, TopK, Tsp};
use regretless::solve::SearchLimits;
use tempfile::TempDir;

fn table() -> Dataset {
    let features = Features::new(Matrix::zeros(2, 1), FeatureShape::Wide, None).unwrap();
    Dataset::new(
        features,
        Matrix::new(2, 3, vec![1.0, 3.0, 2.0, -1.0, -4.0, 5.0]).unwrap(),
        None,
    )
    .unwrap()
}

fn top_k(k: usize, sense: Sense) -> ProblemSpec {
    ProblemSpec::TopK(TopK::new(3, k, sense).unwrap())
}

fn oracle(problem: &ProblemSpec) -> Oracle {
    Oracle::new(problem.build().unwrap())
}

/// Labels of a table and how they were obtained.
struct Labeling {
    labeled: LabeledDataset,
    report: LabelReport,
    exact_solves: u64,
}

/// Labels a table with a new oracle and counts the solves.
fn label(
    store: &LabelStore,
    data: Dataset,
    problem: &ProblemSpec,
    limits: SearchLimits,
) -> Labeling {
    let oracle = oracle(problem).with_limits(limits);
    let (labeled, report) = store.label(data, problem, &oracle, &NoopObserver).unwrap();
    Labeling {
        labeled,
        report,
        exact_solves: oracle.counts().exact,
    }
}

/// Labels the default table.
fn label_default(store: &LabelStore) -> Labeling {
    label(
        store,
        table(),
        &top_k(2, Sense::Maximize),
        SearchLimits::default(),
    )
}

/// A label store in a temporary folder.
struct StoreFixture {
    _folder: TempDir,
    store: LabelStore,
}

fn store_fixture() -> StoreFixture {
    let folder = tempfile::tempdir().unwrap();
    let store = LabelStore::for_table(&folder.path().join("prices.csv"));
    StoreFixture {
        _folder: folder,
        store,
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect()
}

#[test]
fn the_second_call_returns_the_stored_labels_without_solves() {
    let fixture = store_fixture();
    let Labeling {
        labeled: first,
        report,
        exact_solves,
    } = label_default(&fixture.store);
    assert_eq!(
        (report.stored_rows, report.solved_rows, exact_solves),
        (0, 2, 2)
    );
    assert_eq!(report.warnings, Vec::<String>::new());
    assert_eq!(files(fixture.store.folder()).len(), 1);
    assert!(fixture.store.folder().ends_with("prices.csv.labels"));
    let Labeling {
        labeled: second,
        report,
        exact_solves,
    } = label_default(&fixture.store);
    assert_eq!(
        (report.stored_rows, report.solved_rows, exact_solves),
        (2, 0, 0)
    );
    assert_eq!(report.warnings, Vec::<String>::new());
    assert_eq!(first.solutions(), second.solutions());
    assert_eq!(first.data(), second.data());
    assert_eq!(
        (second.sense(), second.optimal_decision(0).indices()),
        (Sense::Maximize, &[1, 2][..])
    );
    assert_eq!(second.solution(0).objective, -5.0);
}

#[test]
fn stored_labels_equal_those_of_a_direct_solve() {
    let fixture = store_fixture();
    let problem = ProblemSpec::GridPath(GridPath::new(4, 5).unwrap());
    let spec = SyntheticSpec {
        instances: 30,
        features: 3,
        degree: 2,
        noise: 0.5,
        seed: 9,
    };
    let data = synthetic::grid_path(spec, 31).unwrap().dataset().unwrap();
    let direct = LabeledDataset::solve(data.clone(), &oracle(&problem), &NoopObserver).unwrap();
    for expected_solves in [30, 0] {
        let Labeling {
            labeled,
            exact_solves,
            ..
        } = label(
            &fixture.store,
            data.clone(),
            &problem,
            SearchLimits::default(),
        );
        assert_eq!(labeled.solutions(), direct.solutions());
        assert_eq!(exact_solves, expected_solves);
    }
}

#[test]
fn labels_are_computed_again_if_costs_problem_or_limits_change() {
    let fixture = store_fixture();
    let problem = top_k(2, Sense::Maximize);
    let mut changed = table();
    changed.costs_mut().as_mut_slice()[5] = 5.000_001;
    let three_rows = Features::new(Matrix::zeros(3, 1), FeatureShape::Wide, None).unwrap();
    let three_rows = Dataset::new(
        three_rows,
        Matrix::new(3, 2, table().costs().as_slice().to_vec()).unwrap(),
        None,
    )
    .unwrap();
    let two_items = ProblemSpec::TopK(TopK::new(2, 2, Sense::Maximize).unwrap());
    let cases = [
        (table(), problem.clone(), SearchLimits::default()),
        (changed, problem.clone(), SearchLimits::default()),
        (
            table(),
            problem.clone(),
            SearchLimits {
                nodes: 5,
                ..SearchLimits::default()
            },
        ),
        (
            table(),
            problem,
            SearchLimits {
                gap: 0.01,
                ..SearchLimits::default()
            },
        ),
        (table(), top_k(1, Sense::Maximize), SearchLimits::default()),
        (table(), top_k(2, Sense::Minimize), SearchLimits::default()),
        (three_rows, two_items, SearchLimits::default()),
    ];
    // The second table shares a row with the first.
    let expected_solves = [2, 1, 2, 2, 2, 2, 3];
    for ((data, problem, limits), solves) in cases.clone().into_iter().zip(expected_solves) {
        let labeling = label(&fixture.store, data, &problem, limits);
        assert_eq!(labeling.exact_solves, solves);
    }
    // The two tables of one problem with the same limits are in one file.
    assert_eq!(files(fixture.store.folder()).len(), cases.len() - 1);
    for (data, problem, limits) in cases {
        assert_eq!(
            label(&fixture.store, data, &problem, limits).exact_solves,
            0
        );
    }
}

/// Damages the file, labels again, and expects a warning, correct labels and an intact file.
fn assert_recovers(store: &LabelStore, file: &Path, intact: &[u8], damaged: &[u8], context: &str) {
    fs::write(file, damaged).unwrap();
    let Labeling {
        labeled,
        report,
        exact_solves,
    } = label_default(store);
    assert_eq!((report.stored_rows, exact_solves), (0, 2), "{context}");
    assert_eq!(report.warnings.len(), 1, "{context}");
    assert!(
        report.warnings[0].starts_with(&format!("{}: labels could not be used", file.display())),
        "{context}"
    );
    assert_eq!(labeled.optimal_decision(0).indices(), [1, 2], "{context}");
    assert_eq!(fs::read(file).unwrap(), intact, "{context}");
}

// The unit tests of the file format truncate at every length and flip every bit. These tests go
// through the store and the disk, so they use a sample of lengths and bits.

#[test]
fn a_truncated_file_is_detected_and_replaced() {
    let fixture = store_fixture();
    label_default(&fixture.store);
    let file = files(fixture.store.folder()).remove(0);
    let intact = fs::read(&file).unwrap();
    for length in (0..intact.len()).step_by(29) {
        assert_recovers(
            &fixture.store,
            &file,
            &intact,
            &intact[..length],
            &format!("truncated to {length}"),
        );
    }
}

#[test]
fn a_flipped_bit_is_detected_and_replaced() {
    let fixture = store_fixture();
    label_default(&fixture.store);
    let file = files(fixture.store.folder()).remove(0);
    let intact = fs::read(&file).unwrap();
    for bit in (0..intact.len() * 8).step_by(131) {
        let mut damaged = intact.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert_recovers(
            &fixture.store,
            &file,
            &intact,
            &damaged,
            &format!("bit {bit}"),
        );
    }
}

#[test]
fn a_file_with_labels_of_another_problem_is_not_used() {
    let fixture = store_fixture();
    label_default(&fixture.store);
    let file = files(fixture.store.folder()).remove(0);
    let intact = fs::read(&file).unwrap();
    let other_fixture = store_fixture();
    label(
        &other_fixture.store,
        table(),
        &top_k(1, Sense::Maximize),
        SearchLimits::default(),
    );
    let other = files(other_fixture.store.folder()).remove(0);
    assert_recovers(
        &fixture.store,
        &file,
        &intact,
        &fs::read(other).unwrap(),
        "labels of another problem",
    );
    assert_recovers(
        &fixture.store,
        &file,
        &intact,
        &vec![b' '; 2 << 20],
        "a file that is far too long",
    );
}

#[test]
fn labels_are_returned_even_if_they_cannot_be_stored() {
    let fixture = store_fixture();
    // A file at the path of the folder prevents writing even with administrator rights.
    fs::write(fixture.store.folder(), "in the way").unwrap();
    for _ in 0..2 {
        let Labeling {
            labeled,
            report,
            exact_solves,
        } = label_default(&fixture.store);
        assert_eq!(
            (report.is_stored, exact_solves, labeled.len()),
            (false, 2, 2)
        );
        let last = report.warnings.last().unwrap();
        assert!(
            last.starts_with("labels could not be stored and will be computed again next time:"),
            "{last}"
        );
    }
    assert_eq!(fs::read(fixture.store.folder()).unwrap(), b"in the way");
}

#[test]
fn an_oracle_for_another_problem_is_refused() {
    let fixture = store_fixture();
    let error = fixture.store.label(
        table(),
        &top_k(2, Sense::Maximize),
        &oracle(&top_k(1, Sense::Maximize)),
        &NoopObserver,
    );
    let error = error.unwrap_err().to_string();
    assert_eq!(
        error,
        "the oracle does not solve top 2 of 3, but top 1 of 3"
    );
    assert!(!fixture.store.folder().exists());
}

#[test]
fn a_table_of_the_wrong_width_is_refused() {
    let fixture = store_fixture();
    let problem = ProblemSpec::GridPath(GridPath::new(2, 2).unwrap());
    let error = fixture
        .store
        .label(table(), &problem, &oracle(&problem), &NoopObserver)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("the table has 3 costs per instance, SP2x2 needs 4"),
        "{error}"
    );
}

#[test]
fn labels_of_a_heuristic_are_stored_apart_from_optimal_ones() {
    let fixture = store_fixture();
    let problem = ProblemSpec::Tsp(Tsp::new(12).unwrap());
    let data = synthetic::tsp(SyntheticSpec::paper(6, 4), 12)
        .unwrap()
        .dataset()
        .unwrap();
    let mut stored = Vec::new();
    let mut known_files = Vec::new();
    for heuristic in [
        Some(Heuristic::LocalSearch),
        None,
        Some(Heuristic::NodeLimit(1)),
        Some(Heuristic::LocalSearch),
    ] {
        let oracle = oracle(&problem).with_heuristic(heuristic).unwrap();
        let (labeled, _) = fixture
            .store
            .label(data.clone(), &problem, &oracle, &NoopObserver)
            .unwrap();
        let counts = oracle.counts();
        let is_stored = stored.contains(&heuristic);
        let expected = if is_stored {
            [0, 0]
        } else if heuristic.is_some() {
            [0, 6]
        } else {
            [6, 0]
        };
        assert_eq!([counts.exact, counts.heuristic], expected, "{heuristic:?}");
        for file in files(fixture.store.folder()) {
            if known_files.contains(&file) {
                continue;
            }
            let text = String::from_utf8_lossy(&fs::read(&file).unwrap()).into_owned();
            assert_eq!(
                text.contains("heuristic\\\":\\\""),
                heuristic.is_some(),
                "the file states the heuristic"
            );
            known_files.push(file);
        }
        assert_eq!(labeled.len(), 6);
        stored.push(heuristic);
    }
    assert_eq!(files(fixture.store.folder()).len(), 3);
    let paths = oracle(&ProblemSpec::GridPath(GridPath::new(4, 5).unwrap()));
    let error = paths
        .with_heuristic(Some(Heuristic::LocalSearch))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("local search") && error.contains("node-limit 100"),
        "{error}"
    );
}

#[test]
fn labels_are_reused_for_another_table_only_if_its_costs_are_the_same() {
    let problem = top_k(2, Sense::Maximize);
    let (labeled, failed) =
        LabeledDataset::solve_feasible(table(), &oracle(&problem), &NoopObserver).unwrap();
    assert!(failed.is_empty());
    let features = Features::new(
        Matrix::new(2, 1, vec![7.0, 8.0]).unwrap(),
        FeatureShape::Wide,
        None,
    )
    .unwrap();
    let same = Dataset::new(features.clone(), table().costs().clone(), None).unwrap();
    let relabeled = labeled.with_dataset(same, &oracle(&problem)).unwrap();
    assert_eq!(
        (relabeled.optimal_decision(1), relabeled.data().features()),
        (labeled.optimal_decision(1), &features)
    );
    let mut other = table();
    other.costs_mut().row_mut(1)[2] = 6.0;
    let message = labeled
        .with_dataset(other, &oracle(&problem))
        .unwrap_err()
        .to_string();
    assert!(message.contains("row 1 differs"), "{message}");
}

#[test]
fn labels_of_an_external_problem_are_stored_under_its_name() {
    let fixture = store_fixture();
    let built = top_k(2, Sense::Maximize);
    let external = |costs| {
        ProblemSpec::External(ExternalProblem {
            name: "top 2 of 3".into(),
            sense: Sense::Maximize,
            costs,
            cost_names: None,
        })
    };
    let (_, first_report) = fixture
        .store
        .label(table(), &external(3), &oracle(&built), &NoopObserver)
        .unwrap();
    let (_, second_report) = fixture
        .store
        .label(table(), &external(3), &oracle(&built), &NoopObserver)
        .unwrap();
    assert_eq!(
        [first_report.solved_rows, second_report.solved_rows],
        [2, 0]
    );
    let message = fixture
        .store
        .label(table(), &external(4), &oracle(&built), &NoopObserver)
        .unwrap_err()
        .to_string();
    assert!(message.contains("pass it again"), "{message}");
}

/// A table with these rows of three costs.
fn table_of(rows: &[[f32; 3]]) -> Dataset {
    let features = Matrix::zeros(rows.len(), 1);
    let features = Features::new(features, FeatureShape::Wide, None).unwrap();
    let costs = Matrix::new(rows.len(), 3, rows.as_flattened().to_vec()).unwrap();
    Dataset::new(features, costs, None).unwrap()
}

#[test]
fn appended_reordered_removed_and_repeated_rows_cost_only_the_new_solves() {
    let fixture = store_fixture();
    let problem = top_k(2, Sense::Minimize);
    let rows: Vec<[f32; 3]> = (0..50_u8)
        .map(|i| [f32::from(i), f32::from(i % 7), f32::from(50 - i)])
        .collect();
    let reversed: Vec<[f32; 3]> = rows.iter().rev().copied().collect();
    let repeated = [&rows[..10], &rows[..10], &[[9.5, 1.0, 2.0]; 3]].concat();
    let tables: [(&[[f32; 3]], u64); 6] = [
        (&rows[..45], 45),
        (&rows, 5),
        (&reversed, 0),
        (&rows[20..30], 0),
        // Rows with equal costs are solved once.
        (&repeated, 1),
        (&rows, 0),
    ];
    for (rows, expected_solves) in tables {
        let direct =
            LabeledDataset::solve(table_of(rows), &oracle(&problem), &NoopObserver).unwrap();
        let labeling = label(
            &fixture.store,
            table_of(rows),
            &problem,
            SearchLimits::default(),
        );
        assert_eq!(labeling.labeled.solutions(), direct.solutions());
        assert_eq!(labeling.exact_solves, expected_solves);
        assert_eq!(labeling.report.solved_rows as u64, expected_solves);
        assert_eq!(labeling.report.rows, rows.len());
        assert_eq!(files(fixture.store.folder()).len(), 1);
    }
}

#[test]
fn shards_of_a_table_that_grew_solve_only_new_rows() {
    let fixture = store_fixture();
    let problem = top_k(1, Sense::Maximize);
    let rows: Vec<[f32; 3]> = (0..40_u8)
        .map(|i| [f32::from(i), f32::from(i % 3), 20.0])
        .collect();
    label(
        &fixture.store,
        table_of(&rows[..30]),
        &problem,
        SearchLimits::default(),
    );
    let mut known = 30;
    for index in [2, 0, 1] {
        let shard = Shard { index, count: 3 };
        let report = fixture
            .store
            .label_shard(
                table_of(&rows),
                &problem,
                &oracle(&problem),
                shard,
                &NoopObserver,
            )
            .unwrap();
        let new_rows = (30..40).filter(|row| row % 3 == index).count();
        assert_eq!((report.stored_rows, report.solved_rows), (known, new_rows));
        known += new_rows;
    }
    let whole = label(
        &fixture.store,
        table_of(&rows),
        &problem,
        SearchLimits::default(),
    );
    assert_eq!((whole.exact_solves, whole.report.stored_rows), (0, 40));
}

#[cfg(feature = "highs")]
#[test]
fn a_model_file_that_was_moved_keeps_its_labels() {
    let folder = tempfile::tempdir().unwrap();
    let store = LabelStore::for_table(&folder.path().join("prices.csv"));
    let text = "Minimize\n obj: a + b + c\nSubject To\n r: a + b + c >= 2\nBinary\n a b c\nEnd\n";
    let mut solves = Vec::new();
    for name in ["model.lp", "moved.lp"] {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        let problem = regretless::Problem::from_file(&path).unwrap();
        let oracle = Oracle::new(problem.kind().clone());
        store
            .label(table(), problem.spec(), &oracle, &NoopObserver)
            .unwrap();
        solves.push(oracle.counts().exact);
    }
    assert_eq!(solves, [2, 0]);
}

#[test]
fn failures_that_depend_on_the_moment_are_tried_again() {
    use std::sync::atomic::{AtomicBool, Ordering};
    static FAILS: AtomicBool = AtomicBool::new(true);
    let fixture = store_fixture();
    let choose_first = |costs: &[f64]| {
        let fails = FAILS.load(Ordering::Relaxed) && costs[0] < 0.0;
        // A decision of the wrong length is an error of the solver.
        Some(vec![1.0, 0.0, 0.0][..if fails { 2 } else { 3 }].to_vec())
    };
    let problem =
        regretless::Problem::from_solver("first", Sense::Minimize, 3, choose_first).unwrap();
    let solved = || {
        let oracle = Oracle::new(problem.kind().clone());
        let label = fixture
            .store
            .label(table(), problem.spec(), &oracle, &NoopObserver);
        let (_, report) = label.unwrap();
        [report.failed.len(), report.solved_rows]
    };
    let first = solved();
    FAILS.store(false, Ordering::Relaxed);
    let again = solved();
    assert_eq!([first, again, solved()], [[1, 2], [0, 1], [0, 0]]);
}
