//! Training suite: epochs of losses without solver calls, compared with torch, two threads each.
//!
//! Both train on the same arrays from the same parameters with the same batches, so their losses
//! can be compared epoch by epoch. Ours is the public `train` call, whose report has the time of
//! every epoch. Torch is timed as usually written (`eager`) and as the fastest code we could write
//! (`optimized`), with the default memory allocator and with one that keeps its pages.

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

/// Makes glibc keep the pages of freed arrays instead of returning them to the operating system.
const KEEP_PAGES: [(&str, &str); 2] = [
    ("MALLOC_MMAP_THRESHOLD_", "4294967296"),
    ("MALLOC_TRIM_THRESHOLD_", "17179869184"),
];
/// Tolerated relative difference of losses: single precision, different orders of summation.
const LOSS_TOLERANCE: f64 = 2e-3;

#[derive(Debug, Deserialize)]
struct TorchResponse {
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
        "Training: milliseconds per epoch, batch 32, Adam, {} threads each (minimum wall-clock \
            time)",
        cli.threads
    );
    let heading = [
        "model",
        "loss",
        "costs",
        "instances",
        "regretless",
        "regretless, median",
        "roofline",
        "fraction",
        "torch eager",
        "speedup",
        "torch eager, pages kept",
        "speedup",
        "torch optimized, pages kept",
        "speedup",
        "losses",
    ];
    let mut table = ReportTable::new(title, &heading);
    let mut measurements = Vec::new();
    for case in TrainingCase::all(cli.smoke)
        .into_iter()
        .filter(|case| cli.selects(&case.name()))
    {
        eprintln!("bench: {}", case.name());
        let measurement = TrainingMeasurement::measure(cli, &case)?;
        eprintln!("bench: {}", measurement.row(&case, &before).join(" | "));
        measurement
            .torch_version
            .iter()
            .for_each(|version| note_once(&mut report, &format!("torch {version}")));
        measurements.push((case, measurement));
    }
    // Other programs only slow a machine down: its limits are the higher of both measurements.
    let machine = before.max_with(Machine::measure(cli.threads, cli.smoke));
    for (case, measurement) in &measurements {
        table.row(measurement.row(case, &machine));
        report.raw.push(measurement.to_json(case, &machine));
    }
    report.tables.push(table);
    report.tables.push(limits(&machine));
    report.notes.extend(NOTES.map(String::from));
    Ok(report)
}

/// The limits that the roofline is made of.
fn limits(machine: &Machine) -> ReportTable {
    let title = format!("Limits of the machine, {} threads", machine.threads);
    let mut table = ReportTable::new(title, &["limit", "unit", "measured"]);
    for (limit, unit, rate) in [
        ("triad: two reads, one write", "GB/s", machine.triad),
        ("Adam mix: four reads, three writes", "GB/s", machine.adam),
        ("multiply-add", "GFLOP/s", machine.flops),
    ] {
        let measured = format!("{:.1}", rate / 1e9);
        table.row(vec![limit.into(), unit.into(), measured]);
    }
    table
}

const NOTES: [&str; 5] = [
    "regretless: the public train call, time of an epoch from its report, including the copy \
        of the parameters that every run makes after an epoch",
    "torch eager: formula with masks, default Adam; torch optimized: relu instead of \
        masks, constants precomputed, fused Adam",
    "pages kept: MALLOC_MMAP_THRESHOLD_ and MALLOC_TRIM_THRESHOLD_ raised, so glibc keeps \
        freed memory",
    "roofline: the longer of arithmetic at the multiply-add peak and, where the data do not fit \
        into the cache, memory traffic at the bandwidth of the Adam mix",
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
        let mut measurement = Self {
            ours,
            torch: Vec::new(),
            torch_version: None,
        };
        if !cli.no_peers {
            data.write(case, &folder)?;
            measurement.run_torch(cli, case, &folder)?;
            // Repeated after torch, so a temporary load of the machine affects both programs.
            measurement
                .ours
                .add_times(ours::epochs(case, &data, cli.threads)?);
            fs::remove_dir_all(&folder).map_err(Error::io(&folder))?;
        }
        Ok(measurement)
    }

    fn run_torch(
        &mut self,
        cli: &Cli,
        case: &TrainingCase,
        folder: &std::path::Path,
    ) -> Result<()> {
        for (environment, variants, suffix) in [
            (&[][..], &["eager"][..], ""),
            (&KEEP_PAGES[..], &["eager", "optimized"][..], ", pages kept"),
        ] {
            let job = json!({
                "folder": folder,
                "variants": variants,
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
            let Some(response) = peer.run::<TorchResponse>(cli, folder, &job)? else {
                break;
            };
            self.torch_version = Some(response.version);
            self.torch
                .extend(response.runs.into_iter().map(|run| Epochs {
                    name: run.name + suffix,
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
            milliseconds(ours.min()),
            milliseconds(ours.median()),
            milliseconds(limit),
            format!("{:.0} %", 100.0 * limit / ours.min()),
        ];
        for variant in ["eager", "eager, pages kept", "optimized, pages kept"] {
            let run = self.torch.iter().find(|run| run.name == variant);
            let theirs = run.map_or(f64::NAN, |run| run.wall.min());
            cells.extend([milliseconds(theirs), ratio(theirs, ours.min())]);
        }
        cells.push(self.agreement());
        cells
    }

    /// Whether the losses of all programs agree.
    fn agreement(&self) -> String {
        let difference = self
            .torch
            .iter()
            .map(|run| run.max_relative_difference(&self.ours))
            .reduce(f64::max);
        match difference {
            None => String::new(),
            Some(difference) if difference <= LOSS_TOLERANCE => "ok".into(),
            Some(difference) => format!("differ by {:.2} %", 100.0 * difference),
        }
    }

    fn to_json(&self, case: &TrainingCase, machine: &Machine) -> serde_json::Value {
        json!({
            "case": case.name(), "machine": machine, "limit": roofline::seconds(case, machine),
            "runs": std::iter::once(&self.ours).chain(&self.torch).collect::<Vec<_>>(),
        })
    }
}
