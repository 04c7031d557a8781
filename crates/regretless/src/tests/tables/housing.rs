//! California housing data, against the split and the scaling of scikit-learn.

use std::fs;

use regretless::data::housing::HousingTable;

use crate::tests::common::reference_data;

#[test]
fn houses_are_split_and_scaled_as_by_scikit_learn() {
    let folder = reference_data();
    let file = folder.join("california/cal_housing.csv");
    let houses = HousingTable::read(&file).unwrap();
    let split_table = fs::read_to_string(folder.join("california/split_sklearn_rs42.csv")).unwrap();
    let rows_of = |name: &str| {
        let rows = split_table.lines().filter(|line| line.starts_with(name));
        rows.map(|line| line.rsplit(',').next().unwrap().parse::<usize>().unwrap())
            .collect::<Vec<_>>()
    };
    let expected = [rows_of("train"), rows_of("val"), rows_of("test")];
    assert_eq!(HousingTable::parts(), expected);
    // Mean and scale of the training rows, as computed by scikit-learn's StandardScaler.
    let (mean, scale) = houses.mean_and_deviation();
    assert!(
        (mean[0] - 3.892_543_583_068_17).abs() < 1e-12
            && (mean[7] + 119.582_784_688_072_11).abs() < 1e-10
    );
    assert!(
        (scale[3] - 0.472_322_107_176_079_5).abs() < 1e-12
            && (scale[5] - 2.481_199_501_449_102_4).abs() < 1e-12
    );
    let data = houses.instances(100, [3, 2, 2], 0).unwrap();
    assert_eq!((data.len(), data.costs().cols()), (7, 100));
    assert_eq!(data, houses.instances(100, [3, 2, 2], 0).unwrap());
    assert_ne!(data, houses.instances(100, [3, 2, 2], 1).unwrap());
}
