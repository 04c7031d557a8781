//! Regret as a sum over the costs.

use regretless::ExplainSettings;

use super::{binary_kinds, other_kinds, without_alternatives};

#[test]
fn the_shares_of_costs_minus_the_gap_are_the_regret_on_every_kind() {
    for kind in binary_kinds().into_iter().chain(other_kinds()) {
        let mut with_regret = 0;
        for case in 0..30 {
            let drawn = kind.draw(case);
            let explanation = drawn.explain(&ExplainSettings {
                costs: Some(drawn.true_costs.clone()),
                ..without_alternatives()
            });
            let split = explanation.regret.as_ref().unwrap();
            assert_eq!(split.reason, None, "{}", drawn.context);
            // The regret, computed apart from the explanation.
            let best = drawn.problem.solve(&drawn.true_costs).unwrap();
            let sense = explanation.sense;
            let mut true_costs = drawn.true_costs.clone();
            sense.convert_slice(&mut true_costs);
            let own = drawn.solved(&explanation);
            let regret = own.dot(&true_costs) - sense.convert(best.objective);
            let scale = best.objective.abs().max(1.0);
            let shares: f64 = split.shares.iter().map(|share| share.share).sum();
            assert!(
                (split.regret - regret).abs() <= 1e-9 * scale,
                "{}",
                drawn.context
            );
            assert!(
                (shares - split.gap - regret).abs() <= 1e-9 * scale,
                "{}: {shares} - {} is not {regret}",
                drawn.context,
                split.gap
            );
            assert!(
                split.gap >= -1e-9 * scale,
                "{}: {}",
                drawn.context,
                split.gap
            );
            assert!(split.shares.is_sorted_by(|a, b| a.share >= b.share));
            with_regret += usize::from(regret > 1e-6);
        }
        assert!(with_regret > 3, "{}: {with_regret} with regret", kind.name);
    }
}

#[test]
fn shares_have_names_and_both_costs() {
    let kind = &binary_kinds()[0];
    for case in 0..20 {
        let drawn = kind.draw(case);
        let explanation = drawn.explain(&ExplainSettings {
            costs: Some(drawn.true_costs.clone()),
            ..without_alternatives()
        });
        for share in &explanation.regret.as_ref().unwrap().shares {
            let cost = &explanation.costs[share.index];
            assert_eq!(share.name, cost.name);
            assert!((share.predicted - cost.predicted).abs() < 1e-12);
            assert_eq!(share.true_cost, drawn.true_costs[share.index]);
            assert_ne!(share.value, share.best_value);
        }
    }
}
