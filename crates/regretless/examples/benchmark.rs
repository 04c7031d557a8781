//! Trains on synthetic data of a benchmark problem, evaluates and decides.
//!
//! `cargo run --release -p regretless --example benchmark`

#![allow(clippy::print_stdout, reason = "the program prints its results")]

use regretless::{Dataset, Method, Problem, Split, Trainer};

fn main() -> regretless::Result<()> {
    let problem = Problem::benchmark("KS32")?;
    // The rows that neither train nor validate are for testing.
    let split = Split::random(0).train(0.5).validation(0.2);
    let data = Dataset::generate(&problem, 2000)?.split(split)?;
    for name in ["MSE", "MAE(O,S)"] {
        let method: Method = name.parse()?;
        let model = Trainer::new(method).epochs(50).fit(&problem, &data)?;
        let regret = model.evaluate(data.test())?.normalized_regret;
        println!(
            "{name}: {:.2} % normalized regret on the test rows",
            100.0 * regret
        );
        let decision = model.decide(data.test().row(0))?;
        println!("items of the first test row: {:?}", decision.indices());
    }
    Ok(())
}
