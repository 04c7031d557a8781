//! Every note that a training of the library can give is given where it belongs, and nowhere else.
//!
//! `testdata/notes/cases.json` has the tables and the texts; the command line and the Python
//! package are tested with the same file.

use std::sync::Mutex;

use regretless::data::{FeatureOptions, Layout, SplitRule, TableSource, WideColumns};
use regretless::observer::Observer;
use regretless::{Dataset, Error, Method, Problem, Trainer};
use serde_json::{Value, json};

use super::common::reference_data;
use crate::baseline::Baseline;
use crate::data::FindingKind;
use crate::note::{Note, NoteKind};

/// A new kind of note does not compile until it has a case.
macro_rules! cases_of_kinds {
    ($($kind:pat => $case:literal,)*) => {
        const CASES_OF_KINDS: &[&str] = &[$($case),*];

        /// The case of a kind.
        fn case_of(kind: NoteKind) -> &'static str {
            match kind {
                $($kind => $case,)*
            }
        }
    };
}

cases_of_kinds! {
    NoteKind::Position => "position",
    NoteKind::Heuristic => "heuristic",
    NoteKind::TimeLimit => "time limit",
    NoteKind::Labels => "labels that are not optimal",
    NoteKind::Unboundedness => "unboundedness",
    NoteKind::Scale => "scale",
    NoteKind::Selection => "expensive validation",
    NoteKind::TimeSplit => "split by time",
    NoteKind::UnusedColumn => "unused column",
    NoteKind::Encoding => "encoding",
    NoteKind::DataCheck(None) => "number of findings",
    NoteKind::DataCheck(Some(FindingKind::RareCost)) => "rare cost",
    NoteKind::DataCheck(Some(FindingKind::Leak)) => "leak",
    NoteKind::DataCheck(Some(FindingKind::PastDecisions)) => "past decisions",
    NoteKind::DataCheck(Some(FindingKind::NoChoice)) => "rows without a choice",
    NoteKind::DataCheck(Some(FindingKind::Constant)) => "constant feature",
    NoteKind::DataCheck(Some(FindingKind::Duplicate)) => "duplicate features",
    NoteKind::DataCheck(Some(FindingKind::NearDuplicate)) => "nearly duplicate features",
    NoteKind::DataCheck(Some(FindingKind::RowNumber)) => "row number",
    NoteKind::DataCheck(Some(FindingKind::Outlier)) => "outlier",
    NoteKind::DataCheck(Some(FindingKind::TimeOrder)) => "time order",
    NoteKind::DataCheck(Some(FindingKind::RepeatedTime)) => "repeated time",
    NoteKind::DataCheck(Some(FindingKind::Drift)) => "drift of features",
    NoteKind::Epochs => "epochs",
    NoteKind::Auto => "auto",
    NoteKind::FewTestRows => "few test rows",
    NoteKind::ZeroObjectives => "objectives of 0",
    NoteKind::NegativeRegret => "negative regret",
    NoteKind::NoChoice => "rows without a choice",
    NoteKind::WorseLabels => "worse labels",
    NoteKind::BetterBaseline(Baseline::LeastSquares) => "least squares is better",
    NoteKind::BetterBaseline(Baseline::TrainingMean) => "training mean is better",
    NoteKind::BetterBaseline(Baseline::PreviousRow) => "previous row is better",
}

/// Keeps warnings.
#[derive(Default)]
struct WarningLog(Mutex<Vec<String>>);

impl Observer for WarningLog {
    fn warn(&self, text: &str) {
        self.0.lock().unwrap().push(text.to_owned());
    }
}

/// The cases with their defaults, and the defaults.
fn cases() -> (Vec<Value>, Value) {
    let text = std::fs::read_to_string(reference_data().join("notes/cases.json")).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    let cases = file["cases"].as_array().unwrap().iter();
    let complete = cases.map(|case| with_defaults(case, &file["defaults"]));
    (complete.collect(), file["defaults"].clone())
}

fn with_defaults(case: &Value, defaults: &Value) -> Value {
    let mut complete = defaults.clone();
    for (name, value) in case.as_object().unwrap() {
        complete[name] = value.clone();
    }
    complete
}

/// What `Trainer::fit` says in a case; `None` if it says nothing, for a reason.
fn expected_text(case: &Value) -> Option<&str> {
    let is_linear = ["unbounded.toml", "set_ups.toml"].contains(&case["problem"].as_str()?);
    if is_linear && !cfg!(feature = "highs") {
        return None;
    }
    if case["absent"]["library"].is_string() {
        return None;
    }
    let texts = &case["text"];
    texts["library"].as_str().or_else(|| texts["all"].as_str())
}

