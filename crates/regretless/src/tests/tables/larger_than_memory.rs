//! Tables larger than memory: memory-mapped costs, and rows that are written as they are generated.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use regretless::data::npy::{self, Storage};
use regretless::data::synthetic::SyntheticSpec;
use regretless::data::{Dataset, SplitIndices};
use regretless::error::InputPlace;
use regretless::label::LabeledDataset;
use regretless::method::Method;
use regretless::observer::{NoopObserver, Observer};
use regretless::oracle::Oracle;
use regretless::parallel::Threads;
use regretless::predict::PredictorSpec;
use regretless::problem::{Benchmark, ProblemSpec};
use regretless::settings::TrainingSettings;
use regretless::train::TrainingContext;
use regretless::trainer::{Trainer, TrainingOutcome};
use regretless::{Error, ErrorKind};

use super::Folder;
use super::arrays::{npy_file, npy_header};

const ROWS: usize = 40;

fn spec() -> SyntheticSpec {
    SyntheticSpec::paper(ROWS, 5)
}

/// Writes a benchmark as NPY, row by row.
fn write_benchmark(folder: &Folder, benchmark: &str) -> (ProblemSpec, PathBuf, PathBuf) {
    let (problem, mut rows) = benchmark
        .parse::<Benchmark>()
        .unwrap()
        .rows(spec())
        .unwrap();
    let (features, costs) = (folder.path("features.npy"), folder.path("costs.npy"));
    npy::write_predictions(&features, rows.features().unwrap().values(), true).unwrap();
    let (num_rows, num_costs) = (rows.rows(), rows.num_costs());
    let next = |row: &mut Vec<f32>| rows.next_row(row);
    npy::write_rows(&costs, num_rows, num_costs, next, true, &NoopObserver).unwrap();
    (problem, features, costs)
}

fn train(
    problem: &ProblemSpec,
    data: Dataset,
    loss: &str,
    observer: &dyn Observer,
) -> regretless::Result<TrainingOutcome> {
    let threads = if data.costs().is_mapped() { 2 } else { 1 };
    let oracle = Oracle::new(problem.build()?).with_threads(Threads::new(threads)?);
    let mapped = data.costs().is_mapped();
    let data = LabeledDataset::solve(data, &oracle, &NoopObserver)?;
    assert_eq!(
        data.data().costs().is_mapped(),
        mapped,
        "labeling copies nothing into memory"
    );
    let split = SplitIndices::in_order(ROWS, [30, 10, 0])?;
    let task = TrainingContext {
        data: &data,
        split: &split,
        oracle: &oracle,
        observer,
    };
    let settings = TrainingSettings {
        epochs: 3,
        ..TrainingSettings::default()
    };
    Trainer::new(loss.parse::<Method>()?)
        .predictor(PredictorSpec::Linear)
        .settings(settings)
        .train(&task, problem, None)
}

/// For minimization and maximization, numbers of costs that do and do not fill the last
/// tile of the fused kernels, and losses with and without solver calls.
#[test]
fn training_from_a_mapped_file_and_in_memory_gives_byte_identical_models() {
    let folder = Folder::new();
    for benchmark in ["SP4x4", "KS32", "TSP8"] {
        let (problem, features, costs) = write_benchmark(&folder, benchmark);
        let stored = fs::read(&costs).unwrap();
        for loss in ["MAE(O,S)", "MSE", "SPO+", "MSE(O) knn(3,0.5)"] {
            let [memory, file] = [Storage::Memory, Storage::File].map(|storage| {
                let data = npy::read_as(&features, &costs, storage).unwrap();
                assert_eq!(data.costs().is_mapped(), storage == Storage::File);
                train(&problem, data, loss, &NoopObserver).unwrap()
            });
            assert_eq!(
                memory.model.to_bytes().unwrap(),
                file.model.to_bytes().unwrap(),
                "{benchmark} {loss}"
            );
            let metrics = |trained: &TrainingOutcome| {
                let epochs = trained.report.rounds.iter().flat_map(|round| &round.epochs);
                epochs
                    .map(|epoch| (epoch.training_loss, epoch.validation_regret))
                    .collect::<Vec<_>>()
            };
            assert_eq!(metrics(&memory), metrics(&file));
        }
        assert_eq!(fs::read(&costs).unwrap(), stored, "the file is only read");
        assert_eq!(
            fs::read_dir(folder.path("")).unwrap().count(),
            2,
            "no other file is left in the folder"
        );
    }
}

