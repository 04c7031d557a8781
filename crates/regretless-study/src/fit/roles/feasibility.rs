//! Whether columns can be the decisions of their rows: the problem itself knows.

use regretless::Decision;
use regretless::data::{Layout, TableSource, WideColumns};
use regretless::job::MatchedTable;
use regretless::oracle::Oracle;
use regretless_base::error::Result;

use crate::fit::FitSettings;

/// Columns that may be decisions, in the order of the costs.
pub(in crate::fit) struct DecisionColumns {
    pub costs: Vec<String>,
    /// What the problem calls these costs, if it has names.
    pub cost_names: Option<Vec<String>>,
    pub decisions: Vec<String>,
}

/// What the problem says about rows of decisions.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::fit) struct DecisionFit {
    pub rows: usize,
    /// Rows that are not feasible.
    pub infeasible: usize,
    /// The first of them and why.
    pub first: Option<String>,
    /// Whether every row but the first is feasible with the numbers of the row before it.
    pub fits_row_before: bool,
}

/// Says what the problem says about columns; `None` where it cannot tell.
pub(in crate::fit) type DecisionTest<'a> = dyn Fn(&DecisionColumns) -> Option<DecisionFit> + 'a;

impl DecisionFit {
    /// Checks the rows of a table; `None` where they cannot be read, or the problem has costs that
    /// only the solver knows.
    pub fn of(settings: &FitSettings, columns: &DecisionColumns) -> Option<Self> {
        Self::read(settings, columns).ok().flatten()
    }

    fn read(settings: &FitSettings, columns: &DecisionColumns) -> Result<Option<Self>> {
        let source = TableSource::Csv {
            file: settings.file.clone(),
            layout: Layout::Wide(WideColumns {
                features: columns.decisions.clone(),
                costs: columns.costs.clone(),
                ..WideColumns::default()
            }),
            dialect: settings.dialect,
            parameters: settings.parameters.clone(),
        };
        let (problem, mut data) = source.read_for(settings.problem.clone())?;
        if let Some(names) = &columns.cost_names {
            data.rename_costs(names.clone().into())?;
        }
        let names = columns.cost_names.as_ref().unwrap_or(&columns.costs);
        let table = MatchedTable::open(problem.kind().as_ref(), data, "the table")?;
        let place = |name: &String| names.iter().position(|known| known == name);
        let ordered: Option<Vec<usize>> = table
            .data()
            .cost_names()
            .to_vec()
            .iter()
            .map(place)
            .collect();
        let is_unknown = !problem.kind().model_parts().auxiliary_names().is_empty();
        let Some(ordered) = ordered.filter(|_| !is_unknown) else {
            return Ok(None);
        };
        let oracle =
            Oracle::new(problem.kind().clone()).with_parameters(table.data().parameters())?;
        let values = source.read_features(&columns.decisions)?;
        let values = values.values();
        let decision = |row: usize| {
            let cells = values.row(row);
            let dense: Vec<f64> = ordered.iter().map(|at| f64::from(cells[*at])).collect();
            Decision::from_dense(&dense)
        };
        let mut found = Self {
            rows: values.rows(),
            fits_row_before: values.rows() > 1,
            ..Self::default()
        };
        for row in 0..values.rows() {
            let decision = decision(row);
            if let Err(reason) = check(&oracle, row, &decision) {
                found.infeasible += 1;
                let number = source.row_number(row);
                found.first.get_or_insert(format!("row {number}: {reason}"));
            }
            if row > 0 && found.fits_row_before {
                found.fits_row_before = check(&oracle, row - 1, &decision).is_ok();
            }
        }
        Ok(Some(found))
    }
}

/// Checks a decision with the numbers of a row.
fn check(oracle: &Oracle, row: usize, decision: &Decision) -> std::result::Result<(), String> {
    let problem = oracle.row_problem(row);
    let problem = problem.map_err(|failure| failure.to_string())?;
    problem.check_complete(decision, &[])
}
