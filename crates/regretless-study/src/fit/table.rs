//! The table of a fit: its roles, its rows, and what the user already has.

use std::path::Path;
use std::sync::Arc;

use regretless::data::{Layout, TableSource, WideColumns};
use regretless::job::{LabeledTable, MatchedTable, RowLabels};
use regretless::label::LabelStore;
use regretless::notes::Note;
use regretless::oracle::Oracle;
use regretless::parallel::Threads;
use regretless::{Decision, Problem};
use regretless_base::error::{Error, Result};
use regretless_base::observer::Observer;

use super::{FitSettings, ProblemColumnNames, TableRoles};
use crate::backtest::{GivenMethod, Periods};

/// The name of the user's decisions in tables.
const DECISIONS_NAME: &str = "past decisions";

/// A table whose columns have roles, read for its problem.
pub struct FitTable {
    /// What each column is.
    pub roles: TableRoles,
    /// The problem of the table.
    pub problem: Problem,
    /// What the user should know about the table.
    pub notes: Vec<Note>,
    pub(super) source: TableSource,
    pub(super) table: MatchedTable,
    pub(super) periods: Periods,
}

impl FitTable {
    /// Reads the table; its columns get their roles first.
    ///
    /// # Errors
    /// When a role cannot be told (the remedy has a flag for each reading), or the table does not
    /// fit the problem.
    pub fn read(settings: &FitSettings) -> Result<Self> {
        let source = source(settings, WideColumns::default());
        let in_file = |error: Error| error.in_file(&settings.file);
        let profile = source.profile()?;
        let names = problem_columns(settings)?;
        let roles = TableRoles::of(&profile, &names, &settings.roles).map_err(in_file)?;
        let columns = WideColumns {
            features: roles.features.clone(),
            costs: roles.costs.clone(),
            ignore: Vec::new(),
            options: settings.features.clone(),
        };
        let source = self::source(settings, columns);
        let (problem, mut data) = source.read_for(settings.problem.clone())?;
        if let Some(names) = &roles.cost_names {
            data.rename_costs(names.clone().into()).map_err(in_file)?;
        }
        let table = MatchedTable::open(problem.kind().as_ref(), data, "the table");
        let table = table.map_err(in_file)?;
        let periods = match &roles.time {
            Some(time) => Periods::read(&source, time)?,
            None => Periods::without_times(table.data().len(), u64::from(settings.seed))?,
        };
        Ok(Self {
            roles,
            problem,
            notes: table.notes().to_vec(),
            source,
            table,
            periods,
        })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.table.data().len()
    }

    /// The periods of the rows; rows without times are periods in random order.
    pub fn periods(&self) -> &Periods {
        &self.periods
    }

    /// Solves every row; labels that are stored next to the table are used.
    pub(super) fn label(
        &self,
        settings: &FitSettings,
        observer: &dyn Observer,
    ) -> Result<(LabeledTable, Oracle)> {
        let in_file = |error: Error| error.in_file(&settings.file);
        let oracle = Oracle::new(self.problem.kind().clone())
            .with_threads(Threads::new(settings.threads)?)
            .with_limits(settings.limits)
            .with_heuristic(settings.heuristic)
            .and_then(|oracle| oracle.with_parameters(self.table.data().parameters()))
            .map_err(in_file)?;
        let store = LabelStore::for_table(&settings.file);
        let table = MatchedTable::new(self.table.data().clone());
        let labels = RowLabels::Stored(&store);
        let labeled = table.label(&self.problem, &oracle, labels, observer);
        Ok((labeled.map_err(in_file)?, oracle))
    }

    /// What the user already has: decisions that were made, and columns that are forecasts. Reasons
    /// why some cannot be compared are in the second list.
    pub(super) fn given(&self, file: &Path) -> Result<(Vec<GivenMethod>, Vec<String>)> {
        let (mut given, mut reasons) = (Vec::new(), Vec::new());
        let in_order = self.in_order_of_problem();
        if !self.roles.forecasts.is_empty() {
            let names = in_order(&self.roles.forecasts);
            let values = self.source.read_features(&names)?;
            given.push(GivenMethod::Predictions {
                name: format!("columns {}", common_pattern(&self.roles.forecasts)),
                costs: Arc::new(values.values().clone()),
            });
        }
        if !self.roles.decisions.is_empty() {
            if !self.problem.kind().auxiliary_names().is_empty() {
                reasons.push(format!(
                    "{DECISIONS_NAME} are not compared: the table lacks the columns with known \
                     costs; give all of them to a backtest"
                ));
            } else {
                let names = in_order(&self.roles.decisions);
                let values = self.source.read_features(&names);
                let values = values.map_err(|error| error.in_file(file))?;
                let values = values.values();
                let mut decisions = Vec::with_capacity(values.rows());
                for row in 0..values.rows() {
                    let dense = values.row(row).iter().copied().map(f64::from);
                    decisions.push(Some(Decision::from_dense(&dense.collect::<Vec<f64>>())));
                }
                given.push(GivenMethod::Decisions {
                    name: DECISIONS_NAME.into(),
                    columns: values.cols(),
                    decisions: Arc::new(decisions),
                });
            }
        }
        Ok((given, reasons))
    }

    /// Puts columns that belong to the costs of the table, one each, in the order of the problem.
    fn in_order_of_problem(&self) -> impl Fn(&[String]) -> Vec<String> + '_ {
        let ordered = self.table.data().cost_names().to_vec();
        move |columns| {
            let mut found = Vec::with_capacity(columns.len());
            for (position, cost) in ordered.iter().enumerate() {
                let place = self.roles.costs.iter().position(|name| name == cost);
                found.push(columns[place.unwrap_or(position)].clone());
            }
            found
        }
    }
}

/// The pattern of names that are alike.
fn common_pattern(names: &[String]) -> String {
    let (start, end) = regretless_base::text::common_ends(names);
    let first = &names[0];
    format!("{}*{}", &first[..start], &first[first.len() - end..])
}

fn source(settings: &FitSettings, columns: WideColumns) -> TableSource {
    TableSource::Csv {
        file: settings.file.clone(),
        layout: Layout::Wide(columns),
        dialect: settings.dialect,
        parameters: settings.parameters.clone(),
    }
}

/// What the problem says about columns. The costs of a problem with open items are those of the
/// table.
fn problem_columns(settings: &FitSettings) -> Result<ProblemColumnNames> {
    let spec = &settings.problem;
    let parameters = spec.parameter_columns()?;
    let parameters = parameters.into_iter().map(|parameter| parameter.pattern);
    let mut names = ProblemColumnNames {
        parameters: parameters.collect(),
        ..ProblemColumnNames::default()
    };
    if !spec.has_open_items() {
        let problem = Problem::from_spec(spec.clone())?;
        names.num_costs = Some(problem.kind().num_costs());
        let costs = problem.kind().cost_names();
        names.costs = costs
            .filter(|names| names.are_explicit())
            .map(|names| names.to_vec());
    }
    Ok(names)
}
