//! Values and gradients equal those of released implementations, for minimization and maximization
//! and with the solvers of the crate.

use regretless::loss::cave::{Cave, ConeProjection};
use regretless::loss::contrastive::Contrastive;
use regretless::loss::frank_wolfe::FrankWolfe;
use regretless::loss::layer::blackbox::Blackbox;
use regretless::loss::layer::implicit::{ImplicitMle, ImplicitStepSize};
use regretless::loss::layer::perturbed::PerturbedOptimizer;
use regretless::loss::layer::{DecisionLayer, LayerDefinition};
use regretless::loss::noise::{Perturbation, PerturbedSettings};
use regretless::loss::perturbation_gradient::PerturbationGradient;
use regretless::loss::pfyl::Pfyl;
use regretless::loss::ranking::Ranking;
use regretless::loss::spo_plus::SpoPlus;
use regretless::oracle::{CacheAction, CacheSettings, OracleSettings, StepId, TrainingOracle};
use regretless::solve::cone::NormalCone;

use super::golden_case::GoldenCase;

/// Tolerance if the released implementation adds 1e-7 to divisors and arguments of logarithms.
const PADDED_TOLERANCE: f64 = 1e-5;
/// Tolerance of other values, which differ by rounding only.
const ROUNDING_TOLERANCE: f64 = 1e-8;

#[test]
fn spo_plus_equals_the_golden_values() {
    for case in GoldenCase::all() {
        case.check(
            "spo_plus",
            &SpoPlus,
            &TrainingOracle::exact(&case.oracle),
            ROUNDING_TOLERANCE,
        );
    }
}

fn perturbed(case: &GoldenCase, golden: &str, multiplicative: bool) -> PerturbedSettings {
    let samples = case.number(golden, "n_samples") as usize;
    let perturbation = Perturbation {
        samples,
        sigma: case.number(golden, "sigma"),
        multiplicative,
    };
    PerturbedSettings {
        perturbation,
        noise: case.noise(golden, multiplicative),
    }
}

#[test]
fn perturbed_fenchel_young_losses_equal_the_golden_values() {
    for case in GoldenCase::all() {
        for (golden, multiplicative) in [("pfyl_additive", false), ("pfyl_multiplicative", true)] {
            let loss = Pfyl(perturbed(&case, golden, multiplicative));
            case.check(
                golden,
                &loss,
                &TrainingOracle::exact(&case.oracle),
                ROUNDING_TOLERANCE,
            );
        }
    }
}

#[test]
fn perturbation_gradients_equal_the_golden_values() {
    for case in GoldenCase::all() {
        for (golden, central) in [
            ("perturbation_gradient_backward", false),
            ("perturbation_gradient_central", true),
        ] {
            let loss = PerturbationGradient {
                sigma: case.number(golden, "sigma"),
                central,
            };
            case.check(
                golden,
                &loss,
                &TrainingOracle::exact(&case.oracle),
                PADDED_TOLERANCE,
            );
        }
    }
}

#[test]
fn losses_over_a_pool_equal_the_golden_values() {
    for case in GoldenCase::all() {
        let training_oracle = TrainingOracle::exact(&case.oracle).with_pool(&case.pool, true);
        case.check(
            "nce",
            &Contrastive::NCE,
            &training_oracle,
            ROUNDING_TOLERANCE,
        );
        case.check(
            "cmap",
            &Contrastive::MAP,
            &training_oracle,
            ROUNDING_TOLERANCE,
        );
        case.check(
            "ltr_listwise",
            &Ranking::Listwise,
            &training_oracle,
            PADDED_TOLERANCE,
        );
        case.check(
            "ltr_pairwise",
            &Ranking::Pairwise,
            &training_oracle,
            ROUNDING_TOLERANCE,
        );
        case.check(
            "ltr_pointwise",
            &Ranking::Pointwise,
            &training_oracle,
            ROUNDING_TOLERANCE,
        );
        assert_eq!(case.oracle.counts().total(), 0);
    }
}

#[test]
fn a_pool_refreshed_with_the_batch_equals_the_golden_pool_and_losses() {
    for case in GoldenCase::all() {
        let mut training_oracle = TrainingOracle::exact(&case.oracle).with_pool(&case.pool, true);
        let mut worker = case.oracle.worker();
        let solved: Vec<_> = case
            .predictions("cmap_refreshed")
            .iter()
            .map(|p| worker.solve(p).unwrap().decision)
            .collect();
        training_oracle.add_to_pool(&solved);
        let num_decisions = training_oracle.pool().unwrap().decisions().len();
        assert_eq!(
            num_decisions,
            case.golden("cmap_refreshed")["pool_after"]
                .as_array()
                .unwrap()
                .len()
        );
        case.check(
            "cmap_refreshed",
            &Contrastive::MAP,
            &training_oracle,
            ROUNDING_TOLERANCE,
        );
    }
}

