//! [`ProblemSpec`]: any problem as a problem file describes it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;

use super::family::{KindDefinition, ProblemFamily};
use super::parametric::ParametricProblem;
use super::{ProblemKind, ProblemSpec};
use crate::error::Result;

/// The list of all kinds, in the order of messages: the variants of [`ProblemSpec`], and the
/// families.
macro_rules! problem_kinds {
    ($($(#[cfg($condition:meta)])? $variant:ident($kind:ty) = $family:expr,)+) => {
        /// A serializable problem, as in a problem file or in the metadata of a model.
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(tag = "kind", rename_all = "snake_case")]
        #[expect(missing_docs, reason = "the documentation of a kind is that of its type")]
        pub enum ProblemSpec {
            $($(#[cfg($condition)])? $variant($kind),)+
            /// A problem whose numbers come from columns of the table in some places, or whose
            /// costs have a known part: the problem file as it was written.
            Parametric {
                /// The problem file.
                template: serde_json::Value,
            },
        }

        /// The families of all kinds.
        static FAMILIES: &[&ProblemFamily] = &[$($(#[cfg($condition)])? &$family,)+];

        impl ProblemSpec {
            /// The description of one kind; or else the problem file with references to columns.
            fn definition_or_template(
                &self,
            ) -> std::result::Result<&dyn family::KindDefinition, &serde_json::Value> {
                match self {
                    $($(#[cfg($condition)])? Self::$variant(problem) => Ok(problem),)+
                    Self::Parametric { template } => Err(template),
                }
            }

            fn definition_mut(&mut self) -> Option<&mut dyn family::KindDefinition> {
                match self {
                    $($(#[cfg($condition)])? Self::$variant(problem) => Some(problem),)+
                    Self::Parametric { .. } => None,
                }
            }
        }
    };
}

impl ProblemSpec {
    /// The kind of problem files with references to columns, in models.
    pub(super) const PARAMETRIC: &str = "parametric";

    /// The description of one kind; `None` for problem files with references to columns.
    pub(super) fn definition(&self) -> Option<&dyn KindDefinition> {
        self.definition_or_template().ok()
    }

    /// Builds the problem.
    ///
    /// # Errors
    /// When a file cannot be read, a linear problem is invalid, or the problem needs a feature that
    /// is missing.
    pub fn build(&self) -> Result<Arc<dyn ProblemKind>> {
        self.build_with(None)
    }

    /// The problem from the content of its model file, which need not exist any more.
    ///
    /// # Errors
    /// As [`ProblemSpec::build`].
    pub(super) fn build_from(&self, content: Vec<u8>) -> Result<Arc<dyn ProblemKind>> {
        self.build_with(Some(content))
    }

    fn build_with(&self, file: Option<Vec<u8>>) -> Result<Arc<dyn ProblemKind>> {
        match (self.definition_or_template(), file) {
            (Ok(definition), Some(content)) => definition.build_from(content),
            (Ok(definition), None) => definition.build(),
            (Err(template), file) => Ok(Arc::new(ParametricProblem::new(template, file)?)),
        }
    }

    /// The model file that the problem names.
    pub(crate) fn file(&self) -> Option<PathBuf> {
        match self.definition_or_template() {
            Ok(definition) => definition.file().map(Path::to_path_buf),
            Err(template) => {
                let key = ProblemFamily::of_file(template).template.file_key?;
                template.get(key)?.as_str().map(PathBuf::from)
            }
        }
    }

    /// The same problem with another path of its model file.
    pub(crate) fn with_file(mut self, file: &Path) -> Self {
        if let Self::Parametric { template } = &mut self {
            if let Some(object) = template.as_object_mut() {
                object.insert("file".into(), json!(file));
            }
        } else if let Some(definition) = self.definition_mut() {
            definition.set_file(file);
        }
        self
    }
}
