//! Long tables whose instances have different items.

use regretless::data::{CostNames, Dataset, FeatureShape, Layout, LongColumns, ProblemColumns};
use regretless::data::{RowParameters, TableSource, WantedFeatures};
use regretless::error::Result;

use super::row_parameters::{assert_error, numbers, source, wanted};
use super::{Folder, assert_same, long, strings};

/// A problem whose items may be absent.
fn with_absent_items() -> ProblemColumns<'static> {
    ProblemColumns {
        may_have_absent_costs: true,
        items_may_differ: true,
        ..ProblemColumns::default()
    }
}

fn read(text: &str, layout: &Layout, problem: &ProblemColumns<'_>) -> Result<Dataset> {
    let folder = Folder::new();
    source(folder.file("t.csv", text), layout.clone()).read_columns(problem)
}

fn present(data: &Dataset) -> Vec<Vec<f64>> {
    let parameters = data.parameters().unwrap();
    let items = data.costs().cols();
    numbers(parameters, &[wanted(RowParameters::PRESENT_ITEMS, items)])
}

/// The names of the items of every row; absent items have none.
fn item_names(parameters: &RowParameters, items: usize) -> Vec<Vec<Option<&str>>> {
    let mut rows = Vec::new();
    for row in 0..parameters.rows() {
        rows.push(
            (0..items)
                .map(|item| parameters.item_name(row, item))
                .collect(),
        );
    }
    rows
}

/// Houses on offer on three days; the rows of a day need not follow each other.
const HOUSES: &str = "day,house,x,weight,budget,cost\n\
    mon,h1,1,10,5,1.5\nmon,h2,2,20,5,2.5\ntue,h9,3,30,6,3.5\nmon,h3,4,40,5,4.5\n\
    wed,h2,5,50,7,5.5\nwed,h9,6,60,7,6.5\n";

fn houses() -> Layout {
    Layout::Long(LongColumns {
        instance: "day".into(),
        item: Some("house".into()),
        features: strings(&["x"]),
        ..LongColumns::default()
    })
}

#[test]
fn items_without_known_names_have_slots_in_the_order_of_the_table() {
    let asked = [wanted("weight", 0), wanted("budget", 1)];
    let problem = ProblemColumns {
        parameters: &asked,
        ..with_absent_items()
    };
    let data = read(HOUSES, &houses(), &problem).unwrap();
    assert_eq!(data.features().shape(), FeatureShape::Long { items: 3 });
    assert_eq!(
        data.features().values().as_slice(),
        [1.0, 2.0, 4.0, 3.0, 0.0, 0.0, 5.0, 6.0, 0.0]
    );
    assert_eq!(
        data.costs().as_slice(),
        [1.5, 2.5, 4.5, 3.5, 0.0, 0.0, 5.5, 6.5, 0.0]
    );
    assert!(!data.cost_names().are_explicit());
    assert_eq!(
        present(&data),
        [[1.0, 1.0, 1.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0]]
    );
    let parameters = data.parameters().unwrap();
    assert_eq!(
        numbers(parameters, &[wanted("weight", 3), wanted("budget", 1)]),
        [
            [10.0, 20.0, 40.0, 5.0],
            [30.0, 0.0, 0.0, 6.0],
            [50.0, 60.0, 0.0, 7.0]
        ]
    );
    let names = [
        [Some("h1"), Some("h2"), Some("h3")],
        [Some("h9"), None, None],
        [Some("h2"), Some("h9"), None],
    ];
    assert_eq!(item_names(parameters, 3), names);
    assert_eq!(
        item_names(&parameters.select_rows(&[2, 0]), 3),
        [names[2], names[0]]
    );
    let mut permuted = RowParameters::clone(parameters);
    permuted.reorder_items(&[2, 0, 1]);
    assert_eq!(item_names(&permuted, 3)[2], [None, Some("h2"), Some("h9")]);
    // Rows without names are in the order of the table, too.
    let unnamed = "instance,x,cost\nu,1,2\nv,3,4\nv,5,6\n";
    let data = read(unnamed, &long(None), &with_absent_items()).unwrap();
    assert_eq!(data.costs().as_slice(), [2.0, 0.0, 4.0, 6.0]);
    assert_eq!(present(&data), [[1.0, 0.0], [1.0, 1.0]]);
    assert_eq!(data.parameters().unwrap().item_name(0, 0), None);
}

