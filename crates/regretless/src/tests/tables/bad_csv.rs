//! Invalid CSV tables: the kind of error, its file, row and column, and what it quotes.

use regretless::data::{CsvDialect, FeatureOptions, Layout, WideColumns, csv};
use regretless::error::InputPlace;
use regretless::{Error, ErrorKind};

use super::{Folder, long, wide};

/// Content of a file and the error that reading it ends with.
struct Case<'a> {
    content: &'a [u8],
    row: Option<u64>,
    column: Option<&'a str>,
    /// Values, names and counts that the message has to contain.
    quoted: &'a [&'a str],
}

fn case<'a>(
    content: &'a [u8],
    row: impl Into<Option<u64>>,
    column: impl Into<Option<&'a str>>,
    quoted: &'a [&'a str],
) -> Case<'a> {
    Case {
        content,
        row: row.into(),
        column: column.into(),
        quoted,
    }
}

fn assert_errors(layout: &Layout, cases: &[Case<'_>]) {
    let folder = Folder::new();
    for case in cases {
        let path = folder.file("t.csv", case.content);
        let error = csv::read(&path, layout, CsvDialect::default()).unwrap_err();
        let context = format!("{:?}: {error}", String::from_utf8_lossy(case.content));
        let place = InputPlace {
            file: Some(path),
            row: case.row,
            column: case.column.map(str::to_owned),
        };
        assert_eq!(error.kind(), ErrorKind::Data, "{context}");
        assert_eq!(error.place(), Some(place), "{context}");
        for text in case.quoted {
            assert!(
                error.to_string().contains(text),
                "'{text}' is not in {context}"
            );
        }
    }
}

/// The text that people see: place, defect, remedy.
#[test]
fn a_message_has_the_place_the_defect_and_the_remedy() {
    let folder = Folder::new();
    assert_eq!(
        folder.csv(b"x,y,c\n1,2,3\n1,two,3\n", &wide(&["x", "y"], &["c"], &[])),
        Err(
            "t.csv, row 3, column y: 'two' is not a number; ignore the column if it is not meant \
             to be one; leave the cell empty if its value is missing"
                .to_owned()
        )
    );
}

#[test]
fn invalid_cells_are_reported_with_row_and_column() {
    assert_errors(
        &wide(&["x", "y"], &["c"], &[]),
        &[
            case(b"x,y,c\n1,2,3\n1,two,3\n", 3, "y", &["'two'"]),
            case(b"x,y,c\n1,2,\n", 2, "c", &["empty"]),
            case(b"x,y,c\n1,2,-inf\n", 2, "c", &["'-inf'"]),
            case(b"x,y,c\n1,2,3\n\n1,3.5e38,3\n", 4, "y", &["'3.5e38'"]),
            // The remedy is another one than for text.
            case(
                b"x,y,c\r\n1,2,3\r\n1,2,\"1,5\"\r\n",
                3,
                "c",
                &["'1,5'", "decimal point"],
            ),
            case(b"x,y,c\n1,2,NA\n", 2, "c", &["'NA'"]),
            case(b"x,y,c\n1,inf,3\n", 2, "y", &["'inf'"]),
            case(b"x,y,c\n1,\xff,3\n", 2, "y", &["UTF-8"]),
            // Rows are counted as a spreadsheet shows them, not lines.
            case(
                b"x,y,n,c\n1,2,\"two\nlines\",3\n1,2,\"\",b\n",
                3,
                "c",
                &["'b'"],
            ),
        ],
    );
}

#[test]
fn gaps_are_errors_where_they_are_refused() {
    let Layout::Wide(columns) = wide(&["x", "y"], &["c"], &[]) else {
        panic!("the layout is wide");
    };
    let options = FeatureOptions {
        refuse_gaps: true,
        ..FeatureOptions::default()
    };
    assert_errors(
        &Layout::Wide(WideColumns { options, ..columns }),
        &[
            case(b"x,y,c\n1, ,3\n", 2, "y", &["empty"]),
            case(b"x,y,c\nNaN,2,3\n", 2, "x", &["'NaN'"]),
        ],
    );
}

#[test]
fn invalid_rows_and_headers_are_reported() {
    assert_errors(
        &wide(&["x", "y"], &["c"], &[]),
        &[
            case(b"", None, None, &["empty"]),
            case(b"\n\r\n", None, None, &["empty"]),
            case(b"x,y,c\n", None, None, &["no row"]),
            case(b"x,y,c\n1,2,3\n1,2\n", 3, "c", &["2 cells", "3 columns"]),
            case(b"x,y,c\n1,2,3,4\n", 2, "4", &["4 cells", "3 columns"]),
            case(b"x,y,x,c\n", 1, "x", &["columns 1 and 3"]),
            case(b"x,\xe9,c\n", 1, "2", &["UTF-8"]),
            case(b"\xff\xfex\0,\0c\0\n\0", 1, "1", &["UTF-8"]),
            case(b"x;y;c\n1;2;3\n", 1, None, &["';'"]),
            case(b"x,c\n1,2\n", 1, None, &["'y'", "x, c"]),
            case(b"x,y,d\n1,2,3\n", 1, None, &["'c'", "x, y, d"]),
        ],
    );
}

#[test]
fn ambiguous_choices_of_columns_are_refused() {
    let remaining = wide(&[], &["c"], &[]);
    assert_errors(
        &wide(&["*"], &["c"], &[]),
        &[case(b"x,c\n1,2\n", 1, "c", &["feature"])],
    );
    assert_errors(
        &remaining,
        &[
            case(b",x,c\n0,1,2\n", 1, "1", &["no name"]),
            case(b"c\n2\n", 1, None, &["features"]),
            case(b"x,y,c\nfew,2,3\n4,5,6\n", 3, "x", &["'4'"]),
            case(
                b"x,y,c\n,2,3\nfew,2,3\n4,5,6\n",
                4,
                "x",
                &["'4'", "`categories`"],
            ),
            case(
                b"x,y,c\nfew,2,3\n2026-01-31,5,6\n",
                3,
                "x",
                &["'2026-01-31'"],
            ),
            case(b"x,y,c\nNA,2,3\n4,5,6\nfew,5,6\n", 4, "x", &["'few'"]),
            // A date that is none.
            case(
                b"x,y,c\n2026-01-31,2,3\n2026-02-29,5,6\n",
                3,
                "x",
                &["'2026-02-29'"],
            ),
            case(
                b"x,y,c\n2026-01-31,2,3\nsoon,5,6\n",
                3,
                "x",
                &["'soon'", "no date"],
            ),
        ],
    );
    assert_errors(
        &wide(&[], &["c"], &["Id"]),
        &[case(b"id,x,c\n1,2,3\n", 1, None, &["'Id'", "id, x, c"])],
    );
    let folder = Folder::new();
    let error = csv::read(
        &folder.file("t.csv", "x\n1\n"),
        &wide(&[], &[], &[]),
        CsvDialect::default(),
    )
    .unwrap_err();
    assert_eq!((error.kind(), error.place()), (ErrorKind::Setting, None));
}

#[test]
fn invalid_long_tables_are_reported_with_instance_and_item() {
    assert_errors(
        &long(Some("item")),
        &[
            case(
                b"instance,item,x,cost\nu,a,1,1\nu,b,1,1\nv,a,1,1\n",
                4,
                "item",
                &["'v'", "'b'"],
            ),
            case(
                b"instance,item,x,cost\nu,a,1,1\nv,a,1,1\nv,c,1,1\n",
                4,
                "item",
                &["'v'", "'c'"],
            ),
            case(
                b"instance,item,x,cost\nu,a,1,1\nv,a,1,1\nv,a,1,1\n",
                4,
                "item",
                &["'v'", "'a'", "twice"],
            ),
            case(b"instance,item,x,cost\nu,,1,1\n", 2, "item", &["empty"]),
            case(
                b"instance,x,cost\nu,1,1\n",
                1,
                "item",
                &["instance, x, cost"],
            ),
        ],
    );
    assert_errors(
        &long(None),
        &[
            case(
                b"instance,x,cost\nu,1,1\nv,1,1\nu,1,1\n",
                4,
                "instance",
                &["'u'"],
            ),
            case(
                b"instance,x,cost\nu,1,1\nu,1,1\nv,1,1\n",
                4,
                "instance",
                &["'v' has 1 rows", "'u' has 2"],
            ),
            case(b"instance,x,cost\n,1,1\n", 2, "instance", &["empty"]),
            case(b"x,cost\n1,1\n", 1, "instance", &["x, cost"]),
            case(b"instance,x\nu,1\n", 1, "cost", &["instance, x"]),
            case(b"instance,x,cost\nu,1,free\n", 2, "cost", &["'free'"]),
        ],
    );
}

#[test]
fn a_missing_file_is_an_error_with_its_path() {
    let folder = Folder::new();
    let error = csv::read(
        &folder.path("no.csv"),
        &wide(&[], &["c"], &[]),
        CsvDialect::default(),
    )
    .unwrap_err();
    assert!(
        matches!(&error, Error::Io { path, .. } if *path == folder.path("no.csv")),
        "{error}"
    );
}
