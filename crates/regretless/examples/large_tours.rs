//! Adam's ε and the losses of unit length on large tours: validation loss with and without
//! rescaling.
//!
//! Costs come from the generator of PyEPO (degree 6, 5 features), decisions are tours by nearest
//! neighbor, since only the loss matters here; a column holds the best validation loss up to its
//! epoch. Run: `cargo run --release -p regretless --example large_tours [nodes ...]`

#![allow(clippy::print_stdout, reason = "the table is what the example is for")]

use regretless::Result;
use regretless::data::SyntheticSpec as DataRecipe;
use regretless::data::{Dataset, SplitIndices};
use regretless::decision::Decision;
use regretless::label::LabeledDataset;
use regretless::method::Method;
use regretless::observer::NoopObserver;
use regretless::oracle::Oracle;
use regretless::parallel::Threads;
use regretless::predict::PredictorSpec;
use regretless::problem::Benchmark;
use regretless::settings::{SelectionCriterion, TrainingSettings};
use regretless::solve::Solution;
use regretless::train::TrainingContext;
use regretless::trainer::Trainer;

const EPOCHS: [usize; 3] = [10, 30, 60];

fn main() -> Result<()> {
    let asked: Vec<usize> = std::env::args()
        .skip(1)
        .filter_map(|word| word.parse().ok())
        .collect();
    let nodes = if asked.is_empty() {
        vec![250, 1000]
    } else {
        asked
    };
    println!(
        "| problem | loss | settings | epoch 0 | {} |",
        EPOCHS.map(|epoch| format!("epoch {epoch}")).join(" | ")
    );
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for nodes in nodes {
        compare(nodes)?;
    }
    Ok(())
}

fn compare(nodes: usize) -> Result<()> {
    let (train_rows, validation_rows) = if nodes > 500 { (200, 50) } else { (800, 100) };
    let rows = train_rows + validation_rows;
    let (problem, data) = format!("TSP{nodes}")
        .parse::<Benchmark>()?
        .generate(DataRecipe::paper(rows, 135))?;
    let oracle = Oracle::new(problem.build()?).with_threads(Threads::new(2)?);
    let tours = nearest_neighbors(&data, nodes);
    let data = LabeledDataset::from_decisions(data, &oracle, tours)?;
    let split = SplitIndices::in_order(rows, [train_rows, validation_rows, 0])?;
    let task = TrainingContext {
        data: &data,
        split: &split,
        oracle: &oracle,
        observer: &NoopObserver,
    };
    for loss in ["MAE(O,S)", "MSE(O,S)", "MSE(S)"] {
        let paper = TrainingSettings {
            learning_rate: 0.005,
            select: SelectionCriterion::ValidationLoss,
            ..TrainingSettings::paper(1)
        };
        let paper = TrainingSettings {
            epochs: EPOCHS[2],
            ..paper
        };
        let rescaled = TrainingSettings {
            rescale_loss: true,
            ..paper
        };
        // Gradients of the order of 1 allow large steps, if they shrink.
        let short = TrainingSettings {
            epochs: EPOCHS[0],
            batch_size: 16,
            learning_rate: 0.02,
            lr_decay: true,
            ..rescaled
        };
        for (name, settings) in [
            ("paper: Adam, ε 1e-8", paper),
            ("rescaled", rescaled),
            (
                "rescaled, batch size 16, learning rate 0.02, `lr-decay`",
                short,
            ),
        ] {
            let recipe = Trainer::new(loss.parse::<Method>()?)
                .predictor(PredictorSpec::Linear)
                .settings(settings);
            let epochs = recipe
                .train(&task, &problem, None)?
                .report
                .rounds
                .remove(0)
                .epochs;
            let losses: Vec<f64> = epochs
                .iter()
                .filter_map(|epoch| epoch.validation_loss)
                .collect();
            let min = |losses: &[f64]| losses.iter().copied().fold(f64::INFINITY, f64::min);
            let at = |epoch: usize| {
                losses
                    .get(..=epoch)
                    .map_or("".into(), |past| format!("{:.3e}", min(past)))
            };
            println!(
                "| TSP{nodes} | {loss} | {name} | {} | {} |",
                at(0),
                EPOCHS.map(at).join(" | ")
            );
        }
    }
    Ok(())
}

/// Tours that go on to the cheapest node not yet seen.
fn nearest_neighbors(data: &Dataset, nodes: usize) -> Vec<Solution> {
    let edge = |i: usize, j: usize| {
        let (low, high) = (i.min(j), i.max(j));
        low * (2 * nodes - low - 1) / 2 + high - low - 1
    };
    let tour = |row: &[f32]| {
        let (mut at, mut left) = (0, (1..nodes).collect::<Vec<_>>());
        let mut edges = Vec::with_capacity(nodes);
        while let Some(place) = (0..left.len())
            .min_by(|a, b| row[edge(at, left[*a])].total_cmp(&row[edge(at, left[*b])]))
        {
            let next = left.swap_remove(place);
            edges.push(edge(at, next) as u32);
            at = next;
        }
        edges.push(edge(at, 0) as u32);
        Solution::optimal(Decision::from_indices(edges), 0.0)
    };
    (0..data.len())
        .map(|instance| tour(data.costs().row(instance)))
        .collect()
}
