//! The parsed name of a cost-sensitive loss, for Python code that computes such a loss itself.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use regretless::loss::{BaseError, ErrorSide, InstanceWeighting, Normalization};
use regretless::method::TrainingStage;

use crate::error::to_py_err;

/// The components of a loss of the cost-sensitive family.
///
/// Parameters
/// ----------
/// name : str
///     MSE or MAE with components, such as "MAE(O,S)". Settings of a stage ("lr 0.1") may follow.
///
/// Raises
/// ------
/// ValueError
///     For an unknown name, or a loss of another family.
///
/// Examples
/// --------
/// >>> rl.CostSensitiveSpec("MAE(O,S)").one_sided
/// True
#[pyclass(frozen, module = "regretless", name = "CostSensitiveSpec")]
pub struct CostSensitiveSpec {
    spec: regretless::loss::CostSensitiveSpec,
    has_stage_settings: bool,
}

#[pymethods]
impl CostSensitiveSpec {
    #[new]
    fn new(name: &str) -> PyResult<Self> {
        let stage: TrainingStage = name.parse().map_err(to_py_err)?;
        let spec = stage
            .loss
            .downcast_ref::<regretless::loss::CostSensitiveSpec>();
        let spec = spec.ok_or_else(|| {
            PyValueError::new_err(format!(
                "MSE or MAE with components is needed, such as MAE(O,S), not '{name}'"
            ))
        })?;
        Ok(Self {
            has_stage_settings: stage.to_string() != spec.to_string(),
            spec: spec.clone(),
        })
    }

    /// Whether errors are squared (MSE) instead of absolute (MAE).
    #[getter]
    fn squared(&self) -> bool {
        self.spec.error == BaseError::Squared
    }

    /// Whether only errors that can change the decision count (component O).
    #[getter]
    fn one_sided(&self) -> bool {
        self.spec.side == ErrorSide::OneSided
    }

    /// Whether errors within cost ranges are free (component O_S).
    #[getter]
    fn sensitivity_based(&self) -> bool {
        matches!(self.spec.side, ErrorSide::Sensitive(_))
    }

    /// Weights of underpredictions of the pinball loss (tau), one for all costs or one each, or
    /// None.
    #[getter]
    fn tau(&self) -> Option<Vec<f64>> {
        match &self.spec.side {
            ErrorSide::Pinball(taus) => Some(taus.clone()),
            ErrorSide::Both
            | ErrorSide::OneSided
            | ErrorSide::Sensitive(_)
            | ErrorSide::DualWeighted(_) => None,
        }
    }

    /// Whether errors are those of vectors of unit norm (component S).
    #[getter]
    fn scale_invariant(&self) -> bool {
        self.spec.normalization == Normalization::UnitNorm
    }

    /// Whether errors are those of vectors of unit norm without what the equality constraints of
    /// the problem absorb (component E).
    #[getter]
    fn equality_invariant(&self) -> bool {
        self.spec.normalization == Normalization::EqualityInvariant
    }

    /// How instances are weighted: "C", "W", "IC" or "EIC", or None for equal weights.
    #[getter]
    fn weighting(&self) -> Option<&'static str> {
        match self.spec.weighting {
            InstanceWeighting::Equal => None,
            InstanceWeighting::InstanceCosts => Some("C"),
            InstanceWeighting::Reweighted(_) => Some("W"),
            InstanceWeighting::Iterative(_) => Some("IC"),
            InstanceWeighting::Ensemble(_) => Some("EIC"),
        }
    }

    /// Whether settings of a stage, such as "lr 0.1", follow the loss.
    #[getter]
    fn has_stage_settings(&self) -> bool {
        self.has_stage_settings
    }

    /// The name of the loss, without settings of a stage.
    #[getter]
    fn name(&self) -> String {
        self.spec.to_string()
    }

    fn __repr__(&self) -> String {
        format!("CostSensitiveSpec({:?})", self.spec.to_string())
    }
}
