//! Custom losses: per instance and per batch, by value and by name.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

use regretless::label::LabeledDataset;
use regretless::loss::{
    BatchLoss, BatchLossInput, Loss, LossDefinition, LossInput, LossProperties, LossSpec,
};
use regretless::method::Method;
use regretless::observer::Observer;
use regretless::oracle::{Oracle, OracleWorker};
use regretless::settings::TrainingSettings;
use regretless::trainer::{Trainer, TrainingOutcome};
use regretless::{Error, Problem, Result, Sense};

use crate::tests::common::assert_close;
use crate::tests::fixture::{TrainingFixture, quick_settings};

/// What a loss of these tests computes.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Formula {
    MeanSquares,
    /// Mean squares with half of their gradient.
    WrongGradient,
    NotANumber,
    /// Mean squares times the number of rows of the batch.
    TimesRows,
    SpoPlus,
}

/// A loss that is evaluated for batches.
#[derive(Debug, Clone, Copy)]
struct OwnLoss {
    name: &'static str,
    formula: Formula,
    checks_gradient: bool,
}

impl OwnLoss {
    const fn new(name: &'static str, formula: Formula) -> Self {
        Self {
            name,
            formula,
            checks_gradient: true,
        }
    }
}

impl fmt::Display for OwnLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl LossDefinition for OwnLoss {
    fn properties(&self) -> LossProperties {
        let properties = match self.formula {
            Formula::SpoPlus => LossProperties::CALLS_SOLVER,
            Formula::MeanSquares
            | Formula::WrongGradient
            | Formula::NotANumber
            | Formula::TimesRows => LossProperties::SOLVER_FREE,
        };
        LossProperties {
            checks_gradient: self.checks_gradient,
            ..properties
        }
    }

    fn build(&self, _: &LabeledDataset, _: &Oracle, _: &dyn Observer) -> Result<Box<dyn Loss>> {
        Ok(Box::new(*self))
    }
}

impl Loss for OwnLoss {
    fn evaluate(
        &self,
        input: &LossInput<'_>,
        worker: &mut OracleWorker<'_>,
        gradient: &mut [f64],
    ) -> Result<f64> {
        let batch = BatchLossInput::of_instance(input, worker);
        Ok(self.evaluate_batch(&batch, gradient)?[0])
    }

    fn batch_loss(&self) -> Option<&dyn BatchLoss> {
        Some(self)
    }
}

impl BatchLoss for OwnLoss {
    fn evaluate_batch(
        &self,
        input: &BatchLossInput<'_>,
        gradients: &mut [f64],
    ) -> Result<Vec<f64>> {
        let width = input.num_costs();
        let pairs = input.predictions.iter().zip(input.costs);
        if self.formula == Formula::SpoPlus {
            let extrapolated: Vec<f64> = pairs.map(|(p, c)| 2.0 * p - c).collect();
            let solutions = input.solve(&extrapolated)?;
            let mut values = Vec::new();
            gradients.fill(0.0);
            for (index, (solution, label)) in solutions.iter().zip(&input.labels).enumerate() {
                let entries = index * width..(index + 1) * width;
                label.add_to(2.0, &mut gradients[entries.clone()]);
                let gradient = &mut gradients[entries.clone()];
                solution.decision.add_to(-2.0, gradient);
                let (prediction, costs) =
                    (&input.predictions[entries.clone()], &input.costs[entries]);
                let label_cost = 2.0 * label.dot(prediction) - label.dot(costs);
                values.push(label_cost - solution.objective);
            }
            return Ok(values);
        }
        let errors: Vec<f64> = pairs.map(|(p, c)| p - c).collect();
        let factor = match self.formula {
            Formula::WrongGradient => 1.0,
            Formula::TimesRows => 2.0 * input.instances.len() as f64,
            Formula::MeanSquares | Formula::NotANumber | Formula::SpoPlus => 2.0,
        };
        for (gradient, error) in gradients.iter_mut().zip(&errors) {
            *gradient = factor * error / width as f64;
        }
        let squares = |row: &[f64]| row.iter().map(|e| e * e).sum::<f64>() / width as f64;
        let mut values: Vec<f64> = errors.chunks_exact(width).map(squares).collect();
        if self.formula == Formula::NotANumber {
            values[0] = f64::NAN;
        }
        if self.formula == Formula::TimesRows {
            let rows = values.len() as f64;
            values.iter_mut().for_each(|value| *value *= rows);
        }
        Ok(values)
    }
}

fn train(
    fixture: &TrainingFixture,
    own: OwnLoss,
    settings: TrainingSettings,
) -> Result<TrainingOutcome> {
    fixture.run(&Trainer::new(Method::from(own)).settings(settings))
}

/// Compares parameters up to the rounding of single precision: sparse gradients are added in
/// another order.
fn assert_same_parameters(a: &TrainingOutcome, b: &TrainingOutcome, what: &str) {
    let parameters = |fit: &TrainingOutcome| -> Vec<f64> {
        let networks = fit.model.networks.iter();
        networks
            .flat_map(|n| n.parameters().iter().map(|p| f64::from(*p)))
            .collect()
    };
    assert_close(&parameters(a), &parameters(b), 1e-5, what);
}

/// Settings without the fused kernels, which only losses that are built in have.
fn minibatch_settings() -> TrainingSettings {
    TrainingSettings {
        fused: false,
        // A custom loss is not rescaled; with it, Adam's epsilon weighs less.
        rescale_loss: false,
        ..quick_settings()
    }
}

