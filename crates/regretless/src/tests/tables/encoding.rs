//! Tables with categories, dates, truth values and gaps: encoded by their training rows alone, and
//! the same way by every model that was trained on them.

use std::sync::Arc;

use regretless::data::{
    CsvDialect, FeatureEncoding, FeatureOptions, LongColumns, ProblemColumns, SplitIndices,
    TableSource, WideColumns,
};
use regretless::data::{Dataset, Features, Layout};
use regretless::label::DataSplit;
use regretless::predict::CostModel;
use regretless::problem::ProblemSpec;
use regretless::{Method, Model, Problem, Row, Split, Trainer};

use super::{Folder, strings};

/// One row of a bakery: date, shop, open, temperature, and three costs.
fn row(day: usize) -> [String; 7] {
    let date = format!("2026-{:02}-{:02}", 1 + day / 28, 1 + day % 28);
    let shop = ["north", "south", "west"][day * 7 % 3];
    let open = if day.is_multiple_of(4) { "no" } else { "yes" };
    let temperature = if day % 9 == 5 {
        "NA".to_owned()
    } else {
        (day % 13).to_string()
    };
    let base = (day * 7 % 3) as f64;
    let costs = [base + 1.0, 3.0 - base, 2.0 + (day % 5) as f64 / 10.0];
    let [a, b, c] = costs.map(|cost| cost.to_string());
    [date, shop.into(), open.into(), temperature, a, b, c]
}

const HEADER: &str = "date,shop,open,temperature,c0,c1,c2\n";

fn table(rows: impl Iterator<Item = [String; 7]>) -> String {
    let mut text = HEADER.to_owned();
    for row in rows {
        text += &(row.join(",") + "\n");
    }
    text
}

fn source(folder: &Folder, text: &str, options: FeatureOptions) -> TableSource {
    TableSource::Csv {
        file: folder.file("t.csv", text),
        layout: Layout::Wide(WideColumns {
            costs: strings(&["c*"]),
            options,
            ..WideColumns::default()
        }),
        dialect: CsvDialect::default(),
        parameters: Vec::new(),
    }
}

fn split_of(text: &str, options: FeatureOptions, split: Split) -> DataSplit {
    let folder = Folder::new();
    let data = source(&folder, text, options).read().unwrap();
    data.split(split).unwrap()
}

fn encoding_of(text: &str, options: FeatureOptions) -> Arc<FeatureEncoding> {
    let data = split_of(text, options, Split::in_order(60, 20, 20));
    data.encoding().unwrap()
}

fn all_options() -> FeatureOptions {
    FeatureOptions {
        target_statistics: strings(&["shop"]),
        dates: strings(&["date=weekday+season+trend+holiday"]),
        holidays: strings(&["2026-01-01"]),
        ..FeatureOptions::default()
    }
}

fn problem() -> Problem {
    Problem::from_spec(
        ProblemSpec::from_toml("kind='top_k'\nitems=3\nk=1\nsense='minimize'\n").unwrap(),
    )
    .unwrap()
}

fn json(encoding: &FeatureEncoding) -> String {
    serde_json::to_string(encoding).unwrap()
}

#[test]
fn other_rows_than_those_of_training_do_not_change_a_byte_of_the_encoding() {
    let original = table((0..100).map(row));
    for options in [FeatureOptions::default(), all_options()] {
        let expected = json(&encoding_of(&original, options.clone()));
        // Other values, gaps, new categories, later dates and other costs, but no training row.
        let changed = table((0..100).map(|day| {
            if day < 60 {
                return row(day);
            }
            let shop = if day % 2 == 0 { "moon" } else { "" };
            let texts = ["2031-07-01", shop, "perhaps", "1e6", "900", "-5", "0"];
            texts.map(String::from)
        }));
        assert_eq!(json(&encoding_of(&changed, options.clone())), expected);
        let mut rows: Vec<[String; 7]> = (0..100).map(row).collect();
        rows[59][1] = "moon".into();
        let changed = table(rows.into_iter());
        assert_ne!(json(&encoding_of(&changed, options)), expected);
    }
}

