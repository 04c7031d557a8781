//! Marks are counted and compared with the data.

use regretless_study::experiment::{
    DecisionLayout, ExampleDecision, ExperimentResults, MethodResults, ProblemResults,
};
use regretless_study::report::{Figure, figures};
use roxmltree::{Document, Node};

use crate::{STORED, stored};

fn has_class(node: &Node<'_, '_>, class: &str) -> bool {
    node.attribute("class")
        .is_some_and(|method| method.split(' ').any(|word| word == class))
}

/// Elements of a class in a figure.
fn count(figures: &[Figure], name: &str, class: &str) -> usize {
    let figure = figures
        .iter()
        .find(|figure| figure.name == name)
        .unwrap_or_else(|| panic!("no figure {name}"));
    let document = Document::parse(&figure.svg).unwrap();
    document
        .descendants()
        .filter(|node| has_class(node, class))
        .count()
}

fn methods<'a>(results: &'a ExperimentResults, problem: &str) -> &'a [MethodResults] {
    &results
        .problems
        .iter()
        .find(|method| method.name == problem)
        .unwrap()
        .methods
}

fn measured(methods: &[MethodResults]) -> usize {
    methods
        .iter()
        .filter(|method| method.ratio.mean.is_some())
        .count()
}

#[test]
fn every_figure_is_well_formed_and_stands_alone() {
    for name in STORED {
        for figure in figures(&stored(name)) {
            let document =
                Document::parse(&figure.svg).unwrap_or_else(|e| panic!("{}: {e}", figure.name));
            assert_eq!(document.root_element().tag_name().name(), "svg");
            for node in document.descendants() {
                assert!(!matches!(
                    node.tag_name().name(),
                    "script" | "image" | "use" | "foreignObject"
                ));
                assert!(
                    node.attributes()
                        .all(|method| method.name() != "href" && !method.name().starts_with("on"))
                );
            }
            assert!(
                !figure.svg.contains("var(")
                    && !figure.svg.contains("NaN")
                    && !figure.svg.contains("inf\"")
            );
        }
    }
}

#[test]
fn text_and_marks_lie_inside_their_figures() {
    for name in STORED {
        for figure in figures(&stored(name)) {
            let document = Document::parse(&figure.svg).unwrap();
            let size = |name: &str| {
                document
                    .root_element()
                    .attribute(name)
                    .unwrap()
                    .parse::<f64>()
                    .unwrap()
            };
            let (width, height) = (size("width"), size("height"));
            let place = |node: &Node<'_, '_>, name: &str| {
                node.attribute(name)
                    .and_then(|text| text.parse::<f64>().ok())
            };
            for node in document.descendants().filter(|node| node.is_element()) {
                for (name, max) in [
                    ("x", width),
                    ("cx", width),
                    ("x1", width),
                    ("x2", width),
                    ("y", height),
                    ("cy", height),
                    ("y1", height),
                    ("y2", height),
                ] {
                    let inside = place(&node, name).is_none_or(|at| (0.0..=max).contains(&at));
                    assert!(inside, "{}: {name} of {:?}", figure.name, node);
                }
                if let (true, Some(x), Some(text)) =
                    (node.has_tag_name("text"), place(&node, "x"), node.text())
                {
                    // No sans-serif font is narrower than this on average.
                    let least = text.chars().count() as f64 * 11.0 * 0.42;
                    let (left, right) = match node.attribute("text-anchor").unwrap() {
                        "start" => (x, x + least),
                        "end" => (x - least, x),
                        _ => (x - least / 2.0, x + least / 2.0),
                    };
                    assert!(
                        left >= -1.0 && right <= width + 1.0,
                        "{}: '{text}' runs out",
                        figure.name
                    );
                }
            }
        }
    }
}

