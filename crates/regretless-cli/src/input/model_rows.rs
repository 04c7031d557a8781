//! Tables for a trained model: with the columns that it names, or new rows to decide.

use std::path::Path;

use regretless::data::{
    Dataset, FeatureShape, Features, InstanceKeys, Layout, LongColumns, RowParameters, TableSource,
    WideColumns,
};
use regretless::predict::CostModel;
use regretless::problem::ProblemSpec;
use regretless::{Error, Model, Problem, Result};

use super::{TableFormat, checked_keys, refuse_key, table_source};
use crate::args::{ColumnOptions, CsvOptions, DataOptions, ParameterOptions};

/// The files and the layout of a table for a model.
pub fn table_source_for_model(options: &DataOptions, model: &Model) -> Result<TableSource> {
    let predictor = model.predictor();
    let mut source = table_source(&options_for_model(options, predictor))?;
    source.read_features_as(predictor.reading_options());
    let is_long = matches!(predictor.metadata.shape, FeatureShape::Long { .. });
    let is_parametric = matches!(model.problem().spec(), ProblemSpec::Parametric { .. });
    if let TableSource::Csv {
        layout: Layout::Long(columns),
        ..
    } = &mut source
        && columns.item.is_some()
        && is_long
        && is_parametric
    {
        // Instances may lack items that the model knows, even all instances of the table.
        columns.items = predictor.metadata.costs.to_vec();
    }
    Ok(source)
}

/// The options, completed from a model: names of features and costs, and the layout.
fn options_for_model(options: &DataOptions, model: &CostModel) -> DataOptions {
    let mut options = options.clone();
    options.features.get_or_insert_with(|| model.column_names());
    match model.metadata.shape {
        // Arrays have no names, and a list of all cost names could exceed the memory.
        FeatureShape::Wide
            if options
                .cost_data
                .as_deref()
                .is_some_and(|path| TableFormat::of_input(path).ok() == Some(TableFormat::Npy)) => {
        }
        FeatureShape::Wide => drop(
            options
                .costs
                .get_or_insert_with(|| model.metadata.costs.to_vec()),
        ),
        FeatureShape::Long { .. } => drop(
            options
                .columns
                .instance_column
                .get_or_insert_with(|| "instance".into()),
        ),
    }
    options
}

/// A table with the features of a model, under the model's names, and the model's problem for it.
pub fn dataset_for_model(source: &TableSource, model: &Model) -> Result<(Problem, Dataset)> {
    let (problem, data) = source.read_for_problem(model.problem())?;
    if !matches!(source, TableSource::Npy { .. }) {
        let data = model.predictor().encode_table(data)?;
        return Ok((problem, data));
    }
    if let TableSource::Npy { .. } = source {
        // Arrays have no names: columns are the model's features, in order, if the number fits.
        let features = source.read_features(&model.predictor().metadata.features)?;
        let named = Dataset::new(
            features,
            data.costs().clone(),
            Some(data.cost_names().clone()),
        )?;
        return Ok(match data.parameters() {
            Some(parameters) => (problem, named.with_parameters(parameters.as_ref().clone())?),
            None => (problem, named),
        });
    }
    Ok((problem, data))
}

/// New rows for a model: a table that need not have costs.
pub struct NewRows<'a> {
    /// The file.
    pub path: &'a Path,
    /// Which columns name instances and items.
    pub columns: &'a ColumnOptions,
    /// Delimiter and decimal separator.
    pub csv: &'a CsvOptions,
    /// Row parameters in files of their own.
    pub parameters: &'a ParameterOptions,
}

impl NewRows<'_> {
    /// The features of a model, and the parameters of its problem.
    pub fn read(&self, model: &Model) -> Result<(Features, RowParameters)> {
        let path = self.path.to_path_buf();
        let parameters = self.parameters.files();
        let source = match TableFormat::of_input(self.path)? {
            TableFormat::Csv => TableSource::Csv {
                file: path,
                layout: self.layout(model.predictor()),
                dialect: self.csv.dialect(self.path)?,
                parameters,
            },
            TableFormat::Npy => TableSource::Npy {
                features: path.clone(),
                costs: path,
                parameters,
            },
        };
        model
            .read_rows(&source)
            .map_err(|error| self.explain_missing_instances(error))
    }

    /// Says that the model needs a long table, if the column of its instances was not named and the
    /// table has none of the usual name.
    fn explain_missing_instances(&self, error: Error) -> Error {
        let standard = LongColumns::default().instance;
        let is_missing = matches!(&error, Error::Input { place, remedy: Some(_), .. }
            if place.row == Some(1) && place.column.as_deref() == Some(standard.as_str()));
        if self.columns.instance_column.is_some() || !is_missing {
            return error;
        }
        error.with_remedy(
            "the model was trained on a long table, with one row per instance and cost: name its \
             columns by --instance-column and --item-column, as in training",
        )
    }

    /// The keys of the rows: the cells of a column, the instances of a long table, or row numbers.
    pub fn keys(
        &self,
        model: &CostModel,
        key: Option<&str>,
        instances: usize,
    ) -> Result<InstanceKeys> {
        let keys = match TableFormat::of_input(self.path)? {
            TableFormat::Csv => {
                let dialect = self.csv.dialect(self.path)?;
                InstanceKeys::read_csv(self.path, &self.layout(model), key, dialect)?
            }
            TableFormat::Npy => refuse_key(self.path, key)?,
        };
        checked_keys(keys, instances)
    }

    fn layout(&self, model: &CostModel) -> Layout {
        match model.metadata.shape {
            FeatureShape::Wide => Layout::Wide(WideColumns::default()),
            FeatureShape::Long { .. } => {
                Layout::Long(self.columns.long(model.metadata.costs.to_vec()))
            }
        }
    }
}
