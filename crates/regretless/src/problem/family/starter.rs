//! Problem files to begin with, for `regretless new`.

use super::ProblemFamily;

/// Costs of a file that is not made for a table.
const EXAMPLE_COSTS: usize = 4;

impl ProblemFamily {
    /// What the kind is for, in everyday words; `None` for kinds that are not written by hand.
    pub fn in_words(&self) -> Option<&'static str> {
        let first = self.starter.lines().next()?;
        Some(first.trim_start_matches(['#', ' ']))
    }

    /// A commented problem file, valid as it is, with `# fill in` behind what must be stated;
    /// `None` for kinds that are not written by hand. `costs` are the names of the costs of a
    /// table.
    ///
    /// ```
    /// use regretless::problem::{ProblemFamily, ProblemSpec};
    ///
    /// let mut families = ProblemFamily::all().iter();
    /// let family = families.find(|family| family.name() == "top_k").expect("is a kind");
    /// let costs = ["a", "b", "c"].map(str::to_owned);
    /// let text = family.starter(Some(&costs)).expect("has a starter");
    /// assert!(text.contains("items = 3"));
    /// assert_eq!(ProblemSpec::from_toml(&text)?.build()?.num_costs(), 3);
    /// # Ok::<(), regretless::Error>(())
    /// ```
    pub fn starter(&self, costs: Option<&[String]>) -> Option<String> {
        if self.starter.is_empty() {
            return None;
        }
        let count = costs.map_or(EXAMPLE_COSTS, <[String]>::len);
        let names: Vec<String> = match costs {
            Some(names) => names.iter().map(|name| format!("{name:?}")).collect(),
            None => (1..=count).map(|item| format!("\"item_{item}\"")).collect(),
        };
        let text = self.starter.replace("{names}", &names.join(", "));
        let text = text.replace("{ones}", &vec!["1.0"; count].join(", "));
        Some(text.replace("{count}", &count.to_string()))
    }
}
