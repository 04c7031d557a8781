//! Row parameters in files of their own: a CSV file with one row per instance, or an array.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::csv::{self, ParameterTable};
use super::npy::{ParameterArray, Storage};
use super::{CsvDialect, InstanceKeys, ParameterColumns, RowParameters, SharedArray};
use crate::error::{Error, InputPlace, Result};
use crate::text::matches_pattern;

/// A file of row parameters.
#[derive(Debug)]
enum ParameterFile {
    /// `capacity=file.npy`.
    Array { name: String, path: PathBuf },
    /// A CSV file with one row per instance.
    Table { path: PathBuf },
}

impl ParameterFile {
    fn parse(text: &str) -> Result<Self> {
        let is_array = Path::new(text)
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("npy"));
        if !is_array {
            return Ok(Self::Table { path: text.into() });
        }
        match text.split_once('=') {
            Some((name, path)) if !name.trim().is_empty() && !path.is_empty() => Ok(Self::Array {
                name: name.trim().to_owned(),
                path: path.into(),
            }),
            _ => Err(Error::setting(format!(
                "'{text}' does not say which parameter the array holds"
            ))
            .with_remedy(format!(
                "write capacity={text}, with the name of the parameter"
            ))),
        }
    }
}

/// The parameters of a problem that are in files of their own.
#[derive(Debug, Default)]
pub(super) struct ParameterFiles {
    columns: Vec<FileColumn>,
    /// The parameters that no file has.
    pub others: Vec<ParameterColumns>,
}

/// A column of one file.
#[derive(Debug)]
struct FileColumn {
    name: String,
    width: usize,
    values: Arc<dyn SharedArray<f64>>,
    file: PathBuf,
    /// The instance of each row, if the file names them.
    instances: Option<Arc<InstanceKeys>>,
}

impl ParameterFiles {
    /// Reads the parameters that the files have. A file that names instances is matched by name.
    ///
    /// # Errors
    /// When a file cannot be read, has other numbers per row than a parameter, or no parameter.
    pub fn read(
        files: &[String],
        parameters: &[ParameterColumns],
        dialect: CsvDialect,
        instance_column: Option<&str>,
    ) -> Result<Self> {
        let parsed: Vec<ParameterFile> = (files.iter())
            .map(|text| ParameterFile::parse(text))
            .collect::<Result<_>>()?;
        let mut others = parameters.to_vec();
        let mut read = Self::default();
        for (file, text) in parsed.iter().zip(files) {
            let found = match file {
                ParameterFile::Array { name, path } => read.add_array(name, path, &others)?,
                ParameterFile::Table { path } => {
                    read.add_table(path, &others, dialect, instance_column)?
                }
            };
            if !found {
                let patterns = others.iter().map(|parameter| parameter.pattern.as_str());
                let is_in_files = |pattern: &&str| *pattern != RowParameters::PRESENT_ITEMS;
                let wanted: Vec<&str> = patterns.filter(is_in_files).collect();
                let remedy = if wanted.is_empty() {
                    "leave the file out".to_owned()
                } else {
                    format!("it needs: {}", wanted.join(", "))
                };
                let message = format!("{text}: the problem needs no parameter of this file");
                return Err(Error::setting(message).with_remedy(remedy));
            }
            // Arrays may share a pattern; a table has all columns of one.
            if matches!(file, ParameterFile::Table { .. }) {
                others.retain(|parameter| !read.has(&parameter.pattern));
            }
        }
        for parameter in &others {
            if let Some(first) = read.matching(&parameter.pattern).next() {
                let width = read.matching(&parameter.pattern).map(|column| column.width);
                parameter.check_count(width.sum(), InputPlace::file(&first.file))?;
            }
        }
        others.retain(|parameter| !read.has(&parameter.pattern));
        read.others = others;
        Ok(read)
    }

    fn add_array(
        &mut self,
        name: &str,
        path: &Path,
        parameters: &[ParameterColumns],
    ) -> Result<bool> {
        if !(parameters.iter()).any(|parameter| matches_pattern(&parameter.pattern, name)) {
            return Ok(false);
        }
        let names_nodes = |parameter: &&ParameterColumns| {
            let names = parameter.names.as_ref();
            matches_pattern(&parameter.pattern, name)
                && names.is_some_and(|names| !names.are_numbers())
        };
        if parameters.iter().any(|parameter| names_nodes(&parameter)) {
            let message = format!("'{name}' names nodes by text, and an array holds numbers");
            return Err(Error::input(InputPlace::file(path), message)
                .with_remedy("use a CSV file with the names of the nodes"));
        }
        let array = ParameterArray::read(path, Storage::BySize)?;
        self.columns.push(FileColumn {
            name: name.to_owned(),
            width: array.width,
            values: array.values,
            file: path.to_owned(),
            instances: None,
        });
        Ok(true)
    }

    fn add_table(
        &mut self,
        path: &Path,
        parameters: &[ParameterColumns],
        dialect: CsvDialect,
        instance_column: Option<&str>,
    ) -> Result<bool> {
        let ParameterTable { columns, instances } =
            csv::read_parameters(path, parameters, dialect, instance_column)?;
        let instances = instances.map(Arc::new);
        let found = !columns.is_empty();
        for (name, values) in columns {
            self.columns.push(FileColumn {
                name,
                width: 1,
                values: Arc::new(values),
                file: path.to_owned(),
                instances: instances.clone(),
            });
        }
        Ok(found)
    }

    fn has(&self, pattern: &str) -> bool {
        self.matching(pattern).next().is_some()
    }

    fn matching<'a>(&'a self, pattern: &'a str) -> impl Iterator<Item = &'a FileColumn> {
        let columns = self.columns.iter();
        columns.filter(move |column| matches_pattern(pattern, &column.name))
    }

    /// Whether rows are matched by the names of instances, so those of the table are needed.
    pub fn name_instances(&self) -> bool {
        self.columns.iter().any(|column| column.instances.is_some())
    }

    /// Adds the columns to the parameters of a table; `instances` are the names of its instances,
    /// if it has them.
    ///
    /// # Errors
    /// When a file has not one row per instance.
    pub fn add_to(
        self,
        mut parameters: RowParameters,
        instances: Option<&InstanceKeys>,
    ) -> Result<RowParameters> {
        let rows = parameters.rows();
        for column in self.columns {
            let place = || InputPlace::file(&column.file);
            let values = match (&column.instances, instances) {
                (Some(actual), Some(wanted)) => {
                    let order = order(actual.values(), wanted.values(), &place())?;
                    let all = column.values.values();
                    Arc::new(order.iter().map(|row| all[*row]).collect::<Vec<f64>>())
                }
                (None, _) | (_, None) => column.values,
            };
            if values.values().len() != rows * column.width {
                let found = values.values().len() / column.width;
                let message = format!("{found} rows of parameters for {rows} instances");
                return Err(Error::input(place(), message)
                    .with_remedy("each row belongs to one instance of the table, in its order"));
            }
            parameters = parameters.with_column(column.name, column.width, values)?;
        }
        Ok(parameters)
    }
}

/// The row of each wanted instance.
fn order(actual: &[String], wanted: &[String], place: &InputPlace) -> Result<Vec<usize>> {
    let rows: HashMap<&str, usize> = (actual.iter().enumerate())
        .map(|(row, name)| (name.as_str(), row))
        .collect();
    let row = |name: &String| {
        rows.get(name.as_str()).copied().ok_or_else(|| {
            let message = format!("no row has the parameters of instance '{name}'");
            Error::input(place.clone(), message)
        })
    };
    wanted.iter().map(row).collect()
}
