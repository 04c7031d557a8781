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
use crate::size_limits::{self, MAX_ABS_COST, MAX_NODES};

/// Largest absolute coordinate: distances are rounded to integers, which are exact up to 9e15 only.
const MAX_ABS_COORDINATE: f64 = 1e15;

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
    let text = std::fs::read_to_string(path).map_err(Error::io(path))?;
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
        found: ParsedTsplib::default(),
    };
    reader.read_all()?;
    let last = reader.lines.len();
    reader
        .found
        .finish(|message| Error::input(place.clone().row(last as u64), message))
}

/// The distance function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TsplibMetric {
    Euclidean,
    Ceiling,
    Att,
    Geographic,
    Explicit,
}

/// The entries of an explicit matrix, and their order.
#[derive(Debug, Clone, Copy)]
struct EdgeWeightFormat {
    part: MatrixTriangle,
    diagonal: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MatrixTriangle {
    Full,
    /// Row i lists the columns after i; the same as columns of the lower triangle.
    Upper,
    /// Row i lists the columns before i; the same as columns of the upper triangle.
    Lower,
}

/// The entries read so far.
#[derive(Debug, Default)]
struct ParsedTsplib {
    name: String,
    nodes: Option<usize>,
    metric: Option<TsplibMetric>,
    format: Option<EdgeWeightFormat>,
    positions: Vec<Option<(f64, f64)>>,
    weights: Option<Vec<f64>>,
    capacity: Option<f64>,
    demands: Vec<Option<f64>>,
    depots: Vec<usize>,
}

struct TsplibReader<'a> {
    place: &'a InputPlace,
    lines: Vec<(usize, &'a str)>,
    next: usize,
    found: ParsedTsplib,
}

impl<'a> TsplibReader<'a> {
    fn read_all(&mut self) -> Result<()> {
        while let Some((number, line)) = self.take() {
            let (word, rest) = line.split_once(':').unwrap_or((line, ""));
            match word.trim() {
                "" => {}
                "EOF" => break,
                keyword => self.entry(number, keyword, rest.trim())?,
            }
        }
        Ok(())
    }

    fn take(&mut self) -> Option<(usize, &'a str)> {
        let line = self.lines.get(self.next)?;
        self.next += 1;
        Some(*line)
    }

    fn error(&self, line: usize, message: impl Into<String>) -> Error {
        Error::input(self.place.clone().row(line as u64 + 1), message)
    }

    fn number(&self, line: usize, text: &str) -> Result<f64> {
        let number = text.parse().ok().filter(|number: &f64| number.is_finite());
        number.ok_or_else(|| self.error(line, format!("'{text}' is not a number")))
    }

    /// A number with at most this absolute value.
    fn number_up_to(&self, max: f64, line: usize, text: &str) -> Result<f64> {
        let number = self.number(line, text)?;
        if number.abs() <= max {
            return Ok(number);
        }
        Err(self.error(
            line,
            format!("'{text}' is too large; numbers here go up to {max:e}"),
        ))
    }

    fn nodes(&self, line: usize) -> Result<usize> {
        self.found
            .nodes
            .ok_or_else(|| self.error(line, "DIMENSION must come before this section"))
    }

    fn entry(&mut self, line: usize, keyword: &str, value: &str) -> Result<()> {
        match keyword {
            "NAME" => self.found.name = value.into(),
            "TYPE" if !["TSP", "CVRP"].contains(&value) => {
                return Err(self.error(
                    line,
                    format!("TYPE '{value}' is not known; TSP and CVRP are"),
                ));
            }
            "DIMENSION" if self.found.nodes.is_some() => {
                return Err(self.error(line, "DIMENSION is given a second time; a file has one"));
            }
            "DIMENSION" => self.found.nodes = Some(self.count(line, value)?),
            "CAPACITY" => self.found.capacity = Some(self.number(line, value)?),
            "EDGE_WEIGHT_TYPE" => self.found.metric = Some(self.metric(line, value)?),
            "EDGE_WEIGHT_FORMAT" => self.found.format = Some(self.format(line, value)?),
            "NODE_COORD_SECTION" => self.coordinates(line)?,
            "EDGE_WEIGHT_SECTION" => self.weights(line)?,
            "DEMAND_SECTION" => self.demands(line)?,
            "DEPOT_SECTION" => self.depots()?,
            "DISPLAY_DATA_SECTION" => self.skip(line)?,
            "DISTANCE" => {
                let message = format!(
                    "DISTANCE '{value}' limits the length of a route, which no solver supports; \
                     remove the line to solve without that limit"
                );
                return Err(self.error(line, message));
            }
            "TYPE" | "COMMENT" | "DISPLAY_DATA_TYPE" | "NODE_COORD_TYPE" | "VEHICLES" => {}
            unknown => return Err(self.error(line, format!("keyword '{unknown}' is not known"))),
        }
        Ok(())
    }

    fn count(&self, line: usize, text: &str) -> Result<usize> {
        let count = text
            .parse()
            .ok()
            .filter(|count| (1..=MAX_NODES).contains(count));
        count.ok_or_else(|| {
            self.error(
                line,
                format!("DIMENSION is a number from 1 to {MAX_NODES}, not '{text}'"),
            )
        })
    }

