//! Row parameters in tables: columns of the table, files of their own, and their errors.

use std::path::PathBuf;
use std::sync::Arc;

use regretless::data::WantedFeatures;
use regretless::data::{
    CsvDialect, Dataset, Layout, ParameterColumns, ProblemColumns, RowParameters, TableSource,
    WideColumns,
};
use regretless::error::{InputPlace, Result};
use regretless::{Error, ErrorKind};

use super::{Folder, long, strings, wide};

pub(super) fn wanted(pattern: &str, count: usize) -> ParameterColumns {
    ParameterColumns {
        pattern: pattern.into(),
        count,
        names: None,
    }
}

pub(super) fn source(file: PathBuf, layout: Layout) -> TableSource {
    TableSource::Csv {
        file,
        layout,
        dialect: CsvDialect::default(),
        parameters: Vec::new(),
    }
}

/// The numbers of every row, in the order of the parameters.
pub(super) fn numbers(parameters: &RowParameters, wanted: &[ParameterColumns]) -> Vec<Vec<f64>> {
    let bound = Arc::new(parameters.clone()).bind(wanted).unwrap();
    let mut rows = Vec::new();
    for row in 0..parameters.rows() {
        let mut numbers = Vec::new();
        bound.read(row, &mut numbers);
        rows.push(numbers);
    }
    rows
}

fn read(text: &str, layout: &Layout, parameters: &[ParameterColumns]) -> Result<Dataset> {
    let folder = Folder::new();
    source(folder.file("t.csv", text), layout.clone()).read_columns(&asking(parameters))
}

pub(super) fn asking(parameters: &[ParameterColumns]) -> ProblemColumns<'_> {
    ProblemColumns {
        parameters,
        ..ProblemColumns::default()
    }
}

/// Asserts the kind, file, row and column of an error, and words of its message.
pub(super) fn assert_error(
    error: &Error,
    file: &str,
    row: impl Into<Option<u64>>,
    column: impl Into<Option<&'static str>>,
    words: &[&str],
) {
    let place = error.place().unwrap_or_default();
    let name = place.file.as_deref().and_then(|file| file.file_name());
    let expected = InputPlace {
        file: Some(file.into()),
        row: row.into(),
        column: column.into().map(str::to_owned),
    };
    let actual = InputPlace {
        file: name.map(PathBuf::from),
        ..place
    };
    assert_eq!(
        (error.kind(), actual),
        (ErrorKind::Data, expected),
        "{error}"
    );
    for word in words {
        assert!(
            error.to_string().contains(word),
            "'{word}' is not in {error}"
        );
    }
}

#[test]
fn parameters_of_a_wide_table_keep_all_digits_and_are_features_too() {
    let text = "day,capacity,w_b,x,w_a,c0,c1\nmon,0.1234567890123,2,7,1,5,6\n\
                tue,16777217,3,8,-1e300,9,9\n";
    let asked = [wanted("w_*", 2), wanted("capacity", 1), wanted("w_a", 1)];
    let error = read(text, &wide(&[], &["c0", "c1"], &[]), &asked).unwrap_err();
    assert_error(&error, "t.csv", 3, "w_a", &["single precision"]);
    let layout = wide(&[], &["c0", "c1"], &["w_a"]);
    let data = read(text, &layout, &asked).unwrap();
    let parameters = data.parameters().unwrap();
    assert_eq!(
        numbers(parameters, &asked),
        [
            [2.0, 1.0, 0.123_456_789_012_3, 1.0],
            [3.0, -1e300, 16_777_217.0, -1e300]
        ],
        "table order, and a column that is ignored as a feature is still a parameter"
    );
    assert_eq!(
        data.features().column_names(),
        ["day", "capacity", "w_b", "x"]
    );
    let folder = Folder::new();
    let source = source(folder.file("t.csv", text), layout);
    let data = source.read_columns(&asking(&asked)).unwrap();
    assert!(
        source.unused_columns(&data).unwrap().is_empty(),
        "parameters are used"
    );
    let (features, parameters) = source
        .read_feature_columns(&WantedFeatures::numbers(&strings(&["x"])), &asking(&asked))
        .unwrap();
    assert_eq!(features.values().as_slice(), [7.0, 8.0]);
    assert_eq!(parameters, **data.parameters().unwrap());
    assert_eq!(source.read().unwrap().parameters(), None);
}