#[test]
fn the_names_of_costs_identify_items() {
    let costs = CostNames::from(strings(&["h3", "h1", "h2", "h9"]));
    let problem = ProblemColumns {
        cost_names: Some(&costs),
        ..with_absent_items()
    };
    let data = read(HOUSES, &houses(), &problem).unwrap();
    assert_eq!(data.cost_names().to_vec(), ["h3", "h1", "h2", "h9"]);
    assert_eq!(
        data.costs().as_slice(),
        [4.5, 1.5, 2.5, 0.0, 0.0, 0.0, 0.0, 3.5, 0.0, 0.0, 5.5, 6.5]
    );
    assert_eq!(
        present(&data),
        [
            [1.0, 1.0, 1.0, 0.0],
            [0.0, 0.0, 0.0, 1.0],
            [0.0, 0.0, 1.0, 1.0]
        ]
    );
    assert!(!data.parameters().unwrap().name_items());
    let fewer = CostNames::from(strings(&["h1", "h2", "h9"]));
    let problem = ProblemColumns {
        cost_names: Some(&fewer),
        ..problem
    };
    let error = read(HOUSES, &houses(), &problem).unwrap_err();
    let words = ["'mon'", "'h3'", "costs of the problem"];
    assert_error(&error, "t.csv", 5, "house", &words);
}

#[test]
fn tables_with_equal_items_are_read_as_before() {
    let text = "instance,item,x,cost\nu,b,1,2\nv,a,7,8\nu,a,3,4\nv,b,5,6\n";
    let layout = long(Some("item"));
    let folder = Folder::new();
    let plain = folder.csv(text, &layout).unwrap();
    let costs = CostNames::from(strings(&["a", "b"]));
    for cost_names in [None, Some(&costs)] {
        let problem = ProblemColumns {
            cost_names,
            ..with_absent_items()
        };
        let data = read(text, &layout, &problem).unwrap();
        assert_same(&data, &plain);
        assert_eq!(data.parameters(), None);
    }
    // A problem that asks which items are present gets an answer.
    let asked = [wanted(RowParameters::PRESENT_ITEMS, 2)];
    let problem = ProblemColumns {
        parameters: &asked,
        ..with_absent_items()
    };
    let data = read(text, &layout, &problem).unwrap();
    assert_eq!(present(&data), [[1.0, 1.0], [1.0, 1.0]]);
}

#[test]
fn new_rows_have_the_items_of_the_model_or_their_own() {
    let folder = Folder::new();
    let file = folder.file("t.csv", HOUSES);
    let read = |items: &[&str], problem: &ProblemColumns<'_>| {
        let Layout::Long(columns) = houses() else {
            unreachable!()
        };
        let layout = Layout::Long(LongColumns {
            items: strings(items),
            ..columns
        });
        source(file.clone(), layout)
            .read_feature_columns(&WantedFeatures::numbers(&strings(&["x"])), problem)
    };
    let (features, parameters) = read(&["h1", "h9", "h2", "h3"], &with_absent_items()).unwrap();
    assert_eq!(
        features.values().as_slice()[4..],
        [0.0, 3.0, 0.0, 0.0, 0.0, 6.0, 5.0, 0.0]
    );
    assert!(!parameters.name_items());
    let error = read(&["h1", "h2", "h3"], &with_absent_items()).unwrap_err();
    assert_error(&error, "t.csv", 4, "house", &["'h9'", "the model"]);
    let error = read(&["h1", "h2", "h3", "h9"], &ProblemColumns::default()).unwrap_err();
    assert_error(&error, "t.csv", 2, "house", &["no item 'h9'"]);
    let (features, parameters) = read(&[], &with_absent_items()).unwrap();
    assert_eq!(features.shape(), FeatureShape::Long { items: 3 });
    assert_eq!(parameters.item_name(1, 0), Some("h9"));
    // The decision on one instance names its items.
    folder.file("t.csv", "day,house,x\nsun,h7,1\nsun,h8,2\n");
    let (_, parameters) = read(&[], &with_absent_items()).unwrap();
    assert_eq!(item_names(&parameters, 2), [[Some("h7"), Some("h8")]]);
}

