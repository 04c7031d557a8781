//! Problem files: a problem specification as TOML.

use std::path::Path;

use super::ProblemSpec;
use super::parametric::is_template;
use crate::error::{Error, Result};
use crate::renamed::explain;
use crate::size_limits::read_text_file;

impl ProblemSpec {
    /// The problem of a problem file that was read into a JSON value.
    ///
    /// # Errors
    /// When the value describes no problem.
    pub fn from_json(content: serde_json::Value) -> Result<Self> {
        if is_template(&content) {
            return Ok(Self::Parametric { template: content });
        }
        serde_json::from_value(content).map_err(|error| Error::setting(explain(&error.to_string())))
    }

    /// Reads a problem file; paths in it are relative to its folder.
    ///
    /// # Errors
    /// When the file cannot be read or contains no valid problem; the error has the line.
    pub fn read(path: &Path) -> Result<Self> {
        let text = read_text_file(path)?;
        let refused = |error: &toml::de::Error| {
            let line = error
                .span()
                .map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
            let place = line
                .map(|line| format!("line {line}: "))
                .unwrap_or_default();
            Error::setting(format!(
                "{}: {place}{}",
                path.display(),
                explain(error.message())
            ))
        };
        let content: serde_json::Value = toml::from_str(&text).map_err(|error| refused(&error))?;
        let spec: Self = if is_template(&content) {
            Self::Parametric { template: content }
        } else {
            toml::from_str(&text).map_err(|error| refused(&error))?
        };
        match (spec.file(), path.parent()) {
            (Some(file), Some(folder)) => Ok(spec.with_file(&folder.join(file))),
            _ => Ok(spec),
        }
    }
}
