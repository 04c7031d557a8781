//! Tables: what is written is read back to the bit, and every bad input is named with its place.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::{ProptestConfig, Strategy, any, prop, prop_assert_eq, proptest};
use regretless::data::csv::{self, DecisionForm};
use regretless::data::{Dataset, Features, Layout, LongColumns, Matrix, Shape, TableSource, WideColumns, npy};
use regretless::{Decision, Error};
use tempfile::TempDir;

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_string()).collect()
}

fn wide(features: &[&str], costs: &[&str], ignore: &[&str]) -> Layout {
    Layout::Wide(WideColumns { features: words(features), costs: words(costs), ignore: words(ignore) })
}

fn long(item: Option<&str>) -> Layout {
    Layout::Long(LongColumns { item: item.map(String::from), ..LongColumns::default() })
}

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        fs::write(self.path(name), content).unwrap();
        self.path(name)
    }

    /// The error in words, the folder cut out.
    fn words(&self, error: &Error) -> String {
        error.to_string().replace(&format!("{}/", self.0.path().display()), "")
    }

    fn csv(&self, content: impl AsRef<[u8]>, layout: &Layout) -> Result<Dataset, String> {
        csv::read(&self.file("t.csv", content), layout).map_err(|error| self.words(&error))
    }
}

fn bits(matrix: &Matrix) -> Vec<u32> {
    matrix.as_slice().iter().map(|value| value.to_bits()).collect()
}

fn assert_same(left: &Dataset, right: &Dataset) {
    assert_eq!(left, right);
    assert_eq!(bits(left.features().values()), bits(right.features().values()));
    assert_eq!(bits(left.costs()), bits(right.costs()));
}

const ODD: [f32; 12] =
    [0.1, -0.0, 1e-45, f32::MAX, f32::MIN, 1e30, 16_777_217.0, -1.0, 3.0, 0.0, f32::MIN_POSITIVE, 1.0 / 3.0];

fn wide_data() -> Dataset {
    let features = Features::new(Matrix::new(2, 3, ODD[..6].to_vec()).unwrap(), Shape::Wide, None).unwrap();
    Dataset::new(features, Matrix::new(2, 2, ODD[6..10].to_vec()).unwrap(), None).unwrap()
}

fn long_data() -> Dataset {
    let values = Matrix::new(6, 2, ODD.to_vec()).unwrap();
    let features = Features::new(values, Shape::Long { items: 3 }, Some(words(&["rooms", "age"]))).unwrap();
    Dataset::new(features, Matrix::new(2, 3, ODD[3..9].to_vec()).unwrap(), Some(words(&["a", "b", "c, d"]))).unwrap()
}

#[test]
fn a_wide_table_survives_csv_and_npy_to_the_bit() {
    let (folder, data) = (Folder::new(), wide_data());
    csv::write(&folder.path("t.csv"), &data, false).unwrap();
    let back = csv::read(&folder.path("t.csv"), &wide(&["x*"], &["c*"], &[])).unwrap();
    assert_same(&back, &data);
    npy::write(&folder.path("x.npy"), &folder.path("c.npy"), &data, false).unwrap();
    assert_same(&npy::read(&folder.path("x.npy"), &folder.path("c.npy")).unwrap(), &back);
}

#[test]
fn a_long_table_survives_csv_and_npy_to_the_bit() {
    let (folder, data) = (Folder::new(), long_data());
    csv::write(&folder.path("t.csv"), &data, false).unwrap();
    assert_same(&csv::read(&folder.path("t.csv"), &long(Some("item"))).unwrap(), &data);
    npy::write(&folder.path("x.npy"), &folder.path("c.npy"), &data, false).unwrap();
    let back = npy::read(&folder.path("x.npy"), &folder.path("c.npy")).unwrap();
    assert_eq!(back.features().shape(), Shape::Long { items: 3 });
    assert_eq!(bits(back.features().values()), bits(data.features().values()));
    assert_eq!(bits(back.costs()), bits(data.costs()));
}

