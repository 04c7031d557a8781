//! The problem that a model was trained for, from the metadata of its file.
//!
//! A model of a linear problem from a file holds that file: it decides the same wherever it is, and
//! whatever becomes of the file. Models of earlier versions only name it. Model files may be
//! untrusted and must not make the program read files of their choice: the named file is used only
//! if its content has the hash that was stored at training, and no other content is ever displayed.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::linear::hash_of;
use super::{ProblemKind, ProblemSpec, Sense};
use crate::error::{Error, InputPlace, Result};

/// The remedy if the file of a model's problem cannot be used.
const REMEDY: &str = "pass the problem, for example as a problem file";

/// The problem in the metadata of a model file.
#[derive(Debug, Clone)]
pub(crate) struct ModelProblem<'a> {
    /// The serialized problem.
    pub problem: &'a serde_json::Value,
    /// BLAKE3 of the file it names, at training.
    pub file_hash: Option<&'a str>,
    /// The content of that file, if the model holds it.
    pub file_content: Option<Vec<u8>>,
    /// The folder of the model file; relative paths are searched there too.
    pub folder: Option<&'a Path>,
}

impl ModelProblem<'_> {
    /// The problem as a specification and built.
    ///
    /// # Errors
    /// When it cannot be read, names a file that is missing or has changed since training, or is
    /// implemented in the user's program.
    pub(super) fn build(&self) -> Result<(ProblemSpec, Arc<dyn ProblemKind>)> {
        let spec: ProblemSpec = serde_json::from_value(self.problem.clone())
            .map_err(|error| Error::data(format!("the model's problem cannot be read: {error}")))?;
        let Some(named) = spec.file() else {
            let problem = spec.build()?;
            return Ok((spec, problem));
        };
        if let Some(content) = &self.file_content {
            let problem = spec.build_from(content.clone())?;
            if problem.model_parts().file_hash() != self.file_hash {
                let message = "the problem's file in the model is damaged";
                return Err(Error::data(message).with_remedy(REMEDY));
            }
            return Ok((spec, problem));
        }
        let file = self.verified_path(&named)?;
        let spec = spec.with_file(&file);
        let problem = spec.build()?;
        // The file may have been replaced between hashing and reading.
        if problem.model_parts().file_hash() != self.file_hash {
            return Err(changed(&file));
        }
        Ok((spec, problem))
    }

    /// The objective sense, even if the problem is implemented in the user's program; `None` if the
    /// problem cannot be built.
    pub(crate) fn sense(&self) -> Option<Sense> {
        match serde_json::from_value(self.problem.clone()) {
            Ok(ProblemSpec::External(external)) => Some(external.sense),
            _ => self.build().ok().map(|(_, problem)| problem.sense()),
        }
    }

    /// The file that the model names, after its hash was checked.
    fn verified_path(&self, named: &Path) -> Result<PathBuf> {
        let extension = named
            .extension()
            .and_then(|extension| extension.to_str())
            .map(str::to_ascii_lowercase);
        if !matches!(extension.as_deref(), Some("mps" | "lp")) {
            let message = "the model names it as its problem, which ends in .mps or .lp";
            return Err(Error::input(InputPlace::file(named), message).with_remedy(REMEDY));
        }
        let Some(expected) = self.file_hash else {
            let message = "the model has no hash of this file";
            return Err(Error::input(InputPlace::file(named), message).with_remedy(REMEDY));
        };
        let mut candidates = vec![named.to_path_buf()];
        if let Some(folder) = self.folder.filter(|_| named.is_relative()) {
            candidates.push(folder.join(named));
        }
        // Only regular files are opened: a pipe or a device may never end.
        candidates.retain(|path| std::fs::metadata(path).is_ok_and(|found| found.is_file()));
        for path in &candidates {
            if hash_of(path)? == expected {
                return Ok(path.clone());
            }
        }
        match candidates.first() {
            Some(path) => Err(changed(path)),
            None => {
                let message = format!("the file of the model's problem is missing; {REMEDY}");
                Err(Error::io(named)(io::Error::new(
                    io::ErrorKind::NotFound,
                    message,
                )))
            }
        }
    }
}

fn changed(path: &Path) -> Error {
    let message = "the file of the model's problem has changed since training";
    Error::input(InputPlace::file(path), message).with_remedy(REMEDY)
}
