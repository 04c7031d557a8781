//! Grids with other ends and closed arcs, compared with the list of all their paths.

use regretless::decision::Decision;
use regretless::problem::{GridPath, ProblemKind, ProblemSpec};
use regretless::random::{Purpose, RandomStream};
use regretless::solve::SearchLimits;
use regretless::solve::relaxation::{CostRangeKind, Relaxation};

/// A grid of random size, ends and closed arcs; those without a path are drawn again.
fn random_grid(stream: &mut RandomStream) -> GridPath {
    loop {
        let (rows, cols) = (1 + stream.index_below(4), 2 + stream.index_below(4));
        let grid = GridPath::new(rows, cols).unwrap();
        let nodes = rows * cols;
        let [source, target] = match stream.index_below(3) {
            0 => [0, nodes - 1],
            _ => [stream.index_below(nodes), stream.index_below(nodes)],
        };
        let closes = stream.index_below(4) > 0;
        let present = (0..grid.num_costs()).map(|_| !closes || stream.index_below(5) > 0);
        let present: Vec<bool> = present.collect();
        if let Ok(restricted) = grid.restricted(source, target, Some(present)) {
            return restricted;
        }
    }
}

/// Tail and head of an arc, by counting arcs row by row.
fn arcs(grid: &GridPath) -> Vec<[usize; 2]> {
    let (rows, cols) = (grid.rows(), grid.cols());
    let mut arcs = Vec::new();
    for row in 0..rows {
        for col in 0..cols - 1 {
            arcs.push([row * cols + col, row * cols + col + 1]);
        }
        if row + 1 < rows {
            for col in 0..cols {
                arcs.push([row * cols + col, (row + 1) * cols + col]);
            }
        }
    }
    arcs
}

/// All paths, as increasing lists of arcs.
fn paths(grid: &GridPath) -> Vec<Vec<u32>> {
    let arcs = arcs(grid);
    let is_open = |arc: usize| grid.present_costs().is_none_or(|present| present[arc]);
    let (mut complete, mut partial) = (Vec::new(), vec![(grid.source(), Vec::new())]);
    while let Some((node, path)) = partial.pop() {
        if node == grid.target() {
            complete.push(path);
            continue;
        }
        for (arc, [tail, head]) in arcs.iter().enumerate() {
            if *tail == node && is_open(arc) {
                let mut longer = path.clone();
                longer.push(arc as u32);
                partial.push((*head, longer));
            }
        }
    }
    complete
}

fn length(path: &[u32], costs: &[f64]) -> f64 {
    path.iter().map(|arc| costs[*arc as usize]).sum()
}

fn shortest<'a>(paths: impl Iterator<Item = &'a Vec<u32>>, costs: &[f64]) -> f64 {
    paths
        .map(|path| length(path, costs))
        .fold(f64::INFINITY, f64::min)
}

/// Costs of open arcs; those of closed arcs must never be read.
fn random_costs(stream: &mut RandomStream, grid: &GridPath) -> Vec<f64> {
    let mut costs: Vec<f64> = (0..grid.num_costs())
        .map(|_| stream.uniform(-3.0, 5.0))
        .collect();
    for (cost, present) in costs
        .iter_mut()
        .zip(grid.present_costs().unwrap_or_default())
    {
        if !present {
            *cost = f64::NAN;
        }
    }
    costs
}

/// A grid with its paths, costs, and shortest path.
struct Case {
    grid: GridPath,
    paths: Vec<Vec<u32>>,
    costs: Vec<f64>,
    best: Vec<u32>,
    min: f64,
}

fn cases(seed: u64, count: u64) -> impl Iterator<Item = (Case, RandomStream)> {
    (0..count).map(move |case| {
        let mut stream = RandomStream::new(Purpose::Benchmark, seed, [case, 0]);
        let grid = random_grid(&mut stream);
        let costs = random_costs(&mut stream, &grid);
        let paths = paths(&grid);
        let min = shortest(paths.iter(), &costs);
        let solution = grid.solver(&SearchLimits::default()).solve(&costs).unwrap();
        let best = solution.decision.indices().to_vec();
        let case = Case {
            grid,
            paths,
            costs,
            best,
            min,
        };
        (case, stream)
    })
}

fn assert_near(actual: f64, expected: f64, context: &str) {
    let is_near = actual == expected || (actual - expected).abs() < 1e-9;
    assert!(is_near, "{context}: {actual}, expected {expected}");
}

