//! Drift between training and test rows: the two-sample Kolmogorov–Smirnov test (Smirnov, 1939) of
//! every feature and cost, with Bonferroni's correction for their number.

use super::statistics::{column_at, evenly_spaced};
use super::{DataCheck, Finding, FindingKind};
use crate::data::{FeatureShape, FeatureSourceKind, SplitIndices};

/// Probability of a finding in a table without drift, over all columns together.
const FALSE_ALARM_PROBABILITY: f64 = 0.001;
/// Smaller distances of the distributions are negligible, however certain they are.
const MIN_DISTANCE: f64 = 0.15;
/// Fewer rows say nothing.
const MIN_ROWS: usize = 20;
/// Most rows and costs that are compared; sorting dominates. 500 columns of 5,000 rows take 0.2 s.
const MAX_ROWS: usize = 5000;
const MAX_COSTS: usize = 400;

/// The two parts that are compared, by their names.
#[derive(Clone, Copy)]
struct PartNames {
    earlier: &'static str,
    later: &'static str,
}

pub(super) fn find(check: &DataCheck<'_>, split: &SplitIndices, findings: &mut Vec<Finding>) {
    let data = check.data;
    let has_test = !split.test.is_empty();
    let later = if has_test {
        &split.test
    } else {
        &split.validation
    };
    let (earlier_name, later_name) = if check.are_halves {
        ("the earlier half", "the later half")
    } else if has_test {
        ("training rows", "test rows")
    } else {
        ("training rows", "validation rows")
    };
    let names = PartNames {
        earlier: earlier_name,
        later: later_name,
    };
    // With few rows any difference may be chance.
    if split.train.len().min(later.len()) < MIN_ROWS {
        return;
    }
    let train = sample(&split.train);
    let later = sample(later);
    let costs = evenly_spaced(data.costs().cols(), MAX_COSTS);
    let features = data.features();
    let tests = features.names().len() + costs.len();
    // Bonferroni: the probability of a false alarm is that of all tests together.
    let level = FALSE_ALARM_PROBABILITY / tests as f64;
    let feature_rows = [&train, &later].map(|instances| rows_of(features.shape(), instances));
    let mut drifting = Vec::new();
    let sources = features.sources();
    for (column, name) in features.names().iter().enumerate() {
        // Later rows have later dates.
        if sources[column].kind == FeatureSourceKind::Date {
            continue;
        }
        let samples = feature_rows
            .each_ref()
            .map(|rows| column_at(features.values(), column, rows));
        if let Some(distance) = significant_distance(samples, level) {
            let name = name.clone();
            drifting.push(DriftingColumn { name, distance });
        }
    }
    findings.extend(drift("feature", drifting, names));
    let mut drifting = Vec::new();
    for column in costs {
        let samples = [&train, &later].map(|rows| column_at(data.costs(), column, rows));
        if let Some(distance) = significant_distance(samples, level) {
            let name = data.cost_names().get(column).into_owned();
            drifting.push(DriftingColumn { name, distance });
        }
    }
    findings.extend(drift("cost", drifting, names));
}

struct DriftingColumn {
    name: String,
    distance: f64,
}

/// One finding for all columns of a role: if the season changes, most of them differ.
fn drift(role: &str, columns: Vec<DriftingColumn>, parts: PartNames) -> Option<Finding> {
    let most = columns
        .iter()
        .max_by(|a, b| a.distance.total_cmp(&b.distance))?;
    let (name, distance) = (&most.name, most.distance);
    let subject = match columns.len() {
        1 => format!("{role} {name} has"),
        count => format!("{count} {role}s have"),
    };
    let most_of_all = if columns.len() == 1 {
        String::new()
    } else {
        format!(", most of all {name}")
    };
    let PartNames { earlier, later } = parts;
    let message = format!(
        "{subject} another distribution in {later} than in {earlier}{most_of_all} \
         (Kolmogorov–Smirnov distance {distance:.2})"
    );
    Some(Finding {
        kind: FindingKind::Drift,
        message,
        columns: columns.into_iter().map(|column| column.name).collect(),
        row: None,
    })
}

fn sample(rows: &[usize]) -> Vec<usize> {
    evenly_spaced(rows.len(), MAX_ROWS)
        .into_iter()
        .map(|i| rows[i])
        .collect()
}

/// The rows of features of some instances; of a long table, one item per instance in turn.
fn rows_of(shape: FeatureShape, instances: &[usize]) -> Vec<usize> {
    match shape {
        FeatureShape::Wide => instances.to_vec(),
        FeatureShape::Long { items } => instances
            .iter()
            .enumerate()
            // Another item of each instance, so all items are in the sample.
            .map(|(i, instance)| instance * items + i % items)
            .collect(),
    }
}

/// The Kolmogorov–Smirnov distance of two samples if it is significant and not negligible.
fn significant_distance(mut samples: [Vec<f64>; 2], level: f64) -> Option<f64> {
    for sample in &mut samples {
        // Absent costs are no values.
        sample.retain(|value| value.is_finite());
        sample.sort_by(f64::total_cmp);
    }
    // A column may have fewer values than rows.
    if samples.iter().any(|sample| sample.len() < MIN_ROWS) {
        return None;
    }
    let [first, second] = &samples;
    let distance = distance(first, second);
    // Significant but small differences do not matter: with many rows every difference is
    // significant.
    let is_significant = probability(distance, first.len(), second.len()) < level;
    (is_significant && distance >= MIN_DISTANCE).then_some(distance)
}

/// The largest difference of the empirical distribution functions of two sorted samples.
fn distance(first: &[f64], second: &[f64]) -> f64 {
    let (mut i, mut j, mut largest) = (0, 0, 0.0_f64);
    while i < first.len() && j < second.len() {
        let value = first[i].min(second[j]);
        // Equal values are passed in both samples before the functions are compared.
        while i < first.len() && first[i] <= value {
            i += 1;
        }
        while j < second.len() && second[j] <= value {
            j += 1;
        }
        let [a, b] = [
            i as f64 / first.len() as f64,
            j as f64 / second.len() as f64,
        ];
        largest = largest.max((a - b).abs());
    }
    largest
}

/// The probability of this distance or more under one distribution: Kolmogorov's series with
/// Stephens' correction for small samples (1970), in which `rows` is the square root of the rows
/// that one sample with the same variance would have.
fn probability(distance: f64, first: usize, second: usize) -> f64 {
    let rows = ((first * second) as f64 / (first + second) as f64).sqrt();
    let scaled = (rows + 0.12 + 0.11 / rows) * distance;
    let mut sum = 0.0;
    let mut sign = 1.0;
    // The terms fall below 1e-16 after a few; the series is needed for large distances only.
    for k in 1..=100 {
        let term = (-2.0 * (f64::from(k) * scaled).powi(2)).exp();
        sum += sign * term;
        sign = -sign;
        if term < 1e-16 {
            break;
        }
    }
    (2.0 * sum).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::{distance, probability};

    #[test]
    fn distance_and_probability_are_those_by_hand() {
        assert_eq!(distance(&[1.0, 2.0, 3.0, 4.0], &[3.0, 4.0, 5.0, 6.0]), 0.5);
        assert_eq!(distance(&[1.0, 1.0], &[1.0]), 0.0);
        // Kolmogorov's distribution: 5 % beyond 1.358.
        let at_five_percent = probability(1.358 / 100.0_f64.sqrt(), 20_000, 100);
        assert!((at_five_percent - 0.05).abs() < 0.01, "{at_five_percent}");
    }
}
