//! Notes that are known before anything is trained.

use super::{Note, NoteKind, add};
use crate::data::Finding;
use crate::label::LabeledDataset;
use crate::method::Method;
use crate::oracle::Oracle;

/// Most findings of the data check that become notes; the check itself has all. More would hide the
/// other notes.
const MAX_FINDINGS: usize = 8;

/// What is about to be trained: one method, or those of a comparison or a backtest.
///
/// ```
/// use regretless::label::LabeledDataset;
/// use regretless::notes::{PlannedTraining, findings_of_split};
/// use regretless::observer::NoopObserver;
/// use regretless::oracle::Oracle;
/// use regretless::{Dataset, Method, Problem, Split};
///
/// let problem = Problem::benchmark("KS8")?;
/// let oracle = Oracle::new(problem.kind().clone());
/// let data = Dataset::generate(&problem, 60)?;
/// let data = LabeledDataset::solve(data, &oracle, &NoopObserver)?;
/// let split = Split::random(0).apply(data.len())?;
/// let findings = findings_of_split(&data, &split, |check| Ok(check.run()))?;
/// let planned = PlannedTraining::new(&[Method::auto()], &data, &oracle, &findings).notes();
/// assert!(planned.is_empty());
/// # Ok::<(), regretless::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct PlannedTraining<'a> {
    /// What is trained.
    pub methods: &'a [Method],
    /// The labeled rows with encoded features.
    pub data: &'a LabeledDataset,
    /// Solves the problem.
    pub oracle: &'a Oracle,
    /// What the data check found in these rows.
    pub findings: &'a [Finding],
    /// How the user writes a split by the dates of the table, if it has some and the split was left
    /// to the program.
    pub time_split: Option<&'a str>,
}

impl<'a> PlannedTraining<'a> {
    /// A training whose method and split were chosen by the user.
    pub fn new(
        methods: &'a [Method],
        data: &'a LabeledDataset,
        oracle: &'a Oracle,
        findings: &'a [Finding],
    ) -> Self {
        Self {
            methods,
            data,
            oracle,
            findings,
            time_split: None,
        }
    }

    /// What the user should know before it begins, without the notes about labels.
    pub fn notes(&self) -> Vec<Note> {
        let mut notes = Vec::new();
        notes.extend(self.time_split.map(Note::of_random_split));
        add(&mut notes, NoteKind::UnusedColumn, self.unused_columns());
        add(&mut notes, NoteKind::Encoding, self.encoding());
        self.add_findings(&mut notes);
        add(&mut notes, NoteKind::Unboundedness, self.unboundedness());
        add(&mut notes, NoteKind::Scale, self.scale());
        notes
    }

    fn unused_columns(&self) -> Vec<String> {
        let encoding = self.data.data().features().encoding();
        let mut texts = Vec::new();
        for (name, reason) in encoding
            .iter()
            .flat_map(|encoding| encoding.unused_columns())
        {
            texts.push(format!("column {name} is not used: {reason}"));
        }
        texts
    }

    fn encoding(&self) -> Vec<String> {
        self.data.data().features().encoding_notes().to_vec()
    }

    /// The first findings of the data check, and how many there are.
    fn add_findings(&self, notes: &mut Vec<Note>) {
        for finding in self.findings.iter().take(MAX_FINDINGS) {
            let kind = NoteKind::DataCheck(Some(finding.kind));
            notes.push(Note::new(kind, finding.message.clone()));
        }
        let count = self.findings.len();
        if count > MAX_FINDINGS {
            let text = format!("{count} findings in total; `check` lists all");
            notes.push(Note::new(NoteKind::DataCheck(None), text));
        }
    }

    fn unboundedness(&self) -> Option<String> {
        self.oracle.problem().failure_reasons().unboundedness_note()
    }

    /// Known costs of columns or, where there are none, of decisions.
    fn scale(&self) -> Option<String> {
        let problem = self.oracle.problem().as_ref();
        let of_columns = Method::scale_warning(self.methods, problem);
        of_columns.or_else(|| {
            let rows = self.data.rows();
            Method::decision_scale_warning(self.methods, problem, self.data, &rows)
        })
    }
}

impl Note {
    /// When a table with dates is split at random; `time_split` is how the user writes a split by
    /// them.
    pub fn of_random_split(time_split: &str) -> Self {
        Self::new(
            NoteKind::TimeSplit,
            format!(
                "rows are split at random; if future rows are to be decided, test on the latest \
                 ones: {time_split}"
            ),
        )
    }
}