#[test]
fn a_column_of_the_exact_name_comes_before_a_pattern() {
    let text = "w_*,w_a,x,c0\n1,2,3,4\n";
    let asked = [wanted("w_*", 1)];
    let data = read(text, &wide(&[], &["c0"], &[]), &asked).unwrap();
    assert_eq!(numbers(data.parameters().unwrap(), &asked), [[1.0]]);
}

#[test]
fn bounds_may_be_infinite_but_features_may_not() {
    let text = "upper,x,c0\n5,1,2\ninf,1,2\n-INF,1,2\n";
    let asked = [wanted("upper", 1)];
    let error = read(text, &wide(&[], &["c0"], &[]), &asked).unwrap_err();
    assert_error(
        &error,
        "t.csv",
        3,
        "upper",
        &["ignore the column as a feature"],
    );
    for layout in [wide(&[], &["c0"], &["upper"]), wide(&["x"], &["c0"], &[])] {
        let data = read(text, &layout, &asked).unwrap();
        assert_eq!(
            numbers(data.parameters().unwrap(), &asked),
            [[5.0], [f64::INFINITY], [f64::NEG_INFINITY]]
        );
        assert_eq!(data.features().names(), ["x"]);
    }
}

#[test]
fn invalid_parameters_are_reported_with_row_and_column() {
    let layout = wide(&["x"], &["c*"], &[]);
    let capacity = [wanted("cap", 1)];
    for (text, row, words) in [
        ("x,c0,cap\n1,2,3\n1,2,big\n", 3, "'big' is not a number"),
        ("x,c0,cap\n1,2,\n", 2, "empty"),
        ("x,c0,cap\n1,2,nan\n", 2, "'nan'"),
        ("x,c0,cap\n1,2,\"1,5\"\n", 2, "decimal point"),
        ("x,c0,cap\n1,2,1e999\n", 2, "double precision"),
    ] {
        // `cap` begins with c, too, but the problem says that it is known.
        let layout = wide(&["x"], &["c0"], &[]);
        let error = read(text, &layout, &capacity).unwrap_err();
        assert_error(&error, "t.csv", row, "cap", &[words]);
    }
    let text = "x,c0,cap,w_a,w_b\n1,2,3,4,5\n";
    let cases = [
        (wanted("kap", 1), Some("kap"), "x, c0, cap, w_a, w_b"),
        (wanted("v_*", 2), None, "no column matches 'v_*'"),
        (
            wanted("w_*", 3),
            None,
            "has 2 numbers per row, but the problem needs 3",
        ),
        (
            wanted("w_*", 1),
            None,
            "has 2 numbers per row, but the problem needs 1",
        ),
    ];
    for (parameter, column, words) in cases {
        let error = read(text, &wide(&["x"], &["c0"], &[]), &[parameter]).unwrap_err();
        assert_error(&error, "t.csv", 1, column, &[words]);
    }
    let error = read(text, &layout, &capacity).unwrap_err();
    assert_error(&error, "t.csv", 1, "cap", &["a cost and a parameter"]);
}

#[test]
fn empty_cost_cells_are_allowed_where_costs_may_be_absent() {
    let (folder, layout) = (Folder::new(), wide(&["x"], &["c*"], &[]));
    let source = source(folder.file("t.csv", "x,c0,c1\n1,2,\n1, ,3\n"), layout);
    assert_error(&source.read().unwrap_err(), "t.csv", 2, "c1", &["empty"]);
    let may_lack = ProblemColumns {
        may_have_absent_costs: true,
        ..ProblemColumns::default()
    };
    let data = source.read_columns(&may_lack).unwrap();
    let absent: Vec<bool> = data
        .costs()
        .as_slice()
        .iter()
        .map(|cost| cost.is_nan())
        .collect();
    assert_eq!(absent, [false, true, true, false]);
    folder.file("t.csv", "x,c0,c1\n1,2,nan\n");
    let error = source.read_columns(&may_lack).unwrap_err();
    assert_error(&error, "t.csv", 2, "c1", &["'nan'"]);
}

