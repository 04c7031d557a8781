//! Published instances: TSPLIB and CVRPLIB with their optima, and the values of subtour
//! relaxations.
//!
//! Each test prints its result for every instance; `--nocapture` shows them.

use super::solve_checked;
use crate::tests::common;
use crate::tests::measure::timed;
use regretless::error::InputPlace;
use regretless::problem::formats::tsplib::{self, TsplibInstance};
use regretless::problem::{Cvrp, Tsp};
use regretless::solve::complete_graph::EdgeCostMatrix;
use regretless::solve::cvrp::{CvrpBranchAndCut, CvrpInstance};
use regretless::solve::relaxation::Relaxation;
use regretless::solve::tsp::TspBranchAndBound;
use regretless::solve::tsp::branch_and_cut::{TspBranchAndCut, TspRelaxation};
use regretless::solve::{SearchLimits, Solution, SolveStatus, Solver};

/// Largest TSP and CVRP instances that are solved to optimality; for larger ones only the bounds
/// are checked.
const MAX_EXACT_TSP_NODES: usize = 150;
const MAX_EXACT_CVRP_NODES: usize = 32;
/// Largest TSP instances that branch and bound on 1-trees solves as well.
const MAX_ONE_TREE_NODES: usize = 52;

/// The instance whose published optimum is that of its numbers read by rows, although its file
/// states that they are stored by columns.
const STORED_BY_COLUMNS: &str = "E-n13-k4";

/// A published instance and its optimum.
struct Published {
    name: String,
    instance: TsplibInstance,
    optimum: f64,
}

/// A column of a table, keyed by the names in the first column.
fn table(folder: &str, file: &str, column: &str) -> Vec<(String, f64)> {
    let path = common::reference_data().join(folder).join(file);
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let column = header.iter().position(|name| *name == column).unwrap();
    lines
        .map(|line| (line[0].to_string(), line[column].parse().unwrap()))
        .collect()
}

fn read(folder: &str, name: &str) -> TsplibInstance {
    let extension = if folder == "cvrp" { "vrp" } else { "tsp" };
    let path = common::reference_data()
        .join(folder)
        .join(format!("{name}.{extension}"));
    tsplib::read(&path).unwrap()
}

/// E-n13-k4 as CVRPLIB solved it. Its weights are Dantzig and Ramser's (1959) distance table,
/// stored by columns as the file states, but the published optimum is that of the same numbers read
/// by rows.
fn read_by_rows(name: &str) -> TsplibInstance {
    let path = common::reference_data()
        .join("cvrp")
        .join(format!("{name}.vrp"));
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(
        text.contains("LOWER_COL"),
        "{name} is not stored as a triangle by columns"
    );
    tsplib::parse(
        &text.replace("LOWER_COL", "LOWER_ROW"),
        &InputPlace::file(&path),
    )
    .unwrap()
}