#[test]
fn columns_are_encoded_by_their_kind() {
    let data = split_of(
        &table((0..100).map(row)),
        FeatureOptions::default(),
        Split::in_order(60, 20, 20),
    );
    let encoding = data.encoding().unwrap();
    let weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    let mut names: Vec<String> = weekdays.map(|day| format!("date weekday={day}")).to_vec();
    names.extend(strings(&[
        "shop=north",
        "shop=south",
        "shop=west",
        "open",
        "temperature",
        "temperature is missing",
    ]));
    assert_eq!(encoding.feature_names(), names);
    // 2026-01-06 was a Tuesday; its temperature is missing.
    let features = data.train().row(5);
    let problem = problem();
    let model = Trainer::new("MSE".parse::<Method>().unwrap())
        .epochs(1)
        .fit(&problem, &data)
        .unwrap();
    assert_eq!(model.predictor().metadata.features, names);
    assert!(model.predict(features).is_ok());
    let folder = Folder::new();
    let raw = source(
        &folder,
        &table((0..100).map(row)),
        FeatureOptions::default(),
    )
    .read()
    .unwrap();
    let encoded = raw.features().encode_by(&encoding).unwrap();
    // The 27th of the 53 known temperatures of the training rows.
    let expected = [
        0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 5.0, 1.0,
    ];
    assert_eq!(encoded.instance(5), expected);
    assert!(encoded.encoding_notes().is_empty());
}

#[test]
fn unknown_values_and_gaps_are_counted_with_the_place_of_the_first() {
    let mut rows: Vec<[String; 7]> = (0..100).map(row).collect();
    for late in [80, 85, 90] {
        rows[late][1] = "moon".into();
    }
    rows[91][2] = String::new();
    rows[92][1] = String::new();
    rows[93][2] = "perhaps".into();
    let data = split_of(
        &table(rows.into_iter()),
        FeatureOptions::default(),
        Split::in_order(60, 20, 20),
    );
    let notes = data.encoding_notes().join("\n");
    for words in [
        "t.csv, row 82, column shop: 'moon' is a value that no training row has",
        "(3 of 100 rows)",
        "t.csv, row 94, column shop: the value is missing",
        "t.csv, row 93, column open: the value is missing",
        "t.csv, row 95, column open: 'perhaps' is neither true nor false",
    ] {
        assert!(notes.contains(words), "'{words}' is not in {notes}");
    }
}

#[test]
fn a_training_row_does_not_see_its_own_cost_in_target_statistics() {
    let features = |costs: &[f32]| {
        let shops = (0..costs.len()).map(|row| Some(["a", "b"][row % 2]));
        let options = FeatureOptions {
            target_statistics: strings(&["shop"]),
            ..FeatureOptions::default()
        };
        let features = Features::builder()
            .texts("shop", shops)
            .features(options)
            .unwrap();
        let costs = regretless::data::Matrix::new(costs.len(), 1, costs.to_vec()).unwrap();
        let data = Dataset::new(features, costs, None).unwrap();
        let train: Vec<usize> = (0..20).collect();
        data.encoded_features(&train).unwrap().unwrap()
    };
    let mut costs: Vec<f32> = (0..30).map(|row| row as f32).collect();
    let before = features(&costs);
    costs[4] += 100.0;
    let after = features(&costs);
    assert_eq!(before.instance(4), after.instance(4), "its own value");
    assert!(
        after.instance(6)[0] > before.instance(6)[0] + 1.0,
        "others of its shop"
    );
    // Later rows have the smoothed mean of the training rows: 10 of each shop, and 10 of all.
    let all = 9.5;
    let shop = (0..20).step_by(2).sum::<i32>() as f32 / 10.0;
    assert_eq!(before.instance(20), [f32::midpoint(shop, all)]);
    costs[25] = 1e6;
    let later = features(&costs);
    assert_eq!(
        later.values(),
        after.values(),
        "costs of later rows are not used"
    );
}