#[test]
fn parameters_of_a_pair_of_files_are_in_either() {
    let folder = Folder::new();
    let source = TableSource::CsvPair {
        features: folder.file("x.csv", "x,cap\n1,10\n2,20\n"),
        costs: folder.file("c.csv", "a,k,b\n3,1,4\n5,2,6\n"),
        columns: WideColumns::default(),
        dialect: CsvDialect::default(),
        parameters: Vec::new(),
    };
    let asked = [wanted("k", 1), wanted("cap", 1)];
    let data = source.read_columns(&asking(&asked)).unwrap();
    assert_eq!(
        numbers(data.parameters().unwrap(), &asked),
        [[1.0, 10.0], [2.0, 20.0]]
    );
    assert_eq!(data.cost_names().to_vec(), ["a", "b"]);
    assert!(source.unused_columns(&data).unwrap().is_empty());
    let TableSource::CsvPair {
        features,
        costs,
        dialect,
        ..
    } = source
    else {
        unreachable!()
    };
    let source = TableSource::CsvPair {
        features,
        costs,
        columns: WideColumns {
            costs: strings(&["*"]),
            ..WideColumns::default()
        },
        dialect,
        parameters: Vec::new(),
    };
    let error = source.read_columns(&asking(&asked)).unwrap_err();
    assert_error(&error, "c.csv", 1, "k", &["a cost and a parameter"]);
    let error = source.read_columns(&asking(&[wanted("q", 1)])).unwrap_err();
    assert_error(&error, "x.csv", 1, "q", &["x, cap"]);
    folder.file("c.csv", "a,k,b\n3,1,4\n5,two,6\n");
    let error = source.read_columns(&asking(&asked[..1])).unwrap_err();
    assert_error(&error, "c.csv", 1, "k", &["a cost and a parameter"]);
}

#[test]
fn parameters_of_a_long_table_are_per_item_or_constant_in_an_instance() {
    let text = "instance,item,x,weight,budget,lo,hi,cost\n\
                u,b,1,10,5,0,1,1\nv,a,2,20,6,0,2,2\nu,a,3,30,5,0,1,3\nv,b,4,40,6,0,2,4\n";
    let asked = [wanted("weight", 0), wanted("budget", 1), wanted("*i", 1)];
    let data = read(text, &long(Some("item")), &asked).unwrap();
    assert_eq!(
        numbers(
            data.parameters().unwrap(),
            &[wanted("weight", 2), wanted("budget", 1), wanted("hi", 1)]
        ),
        [[10.0, 30.0, 5.0, 1.0], [40.0, 20.0, 6.0, 2.0]]
    );
    assert_eq!(data.cost_names().to_vec(), ["b", "a"]);
    // As many columns as the parameter has numbers are an array of the instance.
    let text = text.replace("lo,hi", "cap_lo,cap_hi");
    let asked = [wanted("cap_*", 2)];
    let data = read(&text, &long(Some("item")), &asked).unwrap();
    assert_eq!(
        numbers(data.parameters().unwrap(), &asked),
        [[0.0, 1.0], [0.0, 2.0]]
    );
    for (asked, row, column, words) in [
        (wanted("weight", 1), 4, Some("weight"), "'u' has 10 and 30"),
        (
            wanted("size", 0),
            1,
            Some("size"),
            "the problem needs this column",
        ),
        (wanted("*t", 0), 1, None, "matches 3 columns"),
        (wanted("cost", 0), 1, Some("cost"), "a cost and a parameter"),
        (wanted("item", 0), 2, Some("item"), "'b' is not a number"),
    ] {
        let error = read(&text, &long(Some("item")), &[asked]).unwrap_err();
        assert_error(&error, "t.csv", row, column, &[words]);
    }
}

/// The bytes of an NPY file in double precision and C order.
fn npy_f64(shape: &str, values: &[f64]) -> Vec<u8> {
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    let length = (10 + header.len() + 1).next_multiple_of(64) - 10;
    bytes.extend((length as u16).to_le_bytes());
    bytes.extend(format!("{header:<width$}\n", width = length - 1).bytes());
    for value in values {
        bytes.extend(value.to_le_bytes());
    }
    bytes
}

fn with_files(source: &TableSource, files: &[String]) -> TableSource {
    let mut source = source.clone();
    match &mut source {
        TableSource::Csv { parameters, .. }
        | TableSource::CsvPair { parameters, .. }
        | TableSource::Npy { parameters, .. } => *parameters = files.to_vec(),
    }
    source
}