#[test]
fn invalid_tables_with_different_items_are_reported() {
    let header = "instance,item,x,w,cost\n";
    let per_instance = [wanted("w", 1)];
    let cases = [
        (
            "u,a,1,1,1\nv,b,1,1,1\nv,c,1,1,1\nv,b,1,1,1\n",
            5,
            "item",
            "'b' twice",
        ),
        (
            "u,a,1,1,1\nv,b,1,1,1\nu,b,1,2,1\n",
            4,
            "w",
            "'u' has 1 and 2",
        ),
        ("u,a,1,1,1\nv,b,1,1,1\nv,c,1,,1\n", 4, "w", "empty"),
        ("u,a,1,1,1\nv,b,1,1,1\nv,c,inf,1,1\n", 4, "x", "'inf'"),
    ];
    for (rows, row, column, words) in cases {
        let problem = ProblemColumns {
            parameters: &per_instance,
            ..with_absent_items()
        };
        let text = format!("{header}{rows}");
        let error = read(&text, &long(Some("item")), &problem).unwrap_err();
        assert_error(&error, "t.csv", row, column, &[words]);
    }
    // Without names of items, rows of an instance follow each other.
    let text = "instance,x,cost\nu,1,1\nv,1,1\nv,1,1\nu,1,1\n";
    let error = read(text, &long(None), &with_absent_items()).unwrap_err();
    assert_error(&error, "t.csv", 5, "instance", &["'u' continues"]);
    // A problem without absent items needs the same items in all instances.
    let error = read(HOUSES, &houses(), &ProblemColumns::default()).unwrap_err();
    assert_error(&error, "t.csv", 4, "house", &["'tue'", "'h9'"]);
}

#[test]
fn instances_of_very_different_sizes_are_refused_before_memory_is_used() {
    // 6000 instances with one item, one with 6000: 36 million slots for 12,000 rows.
    let mut text = "instance,x,cost\n".to_owned();
    for instance in 0..6000 {
        text += &format!("{instance},1,1\n");
    }
    text += &"last,1,1\n".repeat(6000);
    let error = read(&text, &long(None), &with_absent_items()).unwrap_err();
    assert_error(
        &error,
        "t.csv",
        None,
        None,
        &["6001 instances of up to 6000 items"],
    );
}

#[test]
fn an_empty_cost_of_an_item_with_a_row_is_kept_for_the_label() {
    let text = "instance,item,x,cost\nu,a,1,2\nu,b,1,\nv,a,3,4\n";
    let layout = long(Some("item"));
    let data = read(text, &layout, &with_absent_items()).unwrap();
    let is_missing: Vec<bool> = data.costs().as_slice().iter().map(|c| c.is_nan()).collect();
    assert_eq!(is_missing, [false, true, false, false]);
    let folder = Folder::new();
    let table: TableSource = source(folder.file("t.csv", text), layout);
    assert_error(&table.read().unwrap_err(), "t.csv", 3, "cost", &["empty"]);
}

#[test]
fn items_keep_their_names_where_an_instance_has_all_of_them() {
    // The second day lacks the row of h1.
    let text = "day,house,x,cost\nmon,h2,1,1.5\nmon,h1,2,2.5\nmon,h3,3,3.5\n\
                tue,h3,4,4.5\ntue,h2,5,5.5\n";
    let data = read(text, &houses(), &with_absent_items()).unwrap();
    assert_eq!(data.cost_names().to_vec(), ["h2", "h1", "h3"]);
    assert!(data.cost_names().are_explicit());
    assert_eq!(data.costs().as_slice(), [1.5, 2.5, 3.5, 5.5, 0.0, 4.5]);
    assert_eq!(present(&data), [[1.0, 1.0, 1.0], [1.0, 0.0, 1.0]]);
}