#[test]
fn marks_line_ends_quotes_and_spaces_make_no_difference() {
    let folder = Folder::new();
    let layout = wide(&[], &["c"], &[]);
    let plain = folder.csv("x,y,c\n1.5,2,3\n-4,5e1,6\n", &layout).unwrap();
    for same in [
        "\u{feff}x,y,c\n1.5,2,3\n-4,5e1,6\n",
        "x,y,c\r\n1.5,2,3\r\n-4,5e1,6\r\n",
        "x,y,c\r1.5,2,3\r-4,5e1,6",
        "\"x\",\"y\",\"c\"\n\"1.5\",\"2\",\"3\"\n-4,\"5e1\",6",
        " x , y,c \n 1.5, 2 ,3\n\n -4 ,+50.0,6.\n\n",
    ] {
        assert_same(&folder.csv(same, &layout).unwrap(), &plain);
    }
}

#[test]
fn other_columns_of_numbers_are_features_and_text_is_left_out() {
    let folder = Folder::new();
    let text = "date,id,x,price 1,price 2,y\n2024-01-01,7,1,2,3,4\n2024-01-02,8,5,6,7,8\n";
    let data = folder.csv(text, &wide(&[], &["price *"], &["id"])).unwrap();
    assert_eq!(data.features().names(), ["x", "y"]);
    assert_eq!(data.cost_names(), ["price 1", "price 2"]);
    assert_eq!(data.features().values().as_slice(), [1.0, 4.0, 5.0, 8.0]);
    assert_eq!(data.costs().as_slice(), [2.0, 3.0, 6.0, 7.0]);
}

#[test]
fn listed_columns_come_in_the_order_of_the_list_and_once() {
    let folder = Folder::new();
    let layout = wide(&["y", "x*", "y"], &["c2", "c*"], &["x9"]);
    let data = folder.csv("c1,x2,x9,c2,y,x1\n1,2,3,4,5,6\n", &layout).unwrap();
    assert_eq!(data.features().names(), ["y", "x2", "x1"]);
    assert_eq!(data.costs().as_slice(), [4.0, 1.0]);
}

#[test]
fn two_files_make_one_table() {
    let folder = Folder::new();
    let (features, costs) = (folder.file("x.csv", "day,x\nmon,1\ntue,2\n"), folder.file("c.csv", "a,b\n3,4\n5,6\n"));
    let source = TableSource::CsvPair { features, costs: costs.clone(), columns: WideColumns::default() };
    let data = source.read().unwrap();
    assert_eq!((data.features().names(), data.cost_names()), (&words(&["x"])[..], &words(&["a", "b"])[..]));
    assert_eq!(data.costs().as_slice(), [3.0, 4.0, 5.0, 6.0]);
    assert_eq!(source.costs_file(), costs);
    folder.file("c.csv", "a,b\n3,4\n");
    let message = "c.csv: 1 rows of costs, but x.csv has 2 rows of features; each row is one instance";
    assert_eq!(folder.words(&source.read().unwrap_err()), message);
}

#[test]
fn rows_of_a_long_table_with_items_come_in_any_order() {
    let folder = Folder::new();
    let sorted = folder.csv("instance,item,x,cost\nu,b,1,2\nu,a,3,4\nv,b,5,6\nv,a,7,8\n", &long(Some("item"))).unwrap();
    assert_eq!(sorted.cost_names(), ["b", "a"]);
    assert_eq!(sorted.features().values().as_slice(), [1.0, 3.0, 5.0, 7.0]);
    let mixed = folder.csv("instance,item,x,cost\nu,b,1,2\nv,a,7,8\nu,a,3,4\nv,b,5,6\n", &long(Some("item"))).unwrap();
    assert_same(&mixed, &sorted);
}