#[test]
fn files_of_parameters_belong_to_any_table() {
    let folder = Folder::new();
    let table = source(
        folder.file("t.csv", "x,cap,c0\n1,1,2\n1,2,3\n"),
        wide(&["x"], &["c0"], &[]),
    );
    let array = folder.file("w.npy", npy_f64("(2, 2)", &[1.5, f64::INFINITY, 3.0, 4.0]));
    let csv = folder.file("p.csv", "cap,k\n100,7\n200,8\n");
    let files = [format!("w={}", array.display()), csv.display().to_string()];
    let asked = [wanted("w", 2), wanted("cap", 1), wanted("k", 1)];
    let data = with_files(&table, &files)
        .read_columns(&asking(&asked))
        .unwrap();
    let expected = [[1.5, f64::INFINITY, 100.0, 7.0], [3.0, 4.0, 200.0, 8.0]];
    assert_eq!(
        numbers(data.parameters().unwrap(), &asked),
        expected,
        "a file of parameters comes before the table"
    );
    let (_, parameters) = with_files(&table, &files)
        .read_feature_columns(&WantedFeatures::numbers(&strings(&["x"])), &asking(&asked))
        .unwrap();
    assert_eq!(numbers(&parameters, &asked), expected);
    let arrays = TableSource::Npy {
        features: folder.file("x.npy", npy_f64("(2, 1)", &[1.0, 2.0])),
        costs: folder.file("c.npy", npy_f64("(2, 1)", &[1.0, 2.0])),
        parameters: files.to_vec(),
    };
    let data = arrays.read_columns(&asking(&asked)).unwrap();
    assert_eq!(numbers(data.parameters().unwrap(), &asked), expected);
    let error = arrays.read_columns(&asking(&[wanted("w", 2), wanted("q", 1), wanted("k", 1)]));
    assert_error(&error.unwrap_err(), "x.npy", None, None, &["'q'"]);
}

