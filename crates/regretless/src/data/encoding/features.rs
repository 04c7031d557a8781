//! Features that are made from raw columns: before and after their encoding.

use std::borrow::Cow;
use std::sync::Arc;

use super::super::{FeatureShape, Features, Matrix, check_names};
use super::cells::EncodedRows;
use super::options::FeatureOptions;
use super::raw::{FeatureTable, RawCells, RawColumn, RawRows, RawTable};
use super::{CellKind, FeatureEncoding, FeatureSource, FeatureSourceKind};
use crate::error::{Error, InputPlace, Result};

/// The state of features that are or will be encoded.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::data) struct RawFeatures {
    pub rows: RawRows,
    /// The encoding that the values were made with; none before the table is divided.
    pub encoding: Option<Arc<FeatureEncoding>>,
    /// Whether training rows have target statistics of the other folds, not those of the encoding.
    pub(super) is_cross_fitted: bool,
    pub(super) notes: Arc<Vec<String>>,
}

impl RawFeatures {
    /// The listed rows of features.
    pub fn select(&self, rows: &[usize]) -> Self {
        Self {
            rows: self.rows.select(rows),
            ..self.clone()
        }
    }
}

impl Features {
    /// Columns of numbers, texts and dates in memory, from which the features of a table or of a
    /// row are made.
    ///
    /// ```
    /// use regretless::data::{FeatureOptions, Features};
    ///
    /// let features = Features::builder()
    ///     .numbers("temperature", vec![12.5, f32::NAN])
    ///     .texts("shop", [Some("north"), Some("south")])
    ///     .dates("date", [Some("2026-01-30"), Some("2026-01-31")])?
    ///     .features(FeatureOptions::default())?;
    /// assert_eq!(features.instances(), 2);
    /// # Ok::<(), regretless::Error>(())
    /// ```
    pub fn builder() -> FeatureTable {
        FeatureTable::default()
    }

    /// Features of raw columns; they are plain features if all columns are numbers without gaps.
    pub(crate) fn from_raw_table(table: RawTable, shape: FeatureShape) -> Result<Self> {
        let names: Vec<String> = table
            .columns
            .iter()
            .map(|column| column.name.clone())
            .collect();
        check_names(&names, "feature")?;
        if let Some(pattern) = table.options.unmatched_pattern(&names) {
            return Err(Error::setting(format!("no feature is named '{pattern}'"))
                .with_remedy(format!("the features are {}", names.join(", "))));
        }
        if table.columns.is_empty() || table.is_plain() {
            let values = Matrix::new(table.rows, table.width, table.numbers)?;
            return Self::new(values, shape, Some(names));
        }
        Ok(Self::from_raw_rows(RawRows::all(table), shape))
    }

    /// The raw columns that are not encoded yet, or else the features themselves.
    pub(crate) fn into_raw_rows(self) -> std::result::Result<RawRows, Self> {
        match self.raw {
            Some(raw) if raw.encoding.is_none() => Ok(raw.rows),
            raw => Err(Self { raw, ..self }),
        }
    }

    /// The values alone.
    pub(crate) fn into_values(self) -> Matrix {
        self.values
    }

    pub(crate) fn from_raw_rows(rows: RawRows, shape: FeatureShape) -> Self {
        Self {
            values: Matrix::zeros(rows.len(), 0),
            shape,
            names: Vec::new(),
            raw: Some(Box::new(RawFeatures {
                rows,
                encoding: None,
                is_cross_fitted: false,
                notes: Arc::new(Vec::new()),
            })),
        }
    }

    /// Whether the features are raw columns that are not encoded yet.
    pub fn are_raw(&self) -> bool {
        self.raw.as_ref().is_some_and(|raw| raw.encoding.is_none())
    }

    /// Names of the columns of the table: those of the raw ones, if there are any.
    pub fn column_names(&self) -> Vec<String> {
        match &self.raw {
            None => self.names.clone(),
            Some(raw) => {
                let columns = raw.rows.table().columns.iter();
                columns.map(|column| column.name.clone()).collect()
            }
        }
    }

    /// The encoding that the features were made with.
    pub fn encoding(&self) -> Option<&Arc<FeatureEncoding>> {
        self.raw.as_ref().and_then(|raw| raw.encoding.as_ref())
    }

    /// The first column of the table that is a date, once features are encoded.
    pub fn date_column(&self) -> Option<String> {
        let sources = self.sources();
        let date = sources
            .iter()
            .find(|source| source.kind == FeatureSourceKind::Date)?;
        self.column_names().into_iter().nth(date.column)
    }

    /// Where each feature comes from.
    pub(crate) fn sources(&self) -> Vec<FeatureSource> {
        let plain = |column: usize| FeatureSource {
            column,
            kind: FeatureSourceKind::Number,
        };
        match self.encoding() {
            None => (0..self.names.len()).map(plain).collect(),
            Some(encoding) => encoding.sources(),
        }
    }

    /// Values that no training row has and gaps that were handled in encoding, for people: one
    /// sentence for each column with the number of rows and the place of the first.
    pub fn encoding_notes(&self) -> &[String] {
        self.raw.as_ref().map_or(&[], |raw| raw.notes.as_slice())
    }

    /// The same raw columns, encoded; plain features may be the columns of an encoding whose
    /// columns are numbers.
    ///
    /// # Errors
    /// When a column is missing or holds something else, or a cell is a gap where none is allowed.
    pub fn encode_by(&self, encoding: &Arc<FeatureEncoding>) -> Result<Self> {
        let rows = match &self.raw {
            Some(raw) => raw.rows.clone(),
            None => self.as_raw_rows(),
        };
        let encoded = encoding.encode(&rows)?;
        self.with_encoded(rows, encoding, encoded)
    }