#[test]
fn the_order_of_items_can_be_that_of_a_model() {
    let folder = Folder::new();
    let path = folder.file("t.csv", "instance,item,x\nu,b,1\nu,a,3\n");
    let columns = LongColumns { item: Some("item".into()), items: words(&["a", "b"]), ..LongColumns::default() };
    let features = csv::read_features(&path, &Layout::Long(columns), &words(&["x"])).unwrap();
    assert_eq!(features.values().as_slice(), [3.0, 1.0]);
    assert_eq!(features.shape(), Shape::Long { items: 2 });
}

#[test]
fn a_long_table_without_items_goes_by_the_order_of_rows() {
    let folder = Folder::new();
    let data = folder.csv("cost,instance,x\n1,7,2\n3,7,4\n5,6,6\n7,6,8\n", &long(None)).unwrap();
    assert_eq!(data.costs().as_slice(), [1.0, 3.0, 5.0, 7.0]);
    assert_eq!(data.features().names(), ["x"]);
}

#[test]
fn features_are_taken_by_name_in_the_order_of_the_model() {
    let folder = Folder::new();
    let path = folder.file("t.csv", "note,b,a,extra\nhello,1,2,3\nworld,4,5,6\n");
    let layout = wide(&[], &[], &[]);
    let features = csv::read_features(&path, &layout, &words(&["a", "b"])).unwrap();
    assert_eq!(features.values().as_slice(), [2.0, 1.0, 5.0, 4.0]);
    let error = csv::read_features(&path, &layout, &words(&["a", "z"])).unwrap_err();
    let message = "t.csv, row 1, column z: there is no such column; the file has: note, b, a, extra";
    assert_eq!(folder.words(&error), message);
}

/// Every case: what the file holds and the whole message.
fn assert_messages(layout: &Layout, cases: &[(&[u8], &str)]) {
    let folder = Folder::new();
    for (content, message) in cases {
        let found = folder.csv(content, layout);
        assert_eq!(found.unwrap_err(), *message, "{:?}", String::from_utf8_lossy(content));
    }
}

#[test]
fn bad_cells_are_named_with_row_and_column() {
    assert_messages(
        &wide(&["x", "y"], &["c"], &[]),
        &[
            (
                b"x,y,c\n1,2,3\n1,two,3\n",
                "t.csv, row 3, column y: 'two' is not a number; ignore the column if it is not meant to be one",
            ),
            (b"x,y,c\n1,2,\n", "t.csv, row 2, column c: the cell is empty; fill in a number or leave the row out"),
            (b"x,y,c\n1, ,3\n", "t.csv, row 2, column y: the cell is empty; fill in a number or leave the row out"),
            (b"x,y,c\nNaN,2,3\n", "t.csv, row 2, column x: 'NaN' is not finite; fill in a number or leave the row out"),
            (
                b"x,y,c\n1,2,-inf\n",
                "t.csv, row 2, column c: '-inf' is not finite; fill in a number or leave the row out",
            ),
            (
                b"x,y,c\n1,2,3\n\n1,3.5e38,3\n",
                "t.csv, row 4, column y: '3.5e38' is beyond single precision; numbers reach to 3.4e38",
            ),
            (
                b"x,y,c\r\n1,2,3\r\n1,2,\"1,5\"\r\n",
                "t.csv, row 3, column c: '1,5' is not a number; write a decimal point and no thousands separators",
            ),
            (b"x,y,c\n1,\xff,3\n", "t.csv, row 2, column y: the text is not UTF-8; save the file as UTF-8"),
            (
                b"x,y,n,c\n1,2,\"two\nlines\",3\n1,2,\"\",b\n",
                "t.csv, row 3, column c: 'b' is not a number; ignore the column if it is not meant to be one",
            ),
        ],
    );
}

