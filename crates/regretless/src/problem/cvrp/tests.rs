use super::Cvrp;
use crate::decision::Decision;
use crate::solve::complete_graph::edge_index;

fn problem(single_customer_routes: bool) -> Cvrp {
    Cvrp::new(vec![4.0, 5.0, 1.0, 3.0], 9.0, 2)
        .unwrap()
        .with_single_customer_routes(single_customer_routes)
}

fn using(edges: &[(usize, usize, f64)]) -> Decision {
    let mut dense = [0.0; 10];
    edges
        .iter()
        .for_each(|(i, j, value)| dense[edge_index(5, *i, *j)] = *value);
    Decision::from_dense(&dense)
}

fn complaint(single: bool, edges: &[(usize, usize, f64)]) -> String {
    problem(single).check_routes(&using(edges)).unwrap_err()
}

#[test]
fn routes_within_capacity_are_accepted_and_others_named() {
    let two = [
        (0, 1, 1.0),
        (1, 2, 1.0),
        (0, 2, 1.0),
        (0, 3, 1.0),
        (3, 4, 1.0),
        (0, 4, 1.0),
    ];
    assert_eq!(problem(false).check_routes(&using(&two)), Ok(()));
    let all = [
        (0, 1, 1.0),
        (1, 2, 1.0),
        (2, 3, 1.0),
        (3, 4, 1.0),
        (0, 4, 1.0),
    ];
    assert!(complaint(false, &all).contains("carries 13"));
    let apart = [(0, 4, 1.0), (0, 1, 1.0), (1, 4, 1.0)];
    assert!(complaint(false, &apart).contains("customer 2 has degree 0"));
}

#[test]
fn a_subtour_without_the_depot_is_refused() {
    let mut problem = problem(true);
    problem.capacity = 20.0;
    let subtour = using(&[(0, 1, 2.0), (2, 3, 1.0), (3, 4, 1.0), (2, 4, 1.0)]);
    assert!(
        problem
            .check_routes(&subtour)
            .unwrap_err()
            .contains("customer 2 is not connected")
    );
}

#[test]
fn single_customers_need_permission_and_a_vehicle() {
    let single = [
        (0, 2, 2.0),
        (0, 1, 1.0),
        (1, 3, 1.0),
        (3, 4, 1.0),
        (0, 4, 1.0),
    ];
    assert_eq!(problem(true).check_routes(&using(&single)), Ok(()));
    assert!(complaint(false, &single).contains("2 times"));
    let three = [
        (0, 2, 2.0),
        (0, 1, 2.0),
        (0, 3, 1.0),
        (3, 4, 1.0),
        (0, 4, 1.0),
    ];
    assert!(complaint(true, &three).contains("3 routes for 2 vehicles"));
}

#[test]
fn demands_that_no_vehicle_carries_are_refused() {
    let error = Cvrp::new(vec![4.0, 5.0, 9.5, 3.0], 9.0, 2).unwrap_err();
    assert!(error.to_string().contains("customer 3 demands 9.5"));
    let json = r#"{"demands": [1.0], "capacity": 0.5, "vehicles": 1}"#;
    assert!(serde_json::from_str::<Cvrp>(json).is_err());
}