#[test]
fn the_shortest_of_all_paths_is_found_and_only_paths_are_accepted() {
    for (case, mut stream) in cases(201, 400) {
        let Case {
            grid, paths, costs, ..
        } = &case;
        let best = Decision::from_indices(case.best.iter().copied());
        grid.check(&best).unwrap();
        assert_near(best.dot(costs), case.min, "optimum");
        let mut relaxation = grid
            .capabilities()
            .sensitivity
            .relaxation_solver(Relaxation::Plain, &SearchLimits::default())
            .unwrap();
        assert_eq!(relaxation.relax(costs).unwrap().decision, best);
        for path in paths {
            grid.check(&Decision::from_indices(path.iter().copied()))
                .unwrap();
        }
        for _ in 0..20 {
            let subset: Vec<u32> = (0..grid.num_costs() as u32)
                .filter(|_| stream.index_below(2) == 0)
                .collect();
            let decision = Decision::from_indices(subset.iter().copied());
            assert_eq!(grid.check(&decision).is_ok(), paths.contains(&subset));
        }
        // A path of the whole grid that uses a closed arc or has other ends.
        let whole = GridPath::new(grid.rows(), grid.cols()).unwrap();
        for path in self::paths(&whole) {
            let is_path = grid
                .check(&Decision::from_indices(path.iter().copied()))
                .is_ok();
            assert_eq!(is_path, paths.contains(&path));
        }
    }
}

#[test]
fn a_grid_between_two_nodes_is_solved_as_the_smaller_grid() {
    let whole = GridPath::new(4, 5).unwrap();
    let part = whole.restricted(6, 18, None).unwrap();
    let small = GridPath::new(3, 3).unwrap();
    let mut stream = RandomStream::new(Purpose::Benchmark, 202, [0, 0]);
    let arcs = arcs(&whole);
    let is_inside = |node: usize| node / 5 >= 1 && (1..=3).contains(&(node % 5));
    let inside: Vec<usize> = (0..arcs.len())
        .filter(|arc| arcs[*arc].iter().all(|node| is_inside(*node)))
        .collect();
    assert_eq!(inside.len(), small.num_costs());
    for case in 0..50 {
        // Integers have ties.
        let costs: Vec<f64> = (0..whole.num_costs())
            .map(|_| match case % 2 {
                0 => stream.index_below(3) as f64,
                _ => stream.uniform(-1.0, 1.0),
            })
            .collect();
        let small_costs: Vec<f64> = inside.iter().map(|arc| costs[*arc]).collect();
        let limits = SearchLimits::default();
        let solution = part.solver(&limits).solve(&costs).unwrap();
        let expected = small.solver(&limits).solve(&small_costs).unwrap();
        assert_eq!(solution.objective.to_bits(), expected.objective.to_bits());
        let numbers = expected.decision.indices().iter();
        let numbers: Vec<u32> = numbers.map(|arc| inside[*arc as usize] as u32).collect();
        assert_eq!(solution.decision.indices(), numbers);
    }
}

#[test]
fn exact_ranges_equal_those_from_all_paths() {
    let mut finite = 0;
    for (case, _) in cases(203, 300) {
        let Case {
            grid,
            paths,
            costs,
            best,
            min,
        } = &case;
        let mut ranging = grid
            .capabilities()
            .sensitivity
            .cost_ranging(CostRangeKind::Exact, &SearchLimits::default())
            .unwrap();
        let ranges = ranging.ranges(costs).unwrap();
        for arc in 0..grid.num_costs() {
            let is_used = best.contains(&(arc as u32));
            let others = paths
                .iter()
                .filter(|path| path.contains(&(arc as u32)) != is_used);
            let excess = shortest(others, costs) - min;
            let (lower, upper) = if excess == f64::INFINITY {
                (f64::NEG_INFINITY, f64::INFINITY)
            } else if is_used {
                (f64::NEG_INFINITY, costs[arc] + excess)
            } else {
                (costs[arc] - excess, f64::INFINITY)
            };
            assert_near(ranges.lower[arc], lower, "lower end");
            assert_near(ranges.upper[arc], upper, "upper end");
            finite += usize::from(excess.is_finite());
        }
    }
    assert!(finite > 800, "only {finite} finite ends");
}

#[cfg(feature = "highs")]
#[test]
fn basis_ranges_lie_within_the_exact_ones() {
    for (case, _) in cases(204, 150) {
        let ranges = |kind: CostRangeKind| {
            let ranging = case
                .grid
                .capabilities()
                .sensitivity
                .cost_ranging(kind, &SearchLimits::default());
            ranging.unwrap().ranges(&case.costs).unwrap()
        };
        let (basis, exact) = (ranges(CostRangeKind::Basis), ranges(CostRangeKind::Exact));
        let present = case.grid.present_costs();
        for arc in 0..case.costs.len() {
            assert!(basis.lower[arc] >= exact.lower[arc] - 1e-6);
            assert!(basis.upper[arc] <= exact.upper[arc] + 1e-6);
            if present.is_some_and(|present| !present[arc]) {
                assert_eq!(
                    [basis.lower[arc], basis.upper[arc]],
                    [f64::NEG_INFINITY, f64::INFINITY]
                );
            }
        }
    }
}

/// Two paths are adjacent if they differ in one detour: the arcs of the one that the other lacks
/// are consecutive, and the nodes between them are not on the other.
fn are_adjacent(grid: &GridPath, one: &[u32], other: &[u32]) -> bool {
    let arcs = arcs(grid);
    let lacking: Vec<usize> = (0..one.len())
        .filter(|step| !other.contains(&one[*step]))
        .collect();
    let (Some(first), Some(last)) = (lacking.first(), lacking.last()) else {
        return false;
    };
    let visits = |node: usize| other.iter().any(|arc| arcs[*arc as usize][1] == node);
    let between = &one[*first..*last];
    last - first + 1 == lacking.len() && !between.iter().any(|arc| visits(arcs[*arc as usize][1]))
}

