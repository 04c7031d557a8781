use std::io::Write;
use std::sync::Arc;

use super::{MappedArray, Matrix, SharedArray};
use crate::decision::Decision;

#[derive(Debug)]
struct ForeignArray(Vec<f32>);

impl SharedArray for ForeignArray {
    fn values(&self) -> &[f32] {
        &self.0
    }
}

#[test]
fn values_before_rounding_are_read_until_the_matrix_changes() {
    let exact = vec![0.1, 0.7, -3.0, 1e-3];
    let mut matrix = Matrix::from_f64(2, 2, &exact)
        .unwrap()
        .with_f64_values(Arc::new(exact.clone()))
        .unwrap();
    let row = |matrix: &Matrix, row: usize| {
        let mut out = vec![9.0];
        matrix.read(row, &mut out);
        out
    };
    let first = Decision::from_indices([0]);
    assert_eq!(
        (row(&matrix, 0), matrix.objective_of(&first, 0)),
        (vec![0.1, 0.7], 0.1)
    );
    assert_eq!(row(&matrix.select_rows(&[1, 0]), 0), [-3.0, 1e-3]);
    matrix.negate().unwrap();
    assert_eq!(
        (row(&matrix, 1), matrix.objective_of(&first, 0)),
        (vec![3.0, -1e-3], -0.1)
    );
    assert_eq!(
        row(&matrix.clone().into_single_precision(), 0),
        [f64::from(-0.1_f32), f64::from(-0.7_f32)]
    );
    matrix.row_mut(0)[1] = 2.0;
    assert_eq!(row(&matrix, 0), [f64::from(-0.1_f32), 2.0]);
    let bad = Matrix::zeros(1, 2)
        .with_f64_values(Arc::new(vec![1.0, f64::INFINITY]))
        .unwrap();
    assert_eq!(bad.first_not_finite(), Some((0, 1, f64::INFINITY)));
    assert!(
        Matrix::zeros(2, 2)
            .with_f64_values(Arc::new(vec![1.0]))
            .is_err()
    );
}

#[test]
fn shared_values_are_copied_only_before_a_change() {
    let foreign = Arc::new(ForeignArray(vec![1.0, 2.0, 3.0, 4.0]));
    let mut matrix = Matrix::shared(2, 2, foreign.clone()).unwrap();
    assert_eq!(matrix.as_slice().as_ptr(), foreign.0.as_ptr());
    matrix.row_mut(1)[0] = 9.0;
    assert_eq!(
        (matrix.as_slice(), &foreign.0[..]),
        (&[1.0, 2.0, 9.0, 4.0][..], &[1.0, 2.0, 3.0, 4.0][..])
    );
    let mut negated = Matrix::shared(2, 2, foreign.clone()).unwrap();
    negated.negate().unwrap();
    assert_eq!(
        (negated.as_slice(), foreign.0[0]),
        (&[-1.0, -2.0, -3.0, -4.0][..], 1.0)
    );
    assert!(Matrix::shared(3, 2, foreign).is_err());
}

#[test]
fn columns_are_reordered_in_every_storage() {
    let numbers = [1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0];
    let mut file = tempfile::NamedTempFile::new().unwrap();
    numbers
        .iter()
        .for_each(|number| file.write_all(&number.to_le_bytes()).unwrap());
    let mapped = MappedArray::open(file.reopen().unwrap(), file.path(), 0, 6)
        .unwrap()
        .unwrap();
    let foreign = Arc::new(ForeignArray(numbers.to_vec()));
    let kinds = [
        Matrix::new(2, 3, numbers.to_vec()).unwrap(),
        Matrix::shared(2, 3, foreign).unwrap(),
        Matrix::mapped(2, 3, mapped).unwrap(),
    ];
    for mut matrix in kinds {
        let was_mapped = matrix.is_mapped();
        matrix.reorder_columns(&[2, 0, 1]).unwrap();
        assert_eq!(matrix.as_slice(), [3.0, 1.0, 2.0, 6.0, 4.0, 5.0]);
        assert_eq!(matrix.is_mapped(), was_mapped);
        assert!(
            matrix.reorder_columns(&[0, 1]).is_err() && matrix.reorder_columns(&[0, 1, 3]).is_err()
        );
    }
    let exact: Vec<f64> = numbers
        .iter()
        .map(|number| f64::from(*number) + 1e-12)
        .collect();
    let mut precise = Matrix::new(2, 3, numbers.to_vec())
        .unwrap()
        .with_f64_values(Arc::new(exact))
        .unwrap();
    precise.negate().unwrap();
    precise.reorder_columns(&[2, 0, 1]).unwrap();
    let mut row = Vec::new();
    precise.read(1, &mut row);
    assert_eq!(
        row,
        [-(6.0 + 1e-12), -(4.0 + 1e-12), -(5.0 + 1e-12)],
        "values before rounding move too"
    );
    assert_eq!(
        std::fs::read(file.path()).unwrap()[..4],
        1.0_f32.to_le_bytes(),
        "the file of the user is unchanged"
    );
}
