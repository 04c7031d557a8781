//! Coordinates of nodes in a CSV file, for drawings.

use std::path::Path;

use super::table::CsvTable;
use crate::data::CsvDialect;
use crate::data::layout::ColumnSelection;
use crate::error::{Error, InputPlace, Result};

/// The nodes of a file.
#[derive(Debug)]
pub struct NodeCoordinates {
    nodes: Vec<PlacedNode>,
    /// Whether the file names its nodes.
    has_names: bool,
}

/// A node in the plane.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacedNode {
    /// Its name.
    pub name: String,
    /// Its coordinates.
    pub position: [f64; 2],
}

impl NodeCoordinates {
    /// Reads the columns `x`, `y` and, if there is one, `node`.
    ///
    /// # Errors
    /// When a column is missing or a cell is no number.
    pub fn read(path: &Path) -> Result<Self> {
        let mut table = CsvTable::open(path, CsvDialect::default())?;
        let header = table.header();
        let axes = [header.column("x")?, header.column("y")?];
        let name = header.column("node").ok();
        let mut nodes = Vec::new();
        table.read(ColumnSelection::default(), |table| {
            let name = match name {
                Some(column) => table.text(column)?.to_owned(),
                None => String::new(),
            };
            let position = [table.parameter(axes[0])?, table.parameter(axes[1])?];
            nodes.push(PlacedNode { name, position });
            Ok(())
        })?;
        Ok(Self {
            nodes,
            has_names: name.is_some(),
        })
    }

    /// The nodes of a problem in its order: by `names` if it has them, or else `count` numbered
    /// ones. A column `node` of the numbers from 0 on gives the order too, other names do not.
    ///
    /// # Errors
    /// When a node is missing, or the file has another number of them.
    pub fn of_nodes(self, count: usize, names: &[String], path: &Path) -> Result<Vec<PlacedNode>> {
        let error = |message: String| Error::input(InputPlace::file(path), message);
        let mut nodes = self.nodes;
        if !names.is_empty() {
            if !self.has_names {
                return Err(error(
                    "the column 'node' with the names of nodes is missing".into(),
                ));
            }
            let mut ordered = Vec::with_capacity(names.len());
            for name in names {
                let found = nodes.iter().find(|node| node.name == *name);
                let missing = || error(format!("the node '{name}' has no coordinates"));
                ordered.push(found.ok_or_else(missing)?.clone());
            }
            return Ok(ordered);
        }
        if nodes.len() != count {
            return Err(error(format!(
                "the file has {} nodes, the problem has {count}",
                nodes.len()
            )));
        }
        let mut numbers: Vec<Option<usize>> =
            nodes.iter().map(|node| node.name.parse().ok()).collect();
        numbers.sort_unstable();
        if numbers.iter().copied().eq((0..count).map(Some)) {
            nodes.sort_by_key(|node| node.name.parse().unwrap_or(0_usize));
        }
        Ok(nodes)
    }
}

#[cfg(test)]
mod tests {
    use super::NodeCoordinates;

    #[test]
    fn nodes_are_found_by_name_number_or_order() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("nodes.csv");
        let read = |text: &str, count: usize, names: &[&str]| {
            std::fs::write(&file, text).unwrap();
            let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
            NodeCoordinates::read(&file)?.of_nodes(count, &names, &file)
        };
        let by_name = read("node,x,y\nb,3,4\na,1,2\n", 2, &["a", "b"]).unwrap();
        assert_eq!(by_name[0].position, [1.0, 2.0]);
        let by_number = read("node,x,y\n1,3,4\n0,1,2\n", 2, &[]).unwrap();
        assert_eq!(by_number[0].position, [1.0, 2.0]);
        let in_order = read("x,y\n3,4\n1,2\n", 2, &[]).unwrap();
        assert_eq!(in_order[0].position, [3.0, 4.0]);
        let missing = read("node,x,y\na,1,2\n", 2, &["a", "b"]).unwrap_err();
        assert!(
            missing.to_string().contains("'b' has no coordinates"),
            "{missing}"
        );
        let short = read("x,y\n3,4\n", 2, &[]).unwrap_err();
        assert!(short.to_string().contains("1 nodes"), "{short}");
        let text = read("x,y\n3,here\n1,2\n", 2, &[]).unwrap_err();
        assert!(text.to_string().contains("here"), "{text}");
    }
}