#[test]
fn bars_are_as_many_as_methods_with_numbers() {
    let results = stored("scale");
    let drawn = figures(&results);
    for problem in ["CVRP20", "KS500"] {
        let methods = methods(&results, problem);
        let name = format!("bars-{problem}");
        assert_eq!(count(&drawn, &name, "bar"), measured(methods));
        assert_eq!(
            count(&drawn, &name, "published"),
            methods
                .iter()
                .filter(|method| method.published.is_some())
                .count()
        );
    }
    assert!(
        drawn.iter().all(|figure| !figure.name.ends_with("CAKS100")),
        "nothing was run on CAKS100"
    );
}

#[test]
fn pareto_marks_are_methods_and_published_points() {
    let results = stored("scale");
    let drawn = figures(&results);
    let methods = methods(&results, "CVRP20");
    let published = methods
        .iter()
        .filter(|method| {
            method
                .published
                .is_some_and(|published| published.seconds.is_some())
        })
        .count();
    assert!(published > 5);
    assert_eq!(
        count(&drawn, "pareto-CVRP20", "measured"),
        measured(methods)
    );
    assert_eq!(count(&drawn, "pareto-CVRP20", "published"), published);
    assert_eq!(
        count(&drawn, "pareto-CVRP20", "ring"),
        methods.iter().filter(|method| method.on_front).count()
    );
}

#[test]
fn component_dots_are_the_sets_of_each_panel() {
    let drawn = figures(&stored("components"));
    // MSE and MAE, each with O and with O_S: eight subsets of three components a panel.
    assert_eq!(count(&drawn, "components-TSP20", "measured"), 4 * 8);
}

#[test]
fn weights_are_dots_and_instance_costs_are_horizontal_lines() {
    let drawn = figures(&stored("weighting"));
    assert_eq!(
        (
            count(&drawn, "weighting-KS32", "measured"),
            count(&drawn, "weighting-KS32", "method-line")
        ),
        (11, 3)
    );
}

#[test]
fn curves_are_those_of_the_reference_and_the_best() {
    let drawn = figures(&stored("components"));
    assert_eq!(count(&drawn, "curves-SP5x5", "curve"), 6);
    let shown = drawn
        .iter()
        .find(|figure| figure.name == "curves-SP5x5")
        .unwrap();
    assert!(shown.svg.contains(">MSE<"));
}

#[test]
fn solves_are_dots_by_kind() {
    let results = stored("weighting");
    let kinds = |method: &MethodResults| {
        method
            .solves
            .iter()
            .filter(|(_, number)| *number > 0.0)
            .count()
    };
    let expected: usize = methods(&results, "KS32").iter().map(kinds).sum();
    assert!(expected > 10);
    assert_eq!(count(&figures(&results), "solves-KS32", "dot"), expected);
}

/// A second row, on which every method decides optimally.
fn add_an_optimal_row(problem: &mut ProblemResults) {
    let mut example = problem.examples[0].clone();
    example.row += 1;
    for method in &mut problem.methods {
        method.examples.push(ExampleDecision {
            row: example.row,
            regret: 0.0,
            chosen: example.optimal.clone(),
            values: Vec::new(),
            fixed: 0.0,
            predicted: Vec::new(),
            auxiliary: Vec::new(),
        });
    }
    problem.examples.push(example);
}

