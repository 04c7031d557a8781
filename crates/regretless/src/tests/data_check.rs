//! The data check finds planted defects in every table, and nothing in clean ones.

use regretless::data::{
    DataCheck, FeatureShape, Features, Finding, FindingKind, Matrix, SplitIndices, SyntheticSpec,
};
use regretless::problem::Benchmark;
use regretless::{Dataset, Problem};

const SEEDS: u32 = 20;

/// A table of a benchmark problem: degree 1, 2, 4 or 6, with noise.
fn clean(seed: u32) -> Dataset {
    let benchmark: Benchmark = ["SP5x5", "KS16"][seed as usize % 2].parse().unwrap();
    let spec = SyntheticSpec {
        degree: [1, 2, 4, 6][seed as usize % 4],
        ..SyntheticSpec::paper(400, seed)
    };
    benchmark.generate(spec).unwrap().1
}

/// The value of a planted feature, from the row's number, features and costs.
type PlantedValue<'a> = dyn Fn(usize, &[f32], &[f32]) -> f32 + 'a;

/// The table with one more feature, computed from the row's number, features and costs.
fn with_feature(data: &Dataset, value: impl Fn(usize, &[f32], &[f32]) -> f32) -> Dataset {
    let old = data.features();
    let mut values = Vec::new();
    for row in 0..data.len() {
        values.extend_from_slice(old.values().row(row));
        values.push(value(row, old.values().row(row), data.costs().row(row)));
    }
    let mut names = old.names().to_vec();
    names.push("planted".into());
    let matrix = Matrix::new(data.len(), names.len(), values).unwrap();
    let features = Features::new(matrix, FeatureShape::Wide, Some(names)).unwrap();
    Dataset::new(features, data.costs().clone(), None).unwrap()
}

fn findings(data: &Dataset, seed: u32) -> Vec<Finding> {
    let split = SplitIndices::random(data.len(), 0.2, 0.2, u64::from(seed)).unwrap();
    DataCheck::new(data).with_split(&split).run()
}

/// A number that looks random but depends on the row and seed alone.
fn noise(row: usize, seed: u32) -> f32 {
    let mut hash = (row as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (u64::from(seed) << 32);
    hash ^= hash >> 31;
    hash = hash.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash ^= hash >> 27;
    (hash % 20_001) as f32 / 10_000.0 - 1.0
}

#[test]
fn clean_tables_have_no_findings() {
    for seed in 0..SEEDS {
        let found = findings(&clean(seed), seed);
        assert!(found.is_empty(), "seed {seed}: {found:?}");
    }
}

/// All findings name the planted column and have this kind.
fn assert_planted(data: &Dataset, seed: u32, kind: FindingKind, what: &str) {
    let found = findings(data, seed);
    assert!(!found.is_empty(), "{what}, seed {seed}: nothing found");
    for finding in found {
        assert_eq!(finding.kind, kind, "{what}, seed {seed}: {finding:?}");
        assert!(
            finding.columns.iter().any(|name| name == "planted"),
            "{what}, seed {seed}: {finding:?}"
        );
    }
}

#[test]
fn planted_columns_are_found_in_every_table() {
    for seed in 0..SEEDS {
        let data = clean(seed);
        let cost = seed as usize % data.costs().cols();
        let feature = seed as usize % data.features().names().len();
        let planted = |value: &PlantedValue<'_>| with_feature(&data, value);
        let spread = {
            let column: Vec<f32> = (0..data.len())
                .map(|row| data.costs().row(row)[cost])
                .collect();
            let mean = column.iter().sum::<f32>() / column.len() as f32;
            let squares: f32 = column.iter().map(|cost| (cost - mean).powi(2)).sum();
            (squares / column.len() as f32).sqrt()
        };
        let constant = planted(&|_, _, _| 7.0);
        assert_planted(&constant, seed, FindingKind::Constant, "constant");
        let duplicate = planted(&|_, x, _| x[feature]);
        assert_planted(&duplicate, seed, FindingKind::Duplicate, "duplicate");
        let unit = planted(&|_, x, _| 32.0 + 1.8 * x[feature]);
        assert_planted(&unit, seed, FindingKind::NearDuplicate, "other unit");
        let counter = planted(&|row, _, _| row as f32);
        assert_planted(&counter, seed, FindingKind::RowNumber, "row number");
        let leak = planted(&|_, _, c| c[cost]);
        assert_planted(&leak, seed, FindingKind::Leak, "cost");
        let rounded = planted(&|row, _, c| 100.0 - 3.0 * c[cost] + 0.1 * spread * noise(row, seed));
        assert_planted(&rounded, seed, FindingKind::Leak, "cost with noise");
        let logarithm = planted(&|_, _, c| c[cost].ln());
        assert_planted(&logarithm, seed, FindingKind::Leak, "logarithm of a cost");
        let total = planted(&|_, _, c| c.iter().sum());
        assert_planted(&total, seed, FindingKind::Leak, "sum of costs");
        let code = planted(&|row, _, _| {
            if row % 50 == 3 {
                -9999.0
            } else {
                noise(row, seed)
            }
        });
        assert_planted(&code, seed, FindingKind::Outlier, "code");
    }
}

#[test]
fn the_best_objective_is_a_leak() {
    let problem = Problem::benchmark("SP5x5").unwrap();
    let data = Dataset::generate(&problem, 200).unwrap();
    let mut objectives = Vec::new();
    for row in 0..data.len() {
        let costs: Vec<f64> = data
            .costs()
            .row(row)
            .iter()
            .map(|c| f64::from(*c))
            .collect();
        objectives.push(problem.solve(&costs).unwrap().objective);
    }
    let data = with_feature(&data, |row, _, _| objectives[row] as f32);
    assert!(DataCheck::new(&data).run().is_empty());
    let found = DataCheck::new(&data).with_objectives(&objectives).run();
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].message.contains("best objective"), "{found:?}");
}

#[test]
fn a_row_that_dominates_the_loss_is_found() {
    let mut data = clean(0);
    data.costs_mut().row_mut(17)[3] *= 10_000.0;
    let found = findings(&data, 0);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        (found[0].kind, found[0].row),
        (FindingKind::Outlier, Some(17))
    );
}

#[test]
fn drift_between_training_and_test_rows_is_found() {
    for seed in 0..SEEDS {
        let data = clean(seed);
        let late = |row: usize| if row >= 320 { 1.5 } else { 0.0 };
        let data = with_feature(&data, |row, _, _| noise(row, seed) + late(row));
        let split = SplitIndices::in_order(400, [240, 80, 80]).unwrap();
        let found = DataCheck::new(&data).with_split(&split).run();
        assert_eq!(found.len(), 1, "seed {seed}: {found:?}");
        assert_eq!(found[0].kind, FindingKind::Drift);
    }
}
