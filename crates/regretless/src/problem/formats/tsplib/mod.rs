//! Reader of TSPLIB files of symmetric instances, with the sections of CVRPLIB.
//!
//! Distances follow Reinelt (1991, 1995): `EUC_2D` rounds to the nearest integer, `CEIL_2D` up,
//! `ATT` divides by ten under the root and rounds up where rounding to nearest was too short, `GEO`
//! reads degrees and minutes, uses π = 3.141592 and truncates. `EXPLICIT` matrices are listed by
//! rows or columns, full or one triangle, with or without the diagonal. Weights are returned as
//! edge costs in lexicographic order of {i, j}, i < j. A file with constraints that no solver
//! supports, such as routes of limited length, is refused: a solution without the limit would look
//! like one with it.

use std::path::Path;

use crate::error::{Error, InputPlace, Result};
use crate::size_limits;

mod distance;
mod edge_weights;
mod reader;

use distance::DistanceFunction;
use edge_weights::EdgeWeightFormat;
use reader::TsplibReader;

/// An instance of a routing problem.
#[derive(Debug, Clone, PartialEq)]
pub struct TsplibInstance {
    /// Its name.
    pub name: String,
    /// Number of nodes.
    pub nodes: usize,
    /// Cost of each edge {i, j}, i < j, in lexicographic order.
    pub costs: Vec<f64>,
    /// The capacity of a vehicle, if there is one.
    pub capacity: Option<f64>,
    /// The demand of each node; empty when the file has no demands.
    pub demands: Vec<f64>,
    /// Depots, counted from 0; empty when the file names none.
    pub depots: Vec<usize>,
}

/// Reads an instance from a file.
///
/// # Errors
/// When the file cannot be read or is not a supported symmetric instance; the error has the line.
pub fn read(path: &Path) -> Result<TsplibInstance> {
    let text = size_limits::read_text_file(path)?;
    parse(&text, &InputPlace::file(path))
}

/// Reads an instance from text that came from the given place.
///
/// # Errors
/// When the text is not a supported symmetric instance; the error has the line.
pub fn parse(text: &str, place: &InputPlace) -> Result<TsplibInstance> {
    let mut reader = TsplibReader {
        place,
        lines: text.lines().enumerate().collect(),
        next: 0,
        entries: TsplibEntries::default(),
    };
    reader.read_all()?;
    let last = reader.lines.len();
    reader
        .entries
        .finish(|message| Error::input(place.clone().row(last as u64), message))
}

/// The entries read so far.
#[derive(Debug, Default)]
struct TsplibEntries {
    name: String,
    nodes: Option<usize>,
    distance: Option<DistanceFunction>,
    format: Option<EdgeWeightFormat>,
    positions: Vec<Option<(f64, f64)>>,
    weights: Option<Vec<f64>>,
    capacity: Option<f64>,
    demands: Vec<Option<f64>>,
    depots: Vec<usize>,
}