#[test]
fn rows_generated_one_by_one_equal_the_table_generated_at_once() {
    let folder = Folder::new();
    for benchmark in ["SP3x5", "KS10", "KS70", "TSP9", "CVRP6"] {
        let (problem, features, costs) = write_benchmark(&folder, benchmark);
        let (other, data) = benchmark
            .parse::<Benchmark>()
            .unwrap()
            .generate(spec())
            .unwrap();
        assert_eq!(problem, other);
        let (all_features, all_costs) = (
            folder.path("all-features.npy"),
            folder.path("all-costs.npy"),
        );
        npy::write(&all_features, &all_costs, &data, true).unwrap();
        for (left, right) in [(features, all_features), (costs, all_costs)] {
            assert_eq!(
                fs::read(left).unwrap(),
                fs::read(right).unwrap(),
                "{benchmark}"
            );
        }
    }
}

/// Interrupts after this many rows.
struct InterruptAfter(AtomicUsize);

impl Observer for InterruptAfter {
    fn advance(&self, _: u64) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    fn interrupted(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }
}

#[test]
fn an_interrupted_write_leaves_no_file() {
    let folder = Folder::new();
    let path = folder.path("costs.npy");
    let observer = InterruptAfter(AtomicUsize::new(2));
    let next = |row: &mut Vec<f32>| row.resize(1000, 1.0);
    let result = npy::write_rows(&path, 5, 1000, next, false, &observer);
    assert!(matches!(result, Err(Error::Interrupted)), "{result:?}");
    assert_eq!(fs::read_dir(folder.path("")).unwrap().count(), 0);
}

fn numbers(count: usize) -> Vec<u8> {
    (0..count).flat_map(|i| (i as f32).to_le_bytes()).collect()
}

/// A header padded to a multiple of 64 bytes, so the numbers can be mapped.
fn aligned_header(shape: &str) -> String {
    let header = npy_header("<f4", "False", shape);
    let padding = 63 - (10 + header.len() - 1) % 64;
    format!("{}{}\n", header.trim_end(), " ".repeat(padding))
}

fn map_costs(path: &Path) -> regretless::Result<Dataset> {
    npy::read_costs(path, Storage::File)
}

#[test]
fn files_that_cannot_be_mapped_are_converted() {
    let folder = Folder::new();
    let doubles: Vec<u8> = (0..6).flat_map(|i| f64::from(i).to_le_bytes()).collect();
    let big_endian: Vec<u8> = (0..6).flat_map(|i| (i as f32).to_be_bytes()).collect();
    let by_columns: Vec<u8> = [0.0_f32, 3.0, 1.0, 4.0, 2.0, 5.0]
        .iter()
        .flat_map(|v| v.to_le_bytes())
        .collect();
    let unaligned = " ".to_string() + &npy_header("<f4", "False", "(2, 3)");
    let unaligned = if (10 + unaligned.len()).is_multiple_of(4) {
        format!(" {unaligned}")
    } else {
        unaligned
    };
    let cases = [
        (npy_file(&aligned_header("(2, 3)"), &numbers(6)), true),
        (npy_file(&unaligned, &numbers(6)), false),
        (
            npy_file(&npy_header("<f8", "False", "(2, 3)"), &doubles),
            false,
        ),
        (
            npy_file(&npy_header(">f4", "False", "(2, 3)"), &big_endian),
            false,
        ),
        (
            npy_file(&npy_header("<f4", "True", "(2, 3)"), &by_columns),
            false,
        ),
    ];
    for (case, (bytes, mapped)) in cases.into_iter().enumerate() {
        let data = map_costs(&folder.file("costs.npy", bytes)).unwrap();
        assert_eq!(
            data.costs().as_slice(),
            [0.0, 1.0, 2.0, 3.0, 4.0, 5.0],
            "case {case}"
        );
        assert_eq!(data.costs().is_mapped(), mapped, "case {case}");
    }
}

