//! A training interrupted after a checkpoint resumes and ends with the same bytes.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use regretless::Error;
use regretless::checkpoint::CheckpointFolder;
use regretless::data::{Dataset, FeatureShape, Features, Matrix};
use regretless::method::Method;
use regretless::observer::Observer;
use regretless::problem::{ProblemSpec, Sense, TopK};
use regretless::settings::{SelectionCriterion, TrainingSettings};
use regretless::train::TrainingContext;
use regretless::trainer::{Trainer, TrainingOutcome};

use crate::tests::fixture::TrainingFixture;

/// Time of an epoch: checkpoints take a small part of the time, so epochs of microseconds would
/// have few.
const EPOCH_TIME: Duration = Duration::from_millis(2);

/// Interrupts a training as soon as its checkpoint has these words in its header.
struct CheckpointObserver<'a> {
    checkpoint: PathBuf,
    words: &'a str,
    is_interrupting: AtomicBool,
    /// Epoch at which the training starts.
    first_epoch: OnceLock<u64>,
}

impl Observer for CheckpointObserver<'_> {
    fn advance(&self, steps: u64) {
        self.first_epoch.get_or_init(|| steps);
        std::thread::sleep(EPOCH_TIME);
        let bytes = fs::read(&self.checkpoint).unwrap_or_default();
        // The header is JSON within JSON.
        let header = String::from_utf8_lossy(&bytes).replace('\\', "");
        if header.contains(self.words) {
            self.is_interrupting.store(true, Ordering::Relaxed);
        }
    }

    fn interrupted(&self) -> bool {
        self.is_interrupting.load(Ordering::Relaxed)
    }
}

/// Trains with checkpoints in this folder. Returns the result and the epoch at which it started.
fn train(
    fixture: &TrainingFixture,
    trainer: &Trainer,
    folder: &Path,
    words: &str,
) -> (Result<TrainingOutcome, Error>, u64) {
    let checkpoints =
        CheckpointFolder::for_model(&folder.join("m.safetensors")).with_interval(Duration::ZERO);
    let observer = CheckpointObserver {
        checkpoint: checkpoints.folder().join("epoch.safetensors"),
        words,
        is_interrupting: AtomicBool::new(false),
        first_epoch: OnceLock::new(),
    };
    let context = TrainingContext {
        observer: &observer,
        ..fixture.context()
    };
    let result = trainer.train(&context, &fixture.problem, Some(&checkpoints));
    (result, *observer.first_epoch.get().unwrap())
}

/// Interrupts the training when the checkpoint has these words, and resumes it.
fn check_resumed(fixture: &TrainingFixture, trainer: &Trainer, words: &str) {
    let whole = fixture.run(trainer).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (interrupted, first_epoch) = train(fixture, trainer, folder.path(), words);
    assert!(
        matches!(interrupted, Err(Error::Interrupted)),
        "no checkpoint with {words}"
    );
    assert_eq!(first_epoch, 0);
    let (resumed, first_epoch) = train(fixture, trainer, folder.path(), "never in a header");
    let resumed = resumed.unwrap();
    assert!(first_epoch > 0, "started from the beginning");
    assert!(
        whole.model.to_bytes().unwrap() == resumed.model.to_bytes().unwrap(),
        "resumed after epoch {first_epoch}"
    );
    for (whole, resumed) in whole.report.rounds.iter().zip(&resumed.report.rounds) {
        let losses = |round: &regretless::report::RoundReport| {
            let losses = round.epochs.iter().map(|epoch| epoch.training_loss);
            losses.collect::<Vec<_>>()
        };
        assert_eq!(losses(whole), losses(resumed));
    }
}

fn trainer(method: &str, settings: TrainingSettings) -> Trainer {
    Trainer::new(method.parse::<Method>().unwrap()).settings(settings)
}

#[test]
fn a_training_with_few_rows_per_epoch_resumes_with_the_same_bytes() {
    let fixture = TrainingFixture::grid_paths(1);
    for method in ["MSE", "MAE(O,S)", "SPO+", "SPO+ cache 50%"] {
        let settings = TrainingSettings {
            epochs: 60,
            rows_per_epoch: Some(13),
            batch_size: 5,
            ..TrainingSettings::default()
        };
        check_resumed(&fixture, &trainer(method, settings), "\"epoch\":");
    }
}

/// Costs that are linear in the features, so squared errors vanish.
fn linear_table() -> TrainingFixture {
    let (rows, items) = (60, 20);
    let value = |i: usize| (i as f32 * 0.37).sin();
    let features: Vec<f32> = (0..2 * rows).map(|i| value(3 * i + 1)).collect();
    let mut costs = Vec::with_capacity(rows * items);
    for x in features.chunks(2) {
        costs.extend((0..items).map(|item| 5.0 + value(item) * x[0] - value(7 * item) * x[1]));
    }
    let features = Matrix::new(rows, 2, features).unwrap();
    let features = Features::new(features, FeatureShape::Wide, None).unwrap();
    let data = Dataset::new(features, Matrix::new(rows, items, costs).unwrap(), None).unwrap();
    let problem = ProblemSpec::TopK(TopK::new(items, 3, Sense::Minimize).unwrap());
    TrainingFixture::new(problem, data, [40, 10, 10], 1)
}

/// Once squared errors are too small for their expanded form, they are computed from predictions,
/// which rounds differently: a resumed training must not go back.
#[test]
fn a_training_that_left_expanded_squares_resumes_with_the_same_bytes() {
    let settings = TrainingSettings {
        epochs: 300,
        learning_rate: 0.02,
        select: SelectionCriterion::Last,
        ..TrainingSettings::default()
    };
    let trainer = trainer("MSE", settings);
    check_resumed(&linear_table(), &trainer, "\"expansion_is_accurate\":false");
}
