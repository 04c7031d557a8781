//! The list of all losses that have a name.

use super::name_options::LossOptions;
use super::{
    LossSpec, cave, contrastive, cost_sensitive, frank_wolfe, lava, layer, perturbation_gradient,
    pfyl, ranking, self_contrastive, spo_plus,
};
use crate::error::Result;

/// The losses of one file: their names, how options are parsed, and examples for tests.
pub(super) struct LossFamily {
    /// Names before the brackets, compared without case.
    pub(super) names: &'static [&'static str],
    /// How the names look with options, for error messages.
    pub(super) usage: &'static [&'static str],
    /// Builds the loss of one of the names from its options.
    pub(super) parse: fn(&str, &mut LossOptions) -> Result<LossSpec>,
    /// Names that every test of all losses runs.
    pub(super) examples: &'static [&'static str],
}

/// All losses.
pub(super) static LOSS_FAMILIES: &[&LossFamily] = &[
    &cost_sensitive::FAMILY,
    &spo_plus::FAMILY,
    &pfyl::FAMILY,
    &contrastive::FAMILY,
    &self_contrastive::FAMILY,
    &ranking::FAMILY,
    &perturbation_gradient::FAMILY,
    &layer::blackbox::FAMILY,
    &layer::perturbed::FAMILY,
    &layer::implicit::FAMILY,
    &frank_wolfe::FAMILY,
    &cave::FAMILY,
    &lava::FAMILY,
];
