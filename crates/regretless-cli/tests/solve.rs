//! Published instances and models, solved with their own costs.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::path::PathBuf;

use common::TestWorkspace;

const SQUARE: &str = "NAME : square\nTYPE : TSP\nDIMENSION : 4\nEDGE_WEIGHT_TYPE : \
    EUC_2D\nNODE_COORD_SECTION\n\
                      1 0 0\n2 0 10\n3 10 0\n4 10 10\nEOF\n";
const FLEET: &str = "NAME : toy-n4-k2\nTYPE : CVRP\nDIMENSION : 4\nCAPACITY : 10\nEDGE_WEIGHT_TYPE \
    : EUC_2D\n\
                     NODE_COORD_SECTION\n1 0 0\n2 0 3\n3 4 0\n4 4 3\nDEMAND_SECTION\n1 0\n2 9\n3 \
                     5\n4 5\n\
                     DEPOT_SECTION\n1\n-1\nEOF\n";
const KNAPSACKS: &str = "2\n3 1 0\n6 5 4\n3 2 2\n4\n2 1 7\n7 1\n1 1\n1\n";
const MODEL: &str =
    "max\n obj: 3 x + 2 y\nst\n c: x + y <= 4.5\nbounds\n x <= 2\ngeneral\n x y\nend\n";

fn workspace() -> TestWorkspace {
    let workspace = TestWorkspace::new();
    let files = [
        ("square.tsp", SQUARE),
        ("toy.vrp", FLEET),
        ("ks.txt", KNAPSACKS),
        ("m.lp", MODEL),
    ];
    files
        .iter()
        .for_each(|(name, text)| workspace.write(name, text));
    workspace
}

#[test]
fn a_tour_is_reported_and_written() {
    let workspace = workspace();
    let report = workspace
        .run("solve square.tsp --out best.tour --json")
        .json();
    assert_eq!(
        (&report[0]["objective"], &report[0]["bound"]),
        (&40.0.into(), &40.0.into())
    );
    assert_eq!(
        (&report[0]["status"], &report[0]["gap"]),
        (&"optimal".into(), &0.0.into())
    );
    assert!(
        workspace
            .read("best.tour")
            .ends_with("TOUR_SECTION\n1\n2\n4\n3\n-1\nEOF\n")
    );
    let shown = workspace.run("solve square.tsp").succeeded().out;
    assert!(
        shown.contains("objective  40\n") && shown.contains("gap        0.00 %"),
        "{shown}"
    );
}

#[test]
fn one_solution_may_go_to_standard_output_and_several_may_not() {
    let workspace = workspace();
    let run = workspace.run("solve square.tsp --out -").succeeded();
    workspace
        .run("solve square.tsp --out best.tour")
        .succeeded();
    assert_eq!(run.out, workspace.read("best.tour"));
    assert!(run.err.contains("objective  40\n"), "{}", run.err);
    assert!(!workspace.path("-").exists());
    let run = workspace.run("solve square.tsp square.tsp --out -");
    assert_eq!(run.code, 2, "{}", run.err);
    assert!(
        run.err
            .contains("--out - writes the solution of one problem")
    );
    assert!(!workspace.path("-").exists());
}

#[test]
fn routes_may_serve_one_customer_or_must_not() {
    let workspace = workspace();
    assert_eq!(
        workspace.run("solve toy.vrp --out best.sol --json").json()[0]["objective"],
        18.0
    );
    assert_eq!(
        workspace.read("best.sol"),
        "Route #1: 1\nRoute #2: 2 3\nCost 18\n"
    );
    workspace
        .run("solve toy.vrp --single-customer-routes false")
        .refused(4, &["infeasible", "no decision is feasible"]);
}

#[test]
fn several_knapsacks_of_a_file_are_reported_as_a_table() {
    let workspace = workspace();
    let report = workspace.run("solve ks.txt --json --out chosen").json();
    assert_eq!(
        (&report[0]["objective"], &report[1]["objective"]),
        (&9.0.into(), &7.0.into())
    );
    assert_eq!(
        workspace.read("chosen/ks#1.csv"),
        "name,value\nitem1,1\nitem2,1\n"
    );
    assert_eq!(
        workspace
            .run("solve ks.txt --problem-number 2 --json")
            .json()[0]["problem"],
        "ks#2"
    );
    workspace
        .run("solve ks.txt --problem-number 3")
        .refused(2, &["has the problems 1 to 2"]);
    let relaxed = workspace
        .run("solve ks.txt --relax --problem-number 1 --json")
        .json();
    assert_eq!(
        (&relaxed[0]["objective"], &relaxed[0]["status"]),
        (&9.0.into(), &"relaxed".into())
    );
}

