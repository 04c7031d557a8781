//! Tasks of a public benchmark with published results: Heuton and Hughes, "Towards Better
//! Benchmarking for Decision-Aware Learning" (2026).
//!
//! A task is a folder with `features.npy`, `costs.npy` and, except for `energy`, `problem.toml`.
//! Its rows and their split are those of the published results, so that a seed changes only the
//! training. Results are comparable for the same numbers only: the values of the arrays are
//! compared with a hash.

use std::fmt;
use std::path::Path;

use crate::data::{Dataset, npy};
use crate::error::{Error, Result};
use crate::problem::ProblemSpec;

/// A task of the benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScoreboardTask {
    /// Which sites an aerial survey visits.
    Asurv,
    /// Census tracts that get speed humps.
    SpeedHumps,
    /// Generated: a path on a grid.
    SpSynth,
    /// Generated: items whose values are a cubic function.
    Cubic,
    /// Generated: a knapsack.
    Knapsack,
    /// A schedule at Irish energy prices.
    Energy,
}

impl ScoreboardTask {
    const ALL: [Self; 6] = [
        Self::Asurv,
        Self::SpeedHumps,
        Self::SpSynth,
        Self::Cubic,
        Self::Knapsack,
        Self::Energy,
    ];

    /// The task of this name, in any case.
    pub(super) fn named(text: &str) -> Option<Self> {
        let mut tasks = Self::ALL.into_iter();
        tasks.find(|task| task.name().eq_ignore_ascii_case(text))
    }

    fn name(self) -> &'static str {
        match self {
            Self::Asurv => "asurv",
            Self::SpeedHumps => "speed_humps",
            Self::SpSynth => "sp_synth",
            Self::Cubic => "cubic",
            Self::Knapsack => "knapsack",
            Self::Energy => "energy",
        }
    }

    /// Whether the arrays are in `testdata/scoreboard` of the repository: those of real tables are
    /// not.
    pub(super) fn is_bundled(self) -> bool {
        match self {
            Self::SpSynth | Self::Cubic | Self::Knapsack => true,
            Self::Asurv | Self::SpeedHumps | Self::Energy => false,
        }
    }

    /// Where the numbers come from, for users who lack them.
    fn origin(self) -> &'static str {
        match self {
            Self::Asurv => "openpto/data/asurv of github.com/tufts-ml/DecisionAwareBenchmarking",
            Self::SpeedHumps => {
                "openpto/data/speed_humps of github.com/tufts-ml/DecisionAwareBenchmarking"
            }
            Self::SpSynth | Self::Cubic | Self::Knapsack => {
                "testdata/scoreboard of the regretless repository"
            }
            Self::Energy => {
                "the archive that openpto/data/README.md of \
                 github.com/tufts-ml/DecisionAwareBenchmarking names"
            }
        }
    }

    /// The hash of the arrays of the published results, by [`hash_of_values`].
    fn expected_hash(self) -> &'static str {
        match self {
            Self::Asurv => "0c493c58115ba97b",
            Self::SpeedHumps => "ac06f331dd72a759",
            Self::SpSynth => "5e467f26064eed03",
            Self::Cubic => "e62fae5a10a4cfae",
            Self::Knapsack => "40de07105589ddb2",
            Self::Energy => "a02e752c7b593c9b",
        }
    }

    /// Reads the arrays from the folder of the task within `folder`.
    ///
    /// # Errors
    /// When a file is missing or cannot be used, or the numbers are not those of the published
    /// results.
    pub(super) fn read_data(self, folder: Option<&Path>) -> Result<Dataset> {
        let features = self.file(folder, "features.npy")?;
        let costs = self.file(folder, "costs.npy")?;
        let data = npy::read(&features, &costs)?;
        let found = hash_of_values(&data);
        if found != self.expected_hash() {
            let message = format!(
                "{self}: the numbers in {} are not those of the published results (hash {found}, \
                 not {})",
                features.display(),
                self.expected_hash()
            );
            return Err(Error::setting(message).with_remedy(format!(
                "make features.npy and costs.npy from {}, as docs/experiments.md describes",
                self.origin()
            )));
        }
        Ok(data)
    }

    /// Reads the problem; that of `energy` is a load file of the Irish energy data instead.
    ///
    /// # Errors
    /// When the file is missing or describes no problem.
    pub(super) fn read_problem(self, folder: Option<&Path>) -> Result<ProblemSpec> {
        ProblemSpec::read(&self.file(folder, "problem.toml")?)
    }

    /// A file of the task.
    fn file(self, folder: Option<&Path>, name: &str) -> Result<std::path::PathBuf> {
        let wanted = format!("{self}/{name}");
        let path = folder.map(|folder| folder.join(&wanted));
        path.filter(|path| path.exists()).ok_or_else(|| {
            let place = folder.map_or_else(
                || "no folder of scoreboard data is given".to_string(),
                |folder| format!("{} has none", folder.display()),
            );
            let files = if self == Self::Energy {
                "features.npy and costs.npy"
            } else {
                "features.npy, costs.npy and problem.toml"
            };
            Error::setting(format!("{self} needs {wanted}; {place}")).with_remedy(format!(
                "set `scoreboard` to a folder in which the folder {self} has {files}; the numbers \
                 are in {}, docs/experiments.md describes the arrays",
                self.origin()
            ))
        })
    }
}