/// The notes of the model that is trained in a case.
fn notes(case: &Value) -> Vec<Note> {
    let folder = reference_data().join("notes");
    let text = |name: &str| case[name].as_str().unwrap();
    let strings = |name: &str| -> Vec<String> {
        let values = case[name].as_array().unwrap().iter();
        values.map(|value| value.as_str().unwrap().into()).collect()
    };
    let source = TableSource::Csv {
        file: folder.join(text("table")),
        layout: Layout::Wide(WideColumns {
            features: strings("features"),
            costs: vec!["c_*".into()],
            ignore: Vec::new(),
            options: FeatureOptions::default(),
        }),
        dialect: Default::default(),
        parameters: Vec::new(),
    };
    let mut problem = Problem::from_file(folder.join(text("problem"))).unwrap();
    let data: Dataset = if strings("parameters").is_empty() {
        source.read().unwrap()
    } else {
        let (read, data) = source.read_for(problem.spec().clone()).unwrap();
        problem = read;
        data
    };
    let rule: SplitRule = text("split").parse().unwrap();
    let split = source.split(&rule.with_seed(0), data.len()).unwrap();
    let method: Method = text("method").parse().unwrap();
    let mut trainer = Trainer::new(method).threads(1);
    let settings = &case["settings"];
    if let Some(epochs) = settings["epochs"].as_u64() {
        trainer.settings.epochs = epochs as usize;
    }
    if let Some(rate) = settings["learning_rate"].as_f64() {
        trainer.settings.learning_rate = rate;
    }
    if let Some(select) = settings["select"].as_str() {
        trainer.settings.select = select.parse().unwrap();
    }
    let log = WarningLog::default();
    let data = data.split_by(split).unwrap();
    let model = trainer.fit_with(&problem, &data, &log).unwrap();
    let warnings = log.0.into_inner().unwrap();
    for note in model.notes() {
        assert!(warnings.contains(&note.text), "no warning: {}", note.text);
    }
    model.notes().to_vec()
}

#[test]
fn a_model_has_every_note_about_its_training_and_none_about_a_clean_table() {
    let (cases, defaults) = cases();
    let mut missing = Vec::new();
    let mut texts = Vec::new();
    for case in &cases {
        let Some(text) = expected_text(case) else {
            continue;
        };
        texts.push(text);
        let found = notes(case);
        let has_text = |note: &Note| note.text.contains(text);
        let Some(note) = found.iter().find(|note| has_text(note)) else {
            missing.push(format!("no '{text}' in {found:?}"));
            continue;
        };
        let name = case["note"].as_str().unwrap();
        let is_second_case = name == "drift of costs";
        assert!(
            is_second_case || case_of(note.kind) == name,
            "{name}: {note:?}"
        );
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
    assert!(texts.len() > 10, "{texts:?}");
    let clean = with_defaults(&json!({"table": "clean.csv"}), &defaults);
    assert_eq!(notes(&clean), Vec::<Note>::new());
}

#[test]
fn every_kind_of_note_has_a_case() {
    let cases = cases().0;
    for name in CASES_OF_KINDS {
        assert!(cases.iter().any(|case| case["note"] == **name), "{name}");
    }
}

#[test]
fn a_note_that_an_interface_lacks_has_a_reason() {
    for case in cases().0 {
        for interface in ["train", "compare", "backtest", "fit", "sklearn", "library"] {
            let has_text = case["text"]["all"].is_string() || case["text"][interface].is_string();
            let reason = case["absent"][interface].as_str().unwrap_or_default();
            assert!(
                has_text || reason.len() > 10,
                "{}: {interface}",
                case["note"]
            );
        }
    }
}

#[test]
fn times_of_another_number_of_rows_are_refused_by_a_check() {
    let data = Dataset::generate(&Problem::benchmark("KS8").unwrap(), 20).unwrap();
    let check = regretless::data::DataCheck::new(&data);
    let days = |count: usize| -> Vec<String> { (0..count).map(|day| day.to_string()).collect() };
    assert!(check.run_with_times(&days(20)).unwrap().is_empty());
    let error: Error = check.run_with_times(&days(19)).unwrap_err();
    assert!(
        error.to_string().contains("19 times for 20 rows"),
        "{error}"
    );
}