#[test]
fn a_linear_model_keeps_its_sense_and_names() {
    let workspace = workspace();
    assert_eq!(
        workspace.run("solve m.lp --out x.csv --json").json()[0]["objective"],
        10.0
    );
    assert_eq!(workspace.read("x.csv"), "name,value\nx,2\ny,2\n");
    assert_eq!(
        workspace.run("solve m.lp --relax --json").json()[0]["objective"],
        11.0
    );
    workspace.write(
        "infeasible.lp",
        "min\n obj: x\nst\n c: x >= 3\nbounds\n x <= 2\nend\n",
    );
    workspace.write("unbounded.lp", "max\n obj: x\nst\n c: x >= 3\nend\n");
    for status in ["infeasible", "unbounded"] {
        workspace
            .run(&format!("solve {status}.lp"))
            .refused(4, &[status]);
    }
}

#[test]
fn one_bad_file_does_not_stop_the_others() {
    let workspace = workspace();
    workspace.write(
        "broken.tsp",
        "NAME : x\nDIMENSION : 3\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n1 0 zero\n",
    );
    workspace.write("broken.mps", "NAME t\nROWS\n N obj\n Q what\nENDATA\n");
    let output = workspace.run("solve broken.tsp square.tsp broken.mps --out tours");
    assert_eq!(output.code, 3, "{}", output.err);
    assert!(
        output.out.contains("square") && output.out.contains("40"),
        "{}",
        output.out
    );
    for words in ["broken.tsp, row 5", "broken.mps, row 4"] {
        assert!(
            output.out.contains(words),
            "{words} is not in {}",
            output.out
        );
    }
    workspace
        .run("solve missing.tsp")
        .refused(3, &["missing.tsp"]);
    workspace.write("odd.dat", "hello\n");
    workspace
        .run("solve odd.dat")
        .refused(2, &["format", "tsplib"]);
}

#[test]
fn outputs_are_not_replaced_unless_forced() {
    let workspace = workspace();
    workspace.write("best.tour", "mine");
    workspace
        .run("solve square.tsp --out best.tour")
        .refused(3, &["exists already"]);
    assert_eq!(workspace.read("best.tour"), "mine");
    workspace
        .run("solve square.tsp --out best.tour --force")
        .succeeded();
}

#[test]
fn published_files_reach_their_optima() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
    let workspace = TestWorkspace::new();
    let cases = [
        ("tsplib/berlin52.tsp", 7542.0),
        ("cvrp/P-n16-k8.vrp", 450.0),
        ("mps/flugpl.mps", 1_201_500.0),
        ("mps/p0033.mps", 3089.0),
    ];
    for (file, optimum) in cases {
        let report = workspace
            .run(&format!("solve {} --json", folder.join(file).display()))
            .json();
        let objective = report[0]["objective"].as_f64().unwrap();
        assert!(
            (objective - optimum).abs() <= 1e-6 * optimum,
            "{file}: {objective}"
        );
    }
}

fn tour(head: &str, weights: &str) -> String {
    format!(
        "NAME: t\nTYPE: TSP\nDIMENSION: 4\n{head}EDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: \
            UPPER_ROW\n\
         EDGE_WEIGHT_SECTION\n{weights}\nEOF\n"
    )
}

#[test]
fn numbers_that_would_overflow_are_refused_and_the_other_files_are_solved() {
    let workspace = workspace();
    workspace.write("bad.tsp", &tour("", "1 2 3\n4 -1e308\n6"));
    let output = workspace.run("solve square.tsp bad.tsp m.lp --json");
    assert_eq!(output.code, 3, "{}", output.err);
    let report: serde_json::Value = serde_json::from_str(&output.out).unwrap();
    assert_eq!(
        (&report[0]["status"], &report[2]["status"]),
        (&"optimal".into(), &"optimal".into())
    );
    assert!(
        output.err.contains("bad.tsp, row 8") && output.err.contains("-1e308"),
        "{}",
        output.err
    );
    let far = SQUARE.replace("10 10", "1e300 10");
    workspace.write("far.tsp", &far);
    workspace
        .run("solve far.tsp")
        .refused(3, &["far.tsp, row 9", "1e300"]);
    workspace.write("ks.txt", &KNAPSACKS.replace("6 5 4", "6 1e200 4"));
    workspace
        .run("solve ks.txt")
        .refused(3, &["ks.txt, row 3", "1e200"]);
    workspace.write("m.lp", &MODEL.replace("3 x", "3 x + 1e308"));
    workspace
        .run("solve m.lp")
        .refused(3, &["m.lp", "constant"]);
}

#[test]
fn routing_files_that_contradict_themselves_are_refused_by_line() {
    let workspace = workspace();
    workspace.write("twice.tsp", &tour("DIMENSION: 3\n", "1 2 3\n4 5\n6"));
    workspace
        .run("solve twice.tsp")
        .refused(3, &["twice.tsp, row 4", "second time"]);
    workspace.write(
        "two.tsp",
        &SQUARE
            .replace("DIMENSION : 4", "DIMENSION : 2")
            .replace("3 10 0\n4 10 10\n", ""),
    );
    workspace
        .run("solve two.tsp")
        .refused(3, &["two.tsp", "3 to 20000 nodes"]);
    workspace.write(
        "toy.vrp",
        &FLEET.replace("DEMAND_SECTION\n1 0", "DEMAND_SECTION\n1 4"),
    );
    workspace
        .run("solve toy.vrp")
        .refused(3, &["toy.vrp", "depot that demands 4"]);
    workspace.write(
        "toy.vrp",
        &FLEET.replace("DEPOT_SECTION\n1", "DEPOT_SECTION\n2"),
    );
    let output = workspace.run("solve toy.vrp");
    assert!(
        output.err.contains("first node") && !output.err.contains("vehicles"),
        "{}",
        output.err
    );
    workspace.write("toy.vrp", &FLEET.replace("toy-n4-k2", "toy"));
    workspace
        .run("solve toy.vrp")
        .refused(3, &["toy.vrp", "number of vehicles"]);
}

