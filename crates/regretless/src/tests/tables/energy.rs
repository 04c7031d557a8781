//! Irish energy prices, against published scaling and optima.

use std::fs;
#[cfg(feature = "highs")]
use std::sync::Arc;

use regretless::data::energy::{EnergyPrices, SLOTS_PER_DAY, read_items};
use regretless::problem::{Knapsack, ProblemKind};
use regretless::solve::SearchLimits;

use crate::tests::common::reference_data;

#[test]
fn prices_are_prepared_as_published() {
    let folder = reference_data();
    let prices = EnergyPrices::read(&folder.join("energy/prices2013.dat.gz")).unwrap();
    assert_eq!(prices.days(), 789);
    let (features, values) = prices.half_hours();
    let train = 552 * SLOTS_PER_DAY;
    let reference: serde_json::Value =
        serde_json::from_slice(&fs::read(folder.join("energy/ols_reference.json")).unwrap())
            .unwrap();
    for k in 0..8 {
        let mean = features[..train].iter().map(|row| row[k]).sum::<f64>() / train as f64;
        let expected = reference["mean"][k].as_f64().unwrap();
        assert!(
            (mean - expected).abs() < 1e-9 * expected.abs().max(1.0),
            "feature {k}: {mean} not {expected}"
        );
    }
    let min = values.iter().copied().fold(f64::INFINITY, f64::min);
    let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    assert_eq!((min, max), (-47.74, 1000.0));
}

#[test]
fn the_energy_knapsack_reaches_its_optima() {
    let folder = reference_data();
    let (weights, values) = read_items(&folder.join("energy/knapsack48_values.csv.gz")).unwrap();
    assert_eq!((weights.len(), values.len()), (48, 789 * 48));
    let optima = fs::read_to_string(folder.join("energy/knapsack48_optima.csv")).unwrap();
    for line in optima.lines().skip(1).step_by(20) {
        let numbers: Vec<f64> = line
            .split(',')
            .map(|field| field.parse().unwrap())
            .collect();
        let day = numbers[0] as usize;
        let costs: Vec<f64> = values[day * 48..(day + 1) * 48]
            .iter()
            .map(|value| -value)
            .collect();
        for (capacity, optimum) in [60.0, 120.0, 180.0].into_iter().zip(&numbers[1..]) {
            let knapsack = Knapsack::new(vec![weights.clone()], vec![capacity]).unwrap();
            let objective = -knapsack
                .solver(&SearchLimits::default())
                .solve(&costs)
                .unwrap()
                .objective;
            assert!(
                (objective - optimum).abs() < 1e-6 * optimum,
                "day {day}, capacity {capacity}: {objective} not {optimum}"
            );
        }
    }
}

#[cfg(feature = "highs")]
#[test]
fn schedules_reach_their_optima() {
    use regretless::problem::Schedule;
    let folder = reference_data();
    let prices = EnergyPrices::read(&folder.join("energy/prices2013.dat.gz")).unwrap();
    let optima = fs::read_to_string(folder.join("energy/reference.csv")).unwrap();
    let problem = Schedule::read(&folder.join("energy/load1/day01.txt"))
        .unwrap()
        .linear()
        .unwrap();
    let problem: Arc<dyn ProblemKind> = Arc::new(problem);
    for line in optima
        .lines()
        .filter(|line| line.starts_with("load1"))
        .step_by(40)
    {
        let fields: Vec<&str> = line.split(',').collect();
        let (day, optimum): (usize, f64) = (fields[2].parse().unwrap(), fields[3].parse().unwrap());
        let costs = &prices.half_hours().1[day * SLOTS_PER_DAY..(day + 1) * SLOTS_PER_DAY];
        let solution = problem
            .solver(&SearchLimits::default())
            .solve(costs)
            .unwrap();
        problem.check(&solution.decision).unwrap();
        assert!(
            (solution.objective - optimum).abs() < 1e-6 * optimum,
            "day {day}: {} not {optimum}",
            solution.objective
        );
    }
}

/// A compressed file of 100 kB that decompresses to more than 100 MB.
#[test]
fn a_file_that_decompresses_to_too_many_bytes_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("prices2013.dat.gz");
    let mut encoder = flate2::write::GzEncoder::new(
        fs::File::create(&path).unwrap(),
        flate2::Compression::fast(),
    );
    let block = vec![b'#'; 1_000_000];
    for _ in 0..=100 {
        std::io::Write::write_all(&mut encoder, &block).unwrap();
    }
    encoder.finish().unwrap();
    let error = EnergyPrices::read(&path).unwrap_err().to_string();
    assert!(
        error.contains("prices2013.dat.gz") && error.contains("more than 100000000 bytes"),
        "{error}"
    );
}