impl TsplibEntries {
    fn finish(self, error: impl Fn(&str) -> Error) -> Result<TsplibInstance> {
        let nodes = self.nodes.ok_or_else(|| error("DIMENSION is missing"))?;
        let costs = match self
            .distance
            .ok_or_else(|| error("EDGE_WEIGHT_TYPE is missing"))?
        {
            DistanceFunction::Explicit => self
                .weights
                .ok_or_else(|| error("EDGE_WEIGHT_SECTION is missing"))?,
            function => {
                let positions: Option<Vec<_>> = self.positions.into_iter().collect();
                let positions = positions.filter(|positions| positions.len() == nodes);
                // Costs are stored as in the file, negated if needed, and in the solver.
                let bytes =
                    size_limits::pairs("edges", nodes)?.saturating_mul(3 * size_of::<f64>());
                size_limits::check_memory("the edges of all nodes", bytes)?;
                function.costs(&positions.ok_or_else(|| error("NODE_COORD_SECTION is missing"))?)
            }
        };
        let demands = self.demands.into_iter().flatten().collect();
        let (capacity, depots) = (self.capacity, self.depots);
        Ok(TsplibInstance {
            name: self.name,
            nodes,
            costs,
            capacity,
            demands,
            depots,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{TsplibInstance, parse};
    use crate::error::{InputPlace, Result};

    fn explicit(format: &str, weights: &str) -> Result<TsplibInstance> {
        let head =
            "NAME: t\nTYPE: TSP\nDIMENSION: 4\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: ";
        parse(
            &format!("{head}{format}\nEDGE_WEIGHT_SECTION\n{weights}\nEOF\n"),
            &InputPlace::default(),
        )
    }

    #[test]
    fn all_matrix_formats_give_the_same_edges() {
        let formats = [
            ("FULL_MATRIX", "0 1 2 3 1 0 4 5 2 4 0 6 3 5 6 0"),
            ("UPPER_ROW", "1 2 3\n4 5\n6"),
            ("LOWER_COL", "1 2 3 4 5 6"),
            ("LOWER_ROW", "1 2 4 3 5 6"),
            ("UPPER_COL", "1 2 4 3 5 6"),
            ("UPPER_DIAG_ROW", "0 1 2 3 0 4 5 0 6 0"),
            ("LOWER_DIAG_COL", "0 1 2 3 0 4 5 0 6 0"),
            ("LOWER_DIAG_ROW", "0 1 0 2 4 0 3 5 6 0"),
            ("UPPER_DIAG_COL", "0 1 0 2 4 0 3 5 6 0"),
        ];
        for (format, weights) in formats {
            assert_eq!(
                explicit(format, weights).unwrap().costs,
                [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
                "{format}"
            );
        }
    }

    #[test]
    fn distances_round_as_published() {
        let cost = |metric: &str, b: &str| {
            let head = format!("DIMENSION: 2\nEDGE_WEIGHT_TYPE: {metric}\nNODE_COORD_SECTION\n");
            parse(&format!("{head}1 0 0\n2 {b}\nEOF"), &InputPlace::default())
                .unwrap()
                .costs[0]
        };
        assert_eq!((cost("EUC_2D", "1 1"), cost("CEIL_2D", "1 1")), (1.0, 2.0));
        assert_eq!(
            (cost("EUC_2D", "1.5 0"), cost("CEIL_2D", "3 4")),
            (2.0, 5.0)
        );
        assert_eq!(cost("ATT", "10 0"), 4.0);
        assert_eq!(cost("GEO", "0.30 0"), 56.0);
    }

    #[test]
    fn errors_name_the_line() {
        let message = |text: &str| parse(text, &InputPlace::default()).unwrap_err().to_string();
        assert_eq!(
            message("DIMENSION: x"),
            "row 1: DIMENSION is a number from 1 to 20000, not 'x'"
        );
        assert!(
            message("DIMENSION: 2\nEDGE_WEIGHT_TYPE: EUC_3D")
                .starts_with("row 2: EDGE_WEIGHT_TYPE 'EUC_3D'")
        );
        let coordinates = "DIMENSION: 2\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n1 0 0\n";
        assert_eq!(
            message(&format!("{coordinates}1 5 5")),
            "row 5: node 1 is listed twice"
        );
        assert_eq!(
            message(&format!("{coordinates}2 5")),
            "row 5: 2 numbers; a node and 2 more are needed"
        );
        assert_eq!(
            message(&format!("{coordinates}7 5 5")),
            "row 5: there is no node 7 among 1 to 2"
        );
        assert_eq!(
            message(coordinates),
            "row 3: the section ends after 1 of 2 nodes"
        );
        assert!(message("DIMENSION: 2\nEOF").contains("EDGE_WEIGHT_TYPE is missing"));
        assert!(message("FOO: 2").starts_with("row 1: keyword 'FOO'"));
        let limited = message("NAME : CMT6\nTYPE : CVRP\nCAPACITY : 160\nDISTANCE : 200\n");
        assert!(
            limited.starts_with("row 4: DISTANCE '200' limits the length of a route"),
            "{limited}"
        );
        let short = explicit("UPPER_ROW", "1 2 3 4 five 6")
            .unwrap_err()
            .to_string();
        assert_eq!(short, "row 7: 'five' is not a number");
        let uneven = explicit("FULL_MATRIX", "0 1 2 3 1 0 4 5 2 9 0 6 3 5 6 0")
            .unwrap_err()
            .to_string();
        assert!(uneven.contains("weights of 2 to 3"), "{uneven}");
        assert!(
            explicit("UPPER_ROW", "1 2 3 4 5 6 7")
                .unwrap_err()
                .to_string()
                .contains("more than the 6")
        );
    }

    #[test]
    fn a_type_may_have_text_behind_it_and_a_function_of_coordinates_a_format() {
        let file = |kind: &str, weights: &str| {
            let text = format!(
                "TYPE: {kind}\nDIMENSION: 2\nEDGE_WEIGHT_TYPE: {weights}\nNODE_COORD_SECTION\n1 0 \
                 0\n2 3 4\nEOF\n"
            );
            parse(&text, &InputPlace::default())
        };
        for kind in ["TSP (M.~Hofmeister)", "TSP(A. Rohe)", "CVRP", "TSP"] {
            for weights in ["EUC_2D\nEDGE_WEIGHT_FORMAT: FUNCTION", "EUC_2D"] {
                assert_eq!(
                    file(kind, weights).unwrap().costs,
                    [5.0],
                    "{kind} {weights}"
                );
            }
        }
        for kind in ["ATSP", "TSPX", "(TSP)", "SOP TSP", ""] {
            let message = file(kind, "EUC_2D").unwrap_err().to_string();
            assert!(message.starts_with("row 1: TYPE"), "{message}");
        }
        let explicit = file("TSP", "EXPLICIT\nEDGE_WEIGHT_FORMAT: FUNCTION");
        let message = explicit.unwrap_err().to_string();
        assert!(
            message.contains("EDGE_WEIGHT_SECTION is missing"),
            "{message}"
        );
        let weights = explicit_function("0 1 1 0").unwrap_err().to_string();
        assert!(
            weights.contains("EDGE_WEIGHT_FORMAT of a matrix"),
            "{weights}"
        );
    }

    fn explicit_function(weights: &str) -> Result<TsplibInstance> {
        explicit("FUNCTION", weights)
    }

    #[test]
    fn vehicles_demands_and_depots_are_read() {
        let text = "NAME : v\nTYPE : CVRP\nDIMENSION : 2\nEDGE_WEIGHT_TYPE : EUC_2D \nCAPACITY : \
            35\n\
                    NODE_COORD_SECTION \n1 0 0\n2 3 4\nDEMAND_SECTION\n1 0\n2 19\nDEPOT_SECTION\n \
                    1\n -1\nEOF\n";
        let read = parse(text, &InputPlace::default()).unwrap();
        assert_eq!(
            (read.capacity, read.demands, read.depots),
            (Some(35.0), vec![0.0, 19.0], vec![0])
        );
        assert_eq!((read.name.as_str(), read.costs), ("v", vec![5.0]));
    }
}
