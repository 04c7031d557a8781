use std::sync::Arc;

use crate::observer::NoopObserver;
use crate::oracle::Oracle;
use crate::sense::Sense;
use crate::{Dataset, ErrorKind, Problem, Split};

/// Chooses one fixed item: problems of one name that differ in their function alone.
fn fixed_choice(item: usize) -> Problem {
    let solve = move |costs: &[f64]| {
        let mut decision = vec![0.0; costs.len()];
        decision[item] = 1.0;
        (costs[0] < 8.0).then_some(decision)
    };
    Problem::from_solver("fixed", Sense::Minimize, 2, solve).unwrap()
}

fn table(rows: u32) -> Dataset {
    let features: Vec<[f64; 1]> = (0..rows).map(|row| [f64::from(row)]).collect();
    let costs: Vec<[f64; 2]> = (0..rows).map(|row| [f64::from(row), 4.0]).collect();
    Dataset::from_arrays(&features, &costs).unwrap()
}

#[test]
fn labels_of_one_function_are_not_taken_for_those_of_another_of_the_same_name() {
    let data = table(6).split(Split::random(0)).unwrap();
    let (first, second) = (fixed_choice(0), fixed_choice(1));
    let label = |problem: &Problem| {
        data.label(problem, &Oracle::new(problem.kind().clone()), &NoopObserver)
    };
    let labels = label(&first).unwrap();
    assert!(Arc::ptr_eq(&labels, &label(&first).unwrap()));
    assert_eq!(label(&second).unwrap_err().kind(), ErrorKind::Data);
}

#[test]
fn a_row_without_a_feasible_decision_is_an_error() {
    let data = table(10).split(Split::random(0)).unwrap();
    let problem = fixed_choice(0);
    let oracle = Oracle::new(problem.kind().clone());
    let error = data.label(&problem, &oracle, &NoopObserver).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Solver);
    assert!(
        error.to_string().contains("row 8 (counted from 0)"),
        "{error}"
    );
}

#[test]
fn fractions_of_a_split_in_order_are_refused() {
    for split in [
        Split::in_order(4, 1, 1).train(0.5),
        Split::in_order(4, 1, 1).validation(0.5),
        Split::in_order(4, 1, 1).test(0.5),
    ] {
        assert_eq!(
            table(6).split(split).unwrap_err().kind(),
            ErrorKind::Setting
        );
    }
}
