//! Newsvendor, against plans enumerated by hand: all subsets of items that are ordered in full, and
//! one that gets the rest of the capacity.

use std::sync::Arc;

use crate::tests::common::{below, build};
use regretless::loss::LossSpec;
use regretless::oracle::Oracle;
use regretless::problem::ProblemSpec;
use regretless::random::{Purpose, RandomStream};
use regretless::{Dataset, Method, Problem, Split, Trainer};
use serde_json::{Value, json};

/// A newsvendor with demands; some numbers are 0, and some ratios tie.
struct Case {
    under: Vec<f64>,
    over: Vec<f64>,
    weights: Vec<f64>,
    capacity: f64,
    demands: Vec<f64>,
}

impl Case {
    fn draw(stream: &mut RandomStream) -> Self {
        let items = 1 + below(stream, 5);
        let mut numbers = |least: usize, count: usize| -> Vec<f64> {
            (0..items)
                .map(|_| (least + below(stream, count)) as f64)
                .collect()
        };
        let (under, over) = (numbers(0, 6), numbers(0, 4));
        let (weights, demands) = (numbers(0, 4), numbers(0, 9));
        let capacity = 0.5 * below(stream, 40) as f64;
        Self {
            under,
            over,
            weights,
            capacity,
            demands,
        }
    }

    fn problem(&self) -> Problem {
        let spec = json!({"kind": "newsvendor", "under_cost": self.under, "over_cost": self.over,
            "weights": self.weights, "capacity": self.capacity});
        Problem::from_spec(ProblemSpec::from_json(spec).unwrap()).unwrap()
    }

    /// What a plan earns under some demands.
    fn earned(&self, plan: &[f64], demands: &[f64]) -> f64 {
        let mut total = 0.0;
        for (item, amount) in plan.iter().enumerate() {
            let sold = amount.min(demands[item]);
            total += self.under[item] * sold - self.over[item] * (amount - sold);
        }
        total
    }

    /// The most that any plan earns.
    fn best(&self) -> f64 {
        let items = self.demands.len();
        let mut best = 0.0_f64;
        for full in 0..1_usize << items {
            let is_full = |item: usize| full >> item & 1 == 1;
            let plan = |item: usize| {
                if is_full(item) {
                    self.demands[item]
                } else {
                    0.0
                }
            };
            let mut plan: Vec<f64> = (0..items).map(plan).collect();
            let load: f64 = plan.iter().zip(&self.weights).map(|(x, a)| x * a).sum();
            if load > self.capacity {
                continue;
            }
            best = best.max(self.earned(&plan, &self.demands));
            for item in (0..items).filter(|item| !is_full(*item) && self.weights[*item] > 0.0) {
                let rest = (self.capacity - load) / self.weights[item];
                plan[item] = rest.min(self.demands[item]);
                best = best.max(self.earned(&plan, &self.demands));
                plan[item] = 0.0;
            }
        }
        best
    }

    /// The regret of deciding by these demands.
    fn regret(&self, predicted: &[f64]) -> f64 {
        let decision = self.problem().solve(predicted).unwrap().decision;
        let mut plan = vec![0.0; predicted.len()];
        decision.write_dense(&mut plan);
        self.best() - self.earned(&plan, &self.demands)
    }
}

#[test]
fn plans_earn_as_much_as_the_best_enumerated_one() {
    let mut stream = RandomStream::new(Purpose::Importance, 7, [0, 0]);
    for _ in 0..2000 {
        let case = Case::draw(&mut stream);
        let problem = case.problem();
        let solution = problem.solve(&case.demands).unwrap();
        let best = case.best();
        assert!(
            (solution.objective - best).abs() <= 1e-9 * best.max(1.0),
            "{best}"
        );
        problem.kind().check(&solution.decision).unwrap();
    }
}

#[test]
fn prices_of_errors_are_the_regret_of_small_errors() {
    let mut stream = RandomStream::new(Purpose::Importance, 8, [0, 0]);
    let mut positive = 0;
    for _ in 0..500 {
        let mut case = Case::draw(&mut stream);
        // Neither ties of ratios nor a capacity that is used up exactly: prices have one value.
        for (item, demand) in case.demands.iter_mut().enumerate() {
            *demand += 0.3 + 0.01 * item as f64;
            case.under[item] += 0.7 + 0.013 * (item * item) as f64;
            case.weights[item] += 1.1 + 0.07 * item as f64;
        }
        let items = case.demands.len();
        let problem = case.problem();
        let label = problem.solve(&case.demands).unwrap().decision;
        let negated: Vec<f64> = case.demands.iter().map(|demand| -demand).collect();
        let (mut under, mut over) = (vec![0.0; items], vec![0.0; items]);
        problem
            .kind()
            .recourse()
            .error_prices(&label, &negated, &mut under, &mut over);
        let step = 1e-6;
        for item in 0..items {
            for (price, sign) in [(under[item], -1.0), (over[item], 1.0)] {
                let mut predicted = case.demands.clone();
                predicted[item] += sign * step;
                let slope = case.regret(&predicted) / step;
                assert!(
                    (slope - price).abs() < 1e-3 * price.max(1.0),
                    "{price} for {slope}"
                );
                positive += usize::from(price > 0.0);
            }
        }
    }
    assert!(positive > 500);
}

