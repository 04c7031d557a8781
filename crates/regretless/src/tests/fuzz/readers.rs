//! The readers under test, each with the files its mutants are made of.

use std::path::{Path, PathBuf};

use crate::checkpoint;
use crate::data::csv;
use crate::data::npy;
use crate::data::{Layout, LongColumns, WideColumns};
use crate::label;
use crate::predict::CostModel;
use crate::problem::Problem;
use crate::settings::TrainingSettings;

/// A reader of files.
pub struct Reader {
    /// Its name, and that of its corpus folder.
    pub name: &'static str,
    /// Extension of the mutants, by which some readers detect the format.
    pub extension: &'static str,
    /// Files of `testdata` that serve as a corpus beside the folder of the reader.
    pub published: &'static [&'static str],
    /// What the content of a file is.
    pub content: Content,
    /// Reads a file; the text is what was read, or the error.
    pub read: fn(&Path) -> Result<String, String>,
}

/// How mutants of a file are made.
#[derive(Clone, Copy)]
pub enum Content {
    /// Mutations of lines, words and bytes.
    Text,
    /// Mutations of bytes.
    Binary,
    /// Mutations of bytes, or of the header's words with a checksum that matches again.
    Checksummed {
        /// Writes a mutant with a matching checksum; `None` when the mutant is no such file.
        with_matching_checksum: fn(&[u8]) -> Option<Vec<u8>>,
    },
}

/// Every reader.
pub const READERS: [Reader; 13] = [
    Reader {
        name: "csv_wide",
        extension: "csv",
        published: &[],
        content: Content::Text,
        read: |path| {
            let columns = WideColumns {
                costs: vec!["cost*".into()],
                ..WideColumns::default()
            };
            shown(csv::read(path, &Layout::Wide(columns)))
        },
    },
    Reader {
        name: "csv_long",
        extension: "csv",
        published: &[],
        content: Content::Text,
        read: |path| {
            let columns = LongColumns {
                item: Some("item".into()),
                ..LongColumns::default()
            };
            shown(csv::read(path, &Layout::Long(columns)))
        },
    },
    Reader {
        name: "npy",
        extension: "npy",
        published: &[],
        content: Content::Binary,
        read: |path| shown(npy::read_costs(path, npy::Storage::Memory)),
    },
    Reader {
        name: "problem_toml",
        extension: "toml",
        published: &[],
        content: Content::Text,
        read: problem,
    },
    Reader {
        name: "settings_toml",
        extension: "toml",
        published: &[],
        content: Content::Text,
        read: |path| {
            let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
            let settings: TrainingSettings =
                toml::from_str(&text).map_err(|error| error.to_string())?;
            shown(settings.check().map(|()| settings))
        },
    },
    Reader {
        name: "mps",
        extension: "mps",
        published: &[
            "mps/afiro.mps",
            "mps/sc50b.mps",
            "mps/flugpl.mps",
            "mps/p0033.mps",
        ],
        content: Content::Text,
        read: problem,
    },
    Reader {
        name: "lp",
        extension: "lp",
        published: &[],
        content: Content::Text,
        read: problem,
    },
    Reader {
        name: "tsplib",
        extension: "tsp",
        published: &["tsplib/gr17.tsp", "tsplib/ulysses16.tsp", "tsplib/att48.tsp"],
        content: Content::Text,
        read: problem,
    },
    Reader {
        name: "cvrplib",
        extension: "vrp",
        published: &["cvrp/E-n13-k4.vrp", "cvrp/P-n16-k8.vrp"],
        content: Content::Text,
        read: problem,
    },
    Reader {
        name: "orlib",
        extension: "txt",
        published: &[],
        content: Content::Text,
        read: problem,
    },
    Reader {
        name: "model",
        extension: "safetensors",
        published: &[],
        content: Content::Checksummed {
            with_matching_checksum: CostModel::with_matching_checksum,
        },
        read: |path| shown(CostModel::load(path)),
    },
    Reader {
        name: "labels",
        extension: "safetensors",
        published: &[],
        content: Content::Checksummed {
            with_matching_checksum: label::file::with_matching_checksum,
        },
        read: |path| {
            let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
            label::file::decode_any(&bytes).map(|labels| format!("{labels:?}"))
        },
    },
    Reader {
        name: "checkpoint",
        extension: "safetensors",
        published: &[],
        content: Content::Checksummed {
            with_matching_checksum: checkpoint::file::with_matching_checksum,
        },
        read: |path| {
            let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
            checkpoint::file::decode_any(&bytes).map(|()| String::new())
        },
    },
];

fn problem(path: &Path) -> Result<String, String> {
    shown(Problem::from_file(path).map(|problem| problem.name()))
}

fn shown<T: std::fmt::Debug>(result: crate::Result<T>) -> Result<String, String> {
    result
        .map(|value| format!("{value:?}"))
        .map_err(|error| error.to_string())
}

impl Reader {
    /// The files that mutants are made of.
    pub fn corpus(&self) -> Vec<Vec<u8>> {
        let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
        let mut paths: Vec<PathBuf> = (self.published.iter())
            .map(|path| testdata.join(path))
            .collect();
        let folder = testdata.join("fuzz").join(self.name);
        if let Ok(entries) = std::fs::read_dir(folder) {
            paths.extend(entries.map(|entry| entry.unwrap().path()));
        }
        paths.sort();
        assert!(!paths.is_empty(), "{}: the corpus is empty", self.name);
        let files = paths.iter().map(|path| std::fs::read(path).unwrap());
        files.collect()
    }
}