#[test]
fn bad_rows_and_headers_are_named() {
    assert_messages(
        &wide(&["x", "y"], &["c"], &[]),
        &[
            (b"", "t.csv: the file is empty; its first row must name the columns"),
            (b"\n\r\n", "t.csv: the file is empty; its first row must name the columns"),
            (b"x,y,c\n", "t.csv: there is no row of data below the header"),
            (b"x,y,c\n1,2,3\n1,2\n", "t.csv, row 3, column c: the row has 2 cells, but the header names 3 columns"),
            (b"x,y,c\n1,2,3,4\n", "t.csv, row 2, column 4: the row has 4 cells, but the header names 3 columns"),
            (b"x,y,x,c\n", "t.csv, row 1, column x: columns 1 and 3 have the same name; rename one"),
            (b"x,\xe9,c\n", "t.csv, row 1, column 2: the text is not UTF-8; save the file as UTF-8"),
            (b"\xff\xfex\0,\0c\0\n\0", "t.csv, row 1, column 1: the text is not UTF-8; save the file as UTF-8"),
            (b"x;y;c\n1;2;3\n", "t.csv, row 1: the header seems to be separated by ';'; commas are needed"),
            (b"x,c\n1,2\n", "t.csv, row 1: no column matches 'y'; the file has: x, c"),
            (b"x,y,d\n1,2,3\n", "t.csv, row 1: no column matches 'c'; the file has: x, y, d"),
        ],
    );
}

#[test]
fn doubtful_choices_of_columns_are_refused() {
    let both = "t.csv, row 1, column c: a column cannot be a feature and something else; name it once";
    assert_messages(&wide(&["*"], &["c"], &[]), &[(b"x,c\n1,2\n", both)]);
    let unnamed = "t.csv, row 1, column 1: the column has no name; name it, or leave it out (it may be a row index)";
    assert_messages(&wide(&[], &["c"], &[]), &[(b",x,c\n0,1,2\n", unnamed)]);
    let nothing = "t.csv, row 1: no column of numbers is left for the features; at least one is needed";
    assert_messages(&wide(&[], &["c"], &[]), &[(b"name,c\nbob,2\n", nothing), (b"c\n2\n", nothing)]);
    let began = "t.csv, row 3, column x: found the number '4' in a column that begins with text; \
                 correct it or ignore the column";
    assert_messages(&wide(&[], &["c"], &[]), &[(b"x,y,c\nn/a,2,3\n4,5,6\n", began)]);
    let typing = "t.csv, row 1: no column matches 'Id'; the file has: id, x, c";
    assert_messages(&wide(&[], &["c"], &["Id"]), &[(b"id,x,c\n1,2,3\n", typing)]);
    let nameless = "name the cost columns of the table, for instance by the pattern c*";
    assert_messages(&wide(&[], &[], &[]), &[(b"x\n1\n", nameless)]);
}

#[test]
fn bad_long_tables_are_named_with_instance_and_item() {
    assert_messages(
        &long(Some("item")),
        &[
            (
                b"instance,item,x,cost\nu,a,1,1\nu,b,1,1\nv,a,1,1\n",
                "t.csv, row 4, column item: instance 'v' has no item 'b'; every instance must have the same items",
            ),
            (
                b"instance,item,x,cost\nu,a,1,1\nv,a,1,1\nv,c,1,1\n",
                "t.csv, row 4, column item: instance 'v' has an item 'c', which is not among those of the first instance",
            ),
            (
                b"instance,item,x,cost\nu,a,1,1\nv,a,1,1\nv,a,1,1\n",
                "t.csv, row 4, column item: instance 'v' has item 'a' twice; once is right",
            ),
            (b"instance,item,x,cost\nu,,1,1\n", "t.csv, row 2, column item: the cell is empty; it must name the item"),
            (
                b"instance,x,cost\nu,1,1\n",
                "t.csv, row 1, column item: there is no such column; the file has: instance, x, cost",
            ),
        ],
    );
    assert_messages(
        &long(None),
        &[
            (
                b"instance,x,cost\nu,1,1\nv,1,1\nu,1,1\n",
                "t.csv, row 4, column instance: instance 'u' goes on after another; keep its rows together or name the items",
            ),
            (
                b"instance,x,cost\nu,1,1\nu,1,1\nv,1,1\n",
                "t.csv, row 4, column instance: instance 'v' has 1 rows, but the first instance 'u' has 2; all must have equally many",
            ),
            (b"instance,x,cost\n,1,1\n", "t.csv, row 2, column instance: the cell is empty; it must name the instance"),
            (b"x,cost\n1,1\n", "t.csv, row 1, column instance: there is no such column; the file has: x, cost"),
            (b"instance,x\nu,1\n", "t.csv, row 1, column cost: there is no such column; the file has: instance, x"),
            (
                b"instance,x,cost\nu,1,free\n",
                "t.csv, row 2, column cost: 'free' is not a number; ignore the column if it is not meant to be one",
            ),
        ],
    );
}