#[test]
fn an_order_of_what_nobody_wants_has_the_price_of_its_regret() {
    let mut stream = RandomStream::new(Purpose::Importance, 9, [0, 0]);
    let (mut positive, mut zero) = (0, 0);
    for _ in 0..500 {
        let mut case = Case::draw(&mut stream);
        for (item, demand) in case.demands.iter_mut().enumerate() {
            *demand += 0.3 + 0.01 * item as f64;
            case.under[item] += 0.7 + 0.013 * (item * item) as f64;
            case.weights[item] += 1.1 + 0.07 * item as f64;
        }
        let unwanted = case.demands.len() / 2;
        case.demands[unwanted] = 0.0;
        let items = case.demands.len();
        let problem = case.problem();
        let label = problem.solve(&case.demands).unwrap().decision;
        let negated: Vec<f64> = case.demands.iter().map(|demand| -demand).collect();
        let (mut under, mut over) = (vec![0.0; items], vec![0.0; items]);
        let recourse = problem.kind().recourse();
        recourse.error_prices(&label, &negated, &mut under, &mut over);
        let mut predicted = case.demands.clone();
        predicted[unwanted] = 1e-6;
        let (slope, price) = (case.regret(&predicted) / 1e-6, over[unwanted]);
        assert!(
            (slope - price).abs() < 1e-3 * price.max(1.0),
            "{price} for {slope}"
        );
        positive += usize::from(price > 0.0);
        zero += usize::from(price == 0.0);
    }
    assert!(positive > 100 && zero > 10, "{positive} {zero}");
}

#[test]
fn without_a_capacity_the_loss_is_the_regret_and_that_of_quantile_regression() {
    let problem = Problem::newsvendor(vec![3.0, 1.0], vec![1.0, 4.0]).unwrap();
    let loss: LossSpec = "MAE(D(0.3))".parse().unwrap();
    let (demands, predicted) = ([5.0, 2.0], [4.0, 2.5]);
    let found = loss.evaluate(&problem, &predicted, &demands).unwrap();
    // One unit short of the first item, half a unit left of the second.
    assert_eq!(found.value, (3.0 * 1.0 + 4.0 * 0.5) / 2.0);
    assert_eq!(found.gradient, [-3.0 / 2.0, 4.0 / 2.0]);
    // Pinball at u / (u + o), times u + o.
    for (item, [under, over]) in [[3.0, 1.0], [1.0, 4.0]].into_iter().enumerate() {
        let tau = under / (under + over);
        let pinball: LossSpec = format!("MAE(tau={tau})").parse().unwrap();
        let alone = Problem::newsvendor(vec![under], vec![over]).unwrap();
        let pinball = pinball
            .evaluate(&alone, &[predicted[item]], &[demands[item]])
            .unwrap();
        let priced = loss
            .evaluate(&alone, &[predicted[item]], &[demands[item]])
            .unwrap();
        assert!((priced.value - (under + over) * pinball.value).abs() < 1e-12);
        assert!((priced.gradient[0] - (under + over) * pinball.gradient[0]).abs() < 1e-12);
    }
    let squares: LossSpec = "MSE(D(0))".parse().unwrap();
    let found = squares.evaluate(&problem, &predicted, &demands).unwrap();
    assert_eq!(found.value, (3.0 * 1.0 + 4.0 * 0.25) / 2.0);
}

/// A table whose demands grow with a feature and are scattered around it.
fn table(rows: usize) -> (Vec<[f64; 1]>, Vec<[f64; 2]>) {
    let mut stream = RandomStream::new(Purpose::Importance, 9, [0, 0]);
    let mut draw = || below(&mut stream, 1000) as f64 / 1000.0;
    let features: Vec<[f64; 1]> = (0..rows).map(|_| [draw()]).collect();
    let demand = |x: &[f64; 1], noise: f64| (2.0 + 3.0 * x[0]) * (0.2 + 1.6 * noise);
    let demands = features
        .iter()
        .map(|x| [demand(x, draw()), demand(x, draw())]);
    let demands = demands.collect();
    (features, demands)
}