#[test]
fn adjacent_vertices_are_those_of_all_paths() {
    let mut count = 0;
    for (case, _) in cases(205, 300) {
        let mut search = case
            .grid
            .capabilities()
            .sensitivity
            .adjacent_vertices(&SearchLimits::default())
            .unwrap();
        let (solution, deltas) = search.adjacent_vertices(&case.costs).unwrap();
        assert_eq!(solution.decision.indices(), case.best);
        let mut found: Vec<Vec<u32>> = Vec::new();
        for delta in &deltas {
            let mut path = case.best.clone();
            for (arc, change) in delta.iter() {
                if change > 0.0 {
                    path.push(arc as u32);
                } else {
                    path.retain(|other| *other as usize != arc);
                }
            }
            path.sort_unstable();
            found.push(path);
        }
        found.sort();
        let adjacent = case
            .paths
            .iter()
            .filter(|path| are_adjacent(&case.grid, &case.best, path));
        let mut expected: Vec<Vec<u32>> = adjacent.cloned().collect();
        expected.sort();
        assert_eq!(found, expected);
        count += found.len();
    }
    assert!(count > 300, "only {count} adjacent vertices");
}

#[test]
fn a_path_is_shortest_under_exactly_the_costs_of_its_cone() {
    for (case, mut stream) in cases(206, 100) {
        let best = Decision::from_indices(case.best.iter().copied());
        let cone = case.grid.capabilities().geometry.cone(&best).unwrap();
        let without_nan = |cost: &f64| if cost.is_nan() { -7.0 } else { *cost };
        let negated: Vec<f64> = case
            .costs
            .iter()
            .map(without_nan)
            .map(|cost| -cost)
            .collect();
        for (actual, expected) in cone.project(&negated).iter().zip(&negated) {
            assert_near(*actual, *expected, "projection of a vector in the cone");
        }
        let arbitrary: Vec<f64> = (0..negated.len())
            .map(|_| stream.uniform(-3.0, 3.0))
            .collect();
        let within: Vec<f64> = cone
            .project(&arbitrary)
            .iter()
            .map(|entry| -entry)
            .collect();
        let min = shortest(case.paths.iter(), &within);
        assert!(length(&case.best, &within) - min < 1e-7);
    }
}

#[test]
fn problem_files_name_nodes_by_number_or_row_and_column() {
    let read = |text: &str| {
        let spec: Result<ProblemSpec, _> = serde_json::from_str(text);
        spec.map_err(|error| error.to_string())
    };
    let plain = r#"{"kind":"grid_path","grid":[2,3]}"#;
    let same = [
        plain,
        r#"{"kind":"grid_path","grid":[2,3],"source":0,"target":5.0}"#,
        r#"{"kind":"grid_path","grid":[2,3],"source":[0,0],"present":[1,1,true,1,1,1,1]}"#,
    ];
    for text in same {
        assert_eq!(serde_json::to_string(&read(text).unwrap()).unwrap(), plain);
    }
    let restricted = r#"{"kind":"grid_path","grid":[2,3],"source":1,"target":4}"#;
    let pairs = r#"{"kind":"grid_path","grid":[2,3],"source":[0,1],"target":[1,1]}"#;
    assert_eq!(read(pairs).unwrap(), read(restricted).unwrap());
    let closed = r#"{"kind":"grid_path","grid":[2,3],"present":[1,0,1,1,1,1,1]}"#;
    for text in [restricted, closed] {
        assert_eq!(serde_json::to_string(&read(text).unwrap()).unwrap(), text);
    }
    let wrong = [
        (
            r#""source":6"#,
            "source is 6, which is no node of a 2x3 grid",
        ),
        (r#""target":1.5"#, "target is 1.5, which is no node"),
        (r#""target":-1"#, "target is -1, which is no node"),
        (r#""target":[2,0]"#, "target is [2, 0], which is no node"),
        (r#""target":"x""#, "a node is a number"),
        (
            r#""source":4,"target":1"#,
            "node 1 (row 0, column 1) cannot be reached from node 4",
        ),
        (r#""source":1,"target":3"#, "arcs lead right and down only"),
        (
            r#""present":[0,1,0,1,1,1,1]"#,
            "the arcs between them are closed",
        ),
        (r#""present":[1,1]"#, "has 2 values for 7 arcs"),
        (r#""present":[1,1,1,2,1,1,1]"#, "each is 0 or 1"),
    ];
    for (fields, expected) in wrong {
        let text = format!(r#"{{"kind":"grid_path","grid":[2,3],{fields}}}"#);
        let message = read(&text).unwrap_err();
        assert!(message.contains(expected), "{fields}: {message}");
    }
}
