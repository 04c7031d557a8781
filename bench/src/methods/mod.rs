//! Method suite: epochs of losses that solve the problem for every row, compared with PyEPO with
//! Gurobi.
//!
//! Both train a linear model on the same table from the same parameters, with the same batches of
//! 32 rows and Adam. SPO+ is deterministic, so losses must agree epoch by epoch. For PFYL the two
//! programs draw different noise, so the models are compared by the regret on test rows.

use std::fs;
use std::path::Path;

use regretless::{Error, Result};
use serde::Deserialize;
use serde_json::{Value, json};

mod case;
mod ours;

use case::{LEARNING_RATE, Method, MethodCase, MethodTable};

use crate::args::Cli;
use crate::epochs::{BATCH_SIZE, Epochs};
use crate::peer::Peer;
use crate::report::{Report, ReportTable};
use crate::statistics::{milliseconds, ratio};

/// Goals of the project: minimum speedup over PyEPO, on one thread.
const SPEEDUP_GOALS: [(&str, f64); 3] = [("SP5x5", 100.0), ("KS32", 100.0), ("TSP20", 15.0)];
/// Tolerated relative difference of SPO+ losses: solvers break ties differently, and sums are
/// computed in different orders.
const LOSS_TOLERANCE: f64 = 1e-2;

#[derive(Debug, Deserialize)]
struct PyepoResponse {
    version: String,
    runs: Vec<MethodRun>,
}

/// A method trained by one program.
#[derive(Debug, Deserialize, serde::Serialize)]
pub struct MethodRun {
    /// Times and losses; the name is that of the method.
    #[serde(flatten)]
    epochs: Epochs,
    /// Normalized regret on the test rows.
    regret: f64,
}

/// Runs the suite.
///
/// # Errors
/// When training fails or a file cannot be written.
pub fn run_suite(cli: &Cli) -> Result<Report> {
    let heading = [
        "problem",
        "method",
        "regretless, 1 thread",
        "regretless, 2 threads (wall)",
        "PyEPO",
        "speedup",
        "PyEPO (wall)",
        "speedup, 2 threads (wall)",
        "regret, regretless",
        "regret, PyEPO",
        "losses",
    ];
    let title = "Methods: milliseconds per epoch: median CPU time, or minimum wall-clock time in \
        columns marked 'wall'";
    let mut table = ReportTable::new(title, &heading);
    let mut goals = ReportTable::new(
        "Goals: speedup over PyEPO, one thread",
        &["problem", "method", "goal", "reached", "met"],
    );
    let mut report = Report::default();
    let mut versions = Vec::new();
    for case in MethodCase::all(cli.smoke)?
        .into_iter()
        .filter(|case| !case.methods(cli).is_empty())
    {
        eprintln!("bench: {}", case.name());
        let measurement = MethodMeasurement::measure(cli, &case)?;
        measurement.add_rows(&case, &mut table);
        measurement.add_goals(&case, &mut goals);
        report.raw.push(measurement.to_json(&case));
        versions.extend(measurement.version);
    }
    report.tables.push(table);
    if let Some(version) = versions.first() {
        report.tables.push(goals);
        report.notes.push(version.clone());
    }
    report.notes.extend(NOTES.map(String::from));
    Ok(report)
}

const NOTES: [&str; 4] = [
    "both: linear model, the same initial parameters and batches, Adam with learning rate 0.01, no \
        validation during the epochs",
    "PyEPO: processes=1, torch and Gurobi on one thread each, DataLoader as in its tutorial; \
        labeling is not timed",
    "losses: ok where the mean training loss of SPO+ agrees to 1 % in every epoch (tied optimal \
        decisions differ between solvers)",
    "regret: of the last epoch on the test rows, divided by the sum of optimal objectives; for \
        PFYL the two programs draw different noise",
];

/// Everything measured on one problem.
struct MethodMeasurement {
    one_thread: Vec<MethodRun>,
    two_threads: Vec<MethodRun>,
    pyepo: Vec<MethodRun>,
    version: Option<String>,
}

