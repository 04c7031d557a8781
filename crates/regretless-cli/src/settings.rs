//! Settings files, overridden by the flags of the command line.
//!
//! Flags override the file as one flat table of names, which is then read back as options. The
//! names allowed in a file are those of the command's flags, so the two always agree.

use std::fs;
use std::io::Read;
use std::path::Path;

use clap::Args;
use regretless::error::InputPlace;
use regretless::{Error, Result};
use regretless_study::text::{path_in, with_path};
use serde::Serialize;
use serde::de::DeserializeOwned;
use toml::{Table, Value};

/// Names of the commands; a table of this name applies to its command only.
const COMMANDS: [&str; 14] = [
    "generate",
    "check",
    "fit",
    "new",
    "label",
    "train",
    "evaluate",
    "decide",
    "explain",
    "inspect",
    "solve",
    "compare",
    "backtest",
    "reproduce",
];

/// Settings of `fit` that are files or folders.
const FILE_SETTINGS: [&str; 6] = ["table", "problem", "parameters", "holidays", "names", "out"];

/// The options of a command: flags override the file.
pub fn merged<O: Args + Serialize + DeserializeOwned>(
    flags: O,
    config: Option<&Path>,
    command: &str,
) -> Result<O> {
    let Some(path) = config else { return Ok(flags) };
    let mut table = read_table(path)?;
    let command_table = table.remove(command);
    for other in COMMANDS {
        table.remove(other);
    }
    match command_table {
        None => {}
        Some(Value::Table(settings)) => table.extend(settings),
        Some(_) => {
            return Err(in_file(
                path,
                &format!("'{command}' must be a table: [{command}]"),
            ));
        }
    }
    if command == "fit" {
        // These lie in the folder of their results, which may be moved.
        resolve_files(&mut table, path.parent().unwrap_or(Path::new("")));
    }
    check_names::<O>(&table, path, command)?;
    check_values::<O>(&table, path)?;
    let mut flags = Table::try_from(flags).map_err(|e| Error::setting(e.to_string()))?;
    // A flag that may be repeated and was not given is an empty list.
    flags.retain(|_, value| !value.as_array().is_some_and(Vec::is_empty));
    table.extend(flags);
    table
        .try_into()
        .map_err(|e: toml::de::Error| in_file(path, &Error::explain_renamed(e.message())))
}

/// Makes the relative paths of a settings file those from its folder.
fn resolve_files(table: &mut Table, folder: &Path) {
    for name in FILE_SETTINGS {
        // Only files of parameters may have names.
        let is_named = name == "parameters";
        let resolve = |value: &mut Value| {
            if let Value::String(text) = value {
                *text = if is_named {
                    with_path(text, |file| path_in(folder, file))
                } else {
                    path_in(folder, Path::new(text)).display().to_string()
                };
            }
        };
        match table.get_mut(name) {
            Some(Value::Array(values)) => values.iter_mut().for_each(resolve),
            Some(value) => resolve(value),
            None => {}
        }
    }
}

/// Reads a TOML file as a value of any type.
pub fn read_toml<T: DeserializeOwned>(path: &Path) -> Result<T> {
    parse_toml(&read_text(path)?, path)
}

/// Largest settings or experiment file, in bytes; a device may be endless. Untuned: far more than
/// anybody writes.
const MAX_TOML_BYTES: u64 = 100_000_000;

/// The text of a settings or experiment file.
pub fn read_text(path: &Path) -> Result<String> {
    let mut text = String::new();
    fs::File::open(path)
        .and_then(|file| file.take(MAX_TOML_BYTES + 1).read_to_string(&mut text))
        .map_err(Error::io(path))?;
    if text.len() as u64 > MAX_TOML_BYTES {
        let message = format!("has more than {MAX_TOML_BYTES} bytes");
        return Err(Error::input(InputPlace::file(path), message));
    }
    Ok(text)
}

/// Reads TOML text as a value of any type; errors name the line.
pub fn parse_toml<T: DeserializeOwned>(text: &str, path: &Path) -> Result<T> {
    toml::from_str(text).map_err(|e| {
        let line = e
            .span()
            .map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        let place = line
            .map(|line| format!("line {line}: "))
            .unwrap_or_default();
        in_file(
            path,
            &format!("{place}{}", Error::explain_renamed(e.message())),
        )
    })
}

fn read_table(path: &Path) -> Result<Table> {
    read_toml(path)
}

fn in_file(path: &Path, message: &str) -> Error {
    Error::setting(format!("{}: {message}", path.display()))
}

fn check_names<O: Args>(table: &Table, path: &Path, command: &str) -> Result<()> {
    let flags = O::augment_args(clap::Command::new("settings"));
    let names: Vec<&str> = flags
        .get_arguments()
        .map(|argument| argument.get_id().as_str())
        .collect();
    let is_known = |name: &str| names.contains(&name);
    let Some(key) = table.keys().find(|key| !is_known(key)) else {
        return Ok(());
    };
    Err(match Error::renamed_word(key, is_known) {
        Some(new) => in_file(path, &format!("'{key}' is called '{new}' now")),
        None => in_file(path, &format!("unknown setting '{key}' for {command}"))
            .with_remedy(format!("choose one of: {}", names.join(", "))),
    })
}

/// Reads every setting separately, since an error of the whole table does not name the setting.
fn check_values<O: DeserializeOwned>(table: &Table, path: &Path) -> Result<()> {
    for (name, value) in table {
        let single = Table::from_iter([(name.clone(), value.clone())]);
        single.try_into::<O>().map(drop).map_err(|e| {
            in_file(
                path,
                &format!("{name}: {}", Error::explain_renamed(e.message())),
            )
        })?;
    }
    Ok(())
}