#[test]
fn a_model_encodes_raw_rows_wherever_they_come_from() {
    let folder = Folder::new();
    let text = table((0..100).map(row));
    for options in [FeatureOptions::default(), all_options()] {
        let source = source(&folder, &text, options);
        let data = source.read().unwrap();
        let data = data.split(Split::in_order(60, 20, 20)).unwrap();
        let model = Trainer::new("MSE".parse::<Method>().unwrap())
            .epochs(5)
            .fit(&problem(), &data)
            .unwrap();
        let file = folder.path("model.safetensors");
        let _ = std::fs::remove_file(&file);
        model.save(&file).unwrap();
        let loaded = Model::load(&file).unwrap();
        assert_eq!(loaded.predictor(), model.predictor());
        let expected = model.predict(data.test().row(3)).unwrap();
        // A file with other columns in another order, and without costs.
        let [date, shop, open, temperature, ..] = row(83);
        let new_rows =
            format!("id,open,temperature,shop,date\nx,{open},{temperature},{shop},{date}\n");
        let new_rows = TableSource::Csv {
            file: folder.file("new.csv", new_rows),
            layout: Layout::Wide(WideColumns::default()),
            dialect: CsvDialect::default(),
            parameters: Vec::new(),
        };
        let (features, _) = loaded.read_rows(&new_rows).unwrap();
        assert_eq!(loaded.predict(Row::from(&features)).unwrap(), expected);
        // The same row in memory.
        let number: f32 = temperature.parse().unwrap();
        let in_memory = Features::builder()
            .numbers("temperature", vec![number])
            .texts("shop", [Some(&shop)])
            .texts("open", [Some(&open)])
            .dates("date", [Some(&date)])
            .unwrap()
            .features(FeatureOptions::default())
            .unwrap();
        assert_eq!(loaded.predict(Row::from(&in_memory)).unwrap(), expected);
        assert!(loaded.decide(Row::from(&in_memory)).is_ok());
        let error = loaded
            .predict(Row::from([1.0; 4].as_slice()))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("shop") && error.contains("Features::builder"),
            "{error}"
        );
        // Another split of the table has another encoding; the model keeps its own.
        let regret = model.evaluate(data.test()).unwrap().regret;
        let others = source.read().unwrap().split_by(SplitIndices {
            train: (50..80).collect(),
            validation: Vec::new(),
            test: (80..100).collect(),
            rule: "given".into(),
            is_chronological: false,
        });
        let others = others.unwrap();
        assert_ne!(others.encoding(), data.encoding());
        assert_eq!(loaded.evaluate(others.test()).unwrap().regret, regret);
    }
}

#[test]
fn a_training_that_continues_a_model_keeps_its_encoding() {
    let folder = Folder::new();
    let source = source(
        &folder,
        &table((0..100).map(row)),
        FeatureOptions::default(),
    );
    let data = source
        .read()
        .unwrap()
        .split(Split::in_order(60, 20, 20))
        .unwrap();
    let trainer = Trainer::new("MSE".parse::<Method>().unwrap()).epochs(2);
    let first = trainer.fit(&problem(), &data).unwrap();
    // The rows for training have all weekdays and shops, but another median.
    let other = source.read().unwrap().split_by(SplitIndices {
        train: (40..100).filter(|day| day % 13 > 4).collect(),
        validation: (0..20).collect(),
        test: (20..40).collect(),
        rule: "given".into(),
        is_chronological: false,
    });
    let other = other.unwrap();
    let encoding = first.predictor().metadata.encoding.clone();
    assert_ne!(other.encoding(), encoding);
    let continued = Trainer {
        start: Some(first.predictor().clone()),
        ..trainer
    };
    let second = continued.fit(&problem(), &other).unwrap();
    assert_eq!(second.predictor().metadata.encoding, encoding);
}

#[test]
fn tables_of_numbers_without_gaps_have_no_encoding() {
    let data = split_of(
        "x,y,c0,c1,c2\n1,2,3,4,5\n2,3,4,5,6\n3,4,5,6,7\n",
        FeatureOptions::default(),
        Split::in_order(1, 1, 1),
    );
    assert!(data.encoding().is_none());
}

#[test]
fn numbers_are_categories_where_users_say_so() {
    let options = FeatureOptions {
        categories: strings(&["day"]),
        ..FeatureOptions::default()
    };
    let mut text = "day,x,c0\n".to_owned();
    for row in 0..12 {
        text += &format!("{}.0,{row},1\n", row % 3);
    }
    let data = split_of(&text, options.clone(), Split::in_order(8, 2, 2));
    let names = ["day=0", "day=1", "day=2", "x"];
    assert_eq!(data.encoding().unwrap().feature_names(), names);
    let folder = Folder::new();
    let unknown = FeatureOptions {
        categories: strings(&["dya"]),
        ..options
    };
    let error = source(&folder, &text, unknown)
        .read()
        .unwrap_err()
        .to_string();
    assert!(error.contains("'dya'"), "{error}");
}

