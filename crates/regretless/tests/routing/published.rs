//! Published instances: TSPLIB and CVRPLIB with their optima, and the values of subtour
//! relaxations.
//!
//! Each test prints what it found of every instance; `--nocapture` shows it.

use super::measure::timed;
use super::{checked, common};
use regretless::error::Place;
use regretless::problem::formats::tsplib::{self, TsplibInstance};
use regretless::problem::{Cvrp, Tsp};
use regretless::solve::complete_graph::DistanceMatrix;
use regretless::solve::cvrp::{CvrpBranchAndCut, Fleet};
use regretless::solve::relaxation::Relaxation;
use regretless::solve::tsp::TspBranchAndBound;
use regretless::solve::tsp::branch_and_cut::{TspBranchAndCut, TspRelaxation};
use regretless::solve::{SearchLimits, Solution, SolveStatus, Solver};

/// Nodes of tours and routes that are to be solved to the optimum; larger ones are to be enclosed.
const EXACT_TOUR: usize = 150;
const EXACT_ROUTES: usize = 32;

/// The one instance whose published optimum belongs to another reading of its file.
const BY_ROWS: &str = "E-n13-k4";

/// An instance of a folder and its optimum.
struct Published {
    name: String,
    instance: TsplibInstance,
    optimum: f64,
}

/// A column of a table, by the names in its first one.
fn table(folder: &str, file: &str, column: &str) -> Vec<(String, f64)> {
    let Some(data) = common::reference_data() else {
        return Vec::new();
    };
    let text = std::fs::read_to_string(data.join(folder).join(file)).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let column = lines
        .next()
        .unwrap()
        .iter()
        .position(|name| *name == column)
        .unwrap();
    lines
        .map(|line| (line[0].to_string(), line[column].parse().unwrap()))
        .collect()
}

fn read(folder: &str, name: &str) -> TsplibInstance {
    let extension = if folder == "cvrp" { "vrp" } else { "tsp" };
    let path = common::reference_data()
        .unwrap()
        .join(folder)
        .join(format!("{name}.{extension}"));
    tsplib::read(&path).unwrap()
}

/// E-n13-k4 as the library of instances solved it. Its weights are Dantzig and Ramser's (1959)
/// table of distances, column after column as the file says, but the published optimum is that of
/// the same numbers read row after row.
fn read_by_rows(name: &str) -> TsplibInstance {
    let path = common::reference_data()
        .unwrap()
        .join("cvrp")
        .join(format!("{name}.vrp"));
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(
        text.contains("LOWER_COL"),
        "{name} is no column-wise triangle"
    );
    tsplib::parse(&text.replace("LOWER_COL", "LOWER_ROW"), &Place::file(&path)).unwrap()
}

fn published(folder: &str, column: &str) -> Vec<Published> {
    let all = table(folder, "optima.csv", column).into_iter();
    let instance = |name: &str| {
        if name == BY_ROWS {
            read_by_rows(name)
        } else {
            read(folder, name)
        }
    };
    all.map(|(name, optimum)| Published {
        instance: instance(&name),
        name,
        optimum,
    })
    .collect()
}

fn tours() -> Vec<Published> {
    published("tsplib", "optimum")
}

fn routes() -> Vec<Published> {
    published("cvrp", "optimum_cvrplib")
}

impl Published {
    fn tour(&self, engine: &mut dyn Solver) -> Solution {
        checked(
            &Tsp::new(self.instance.nodes).unwrap(),
            engine,
            &self.instance.costs,
        )
    }

    fn cut(&self, limits: SearchLimits) -> Solution {
        let mut engine = TspBranchAndCut::new(self.instance.nodes, limits);
        let (time, found) = timed(|| self.tour(&mut engine));
        self.tell(&found, engine.tree_nodes(), time);
        found
    }

    /// With the fleet of its name.
    fn routes(&self, limits: SearchLimits) -> Solution {
        let problem = Cvrp::published(&self.instance).unwrap();
        let fleet = Fleet {
            demands: self.instance.demands.clone(),
            capacity: problem.capacity(),
            vehicles: problem.vehicles(),
            singles: problem.allows_single_customer_routes(),
        };
        let mut engine = CvrpBranchAndCut::new(fleet, limits);
        let (time, found) = timed(|| checked(&problem, &mut engine, &self.instance.costs));
        self.tell(&found, engine.tree_nodes(), time);
        found
    }

    fn tell(&self, found: &Solution, searched: u64, time: f64) {
        let (
            name,
            optimum,
            Solution {
                objective, bound, ..
            },
        ) = (&self.name, self.optimum, found);
        let gap = 100.0 * (objective - bound) / objective;
        eprintln!(
            "{name}: {objective} of {optimum}, bound {bound:.1} ({gap:.3} %), {searched} nodes, \
                {:.2} s",
            time / 1e3
        );
    }

    fn assert_optimal(&self, found: &Solution) {
        assert_eq!(
            (found.status, found.objective),
            (SolveStatus::Optimal, self.optimum),
            "{}",
            self.name
        );
    }

    /// The optimum lies between bound and objective, and these are near to each other.
    fn assert_enclosed(&self, found: &Solution, max: f64) {
        let (name, optimum) = (&self.name, self.optimum);
        assert!(
            found.bound <= optimum && optimum <= found.objective,
            "{name}: {found:?}"
        );
        assert!(
            found.objective - found.bound <= max * optimum,
            "{name}: {} to {}",
            found.bound,
            found.objective
        );
    }
}

