//! The problem that a model file describes.

use std::path::Path;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::predict::CostModel;
use crate::problem::{ModelProblem, Problem, ProblemKind, Sense};

impl Problem {
    /// The problem that the metadata of a model describe, for programs with model files of their
    /// own: the serialized problem, the BLAKE3 hash of the file it names, the content of that file
    /// if it is known, and else the folder of the model, where the file is looked for too.
    ///
    /// # Errors
    /// As [`Problem::of_model`].
    pub fn of_model_metadata(
        problem: &serde_json::Value,
        file_hash: Option<&str>,
        file_content: Option<Vec<u8>>,
        folder: Option<&Path>,
    ) -> Result<Self> {
        Self::from_model_file(&ModelProblem {
            problem,
            file_hash,
            file_content,
            folder,
        })
    }

    /// The problem that a model was trained for. `folder` is that of the model file, for models of
    /// earlier versions, which name the file of their problem instead of holding it.
    ///
    /// # Errors
    /// When it cannot be read, names a file that is missing or has changed, or is implemented by
    /// the user's program.
    pub fn of_model(model: &CostModel, folder: Option<&Path>) -> Result<Self> {
        Self::from_model_file(&model_problem(model, folder)?)
    }

    /// The sense of the problem that a model was trained for; `None` if that problem cannot be
    /// built.
    pub fn trained_sense(model: &CostModel, folder: Option<&Path>) -> Option<Sense> {
        model_problem(model, folder).ok()?.sense()
    }

    /// Checks that a problem has the sense of the one that a model was trained for: costs that are
    /// paid are no gains.
    ///
    /// # Errors
    /// When the senses differ.
    pub fn check_sense(problem: &Arc<dyn ProblemKind>, trained: Option<Sense>) -> Result<()> {
        let (sense, name) = (problem.sense(), problem.name());
        let Some(trained) = trained.filter(|trained| *trained != sense) else {
            return Ok(());
        };
        let verb = |sense: Sense| {
            if sense.is_maximize() {
                "maximizes"
            } else {
                "minimizes"
            }
        };
        Err(Error::setting(format!(
            "{name} {}, but the model was trained for a problem that {}",
            verb(sense),
            verb(trained)
        ))
        .with_remedy("pass a problem of the same sense, or train a model for this one"))
    }
}

/// The problem in the metadata of a model.
fn model_problem<'a>(model: &'a CostModel, folder: Option<&'a Path>) -> Result<ModelProblem<'a>> {
    Ok(ModelProblem {
        problem: &model.metadata.problem,
        file_hash: model.metadata.problem_file_hash.as_deref(),
        file_content: model.problem_file()?,
        folder,
    })
}
