#![allow(clippy::unwrap_used, reason = "a failed step should show where")]

use std::path::Path;

use serde_json::{Value, json};

use super::{ArcTable, read_arc_files};

fn parse(arcs: Value) -> Result<ArcTable, String> {
    serde_json::from_value(arcs).map_err(|error| error.to_string())
}

#[test]
fn arcs_read_back_as_they_are_written() {
    for arcs in [
        json!([["a", "b"], ["b", "c"], ["a", "c"]]),
        json!([[3, 10], [10, 7]]),
        json!([["a", "b", "first"], ["a", "b", "second"]]),
        json!([[1, 2, "x"], [2, 1, "y"]]),
    ] {
        let table = parse(arcs.clone()).unwrap();
        assert_eq!(json!(table), arcs);
        assert_eq!(parse(json!(table)).unwrap(), table);
    }
}

#[test]
fn nodes_that_are_numbers_are_in_their_order() {
    let table = parse(json!([[0, 10], [10, 2], [2, 0]])).unwrap();
    assert_eq!(table.nodes().list(), ["0", "2", "10"]);
    assert_eq!(table.ends(), [[0, 2], [2, 1], [1, 0]]);
    assert_eq!(table.nodes().place("10"), Some(2));
    let named = parse(json!([["b", "a"], ["a", 10]])).unwrap();
    assert_eq!(named.nodes().list(), ["b", "a", "10"]);
}

#[test]
fn arcs_are_named_by_their_ends_where_these_differ() {
    let names = |arcs: Value| {
        parse(arcs)
            .unwrap()
            .cost_names()
            .map(|names| names.to_vec())
    };
    let of_ends = names(json!([["a", "b"], [2.0, "b"]]));
    assert_eq!(of_ends, Some(vec!["a-b".into(), "2-b".into()]));
    assert_eq!(names(json!([["a", "b"], ["a", "b"]])), None);
    let own = names(json!([["a", "b", "north"], ["a", "b", "south"]]));
    assert_eq!(own, Some(vec!["north".into(), "south".into()]));
}

#[test]
fn arcs_without_a_name_among_named_ones_are_named_by_their_ends() {
    let table = parse(json!([["a", "b"], ["a", "b", "bridge"], ["b", 3, ""]])).unwrap();
    let names = table.cost_names().unwrap().to_vec();
    assert_eq!(names, ["a-b", "bridge", "b-3"]);
    assert_eq!(parse(json!(table)).unwrap(), table);
    for arcs in [
        json!([["a", "b"], ["b", "c", "a-b"]]),
        json!([["a", "b"], ["b", "c", "x"], ["a", "b"]]),
    ] {
        let message = parse(arcs).unwrap_err();
        assert!(
            message.contains("arc 0 has no name") && message.contains("'a-b'"),
            "{message}"
        );
    }
    let rows = "from,to,name\na,b,\nb,c,ring road\n";
    let columns = json!({"arcs": {"file": "arcs.csv", "name": "name"}});
    let problem = read(rows, columns).unwrap();
    assert_eq!(
        problem["arcs"],
        json!([["a", "b", "a-b"], ["b", "c", "ring road"]])
    );
}

#[test]
fn what_is_no_arc_is_refused() {
    for (arcs, expected) in [
        (json!([]), "there is no arc"),
        (json!([["a"]]), "arc 0 is not [from, to]"),
        (json!([["a", "b", "c", "d"]]), "arc 0 is not [from, to]"),
        (
            json!([["a", "b"], ["c", "c"]]),
            "arc 1 leads from node 'c' to itself",
        ),
        (json!([["a", ""]]), "a node of arc 0 has no name"),
        (json!([["a", 1.5]]), "1.5 is no node"),
        (json!([["a", "b", "x"], ["b", "c", "x"]]), "x"),
        (json!("arcs.csv"), "a list with [from, to]"),
    ] {
        let message = parse(arcs).unwrap_err();
        assert!(message.contains(expected), "{message}");
    }
}

fn read(content: &str, problem: Value) -> Result<Value, String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("arcs.csv"), content).unwrap();
    let mut problem = problem;
    read_arc_files(&mut problem, folder.path())
        .map(|()| problem)
        .map_err(|error| error.to_string())
}

#[test]
fn a_file_of_arcs_becomes_a_list_with_its_numbers() {
    let content = "id,tail,head,cap\nr1,A,B,3\nr2,B,C,\n";
    let file = json!({"file": "arcs.csv", "from": "tail", "to": "head", "name": "id",
                      "capacity": "cap"});
    let found = read(content, json!({"kind": "min_cost_flow", "arcs": file})).unwrap();
    assert_eq!(found["arcs"], json!([["A", "B", "r1"], ["B", "C", "r2"]]));
    assert_eq!(found["capacity"], json!([3.0, null]));
    let semicolons = json!({"edges": {"file": "arcs.csv", "delimiter": ";"}});
    let found = read("from;to\n1;2\n2;3.0\n", semicolons).unwrap();
    assert_eq!(found["edges"], json!([[1, 2], [2, 3]]));
}

#[test]
fn errors_in_a_file_of_arcs_have_row_and_column() {
    let file = json!({"arcs": {"file": "arcs.csv"}});
    for (content, expected) in [
        ("from,to\nA,B\nB,\n", "row 3, column to: the cell is empty"),
        (
            "from,to\nA,B\nC,C\n",
            "row 3, column to: this arc leads from a node to itself",
        ),
        ("from,head\nA,B\n", "column to: there is no such column"),
        ("from,to\n", "no row of data"),
    ] {
        let message = read(content, file.clone()).unwrap_err();
        assert!(message.contains(expected), "{message}");
    }
    let number = json!({"arcs": {"file": "arcs.csv", "capacity": "cap"}});
    let message = read("from,to,cap\nA,B,2\nB,C,many\n", number).unwrap_err();
    assert!(
        message.contains("row 3, column cap: 'many' is not a number"),
        "{message}"
    );
    let twice = json!({"arcs": {"file": "arcs.csv", "capacity": "cap"}, "capacity": [1.0]});
    let message = read("from,to,cap\nA,B,2\n", twice).unwrap_err();
    assert!(message.contains("`capacity` is stated twice"), "{message}");
    let nameless = read("from,to\nA,B\n", json!({"arcs": {"from": "from"}})).unwrap_err();
    assert!(nameless.contains("arcs has no `file`"), "{nameless}");
    let missing = read_arc_files(
        &mut json!({"arcs": {"file": "no_such.csv"}}),
        Path::new("nowhere"),
    );
    let missing = missing.unwrap_err().to_string();
    assert!(missing.contains("no_such.csv"), "{missing}");
}
