//! Linear predictors in closed form.

use super::TrainingContext;
use crate::error::{Error, Result};
use crate::method::Method;
use crate::predict::{CostModel, LinearFit, ModelMetadata};
use crate::problem::ProblemSpec;

/// The linear model of least squared error on the training rows; with a penalty it is ridge
/// regression.
///
/// # Errors
/// When there are no training rows or numbers are too large.
pub fn linear_fit(
    context: &TrainingContext<'_>,
    problem: &ProblemSpec,
    penalty: f64,
) -> Result<CostModel> {
    let data = context.data.data();
    let fit = LinearFit::ridge(data, &context.split.train, penalty)?;
    let output = context.turned_scaler(fit.output);
    let problem = serde_json::to_value(context.named_problem(problem)?);
    let metadata = ModelMetadata {
        method: Method::LeastSquares {
            penalty,
            is_shared: false,
        }
        .to_string(),
        problem_file_hash: context
            .oracle
            .problem()
            .model_parts()
            .file_hash()
            .map(String::from),
        problem: problem
            .map_err(|e| Error::setting(format!("the problem cannot be stored: {e}")))?,
        seed: 0,
        features: data.features().names().to_vec(),
        costs: data.cost_names().marked_as_explicit(),
        shape: data.features().shape(),
        encoding: data.features().encoding().cloned(),
        unobserved: data.unobserved_costs(&context.split.train),
        record: None,
    };
    Ok(CostModel {
        networks: vec![fit.network],
        input: Some(fit.input),
        output,
        metadata,
        problem_file: None,
        sketch: None,
    })
}
