//! Labels kept beside a table: found again, never mistaken, never believed when damaged.

use std::fs;
use std::path::{Path, PathBuf};

use regretless::data::synthetic::{self, SyntheticSpec};
use regretless::data::{Dataset, FeatureShape, Features, Matrix};
use regretless::label::{LabelReport, LabelSource, LabelStore, LabeledDataset};
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

fn top(k: usize, sense: Sense) -> ProblemSpec {
    ProblemSpec::TopK(TopK::new(3, k, sense).unwrap())
}

fn oracle(problem: &ProblemSpec) -> Oracle {
    Oracle::new(problem.build().unwrap())
}

/// Labels a table with an oracle of its own and counts the solves.
fn label(
    store: &LabelStore,
    data: Dataset,
    problem: &ProblemSpec,
    limits: SearchLimits,
) -> (LabeledDataset, LabelReport, u64) {
    let oracle = oracle(problem).with_limits(limits);
    let (labeled, report) = store.label(data, problem, &oracle, &NoopObserver).unwrap();
    (labeled, report, oracle.counts().exact)
}

fn simply(store: &LabelStore) -> (LabeledDataset, LabelReport, u64) {
    label(
        store,
        table(),
        &top(2, Sense::Maximize),
        SearchLimits::default(),
    )
}

struct Place {
    _folder: TempDir,
    store: LabelStore,
}

fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let store = LabelStore::for_table(&folder.path().join("prices.csv"));
    Place {
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
fn the_second_call_solves_nothing_and_gives_the_same() {
    let place = place();
    let (first, report, solves) = simply(&place.store);
    assert_eq!(
        (report.source, solves, report.warnings.len()),
        (LabelSource::Solved, 2, 0)
    );
    assert_eq!(
        files(place.store.folder()),
        std::slice::from_ref(&report.file)
    );
    assert!(report.file.parent().unwrap().ends_with("prices.csv.labels"));
    let (second, report, solves) = simply(&place.store);
    assert_eq!(
        (report.source, solves, report.warnings.len()),
        (LabelSource::Stored, 0, 0)
    );
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
    let place = place();
    let problem = ProblemSpec::GridPath(GridPath::new(4, 5).unwrap());
    let spec = SyntheticSpec {
        instances: 30,
        features: 3,
        degree: 2,
        noise: 0.5,
        seed: 9,
    };
    let data = synthetic::grid_path(spec, 31).unwrap().dataset().unwrap();
    let plain = LabeledDataset::solve(data.clone(), &oracle(&problem), &NoopObserver).unwrap();
    for expected in [30, 0] {
        let (labeled, _, solves) = label(
            &place.store,
            data.clone(),
            &problem,
            SearchLimits::default(),
        );
        assert_eq!(labeled.solutions(), plain.solutions());
        assert_eq!(solves, expected);
    }
}

#[test]
fn anything_that_labels_depend_on_makes_new_ones() {
    let place = place();
    let problem = top(2, Sense::Maximize);
    let mut changed = table();
    changed.costs_mut().as_mut_slice()[5] = 5.000_001;
    let tall = Features::new(Matrix::zeros(3, 1), FeatureShape::Wide, None).unwrap();
    let tall = Dataset::new(
        tall,
        Matrix::new(3, 2, table().costs().as_slice().to_vec()).unwrap(),
        None,
    )
    .unwrap();
    let narrow = ProblemSpec::TopK(TopK::new(2, 2, Sense::Maximize).unwrap());
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
        (table(), top(1, Sense::Maximize), SearchLimits::default()),
        (table(), top(2, Sense::Minimize), SearchLimits::default()),
        (tall, narrow, SearchLimits::default()),
    ];
    for (data, problem, limits) in cases.clone() {
        assert_eq!(
            label(&place.store, data, &problem, limits).1.source,
            LabelSource::Solved
        );
    }
    assert_eq!(files(place.store.folder()).len(), cases.len());
    for (data, problem, limits) in cases {
        assert_eq!(
            label(&place.store, data, &problem, limits).1.source,
            LabelSource::Stored
        );
    }
}

/// Damages the file, labels again, and expects a warning, the right labels and a whole file.
fn assert_recovers(store: &LabelStore, file: &Path, whole: &[u8], damaged: &[u8], what: &str) {
    fs::write(file, damaged).unwrap();
    let (labeled, report, solves) = simply(store);
    assert_eq!((report.source, solves), (LabelSource::Solved, 2), "{what}");
    assert_eq!(report.warnings.len(), 1, "{what}");
    assert!(
        report.warnings[0].starts_with(&format!("{}: labels could not be used", file.display())),
        "{what}"
    );
    assert_eq!(labeled.optimal_decision(0).indices(), [1, 2], "{what}");
    assert_eq!(fs::read(file).unwrap(), whole, "{what}");
}

// The tests beside the code cut at every length and flip every bit of the bytes alone; here whole
// files go through the store, and a sample keeps the disk out of the way.

#[test]
fn a_cut_file_is_seen_and_replaced() {
    let place = place();
    let file = simply(&place.store).1.file;
    let whole = fs::read(&file).unwrap();
    for length in (0..whole.len()).step_by(29) {
        assert_recovers(
            &place.store,
            &file,
            &whole,
            &whole[..length],
            &format!("cut to {length}"),
        );
    }
}

