//! CaVE, cone-aligned vector estimation: predicted costs ĉ are aligned with the normal cone of the
//! label x*, the cone of all objective directions for which x* is optimal.
//!
//! ```text
//! loss = 1 − cos(v, p)      v = −ĉ,  p = projection of v on the cone of the normals of the
//!                           constraints that bind at x*, held constant
//! ```
//!
//! x* is optimal under ĉ if v lies in the cone, and only then, if the linear relaxation is exact;
//! the loss is then 0. `CaVE(inner)`: p moves inward, to 0.8·p/‖p‖ + 0.2·(mean unit normal), so the
//! gradient does not vanish if v is on the boundary. `CaVE(steps=3)`: the projection stops after 3
//! Newton steps, at a point of the cone that need not be the nearest. `CaVE(hybrid)`: a fraction of
//! evaluations (`ratio`, 0.3) projects; the others use the point 0.8·v/‖v‖ + 0.2·(mean unit
//! normal), which needs no projection and lies further inward. `CaVE+`: p is the iterate of an
//! interior-point method after 3 steps (`steps`), inside the cone rather than on its boundary.
//!
//! Source: Tang and Khalil, "CaVE: a cone-aligned approach for fast predict-then-optimize with
//! binary linear programs" (2024). Solves per evaluation: one projection (a quadratic program,
//! counted as such). Needs the labels and a problem that lists the constraints that bind there.
//! Integers other than 0 and 1 are refused: between their bounds no constraint binds, and the cone
//! of a label may contain only 0. Use CaVE(inner) when projections are much cheaper than solves:
//! without `inner` the loss is 0 at the boundary, where a small error changes the decision; CaVE+
//! trains as well and takes longer.
//!
//! ```
//! use regretless::loss::LossSpec;
//! use regretless::{Problem, Sense};
//!
//! // The cheapest of three items: item 0 is optimal, item 1 is predicted to be.
//! let problem = Problem::top_k(3, 1, Sense::Minimize)?;
//! let (prediction, costs) = ([2.0, 1.0, 3.0], [1.0, 2.0, 3.0]);
//! let loss = "CaVE".parse::<LossSpec>()?.evaluate(&problem, &prediction, &costs)?;
//! // The cone of item 0 is v₀ ≥ v₁, v₀ ≥ v₂: (−2, −1, −3) is projected to (−1.5, −1.5, −3).
//! let cosine = 13.5 / (14.0_f64 * 13.5).sqrt();
//! assert!((loss.value - (1.0 - cosine)).abs() < 1e-9);
//! # Ok::<(), regretless::Error>(())
//! ```

use std::fmt;

use super::name_options::{LossNameBuilder, LossOptions};
use super::registry::LossFamily;
use super::{Loss, LossDefinition, LossInput, LossProperties, buffer};
use crate::error::{Error, Result};
use crate::label::LabeledDataset;
use crate::observer::Observer;
use crate::oracle::{Oracle, OracleWorker};
use crate::solve::cone::NormalCone;

/// Vectors with a smaller norm have no direction. Untuned: any small value works.
const MIN_NORM: f64 = 1e-12;
/// A projection shorter than this fraction of the vector is rounding error. Untuned: well above
/// double precision, well below any real projection.
const MIN_PROJECTION_RATIO: f64 = 1e-9;
/// Weight of the mean normal in the point inside the cone; the value in its authors' code.
const MEAN_NORMAL_WEIGHT: f64 = 0.2;
/// Fraction of evaluations that project, under `hybrid`; the value of the paper.
const DEFAULT_SOLVE_RATIO: f64 = 0.3;

/// Interior-point steps of CaVE+; the value of the paper.
const INTERIOR_POINT_STEPS: usize = 3;

/// How a vector is projected on a cone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConeProjection {
    /// To the nearest point by Newton's method, or its iterate after this many steps.
    Nearest {
        /// Maximum number of steps.
        steps: usize,
    },
    /// By an interior-point method that stops after this many steps.
    InteriorPoint {
        /// Steps.
        steps: usize,
    },
}

/// The loss.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cave {
    /// Fraction of evaluations that project; the others use a point inside the cone.
    pub ratio: f64,
    /// How they project.
    pub projection: ConeProjection,
    /// Whether projections move inward.
    pub inner: bool,
}

pub(super) static FAMILY: LossFamily = LossFamily {
    names: &["CaVE", "CaVE+"],
    usage: &["CaVE", "CaVE+"],
    parse: |name, options| Ok(Cave::read(options, name == "CAVE+")?.into()),
    #[cfg(feature = "clarabel")]
    examples: &[
        "CaVE",
        "CaVE(inner)",
        "CaVE(inner,steps=2)",
        "CaVE(hybrid,ratio=0.5)",
        "CaVE+",
        "CaVE+(hybrid)",
    ],
    #[cfg(not(feature = "clarabel"))]
    examples: &[
        "CaVE",
        "CaVE(inner)",
        "CaVE(inner,steps=2)",
        "CaVE(hybrid,ratio=0.5)",
    ],
};

