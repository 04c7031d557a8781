//! Ranges of predicted costs: the decision stays optimal just inside, and not just outside.

use regretless::explain::{RangeEnds, RangeMethod};
use regretless::{ExplainSettings, Explanation};

use super::{DrawnCase, TestedKind, binary_kinds, other_kinds, without_alternatives};

/// Distance from the end of a range at which it is tested, relative to the largest cost.
const STEP: f64 = 1e-5;

/// Excess that counts as rounding, relative to the largest cost.
const ROUNDING: f64 = 1e-7;

/// Excess beyond the end of a range, relative to the distance: amounts of flows are small.
const MIN_EXCESS: f64 = 1e-3;

/// Moved costs of each kind.
const MIN_MOVED_COSTS: usize = 2000;

/// Moves costs to both sides of the ends of their ranges, and far out if there is no end. Returns
/// the number of moved costs.
pub fn check(drawn: &DrawnCase, explanation: &Explanation) -> usize {
    let costs = drawn.minimized(explanation);
    let scale = costs.iter().fold(1.0, |max: f64, cost| max.max(cost.abs()));
    let chosen = drawn.solved(explanation);
    let is_basis = explanation.ranges.method == Some(RangeMethod::Basis);
    let has_end = |ends: &RangeEnds| ends.lower.is_some() || ends.upper.is_some();
    let is_exact = |ends: &RangeEnds| ends.lower_is_exact && ends.upper_is_exact;
    let excess = |cost: usize, value: f64| {
        let mut moved = costs.clone();
        moved[cost] = value;
        drawn.excess(&chosen, &moved)
    };
    let mut moved = 0;
    for explained in &explanation.costs {
        let cost = explained.index;
        let ends = explained.range.unwrap();
        assert_eq!(is_basis && has_end(&ends), is_basis && !is_exact(&ends));
        for (end, is_exact, direction) in [
            (ends.lower, ends.lower_is_exact, -1.0),
            (ends.upper, ends.upper_is_exact, 1.0),
        ] {
            // Directions are the user's; minimized ones are opposite for gains.
            let outward = explanation.sense.convert(direction);
            let context = format!("{}, cost {cost}, outward {outward}", drawn.context);
            let Some(end) = end else {
                // A cycle of negative length would leave a graph without a shortest path.
                let far = costs[cost] + outward * 3.0 * scale;
                if !drawn.context.contains("graph") && !drawn.context.contains("nodes") {
                    let found = excess(cost, far);
                    assert!(found <= ROUNDING * scale, "{context}: far out {found}");
                    moved += 1;
                }
                continue;
            };
            let end = explanation.sense.convert(end + explained.known);
            let distance = outward * (end - costs[cost]);
            assert!(distance >= -1e-9 * scale, "{context}: {distance}");
            let inside = end - outward * STEP * scale;
            if outward * (inside - costs[cost]) >= 0.0 {
                let found = excess(cost, inside);
                assert!(found <= ROUNDING * scale, "{context}: inside {found}");
                moved += 1;
            }
            if is_exact {
                let outside = end + outward * STEP * scale;
                let mut changed = costs.clone();
                changed[cost] = outside;
                moved += 1;
                if !drawn.has_optimum(&changed) {
                    continue;
                }
                let has_no_meaning = drawn
                    .problem
                    .kind()
                    .failure_reasons()
                    .unusable_costs(&changed)
                    .is_some();
                let found = excess(cost, outside);
                let is_worse = found > MIN_EXCESS * STEP;
                assert!(has_no_meaning || is_worse, "{context}: outside {found}");
            }
        }
    }
    moved
}

/// Checks random members of a kind until enough costs were moved.
pub fn check_kind(kind: &TestedKind, expected: &[RangeMethod]) {
    let (mut moved, mut case) = (0, 0);
    while moved < MIN_MOVED_COSTS {
        let mut drawn = kind.draw(case);
        if case % 3 == 2 {
            // Whole numbers have many ties.
            drawn
                .predicted
                .iter_mut()
                .for_each(|cost| *cost = cost.round());
        }
        let explanation = drawn.explain(&without_alternatives());
        let method = explanation.ranges.method;
        assert!(
            method.is_some_and(|method| expected.contains(&method)),
            "{}: {:?}",
            drawn.context,
            explanation.ranges
        );
        moved += check(&drawn, &explanation);
        case += 1;
    }
}

#[test]
fn exact_ranges_of_binary_decisions_are_right_on_both_sides() {
    for kind in binary_kinds() {
        check_kind(&kind, &[RangeMethod::Exact, RangeMethod::Solves]);
    }
}

#[test]
fn ranges_of_other_decisions_are_right() {
    for kind in other_kinds() {
        let expected = match kind.name {
            "linear program" => RangeMethod::Basis,
            "sites with aux" => RangeMethod::Solves,
            _ => RangeMethod::Exact,
        };
        check_kind(&kind, &[expected]);
    }
}

#[cfg(feature = "highs")]
#[test]
fn ranges_of_a_basis_are_refused_where_the_relaxation_pays_part_of_a_set_up() {
    let kind = TestedKind::new("set-ups", super::set_ups, [-4.0, 0.5]);
    let no_solves = ExplainSettings {
        max_solves: Some(0),
        ..without_alternatives()
    };
    let (mut right, mut refused) = (0, 0);
    for case in 0..40 {
        let drawn = kind.draw(case);
        let explanation = drawn.explain(&no_solves);
        match explanation.ranges.method {
            None => refused += 1,
            Some(_) => {
                check(&drawn, &explanation);
                right += 1;
            }
        }
    }
    // Without any product there is no set-up to pay.
    assert!(
        refused > 20 && right > 0,
        "{refused} refused, {right} right"
    );
}

#[test]
fn ranges_of_a_basis_lie_within_exact_ones_or_are_refused() {
    let no_solves = ExplainSettings {
        max_solves: Some(0),
        ..without_alternatives()
    };
    let (mut compared, mut refused) = (0, 0);
    for kind in binary_kinds() {
        for case in 0..40 {
            let drawn = kind.draw(case);
            let exact = drawn.explain(&without_alternatives());
            let basis = drawn.explain(&no_solves);
            match basis.ranges.method {
                Some(RangeMethod::Exact) => continue,
                Some(RangeMethod::Solves) => panic!("{}: no solve was allowed", drawn.context),
                None => {
                    assert!(basis.ranges.reason.is_some());
                    assert!(basis.costs.iter().all(|cost| cost.range.is_none()));
                    refused += 1;
                    continue;
                }
                Some(RangeMethod::Basis) => compared += 1,
            }
            for (narrow, wide) in basis.costs.iter().zip(&exact.costs) {
                let (narrow, wide) = (narrow.range.unwrap(), wide.range.unwrap());
                let low = f64::NEG_INFINITY;
                let high = f64::INFINITY;
                let lowest = wide.lower.unwrap_or(low) - 1e-6;
                let highest = wide.upper.unwrap_or(high) + 1e-6;
                assert!(narrow.lower.unwrap_or(low) >= lowest, "{}", drawn.context);
                assert!(narrow.upper.unwrap_or(high) <= highest, "{}", drawn.context);
            }
            check(&drawn, &basis);
        }
    }
    assert!(
        compared > 20 && refused > 20,
        "{compared} compared, {refused} refused"
    );
}