#[test]
fn training_for_what_errors_cost_loses_less_than_squared_errors() {
    let spec = json!({"kind": "newsvendor", "under_cost": [9.0, 1.0], "over_cost": [1.0, 3.0],
        "capacity": 7.0});
    let problem = Problem::from_spec(ProblemSpec::from_json(spec).unwrap()).unwrap();
    let (features, demands) = table(600);
    let data = Dataset::from_arrays(&features, &demands).unwrap();
    let data = data
        .split(Split::random(0).train(0.5).validation(0.2))
        .unwrap();
    let regret = |name: &str| {
        let method: Method = name.parse().unwrap();
        let model = Trainer::new(method)
            .epochs(40)
            .fit(&problem, &data)
            .unwrap();
        model.evaluate(data.test()).unwrap().normalized_regret
    };
    let (squares, priced, auto) = (regret("MSE"), regret("MAE(D)"), regret("auto 1s"));
    assert!(priced < 0.8 * squares, "{priced} and {squares}");
    assert!(auto < 0.85 * squares, "{auto} and {squares}");
    // A shrinkage needs rows to choose by.
    let all = Dataset::from_arrays(&features, &demands).unwrap();
    let all = all
        .split(Split::random(0).train(0.8).validation(0.0))
        .unwrap();
    let method: Method = "MAE(D)".parse().unwrap();
    let error = Trainer::new(method)
        .epochs(1)
        .fit(&problem, &all)
        .err()
        .unwrap()
        .to_string();
    assert!(
        error.contains("validation") && error.contains("D(0.25)"),
        "{error}"
    );
}

#[test]
fn what_needs_costs_is_refused_by_name() {
    let problem = Problem::newsvendor(vec![3.0, 1.0], vec![1.0, 4.0]).unwrap();
    let oracle = Oracle::new(problem.kind().clone());
    for name in [
        "SPO+",
        "PFYL",
        "MAE(O,S)",
        "MSE(O)",
        "MSE(S)",
        "MAE(E)",
        "NCE",
        "LTR(pair)",
        "CaVE",
        "LAVA",
        "DBB",
        "MAP",
    ] {
        let loss: LossSpec = name.parse().unwrap();
        let error = loss.check_problem(&oracle).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains("MAE(D)"), "{error}");
    }
    for name in ["MSE", "MAE(tau=0.3)", "MAE(D)", "MSE(C,D(0.5))", "MSE(C)"] {
        let loss: LossSpec = name.parse().unwrap();
        loss.check_problem(&oracle).unwrap();
    }
    let costs = Oracle::new(Problem::benchmark("KS8").unwrap().kind().clone());
    let loss: LossSpec = "MAE(D)".parse().unwrap();
    let error = loss.check_problem(&costs).unwrap_err().to_string();
    assert!(
        error.contains("quantities") && error.contains("MAE(O,S)"),
        "{error}"
    );
}

#[test]
fn rows_with_capacities_of_their_own_and_negative_demands() {
    let toml = "kind = \"newsvendor\"\nitems = [\"a\", \"b\"]\nunder_cost = [3.0, 4.0]\n\
        over_cost = [1.0, { column = \"left\" }]\nweights = [1.0, 2.0]\n\
        capacity = { column = \"van\" }\n";
    let problem = ProblemSpec::from_toml(toml).unwrap().build().unwrap();
    let values = |van: f64, left: f64| {
        let names: Vec<String> = problem
            .row_problems()
            .parameters()
            .iter()
            .map(|c| c.pattern.clone())
            .collect();
        let value = |name: &String| if name == "van" { van } else { left };
        names.iter().map(value).collect::<Vec<f64>>()
    };
    let row = problem
        .row_problems()
        .row_problem(&values(8.0, 2.0))
        .unwrap();
    let plan = row
        .solver(&Default::default())
        .solve(&[-5.0, -4.0])
        .unwrap();
    assert_eq!(plan.objective, -21.0);
    assert_eq!(
        row.recourse().objective(&plan.decision, &[-5.0, -1.0]),
        -(15.0 + 4.0 - 2.0 * 0.5)
    );
    let refused = row.recourse().unusable_values(&[-5.0, 2.0]).unwrap();
    assert!(refused.contains("b is -2"), "{refused}");

    let problem = Problem::newsvendor(vec![3.0, 1.0], vec![1.0, 4.0]).unwrap();
    let data = Dataset::from_arrays(&[[0.0], [1.0]], &[[1.0, 2.0], [1.0, -2.0]]).unwrap();
    let oracle = Oracle::new(Arc::clone(problem.kind()));
    let (labeled, failed) = regretless::label::LabeledDataset::solve_feasible(
        data,
        &oracle,
        &regretless::observer::NoopObserver,
    )
    .unwrap();
    assert_eq!(labeled.rows(), [0]);
    assert!(
        failed[0].1.to_string().contains("below 0"),
        "{}",
        failed[0].1
    );
}

#[test]
fn invalid_numbers_are_refused() {
    let fields = |key: &str, value: Value| {
        let mut spec = json!({"kind": "newsvendor", "under_cost": [3, 4], "over_cost": 1,
            "weights": [1, 2], "capacity": 8});
        spec[key] = value;
        build(spec).err()
    };
    assert_eq!(fields("capacity", json!(0)), None);
    for (key, value, word) in [
        ("under_cost", json!([3, -4]), "under_cost = -4"),
        ("over_cost", json!([1, 2, 3]), "has 2 numbers for 3 items"),
        ("capacity", json!(-1), "capacity = -1"),
        ("items", json!(["a", "a"]), "a"),
        ("items", json!(3), "3"),
        ("capacity", Value::Null, "weights without a capacity"),
    ] {
        let error = fields(key, value).unwrap();
        assert!(error.contains(word), "{error}");
    }
}