#[test]
fn a_large_file_that_had_to_be_converted_has_a_storage_hint() {
    let folder = Folder::new();
    let count = Storage::MAP_THRESHOLD_BYTES as usize / 4;
    let header = npy_header("|u1", "False", &format!("(1, {count})"));
    let path = folder.file("costs.npy", npy_file(&header, &vec![7; count]));
    let data = npy::read_costs(&path, Storage::BySize).unwrap();
    let hint = npy::storage_hint(&path, data.costs()).unwrap();
    assert!(
        hint.contains("'|u1', C order") && hint.contains("dtype='<f4'"),
        "{hint}"
    );
    let small = folder.file(
        "small.npy",
        npy_file(&npy_header("<f8", "False", "(1, 1)"), &[0; 8]),
    );
    let data = npy::read_costs(&small, Storage::BySize).unwrap();
    assert_eq!(npy::storage_hint(&small, data.costs()), None);
}

#[test]
fn truncated_files_and_numbers_that_are_not_finite_are_refused() {
    let folder = Folder::new();
    let complete = npy_file(&aligned_header("(2, 3)"), &numbers(6));
    for length in 0..complete.len() {
        let result = map_costs(&folder.file("costs.npy", &complete[..length]));
        let error = result.err().map(|error| error.to_string()).unwrap();
        assert!(
            error.contains("costs.npy"),
            "truncated at {length}: {error}"
        );
    }
    let mut bad = complete;
    let end = bad.len();
    bad[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
    let path = folder.file("costs.npy", bad);
    let error = map_costs(&path).unwrap_err();
    let place = InputPlace::file(&path).row(1).column("2");
    assert_eq!(error.place(), Some(place), "{error}");
}

/// Maps a file of 6 numbers, changes it as another program would, and reads the numbers.
fn read_after(change: impl Fn(&Path)) -> regretless::Result<Vec<f32>> {
    let folder = Folder::new();
    let path = folder.file(
        "costs.npy",
        npy_file(&aligned_header("(2, 3)"), &numbers(6)),
    );
    let data = map_costs(&path).unwrap();
    assert!(data.costs().is_mapped() && data.costs().check_unchanged().is_ok());
    change(&path);
    data.costs().check_unchanged()?;
    Ok(data.costs().as_slice().to_vec())
}

#[test]
fn a_change_of_a_mapped_file_is_detected() {
    let longer = |path: &Path| {
        OpenOptions::new()
            .append(true)
            .open(path)
            .unwrap()
            .write_all(&[0; 4])
            .unwrap();
    };
    let touched = |path: &Path| {
        let file = OpenOptions::new().write(true).open(path).unwrap();
        file.set_modified(SystemTime::now() + Duration::from_secs(5))
            .unwrap();
    };
    let shorter = |path: &Path| {
        OpenOptions::new()
            .write(true)
            .open(path)
            .unwrap()
            .set_len(100)
            .unwrap();
    };
    let changes: [&dyn Fn(&Path); 3] = [&longer, &touched, &shorter];
    for change in changes {
        let error = read_after(change).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Data, "{error}");
        let place = error.place().unwrap();
        assert!(place.file.unwrap().ends_with("costs.npy"), "{error}");
    }
    let replaced = |path: &Path| {
        let other = path.with_extension("other");
        File::create(&other).unwrap().write_all(&[1; 500]).unwrap();
        fs::rename(other, path).unwrap();
    };
    assert_eq!(
        read_after(replaced).unwrap(),
        [0.0, 1.0, 2.0, 3.0, 4.0, 5.0],
        "the mapping keeps a file that was replaced by renaming"
    );
}

/// Appends to a file when training begins.
struct AppendWhenTrainingBegins(PathBuf);

impl Observer for AppendWhenTrainingBegins {
    fn begin(&self, task: &str, _: u64) {
        if task.starts_with("training") {
            OpenOptions::new()
                .append(true)
                .open(&self.0)
                .unwrap()
                .write_all(&[0; 4])
                .unwrap();
        }
    }
}

#[test]
fn training_stops_when_its_costs_change() {
    let folder = Folder::new();
    let (problem, features, costs) = write_benchmark(&folder, "SP3x3");
    let data = npy::read_as(&features, &costs, Storage::File).unwrap();
    let result = train(&problem, data, "MAE(O,S)", &AppendWhenTrainingBegins(costs));
    let error = result.err().map(|error| error.to_string()).unwrap();
    assert!(error.contains("changed while it was in use"), "{error}");
}