impl MethodMeasurement {
    fn measure(cli: &Cli, case: &MethodCase) -> Result<Self> {
        let table = MethodTable::generate(case)?;
        let methods = case.methods(cli);
        let one_thread = ours::runs(case, &table, &methods, 1)?;
        let two_threads = ours::runs(case, &table, &methods, 2)?;
        let response = if cli.no_peers {
            None
        } else {
            run_pyepo(cli, case, &table, &methods)?
        };
        let (version, pyepo) = response.map_or((None, Vec::new()), |response| {
            (Some(response.version), response.runs)
        });
        Ok(Self {
            one_thread,
            two_threads,
            pyepo,
            version,
        })
    }

    fn add_rows(&self, case: &MethodCase, table: &mut ReportTable) {
        let runs = self.one_thread.iter().zip(&self.two_threads);
        for (index, (one_thread, two_threads)) in runs.enumerate() {
            let our_cpu = one_thread.epochs.cpu.median();
            let our_wall = two_threads.epochs.wall.min();
            let pyepo = self.pyepo.get(index);
            let their_cpu = pyepo.map_or(f64::NAN, |run| run.epochs.cpu.median());
            let their_wall = pyepo.map_or(f64::NAN, |run| run.epochs.wall.min());
            table.row(vec![
                case.name(),
                one_thread.epochs.name.clone(),
                milliseconds(our_cpu),
                milliseconds(our_wall),
                milliseconds(their_cpu),
                ratio(their_cpu, our_cpu),
                milliseconds(their_wall),
                ratio(their_wall, our_wall),
                format!("{:.4}", one_thread.regret),
                pyepo.map_or_else(String::new, |run| format!("{:.4}", run.regret)),
                pyepo.map_or_else(String::new, |run| {
                    agreement(&one_thread.epochs, &run.epochs)
                }),
            ]);
        }
    }

    fn add_goals(&self, case: &MethodCase, table: &mut ReportTable) {
        let goal = SPEEDUP_GOALS.iter().find(|(name, _)| *name == case.name());
        let Some((name, goal)) = goal else { return };
        for (ours, theirs) in self.one_thread.iter().zip(&self.pyepo) {
            let speedup = theirs.epochs.cpu.median() / ours.epochs.cpu.median();
            let met = if speedup >= *goal { "yes" } else { "no" };
            let method = ours.epochs.name.clone();
            table.row(vec![
                (*name).to_owned(),
                method,
                format!("{goal}×"),
                ratio(speedup, 1.0),
                met.to_owned(),
            ]);
        }
    }

    fn to_json(&self, case: &MethodCase) -> Value {
        json!({
            "case": case.name(),
            "ours, 1 thread": self.one_thread,
            "ours, 2 threads": self.two_threads,
            "PyEPO": self.pyepo,
        })
    }
}

fn agreement(ours: &Epochs, theirs: &Epochs) -> String {
    let difference = theirs.max_relative_difference(ours);
    if theirs.name != "SPO+" {
        String::new()
    } else if difference <= LOSS_TOLERANCE {
        "ok".into()
    } else {
        format!("differ by {:.2} %", 100.0 * difference)
    }
}

fn run_pyepo(
    cli: &Cli,
    case: &MethodCase,
    table: &MethodTable,
    methods: &[&Method],
) -> Result<Option<PyepoResponse>> {
    let folder = cli.folder()?.join(case.name());
    fs::create_dir_all(&folder).map_err(Error::io(&folder))?;
    table.write(case, &folder)?;
    let mut method_entries = Vec::new();
    for method in methods {
        method_entries.push(json!({
            "name": method.name,
            "samples": method.samples,
            "epochs": case.epochs_of(method),
        }));
    }
    let job = json!({
        "folder": Path::new(&folder),
        "problem": table.problem,
        "methods": method_entries,
        "batch_size": BATCH_SIZE,
        "learning_rate": LEARNING_RATE,
        "train": case.train,
    });
    Peer {
        script: "pyepo_methods",
        environment: &[("OMP_NUM_THREADS", "1"), ("TQDM_DISABLE", "1")],
    }
    .run(cli, &folder, &job)
}