fn published(folder: &str, column: &str) -> Vec<Published> {
    let all = table(folder, "optima.csv", column).into_iter();
    let instance = |name: &str| {
        if name == STORED_BY_COLUMNS {
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
    fn solve_tour(&self, solver: &mut dyn Solver) -> Solution {
        solve_checked(
            &Tsp::new(self.instance.nodes).unwrap(),
            solver,
            &self.instance.costs,
        )
    }

    fn solve_by_branch_and_cut(&self, limits: SearchLimits) -> Solution {
        let mut solver = TspBranchAndCut::new(self.instance.nodes, limits);
        let (time, solution) = timed(|| self.solve_tour(&mut solver));
        self.print(&solution, solver.tree_nodes(), time);
        solution
    }

    /// Solves with the number of vehicles in the instance's name.
    fn solve_routes(&self, limits: SearchLimits) -> Solution {
        let problem = Cvrp::published(&self.instance).unwrap();
        let instance = CvrpInstance {
            demands: self.instance.demands.clone(),
            capacity: problem.capacity(),
            vehicles: problem.vehicles(),
            allows_single_customer_routes: problem.allows_single_customer_routes(),
        };
        let mut solver = CvrpBranchAndCut::new(instance, limits);
        let (time, solution) = timed(|| solve_checked(&problem, &mut solver, &self.instance.costs));
        self.print(&solution, solver.tree_nodes(), time);
        solution
    }

    fn print(&self, solution: &Solution, tree_nodes: u64, milliseconds: f64) {
        let (name, optimum) = (&self.name, self.optimum);
        let (objective, bound) = (solution.objective, solution.bound);
        let gap = 100.0 * (objective - bound) / objective;
        eprintln!(
            "{name}: {objective} of {optimum}, bound {bound:.1} ({gap:.3} %), {tree_nodes} \
                nodes, {:.2} s",
            milliseconds / 1e3
        );
    }

    fn assert_optimal(&self, solution: &Solution) {
        assert_eq!(
            (solution.status, solution.objective),
            (SolveStatus::Optimal, self.optimum),
            "{}",
            self.name
        );
    }

    /// The optimum is between bound and objective, and their gap is at most `max_gap`.
    fn assert_bracketed(&self, solution: &Solution, max_gap: f64) {
        let (name, optimum) = (&self.name, self.optimum);
        let (objective, bound) = (solution.objective, solution.bound);
        assert!(
            bound <= optimum && optimum <= objective,
            "{name}: {solution:?}"
        );
        assert!(
            objective - bound <= max_gap * optimum,
            "{name}: {bound} to {objective}"
        );
    }
}

/// Branch and cut; branch and bound as well if it is fast.
#[test]
fn published_tours_are_optimal() {
    for tour in tours()
        .iter()
        .filter(|tour| tour.instance.nodes <= MAX_EXACT_TSP_NODES)
    {
        tour.assert_optimal(&tour.solve_by_branch_and_cut(SearchLimits::default()));
        if tour.instance.nodes <= MAX_ONE_TREE_NODES {
            tour.assert_optimal(&tour.solve_tour(&mut TspBranchAndBound::new(
                tour.instance.nodes,
                SearchLimits::default(),
            )));
        }
    }
}

#[test]
fn bounds_of_large_published_tours_bracket_the_optimum() {
    for tour in tours()
        .iter()
        .filter(|tour| tour.instance.nodes > MAX_EXACT_TSP_NODES)
    {
        let solution = tour.solve_by_branch_and_cut(SearchLimits {
            nodes: 400,
            gap: 0.005,
            ..SearchLimits::default()
        });
        assert_ne!(solution.status, SolveStatus::LimitReached, "{}", tour.name);
        tour.assert_bracketed(&solution, 0.005);
    }
}

#[test]
#[ignore = "takes minutes"]
fn bounds_of_large_published_tours_are_close_after_a_thousand_nodes() {
    let limits = SearchLimits {
        nodes: 1000,
        gap: 0.0,
        ..SearchLimits::default()
    };
    let (mut instances, mut optimal) = (0, 0);
    for tour in tours() {
        if tour.instance.nodes <= MAX_EXACT_TSP_NODES {
            continue;
        }
        let solution = tour.solve_by_branch_and_cut(limits);
        tour.assert_bracketed(&solution, 0.004);
        instances += 1;
        optimal += usize::from(solution.status == SolveStatus::Optimal);
    }
    assert!(instances > 0);
    common::print_suite_summary(instances, Some(optimal));
}

#[test]
fn local_search_comes_within_one_percent_of_published_tours() {
    for tour in tours() {
        let solution = tour.solve_tour(&mut TspBranchAndBound::new(
            tour.instance.nodes,
            SearchLimits {
                nodes: 0,
                gap: 0.0,
                ..SearchLimits::default()
            },
        ));
        let (name, optimum) = (tour.name, tour.optimum);
        let excess = solution.objective / optimum - 1.0;
        assert!(
            (0.0..0.01).contains(&excess),
            "{name}: {} against {optimum}",
            solution.objective
        );
        let bound_gap = 1.0 - solution.bound / optimum;
        assert!(
            (0.0..0.05).contains(&bound_gap),
            "{name}: bound {} against {optimum}",
            solution.bound
        );
    }
}

#[test]
fn published_optimal_tours_have_the_published_cost() {
    // TSPLIB has no optimal tours of these two.
    let without_tour = ["gr17", "dantzig42"];
    let data = common::reference_data().join("tsplib");
    for tour in tours() {
        if without_tour.contains(&tour.name.as_str()) {
            continue;
        }
        let path = data.join(format!("{}.opt.tour", tour.name));
        let text = std::fs::read_to_string(path).unwrap();
        let (_, list) = text.split_once("TOUR_SECTION").unwrap();
        let numbers = list
            .split_whitespace()
            .map_while(|word| word.parse::<i64>().ok())
            .take_while(|node| *node > 0);
        let order: Vec<u32> = numbers.map(|node| node as u32 - 1).collect();
        let cost = EdgeCostMatrix::new(tour.instance.nodes, &tour.instance.costs).tour_cost(&order);
        assert_eq!(cost, tour.optimum, "{}", tour.name);
    }
}

#[test]
fn subtour_relaxations_have_their_published_values() {
    for (name, value) in table("tsplib", "subtour_lp.csv", "subtour_lp_value") {
        let instance = read("tsplib", &name);
        let solution = TspRelaxation::new(instance.nodes, Relaxation::Tight)
            .solve(&instance.costs)
            .unwrap()
            .solution;
        assert!(
            (solution.objective - value).abs() < 1e-6,
            "{name}: {} not {value}",
            solution.objective
        );
        assert!(
            (solution.bound - value).abs() < 1e-6,
            "{name}: bound {} not {value}",
            solution.bound
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
fn dantzig_and_ramsers_table_is_read_by_columns_as_its_file_states() {
    let by_columns = Published {
        name: STORED_BY_COLUMNS.into(),
        instance: read("cvrp", STORED_BY_COLUMNS),
        optimum: 290.0,
    };
    assert_eq!(
        by_columns.instance.costs[..12],
        [9., 14., 21., 23., 22., 25., 32., 36., 38., 42., 50., 52.]
    );
    by_columns.assert_optimal(&by_columns.solve_routes(SearchLimits::default()));
}

#[test]
fn published_routes_are_optimal() {
    for routes in routes()
        .iter()
        .filter(|routes| routes.instance.nodes <= MAX_EXACT_CVRP_NODES)
    {
        routes.assert_optimal(&routes.solve_routes(SearchLimits::default()));
    }
}

#[test]
fn bounds_of_larger_published_routes_bracket_the_optimum() {
    for routes in routes()
        .iter()
        .filter(|routes| routes.instance.nodes > MAX_EXACT_CVRP_NODES)
    {
        let solution = routes.solve_routes(SearchLimits {
            nodes: 60,
            gap: 0.0,
            ..SearchLimits::default()
        });
        routes.assert_bracketed(&solution, 0.04);
        assert!(
            solution.objective <= 1.02 * routes.optimum && solution.bound >= 0.98 * routes.optimum,
            "{solution:?}"
        );
    }
}
