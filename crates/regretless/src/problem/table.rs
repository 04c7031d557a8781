//! Tables for a problem: its parameters per row, items and absent costs are read with them.

use super::{Problem, ProblemSpec};
use crate::data::{
    Dataset, Features, ParameterColumns, ProblemColumns, RowParameters, TableSource,
};
use crate::error::Result;

impl<'a> ProblemColumns<'a> {
    /// The columns of a problem that is built.
    pub fn of(problem: &'a Problem) -> Self {
        let kind = problem.kind();
        Self {
            parameters: kind.parameters(),
            cost_names: kind.cost_names(),
            may_have_absent_costs: kind.may_have_absent_costs(),
            items_may_differ: problem.spec().items_may_differ(),
            without_features: false,
        }
    }

    /// The columns of a problem that is built once the table says how many items there are.
    pub fn of_open(spec: &ProblemSpec, parameters: &'a [ParameterColumns]) -> Self {
        Self {
            parameters,
            cost_names: None,
            may_have_absent_costs: true,
            items_may_differ: spec.items_may_differ(),
            without_features: false,
        }
    }
}

impl TableSource {
    /// Reads a table and builds its problem. Parameters per row are read from the files of
    /// parameters, or else from the table, where they may be features too. Costs may be absent
    /// where the problem allows it: empty cells are NaN until the table is labeled, and the
    /// instances of a long table may have different items.
    ///
    /// # Errors
    /// When the table is invalid or a parameter is missing, with the place; and when the problem
    /// cannot be built for this table.
    pub fn read_for(&self, problem: ProblemSpec) -> Result<(Problem, Dataset)> {
        self.read_for_spec(problem, false)
    }

    /// The same for a table of which only costs and parameters are used: features are placeholders,
    /// and their file is not read, except for long tables.
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
            return Ok((Problem::from_spec(problem.for_table(&data)?)?, data));
        }
        let problem = Problem::from_spec(problem)?;
        let data = self.read_columns(&ProblemColumns {
            without_features,
            ..ProblemColumns::of(&problem)
        })?;
        Ok((problem.for_table(&data)?, data))
    }

    /// As [`TableSource::read_for`] for the problem of a model, whose table may have had another
    /// number of items.
    ///
    /// # Errors
    /// As [`TableSource::read_for`].
    pub fn read_for_problem(&self, problem: &Problem) -> Result<(Problem, Dataset)> {
        let data = self.read_columns(&ProblemColumns::of(problem))?;
        Ok((problem.for_table(&data)?, data))
    }

    /// Reads the features that a model expects, in its order, and the parameters that its problem
    /// has per row.
    ///
    /// # Errors
    /// As [`TableSource::read_features`], and when a parameter is missing.
    pub fn read_features_for(
        &self,
        wanted: &[String],
        problem: &Problem,
    ) -> Result<(Features, RowParameters)> {
        self.read_feature_columns(wanted, &ProblemColumns::of(problem))
    }
}
