//! Compares methods on one problem: mean squared error, cost-sensitive losses, SPO+, and a
//! cost-sensitive loss followed by a few epochs of SPO+.
//!
//! `cargo run --release -p regretless --example methods`

#![allow(clippy::print_stdout, reason = "the program prints its results")]

use regretless::{Dataset, Method, Problem, Split, Trainer};

fn main() -> regretless::Result<()> {
    let problem = Problem::benchmark("SP5x5")?;
    let data =
        Dataset::generate(&problem, 1000)?.split(Split::random(0).train(0.5).validation(0.2))?;
    println!(
        "{:<32} {:>17} {:>8} {:>8}",
        "method", "normalized regret", "solves", "seconds"
    );
    for name in [
        "MSE",
        "MAE(O,S)",
        "MSE(O,S)",
        "SPO+",
        "MAE(O,S) then SPO+ epochs 5",
    ] {
        let method: Method = name.parse()?;
        let model = Trainer::new(method).epochs(30).fit(&problem, &data)?;
        let regret = model.evaluate(data.test())?.normalized_regret;
        if let Some(report) = model.report() {
            let (solves, seconds) = (report.solves.total(), report.seconds);
            println!(
                "{name:<32} {:>15.2} % {solves:>8} {seconds:>8.2}",
                100.0 * regret
            );
        }
    }
    Ok(())
}
