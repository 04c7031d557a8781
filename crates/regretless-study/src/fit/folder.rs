//! The folder of a fit, and what its results are of: settings, table and problem.

use std::path::Path;

use regretless_base::error::{Error, Result};

use super::FitSettings;

/// The settings of a fit, with every role.
pub const SETTINGS_FILE_NAME: &str = "settings.toml";

/// Settings that change how results are shown, and no number.
const PRESENTATION: [&str; 3] = ["out", "title", "unit"];
/// Begins the line of the settings file that has the hash of table and problem.
const INPUTS: &str = "# table and problem: ";

impl FitSettings {
    /// Adds a line to the text of settings by which [`check_settings`] knows the table and the
    /// problem again.
    ///
    /// # Errors
    /// When the table cannot be read.
    pub fn with_inputs(&self, text: &str) -> Result<String> {
        let mut hasher = blake3::Hasher::new();
        let file = std::fs::File::open(&self.file).map_err(Error::io(&self.file))?;
        hasher.update_reader(file).map_err(Error::io(&self.file))?;
        for named in &self.parameters {
            // A table of parameters may have a name in front of its file.
            let path = Path::new(named.rsplit('=').next().unwrap_or(named));
            if let Ok(file) = std::fs::File::open(path) {
                hasher.update_reader(file).map_err(Error::io(path))?;
            }
        }
        let problem = serde_json::to_string(&self.problem);
        let problem = problem.map_err(|error| Error::setting(error.to_string()))?;
        hasher.update(problem.as_bytes());
        Ok(format!("{INPUTS}{}\n{text}", hasher.finalize().to_hex()))
    }
}

/// Refuses a folder with results of other settings or, if `text` has the line of
/// [`FitSettings::with_inputs`], of another table or problem: what changes numbers replaces nothing
/// unasked. `text` is what will be written.
///
/// # Errors
/// When it is a file, or has results of something else.
pub fn check_settings(folder: &Path, text: &str) -> Result<()> {
    if folder.exists() && !folder.is_dir() {
        return Err(Error::Exists(folder.to_path_buf()));
    }
    let path = folder.join(SETTINGS_FILE_NAME);
    if !path.exists() {
        return Ok(());
    }
    let written = std::fs::read_to_string(&path).map_err(Error::io(&path))?;
    let settings = relevant(&written);
    let has_other_inputs = match (inputs_of(&written), inputs_of(text)) {
        (Some(written), Some(own)) => written != own,
        (None, _) | (_, None) => false,
    };
    if settings.is_none() || settings != relevant(text) || has_other_inputs {
        return Err(Error::Exists(path));
    }
    Ok(())
}

/// The settings that decide about results.
fn relevant(text: &str) -> Option<toml::Table> {
    let mut table = text.parse::<toml::Table>().ok()?;
    for name in PRESENTATION {
        table.remove(name);
    }
    Some(table)
}

fn inputs_of(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.strip_prefix(INPUTS))
}