#[test]
fn nothing_but_results_is_on_standard_output() {
    let workspace = workspace();
    for row in [
        "b = 1 - > x + y <= 4",
        "b = 1 -\n > x + y <= 4",
        "x + > 3",
        "b = 1 -> x + y <= 4",
    ] {
        workspace.write(
            "m.lp",
            &MODEL.replace("c: x + y <= 4.5", &format!("c: {row}")),
        );
        let output = workspace.run("solve m.lp --json");
        assert_eq!(output.code, 3, "{row}: {}", output.err);
        let report: serde_json::Value = serde_json::from_str(&output.out).unwrap();
        assert!(
            report[0]["status"]
                .as_str()
                .unwrap()
                .contains("conditional"),
            "{report}"
        );
    }
}

#[test]
fn large_numbers_are_written_with_a_power_of_ten() {
    let workspace = workspace();
    workspace.write("big.tsp", &tour("", "1e90 1e90 1e90\n1e90 1e90\n1e90"));
    let report = workspace.run("solve big.tsp").succeeded().out;
    assert!(report.contains("objective  4e90"), "{report}");
}

/// A fixed-format file with blanks in names.
const FIXED_MPS: &str = "\
NAME          T
ROWS
 N  COST
 L  LIM ONE
COLUMNS
    A B       COST                -1   LIM ONE              1
RHS
    RHS       LIM ONE              4
ENDATA
";

/// Two problems in the layout of OR-Library's `mknap2.txt`; the optimum is the last number of each.
const MKNAP2: &str = "\
Knapsacks with several constraints.
++++++++++++++++++
problem ONE.DAT
1 3
the profits
10 20 30
50
10 20 30
50
++++++++++++++++++
problem TWO.DAT
2 4
7 5 4 3
10 8
5 4 3 2
4 3 2 1
14
";

#[test]
fn knapsacks_with_text_between_their_numbers_reach_the_optimum_in_the_file() {
    let workspace = TestWorkspace::new();
    workspace.write("mknap2.txt", MKNAP2);
    let run = workspace.run("solve mknap2.txt --json").succeeded();
    let report: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    let objectives: Vec<f64> = report
        .as_array()
        .unwrap()
        .iter()
        .map(|problem| problem["objective"].as_f64().unwrap())
        .collect();
    assert_eq!(objectives, [50.0, 14.0]);
    let one = workspace
        .run("solve mknap2.txt --problem-number 2")
        .succeeded();
    assert!(one.out.contains("14") && !one.out.contains("mknap2#1"));
}

#[test]
fn compressed_files_are_solved_like_their_content() {
    use std::io::Write;
    let workspace = TestWorkspace::new();
    let lp = "maximize\n obj: 3 x + 2 y\nsubject to\n c: x + y <= 4\n x <= 2\nend\n";
    let mps = FIXED_MPS;
    let tsp = "TYPE: TSP (M.~Someone)\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EUC_2D\nEDGE_WEIGHT_FORMAT: \
        FUNCTION\nNODE_COORD_SECTION\n1 0 0\n2 3 4\n3 6 0\nEOF\n";
    for (name, text, objective) in [
        ("m.lp", lp, "10"),
        ("m.mps", mps, "-4"),
        ("t.tsp", tsp, "16"),
        ("mknap2.txt", MKNAP2, "50"),
    ] {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(text.as_bytes()).unwrap();
        let bytes = gzip.finish().unwrap();
        let file = format!("{name}.gz");
        std::fs::write(workspace.path(&file), &bytes).unwrap();
        let run = workspace.run(&format!("solve {file}")).succeeded();
        assert!(run.out.contains(objective), "{file}: {}", run.out);
        std::fs::write(workspace.path(&file), &bytes[..bytes.len() - 9]).unwrap();
        let run = workspace.run(&format!("solve {file}"));
        assert_eq!(run.code, 3, "{file}: {}", run.out);
        assert!(run.out.contains("damaged"), "{file}: {}", run.out);
    }
}

#[test]
fn names_with_blanks_of_a_fixed_file_are_written() {
    let workspace = TestWorkspace::new();
    workspace.write("m.mps", FIXED_MPS);
    workspace.run("solve m.mps --out m.csv").succeeded();
    assert_eq!(workspace.read("m.csv"), "name,value\nA B,4\n");
}
