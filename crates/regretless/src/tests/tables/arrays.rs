//! NPY files of every type and byte order, and invalid ones.

use std::path::Path;

use regretless::data::npy;

use super::{Folder, strings};

/// An NPY file of version 1 with any header and data.
pub fn npy_file(header: &str, data: &[u8]) -> Vec<u8> {
    let length = (header.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), data].concat()
}

pub fn npy_header(kind: &str, fortran: &str, shape: &str) -> String {
    format!("{{'descr': '{kind}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n")
}

fn flat<const N: usize>(numbers: impl IntoIterator<Item = [u8; N]>) -> Vec<u8> {
    numbers.into_iter().flatten().collect()
}

#[test]
fn every_type_and_byte_order_gives_the_same_numbers() {
    let folder = Folder::new();
    let integers = [1_u8, 2, 3, 4, 5, 6];
    let kinds: [(&str, Vec<u8>); 12] = [
        ("<f4", flat(integers.map(|v| f32::from(v).to_le_bytes()))),
        (">f4", flat(integers.map(|v| f32::from(v).to_be_bytes()))),
        ("<f8", flat(integers.map(|v| f64::from(v).to_le_bytes()))),
        (">f8", flat(integers.map(|v| f64::from(v).to_be_bytes()))),
        ("|i1", integers.to_vec()),
        ("|u1", integers.to_vec()),
        ("<i2", flat(integers.map(|v| i16::from(v).to_le_bytes()))),
        (">u2", flat(integers.map(|v| u16::from(v).to_be_bytes()))),
        (">i4", flat(integers.map(|v| i32::from(v).to_be_bytes()))),
        ("<u4", flat(integers.map(|v| u32::from(v).to_le_bytes()))),
        ("<i8", flat(integers.map(|v| i64::from(v).to_le_bytes()))),
        (">u8", flat(integers.map(|v| u64::from(v).to_be_bytes()))),
    ];
    for (kind, data) in &kinds {
        let path = folder.file(
            "x.npy",
            npy_file(&npy_header(kind, "False", "(2, 3)"), data),
        );
        let features = npy::read_features(&path, None).unwrap();
        assert_eq!(
            features.values().as_slice(),
            [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
            "{kind}"
        );
        let path = folder.file("x.npy", npy_file(&npy_header(kind, "True", "(2, 3)"), data));
        let features = npy::read_features(&path, None).unwrap();
        assert_eq!(
            features.values().as_slice(),
            [1.0, 3.0, 5.0, 2.0, 4.0, 6.0],
            "{kind}"
        );
    }
}

#[test]
fn fortran_order_is_converted_in_three_dimensions() {
    let folder = Folder::new();
    let number = |i: usize, j: usize, k: usize| (100 * i + 10 * j + k) as f32;
    let axes = |order: [usize; 3]| {
        (0..24).map(move |n| {
            [
                n % order[0],
                n / order[0] % order[1],
                n / order[0] / order[1],
            ]
        })
    };
    let stored = flat(axes([2, 3, 4]).map(|[i, j, k]| number(i, j, k).to_le_bytes()));
    let path = folder.file(
        "x.npy",
        npy_file(&npy_header("<f4", "True", "(2, 3, 4)"), &stored),
    );
    let features = npy::read_features(&path, None).unwrap();
    let expected: Vec<f32> = axes([4, 3, 2]).map(|[k, j, i]| number(i, j, k)).collect();
    assert_eq!(features.values().as_slice(), expected);
}

#[test]
fn version_2_of_the_header_is_read() {
    let folder = Folder::new();
    let header = npy_header("<f4", "False", "(1, 1)");
    let bytes = [
        b"\x93NUMPY\x02\x00",
        &(header.len() as u32).to_le_bytes()[..],
        header.as_bytes(),
        &[0; 4],
    ]
    .concat();
    assert_eq!(
        npy::read_features(&folder.file("x.npy", bytes), None)
            .unwrap()
            .values()
            .as_slice(),
        [0.0]
    );
}

#[test]
fn invalid_arrays_are_refused_with_a_message() {
    let folder = Folder::new();
    let single = |shape: &str, data: &[u8]| npy_file(&npy_header("<f4", "False", shape), data);
    let typed = |kind: &str| npy_file(&npy_header(kind, "False", "(1, 1)"), &[0; 8]);
    let nan = flat([1.0, f32::NAN].map(f32::to_le_bytes));
    let large = npy_file(
        &npy_header("<f8", "False", "(1, 2, 1)"),
        &flat([1.0, 1e39].map(f64::to_le_bytes)),
    );
    let nested = npy_file(
        &format!("{{'descr': {}, 'shape': (1, 1)}}", "[".repeat(60_000)),
        &[],
    );
    let cases: [(Vec<u8>, &str); 18] = [
        (
            single("(200000000, 1000)", &[0; 20]),
            "the shape [200000000, 1000] takes more than the",
        ),
        (
            single("(4611686018427387904, 4611686018427387904)", &[]),
            "takes more than the",
        ),
        (
            single("(4611686018427387904, 4611686018427387904, 0)", &[]),
            "is empty",
        ),
        (
            single("(2, 2)", &[0; 15]),
            "the shape [2, 2] takes more than the 15 available bytes; the file was truncated",
        ),
        (
            single("(2, 2)", &[0; 17]),
            "17 bytes of data, but its shape [2, 2] takes 16",
        ),
        (
            single("(0, 3)", &[]),
            "the array of shape [0, 3] is empty; at least one row and one column are needed",
        ),
        (
            single("(2,)", &[0; 8]),
            "the array has shape [2]; features must have 2 dimensions, or 3 for a long table",
        ),
        (
            single("(1, 2)", &nan),
            "row 0, column 1: NaN is not a finite number",
        ),
        (
            large,
            "row 0, column 0: inf, item 1 is not a finite number of single precision (at most \
                3.4e38)",
        ),
        (
            typed("|O"),
            "the array holds Python objects, which are not read; save it as float32",
        ),
        (
            typed("<c8"),
            "an array of type '<c8' is not read; save it as float32",
        ),
        (typed("<f2"), "an array of type '<f2' is not read"),
        (typed("<U2"), "an array of type '<U2' is not read"),
        (
            npy_file(
                "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}",
                &[0; 4],
            ),
            "no plain array",
        ),
        (nested, "no plain array"),
        (
            b"x,c\n1,2\n3,4\n".to_vec(),
            "the file is not an NPY file; write it with numpy.save",
        ),
        (
            b"\x93NUM".to_vec(),
            "the file is not an NPY file, or is truncated; write it with numpy.save",
        ),
        (
            b"\x93NUMPY\x02\x00\xff\xff\xff\xff".to_vec(),
            "a header of 4294967295 bytes",
        ),
    ];
    for (bytes, message) in cases {
        let actual =
            folder.message(&npy::read_features(&folder.file("x.npy", bytes), None).unwrap_err());
        assert!(
            actual.starts_with("x.npy") && actual.contains(message),
            "{actual}\n{message}"
        );
    }
}

#[test]
fn features_and_costs_of_different_shapes_are_refused() {
    let folder = Folder::new();
    let array = |name: &str, shape: &str, count: usize| {
        folder.file(
            name,
            npy_file(&npy_header("<f4", "False", shape), &vec![0; 4 * count]),
        )
    };
    let message =
        |features: &Path, costs: &Path| folder.message(&npy::read(features, costs).unwrap_err());
    let (wide, long) = (array("w.npy", "(3, 2)", 6), array("l.npy", "(3, 4, 2)", 24));
    let remedy = "both files must have the same instances";
    assert_eq!(
        message(&wide, &array("c.npy", "(2, 4)", 8)),
        format!("c.npy: the array has shape [2, 4]; w.npy has features of 3 instances; {remedy}")
    );
    assert_eq!(
        message(&long, &array("c.npy", "(3, 5)", 15)),
        format!(
            "c.npy: the array has shape [3, 5]; l.npy has features of 3 instances with 4 items \
                each; {remedy}"
        )
    );
    assert!(
        message(&wide, &array("c.npy", "(3, 1, 1)", 3)).contains("costs must have 2 dimensions")
    );
    let names = strings(&["a", "b", "c"]);
    let error = npy::read_features(&wide, Some(&names)).unwrap_err();
    assert_eq!(
        folder.message(&error),
        "w.npy: the array has shape [3, 2]; 3 columns of features are needed"
    );
}
