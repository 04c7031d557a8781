//! Published instances: TSPLIB and CVRPLIB with their optima, and the values of subtour relaxations.

use super::{checked, common};
use regretless::data::tsplib::{self, Instance};
use regretless::error::Place;
use regretless::problem::{Cvrp, Problem, Tsp};
use regretless::solve::relax::Relaxation;
use regretless::solve::tour::TourSearch;
use regretless::solve::tour::cut::{TourCut, TourRelaxation};
use regretless::solve::tour::edges::Distances;
use regretless::solve::{Limits, Solution, Solver, Status};

/// Nodes of tours and routes that are to be solved to the optimum; larger ones are to be enclosed.
const EXACT_TOUR: usize = 150;
const EXACT_ROUTES: usize = 32;

/// Those that take longest, left to the tests that are ignored.
const SLOW: [&str; 4] = ["pr76", "ch130", "P-n23-k8", "E-n30-k3"];

/// An instance of a folder and its optimum.
struct Published {
    name: String,
    instance: Instance,
    optimum: f64,
}

/// A column of a table, by the names in its first one.
fn table(folder: &str, file: &str, column: &str) -> Vec<(String, f64)> {
    let Some(data) = common::reference_data() else { return Vec::new() };
    let text = std::fs::read_to_string(data.join(folder).join(file)).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let column = lines.next().unwrap().iter().position(|name| *name == column).unwrap();
    lines.map(|line| (line[0].to_string(), line[column].parse().unwrap())).collect()
}

fn read(folder: &str, name: &str) -> Instance {
    let extension = if folder == "cvrp" { "vrp" } else { "tsp" };
    let path = common::reference_data().unwrap().join(folder).join(format!("{name}.{extension}"));
    // One file calls its weights a column-wise triangle, but its optimum is that of the row-wise one.
    let text = std::fs::read_to_string(&path).unwrap().replace("LOWER_COL", "LOWER_ROW");
    tsplib::parse(&text, &Place::file(&path)).unwrap()
}

fn published(folder: &str, column: &str) -> Vec<Published> {
    let all = table(folder, "optima.csv", column).into_iter();
    all.map(|(name, optimum)| Published { instance: read(folder, &name), name, optimum }).collect()
}

fn tours() -> Vec<Published> {
    published("tsplib", "optimum")
}

fn routes() -> Vec<Published> {
    published("cvrp", "optimum_cvrplib")
}

impl Published {
    fn is_slow(&self) -> bool {
        SLOW.contains(&&*self.name)
    }

    fn tour(&self, engine: &mut dyn Solver) -> Solution {
        checked(&Tsp { nodes: self.instance.nodes }, engine, &self.instance.costs)
    }

    fn cut(&self, limits: Limits) -> Solution {
        self.tour(&mut TourCut::new(self.instance.nodes, limits))
    }

    /// As the general problem with the fleet of its name.
    fn routes(&self, limits: Limits) -> Solution {
        let problem = Cvrp::published(&self.instance).unwrap();
        checked(&problem, problem.solver(&limits).as_mut(), &self.instance.costs)
    }

    fn assert_optimal(&self, found: &Solution) {
        assert_eq!((found.status, found.objective), (Status::Optimal, self.optimum), "{}", self.name);
    }

    /// The optimum lies between bound and objective, and these are near to each other.
    fn assert_enclosed(&self, found: &Solution, most: f64) {
        let (name, optimum) = (&self.name, self.optimum);
        assert!(found.bound <= optimum && optimum <= found.objective, "{name}: {found:?}");
        assert!(found.objective - found.bound <= most * optimum, "{name}: {} to {}", found.bound, found.objective);
    }
}

/// Both engines where both are quick.
fn assert_tours(wanted: impl Fn(&Published) -> bool) {
    for tour in tours().iter().filter(|tour| tour.instance.nodes <= EXACT_TOUR && wanted(tour)) {
        tour.assert_optimal(&tour.cut(Limits::default()));
        if tour.instance.nodes <= 52 {
            tour.assert_optimal(&tour.tour(&mut TourSearch::new(tour.instance.nodes, Limits::default())));
        }
    }
}