#[test]
fn spo_plus_with_a_solve_ratio_of_zero_equals_the_golden_values() {
    for case in GoldenCase::all() {
        let settings = OracleSettings {
            cache: Some(CacheSettings::new(0.0)),
            ..OracleSettings::default()
        };
        let training_oracle = TrainingOracle::new(&case.oracle, settings, 0)
            .unwrap()
            .with_pool(&case.pool, false);
        let step = StepId {
            epoch: 1,
            batch: 0,
            is_gradient_step: true,
        };
        assert_eq!(training_oracle.cache_action(step, 3), CacheAction::Lookup);
        case.check_with_lookups("spo_plus_cached", &SpoPlus, &training_oracle);
        assert_eq!(
            (
                case.oracle.counts().total(),
                case.oracle.counts().cache_hits
            ),
            (0, case.costs.len() as u64)
        );
    }
}

#[test]
fn black_box_layers_equal_the_golden_values() {
    for case in GoldenCase::all() {
        let dbb = Blackbox::Interpolated {
            lambda: case.number("dbb", "lambd"),
        };
        case.check_layer("dbb", &dbb, PADDED_TOLERANCE);
        case.check_layer("nid", &Blackbox::NegativeIdentity, ROUNDING_TOLERANCE);
    }
}

#[test]
fn perturbed_optimizers_equal_the_golden_values() {
    for case in GoldenCase::all() {
        for (golden, multiplicative, baseline) in [
            ("dpo_additive", false, true),
            ("dpo_additive_no_variance_reduction", false, false),
            ("dpo_multiplicative", true, true),
        ] {
            let layer = PerturbedOptimizer {
                perturbed: perturbed(&case, golden, multiplicative),
                baseline,
            };
            case.check_layer(golden, &layer, PADDED_TOLERANCE);
        }
    }
}

#[test]
fn implicit_mle_equals_the_golden_values() {
    for case in GoldenCase::all() {
        for (golden, central) in [("imle_one_sided", false), ("imle_central", true)] {
            let spec = ImplicitMle {
                samples: 4,
                sigma: case.number(golden, "sigma"),
                step_size: ImplicitStepSize::Fixed(case.number(golden, "lambd")),
                central,
                noise: case.noise(golden, false),
            };
            case.check_layer(
                golden,
                &spec.build_layer() as &dyn DecisionLayer,
                PADDED_TOLERANCE,
            );
        }
    }
}

/// The golden Frank-Wolfe iterations stop at a gap of 1e-9, at which the regularized decision is a
/// few 1e-5 from the optimum.
#[test]
fn regularized_fenchel_young_losses_equal_the_golden_values() {
    for case in GoldenCase::all() {
        let loss = FrankWolfe {
            lambda: case.number("rfy", "lambd"),
            tolerance: 1e-11,
            ..FrankWolfe::default()
        };
        case.check("rfy", &loss, &TrainingOracle::exact(&case.oracle), 1e-4);
    }
}

/// Golden projections are rounded to single precision; exact ones stop at an interior-point
/// tolerance, those of CaVE+ after three steps. The heuristic of CaVE(hybrid) takes a point inside
/// the cone instead of a projection, without rounding; a tiny ratio makes every row use it.
#[test]
fn cone_alignment_equals_the_golden_values() {
    for case in GoldenCase::all_cave() {
        let (training_oracle, steps) = (
            TrainingOracle::exact(&case.oracle),
            NormalCone::MAX_NEWTON_STEPS,
        );
        let exact = Cave {
            ratio: 1.0,
            projection: ConeProjection::Nearest { steps },
            inner: false,
        };
        case.check("cave_exact_200_iterations", &exact, &training_oracle, 2e-4);
        case.check(
            "cave_heuristic_branch",
            &Cave {
                ratio: 1e-300,
                ..exact
            },
            &training_oracle,
            1e-5,
        );
        if cfg!(feature = "clarabel") {
            let three_steps = ConeProjection::InteriorPoint {
                steps: case.number("cave_plus_3_iterations", "max_iter") as usize,
            };
            case.check(
                "cave_plus_3_iterations",
                &Cave {
                    projection: three_steps,
                    ..exact
                },
                &training_oracle,
                2e-4,
            );
        }
    }
}
