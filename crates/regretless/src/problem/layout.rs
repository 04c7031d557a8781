//! How decisions of a problem are laid out in figures.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::ProblemSpec;
use super::arc_table::ArcTable;
use super::family::KindDefinition;
use crate::data::csv::{NodeCoordinates, PlacedNode};
use crate::error::{Error, Result};

/// How decisions of a problem are laid out in figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum DecisionLayout {
    /// Nodes in the plane. The first node is the depot if there is one.
    Graph {
        /// Coordinates of the nodes.
        positions: Vec<[f64; 2]>,
        /// Whether the first node is a depot.
        depot: bool,
        /// The two nodes of each cost; empty if costs belong to pairs i < j in lexicographic order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        arcs: Vec<[u32; 2]>,
        /// Names of the nodes; empty if they are numbered.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        names: Vec<String>,
    },
    /// A grid; costs belong to arcs, row by row, first those to the right and then those down.
    Grid {
        /// Rows of nodes.
        rows: usize,
        /// Columns of nodes.
        cols: usize,
    },
    /// Items with a weight in each dimension; without dimensions if they have no weights.
    Items {
        /// One row per dimension.
        weights: Vec<Vec<f64>>,
        /// Capacity in each dimension.
        capacity: Vec<f64>,
    },
    /// Lanes from sources to destinations, each with an amount; costs belong to pairs, source by
    /// source.
    Lanes {
        /// Names or numbers of the sources.
        sources: Vec<String>,
        /// Names or numbers of the destinations.
        destinations: Vec<String>,
    },
    /// Steps of a time axis, each with a price and an amount that is bought, used or, if it is
    /// negative, sold.
    Steps,
}

/// Number of nodes up to which a graph without coordinates is drawn on a circle. Untuned: more are
/// a tangle.
const MAX_NODES_ON_CIRCLE: usize = 24;

impl DecisionLayout {
    /// Items without weights.
    pub(super) const ITEMS: Self = Self::Items {
        weights: Vec::new(),
        capacity: Vec::new(),
    };

    /// The layout of a user's problem, with the coordinates of its nodes in a CSV file: columns
    /// `x` and `y`, and `node` with the names or numbers of nodes (without it, rows are in the
    /// order of the nodes). The nodes of a small graph without coordinates are on a circle.
    ///
    /// # Errors
    /// When the file cannot be read or lacks a node, or the problem has no nodes.
    pub fn for_problem(spec: &ProblemSpec, coordinates: Option<&Path>) -> Result<Option<Self>> {
        let filled = spec.with_placeholders();
        let definition = filled.as_ref().unwrap_or(spec).definition();
        let Some(nodes) = definition.and_then(KindDefinition::drawn_nodes) else {
            if coordinates.is_none() {
                return Ok(Self::of_problem(spec));
            }
            return Err(Error::setting(
                "coordinates are for tours, routes, paths in graphs and spanning trees",
            )
            .with_remedy("leave them out"));
        };
        let names = nodes.arcs.map_or(&[][..], |arcs| arcs.nodes().list());
        let count = nodes.count.max(names.len());
        let positions = match (coordinates, nodes.arcs) {
            (Some(file), _) => NodeCoordinates::read(file)?.of_nodes(count, names, file)?,
            (None, Some(_)) if count <= MAX_NODES_ON_CIRCLE => on_circle(names),
            (None, _) => return Ok(None),
        };
        Ok(Some(Self::Graph {
            positions: positions.iter().map(|node| node.position).collect(),
            depot: nodes.depot,
            arcs: nodes
                .arcs
                .map_or_else(Vec::new, |arcs| arcs.ends().to_vec()),
            names: positions.into_iter().map(|node| node.name).collect(),
        }))
    }

    /// The layout of a problem by its specification alone, which has no coordinates of nodes.
    pub fn of_problem(spec: &ProblemSpec) -> Option<Self> {
        if let Some(definition) = spec.definition() {
            return definition.layout();
        }
        match Self::of_problem(&spec.with_placeholders()?)? {
            // Weights and capacities may be placeholders.
            Self::Items { .. } => Some(Self::ITEMS),
            other => Some(other),
        }
    }
}

/// The nodes that decisions are drawn with.
pub(super) struct DrawnNodes<'a> {
    /// How many; 0 for a grid, whose nodes have their places.
    pub count: usize,
    /// Whether the first one is a depot.
    pub depot: bool,
    /// The arcs or edges between nodes with names, in the order of their costs; `None` if all pairs
    /// have costs.
    pub arcs: Option<&'a ArcTable>,
}

/// Nodes on a circle, clockwise from the left.
fn on_circle(names: &[String]) -> Vec<PlacedNode> {
    let count = names.len() as f64;
    let mut nodes = Vec::with_capacity(names.len());
    for (number, name) in names.iter().enumerate() {
        let angle = std::f64::consts::PI - std::f64::consts::TAU * number as f64 / count;
        nodes.push(PlacedNode {
            name: name.clone(),
            position: [angle.cos(), angle.sin()],
        });
    }
    nodes
}
