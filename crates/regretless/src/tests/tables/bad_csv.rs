//! Invalid CSV tables: the complete message, with row and column.

use regretless::Error;
use regretless::data::{Layout, csv};

use super::{Folder, long, wide};

/// Cases are the content of a file and the complete message.
fn assert_messages(layout: &Layout, cases: &[(&[u8], &str)]) {
    let folder = Folder::new();
    for (content, message) in cases {
        let result = folder.csv(content, layout);
        assert_eq!(
            result.unwrap_err(),
            *message,
            "{:?}",
            String::from_utf8_lossy(content)
        );
    }
}

#[test]
fn invalid_cells_are_reported_with_row_and_column() {
    assert_messages(
        &wide(&["x", "y"], &["c"], &[]),
        &[
            (
                b"x,y,c\n1,2,3\n1,two,3\n",
                "t.csv, row 3, column y: 'two' is not a number; ignore the column if it is not \
                    meant to be one",
            ),
            (
                b"x,y,c\n1,2,\n",
                "t.csv, row 2, column c: the cell is empty; fill in a number or leave the row out",
            ),
            (
                b"x,y,c\n1, ,3\n",
                "t.csv, row 2, column y: the cell is empty; fill in a number or leave the row out",
            ),
            (
                b"x,y,c\nNaN,2,3\n",
                "t.csv, row 2, column x: 'NaN' is not finite; fill in a number or leave the row \
                    out",
            ),
            (
                b"x,y,c\n1,2,-inf\n",
                "t.csv, row 2, column c: '-inf' is not finite; fill in a number or leave the row \
                    out",
            ),
            (
                b"x,y,c\n1,2,3\n\n1,3.5e38,3\n",
                "t.csv, row 4, column y: '3.5e38' is beyond single precision; numbers reach to \
                    3.4e38",
            ),
            (
                b"x,y,c\r\n1,2,3\r\n1,2,\"1,5\"\r\n",
                "t.csv, row 3, column c: '1,5' is not a number; write a decimal point and no \
                    thousands separators",
            ),
            (
                b"x,y,c\n1,\xff,3\n",
                "t.csv, row 2, column y: the text is not UTF-8; save the file as UTF-8",
            ),
            (
                b"x,y,n,c\n1,2,\"two\nlines\",3\n1,2,\"\",b\n",
                "t.csv, row 3, column c: 'b' is not a number; ignore the column if it is not meant \
                    to be one",
            ),
        ],
    );
}

#[test]
fn invalid_rows_and_headers_are_reported() {
    assert_messages(
        &wide(&["x", "y"], &["c"], &[]),
        &[
            (
                b"",
                "t.csv: the file is empty; its first row must name the columns",
            ),
            (
                b"\n\r\n",
                "t.csv: the file is empty; its first row must name the columns",
            ),
            (
                b"x,y,c\n",
                "t.csv: there is no row of data below the header",
            ),
            (
                b"x,y,c\n1,2,3\n1,2\n",
                "t.csv, row 3, column c: the row has 2 cells, but the header names 3 columns",
            ),
            (
                b"x,y,c\n1,2,3,4\n",
                "t.csv, row 2, column 4: the row has 4 cells, but the header names 3 columns",
            ),
            (
                b"x,y,x,c\n",
                "t.csv, row 1, column x: columns 1 and 3 have the same name; rename one",
            ),
            (
                b"x,\xe9,c\n",
                "t.csv, row 1, column 2: the text is not UTF-8; save the file as UTF-8",
            ),
            (
                b"\xff\xfex\0,\0c\0\n\0",
                "t.csv, row 1, column 1: the text is not UTF-8; save the file as UTF-8",
            ),
            (
                b"x;y;c\n1;2;3\n",
                "t.csv, row 1: the header seems to be separated by ';'; commas are needed",
            ),
            (
                b"x,c\n1,2\n",
                "t.csv, row 1: no column matches 'y'; the file has: x, c",
            ),
            (
                b"x,y,d\n1,2,3\n",
                "t.csv, row 1: no column matches 'c'; the file has: x, y, d",
            ),
        ],
    );
}

