//! Method suite: epochs of losses that solve the problem for every row, next to PyEPO with
//! Gurobi.
//!
//! Both train a linear model on the same table from the same parameters, with the same batches of
//! 32 rows and Adam. SPO+ is deterministic, so that losses must agree epoch by epoch; PFYL draws
//! different noise on each side, so that the models are compared by the regret on test rows.

use std::fs;
use std::path::Path;

use regretless::{Error, Result};
use serde::Deserialize;
use serde_json::{Value, json};

mod case;
mod ours;

use case::{LEARNING_RATE, Method, MethodCase, MethodTable as Rows};

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
struct PyepoAnswer {
    version: String,
    runs: Vec<MethodRun>,
}

/// A method trained by one program.
#[derive(Debug, Deserialize, serde::Serialize)]
pub struct MethodRun {
    /// Times and losses; the form is the name of the method.
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
        "ours, 1 thread",
        "ours, 2 threads (wall)",
        "PyEPO",
        "×",
        "PyEPO (wall)",
        "× 2 threads",
        "regret, ours",
        "regret, PyEPO",
        "losses",
    ];
    let title = "Methods: milliseconds per epoch, processor time unless wall is written (medians; \
        wall: least)";
    let mut table = ReportTable::new(title, &heading);
    let mut goals = ReportTable::new(
        "Goals: times as fast as PyEPO, one thread",
        &["problem", "method", "goal", "reached", "met"],
    );
    let mut report = Report::default();
    let mut versions = Vec::new();
    for case in MethodCase::all(cli.smoke)?
        .into_iter()
        .filter(|case| !case.methods(cli).is_empty())
    {
        eprintln!("bench: {}", case.name());
        let found = MethodMeasurement::measure(cli, &case)?;
        found.rows(&case, &mut table);
        found.goals(&case, &mut goals);
        report.raw.push(found.raw(&case));
        versions.extend(found.version);
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
    "both: linear model, the same first parameters and batches, Adam with rate 0.01, no validation \
        during the epochs",
    "PyEPO: processes=1, torch and Gurobi on one thread each, DataLoader as in its tutorial; \
        labels are not part of the time",
    "losses: ok where the mean training loss of SPO+ agrees to 1 % in every epoch (best decisions \
        that are tied differ between solvers)",
    "regret: of the last epoch on the test rows, divided by the sum of best objectives; PFYL draws \
        other noise on each side",
];

/// Everything measured on one problem.
struct MethodMeasurement {
    /// On one thread.
    single: Vec<MethodRun>,
    /// On two threads.
    double: Vec<MethodRun>,
    pyepo: Vec<MethodRun>,
    version: Option<String>,
}

impl MethodMeasurement {
    fn measure(cli: &Cli, case: &MethodCase) -> Result<Self> {
        let rows = Rows::generate(case)?;
        let methods = case.methods(cli);
        let single = ours::runs(case, &rows, &methods, 1)?;
        let double = ours::runs(case, &rows, &methods, 2)?;
        let answer = if cli.no_peers {
            None
        } else {
            run_pyepo(cli, case, &rows, &methods)?
        };
        let (version, pyepo) = answer.map_or((None, Vec::new()), |answer| {
            (Some(answer.version), answer.runs)
        });
        Ok(Self {
            single,
            double,
            pyepo,
            version,
        })
    }

    fn rows(&self, case: &MethodCase, table: &mut ReportTable) {
        for (index, (one, two)) in self.single.iter().zip(&self.double).enumerate() {
            let (ours, both) = (one.epochs.cpu.median(), two.epochs.wall.least());
            let theirs = self.pyepo.get(index);
            let [cpu, wall] = theirs.map_or([f64::NAN; 2], |run| {
                [run.epochs.cpu.median(), run.epochs.wall.least()]
            });
            table.row(vec![
                case.name(),
                one.epochs.form.clone(),
                milliseconds(ours),
                milliseconds(both),
                milliseconds(cpu),
                ratio(cpu, ours),
                milliseconds(wall),
                ratio(wall, both),
                format!("{:.4}", one.regret),
                theirs.map_or_else(String::new, |run| format!("{:.4}", run.regret)),
                theirs.map_or_else(String::new, |run| agreement(&one.epochs, &run.epochs)),
            ]);
        }
    }

    fn goals(&self, case: &MethodCase, table: &mut ReportTable) {
        let goal = SPEEDUP_GOALS.iter().find(|(name, _)| *name == case.name());
        let Some((name, goal)) = goal else { return };
        for (ours, theirs) in self.single.iter().zip(&self.pyepo) {
            let reached = theirs.epochs.cpu.median() / ours.epochs.cpu.median();
            let met = if reached >= *goal { "yes" } else { "no" };
            let method = ours.epochs.form.clone();
            table.row(vec![
                (*name).to_owned(),
                method,
                format!("{goal}×"),
                ratio(reached, 1.0),
                met.to_owned(),
            ]);
        }
    }

    fn raw(&self, case: &MethodCase) -> Value {
        json!({
            "case": case.name(),
            "ours, 1 thread": self.single,
            "ours, 2 threads": self.double,
            "PyEPO": self.pyepo,
        })
    }
}

fn agreement(ours: &Epochs, theirs: &Epochs) -> String {
    let worst = theirs.difference(ours);
    if theirs.form != "SPO+" {
        String::new()
    } else if worst <= LOSS_TOLERANCE {
        "ok".into()
    } else {
        format!("differ by {:.2} %", 100.0 * worst)
    }
}

fn run_pyepo(
    cli: &Cli,
    case: &MethodCase,
    rows: &Rows,
    methods: &[&Method],
) -> Result<Option<PyepoAnswer>> {
    let folder = cli.folder()?.join(case.name());
    fs::create_dir_all(&folder).map_err(Error::io(&folder))?;
    rows.write(case, &folder)?;
    let mut jobs = Vec::new();
    for method in methods {
        jobs.push(json!({
            "name": method.name,
            "samples": method.samples,
            "epochs": case.epochs_of(method),
        }));
    }
    let job = json!({
        "folder": Path::new(&folder),
        "problem": rows.problem,
        "methods": jobs,
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
