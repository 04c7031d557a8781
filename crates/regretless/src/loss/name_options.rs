//! Labels with options in brackets, `PFYL(mul,samples=20)`: read and written in one way for all
//! losses.
//!
//! Options at their defaults are not written, so that a label is as short as the literature prints
//! it.

use std::fmt::Display;

use crate::error::{Error, Result};

/// The options of a label, taken one after the other by the loss that knows them.
#[derive(Debug)]
pub(super) struct LossOptions {
    name: String,
    /// What stands in the brackets and was not taken yet, in lower case.
    left: Vec<String>,
    /// What was asked for, for messages.
    known: Vec<&'static str>,
}

impl LossOptions {
    /// Splits a label into its name and its options.
    pub(super) fn of(text: &str) -> (String, Self) {
        let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let inside = |rest: &str| rest.strip_suffix(')').unwrap_or(rest).to_ascii_lowercase();
        let (name, options) = match compact.split_once('(') {
            Some((name, rest)) => (name.to_owned(), inside(rest)),
            None => (compact, String::new()),
        };
        let left = options
            .split(',')
            .filter(|option| !option.is_empty())
            .map(str::to_owned)
            .collect();
        (
            name,
            Self {
                name: text.to_owned(),
                left,
                known: Vec::new(),
            },
        )
    }

    /// Whether this word is among the options.
    pub(super) fn flag(&mut self, name: &'static str) -> bool {
        self.known.push(name);
        let found = self.left.iter().position(|option| option == name);
        found.map(|place| self.left.remove(place)).is_some()
    }

    fn value(&mut self, name: &'static str) -> Option<String> {
        self.known.push(name);
        let value = |option: &String| {
            option
                .strip_prefix(name)?
                .strip_prefix('=')
                .map(str::to_owned)
        };
        let place = self
            .left
            .iter()
            .position(|option| value(option).is_some())?;
        value(&self.left.remove(place))
    }

    /// A number above 0.
    pub(super) fn positive(&mut self, name: &'static str, default: f64) -> Result<f64> {
        let Some(text) = self.value(name) else {
            return Ok(default);
        };
        let number = text
            .parse::<f64>()
            .ok()
            .filter(|x| x.is_finite() && *x > 0.0);
        number.ok_or_else(|| self.invalid(&format!("{name} takes a number above 0, not '{text}'")))
    }

    /// A whole number from 1.
    pub(super) fn count(&mut self, name: &'static str, default: usize) -> Result<usize> {
        let Some(text) = self.value(name) else {
            return Ok(default);
        };
        let number = text.parse::<usize>().ok().filter(|count| *count >= 1);
        number.ok_or_else(|| {
            self.invalid(&format!("{name} takes a whole number from 1, not '{text}'"))
        })
    }

    /// Nothing may be left.
    pub(super) fn finish(self) -> Result<()> {
        let Some(first) = self.left.first() else {
            return Ok(());
        };
        if self.known.is_empty() {
            return Err(self.invalid(&format!("it takes no options, but '{first}' is given")));
        }
        Err(Error::unknown(
            &format!("option in loss '{}':", self.name),
            first,
            &self.known,
        ))
    }

    fn invalid(&self, what: &str) -> Error {
        Error::setting(format!("loss '{}': {what}", self.name))
    }
}

/// A label in the making.
#[derive(Debug, Default)]
pub(super) struct LossNameBuilder(Vec<String>);

impl LossNameBuilder {
    /// Writes a word if it holds.
    pub(super) fn flag(mut self, name: &str, holds: bool) -> Self {
        if holds {
            self.0.push(name.to_owned());
        }
        self
    }

    /// Writes a number unless it is the default.
    pub(super) fn number<T: Display + PartialEq + Copy>(
        mut self,
        name: &str,
        value: T,
        default: T,
    ) -> Self {
        if value != default {
            self.0.push(format!("{name}={value}"));
        }
        self
    }

    /// The name with its options.
    pub(super) fn with_name(self, name: &str) -> String {
        if self.0.is_empty() {
            name.to_owned()
        } else {
            format!("{name}({})", self.0.join(","))
        }
    }
}
