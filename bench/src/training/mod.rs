//! Training suite: epochs of losses without solver calls, next to torch, two threads each.
//!
//! Both train on the same arrays from the same parameters with the same batches, so that their
//! losses can be compared epoch by epoch. Ours is the public `train` call, whose report has the
//! time of every epoch. Torch is timed as usually written (`eager`) and as well as we could write
//! it (`best`), with the default memory allocator and with one that keeps its pages.

use std::fs;

use regretless::{Error, Result};
use serde::Deserialize;
use serde_json::json;

mod case;
mod ours;
mod roofline;

use case::TrainingCase;

use crate::args::Cli;
use crate::epochs::{BATCH_SIZE, Epochs};
use crate::machine::Machine;
use crate::peer::Peer;
use crate::report::{Report, ReportTable};
use crate::statistics::{milliseconds, ratio};

/// Makes glibc keep the pages of freed arrays.
const KEEP_PAGES: [(&str, &str); 2] = [
    ("MALLOC_MMAP_THRESHOLD_", "4294967296"),
    ("MALLOC_TRIM_THRESHOLD_", "17179869184"),
];
/// Tolerated relative difference of losses: single precision, different orders of summation.
const LOSS_TOLERANCE: f64 = 2e-3;

#[derive(Debug, Deserialize)]
struct TorchAnswer {
    version: String,
    runs: Vec<Epochs>,
}

/// Runs the suite.
///
/// # Errors
/// When training fails or a file cannot be written.
pub fn run_suite(cli: &Cli) -> Result<Report> {
    let mut report = Report::default();
    let before = Machine::measure(cli.threads, cli.smoke);
    let title = format!(
        "Training: milliseconds per epoch, batch 32, Adam, {} threads each (least; ratios of \
            least)",
        cli.threads
    );
    let heading = [
        "model",
        "loss",
        "d",
        "n",
        "ours",
        "ours, median",
        "limit",
        "of limit",
        "torch eager",
        "×",
        "torch eager, pages kept",
        "×",
        "torch best, pages kept",
        "×",
        "losses",
    ];
    let mut table = ReportTable::new(title, &heading);
    let mut all = Vec::new();
    for case in TrainingCase::all(cli.smoke)
        .into_iter()
        .filter(|case| cli.wants(&case.name()))
    {
        eprintln!("bench: {}", case.name());
        let found = TrainingMeasurement::measure(cli, &case)?;
        eprintln!("bench: {}", found.row(&case, &before).join(" | "));
        found
            .torch_version
            .iter()
            .for_each(|version| note_once(&mut report, &format!("torch {version}")));
        all.push((case, found));
    }
    // Other programs only slow a machine down: its limits are the higher of both measurements.
    let machine = before.max_with(Machine::measure(cli.threads, cli.smoke));
    for (case, found) in &all {
        table.row(found.row(case, &machine));
        report.raw.push(found.raw(case, &machine));
    }
    report.tables.push(table);
    report.notes.push(machine.describe());
    report.notes.extend(NOTES.map(String::from));
    Ok(report)
}

const NOTES: [&str; 5] = [
    "ours: the public train call, time of an epoch from its report, parameters copied out after \
        each epoch as every run does",
    "torch eager: formula with masks, default Adam; torch best: relu form, constants precomputed, \
        fused Adam",
    "pages kept: MALLOC_MMAP_THRESHOLD_ and MALLOC_TRIM_THRESHOLD_ raised, so that glibc does not \
        give arrays back",
    "limit: the longer of arithmetic at the multiply-add peak and, where the data outgrow the \
        cache, traffic at the bandwidth of the Adam mix",
    "losses: ok where the mean training loss of every epoch that both ran agrees to 0.2 %",
];

fn note_once(report: &mut Report, note: &str) {
    if !report.notes.iter().any(|known| known == note) {
        report.notes.push(note.to_owned());
    }
}

/// Everything measured on one case.
struct TrainingMeasurement {
    ours: Epochs,
    torch: Vec<Epochs>,
    torch_version: Option<String>,
}

impl TrainingMeasurement {
    fn measure(cli: &Cli, case: &TrainingCase) -> Result<Self> {
        let data = case.generate()?;
        let ours = ours::epochs(case, &data, cli.threads)?;
        let folder = cli.folder()?.join("work");
        fs::create_dir_all(&folder).map_err(Error::io(&folder))?;
        let mut found = Self {
            ours,
            torch: Vec::new(),
            torch_version: None,
        };
        if !cli.no_peers {
            data.write(case, &folder)?;
            found.run_torch(cli, case, &folder)?;
            // Once more after torch, so that both had their chance at a quiet moment.
            found
                .ours
                .add_times(ours::epochs(case, &data, cli.threads)?);
            fs::remove_dir_all(&folder).map_err(Error::io(&folder))?;
        }
        Ok(found)
    }

    fn run_torch(
        &mut self,
        cli: &Cli,
        case: &TrainingCase,
        folder: &std::path::Path,
    ) -> Result<()> {
        for (environment, forms, suffix) in [
            (&[][..], &["eager"][..], ""),
            (&KEEP_PAGES[..], &["eager", "best"][..], ", pages kept"),
        ] {
            let job = json!({
                "folder": folder,
                "forms": forms,
                "threads": cli.threads,
                "epochs": case.torch_epochs,
                "batch_size": BATCH_SIZE,
                "learning_rate": case::LEARNING_RATE,
                "loss": case.loss,
                "hidden": case.hidden,
                "shared": case.shared,
            });
            let peer = Peer {
                script: "torch_training",
                environment,
            };
            let Some(answer) = peer.run::<TorchAnswer>(cli, folder, &job)? else {
                break;
            };
            self.torch_version = Some(answer.version);
            self.torch.extend(answer.runs.into_iter().map(|run| Epochs {
                form: run.form + suffix,
                ..run
            }));
        }
        Ok(())
    }

    fn row(&self, case: &TrainingCase, machine: &Machine) -> Vec<String> {
        let ours = &self.ours.wall;
        let limit = roofline::seconds(case, machine);
        let mut cells = vec![
            case.model(),
            case.loss.to_owned(),
            case.costs.to_string(),
            case.instances.to_string(),
            milliseconds(ours.least()),
            milliseconds(ours.median()),
            milliseconds(limit),
            format!("{:.0} %", 100.0 * limit / ours.least()),
        ];
        for form in ["eager", "eager, pages kept", "best, pages kept"] {
            let run = self.torch.iter().find(|run| run.form == form);
            let theirs = run.map_or(f64::NAN, |run| run.wall.least());
            cells.extend([milliseconds(theirs), ratio(theirs, ours.least())]);
        }
        cells.push(self.agreement());
        cells
    }

    /// Whether the losses of all programs agree.
    fn agreement(&self) -> String {
        let worst = self
            .torch
            .iter()
            .map(|run| run.difference(&self.ours))
            .reduce(f64::max);
        match worst {
            None => String::new(),
            Some(worst) if worst <= LOSS_TOLERANCE => "ok".into(),
            Some(worst) => format!("differ by {:.2} %", 100.0 * worst),
        }
    }

    fn raw(&self, case: &TrainingCase, machine: &Machine) -> serde_json::Value {
        json!({
            "case": case.name(), "machine": machine, "limit": roofline::seconds(case, machine),
            "runs": std::iter::once(&self.ours).chain(&self.torch).collect::<Vec<_>>(),
        })
    }
}
