//! The synthetic generators equal PyEPO's, bit for bit.

use crate::tests::common::{golden, numbers, rows};
use regretless::data::synthetic::{self, SyntheticSpec};
use regretless::random::NumpyRandomState;

fn spec(args: &serde_json::Value) -> SyntheticSpec {
    let number = |name: &str| args[name].as_u64().unwrap();
    SyntheticSpec {
        instances: number("num_data") as usize,
        features: number("num_features") as usize,
        degree: number("deg") as u32,
        noise: args["noise_width"].as_f64().unwrap(),
        seed: number("seed") as u32,
    }
}

fn assert_same(data: &regretless::data::Dataset, golden: &serde_json::Value) {
    let single = |values: Vec<Vec<f64>>| {
        values
            .concat()
            .iter()
            .map(|v| *v as f32)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        data.features().values().as_slice(),
        single(rows(&golden["x"]))
    );
    assert_eq!(data.costs().as_slice(), single(rows(&golden["c"])));
}

#[test]
fn the_random_stream_equals_that_of_numpy() {
    let file = golden("datagen");
    let expected = &file["generators"]["numpy_randomstate_stream"];
    let mut stream = NumpyRandomState::new(135);
    assert_eq!(
        stream.draw_many(8, NumpyRandomState::bernoulli_half),
        numbers(&expected["binomial"])
    );
    assert_eq!(
        stream.draw_many(7, NumpyRandomState::normal),
        numbers(&expected["normal"])
    );
    assert_eq!(
        stream.draw_many(6, |s| s.uniform(0.5, 1.5)),
        numbers(&expected["uniform"])
    );
    assert_eq!(
        stream.draw_many(5, |s| f64::from(300 + s.index(500))),
        numbers(&expected["choice"])
    );
    assert_eq!(
        stream.draw_many(2, NumpyRandomState::normal),
        numbers(&expected["normal2"])
    );
}

#[test]
fn grid_path_data_equal_those_of_pyepo() {
    let file = golden("datagen");
    let expected = &file["generators"]["shortestpath"];
    let arcs = expected["c"][0].as_array().unwrap().len();
    assert_same(
        &synthetic::grid_path(spec(&expected["args"]), arcs)
            .unwrap()
            .dataset()
            .unwrap(),
        expected,
    );
}

#[test]
fn knapsack_data_and_weights_equal_those_of_pyepo() {
    let file = golden("datagen");
    let expected = &file["generators"]["knapsack"];
    let (weights, generator) = synthetic::knapsack(spec(&expected["args"]), 6, 2).unwrap();
    let data = generator.dataset().unwrap();
    assert_eq!(weights, rows(&expected["weights"]));
    assert_same(&data, expected);
}

#[test]
fn tour_data_equal_those_of_pyepo() {
    let file = golden("datagen");
    let expected = &file["generators"]["tsp"];
    assert_same(
        &synthetic::tsp(spec(&expected["args"]), 5)
            .unwrap()
            .dataset()
            .unwrap(),
        expected,
    );
}

#[test]
fn large_tables_start_with_known_numbers() {
    let close = |actual: &[f32], expected: &[f64]| {
        actual
            .iter()
            .zip(expected)
            .for_each(|(a, b)| assert!((f64::from(*a) - b).abs() < 1e-6, "{a} is not {b}"));
    };
    let one_instance = SyntheticSpec::paper(1, 135);
    let paths = synthetic::grid_path(one_instance, 40)
        .unwrap()
        .dataset()
        .unwrap();
    close(
        paths.features().instance(0),
        &[0.18978013, 0.28131239, 0.80407457],
    );
    close(
        paths.costs().row(0),
        &[1.6599534, 2.1552112, 0.58019567, 1.3563237],
    );
    let (weights, generator) = synthetic::knapsack(one_instance, 32, 2).unwrap();
    let items = generator.dataset().unwrap();
    assert_eq!(weights[0][..4], [4.59, 4.87, 5.19, 7.59]);
    assert_eq!(
        items.costs().row(0)[..8],
        [3.0, 2.0, 2.0, 1.0, 1.0, 2.0, 1.0, 1.0]
    );
    let tours = synthetic::tsp(one_instance, 20).unwrap().dataset().unwrap();
    close(
        tours.features().instance(0),
        &[-1.08411069, 0.48888577, 0.16599294],
    );
    close(tours.costs().row(0), &[4.0962, 5.2245, 3.1101, 3.5619]);
}