impl Cave {
    fn read(options: &mut LossOptions, plus: bool) -> Result<Self> {
        let steps = options.count(
            "steps",
            if plus {
                INTERIOR_POINT_STEPS
            } else {
                NormalCone::MAX_NEWTON_STEPS
            },
        )?;
        let projection = if plus {
            ConeProjection::InteriorPoint { steps }
        } else {
            ConeProjection::Nearest { steps }
        };
        let inner = options.flag("inner");
        let hybrid = options.flag("hybrid");
        let ratio = options.positive("ratio", if hybrid { DEFAULT_SOLVE_RATIO } else { 1.0 })?;
        if ratio > 1.0 {
            return Err(Error::setting(
                "CaVE: ratio is the fraction of evaluations that project, at most 1",
            ));
        }
        Ok(Self {
            ratio,
            projection,
            inner,
        })
    }

    /// A point of the cone to align with.
    fn target_direction(
        self,
        input: &LossInput<'_>,
        worker: &mut OracleWorker<'_>,
        v: &[f64],
    ) -> Result<Vec<f64>> {
        if self.ratio < 1.0 && input.stream().standard_uniform() >= self.ratio {
            let cone = worker
                .cone(input.label)
                .map_err(|error| error.for_method(&self.to_string()))?;
            return Ok(shift_inward(&cone, v.to_vec(), norm(v)));
        }
        let point = worker.project(input.label, |cone| {
            let point = match self.projection {
                ConeProjection::Nearest { steps } => cone.project_with_limit(v, steps),
                ConeProjection::InteriorPoint { steps } => cone.project_interior(v, steps)?,
            };
            Ok(if self.inner {
                shift_inward(cone, point, norm(v))
            } else {
                point
            })
        });
        let point = point.map_err(|error| error.for_method(&self.to_string()))?;
        point.map_err(|failure| Error::solver(input.instance, failure))
    }
}

impl fmt::Display for Cave {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hybrid = self.ratio < 1.0;
        let name = LossNameBuilder::default().flag("hybrid", hybrid);
        let name = name
            .number(
                "ratio",
                self.ratio,
                if hybrid { DEFAULT_SOLVE_RATIO } else { 1.0 },
            )
            .flag("inner", self.inner);
        f.write_str(&match self.projection {
            ConeProjection::Nearest { steps } => name
                .number("steps", steps, NormalCone::MAX_NEWTON_STEPS)
                .with_name("CaVE"),
            ConeProjection::InteriorPoint { steps } => name
                .number("steps", steps, INTERIOR_POINT_STEPS)
                .with_name("CaVE+"),
        })
    }
}

/// A vector scaled to unit norm and moved toward the mean normal of a cone; only that normal if
/// the projection of a vector of norm `original_norm` is rounding error.
fn shift_inward(cone: &NormalCone, mut vector: Vec<f64>, original_norm: f64) -> Vec<f64> {
    let vector_norm = norm(&vector);
    let scale = if vector_norm > MIN_NORM.max(MIN_PROJECTION_RATIO * original_norm) {
        (1.0 - MEAN_NORMAL_WEIGHT) / vector_norm
    } else {
        0.0
    };
    for (entry, normal) in vector.iter_mut().zip(cone.mean_normal()) {
        *entry = scale * *entry + MEAN_NORMAL_WEIGHT * normal;
    }
    vector
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|v| v * v).sum::<f64>().sqrt()
}

impl LossDefinition for Cave {
    fn properties(&self) -> LossProperties {
        // Projections are not solver calls: oracle settings do not change them.
        LossProperties {
            is_expensive: true,
            is_scale_invariant: true,
            ..LossProperties::SOLVER_FREE
        }
    }

    /// Checks that decisions are vertices of the relaxation with a cone, and that the
    /// interior-point method is available.
    fn check_problem(&self, oracle: &Oracle) -> Result<()> {
        if matches!(self.projection, ConeProjection::InteriorPoint { .. })
            && !cfg!(feature = "clarabel")
        {
            let message = "CaVE+ needs Clarabel, which this build was made without (cargo feature \
                `clarabel`)";
            return Err(Error::setting(message).with_remedy("use CaVE(inner)"));
        }
        if !oracle.problem().geometry().has_vertex_decisions() {
            return Err(Error::Capability {
                method: self.to_string(),
                capability: "decisions of zeros and ones",
                problem: oracle.problem().name(),
                remedy: "use a loss without cones, such as MAE(O,S) or SPO+".into(),
            });
        }
        oracle.require_cones()
    }

    fn build(&self, _: &LabeledDataset, _: &Oracle, _: &dyn Observer) -> Result<Box<dyn Loss>> {
        Ok(Box::new(*self))
    }
}

impl Loss for Cave {
    fn evaluate(
        &self,
        input: &LossInput<'_>,
        worker: &mut OracleWorker<'_>,
        gradient: &mut [f64],
    ) -> Result<f64> {
        let v = buffer::filled(input.prediction.iter().map(|p| -p));
        let p = self.target_direction(input, worker, &v)?;
        let (v_norm, p_norm) = (norm(&v), norm(&p));
        gradient.fill(0.0);
        if v_norm < MIN_NORM || p_norm < MIN_NORM {
            return Ok(1.0);
        }
        let cosine = v.iter().zip(&p).map(|(v, p)| v * p).sum::<f64>() / (v_norm * p_norm);
        for ((g, v), p) in gradient.iter_mut().zip(v.iter()).zip(&p) {
            *g = (p / p_norm - cosine * v / v_norm) / v_norm;
        }
        Ok(1.0 - cosine)
    }

    fn rescaling(&self, costs: usize) -> f64 {
        costs as f64
    }

    /// The loss is a cosine, which does not depend on the unit.
    fn gradient_degree(&self) -> i32 {
        -1
    }
}