#[test]
fn invalid_files_of_parameters_are_reported() {
    let folder = Folder::new();
    let table = source(
        folder.file("t.csv", "x,c0\n1,2\n1,3\n"),
        wide(&["x"], &["c0"], &[]),
    );
    let asked = [wanted("w", 1)];
    for (name, content, row, column, words) in [
        (
            "w.npy",
            npy_f64("(3,)", &[1.0, 2.0, 3.0]),
            None,
            None,
            "3 rows of parameters for 2",
        ),
        (
            "w.npy",
            npy_f64("(2, 2)", &[1.0; 4]),
            None,
            None,
            "2 numbers per row",
        ),
        (
            "w.npy",
            npy_f64("(2, 1, 1)", &[1.0; 2]),
            None,
            None,
            "shape [2, 1, 1]",
        ),
        (
            "w.npy",
            npy_f64("(2,)", &[1.0, f64::NAN]),
            Some(1),
            Some("0"),
            "NaN",
        ),
        (
            "p.csv",
            b"w\n1\n".to_vec(),
            None,
            None,
            "1 rows of parameters for 2",
        ),
        (
            "p.csv",
            b"w\n1\nlow\n".to_vec(),
            Some(3),
            Some("w"),
            "'low'",
        ),
    ] {
        let path = folder.file(name, content);
        let text = if name == "w.npy" { "w=" } else { "" };
        let files = [format!("{text}{}", path.display())];
        let error = with_files(&table, &files).read_columns(&asking(&asked));
        assert_error(&error.unwrap_err(), name, row, column, &[words]);
    }
    folder.file("w.npy", npy_f64("(2,)", &[1.0; 2]));
    folder.file("p.csv", "v\n1\n2\n");
    for (file, words) in [
        ("w.npy", "which parameter"),
        ("v=w.npy", "it needs: w"),
        ("p.csv", "it needs: w"),
    ] {
        let file = file.replace("w.npy", &folder.path("w.npy").display().to_string());
        let file = file.replace("p.csv", &folder.path("p.csv").display().to_string());
        let error = with_files(&table, &[file])
            .read_columns(&asking(&asked))
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Setting);
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[test]
fn a_file_that_names_instances_is_matched_by_name() {
    let folder = Folder::new();
    let table = source(
        folder.file("t.csv", "instance,x,cost\nu,1,1\nu,2,2\nv,3,3\nv,4,4\n"),
        long(None),
    );
    let path = folder.file("p.csv", "budget,instance\n6,v\n9,w\n5,u\n");
    let asked = [wanted("budget", 1)];
    let table = with_files(&table, &[path.display().to_string()]);
    let data = table.read_columns(&asking(&asked)).unwrap();
    assert_eq!(numbers(data.parameters().unwrap(), &asked), [[5.0], [6.0]]);
    folder.file("p.csv", "budget,instance\n6,v\n5,v\n");
    let error = table.read_columns(&asking(&asked)).unwrap_err();
    assert_error(&error, "p.csv", 3, "instance", &["'v' has two rows"]);
    folder.file("p.csv", "budget,instance\n6,v\n5,w\n");
    let error = table.read_columns(&asking(&asked)).unwrap_err();
    assert_error(&error, "p.csv", None, None, &["instance 'u'"]);
    // Without names, by position.
    folder.file("p.csv", "budget\n6\n5\n");
    let data = table.read_columns(&asking(&asked)).unwrap();
    assert_eq!(numbers(data.parameters().unwrap(), &asked), [[6.0], [5.0]]);
}

#[test]
fn a_table_without_files_of_parameters_is_written_as_before() {
    let source = source("t.csv".into(), wide(&["x"], &["c0"], &[]));
    let text = serde_json::to_string(&source).unwrap();
    assert!(!text.contains("parameters"), "{text}");
    assert_eq!(serde_json::from_str::<TableSource>(&text).unwrap(), source);
    let with = with_files(&source, &strings(&["p.csv"]));
    let text = serde_json::to_string(&with).unwrap();
    assert_eq!(serde_json::from_str::<TableSource>(&text).unwrap(), with);
}

/// A path from the node in a column to node c.
fn path_problem() -> regretless::problem::ProblemSpec {
    regretless::problem::ProblemSpec::from_json(serde_json::json!({
        "kind": "graph_path", "arcs": [["a", "b"], ["b", "c"], ["a", "c"]],
        "source": {"column": "start"}, "target": "c"}))
    .unwrap()
}

#[test]
fn cells_of_wide_long_and_parameter_files_name_nodes() {
    let folder = Folder::new();
    let text = "x,start,a-b,b-c,a-c\n1,b,1,2,9\n2, a ,1,2,9\n3,c,1,2,9\n";
    let table = source(
        folder.file("wide.csv", text),
        wide(&[], &["*-*"], &["start"]),
    );
    let (problem, data) = table.read_for(path_problem()).unwrap();
    let columns = problem.kind().row_problems().parameters();
    let found = numbers(data.parameters().unwrap(), columns);
    assert_eq!(found, [[1.0], [0.0], [2.0]], "places in the list of nodes");

    let text = "instance,item,start,x,cost\n1,a-b,b,1,1\n1,b-c,b,2,1\n1,a-c,b,3,1\n";
    let layout = long(Some("item"));
    let table = source(folder.file("long.csv", text), layout);
    let (problem, data) = table.read_for(path_problem()).unwrap();
    let found = numbers(
        data.parameters().unwrap(),
        problem.kind().row_problems().parameters(),
    );
    assert_eq!(found, [[1.0]]);

    let ends = folder.file("ends.csv", "start\nc\na\n");
    let table = TableSource::Csv {
        file: folder.file("costs.csv", "x,a-b,b-c,a-c\n1,1,2,9\n2,1,2,9\n"),
        layout: wide(&[], &["*-*"], &[]),
        dialect: CsvDialect::default(),
        parameters: vec![ends.display().to_string()],
    };
    let (problem, data) = table.read_for(path_problem()).unwrap();
    let found = numbers(
        data.parameters().unwrap(),
        problem.kind().row_problems().parameters(),
    );
    assert_eq!(found, [[2.0], [0.0]]);
}

#[test]
fn a_cell_that_names_no_node_is_refused_with_its_place() {
    let folder = Folder::new();
    for (cell, words) in [
        (
            "office",
            [
                "'office' is no node of the problem",
                "the nodes are a, b, c",
            ],
        ),
        ("", ["the cell is empty", "the nodes are a, b, c"]),
    ] {
        let text = format!("x,start,a-b,b-c,a-c\n1,b,1,2,9\n2,{cell},1,2,9\n");
        let table = source(folder.file("t.csv", &text), wide(&[], &["*-*"], &["start"]));
        let error = table.read_for(path_problem()).unwrap_err();
        assert_error(&error, "t.csv", 3, "start", &words);
    }
}