#[test]
fn examples_mark_what_differs_from_the_optimal_decision() {
    let mut results = stored("components");
    add_an_optimal_row(&mut results.problems[0]);
    let problem = &results.problems[0];
    assert!(matches!(
        problem.layout,
        Some(DecisionLayout::Grid { rows: 5, cols: 5 })
    ));
    let rival = problem
        .methods
        .iter()
        .find(|method| method.is_best)
        .unwrap();
    let mut decisions: Vec<_> = problem.methods[0].examples.iter().collect();
    decisions.sort_by(|a, b| a.regret.total_cmp(&b.regret));
    let (median, worst) = (
        decisions[(decisions.len() - 1) / 2],
        decisions[decisions.len() - 1],
    );
    assert!(worst.regret > median.regret);
    let drawn = figures(&results);
    for (name, shown) in [("typical-SP5x5", median), ("examples-SP5x5", worst)] {
        let example = problem
            .examples
            .iter()
            .find(|it| it.row == shown.row)
            .unwrap();
        let other = rival
            .examples
            .iter()
            .find(|it| it.row == shown.row)
            .unwrap();
        let wrong = |chosen: &[u32]| {
            let extra = chosen.iter().filter(|arc| !example.optimal.contains(arc));
            extra.count()
        };
        let figure = drawn.iter().find(|figure| figure.name == name).unwrap();
        let document = Document::parse(&figure.svg).unwrap();
        let marks = document
            .descendants()
            .filter(|node| has_class(node, "mark") && has_class(node, "wrong"))
            .count();
        assert_eq!(marks, wrong(&shown.chosen) + wrong(&other.chosen), "{name}");
    }
    assert!(worst.chosen.iter().any(|arc| {
        let example = problem
            .examples
            .iter()
            .find(|it| it.row == worst.row)
            .unwrap();
        !example.optimal.contains(arc)
    }));
}

#[test]
fn bars_are_sorted_and_the_reference_is_marked() {
    let results = stored("scale");
    let figure = figures(&results)
        .into_iter()
        .find(|figure| figure.name == "bars-CVRP20")
        .unwrap();
    let document = Document::parse(&figure.svg).unwrap();
    let mut ratios = Vec::new();
    for group in document
        .descendants()
        .filter(|node| has_class(node, "mark"))
    {
        let index: usize = group.attribute("data-method").unwrap().parse().unwrap();
        let method = &methods(&results, "CVRP20")[index];
        ratios.extend(method.ratio.mean);
        let is_reference = method.name == results.reference;
        assert_eq!(
            has_class(&group, "neutral"),
            is_reference,
            "{}",
            method.name
        );
    }
    assert!(ratios.len() > 5 && ratios.is_sorted(), "{ratios:?}");
}

#[test]
fn bands_of_lanes_are_what_decisions_ship_and_lack() {
    let mut results = stored("components");
    let problem = &mut results.problems[0];
    let names = |prefix: &str, count: usize| (0..count).map(|it| format!("{prefix}{it}")).collect();
    problem.layout = Some(DecisionLayout::Lanes {
        sources: names("s", 5),
        destinations: names("d", 8),
    });
    let problem = &results.problems[0];
    let worst = problem.methods[0].examples.iter();
    let worst = worst.max_by(|a, b| a.regret.total_cmp(&b.regret)).unwrap();
    let example = problem.examples.iter().find(|it| it.row == worst.row);
    let optimal = &example.unwrap().optimal;
    let rival = problem.methods.iter().find(|it| it.is_best).unwrap();
    let rival = rival.examples.iter().find(|it| it.row == worst.row);
    let drawn = figures(&results);
    let figure = drawn.iter().find(|it| it.name == "examples-SP5x5").unwrap();
    let document = Document::parse(&figure.svg).unwrap();
    let bands = |class: &str| {
        let nodes = document.descendants();
        let bands = nodes.filter(|node| node.has_tag_name("polygon") && has_class(node, class));
        bands.count()
    };
    let decisions = [&worst.chosen, &rival.unwrap().chosen];
    let common = |chosen: &[u32]| chosen.iter().filter(|it| optimal.contains(it)).count();
    let shared: usize = decisions.iter().map(|chosen| common(chosen)).sum();
    let chosen: usize = decisions.iter().map(|chosen| chosen.len()).sum();
    assert_eq!(bands("pale"), optimal.len() + shared);
    assert_eq!(bands("soft"), chosen - shared);
    assert_eq!(bands("outline"), 2 * optimal.len() - shared);
    assert!(figure.svg.contains("what it ships more"));
}
