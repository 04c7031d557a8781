//! The folder of a fit and the settings that its results are for.

use std::path::Path;

use regretless_base::error::{Error, Result};

/// The settings of a fit, with every role.
pub const SETTINGS_FILE_NAME: &str = "settings.toml";

/// Settings that do not decide about results.
const IRRELEVANT_SETTINGS: [&str; 2] = ["out", "title"];

/// Refuses a folder with results of other settings. `text` is what will be written.
///
/// # Errors
/// When it is a file, or has other settings.
pub fn check_settings(folder: &Path, text: &str) -> Result<()> {
    if folder.exists() && !folder.is_dir() {
        return Err(Error::Exists(folder.to_path_buf()));
    }
    let path = folder.join(SETTINGS_FILE_NAME);
    if !path.exists() {
        return Ok(());
    }
    let written = std::fs::read_to_string(&path).map_err(Error::io(&path))?;
    let written = relevant(&written);
    if written.is_none() || written != relevant(text) {
        return Err(Error::Exists(path));
    }
    Ok(())
}

/// The settings that decide about results.
fn relevant(text: &str) -> Option<toml::Table> {
    let mut table = text.parse::<toml::Table>().ok()?;
    for name in IRRELEVANT_SETTINGS {
        table.remove(name);
    }
    Some(table)
}