    pub(super) fn with_encoded(
        &self,
        rows: RawRows,
        encoding: &Arc<FeatureEncoding>,
        encoded: EncodedRows,
    ) -> Result<Self> {
        let values = Matrix::new(rows.len(), encoded.width, encoded.values)?;
        let mut features = Self::new(values, self.shape, Some(encoding.feature_names()))?;
        features.raw = Some(Box::new(RawFeatures {
            rows,
            encoding: Some(Arc::clone(encoding)),
            is_cross_fitted: false,
            notes: Arc::new(encoded.notes),
        }));
        Ok(features)
    }

    /// Plain numbers as raw columns.
    fn as_raw_rows(&self) -> RawRows {
        let columns = self.names.iter().enumerate();
        let columns = columns.map(|(slot, name)| RawColumn {
            name: name.clone(),
            cells: RawCells::Numbers { slot },
        });
        RawRows::all(RawTable {
            columns: columns.collect(),
            numbers: self.values.as_slice().to_vec(),
            width: self.values.cols(),
            rows: self.values.rows(),
            options: FeatureOptions::default(),
            origin: None,
        })
    }

    /// The features under another encoding, or that of a model without one; borrowed if they are
    /// those already.
    ///
    /// # Errors
    /// As [`Features::encode_by`], and when raw columns are given to a model of numbers.
    pub(crate) fn encoded_for(
        &self,
        encoding: Option<&Arc<FeatureEncoding>>,
    ) -> Result<Cow<'_, Self>> {
        match (&self.raw, encoding) {
            (None, None) => Ok(Cow::Borrowed(self)),
            (Some(raw), Some(encoding)) => {
                // Cross-fitted training rows differ from what the encoding gives for the same
                // cells, so a model that predicts them again encodes them again.
                let is_same = !raw.is_cross_fitted
                    && raw
                        .encoding
                        .as_ref()
                        .is_some_and(|known| Arc::ptr_eq(known, encoding) || known == encoding);
                if is_same {
                    return Ok(Cow::Borrowed(self));
                }
                self.encode_by(encoding).map(Cow::Owned)
            }
            // Plain features under the encoded names are encoded already.
            (None, Some(encoding)) if self.names == encoding.feature_names() => {
                Ok(Cow::Borrowed(self))
            }
            (None, Some(encoding)) => self.encode_by(encoding).map(Cow::Owned),
            (Some(raw), None) if raw.encoding.is_some() => Ok(Cow::Borrowed(self)),
            (Some(raw), None) => self.plain_columns(raw).map(Cow::Owned),
        }
    }

    /// Raw columns for a model that was trained on numbers alone: gaps and texts are errors.
    fn plain_columns(&self, raw: &RawFeatures) -> Result<Self> {
        let table = raw.rows.table();
        let mut slots = Vec::new();
        for column in &table.columns {
            match &column.cells {
                RawCells::Numbers { slot } => slots.push(*slot),
                RawCells::Texts(_) | RawCells::Times(_) => {
                    let place = InputPlace::default().column(&column.name);
                    return Err(Error::input(
                        raw.rows.in_file(place),
                        "the column holds text or dates, but the model was trained on numbers",
                    ));
                }
            }
        }
        let mut values = Vec::with_capacity(raw.rows.len() * slots.len());
        for row in 0..raw.rows.len() {
            let source = raw.rows.row(row);
            for (slot, column) in slots.iter().zip(&table.columns) {
                let number = source.map_or(0.0, |row| table.numbers[row * table.width + slot]);
                if number.is_nan() {
                    let message = "the value is missing, but the model was trained without gaps";
                    return Err(raw.rows.cell_error(row, &column.name, message));
                }
                values.push(number);
            }
        }
        let values = Matrix::new(raw.rows.len(), slots.len(), values)?;
        Self::new(values, self.shape, Some(self.column_names()))
    }

    /// The features of a model's raw columns as numbers in their order.
    pub(crate) fn from_raw_numbers(
        values: &[f64],
        shape: FeatureShape,
        encoding: &Arc<FeatureEncoding>,
    ) -> Result<Self> {
        if !encoding.has_numbers_only() {
            let kinds = encoding
                .cell_kinds()
                .into_iter()
                .zip(encoding.column_names());
            let others: Vec<String> = kinds
                .filter(|(kind, _)| *kind != CellKind::Numbers)
                .map(|(_, name)| name)
                .collect();
            return Err(Error::data(format!(
                "the model has columns that are no numbers: {}",
                others.join(", ")
            ))
            .with_remedy("build the row with `Features::builder`"));
        }
        let names = encoding.column_names();
        let values = Matrix::from_f64(shape.rows_per_instance(), names.len(), values)?;
        let plain = Self {
            values,
            shape,
            names,
            raw: None,
        };
        plain.encode_by(encoding)
    }
}

impl FeatureOptions {
    /// The first pattern that matches none of these names.
    fn unmatched_pattern(&self, names: &[String]) -> Option<&str> {
        let is_matched = |pattern: &str| {
            names
                .iter()
                .any(|name| crate::text::matches_pattern(pattern, name))
        };
        self.patterns().find(|pattern| !is_matched(pattern))
    }
}

impl RawTable {
    /// Whether all columns are numbers without gaps that are used as they are.
    fn is_plain(&self) -> bool {
        let is_number = |column: &RawColumn| {
            matches!(column.cells, RawCells::Numbers { .. }) && !self.options.is_text(&column.name)
        };
        self.width == self.columns.len()
            && self.columns.iter().all(is_number)
            && !self.numbers.iter().any(|number| number.is_nan())
    }
}