#[test]
fn a_flipped_bit_is_seen_and_replaced() {
    let place = place();
    let file = simply(&place.store).1.file;
    let whole = fs::read(&file).unwrap();
    for bit in (0..whole.len() * 8).step_by(131) {
        let mut damaged = whole.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert_recovers(&place.store, &file, &whole, &damaged, &format!("bit {bit}"));
    }
}

#[test]
fn labels_of_other_costs_under_this_name_are_not_used() {
    let place = place();
    let file = simply(&place.store).1.file;
    let whole = fs::read(&file).unwrap();
    let other = label(
        &place.store,
        table(),
        &top(1, Sense::Maximize),
        SearchLimits::default(),
    )
    .1
    .file;
    assert_recovers(
        &place.store,
        &file,
        &whole,
        &fs::read(other).unwrap(),
        "labels of another problem",
    );
    assert_recovers(
        &place.store,
        &file,
        &whole,
        &vec![b' '; 2 << 20],
        "a file that is far too long",
    );
}

#[test]
fn a_folder_that_cannot_be_written_only_costs_time() {
    let place = place();
    // A file in the place of the folder stops even an administrator.
    fs::write(place.store.folder(), "in the way").unwrap();
    for _ in 0..2 {
        let (labeled, report, solves) = simply(&place.store);
        assert_eq!(
            (report.source, solves, labeled.len()),
            (LabelSource::Solved, 2, 2)
        );
        let last = report.warnings.last().unwrap();
        assert!(
            last.starts_with("labels could not be stored and will be computed again next time:"),
            "{last}"
        );
    }
    assert_eq!(fs::read(place.store.folder()).unwrap(), b"in the way");
}

#[test]
fn an_oracle_for_another_problem_is_refused() {
    let place = place();
    let error = place.store.label(
        table(),
        &top(2, Sense::Maximize),
        &oracle(&top(1, Sense::Maximize)),
        &NoopObserver,
    );
    let error = error.unwrap_err().to_string();
    assert_eq!(
        error,
        "the oracle does not solve top 2 of 3, but top 1 of 3"
    );
    assert!(!place.store.folder().exists());
}

#[test]
fn a_table_of_the_wrong_width_is_refused() {
    let place = place();
    let problem = ProblemSpec::GridPath(GridPath::new(2, 2).unwrap());
    let error = place
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
fn labels_by_a_heuristic_are_never_taken_for_the_best() {
    let place = place();
    let problem = ProblemSpec::Tsp(Tsp::new(12).unwrap());
    let data = synthetic::tsp(SyntheticSpec::paper(6, 4), 12)
        .unwrap()
        .dataset()
        .unwrap();
    let mut stored = Vec::new();
    for heuristic in [
        Some(Heuristic::LocalSearch),
        None,
        Some(Heuristic::NodeLimit(1)),
        Some(Heuristic::LocalSearch),
    ] {
        let oracle = oracle(&problem).with_heuristic(heuristic).unwrap();
        let (labeled, report) = place
            .store
            .label(data.clone(), &problem, &oracle, &NoopObserver)
            .unwrap();
        let counts = oracle.counts();
        let known = stored.contains(&report.file);
        let expected = if known {
            [0, 0]
        } else if heuristic.is_some() {
            [0, 6]
        } else {
            [6, 0]
        };
        assert_eq!([counts.exact, counts.heuristic], expected, "{heuristic:?}");
        let text = String::from_utf8_lossy(&fs::read(&report.file).unwrap()).into_owned();
        assert_eq!(
            text.contains("heuristic"),
            heuristic.is_some(),
            "the file says who decided"
        );
        assert_eq!(labeled.len(), 6);
        stored.push(report.file);
    }
    assert_eq!(files(place.store.folder()).len(), 3);
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
fn labels_serve_another_table_of_the_same_costs_and_no_other() {
    let problem = top(2, Sense::Maximize);
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
    let joined = labeled.with_dataset(same, &oracle(&problem)).unwrap();
    assert_eq!(
        (joined.optimal_decision(1), joined.data().features()),
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
fn labels_of_a_given_problem_are_kept_under_its_name() {
    let place = place();
    let built = top(2, Sense::Maximize);
    let given = |costs| {
        ProblemSpec::External(ExternalProblem {
            name: "top 2 of 3".into(),
            sense: Sense::Maximize,
            costs,
            cost_names: None,
        })
    };
    let (_, first) = place
        .store
        .label(table(), &given(3), &oracle(&built), &NoopObserver)
        .unwrap();
    let (_, again) = place
        .store
        .label(table(), &given(3), &oracle(&built), &NoopObserver)
        .unwrap();
    assert_eq!(
        [first.source, again.source],
        [LabelSource::Solved, LabelSource::Stored]
    );
    let message = place
        .store
        .label(table(), &given(4), &oracle(&built), &NoopObserver)
        .unwrap_err()
        .to_string();
    assert!(message.contains("pass it again"), "{message}");
}