    fn metric(&self, line: usize, name: &str) -> Result<TsplibMetric> {
        match name {
            "EUC_2D" => Ok(TsplibMetric::Euclidean),
            "CEIL_2D" => Ok(TsplibMetric::Ceiling),
            "ATT" => Ok(TsplibMetric::Att),
            "GEO" => Ok(TsplibMetric::Geographic),
            "EXPLICIT" => Ok(TsplibMetric::Explicit),
            other => {
                let choices = "EUC_2D, CEIL_2D, ATT, GEO and EXPLICIT";
                Err(self.error(
                    line,
                    format!("EDGE_WEIGHT_TYPE '{other}' is not known; {choices} are"),
                ))
            }
        }
    }

    fn format(&self, line: usize, name: &str) -> Result<EdgeWeightFormat> {
        let (part, diagonal) = match name {
            "FULL_MATRIX" => (MatrixTriangle::Full, true),
            "UPPER_ROW" | "LOWER_COL" => (MatrixTriangle::Upper, false),
            "LOWER_ROW" | "UPPER_COL" => (MatrixTriangle::Lower, false),
            "UPPER_DIAG_ROW" | "LOWER_DIAG_COL" => (MatrixTriangle::Upper, true),
            "LOWER_DIAG_ROW" | "UPPER_DIAG_COL" => (MatrixTriangle::Lower, true),
            other => {
                return Err(self.error(line, format!("EDGE_WEIGHT_FORMAT '{other}' is not known")));
            }
        };
        Ok(EdgeWeightFormat { part, diagonal })
    }

    /// Reads one line per node: its number, then `count` numbers of at most this absolute value.
    fn per_node(&mut self, section: usize, count: usize, max: f64) -> Result<Vec<Vec<f64>>> {
        let nodes = self.nodes(section)?;
        let mut rows = vec![Vec::new(); nodes];
        for read in 0..nodes {
            let missing = || {
                self.error(
                    section,
                    format!("the section ends after {read} of {nodes} nodes"),
                )
            };
            let (line, text) = self.lines.get(self.next).copied().ok_or_else(missing)?;
            self.next += 1;
            let words = text.split_whitespace();
            let numbers = words
                .map(|word| self.number_up_to(max, line, word))
                .collect::<Result<Vec<_>>>()?;
            if numbers.len() != count + 1 {
                let found = numbers.len();
                return Err(self.error(
                    line,
                    format!("{found} numbers; a node and {count} more are needed"),
                ));
            }
            let node = self.node(line, numbers[0])?;
            if !rows[node].is_empty() {
                return Err(self.error(line, format!("node {} is listed twice", node + 1)));
            }
            rows[node] = numbers[1..].to_vec();
        }
        Ok(rows)
    }

    /// A node's index from its number, which counts from 1.
    fn node(&self, line: usize, number: f64) -> Result<usize> {
        let nodes = self.nodes(line)?;
        if number.fract() != 0.0 || number < 1.0 || number > nodes as f64 {
            return Err(self.error(
                line,
                format!("there is no node {number} among 1 to {nodes}"),
            ));
        }
        Ok(number as usize - 1)
    }

    fn coordinates(&mut self, line: usize) -> Result<()> {
        let rows = self.per_node(line, 2, MAX_ABS_COORDINATE)?;
        self.found.positions = rows.iter().map(|row| Some((row[0], row[1]))).collect();
        Ok(())
    }

    fn demands(&mut self, line: usize) -> Result<()> {
        let rows = self.per_node(line, 1, MAX_ABS_COST)?;
        self.found.demands = rows.iter().map(|row| Some(row[0])).collect();
        Ok(())
    }

    fn depots(&mut self) -> Result<()> {
        while let Some((line, text)) = self.take() {
            for word in text.split_whitespace() {
                let number = self.number(line, word)?;
                if number == -1.0 {
                    return Ok(());
                }
                self.found.depots.push(self.node(line, number)?);
            }
        }
        Ok(())
    }

    /// Skips the lines of numbers of a section that is not used.
    fn skip(&mut self, _line: usize) -> Result<()> {
        while let Some((_, text)) = self.lines.get(self.next) {
            if text
                .trim()
                .starts_with(|first: char| first.is_ascii_alphabetic())
            {
                break;
            }
            self.next += 1;
        }
        Ok(())
    }

