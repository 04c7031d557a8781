//! Decisions with absent items or nodes against all decisions of those present.

use super::{draw_present, present_items, stream};
use regretless::problem::{Knapsack, ProblemKind, Sense, TopK, Tsp};
use regretless::random::RandomStream;
use regretless::solve::SearchLimits;

/// The smallest cost of all choices of items that an independent condition accepts.
fn best_choice(costs: &[f64], accepts: impl Fn(&[usize]) -> bool) -> f64 {
    let choices = (0_u32..1 << costs.len()).map(|bits| {
        let chosen = (0..costs.len()).filter(|j| bits >> j & 1 == 1);
        chosen.collect::<Vec<_>>()
    });
    choices
        .filter(|chosen| accepts(chosen))
        .map(|chosen| chosen.iter().map(|j| costs[*j]).sum())
        .fold(f64::INFINITY, f64::min)
}

pub(super) fn optimum(problem: &dyn ProblemKind, costs: &[f64]) -> f64 {
    let solution = problem.solver(&SearchLimits::default()).solve(costs);
    let solution = solution.unwrap();
    problem.check(&solution.decision).unwrap();
    assert!((solution.decision.dot(costs) - solution.objective).abs() < 1e-9);
    solution.objective
}

#[test]
fn choices_of_items_are_the_best_of_all() {
    let mut stream = stream(9);
    for round in 0..30 {
        let items = 8;
        let present = draw_present(items, 3, &mut stream);
        let weights: Vec<f64> = (0..items).map(|_| stream.uniform(1.0, 5.0)).collect();
        let costs: Vec<f64> = (0..items).map(|_| stream.uniform(-5.0, 1.0)).collect();
        let is_present = |chosen: &[usize]| chosen.iter().all(|item| present[*item]);

        let knapsack = Knapsack::new(vec![weights.clone()], vec![9.0]).unwrap();
        let knapsack = knapsack.with_present(present.clone()).unwrap();
        let fits = |chosen: &[usize]| chosen.iter().map(|j| weights[*j]).sum::<f64>() <= 9.0;
        let best = best_choice(&costs, |chosen| is_present(chosen) && fits(chosen));
        assert!((optimum(&knapsack, &costs) - best).abs() < 1e-9, "{round}");

        let top = TopK::new(items, 3, Sense::Minimize).unwrap();
        let top = top.with_present(present.clone()).unwrap();
        let best = best_choice(&costs, |chosen| is_present(chosen) && chosen.len() == 3);
        assert!((optimum(&top, &costs) - best).abs() < 1e-9, "{round}");

        let top = TopK::at_most(items, 5, Sense::Minimize).unwrap();
        let top = top.with_present(present.clone()).unwrap();
        let best = best_choice(&costs, |chosen| is_present(chosen) && chosen.len() <= 5);
        assert!((optimum(&top, &costs) - best).abs() < 1e-9, "{round}");
    }
}

/// All orders of some nodes.
fn orders(nodes: &[usize]) -> Vec<Vec<usize>> {
    if nodes.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (position, first) in nodes.iter().enumerate() {
        let others = [&nodes[..position], &nodes[position + 1..]].concat();
        for mut order in orders(&others) {
            order.push(*first);
            all.push(order);
        }
    }
    all
}

/// The cost of a closed walk, by a matrix of costs.
fn walk_cost(order: &[usize], matrix: &[Vec<f64>]) -> f64 {
    let next = order.iter().cycle().skip(1);
    order.iter().zip(next).map(|(i, j)| matrix[*i][*j]).sum()
}

/// Costs of edges in lexicographic order, and the same as a matrix.
fn draw_edges(nodes: usize, stream: &mut RandomStream) -> (Vec<f64>, Vec<Vec<f64>>) {
    let (mut costs, mut matrix) = (Vec::new(), vec![vec![0.0; nodes]; nodes]);
    let pairs = (0..nodes).flat_map(|i| (i + 1..nodes).map(move |j| (i, j)));
    for (i, j) in pairs {
        let cost = stream.uniform(-1.0, 9.0);
        costs.push(cost);
        (matrix[i][j], matrix[j][i]) = (cost, cost);
    }
    (costs, matrix)
}

#[test]
fn tours_are_the_best_of_all_orders_of_the_present_nodes() {
    let mut stream = stream(10);
    for round in 0..30 {
        let (costs, matrix) = draw_edges(8, &mut stream);
        let present = draw_present(8, 3, &mut stream);
        let tsp = Tsp::new(8).unwrap().with_present(present.clone()).unwrap();
        let tours = orders(&present_items(&present));
        let costs_of_tours = tours.iter().map(|order| walk_cost(order, &matrix));
        let best = costs_of_tours.fold(f64::INFINITY, f64::min);
        assert!((optimum(&tsp, &costs) - best).abs() < 1e-9, "{round}");
        let solver = tsp.solver(&SearchLimits::default()).solve(&costs);
        let order = Tsp::tour_order(8, &solver.unwrap().decision);
        let order: Vec<usize> = order.iter().map(|node| *node as usize).collect();
        assert_eq!(Some(order[0]), present.iter().position(|flag| *flag));
        assert!((walk_cost(&order, &matrix) - best).abs() < 1e-9, "{round}");
    }
}

#[cfg(feature = "highs")]
#[test]
fn routes_are_the_best_of_all_orders_and_divisions_of_the_present_customers() {
    use regretless::problem::Cvrp;
    let mut stream = stream(11);
    for round in 0..20 {
        let (costs, matrix) = draw_edges(8, &mut stream);
        let present = draw_present(7, 4, &mut stream);
        let demands: Vec<f64> = (0..7).map(|_| stream.uniform(1.0, 4.0)).collect();
        let customers: Vec<usize> = present_items(&present).iter().map(|i| i + 1).collect();
        let load = |route: &[usize]| route.iter().map(|node| demands[node - 1]).sum::<f64>();
        for single in [false, true] {
            let is_route = |route: &&[usize]| load(route) <= 8.0 && (single || route.len() > 1);
            let mut best = f64::INFINITY;
            for order in orders(&customers) {
                for cuts in 0_u32..1 << (order.len() - 1) {
                    let mut routes = Vec::new();
                    let mut first = 0;
                    for end in 1..=order.len() {
                        if end == order.len() || cuts >> (end - 1) & 1 == 1 {
                            routes.push(&order[first..end]);
                            first = end;
                        }
                    }
                    if routes.len() <= 3 && routes.iter().all(is_route) {
                        let cost = |route: &&[usize]| walk_cost(&[&[0], *route].concat(), &matrix);
                        best = best.min(routes.iter().map(cost).sum());
                    }
                }
            }
            let cvrp = Cvrp::new(demands.clone(), 8.0, 3).unwrap();
            // The order of both calls does not matter.
            let cvrp = if round % 2 == 0 {
                let cvrp = cvrp.with_present(present.clone()).unwrap();
                cvrp.with_single_customer_routes(single)
            } else {
                let cvrp = cvrp.with_single_customer_routes(single);
                cvrp.with_present(present.clone()).unwrap()
            };
            if best == f64::INFINITY {
                assert!(cvrp.solver(&SearchLimits::default()).solve(&costs).is_err());
            } else {
                assert!((optimum(&cvrp, &costs) - best).abs() < 1e-9, "{round}");
            }
        }
    }
}
