//! A problem that is solved by a user's function: two of four offers, of which the
//! first two are mutually exclusive.
//!
//! `cargo run --release -p regretless --example own_solver`

#![allow(clippy::print_stdout, reason = "the program prints its results")]

use regretless::{Dataset, Method, Problem, Row, Sense, Split, Trainer};

/// The best pair of offers by enumeration.
fn best_pair(values: &[f64]) -> Option<Vec<f64>> {
    let pairs = [[0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
    let value = |pair: &[usize; 2]| values[pair[0]] + values[pair[1]];
    let best = pairs.iter().max_by(|a, b| value(a).total_cmp(&value(b)))?;
    let mut decision = vec![0.0; values.len()];
    for offer in best {
        decision[*offer] = 1.0;
    }
    Some(decision)
}

fn main() -> regretless::Result<()> {
    let problem = Problem::from_solver("offers", Sense::Maximize, 4, best_pair)?;

    // Values depend on two features; a fixed rule stands in for history.
    let mut features = Vec::new();
    let mut values = Vec::new();
    for day in 0..300 {
        let (season, demand) = ((f64::from(day) / 20.0).sin(), f64::from(day % 7) / 7.0);
        features.push([season, demand]);
        values.push([
            5.0 + 2.0 * season,
            5.0 - 2.0 * season + demand,
            4.0 + demand * demand,
            4.5 - season * demand,
        ]);
    }
    let data = Dataset::from_arrays(&features, &values)?.split(Split::random(1))?;
    let method: Method = "SPO+".parse()?;
    let model = Trainer::new(method).epochs(30).fit(&problem, &data)?;
    let evaluation = model.evaluate(data.test())?;
    println!(
        "normalized regret: {:.2} %",
        100.0 * evaluation.normalized_regret
    );
    println!(
        "optimal decisions: {:.0} %",
        100.0 * evaluation.optimal_fraction
    );

    let tomorrow = [0.3, 0.5];
    println!(
        "decision for tomorrow: {:?}",
        model.decide(Row::from(&tomorrow[..]))?.indices()
    );
    Ok(())
}
