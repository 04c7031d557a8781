//! Names with options in brackets, `PFYL(mul,samples=20)`: parsed and printed in one way for all
//! losses.
//!
//! Options at their defaults are not printed, so a name is as short as in the literature.

use std::fmt::Display;

use crate::error::{Error, Result};

/// The options of a name, taken one after the other by the loss that defines them.
#[derive(Debug)]
pub(super) struct LossOptions {
    /// The name with its options, as typed.
    text: String,
    /// The options that were not taken yet, in lower case.
    remaining: Vec<String>,
    /// The options the loss looked for, for error messages.
    recognized: Vec<&'static str>,
}

impl LossOptions {
    /// Splits a text into the name before the brackets and the options in them.
    pub(super) fn split_name(text: &str) -> (String, Self) {
        let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let (name, inside) = match compact.split_once('(') {
            Some((name, rest)) => (name, rest.strip_suffix(')').unwrap_or(rest)),
            None => (compact.as_str(), ""),
        };
        let mut remaining = Vec::new();
        for option in inside.split(',') {
            if !option.is_empty() {
                remaining.push(option.to_ascii_lowercase());
            }
        }
        let options = Self {
            text: text.to_owned(),
            remaining,
            recognized: Vec::new(),
        };
        (name.to_owned(), options)
    }

    /// The name with its options, as typed, for losses with a separate grammar; takes all options.
    pub(super) fn take_text(&mut self) -> &str {
        self.remaining.clear();
        &self.text
    }

    /// Whether this word is among the options.
    pub(super) fn flag(&mut self, name: &'static str) -> bool {
        self.recognized.push(name);
        let position = self.remaining.iter().position(|option| option == name);
        position.map(|index| self.remaining.remove(index)).is_some()
    }

    /// The text after `name=`, if the option is present.
    fn value(&mut self, name: &'static str) -> Option<String> {
        self.recognized.push(name);
        for index in 0..self.remaining.len() {
            if let Some((key, value)) = self.remaining[index].split_once('=')
                && key == name
            {
                let value = value.to_owned();
                self.remaining.remove(index);
                return Some(value);
            }
        }
        None
    }

    /// A number above 0.
    pub(super) fn positive(&mut self, name: &'static str, default: f64) -> Result<f64> {
        let Some(text) = self.value(name) else {
            return Ok(default);
        };
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() && number > 0.0 => Ok(number),
            Ok(_) | Err(_) => {
                Err(self.invalid(&format!("{name} takes a number above 0, not '{text}'")))
            }
        }
    }

    /// An integer of at least 1.
    pub(super) fn count(&mut self, name: &'static str, default: usize) -> Result<usize> {
        let Some(text) = self.value(name) else {
            return Ok(default);
        };
        match text.parse::<usize>() {
            Ok(count) if count >= 1 => Ok(count),
            Ok(_) | Err(_) => {
                Err(self.invalid(&format!("{name} takes an integer from 1, not '{text}'")))
            }
        }
    }

    /// Checks that all options were taken.
    pub(super) fn finish(self) -> Result<()> {
        let Some(first) = self.remaining.first() else {
            return Ok(());
        };
        if self.recognized.is_empty() {
            return Err(self.invalid(&format!("it takes no options, but '{first}' is given")));
        }
        Err(Error::unknown(
            &format!("option in loss '{}':", self.text),
            first,
            &self.recognized,
        ))
    }

    fn invalid(&self, reason: &str) -> Error {
        Error::setting(format!("loss '{}': {reason}", self.text))
    }
}

/// Collects the options of a name that is printed.
#[derive(Debug, Default)]
pub(super) struct LossNameBuilder(Vec<String>);

impl LossNameBuilder {
    /// Adds a word if it is set.
    pub(super) fn flag(mut self, name: &str, is_set: bool) -> Self {
        if is_set {
            self.0.push(name.to_owned());
        }
        self
    }

    /// Adds a number unless it is the default.
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