#[test]
fn published_tours_are_optimal() {
    assert_tours(|tour| !tour.is_slow());
}

#[test]
#[ignore = "takes a minute"]
fn slow_published_tours_are_optimal() {
    assert_tours(Published::is_slow);
}

#[test]
#[ignore = "takes minutes"]
fn large_published_tours_are_enclosed() {
    for tour in tours().iter().filter(|tour| tour.instance.nodes > EXACT_TOUR) {
        let nodes = if tour.instance.nodes < 1000 { 200 } else { 30 };
        tour.assert_enclosed(&tour.cut(Limits { nodes, gap: 0.0 }), 0.005);
    }
}

#[test]
fn local_search_comes_within_one_percent_of_published_tours() {
    for tour in tours() {
        let solution = tour.tour(&mut TourSearch::new(tour.instance.nodes, Limits { nodes: 0, gap: 0.0 }));
        let (name, optimum) = (tour.name, tour.optimum);
        let excess = solution.objective / optimum - 1.0;
        assert!((0.0..0.01).contains(&excess), "{name}: {} against {optimum}", solution.objective);
        let slack = 1.0 - solution.bound / optimum;
        assert!((0.0..0.05).contains(&slack), "{name}: bound {} against {optimum}", solution.bound);
    }
}

#[test]
fn published_optimal_tours_have_the_published_length() {
    for tour in tours() {
        let data = common::reference_data().unwrap().join("tsplib");
        let Ok(text) = std::fs::read_to_string(data.join(format!("{}.opt.tour", tour.name))) else { continue };
        let (_, list) = text.split_once("TOUR_SECTION").unwrap();
        let numbers = list.split_whitespace().map_while(|word| word.parse::<i64>().ok()).take_while(|node| *node > 0);
        let order: Vec<u32> = numbers.map(|node| node as u32 - 1).collect();
        let length = Distances::new(tour.instance.nodes, &tour.instance.costs).length(&order);
        assert_eq!(length, tour.optimum, "{}", tour.name);
    }
}

#[test]
fn subtour_relaxations_have_their_published_values() {
    for (name, value) in table("tsplib", "subtour_lp.csv", "subtour_lp_value") {
        let instance = read("tsplib", &name);
        let found = TourRelaxation::new(instance.nodes, Relaxation::Tight).solve(&instance.costs).unwrap().solution;
        assert!((found.objective - value).abs() < 1e-6, "{name}: {} not {value}", found.objective);
        assert!((found.bound - value).abs() < 1e-6, "{name}: bound {} not {value}", found.bound);
    }
}

#[test]
fn vehicle_routing_files_have_demands_and_a_depot() {
    for Published { name, instance, optimum: capacity } in published("cvrp", "capacity") {
        assert_eq!((instance.capacity, instance.demands.len()), (Some(capacity), instance.nodes), "{name}");
        assert_eq!((instance.depots, instance.demands[0]), (vec![0], 0.0), "{name}");
    }
}

fn assert_routes(wanted: impl Fn(&Published) -> bool) {
    for routes in routes().iter().filter(|routes| routes.instance.nodes <= EXACT_ROUTES && wanted(routes)) {
        routes.assert_optimal(&routes.routes(Limits::default()));
    }
}

#[test]
fn published_routes_are_optimal() {
    assert_routes(|routes| !routes.is_slow());
}

#[test]
#[ignore = "takes half a minute"]
fn slow_published_routes_are_optimal() {
    assert_routes(Published::is_slow);
}

#[test]
#[ignore = "takes half a minute"]
fn larger_published_routes_are_enclosed() {
    for routes in routes().iter().filter(|routes| routes.instance.nodes > EXACT_ROUTES) {
        let found = routes.routes(Limits { nodes: 60, gap: 0.0 });
        routes.assert_enclosed(&found, 0.04);
        assert!(found.objective <= 1.02 * routes.optimum && found.bound >= 0.98 * routes.optimum, "{found:?}");
    }
}
