//! Solution files: TSPLIB tours, CVRPLIB solutions, or values by variable name.

use std::fmt::Write as _;

use regretless::Result;
use regretless::decision::Decision;
use regretless::problem::{Cvrp, Tsp};
use regretless_study::text::CsvText;

use super::target::SolutionFormat;
use crate::text::escape_formula;

impl SolutionFormat {
    /// Extension of the file.
    pub fn extension(&self) -> &'static str {
        match self {
            Self::TsplibTour(_) => "tour",
            Self::CvrplibSolution(_) => "sol",
            Self::Values(_) => "csv",
        }
    }

    /// A decision as text.
    pub fn write(&self, name: &str, decision: &Decision, objective: f64) -> Result<String> {
        match self {
            Self::TsplibTour(nodes) => Ok(tour(name, *nodes, decision)),
            Self::CvrplibSolution(nodes) => Ok(routes(*nodes, decision, objective)),
            Self::Values(names) => values(names, decision),
        }
    }
}

/// A TSPLIB tour, whose nodes are counted from 1.
fn tour(name: &str, nodes: usize, decision: &Decision) -> String {
    let mut text = format!("NAME : {name}\nTYPE : TOUR\nDIMENSION : {nodes}\nTOUR_SECTION\n1\n");
    for node in Tsp::tour_order(nodes, decision).iter().skip(1) {
        let _ = writeln!(text, "{}", node + 1);
    }
    text.push_str("-1\nEOF\n");
    text
}

/// A CVRPLIB solution: customers are counted from 1, the depot is not listed.
fn routes(nodes: usize, decision: &Decision, objective: f64) -> String {
    let mut text = String::new();
    for (number, route) in (1..).zip(Cvrp::routes(nodes, decision)) {
        let customers: Vec<String> = route.iter().map(u32::to_string).collect();
        let _ = writeln!(text, "Route #{number}: {}", customers.join(" "));
    }
    let _ = writeln!(text, "Cost {}", plain(objective));
    text
}

/// A number with all its digits, or with an exponent if it is very large.
fn plain(value: f64) -> String {
    if value.abs() >= super::MAX_PLAIN_NUMBER {
        format!("{value:e}")
    } else {
        value.to_string()
    }
}

fn values(names: &[String], decision: &Decision) -> Result<String> {
    let mut table = CsvText::new(&["name", "value"])?;
    for (index, value) in decision.iter() {
        table.row(&[escape_formula(&names[index]).as_ref(), &plain(value)])?;
    }
    table.finish()
}

#[cfg(test)]
mod tests {
    use super::{Decision, SolutionFormat};

    #[test]
    fn a_tour_begins_at_the_first_node_and_goes_to_its_lower_neighbor() {
        // 0-2, 0-3, 1-2, 1-3 of four nodes.
        let text =
            SolutionFormat::TsplibTour(4).write("box", &Decision::from_indices([1, 2, 3, 4]), 4.0);
        assert_eq!(
            text.unwrap(),
            "NAME : box\nTYPE : TOUR\nDIMENSION : 4\nTOUR_SECTION\n1\n3\n2\n4\n-1\nEOF\n"
        );
    }

    #[test]
    fn a_single_customer_has_a_route_of_its_own() {
        // 0-1 twice; 0-2, 0-3, 2-3.
        let decision = Decision::from_dense(&[2.0, 1.0, 1.0, 0.0, 0.0, 1.0]);
        assert_eq!(
            SolutionFormat::CvrplibSolution(4)
                .write("", &decision, 7.5)
                .unwrap(),
            "Route #1: 1\nRoute #2: 2 3\nCost 7.5\n"
        );
    }

    #[test]
    fn names_that_look_like_formulas_are_guarded() {
        let names = ["=1+2", "x"].map(String::from).to_vec();
        let text =
            SolutionFormat::Values(names).write("", &Decision::from_dense(&[-1.0, 1.0]), 0.0);
        assert_eq!(text.unwrap(), "name,value\n'=1+2,-1\nx,1\n");
    }

    #[test]
    fn names_with_commas_are_quoted() {
        let names = ["a", "b,\"c"].map(String::from).to_vec();
        let text = SolutionFormat::Values(names).write("", &Decision::from_dense(&[0.0, 0.5]), 0.0);
        assert_eq!(text.unwrap(), "name,value\n\"b,\"\"c\",0.5\n");
    }
}