#[test]
fn identifiers_are_not_used_unless_users_say_how() {
    let mut text = "buyer,x,note,c0\n".to_owned();
    for row in 0..40 {
        text += &format!("id{row},{row},,{row}\n");
    }
    let data = split_of(&text, FeatureOptions::default(), Split::in_order(30, 5, 5));
    let encoding = data.encoding().unwrap();
    assert_eq!(encoding.feature_names(), ["x"]);
    let unused: Vec<(&str, &str)> = encoding.unused_columns().collect();
    assert_eq!(unused[0].0, "buyer");
    assert!(
        unused[0].1.contains("30 values in 30 training rows"),
        "{unused:?}"
    );
    assert_eq!(unused[1], ("note", "empty in all training rows"));
    let options = FeatureOptions {
        target_statistics: strings(&["buy*"]),
        ..FeatureOptions::default()
    };
    let data = split_of(&text, options, Split::in_order(30, 5, 5));
    assert_eq!(
        data.encoding().unwrap().feature_names(),
        ["buyer mean cost", "x"]
    );
    let notes = data.encoding_notes();
    assert!(
        notes[0].contains("'id30'") && notes[0].contains("10 of 40 rows"),
        "{notes:?}"
    );
}

#[test]
fn a_long_table_encodes_items_and_leaves_absent_ones_at_zero() {
    let folder = Folder::new();
    let mut text = "month,site,kind,count,cost\n".to_owned();
    for month in 0..12 {
        for site in ["s1", "s2", "s3"] {
            if month == 3 && site == "s2" {
                continue;
            }
            let kind = if site == "s3" { "road" } else { "park" };
            let count = if month % 4 == 1 {
                String::new()
            } else {
                month.to_string()
            };
            text += &format!("2026-{:02},{site},{kind},{count},{month}\n", month + 1);
        }
    }
    let layout = Layout::Long(LongColumns {
        instance: "month".into(),
        item: Some("site".into()),
        options: FeatureOptions {
            dates: strings(&["month=trend"]),
            ..FeatureOptions::default()
        },
        ..LongColumns::default()
    });
    let names = strings(&["s1", "s2", "s3"]).into();
    let problem = ProblemColumns {
        cost_names: Some(&names),
        items_may_differ: true,
        may_have_absent_costs: true,
        ..ProblemColumns::default()
    };
    let source = TableSource::Csv {
        file: folder.file("t.csv", &text),
        layout,
        dialect: CsvDialect::default(),
        parameters: Vec::new(),
    };
    let data = source.read_columns(&problem).unwrap();
    let train: Vec<usize> = (0..8).collect();
    let features: Features = data.encoded_features(&train).unwrap().unwrap();
    let expected = [
        "month trend",
        "kind=park",
        "kind=road",
        "count",
        "count is missing",
    ];
    assert_eq!(features.names(), expected);
    assert_eq!(
        features.instance(0),
        [0.0, 1.0, 0.0, 0.0, 0.0]
            .repeat(2)
            .into_iter()
            .chain([0.0, 0.0, 1.0, 0.0, 0.0])
            .collect::<Vec<f32>>()
    );
    // Of the first 8 months, 1 and 5 have gaps and 3 has two rows: the 9th of 17 numbers is 4.
    assert_eq!(features.instance(1)[3..5], [4.0, 1.0]);
    assert_eq!(
        features.instance(3)[5..10],
        [0.0; 5],
        "the item does not exist"
    );
}

#[test]
fn forged_encodings_are_refused() {
    let data = split_of(
        &table((0..100).map(row)),
        all_options(),
        Split::in_order(60, 20, 20),
    );
    let model = Trainer::new("MSE".parse::<Method>().unwrap())
        .epochs(1)
        .fit(&problem(), &data)
        .unwrap();
    let bytes = model.predictor().to_bytes().unwrap();
    assert_eq!(&CostModel::from_bytes(&bytes).unwrap(), model.predictor());
    for (from, to) in [
        ("\"south\"", "\"Aorth\""),
        ("\"weekdays\":[0,1", "\"weekdays\":[9,1"),
        ("\"date\"", "\"dote\""),
    ] {
        let text = json(&data.encoding().unwrap());
        assert!(text.contains(from), "{from} is not in {text}");
        let mut forged = model.predictor().clone();
        let encoding = serde_json::from_str(&text.replacen(from, to, 1)).unwrap();
        forged.metadata.encoding = Some(Arc::new(encoding));
        let error = CostModel::from_bytes(&forged.to_bytes().unwrap())
            .unwrap_err()
            .to_string();
        assert!(error.contains("encoding"), "{error}");
    }
}
