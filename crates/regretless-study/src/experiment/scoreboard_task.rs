//! Tasks of a public benchmark with published results: Heuton and Hughes, "Towards Better
//! Benchmarking for Decision-Aware Learning" (2026).
//!
//! The data of a task are a folder with `features.npy` and `costs.npy`. Rows and their split are
//! those of the published results, so a seed changes only the training. Results are comparable for
//! the same numbers only: the values of the arrays are compared with a hash.

use std::fmt;
use std::path::PathBuf;

use regretless::data::{Dataset, npy};
use regretless::problem::ProblemSpec;
use regretless_base::error::{Error, Result};

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

    /// The problem as in a problem file; that of `energy` is a load file of the Irish energy data
    /// instead.
    fn problem_toml(self) -> Option<&'static str> {
        match self {
            Self::Asurv => Some("kind = 'top_k'\nitems = 1338\nk = 50\nsense = 'maximize'"),
            Self::SpeedHumps => Some("kind = 'top_k'\nitems = 2107\nk = 107\nsense = 'maximize'"),
            Self::SpSynth => Some("kind = 'grid_path'\ngrid = [5, 5]"),
            Self::Cubic => Some("kind = 'top_k'\nitems = 50\nk = 5\nsense = 'maximize'"),
            Self::Knapsack => Some(
                "kind = 'knapsack'\ncapacity = [30.0]\nweights = [[6.43, 3.25, 7.54, 4.83, 7.17, \
                 5.20, 3.03, 6.72, 3.52, 7.70, 6.57, 7.80, 5.78, 7.01, 5.39, 7.37, 7.31, 6.33, \
                 3.39, 7.53]]",
            ),
            Self::Energy => None,
        }
    }

    /// The problem; none for `energy`, whose schedule is in another file.
    ///
    /// # Errors
    /// Never: the texts are tested.
    pub(super) fn problem(self) -> Result<Option<ProblemSpec>> {
        self.problem_toml().map(ProblemSpec::from_toml).transpose()
    }

    /// Reads the arrays from the folder of the task in the first of these folders that has it.
    ///
    /// # Errors
    /// When a file is missing or cannot be used, or the numbers are not those of the published
    /// results.
    pub(super) fn read_data(self, folders: &[PathBuf]) -> Result<Dataset> {
        let features = self.file(folders, "features.npy")?;
        let data = npy::read(&features, &self.file(folders, "costs.npy")?)?;
        let found = hash_of_values(&data);
        if found != self.expected_hash() {
            let message = format!(
                "{self}: the numbers in {} are not those of the published results (hash {found}, \
                 not {})",
                features.display(),
                self.expected_hash()
            );
            return Err(Error::setting(message).with_remedy(format!(
                "make features.npy and costs.npy from {}, as docs/how-to/experiments.md describes",
                self.origin()
            )));
        }
        Ok(data)
    }

    /// A file of the task.
    fn file(self, folders: &[PathBuf], name: &str) -> Result<PathBuf> {
        let wanted = format!("{self}/{name}");
        let mut paths = folders.iter().map(|folder| folder.join(&wanted));
        paths.find(|path| path.exists()).ok_or_else(|| {
            let place = match folders {
                [] => "no folder of scoreboard data is given".to_string(),
                [first, ..] => format!("{} has none", first.display()),
            };
            Error::setting(format!("{self} needs {wanted}; {place}")).with_remedy(format!(
                "set `scoreboard` to a folder in which the folder {self} has features.npy and \
                 costs.npy; the numbers are in {}, docs/how-to/experiments.md describes the arrays",
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

/// A hash of the shape and the numbers of a table in single precision, so it does not depend on the
/// number format of the files.
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
    use std::path::PathBuf;

    use super::ScoreboardTask;
    use crate::experiment::{Experiment, MeanAndDeviation};
    use crate::tests::reference_data;

    #[test]
    fn bundled_tasks_are_read_and_checked() {
        let folder = reference_data().join("scoreboard");
        for (task, rows, costs) in [
            (ScoreboardTask::SpSynth, 10_400, 40),
            (ScoreboardTask::Cubic, 650, 50),
            (ScoreboardTask::Knapsack, 600, 20),
        ] {
            assert!(task.is_bundled());
            let folders = [PathBuf::from("elsewhere"), folder.clone()];
            let data = task.read_data(&folders).unwrap();
            assert_eq!((data.len(), data.costs().cols()), (rows, costs), "{task}");
        }
    }

    #[test]
    fn every_task_but_energy_has_a_problem() {
        for (task, costs) in [
            (ScoreboardTask::Asurv, 1338),
            (ScoreboardTask::SpeedHumps, 2107),
            (ScoreboardTask::SpSynth, 40),
            (ScoreboardTask::Cubic, 50),
            (ScoreboardTask::Knapsack, 20),
        ] {
            let spec = task.problem().unwrap().unwrap();
            let problem = regretless::problem::Problem::from_spec(spec).unwrap();
            assert_eq!(problem.kind().num_costs(), costs, "{task}");
        }
        assert!(ScoreboardTask::Energy.problem().unwrap().is_none());
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
        assert_eq!(methods.len(), 2 + 6 * 2);
        assert_eq!(experiment.predictor_of(&methods[0]), None, "auto is free");
        let linear = "linear".parse().unwrap();
        assert_eq!(
            experiment.predictor_of(&methods[1]),
            Some(linear),
            "auto, linear"
        );
        assert_eq!(methods[3].name, "MSE, mlp:64");
        let network = "mlp:64".parse().unwrap();
        assert_eq!(experiment.predictor_of(&methods[3]), Some(network));
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
        let error = ScoreboardTask::Cubic.read_data(&[folder.path().into()]);
        let error = error.unwrap_err().to_string();
        assert!(error.contains("not those of the published"), "{error}");
    }

    #[test]
    fn a_missing_folder_is_named_with_its_origin() {
        let folder = PathBuf::from("nowhere");
        for (given, place) in [(vec![], "no folder"), (vec![folder], "nowhere has none")] {
            let error = ScoreboardTask::Asurv.read_data(&given);
            let error = error.unwrap_err().to_string();
            for part in ["asurv/features.npy", place, "openpto/data/asurv"] {
                assert!(error.contains(part), "{part}: {error}");
            }
        }
    }
}
