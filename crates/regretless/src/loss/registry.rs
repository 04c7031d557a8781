//! The list of all losses that have a name, and the custom losses.
//!
//! A custom loss can be trained as a value (`Method::from`). To be used by its name, in method
//! texts, settings files and experiments, it is registered for the process
//! ([`LossSpec::register`]), or found by a resolver ([`LossSpec::set_resolver`]), which the Python
//! package sets for names such as `my_losses.py:my_loss`.

use std::sync::{PoisonError, RwLock};

use super::name_options::LossOptions;
use super::{
    LossSpec, cave, contrastive, cost_sensitive, frank_wolfe, lava, layer, perturbation_gradient,
    pfyl, ranking, self_contrastive, spo_plus,
};
use crate::error::{Error, Result};

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

/// Finds the loss of a name that is not built in.
type LossResolver = fn(&str) -> Result<LossSpec>;

/// The registered losses of this process.
static OWN_LOSSES: RwLock<Vec<LossSpec>> = RwLock::new(Vec::new());

static RESOLVER: RwLock<Option<LossResolver>> = RwLock::new(None);

/// Characters that separate the words of a method's name or the methods of a list.
const RESERVED_CHARACTERS: [char; 8] = ['(', ')', ',', ';', '%', '"', '\'', '='];

impl LossSpec {
    /// Makes the name of a custom loss part of the grammar of methods, in this process. It replaces
    /// an earlier loss of the same name; losses that are built in keep theirs.
    ///
    /// # Errors
    /// When the name is not a single word, or is that of a loss that is built in.
    pub fn register(&self) -> Result<()> {
        let name = self.to_string();
        check_own_name(&name)?;
        let mut losses = OWN_LOSSES.write().unwrap_or_else(PoisonError::into_inner);
        losses.retain(|loss| loss.to_string() != name);
        losses.push(self.clone());
        Ok(())
    }

    /// Sets the function that finds losses of the form `file:function`, in this process. Without
    /// one, such names are refused.
    pub fn set_resolver(resolver: fn(&str) -> Result<Self>) {
        *RESOLVER.write().unwrap_or_else(PoisonError::into_inner) = Some(resolver);
    }
}

/// The registered loss of a name.
pub(super) fn own_loss(name: &str) -> Option<LossSpec> {
    let losses = OWN_LOSSES.read().unwrap_or_else(PoisonError::into_inner);
    losses.iter().find(|loss| loss.to_string() == name).cloned()
}

/// A custom loss with options, such as `my-loss(margin=0.1)`; `None` if the text has no options, or
/// no such loss is known.
pub(super) fn with_options(text: &str) -> Option<Result<LossSpec>> {
    let (name, inside) = text.strip_suffix(')')?.split_once('(')?;
    let loss = match own_loss(name.trim()) {
        Some(own) => own,
        None => match resolve(name.trim())? {
            Ok(found) => found,
            Err(error) => return Some(Err(error)),
        },
    };
    let invalid = |reason: String| Error::setting(format!("loss '{text}': {reason}"));
    let options = match split_options(inside) {
        Ok(options) => options,
        Err(option) => {
            let error = invalid(format!("'{option}' is no option"));
            return Some(Err(
                error.with_remedy("write name=value, such as margin=0.1")
            ));
        }
    };
    let without_options = || Err(invalid("it has no options".into()));
    Some(loss.with_options(&options).unwrap_or_else(without_options))
}

/// Splits `name=value, name=value` at commas outside quotation marks.
///
/// # Errors
/// With the first part that has no name or value.
fn split_options(text: &str) -> std::result::Result<Vec<[String; 2]>, String> {
    let (mut parts, mut quote) = (vec![String::new()], None);
    for c in text.chars() {
        match quote {
            Some(mark) if c == mark => quote = None,
            None if c == '\'' || c == '"' => quote = Some(c),
            Some(_) | None => {}
        }
        match parts.last_mut() {
            Some(part) if c != ',' || quote.is_some() => part.push(c),
            Some(_) | None => parts.push(String::new()),
        }
    }
    let mut options = Vec::with_capacity(parts.len());
    for part in parts {
        let pair = part
            .split_once('=')
            .map(|(name, value)| [name.trim(), value.trim()]);
        match pair {
            Some([name, value]) if !name.is_empty() && !value.is_empty() => {
                options.push([name.to_owned(), value.to_owned()]);
            }
            Some(_) | None => return Err(part.trim().to_owned()),
        }
    }
    Ok(options)
}

/// The loss that the resolver finds for a name of the form `file:function`; `None` for other names.
pub(super) fn resolve(name: &str) -> Option<Result<LossSpec>> {
    let (file, function) = name.rsplit_once(':')?;
    if file.is_empty() || function.is_empty() {
        return None;
    }
    let resolver = *RESOLVER.read().unwrap_or_else(PoisonError::into_inner);
    Some(match resolver {
        Some(resolver) => resolver(name),
        None => Err(Error::setting(format!(
            "the loss '{name}' is a Python function, which this program cannot call"
        ))
        .with_remedy(
            "use the command of the Python package with the same arguments: pip install \
             regretless, then python -m regretless",
        )),
    })
}

/// The family of a loss that is built in, by the name before its options.
pub(super) fn family(name: &str) -> Option<&'static LossFamily> {
    let has_name = |known: &&str| known.eq_ignore_ascii_case(name);
    LOSS_FAMILIES
        .iter()
        .copied()
        .find(|family| family.names.iter().any(has_name))
}

fn check_own_name(name: &str) -> Result<()> {
    let invalid = |reason: &str| {
        Err(
            Error::setting(format!("a loss cannot be called '{name}': {reason}"))
                .with_remedy("choose another name"),
        )
    };
    let is_separator = |c: char| c.is_whitespace() || c.is_control();
    if name.is_empty() || name.contains(is_separator) || name.contains(RESERVED_CHARACTERS) {
        return invalid("the name must be one word without brackets, commas and quotes");
    }
    if name == "then" || name.starts_with("auto") {
        return invalid("the word is part of the grammar of methods");
    }
    if family(name).is_some() {
        return invalid("a loss of this name is built in");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::split_options;

    #[test]
    fn options_are_split_at_commas_outside_quotation_marks() {
        let pairs = split_options(" margin = 0.1,kind=\"a, b=c\", sense='it\"s, so' ").unwrap();
        let texts: Vec<[&str; 2]> = pairs
            .iter()
            .map(|pair| pair.each_ref().map(String::as_str))
            .collect();
        assert_eq!(
            texts,
            [
                ["margin", "0.1"],
                ["kind", "\"a, b=c\""],
                ["sense", "'it\"s, so'"]
            ]
        );
        for (text, part) in [
            ("", ""),
            ("0.1", "0.1"),
            ("a=1,", ""),
            ("a=1, b=", "b="),
            ("=2", "=2"),
        ] {
            assert_eq!(split_options(text).unwrap_err(), part);
        }
    }
}
