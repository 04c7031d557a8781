//! Reads the entries and sections of a TSPLIB file line by line.

use super::TsplibEntries;
use super::distance::DistanceFunction;
use super::edge_weights::{EdgeWeightFormat, MatrixTriangle};
use crate::error::{Error, InputPlace, Result};
use crate::size_limits::{MAX_ABS_COST, MAX_NODES};

/// Largest absolute coordinate: distances are rounded to integers, which are exact up to 9e15 only.
const MAX_ABS_COORDINATE: f64 = 1e15;

/// The lines of a file and the entries read so far.
pub(super) struct TsplibReader<'a> {
    pub(super) place: &'a InputPlace,
    /// Lines with their numbers, from 0.
    pub(super) lines: Vec<(usize, &'a str)>,
    /// The next line to be read.
    pub(super) next: usize,
    pub(super) entries: TsplibEntries,
}

impl<'a> TsplibReader<'a> {
    pub(super) fn read_all(&mut self) -> Result<()> {
        while let Some((number, line)) = self.take() {
            let (keyword, value) = line.split_once(':').unwrap_or((line, ""));
            match keyword.trim() {
                "" => {}
                "EOF" => break,
                keyword => self.entry(number, keyword, value.trim())?,
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
            format!("'{text}' is too large; numbers go up to {max:e}"),
        ))
    }

    fn nodes(&self, line: usize) -> Result<usize> {
        self.entries
            .nodes
            .ok_or_else(|| self.error(line, "DIMENSION must come before this section"))
    }

    fn entry(&mut self, line: usize, keyword: &str, value: &str) -> Result<()> {
        match keyword {
            "NAME" => self.entries.name = value.into(),
            "TYPE" if !is_supported_type(value) => {
                return Err(self.error(
                    line,
                    format!("TYPE '{value}' is not supported; TSP and CVRP are"),
                ));
            }
            "DIMENSION" if self.entries.nodes.is_some() => {
                return Err(self.error(line, "DIMENSION occurs a second time; a file has one"));
            }
            "DIMENSION" => self.entries.nodes = Some(self.count(line, value)?),
            "CAPACITY" => self.entries.capacity = Some(self.number(line, value)?),
            "EDGE_WEIGHT_TYPE" => self.entries.distance = Some(self.distance(line, value)?),
            // The weights are a function of the coordinates, which EDGE_WEIGHT_TYPE names.
            "EDGE_WEIGHT_FORMAT" if value == "FUNCTION" => self.entries.format = None,
            "EDGE_WEIGHT_FORMAT" => self.entries.format = Some(self.format(line, value)?),
            "NODE_COORD_SECTION" => self.coordinates(line)?,
            "EDGE_WEIGHT_SECTION" => self.weights(line)?,
            "DEMAND_SECTION" => self.demands(line)?,
            "DEPOT_SECTION" => self.depots()?,
            "DISPLAY_DATA_SECTION" => self.skip_section(),
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

    fn distance(&self, line: usize, name: &str) -> Result<DistanceFunction> {
        match name {
            "EUC_2D" => Ok(DistanceFunction::Euclidean),
            "CEIL_2D" => Ok(DistanceFunction::Ceiling),
            "ATT" => Ok(DistanceFunction::Att),
            "GEO" => Ok(DistanceFunction::Geographic),
            "EXPLICIT" => Ok(DistanceFunction::Explicit),
            other => {
                let choices = "EUC_2D, CEIL_2D, ATT, GEO and EXPLICIT";
                Err(self.error(
                    line,
                    format!("EDGE_WEIGHT_TYPE '{other}' is not supported; {choices} are"),
                ))
            }
        }
    }

    fn format(&self, line: usize, name: &str) -> Result<EdgeWeightFormat> {
        let (triangle, diagonal) = match name {
            "FULL_MATRIX" => (MatrixTriangle::Full, true),
            "UPPER_ROW" | "LOWER_COL" => (MatrixTriangle::Upper, false),
            "LOWER_ROW" | "UPPER_COL" => (MatrixTriangle::Lower, false),
            "UPPER_DIAG_ROW" | "LOWER_DIAG_COL" => (MatrixTriangle::Upper, true),
            "LOWER_DIAG_ROW" | "UPPER_DIAG_COL" => (MatrixTriangle::Lower, true),
            other => {
                return Err(self.error(line, format!("EDGE_WEIGHT_FORMAT '{other}' is not known")));
            }
        };
        Ok(EdgeWeightFormat { triangle, diagonal })
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
                return Err(self.error(
                    line,
                    format!(
                        "{} numbers; a node and {count} more are needed",
                        numbers.len()
                    ),
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
        self.entries.positions = rows.iter().map(|row| Some((row[0], row[1]))).collect();
        Ok(())
    }

    fn demands(&mut self, line: usize) -> Result<()> {
        let rows = self.per_node(line, 1, MAX_ABS_COST)?;
        self.entries.demands = rows.iter().map(|row| Some(row[0])).collect();
        Ok(())
    }

    fn depots(&mut self) -> Result<()> {
        while let Some((line, text)) = self.take() {
            for word in text.split_whitespace() {
                let number = self.number(line, word)?;
                if number == -1.0 {
                    return Ok(());
                }
                self.entries.depots.push(self.node(line, number)?);
            }
        }
        Ok(())
    }

    /// Skips the lines of numbers of a section that is not used.
    fn skip_section(&mut self) {
        while let Some((_, text)) = self.lines.get(self.next) {
            if text
                .trim()
                .starts_with(|first: char| first.is_ascii_alphabetic())
            {
                break;
            }
            self.next += 1;
        }
    }

    fn weights(&mut self, section: usize) -> Result<()> {
        let nodes = self.nodes(section)?;
        let no_format = || {
            let message = "an EDGE_WEIGHT_FORMAT of a matrix must come before the weights";
            self.error(section, message)
        };
        let format = self.entries.format.ok_or_else(no_format)?;
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
        self.entries.weights = Some(format.edges(nodes, &weights).map_err(wrong)?);
        Ok(())
    }
}

/// Whether a problem of this type can be solved. Some published files have text behind the type, as
/// in `TSP (M.~Hofmeister)`.
fn is_supported_type(value: &str) -> bool {
    let end = value.find(|c: char| c.is_whitespace() || c == '(');
    ["TSP", "CVRP"].contains(&&value[..end.unwrap_or(value.len())])
}
