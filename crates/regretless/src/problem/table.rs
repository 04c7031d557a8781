//! Tables for a problem: its parameters per row, items and absent costs are read with them.

use serde_json::json;

use super::{Problem, ProblemSpec};
use crate::data::{
    Dataset, Features, ParameterColumns, ProblemColumns, RowParameters, TableSource, WantedFeatures,
};
use crate::error::{Error, InputPlace, Result};

impl<'a> ProblemColumns<'a> {
    /// The columns of a problem that is built.
    pub fn of(problem: &'a Problem) -> Self {
        let kind = problem.kind();
        Self {
            parameters: kind.row_problems().parameters(),
            cost_names: kind.names().cost_names(),
            may_have_absent_costs: kind.may_have_absent_costs()
                && problem.spec().presence_is_stated().unwrap_or(true),
            items_may_differ: problem.spec().items_may_differ(),
            without_features: false,
        }
    }

    /// The columns of a problem that is built once the table says how many items there are.
    pub fn of_open(spec: &ProblemSpec, parameters: &'a [ParameterColumns]) -> Self {
        Self {
            parameters,
            cost_names: None,
            may_have_absent_costs: spec.presence_is_stated().unwrap_or(true),
            items_may_differ: spec.items_may_differ(),
            without_features: false,
        }
    }
}

impl ProblemSpec {
    /// Whether the problem file itself says which items a row has, or which pairs are forbidden,
    /// rather than the rows of a long table; `None` for problems without parameters per row.
    fn presence_is_stated(&self) -> Option<bool> {
        let Self::Parametric { template } = self else {
            return None;
        };
        let by_rows = json!({ "column": RowParameters::PRESENT_ITEMS });
        let present = template.get("present");
        let is_stated = present.is_some_and(|present| *present != by_rows);
        Some(is_stated || template.get("forbidden").is_some())
    }
}

impl TableSource {
    /// Refuses a long table whose instances have different items if the problem file says too which
    /// items there are.
    fn check_presence(&self, spec: &ProblemSpec, parameters: Option<&RowParameters>) -> Result<()> {
        let may_lack_items = parameters.is_some_and(RowParameters::may_lack_items);
        if !may_lack_items || spec.presence_is_stated() != Some(true) {
            return Ok(());
        }
        let message = "the instances have different items, and the problem file says by `present` \
            which items there are; both cannot be combined";
        Err(
            Error::input(InputPlace::file(self.costs_file()), message).with_remedy(
                "give every instance a row for each item, or drop the rows of absent items and \
                 leave `present` out",
            ),
        )
    }

    /// Reads a table and builds its problem. Parameters per row are read from the files of
    /// parameters, or else from the table, where they may be features too. Costs may be absent if
    /// the problem allows it: empty cells are NaN until the table is labeled, and the instances of
    /// a long table may have different items.
    ///
    /// # Errors
    /// When the table is invalid or a parameter is missing, with the place; and when the problem
    /// cannot be built for this table.
    pub fn read_for(&self, problem: ProblemSpec) -> Result<(Problem, Dataset)> {
        self.read_for_spec(problem, false)
    }

    /// The same for a table of which only costs and parameters are used: features are placeholders,
    /// and their file is read only for long tables and if it has parameters.
    ///
    /// # Errors
    /// As [`TableSource::read_for`].
    pub fn read_costs_for(&self, problem: ProblemSpec) -> Result<(Problem, Dataset)> {
        self.read_for_spec(problem, true)
    }

    fn read_for_spec(
        &self,
        problem: ProblemSpec,
        without_features: bool,
    ) -> Result<(Problem, Dataset)> {
        if problem.has_open_items() {
            let parameters = problem.parameter_columns()?;
            let data = self.read_columns(&ProblemColumns {
                without_features,
                ..ProblemColumns::of_open(&problem, &parameters)
            })?;
            self.check_presence(&problem, data.parameters().map(AsRef::as_ref))?;
            return Ok((Problem::from_spec(problem.for_table(&data)?)?, data));
        }
        let problem = Problem::from_spec(problem)?;
        let data = self.read_columns(&ProblemColumns {
            without_features,
            ..ProblemColumns::of(&problem)
        })?;
        self.check_presence(problem.spec(), data.parameters().map(AsRef::as_ref))?;
        Ok((problem.for_table(&data)?, data))
    }

    /// As [`TableSource::read_for`] for the problem of a model, whose table may have had another
    /// number of items.
    ///
    /// # Errors
    /// As [`TableSource::read_for`].
    pub fn read_for_problem(&self, problem: &Problem) -> Result<(Problem, Dataset)> {
        let data = self.read_columns(&ProblemColumns::of(problem))?;
        self.check_presence(problem.spec(), data.parameters().map(AsRef::as_ref))?;
        Ok((problem.for_table(&data)?, data))
    }

    /// Reads the columns that a model expects, in its order, and the parameters that its problem
    /// has per row.
    ///
    /// # Errors
    /// As [`TableSource::read_features`], and when a parameter is missing.
    pub(crate) fn read_features_for(
        &self,
        wanted: &WantedFeatures<'_>,
        problem: &Problem,
    ) -> Result<(Features, RowParameters)> {
        let (features, parameters) =
            self.read_feature_columns(wanted, &ProblemColumns::of(problem))?;
        self.check_presence(problem.spec(), Some(&parameters))?;
        Ok((features, parameters))
    }
}