#[test]
fn mean_squares_of_ones_own_train_the_model_of_mse() {
    let fixture = TrainingFixture::grid_paths(2);
    let own = OwnLoss::new("own-mse", Formula::MeanSquares);
    let built_in = fixture.train("MSE", minibatch_settings()).unwrap();
    let trained = train(&fixture, own, minibatch_settings()).unwrap();
    assert_same_parameters(&trained, &built_in, "MSE");
    assert_eq!(trained.model.metadata.method, "own-mse");
    assert_eq!(trained.report.solves, built_in.report.solves);
}

#[test]
fn spo_plus_of_ones_own_trains_the_model_of_spo_plus_with_the_same_solves() {
    let own = OwnLoss {
        checks_gradient: false,
        ..OwnLoss::new("own-spo-plus", Formula::SpoPlus)
    };
    LossSpec::from(own).register().unwrap();
    for settings in ["", " cache 30%", " cache 30% per-instance", " warm"] {
        let mut models = Vec::new();
        for threads in [1, 2] {
            let fixture = TrainingFixture::grid_paths(threads);
            let train_stage = |name: &str| {
                let name = format!("{name}{settings} epochs 3");
                fixture.train(&name, minibatch_settings()).unwrap()
            };
            let (own, built_in) = (train_stage("own-spo-plus"), train_stage("SPO+"));
            assert_same_parameters(&own, &built_in, settings);
            assert_eq!(own.report.solves, built_in.report.solves, "{settings}");
            models.push(own.model.networks[0].parameters().to_vec());
        }
        assert_eq!(models[0], models[1], "{settings}");
    }
}

#[test]
fn wrong_gradients_and_values_that_are_not_numbers_are_refused_by_name() {
    let fixture = TrainingFixture::grid_paths(1);
    for formula in [Formula::WrongGradient, Formula::NotANumber] {
        let own = OwnLoss::new("refused-loss", formula);
        let error = train(&fixture, own, quick_settings()).unwrap_err();
        assert!(error.to_string().contains("'refused-loss'"), "{error}");
    }
    let unchecked = OwnLoss {
        checks_gradient: false,
        ..OwnLoss::new("unchecked", Formula::WrongGradient)
    };
    train(&fixture, unchecked, quick_settings()).unwrap();
}

#[test]
fn losses_that_depend_on_their_batch_are_refused() {
    let fixture = TrainingFixture::grid_paths(1);
    let own = OwnLoss::new("times-rows", Formula::TimesRows);
    let error = train(&fixture, own, quick_settings()).unwrap_err();
    let expected = "'times-rows' of a row depends on the other rows of its batch";
    assert!(error.to_string().contains(expected), "{error}");
}

#[test]
fn the_gradient_of_every_differentiable_loss_passes_the_check() {
    let problem = Problem::top_k(6, 2, Sense::Maximize).unwrap();
    let value = |i: usize| 5.0 + (i as f64 * 0.7).sin();
    let costs: Vec<Vec<f64>> = (0..3)
        .map(|row| (0..6).map(|j| value(6 * row + j)).collect())
        .collect();
    for name in ["MSE", "MAE", "MSE(O,S)", "SPO+", "LTR(list)", "own-checked"] {
        let spec = match name {
            "own-checked" => OwnLoss::new(name, Formula::MeanSquares).into(),
            name => name.parse::<LossSpec>().unwrap(),
        };
        spec.check_gradient(&problem, &costs).unwrap();
        let result = spec.evaluate(&problem, &costs[0], &costs[0]).unwrap();
        assert!(result.value.abs() < 10.0, "{name}");
    }
    let wrong = LossSpec::from(OwnLoss::new("wrong", Formula::WrongGradient));
    assert!(wrong.check_gradient(&problem, &costs).is_err());
}

#[test]
fn a_registered_name_is_part_of_the_grammar() {
    let own = LossSpec::from(OwnLoss::new("mine.v2", Formula::MeanSquares));
    assert!("mine.v2".parse::<Method>().is_err());
    own.register().unwrap();
    let name = "MAE(O,S) then mine.v2 lr 0.001";
    assert_eq!(name.parse::<Method>().unwrap().to_string(), name);
    for name in ["SPO+", "spo+", "two words", "a(b)", "automatic", "then", ""] {
        let spec = LossSpec::from(OwnLoss::new(name, Formula::MeanSquares));
        assert!(spec.register().is_err(), "{name}");
    }
    let error = "my_losses.py:mine".parse::<LossSpec>().unwrap_err();
    assert!(
        error.to_string().contains("python -m regretless"),
        "{error}"
    );
}

#[test]
fn a_changed_source_does_not_resume_from_a_checkpoint_or_reuse_a_cell() {
    static VERSION: AtomicUsize = AtomicUsize::new(1);
    #[derive(Debug)]
    struct Versioned;
    impl fmt::Display for Versioned {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("versioned")
        }
    }
    impl LossDefinition for Versioned {
        fn properties(&self) -> LossProperties {
            LossProperties::SOLVER_FREE
        }

        fn fingerprint(&self) -> Option<String> {
            Some(VERSION.load(Ordering::Relaxed).to_string())
        }

        fn build(&self, _: &LabeledDataset, _: &Oracle, _: &dyn Observer) -> Result<Box<dyn Loss>> {
            Err(Error::Interrupted)
        }
    }
    let method = Method::from(Versioned);
    let first = method.loss_fingerprints();
    VERSION.store(2, Ordering::Relaxed);
    assert_ne!(first, method.loss_fingerprints());
    assert!(Method::of_paper().loss_fingerprints().is_empty());
}
