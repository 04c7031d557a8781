//! What people call the costs: pages and explanations use these names instead of those of columns.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use regretless::data::{CostNames, CsvDialect, Dataset, Layout, TableSource, WideColumns};
use regretless_base::error::{Error, InputPlace, Result};
use regretless_base::text::first_names;

/// Names for people from a file: a CSV table with a header whose rows have a cost and its name.
#[derive(Debug, Clone)]
pub struct NamesFile {
    file: PathBuf,
    /// Names, and the rows that they are in, by the cost.
    names: BTreeMap<String, (String, u64)>,
}

impl NamesFile {
    /// Reads a file.
    ///
    /// # Errors
    /// When it has other than two columns, an empty cell, or a cost or a name twice.
    pub fn read(file: &Path) -> Result<Self> {
        let source = TableSource::Csv {
            file: file.to_path_buf(),
            layout: Layout::Wide(WideColumns::default()),
            dialect: CsvDialect::of_file(file, None, None)?,
            parameters: Vec::new(),
        };
        let columns = source.matching_columns(&["*".to_owned()])?;
        if columns.len() != 2 {
            let message = format!("the file of names has {} columns", columns.len());
            return Err(Error::input(InputPlace::file(file).row(1), message).with_remedy(
                "two are needed under a header such as cost,name: a cost and what people call it",
            ));
        }
        let mut names: BTreeMap<String, (String, u64)> = BTreeMap::new();
        // The header is the first row.
        let mut row = 1;
        source.visit_rows(&columns, &mut |cells| {
            row += 1;
            let at = |message: String| Error::input(InputPlace::file(file).row(row), message);
            let [cost, name] = [&cells[0], &cells[1]].map(|cell| cell.trim().to_owned());
            if cost.is_empty() || name.is_empty() {
                return Err(at("a cell is empty".into()).with_remedy("leave the row out"));
            }
            if let Some((other, _)) = names.iter().find(|(_, (known, _))| *known == name) {
                return Err(
                    at(format!("'{cost}' and '{other}' are both called '{name}'"))
                        .with_remedy("give each cost a name of its own"),
                );
            }
            match names.insert(cost.clone(), (name, row)) {
                None => Ok(()),
                Some(_) => Err(at(format!("'{cost}' has a name in an earlier row"))),
            }
        })?;
        Ok(Self {
            file: file.to_path_buf(),
            names,
        })
    }

    /// The names of the costs of a table, if a file has some.
    ///
    /// # Errors
    /// Those of [`read`](Self::read) and [`of_table`](Self::of_table).
    pub fn names_in(file: Option<&Path>, data: &Dataset) -> Result<Option<CostNames>> {
        match file {
            Some(file) => Self::read(file)?.of_table(data).map(Some),
            None => Ok(None),
        }
    }

    /// The names of the costs of a table, as [`of`](Self::of) finds them.
    ///
    /// # Errors
    /// Those of [`of`](Self::of), and when every row of the table has items of its own.
    pub fn of_table(&self, data: &Dataset) -> Result<CostNames> {
        let parameters = data.parameters();
        if parameters.is_some_and(|parameters| parameters.name_items()) {
            let message = "every row of the table has items and names of its own";
            return Err(Error::input(InputPlace::file(&self.file), message)
                .with_remedy("leave the file of names out"));
        }
        self.of(data.cost_names())
    }

    /// The names of costs in their order; those that the file does not have keep their own.
    ///
    /// # Errors
    /// When the file names a cost that does not exist, or one as another one is called.
    pub fn of(&self, costs: &CostNames) -> Result<CostNames> {
        let mut named = costs.to_vec();
        for (cost, (name, row)) in &self.names {
            let place = costs.iter().position(|known| known == *cost);
            let Some(place) = place else {
                let known = costs.to_vec();
                let place = InputPlace::file(&self.file).row(*row);
                return Err(Error::input(place, format!("no cost is called '{cost}'"))
                    .with_remedy(format!("the costs are {}", first_names(&known))));
            };
            named[place].clone_from(name);
        }
        let names: CostNames = named.into();
        let checked = names.check("name");
        checked.map_err(|error| error.in_file(&self.file))?;
        Ok(names)
    }
}

#[cfg(test)]
mod tests {
    use super::NamesFile;
    use regretless::data::CostNames;

    fn file(text: &str) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("names.csv");
        std::fs::write(&path, text).unwrap();
        (folder, path)
    }

    #[test]
    fn costs_without_a_name_in_the_file_keep_their_own() {
        let (_folder, path) = file("cost,name\nb,\"Rolls, white\"\na,Bread\n");
        let costs: CostNames = vec!["a".to_owned(), "b".to_owned(), "c".to_owned()].into();
        let names = NamesFile::read(&path).unwrap().of(&costs).unwrap();
        assert_eq!(names.to_vec(), ["Bread", "Rolls, white", "c"]);
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_its_row() {
        for (text, message) in [
            ("cost,name\na,Bread\na,Roll\n", "row 3"),
            ("cost,name\na,Bread\nb,Bread\n", "both called 'Bread'"),
            ("cost,name\na,\n", "a cell is empty"),
            ("cost\na\n", "has 1 columns"),
        ] {
            let (_folder, path) = file(text);
            let error = NamesFile::read(&path).unwrap_err().to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
        let costs: CostNames = vec!["a".to_owned(), "b".to_owned()].into();
        for (text, message) in [
            ("cost,name\nd,Bread\n", "no cost is called 'd'"),
            ("cost,name\na,b\n", "b"),
        ] {
            let (_folder, path) = file(text);
            let error = NamesFile::read(&path).unwrap().of(&costs).unwrap_err();
            assert!(error.to_string().contains(message), "{text}: {error}");
        }
    }
}