impl fmt::Display for ScoreboardTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A hash of the shape and the numbers of a table in single precision, so that it does not depend
/// on the number format of the files.
fn hash_of_values(data: &Dataset) -> String {
    let mut hasher = blake3::Hasher::new();
    for matrix in [data.features().values(), data.costs()] {
        for size in [matrix.rows(), matrix.cols()] {
            hasher.update(&(size as u64).to_le_bytes());
        }
        for value in matrix.as_slice() {
            hasher.update(&value.to_le_bytes());
        }
    }
    hasher.finalize().to_hex()[..16].to_string()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::ScoreboardTask;
    use crate::experiment::{Experiment, MeanAndDeviation};
    use crate::tests::common::reference_data;

    #[test]
    fn bundled_tasks_are_read_and_checked() {
        let folder = reference_data().join("scoreboard");
        for (task, rows, costs) in [
            (ScoreboardTask::SpSynth, 10_400, 40),
            (ScoreboardTask::Cubic, 650, 50),
            (ScoreboardTask::Knapsack, 600, 20),
        ] {
            assert!(task.is_bundled());
            let data = task.read_data(Some(&folder)).unwrap();
            assert_eq!((data.len(), data.costs().cols()), (rows, costs), "{task}");
            task.read_problem(Some(&folder)).unwrap();
        }
    }

    #[test]
    fn published_regrets_are_those_of_the_reference_data() {
        let text = Experiment::built_in("scoreboard").unwrap();
        let experiment: Experiment = toml::from_str(text).unwrap();
        experiment.check().unwrap();
        let file = reference_data().join("scoreboard/published.csv");
        let csv = std::fs::read_to_string(file).unwrap();
        let mut compared = 0;
        for line in csv.lines().skip(1) {
            let fields: Vec<&str> = line.split(',').collect();
            let numbers: Vec<f64> = fields[2..]
                .iter()
                .filter_map(|field| field.parse().ok())
                .collect();
            let (mean, sd, values) = (numbers[0], numbers[1], &numbers[2..]);
            let published = &experiment.published_regrets[fields[0]][fields[1]];
            assert_eq!(published, values, "{line}");
            let spread = MeanAndDeviation::of(published);
            assert!((spread.mean.unwrap() - mean).abs() < 6e-7, "{line}");
            assert!((spread.sd.unwrap_or(0.0) - sd).abs() < 6e-7, "{line}");
            compared += 1;
        }
        let known = experiment.published_regrets.values();
        assert_eq!(known.map(|methods| methods.len()).sum::<usize>(), compared);
        assert_eq!(compared, 92);
    }

    #[test]
    fn every_method_but_auto_is_run_with_each_predictor() {
        let text = Experiment::built_in("scoreboard").unwrap();
        let mut experiment: Experiment = toml::from_str(text).unwrap();
        let methods: Vec<_> = experiment.methods().collect();
        assert_eq!(methods.len(), 1 + 6 * 2);
        assert_eq!(experiment.predictor_of(&methods[0]), None, "auto is free");
        assert_eq!(methods[2].name, "MSE, mlp:64");
        let network = "mlp:64".parse().unwrap();
        assert_eq!(experiment.predictor_of(&methods[2]), Some(network));
        experiment.predictor = Some("linear".parse().unwrap());
        let forced = experiment.predictor_of(&methods[0]);
        assert_eq!(forced, experiment.predictor);
        experiment.set_methods(vec!["SPO+".parse().unwrap()]);
        assert_eq!(experiment.reference, "SPO+, linear");
        experiment.check().unwrap();
    }

    #[test]
    fn other_numbers_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("cubic")).unwrap();
        for file in ["features.npy", "costs.npy"] {
            let from = reference_data().join("scoreboard/cubic").join(file);
            let mut bytes = std::fs::read(from).unwrap();
            if file == "costs.npy" {
                let last = bytes.len() - 1;
                bytes[last] ^= 1;
            }
            std::fs::write(folder.path().join("cubic").join(file), bytes).unwrap();
        }
        let error = ScoreboardTask::Cubic.read_data(Some(folder.path()));
        let error = error.unwrap_err().to_string();
        assert!(error.contains("not those of the published"), "{error}");
    }

    #[test]
    fn a_missing_folder_is_named_with_its_origin() {
        let folder = Path::new("nowhere");
        for (given, place) in [(None, "no folder"), (Some(folder), "nowhere has none")] {
            let error = ScoreboardTask::Asurv.read_data(given);
            let error = error.unwrap_err().to_string();
            for part in ["asurv/features.npy", place, "openpto/data/asurv"] {
                assert!(error.contains(part), "{part}: {error}");
            }
        }
    }
}
