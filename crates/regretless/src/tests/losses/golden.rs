//! Values and gradients equal those of the field's released code, for both senses and with real
//! engines.

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

use super::case::Case;

/// The released code adds 1e-7 to some divisors and logarithms.
const PADDED: f64 = 1e-5;

#[test]
fn spo_plus_equals_the_golden_values() {
    for case in Case::all() {
        case.check(
            "spo_plus",
            &SpoPlus,
            &TrainingOracle::exact(&case.oracle),
            1e-8,
        );
    }
}

fn perturbed(case: &Case, golden: &str, multiplicative: bool) -> PerturbedSettings {
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
    for case in Case::all() {
        for (golden, multiplicative) in [("pfyl_additive", false), ("pfyl_multiplicative", true)] {
            let loss = Pfyl(perturbed(&case, golden, multiplicative));
            case.check(golden, &loss, &TrainingOracle::exact(&case.oracle), 1e-8);
        }
    }
}

#[test]
fn perturbation_gradients_equal_the_golden_values() {
    for case in Case::all() {
        for (golden, central) in [
            ("perturbation_gradient_backward", false),
            ("perturbation_gradient_central", true),
        ] {
            let loss = PerturbationGradient {
                sigma: case.number(golden, "sigma"),
                central,
            };
            case.check(golden, &loss, &TrainingOracle::exact(&case.oracle), PADDED);
        }
    }
}

#[test]
fn losses_over_a_pool_equal_the_golden_values() {
    for case in Case::all() {
        let answering = TrainingOracle::exact(&case.oracle).with_pool(&case.pool, true);
        case.check("nce", &Contrastive::NCE, &answering, 1e-8);
        case.check("cmap", &Contrastive::MAP, &answering, 1e-8);
        case.check("ltr_listwise", &Ranking::Listwise, &answering, PADDED);
        case.check("ltr_pairwise", &Ranking::Pairwise, &answering, 1e-8);
        case.check("ltr_pointwise", &Ranking::Pointwise, &answering, 1e-8);
        assert_eq!(case.oracle.counts().total(), 0);
    }
}

#[test]
fn a_pool_refreshed_with_the_batch_equals_the_golden_pool_and_losses() {
    for case in Case::all() {
        let mut answering = TrainingOracle::exact(&case.oracle).with_pool(&case.pool, true);
        let mut worker = case.oracle.worker();
        let solved: Vec<_> = case
            .predictions("cmap_refreshed")
            .iter()
            .map(|p| worker.solve(p).unwrap().decision)
            .collect();
        answering.add_to_pool(&solved);
        let known = answering.pool().unwrap().decisions().len();
        assert_eq!(
            known,
            case.golden("cmap_refreshed")["pool_after"]
                .as_array()
                .unwrap()
                .len()
        );
        case.check("cmap_refreshed", &Contrastive::MAP, &answering, 1e-8);
    }
}

#[test]
fn spo_plus_that_never_solves_equals_the_golden_values() {
    for case in Case::all() {
        let settings = OracleSettings {
            cache: Some(CacheSettings::new(0.0)),
            ..OracleSettings::default()
        };
        let answering = TrainingOracle::new(&case.oracle, settings, 0)
            .unwrap()
            .with_pool(&case.pool, false);
        let step = StepId {
            epoch: 1,
            batch: 0,
            is_gradient_step: true,
        };
        assert_eq!(answering.cache_action(step, 3), CacheAction::Lookup);
        case.check_recalling("spo_plus_cached", &SpoPlus, &answering);
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
fn black_boxes_equal_the_golden_values() {
    for case in Case::all() {
        let dbb = Blackbox::Interpolated {
            lambda: case.number("dbb", "lambd"),
        };
        case.check_layer("dbb", &dbb, PADDED);
        case.check_layer("nid", &Blackbox::NegativeIdentity, 1e-8);
    }
}

#[test]
fn perturbed_optimizers_equal_the_golden_values() {
    for case in Case::all() {
        for (golden, multiplicative, baseline) in [
            ("dpo_additive", false, true),
            ("dpo_additive_no_variance_reduction", false, false),
            ("dpo_multiplicative", true, true),
        ] {
            let layer = PerturbedOptimizer {
                perturbed: perturbed(&case, golden, multiplicative),
                baseline,
            };
            case.check_layer(golden, &layer, PADDED);
        }
    }
}

#[test]
fn implicit_mle_equals_the_golden_values() {
    for case in Case::all() {
        for (golden, central) in [("imle_one_sided", false), ("imle_central", true)] {
            let spec = ImplicitMle {
                samples: 4,
                sigma: case.number(golden, "sigma"),
                step_size: ImplicitStepSize::Fixed(case.number(golden, "lambd")),
                central,
                noise: case.noise(golden, false),
            };
            case.check_layer(golden, &spec.build_layer() as &dyn DecisionLayer, PADDED);
        }
    }
}

/// The golden search stops at a gap of 1e-9, which leaves the mean decision a few 1e-5 from the
/// optimum.
#[test]
fn regularised_fenchel_young_losses_equal_the_golden_values() {
    for case in Case::all() {
        let loss = FrankWolfe {
            lambda: case.number("rfy", "lambd"),
            tolerance: 1e-11,
            ..FrankWolfe::default()
        };
        case.check("rfy", &loss, &TrainingOracle::exact(&case.oracle), 1e-4);
    }
}

/// Golden projections are rounded to single precision; exact ones stop at an interior-point
/// tolerance, those of CaVE+ after three steps. The other branch takes a point inside the cone,
/// without rounding.
#[test]
fn cone_alignment_equals_the_golden_values() {
    for case in Case::cones() {
        let (answering, steps) = (
            TrainingOracle::exact(&case.oracle),
            NormalCone::MAX_NEWTON_STEPS,
        );
        let exact = Cave {
            ratio: 1.0,
            projection: ConeProjection::Nearest { steps },
            inner: false,
        };
        case.check("cave_exact_200_iterations", &exact, &answering, 2e-4);
        case.check(
            "cave_heuristic_branch",
            &Cave {
                ratio: 1e-300,
                ..exact
            },
            &answering,
            1e-5,
        );
        if cfg!(feature = "clarabel") {
            let early = ConeProjection::InteriorPoint {
                steps: case.number("cave_plus_3_iterations", "max_iter") as usize,
            };
            case.check(
                "cave_plus_3_iterations",
                &Cave {
                    projection: early,
                    ..exact
                },
                &answering,
                2e-4,
            );
        }
    }
}
