//! The types of the fields in footers and page headers, as the Parquet format defines them.

/// Type codes of true and false.
pub(super) const BOOLEAN_CODES: [u8; 2] = [1, 2];

/// The type of a value.
pub(super) enum ValueType {
    Boolean,
    Byte,
    /// An integer of 16, 32 or 64 bits: all are written alike.
    Integer,
    Double,
    Binary,
    List(&'static Self),
    Structure(&'static [(i16, Self)]),
}

use ValueType::{Binary, Boolean, Byte, Double, Integer, List, Structure};

/// Metadata at the end of a file (`FileMetaData`). Fields that are not listed are skipped by the
/// decoder.
pub(super) const FOOTER: ValueType = Structure(&[
    (1, Integer),
    (SCHEMA_FIELD, List(&SCHEMA_ELEMENT)),
    (3, Integer),
    (4, List(&ROW_GROUP)),
    (5, List(&KEY_VALUE)),
    (6, Binary),
    (7, List(&COLUMN_ORDER)),
]);
pub(super) const SCHEMA_FIELD: i16 = 2;
const SCHEMA_ELEMENT: ValueType = Structure(&[
    (1, Integer),
    (2, Integer),
    (3, Integer),
    (4, Binary),
    (NUM_CHILDREN_FIELD, Integer),
    (6, Integer),
    (7, Integer),
    (8, Integer),
    (9, Integer),
    (10, LOGICAL_TYPE),
]);
pub(super) const NUM_CHILDREN_FIELD: i16 = 5;
const EMPTY: ValueType = Structure(&[]);
const TIME: ValueType = Structure(&[
    (1, Boolean),
    (2, Structure(&[(1, EMPTY), (2, EMPTY), (3, EMPTY)])),
]);
const LOGICAL_TYPE: ValueType = Structure(&[
    (1, EMPTY),
    (2, EMPTY),
    (3, EMPTY),
    (4, EMPTY),
    (5, Structure(&[(1, Integer), (2, Integer)])),
    (6, EMPTY),
    (7, TIME),
    (8, TIME),
    (10, Structure(&[(1, Byte), (2, Boolean)])),
    (11, EMPTY),
    (12, EMPTY),
    (13, EMPTY),
    (14, EMPTY),
    (15, EMPTY),
    (16, Structure(&[(1, Byte)])),
    (17, Structure(&[(1, Binary)])),
    (18, Structure(&[(1, Binary), (2, Integer)])),
    (19, EMPTY),
]);
const KEY_VALUE: ValueType = Structure(&[(1, Binary), (2, Binary)]);
const COLUMN_ORDER: ValueType = Structure(&[(1, EMPTY), (2, EMPTY)]);
const ROW_GROUP: ValueType = Structure(&[
    (1, List(&COLUMN_CHUNK)),
    (2, Integer),
    (3, Integer),
    (4, List(&SORTING_COLUMN)),
    (5, Integer),
    (7, Integer),
]);
const SORTING_COLUMN: ValueType = Structure(&[(1, Integer), (2, Boolean), (3, Boolean)]);
const COLUMN_CHUNK: ValueType = Structure(&[
    (1, Binary),
    (2, Integer),
    (3, COLUMN_METADATA),
    (4, Integer),
    (5, Integer),
    (6, Integer),
    (7, Integer),
]);
const COLUMN_METADATA: ValueType = Structure(&[
    (1, Integer),
    (2, List(&Integer)),
    (4, Integer),
    (5, Integer),
    (6, Integer),
    (7, Integer),
    (8, List(&KEY_VALUE)),
    (9, Integer),
    (10, Integer),
    (11, Integer),
    (12, STATISTICS),
    (13, List(&PAGE_ENCODING_STATISTICS)),
    (14, Integer),
    (15, Integer),
    (16, SIZE_STATISTICS),
    (17, GEOSPATIAL_STATISTICS),
]);
const STATISTICS: ValueType = Structure(&[
    (1, Binary),
    (2, Binary),
    (3, Integer),
    (4, Integer),
    (5, Binary),
    (6, Binary),
    (7, Boolean),
    (8, Boolean),
    (9, Integer),
]);
const PAGE_ENCODING_STATISTICS: ValueType = Structure(&[(1, Integer), (2, Integer), (3, Integer)]);
const SIZE_STATISTICS: ValueType =
    Structure(&[(1, Integer), (2, List(&Integer)), (3, List(&Integer))]);
const GEOSPATIAL_STATISTICS: ValueType = Structure(&[
    (
        1,
        Structure(&[
            (1, Double),
            (2, Double),
            (3, Double),
            (4, Double),
            (5, Double),
            (6, Double),
            (7, Double),
            (8, Double),
        ]),
    ),
    (2, List(&Integer)),
]);

/// The header of a page (`PageHeader`).
pub(super) const PAGE_HEADER: ValueType = Structure(&[
    (PAGE_TYPE_FIELD, Integer),
    (UNCOMPRESSED_SIZE_FIELD, Integer),
    (COMPRESSED_SIZE_FIELD, Integer),
    (4, Integer),
    (
        5,
        Structure(&[
            (1, Integer),
            (2, Integer),
            (3, Integer),
            (4, Integer),
            (5, PAGE_STATISTICS),
        ]),
    ),
    (6, EMPTY),
    (7, Structure(&[(1, Integer), (2, Integer), (3, Boolean)])),
    (
        8,
        Structure(&[
            (1, Integer),
            (2, Integer),
            (3, Integer),
            (4, Integer),
            (5, Integer),
            (6, Integer),
            (7, Boolean),
            (8, PAGE_STATISTICS),
        ]),
    ),
]);
pub(super) const PAGE_TYPE_FIELD: i16 = 1;
pub(super) const UNCOMPRESSED_SIZE_FIELD: i16 = 2;
pub(super) const COMPRESSED_SIZE_FIELD: i16 = 3;
const PAGE_STATISTICS: ValueType = Structure(&[
    (1, Binary),
    (2, Binary),
    (3, Integer),
    (4, Integer),
    (5, Binary),
    (6, Binary),
]);

impl ValueType {
    /// Whether the protocol marks a value of this type by a code.
    pub fn has_code(&self, code: u8) -> bool {
        match self {
            Boolean => BOOLEAN_CODES.contains(&code),
            Byte => code == 3,
            Integer => matches!(code, 4..=6),
            Double => code == 7,
            Binary => code == 8,
            List(_) => code == 9,
            Structure(_) => code == 12,
        }
    }
}
