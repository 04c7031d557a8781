use std::sync::Arc;

use super::{ParameterColumns, RowParameters};
use crate::ErrorKind;

fn parameters() -> RowParameters {
    RowParameters::new(2)
        .with_column("cap", 1, Arc::new(vec![5.0, 6.0]))
        .unwrap()
        .with_column("w_a", 1, Arc::new(vec![1.0, 2.0]))
        .unwrap()
        .with_column("w_b", 1, Arc::new(vec![3.0, 4.0]))
        .unwrap()
        .with_item_column("price", 2, Arc::new(vec![7.0, 8.0, 9.0, 10.0]))
        .unwrap()
}

fn wanted(pattern: &str, count: usize) -> ParameterColumns {
    ParameterColumns {
        pattern: pattern.into(),
        count,
        names: None,
    }
}

#[test]
fn a_row_has_the_numbers_of_the_problem_in_its_order() {
    let table = Arc::new(parameters());
    let bound = table
        .bind(&[wanted("w_*", 2), wanted("price", 2), wanted("cap", 1)])
        .unwrap();
    let mut row = vec![99.0];
    bound.read(1, &mut row);
    assert_eq!(row, [2.0, 4.0, 9.0, 10.0, 6.0]);
}

#[test]
fn items_are_reordered_and_other_columns_are_not() {
    let mut table = parameters();
    table.reorder_items(&[1, 0]);
    let selected = Arc::new(table.select_rows(&[1]));
    let mut row = Vec::new();
    selected
        .bind(&[wanted("price", 2), wanted("w_*", 2)])
        .unwrap()
        .read(0, &mut row);
    assert_eq!(row, [10.0, 9.0, 2.0, 4.0]);
}

#[test]
fn missing_columns_and_wrong_sizes_are_refused() {
    let table = Arc::new(parameters());
    for (parameter, words) in [
        (wanted("capacity", 1), "the parameters are cap, w_a"),
        (wanted("w_*", 3), "2 numbers per row, but 3"),
        (wanted("price", 1), "2 numbers per row, but 1"),
    ] {
        let error = table.bind(&[parameter]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Data);
        assert!(error.to_string().contains(words), "{error}");
    }
    let bad = RowParameters::new(2).with_column("a", 1, Arc::new(vec![1.0, f64::NAN]));
    assert!(
        bad.unwrap_err().to_string().contains("row 1"),
        "the row is named"
    );
    assert!(
        RowParameters::new(2)
            .with_column("a", 1, Arc::new(vec![1.0]))
            .is_err()
    );
    assert!(
        parameters()
            .with_column("cap", 1, Arc::new(vec![1.0, 2.0]))
            .is_err()
    );
}
