//! `auto`: what it returns is the best of what it tried, whoever solves and on how many threads.

use regretless::data::synthetic::Recipe as DataRecipe;
use regretless::evaluate::{predicted, regrets};
use regretless::predict::{Model, PredictorSpec};
use regretless::problem::Benchmark;
use regretless::train::{Approach, Select, Settings, Trained, Tried};
use regretless::watch::Silent;

use crate::setting::{Setting, quick};

fn small(name: &str, threads: usize) -> Setting {
    let (problem, data) = name.parse::<Benchmark>().unwrap().generate(DataRecipe::paper(150, 5)).unwrap();
    Setting::new(problem, data, [80, 40, 30], threads)
}

fn chosen(setting: &Setting) -> (Trained, Vec<Tried>) {
    let auto: Approach = "auto".parse().unwrap();
    auto.train(&setting.task(), (&PredictorSpec::Linear, quick()), &setting.problem).unwrap()
}

fn validation_regret(setting: &Setting, model: &Model) -> f64 {
    let rows = &setting.split.validation;
    let predictions = predicted(model, &setting.data, rows).unwrap();
    let regrets = regrets(&predictions, &setting.data, rows, (&setting.oracle, &Silent)).unwrap();
    regrets.iter().sum::<f64>() / regrets.len() as f64
}

#[test]
fn no_competitor_has_less_regret_on_the_validation_rows_than_the_winner() {
    for name in ["SP4x4", "KS10", "TSP7", "CVRP8"] {
        let setting = small(name, 1);
        let (trained, tried) = chosen(&setting);
        let found = validation_regret(&setting, &trained.model);
        assert!(tried.len() >= 4, "{name}: {tried:?}");
        let least = tried.iter().filter_map(|one| one.regret).fold(f64::INFINITY, f64::min);
        assert!((found - least).abs() <= 1e-9 * (1.0 + least), "{name}: {found} is not the least of {tried:?}");
    }
}

#[test]
fn what_it_says_of_a_competitor_is_what_training_it_alone_gives() {
    let setting = small("KS10", 1);
    let (_, tried) = chosen(&setting);
    let alone = Settings { select: Select::ValidationLoss, ..quick() };
    for one in tried.iter().filter(|one| !one.method.contains("SPO+")) {
        let model = setting.train(&one.method, alone).unwrap().model;
        assert_eq!(Some(validation_regret(&setting, &model)), one.regret, "{}", one.method);
    }
}

#[test]
fn the_winner_is_the_same_on_any_number_of_threads() {
    for name in ["KS10", "TSP7"] {
        let (one, two) = (chosen(&small(name, 1)), chosen(&small(name, 3)));
        assert_eq!(one.0.model, two.0.model, "{name}");
        let told = |tried: &[Tried]| tried.iter().map(|one| (one.method.clone(), one.regret)).collect::<Vec<_>>();
        assert_eq!(told(&one.1), told(&two.1), "{name}");
    }
}

#[test]
fn the_name_of_the_winner_is_that_of_a_method_that_can_be_trained_alone() {
    let setting = small("SP4x4", 1);
    let (trained, tried) = chosen(&setting);
    assert!(tried.iter().any(|one| one.method == trained.model.about.loss), "{}: {tried:?}", trained.model.about.loss);
    assert!(trained.model.about.loss.parse::<Approach>().is_ok(), "{}", trained.model.about.loss);
}

#[test]
fn without_validation_rows_it_says_what_to_do() {
    let mut setting = small("KS10", 1);
    setting.split.validation.clear();
    let auto: Approach = "auto".parse().unwrap();
    let error = auto.train(&setting.task(), (&PredictorSpec::Linear, quick()), &setting.problem).unwrap_err();
    assert!(error.to_string().contains("validation rows"), "{error}");
}
