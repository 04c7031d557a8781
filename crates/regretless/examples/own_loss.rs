//! A custom loss: squared errors that count more for the items of the optimal decision.
//!
//! `cargo run --release -p regretless --example own_loss`

#![allow(clippy::print_stdout, reason = "the program prints its results")]

use std::fmt;

use regretless::label::LabeledDataset;
use regretless::loss::{Loss, LossDefinition, LossInput, LossProperties, LossSpec};
use regretless::observer::Observer;
use regretless::oracle::{Oracle, OracleWorker};
use regretless::{Dataset, Method, Problem, Result, Split, Trainer};

/// `Σ (1 + w·x*) (ĉ − c)²` with the weight w of the items in the optimal decision x*.
#[derive(Debug, Clone, Copy)]
struct WeightedSquares {
    weight: f64,
}

impl fmt::Display for WeightedSquares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("weighted-squares")
    }
}

impl LossDefinition for WeightedSquares {
    fn properties(&self) -> LossProperties {
        LossProperties {
            checks_gradient: true,
            ..LossProperties::SOLVER_FREE
        }
    }

    fn build(&self, _: &LabeledDataset, _: &Oracle, _: &dyn Observer) -> Result<Box<dyn Loss>> {
        Ok(Box::new(*self))
    }
}

impl Loss for WeightedSquares {
    fn evaluate(
        &self,
        input: &LossInput<'_>,
        _: &mut OracleWorker<'_>,
        gradient: &mut [f64],
    ) -> Result<f64> {
        let mut weights = vec![1.0; gradient.len()];
        input.label.add_to(self.weight, &mut weights);
        let mut value = 0.0;
        for (j, slope) in gradient.iter_mut().enumerate() {
            let error = input.prediction[j] - input.costs[j];
            value += weights[j] * error * error;
            *slope = 2.0 * weights[j] * error;
        }
        Ok(value)
    }
}

fn main() -> Result<()> {
    let problem = Problem::benchmark("KS8")?;
    let data = Dataset::generate(&problem, 400)?.split(Split::random(0))?;

    // As a value, or by its name once it is registered.
    let loss = LossSpec::from(WeightedSquares { weight: 4.0 });
    loss.register()?;
    let staged: Method = "MAE(O,S) then weighted-squares lr 0.001 epochs 5".parse()?;
    for method in [Method::mse().into(), Method::from(loss), staged] {
        let name = method.to_string();
        let model = Trainer::new(method).epochs(20).fit(&problem, &data)?;
        let regret = model.evaluate(data.test())?.normalized_regret;
        println!("{name}: normalized regret {:.2} %", 100.0 * regret);
    }
    Ok(())
}