#[test]
fn ambiguous_choices_of_columns_are_refused() {
    let used_twice =
        "t.csv, row 1, column c: a column cannot be a feature and something else; name it once";
    assert_messages(&wide(&["*"], &["c"], &[]), &[(b"x,c\n1,2\n", used_twice)]);
    let unnamed = "t.csv, row 1, column 1: the column has no name; name it, or leave it out (it \
        may be a row index)";
    assert_messages(&wide(&[], &["c"], &[]), &[(b",x,c\n0,1,2\n", unnamed)]);
    let no_features =
        "t.csv, row 1: no column of numbers is left for the features; at least one is needed";
    assert_messages(
        &wide(&[], &["c"], &[]),
        &[(b"name,c\nbob,2\n", no_features), (b"c\n2\n", no_features)],
    );
    let begins_with_text = "t.csv, row 3, column x: found the number '4' in a column that \
        begins with text; correct it or ignore the column";
    assert_messages(
        &wide(&[], &["c"], &[]),
        &[(b"x,y,c\nn/a,2,3\n4,5,6\n", begins_with_text)],
    );
    let wrong_case = "t.csv, row 1: no column matches 'Id'; the file has: id, x, c";
    assert_messages(
        &wide(&[], &["c"], &["Id"]),
        &[(b"id,x,c\n1,2,3\n", wrong_case)],
    );
    let no_cost_columns = "name the cost columns of the table, for instance by the pattern c*";
    assert_messages(&wide(&[], &[], &[]), &[(b"x\n1\n", no_cost_columns)]);
}

#[test]
fn invalid_long_tables_are_reported_with_instance_and_item() {
    assert_messages(
        &long(Some("item")),
        &[
            (
                b"instance,item,x,cost\nu,a,1,1\nu,b,1,1\nv,a,1,1\n",
                "t.csv, row 4, column item: instance 'v' has no item 'b'; every instance must have \
                    the same items",
            ),
            (
                b"instance,item,x,cost\nu,a,1,1\nv,a,1,1\nv,c,1,1\n",
                "t.csv, row 4, column item: instance 'v' has an item 'c', which is not among those \
                    of the first instance",
            ),
            (
                b"instance,item,x,cost\nu,a,1,1\nv,a,1,1\nv,a,1,1\n",
                "t.csv, row 4, column item: instance 'v' has item 'a' twice; once is right",
            ),
            (
                b"instance,item,x,cost\nu,,1,1\n",
                "t.csv, row 2, column item: the cell is empty; it must name the item",
            ),
            (
                b"instance,x,cost\nu,1,1\n",
                "t.csv, row 1, column item: there is no such column; the file has: instance, x, \
                    cost",
            ),
        ],
    );
    assert_messages(
        &long(None),
        &[
            (
                b"instance,x,cost\nu,1,1\nv,1,1\nu,1,1\n",
                "t.csv, row 4, column instance: instance 'u' continues after another; keep its \
                    rows \
                    together or name the items",
            ),
            (
                b"instance,x,cost\nu,1,1\nu,1,1\nv,1,1\n",
                "t.csv, row 4, column instance: instance 'v' has 1 rows, but the first instance \
                    'u' has 2; all must have equally many",
            ),
            (
                b"instance,x,cost\n,1,1\n",
                "t.csv, row 2, column instance: the cell is empty; it must name the instance",
            ),
            (
                b"x,cost\n1,1\n",
                "t.csv, row 1, column instance: there is no such column; the file has: x, cost",
            ),
            (
                b"instance,x\nu,1\n",
                "t.csv, row 1, column cost: there is no such column; the file has: instance, x",
            ),
            (
                b"instance,x,cost\nu,1,free\n",
                "t.csv, row 2, column cost: 'free' is not a number; ignore the column if it is not \
                    meant to be one",
            ),
        ],
    );
}

#[test]
fn a_missing_file_is_an_error_with_its_path() {
    let folder = Folder::new();
    let error = csv::read(&folder.path("no.csv"), &wide(&[], &["c"], &[])).unwrap_err();
    assert!(
        matches!(&error, Error::Io { path, .. } if *path == folder.path("no.csv")),
        "{error}"
    );
}
