//! CaVE: predicted costs aligned with the cone of the best decision.
//!
//! ```text
//! loss = 1 − cos(v, p)      v = −ĉ,  p = nearest point to v of the cone of normals that bind at x*, held constant
//! ```
//!
//! x* is best under ĉ when v lies in the cone, and only then where the problem is its own linear
//! relaxation; the loss is then 0. `CaVE(inner)`: p moves inwards, to 0.8·p/‖p‖ + 0.2·(mean unit
//! normal), so that the loss still pulls where v is at the boundary already. `CaVE(steps=3)`: the
//! search for p stops after 3 Newton steps, at a point of the cone that need not be the nearest.
//! `CaVE(hybrid)`: a share of evaluations (`ratio`, 0.3) projects, the others take for p a point
//! inside the cone, 0.8·v/‖v‖ + 0.2·(mean unit normal), which costs nothing and pulls inwards.
//! `CaVE+`: p comes from an interior-point search stopped after 3 steps (`steps`), inside the cone
//! rather than on its boundary.
//!
//! Source: Tang and Khalil, "CaVE: a cone-aligned approach for fast predict-then-optimize with
//! binary linear programs" (2024). Solves per evaluation: one projection (a quadratic programme,
//! counted as such). Needs the best decisions and a problem that knows the constraints that bind
//! there. Whole numbers other than 0 and 1 are refused: between their bounds nothing binds, and the
//! cone of a best decision may be empty. Use CaVE(inner) where projections are much cheaper than
//! solves: without `inner` it is content at the boundary, where a small error changes the decision;
//! CaVE+ trains as well and takes longer.

use std::fmt;

use super::name_options::{LossNameBuilder, LossOptions};
use super::{Loss, LossInput, buffer};
use crate::error::{Error, Result};
use crate::oracle::{Oracle, OracleWorker};
use crate::solve::cone::NormalCone;

/// Shorter vectors have no direction.
const MIN_NORM: f64 = 1e-12;
/// Share of a vector's length below which its projection is rounding.
const MIN_PROJECTION_RATIO: f64 = 1e-9;
/// Weight of the mean normal in the point inside the cone.
const MEAN_NORMAL_WEIGHT: f64 = 0.2;
/// Share of evaluations that project, under `hybrid`.
const DEFAULT_SOLVE_RATIO: f64 = 0.3;

/// Interior-point steps of CaVE+.
const INTERIOR_POINT_STEPS: usize = 3;

/// How a vector is projected on a cone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConeProjection {
    /// To the nearest point, by Newton's method, or where it stands after this many steps.
    Nearest {
        /// Most steps.
        steps: usize,
    },
    /// By an interior-point search that stops after this many steps.
    Early {
        /// Steps.
        steps: usize,
    },
}

/// The loss.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cave {
    /// Share of evaluations that project; the others take a point inside the cone.
    pub ratio: f64,
    /// How they project.
    pub projection: ConeProjection,
    /// Whether what is projected moves inwards.
    pub inner: bool,
}

impl Cave {
    pub(super) fn read(options: &mut LossOptions, plus: bool) -> Result<Self> {
        let steps = options.count(
            "steps",
            if plus {
                INTERIOR_POINT_STEPS
            } else {
                NormalCone::MAX_NEWTON_STEPS
            },
        )?;
        let projection = if plus {
            ConeProjection::Early { steps }
        } else {
            ConeProjection::Nearest { steps }
        };
        let inner = options.flag("inner");
        let hybrid = options.flag("hybrid");
        let ratio = options.positive("ratio", if hybrid { DEFAULT_SOLVE_RATIO } else { 1.0 })?;
        if ratio > 1.0 {
            return Err(Error::setting(
                "CaVE: ratio is the share of evaluations that project, at most 1",
            ));
        }
        Ok(Self {
            ratio,
            projection,
            inner,
        })
    }

    /// The loss, if the problem and this build of the crate allow it.
    ///
    /// # Errors
    /// When decisions are no vertices of the relaxation, or the interior-point method is missing.
    pub fn build(self, oracle: &Oracle) -> Result<Self> {
        if matches!(self.projection, ConeProjection::Early { .. }) && !cfg!(feature = "clarabel") {
            let message = "CaVE+ needs Clarabel, which this build was made without (cargo feature \
                `clarabel`); use CaVE(inner)";
            return Err(Error::setting(message));
        }
        let instead = "use a loss without cones, such as MAE(O,S) or SPO+";
        oracle
            .problem()
            .has_vertex_decisions()
            .then_some(self)
            .ok_or_else(|| Error::Capability {
                method: self.to_string(),
                capability: "decisions of zeros and ones",
                problem: oracle.problem().name(),
                instead: instead.into(),
            })
    }

    /// A point of the cone to align with.
    fn target_direction(
        self,
        query: &LossInput<'_>,
        worker: &mut OracleWorker<'_>,
        v: &[f64],
    ) -> Result<Vec<f64>> {
        if self.ratio < 1.0 && query.stream().unit() >= self.ratio {
            return Ok(shift_inward(
                &worker.cone(query.best, &self.to_string())?,
                v.to_vec(),
                norm(v),
            ));
        }
        let failed = |failure| Error::solver(query.instance, failure);
        let point = worker.project(query.best, &self.to_string(), |cone| {
            let point = match self.projection {
                ConeProjection::Nearest { steps } => cone.project_within(v, steps),
                ConeProjection::Early { steps } => cone.project_interior(v, steps)?,
            };
            Ok(if self.inner {
                shift_inward(cone, point, norm(v))
            } else {
                point
            })
        })?;
        point.map_err(failed)
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
            ConeProjection::Early { steps } => name
                .number("steps", steps, INTERIOR_POINT_STEPS)
                .with_name("CaVE+"),
        })
    }
}

/// A vector at unit length, moved towards the mean normal of a cone; where next to nothing is left
/// of what was projected, that normal alone.
fn shift_inward(cone: &NormalCone, mut vector: Vec<f64>, projected: f64) -> Vec<f64> {
    let length = norm(&vector);
    let share = if length > MIN_NORM.max(MIN_PROJECTION_RATIO * projected) {
        (1.0 - MEAN_NORMAL_WEIGHT) / length
    } else {
        0.0
    };
    let pull =
        |(entry, normal): (&mut f64, f64)| *entry = share * *entry + MEAN_NORMAL_WEIGHT * normal;
    vector.iter_mut().zip(cone.mean_normal()).for_each(pull);
    vector
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|v| v * v).sum::<f64>().sqrt()
}

impl Loss for Cave {
    fn evaluate(
        &self,
        query: &LossInput<'_>,
        worker: &mut OracleWorker<'_>,
        gradient: &mut [f64],
    ) -> Result<f64> {
        let v = buffer::filled(query.prediction.iter().map(|p| -p));
        let aim = self.target_direction(query, worker, &v)?;
        let (length, reach) = (norm(&v), norm(&aim));
        gradient.fill(0.0);
        if length < MIN_NORM || reach < MIN_NORM {
            return Ok(1.0);
        }
        let cosine = v.iter().zip(&aim).map(|(v, p)| v * p).sum::<f64>() / (length * reach);
        for ((g, v), p) in gradient.iter_mut().zip(v.iter()).zip(&aim) {
            *g = (p / reach - cosine * v / length) / length;
        }
        Ok(1.0 - cosine)
    }

    fn rescaling(&self, costs: usize) -> f64 {
        costs as f64
    }

    fn calls_solver(&self) -> bool {
        true
    }
}