    fn weights(&mut self, section: usize) -> Result<()> {
        let nodes = self.nodes(section)?;
        let no_format = || self.error(section, "EDGE_WEIGHT_FORMAT must come before the weights");
        let format = self.found.format.ok_or_else(no_format)?;
        let needed = format.entries(nodes);
        // A weight takes two characters or more: a short file cannot request much memory.
        let characters: usize = self.lines[self.next..]
            .iter()
            .map(|(_, text)| text.len() + 1)
            .sum();
        let mut weights = Vec::with_capacity(needed.min(characters / 2 + 1));
        while weights.len() < needed {
            let missing = || {
                self.error(
                    section,
                    format!("{} of {needed} weights found", weights.len()),
                )
            };
            let (line, text) = self.lines.get(self.next).copied().ok_or_else(missing)?;
            self.next += 1;
            for word in text.split_whitespace() {
                weights.push(self.number_up_to(MAX_ABS_COST, line, word)?);
            }
            if weights.len() > needed {
                return Err(self.error(
                    line,
                    format!("more than the {needed} weights of {nodes} nodes"),
                ));
            }
        }
        let wrong = |(i, j)| {
            self.error(
                section,
                format!("weights of {i} to {j} and back differ; a tour needs them equal"),
            )
        };
        self.found.weights = Some(format.edges(nodes, &weights).map_err(wrong)?);
        Ok(())
    }
}

impl EdgeWeightFormat {
    /// Numbers in a matrix of this format.
    fn entries(self, nodes: usize) -> usize {
        let triangle = nodes * (nodes - 1) / 2;
        match self.part {
            MatrixTriangle::Full => nodes * nodes,
            MatrixTriangle::Upper | MatrixTriangle::Lower => {
                triangle + if self.diagonal { nodes } else { 0 }
            }
        }
    }

    /// Edge costs in lexicographic order, or the first pair (from 1) with two different weights.
    fn edges(self, nodes: usize, weights: &[f64]) -> std::result::Result<Vec<f64>, (usize, usize)> {
        let gap = usize::from(!self.diagonal);
        let place = |i: usize, j: usize| match self.part {
            MatrixTriangle::Full => i * nodes + j,
            MatrixTriangle::Upper => {
                (0..i).map(|row| nodes - row - gap).sum::<usize>() + j - i - gap
            }
            MatrixTriangle::Lower => j * (j + 1) / 2 - gap * j + i,
        };
        let pairs = (0..nodes).flat_map(|i| (i + 1..nodes).map(move |j| (i, j)));
        let weight = |(i, j): (usize, usize)| {
            let weight = weights[place(i, j)];
            let back = if self.part == MatrixTriangle::Full {
                weights[place(j, i)]
            } else {
                weight
            };
            if weight == back {
                Ok(weight)
            } else {
                Err((i + 1, j + 1))
            }
        };
        pairs.map(weight).collect()
    }
}

impl ParsedTsplib {
    fn finish(self, error: impl Fn(&str) -> Error) -> Result<TsplibInstance> {
        let nodes = self.nodes.ok_or_else(|| error("DIMENSION is missing"))?;
        let costs = match self
            .metric
            .ok_or_else(|| error("EDGE_WEIGHT_TYPE is missing"))?
        {
            TsplibMetric::Explicit => self
                .weights
                .ok_or_else(|| error("EDGE_WEIGHT_SECTION is missing"))?,
            metric => {
                let positions: Option<Vec<_>> = self.positions.into_iter().collect();
                let positions = positions.filter(|positions| positions.len() == nodes);
                // Costs are stored as in the file, negated where needed, and in the solver.
                let bytes =
                    size_limits::pairs("edges", nodes)?.saturating_mul(3 * size_of::<f64>());
                size_limits::check_memory("the edges of all nodes", bytes)?;
                metric.costs(&positions.ok_or_else(|| error("NODE_COORD_SECTION is missing"))?)
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

impl TsplibMetric {
    fn costs(self, places: &[(f64, f64)]) -> Vec<f64> {
        let pairs = (0..places.len()).flat_map(|i| (i + 1..places.len()).map(move |j| (i, j)));
        pairs
            .map(|(i, j)| self.distance(places[i], places[j]))
            .collect()
    }

    fn distance(self, a: (f64, f64), b: (f64, f64)) -> f64 {
        let (dx, dy) = (a.0 - b.0, a.1 - b.1);
        let square = dx * dx + dy * dy;
        match self {
            Self::Euclidean => (square.sqrt() + 0.5).floor(),
            Self::Ceiling => square.sqrt().ceil(),
            Self::Att => {
                let exact = (square / 10.0).sqrt();
                let nearest = (exact + 0.5).floor();
                if nearest < exact {
                    nearest + 1.0
                } else {
                    nearest
                }
            }
            Self::Geographic => great_circle(a, b),
            Self::Explicit => 0.0,
        }
    }
}

/// Kilometres on TSPLIB's idealised earth between two points in degrees.minutes.
fn great_circle(a: (f64, f64), b: (f64, f64)) -> f64 {
    // TSPLIB's own values, which its optima depend on.
    #[allow(
        clippy::approx_constant,
        reason = "published optima were computed with this π"
    )]
    const PI: f64 = 3.141592;
    const RADIUS: f64 = 6378.388;
    let radians = |value: f64| PI * (value.trunc() + 5.0 * (value - value.trunc()) / 3.0) / 180.0;
    let (latitude_a, longitude_a) = (radians(a.0), radians(a.1));
    let (latitude_b, longitude_b) = (radians(b.0), radians(b.1));
    let q1 = (longitude_a - longitude_b).cos();
    let (q2, q3) = (
        (latitude_a - latitude_b).cos(),
        (latitude_a + latitude_b).cos(),
    );
    (RADIUS * (0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3)).acos() + 1.0).floor()
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