#[test]
fn a_missing_file_is_named() {
    let folder = Folder::new();
    let error = csv::read(&folder.path("no.csv"), &wide(&[], &["c"], &[])).unwrap_err();
    assert!(matches!(&error, Error::Io { path, .. } if *path == folder.path("no.csv")), "{error}");
}

/// An NPY file of version 1 with any header and data.
fn npy_file(header: &str, data: &[u8]) -> Vec<u8> {
    let length = (header.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), data].concat()
}

fn npy_header(kind: &str, fortran: &str, shape: &str) -> String {
    format!("{{'descr': '{kind}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n")
}

fn flat<const N: usize>(numbers: impl IntoIterator<Item = [u8; N]>) -> Vec<u8> {
    numbers.into_iter().flatten().collect()
}

#[test]
fn every_type_and_order_of_bytes_gives_the_same_numbers() {
    let folder = Folder::new();
    let whole = [1_u8, 2, 3, 4, 5, 6];
    let kinds: [(&str, Vec<u8>); 12] = [
        ("<f4", flat(whole.map(|v| f32::from(v).to_le_bytes()))),
        (">f4", flat(whole.map(|v| f32::from(v).to_be_bytes()))),
        ("<f8", flat(whole.map(|v| f64::from(v).to_le_bytes()))),
        (">f8", flat(whole.map(|v| f64::from(v).to_be_bytes()))),
        ("|i1", whole.to_vec()),
        ("|u1", whole.to_vec()),
        ("<i2", flat(whole.map(|v| i16::from(v).to_le_bytes()))),
        (">u2", flat(whole.map(|v| u16::from(v).to_be_bytes()))),
        (">i4", flat(whole.map(|v| i32::from(v).to_be_bytes()))),
        ("<u4", flat(whole.map(|v| u32::from(v).to_le_bytes()))),
        ("<i8", flat(whole.map(|v| i64::from(v).to_le_bytes()))),
        (">u8", flat(whole.map(|v| u64::from(v).to_be_bytes()))),
    ];
    for (kind, data) in &kinds {
        let path = folder.file("x.npy", npy_file(&npy_header(kind, "False", "(2, 3)"), data));
        let features = npy::read_features(&path, None).unwrap();
        assert_eq!(features.values().as_slice(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "{kind}");
        let path = folder.file("x.npy", npy_file(&npy_header(kind, "True", "(2, 3)"), data));
        let features = npy::read_features(&path, None).unwrap();
        assert_eq!(features.values().as_slice(), [1.0, 3.0, 5.0, 2.0, 4.0, 6.0], "{kind}");
    }
}

#[test]
fn fortran_order_is_undone_in_three_dimensions() {
    let folder = Folder::new();
    let number = |i: usize, j: usize, k: usize| (100 * i + 10 * j + k) as f32;
    let axes =
        |order: [usize; 3]| (0..24).map(move |n| [n % order[0], n / order[0] % order[1], n / order[0] / order[1]]);
    let stored = flat(axes([2, 3, 4]).map(|[i, j, k]| number(i, j, k).to_le_bytes()));
    let path = folder.file("x.npy", npy_file(&npy_header("<f4", "True", "(2, 3, 4)"), &stored));
    let features = npy::read_features(&path, None).unwrap();
    let expected: Vec<f32> = axes([4, 3, 2]).map(|[k, j, i]| number(i, j, k)).collect();
    assert_eq!(features.values().as_slice(), expected);
}

#[test]
fn a_second_version_of_the_header_is_read() {
    let folder = Folder::new();
    let header = npy_header("<f4", "False", "(1, 1)");
    let bytes = [b"\x93NUMPY\x02\x00", &(header.len() as u32).to_le_bytes()[..], header.as_bytes(), &[0; 4]].concat();
    assert_eq!(npy::read_features(&folder.file("x.npy", bytes), None).unwrap().values().as_slice(), [0.0]);
}

#[test]
fn bad_arrays_are_refused_in_words() {
    let folder = Folder::new();
    let single = |shape: &str, data: &[u8]| npy_file(&npy_header("<f4", "False", shape), data);
    let typed = |kind: &str| npy_file(&npy_header(kind, "False", "(1, 1)"), &[0; 8]);
    let nan = flat([1.0, f32::NAN].map(f32::to_le_bytes));
    let large = npy_file(&npy_header("<f8", "False", "(1, 2, 1)"), &flat([1.0, 1e39].map(f64::to_le_bytes)));
    let nested = npy_file(&format!("{{'descr': {}, 'shape': (1, 1)}}", "[".repeat(60_000)), &[]);
    let cases: [(Vec<u8>, &str); 18] = [
        (single("(200000000, 1000)", &[0; 20]), "the shape [200000000, 1000] takes more than the"),
        (single("(4611686018427387904, 4611686018427387904)", &[]), "takes more than the"),
        (single("(4611686018427387904, 4611686018427387904, 0)", &[]), "is empty"),
        (single("(2, 2)", &[0; 15]), "the shape [2, 2] takes more than the 15 bytes there are; the file was cut off"),
        (single("(2, 2)", &[0; 17]), "17 bytes of data, but its shape [2, 2] takes 16"),
        (single("(0, 3)", &[]), "the array of shape [0, 3] is empty; at least one row and one column are needed"),
        (single("(2,)", &[0; 8]), "the array has shape [2]; features must have 2 dimensions, or 3 for a long table"),
        (single("(1, 2)", &nan), "row 0, column 1: NaN is not a finite number"),
        (large, "row 0, column 0: inf, item 1 is not a finite number of single precision (at most 3.4e38)"),
        (typed("|O"), "the array holds Python objects, which are not read; save it as float32"),
        (typed("<c8"), "an array of type '<c8' is not read; save it as float32"),
        (typed("<f2"), "an array of type '<f2' is not read"),
        (typed("<U2"), "an array of type '<U2' is not read"),
        (npy_file("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", &[0; 4]), "no plain array"),
        (nested, "no plain array"),
        (b"x,c\n1,2\n3,4\n".to_vec(), "the file is not an NPY file; write it with numpy.save"),
        (b"\x93NUM".to_vec(), "the file is not an NPY file, or was cut off; write it with numpy.save"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xff".to_vec(), "a header of 4294967295 bytes"),
    ];
    for (bytes, message) in cases {
        let found = folder.words(&npy::read_features(&folder.file("x.npy", bytes), None).unwrap_err());
        assert!(found.starts_with("x.npy") && found.contains(message), "{found}\n{message}");
    }
}

#[test]
fn arrays_that_do_not_belong_together_are_refused() {
    let folder = Folder::new();
    let array = |name: &str, shape: &str, count: usize| {
        folder.file(name, npy_file(&npy_header("<f4", "False", shape), &vec![0; 4 * count]))
    };
    let message = |features: &Path, costs: &Path| folder.words(&npy::read(features, costs).unwrap_err());
    let (wide, long) = (array("w.npy", "(3, 2)", 6), array("l.npy", "(3, 4, 2)", 24));
    let both = "both files must describe the same";
    assert_eq!(
        message(&wide, &array("c.npy", "(2, 4)", 8)),
        format!("c.npy: the array has shape [2, 4]; w.npy holds features of 3 instances; {both}")
    );
    assert_eq!(
        message(&long, &array("c.npy", "(3, 5)", 15)),
        format!("c.npy: the array has shape [3, 5]; l.npy holds features of 3 instances with 4 items each; {both}")
    );
    assert!(message(&wide, &array("c.npy", "(3, 1, 1)", 3)).contains("costs must have 2 dimensions"));
    let names = words(&["a", "b", "c"]);
    let error = npy::read_features(&wide, Some(&names)).unwrap_err();
    assert_eq!(folder.words(&error), "w.npy: the array has shape [3, 2]; 3 columns of features are needed");
}

#[test]
fn predictions_and_decisions_are_written_under_their_names() {
    let folder = Folder::new();
    let names = words(&["a", "b, c"]);
    let read = |name: &str| fs::read_to_string(folder.path(name)).unwrap();
    let costs = Matrix::new(2, 2, vec![0.1, 2.0, -3.5, 1e-9]).unwrap();
    csv::write_predictions(&folder.path("p.csv"), &names, &costs, false).unwrap();
    assert_eq!(read("p.csv"), "a,\"b, c\"\n0.1,2\n-3.5,1e-9\n");
    let decisions = [Decision::choosing([1]), Decision::choosing([]), Decision::from_dense(&[0.25, 1.0])];
    csv::write_decisions(&folder.path("d.csv"), &names, &decisions, DecisionForm::Dense, false).unwrap();
    assert_eq!(read("d.csv"), "a,\"b, c\"\n0,1\n0,0\n0.25,1\n");
    csv::write_decisions(&folder.path("s.csv"), &names, &decisions, DecisionForm::Sparse, false).unwrap();
    assert_eq!(read("s.csv"), "instance,item,value\n0,\"b, c\",1\n2,a,0.25\n2,\"b, c\",1\n");
    npy::write_decisions(&folder.path("d.npy"), 2, &decisions, false).unwrap();
    let back = npy::read_features(&folder.path("d.npy"), None).unwrap();
    assert_eq!(back.values().as_slice(), [0.0, 1.0, 0.0, 0.0, 0.25, 1.0]);
    let too_wide = [Decision::choosing([2])];
    assert!(csv::write_decisions(&folder.path("n"), &names, &too_wide, DecisionForm::Sparse, false).is_err());
    assert!(npy::write_decisions(&folder.path("n"), 2, &too_wide, false).is_err());
    assert!(csv::write_predictions(&folder.path("n"), &names[..1], &costs, false).is_err());
    assert!(!folder.path("n").exists());
}

#[test]
fn a_taken_path_stops_every_writer_before_it_writes() {
    let (folder, data) = (Folder::new(), wide_data());
    let taken = folder.file("c.npy", "mine");
    let free = folder.path("x.npy");
    assert!(matches!(npy::write(&free, &taken, &data, false), Err(Error::Exists(path)) if path == taken));
    assert!(!free.exists());
    assert!(matches!(csv::write(&taken, &data, false), Err(Error::Exists(_))));
    assert_eq!(fs::read(&taken).unwrap(), b"mine");
    npy::write(&free, &taken, &data, true).unwrap();
    assert_same(&npy::read(&free, &taken).unwrap(), &data);
}

#[test]
fn columns_that_would_share_a_name_are_not_written() {
    let folder = Folder::new();
    let features = Features::new(Matrix::zeros(1, 1), Shape::Wide, Some(words(&["c0"]))).unwrap();
    let data = Dataset::new(features, Matrix::zeros(1, 1), None).unwrap();
    let error = csv::write(&folder.path("t.csv"), &data, false).unwrap_err();
    assert!(error.to_string().contains("two columns would be named 'c0'"), "{error}");
}

#[test]
fn the_housing_table_is_read_as_published() {
    let Some(folder) = common::reference_data() else { return };
    let path = folder.join("california/cal_housing.csv");
    let data = csv::read(&path, &wide(&[], &["medianHouseValue"], &[])).unwrap();
    assert_eq!((data.len(), data.features().names().len()), (20_640, 8));
    assert_eq!(data.costs().as_slice().iter().filter(|value| **value == 500_001.0).count(), 965);
    let column = data.features().names().iter().position(|name| name == "population").unwrap();
    let mean = (0..data.len()).map(|i| f64::from(data.features().values().row(i)[column])).sum::<f64>() / 20_640.0;
    assert!((mean - 1_425.476_744).abs() < 1e-6, "{mean}");
}

fn finite() -> impl Strategy<Value = f32> {
    any::<u32>().prop_map(f32::from_bits).prop_filter("finite", |value| value.is_finite())
}

fn matrix(rows: usize, cols: usize) -> impl Strategy<Value = Matrix> {
    prop::collection::vec(finite(), rows * cols).prop_map(move |values| Matrix::new(rows, cols, values).unwrap())
}

/// Tables of either shape.
fn tables() -> impl Strategy<Value = Dataset> {
    (1_usize..5, 1_usize..5, 1_usize..4, any::<bool>()).prop_flat_map(|(instances, items, width, is_long)| {
        let (rows, shape) = if is_long { (instances * items, Shape::Long { items }) } else { (instances, Shape::Wide) };
        (matrix(rows, width), matrix(instances, items)).prop_map(move |(values, costs)| {
            Dataset::new(Features::new(values, shape, None).unwrap(), costs, None).unwrap()
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_written_is_read_back_to_the_bit(data in tables()) {
        let folder = Folder::new();
        csv::write(&folder.path("t.csv"), &data, false).unwrap();
        let layout = match data.features().shape() {
            Shape::Wide => wide(&["x*"], &["c*"], &[]),
            Shape::Long { .. } => long(Some("item")),
        };
        assert_same(&csv::read(&folder.path("t.csv"), &layout).unwrap(), &data);
        npy::write(&folder.path("x.npy"), &folder.path("c.npy"), &data, false).unwrap();
        assert_same(&npy::read(&folder.path("x.npy"), &folder.path("c.npy")).unwrap(), &data);
    }

    #[test]
    fn any_bytes_are_a_table_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..80), header in "[{}()\\[\\],:'a-z0-9 \\\\]{0,60}") {
        let folder = Folder::new();
        let text = [b"x,item,instance,cost\n", &bytes[..]].concat();
        for layout in [wide(&[], &["cost"], &[]), long(Some("item")), long(None)] {
            let _ = folder.csv(&text, &layout);
            let _ = folder.csv(&bytes, &layout);
        }
        let file = npy_file(&header, &bytes);
        prop_assert_eq!(npy::read_features(&folder.file("x.npy", &file), None).is_ok(), false);
        let file = npy_file(&npy_header("<f4", "False", &header), &bytes);
        let _ = npy::read_features(&folder.file("x.npy", &file), None);
    }

    #[test]
    fn a_quoted_or_plain_row_number_is_that_of_the_line(empty in prop::collection::vec(0_usize..3, 1..6)) {
        let folder = Folder::new();
        let mut text = "note,x,c\n".to_string();
        for gap in &empty {
            text += &"\n".repeat(*gap);
            text += "\"a \"\"b\"\", c\",1,2\n";
        }
        let row = text.lines().count() + 1;
        let found = folder.csv(text + "n,1,bad\n", &wide(&["x"], &["c"], &[])).unwrap_err();
        prop_assert_eq!(found.split(':').next().unwrap(), format!("t.csv, row {row}, column c"));
    }
}