/// Both engines where both are quick.
#[test]
fn published_tours_are_optimal() {
    for tour in tours()
        .iter()
        .filter(|tour| tour.instance.nodes <= EXACT_TOUR)
    {
        tour.assert_optimal(&tour.cut(SearchLimits::default()));
        if tour.instance.nodes <= 52 {
            tour.assert_optimal(&tour.tour(&mut TspBranchAndBound::new(
                tour.instance.nodes,
                SearchLimits::default(),
            )));
        }
    }
}

#[test]
fn large_published_tours_are_enclosed() {
    for tour in tours()
        .iter()
        .filter(|tour| tour.instance.nodes > EXACT_TOUR)
    {
        let found = tour.cut(SearchLimits {
            nodes: 400,
            gap: 0.005,
        });
        assert_ne!(found.status, SolveStatus::LimitReached, "{}", tour.name);
        tour.assert_enclosed(&found, 0.005);
    }
}

#[test]
#[ignore = "takes minutes"]
fn large_published_tours_are_enclosed_further_the_longer_they_are_searched() {
    for tour in tours()
        .iter()
        .filter(|tour| tour.instance.nodes > EXACT_TOUR)
    {
        tour.assert_enclosed(
            &tour.cut(SearchLimits {
                nodes: 1000,
                gap: 0.0,
            }),
            0.004,
        );
    }
}

#[test]
fn local_search_comes_within_one_percent_of_published_tours() {
    for tour in tours() {
        let solution = tour.tour(&mut TspBranchAndBound::new(
            tour.instance.nodes,
            SearchLimits { nodes: 0, gap: 0.0 },
        ));
        let (name, optimum) = (tour.name, tour.optimum);
        let excess = solution.objective / optimum - 1.0;
        assert!(
            (0.0..0.01).contains(&excess),
            "{name}: {} against {optimum}",
            solution.objective
        );
        let slack = 1.0 - solution.bound / optimum;
        assert!(
            (0.0..0.05).contains(&slack),
            "{name}: bound {} against {optimum}",
            solution.bound
        );
    }
}

#[test]
fn published_optimal_tours_have_the_published_length() {
    for tour in tours() {
        let data = common::reference_data().unwrap().join("tsplib");
        let Ok(text) = std::fs::read_to_string(data.join(format!("{}.opt.tour", tour.name))) else {
            continue;
        };
        let (_, list) = text.split_once("TOUR_SECTION").unwrap();
        let numbers = list
            .split_whitespace()
            .map_while(|word| word.parse::<i64>().ok())
            .take_while(|node| *node > 0);
        let order: Vec<u32> = numbers.map(|node| node as u32 - 1).collect();
        let length =
            DistanceMatrix::new(tour.instance.nodes, &tour.instance.costs).tour_cost(&order);
        assert_eq!(length, tour.optimum, "{}", tour.name);
    }
}

#[test]
fn subtour_relaxations_have_their_published_values() {
    for (name, value) in table("tsplib", "subtour_lp.csv", "subtour_lp_value") {
        let instance = read("tsplib", &name);
        let found = TspRelaxation::new(instance.nodes, Relaxation::Tight)
            .solve(&instance.costs)
            .unwrap()
            .solution;
        assert!(
            (found.objective - value).abs() < 1e-6,
            "{name}: {} not {value}",
            found.objective
        );
        assert!(
            (found.bound - value).abs() < 1e-6,
            "{name}: bound {} not {value}",
            found.bound
        );
    }
}

#[test]
fn vehicle_routing_files_have_demands_and_a_depot() {
    for Published {
        name,
        instance,
        optimum: capacity,
    } in published("cvrp", "capacity")
    {
        assert_eq!(
            (instance.capacity, instance.demands.len()),
            (Some(capacity), instance.nodes),
            "{name}"
        );
        assert_eq!(
            (instance.depots, instance.demands[0]),
            (vec![0], 0.0),
            "{name}"
        );
    }
}

#[test]
fn dantzig_and_ramsers_table_is_read_by_columns_as_its_file_says() {
    if common::reference_data().is_none() {
        return;
    }
    let by_columns = Published {
        name: BY_ROWS.into(),
        instance: read("cvrp", BY_ROWS),
        optimum: 290.0,
    };
    assert_eq!(
        by_columns.instance.costs[..12],
        [9., 14., 21., 23., 22., 25., 32., 36., 38., 42., 50., 52.]
    );
    by_columns.assert_optimal(&by_columns.routes(SearchLimits::default()));
}

#[test]
fn published_routes_are_optimal() {
    for routes in routes()
        .iter()
        .filter(|routes| routes.instance.nodes <= EXACT_ROUTES)
    {
        routes.assert_optimal(&routes.routes(SearchLimits::default()));
    }
}

#[test]
fn larger_published_routes_are_enclosed() {
    for routes in routes()
        .iter()
        .filter(|routes| routes.instance.nodes > EXACT_ROUTES)
    {
        let found = routes.routes(SearchLimits {
            nodes: 60,
            gap: 0.0,
        });
        routes.assert_enclosed(&found, 0.04);
        assert!(
            found.objective <= 1.02 * routes.optimum && found.bound >= 0.98 * routes.optimum,
            "{found:?}"
        );
    }
}
