//! Storage of cells: one file each, or any other storage of the caller.

use std::path::PathBuf;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::cell::{CellId, CellRecord};
use regretless::data::atomic_write::write_atomically;
use regretless_base::error::{Error, Result};
use regretless_base::text::file_name_part;

/// Storage of the finished cells of an experiment.
pub trait CellStore: Sync {
    /// The record of a finished cell.
    ///
    /// # Errors
    /// When the storage cannot be read. Damaged records count as missing.
    fn load(&self, id: &CellId) -> Result<Option<CellRecord>>;

    /// Stores a finished cell.
    ///
    /// # Errors
    /// When the storage cannot be written; no further cell is run.
    fn save(&self, record: CellRecord) -> Result<()>;

    /// Stores that a cell failed, with the error whose message is in the record.
    ///
    /// # Errors
    /// When the storage cannot be written; no further cell is run.
    fn save_failure(&self, record: CellRecord, error: Error) -> Result<()>;
}

/// A finished cell as it is stored.
pub(crate) trait StoredCell: Serialize + DeserializeOwned {
    /// Its identity.
    fn id(&self) -> &CellId;
}

impl StoredCell for CellRecord {
    fn id(&self) -> &CellId {
        &self.id
    }
}

/// The hash of everything that the outcome of a cell depends on, and of the version of the program.
///
/// # Errors
/// When a number of the specification cannot be written.
pub(crate) fn cell_key(specification: &impl Serialize) -> Result<String> {
    let text = serde_json::to_vec(&(specification, env!("CARGO_PKG_VERSION")))
        .map_err(|e| Error::setting(format!("a cell cannot be written: {e}")))?;
    Ok(blake3::hash(&text).to_hex()[..16].to_string())
}

/// One file per cell. Failed cells of experiments are stored, too, and not repeated.
#[derive(Debug, Clone)]
pub(crate) struct CellFiles {
    pub(crate) folder: PathBuf,
}

impl CellFiles {
    /// The file of a cell.
    pub(crate) fn path(&self, id: &CellId) -> PathBuf {
        let CellId {
            key,
            problem,
            name,
            seed,
        } = id;
        let name = file_name_part(name);
        let file = format!("{name}-{seed}-{key}.json");
        self.folder.join("cells").join(problem).join(file)
    }

    /// The stored cell; a damaged file counts as missing.
    pub(crate) fn read<R: StoredCell>(&self, id: &CellId) -> Option<R> {
        let text = std::fs::read(self.path(id)).ok()?;
        let record = serde_json::from_slice::<R>(&text).ok()?;
        (record.id().key == id.key).then_some(record)
    }

    /// Writes the file of a cell.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn write<R: StoredCell>(&self, record: &R) -> Result<()> {
        let path = self.path(record.id());
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(Error::io(parent))?;
        }
        write_atomically(&path, true, |out| {
            serde_json::to_writer(out, record).map_err(Into::into)
        })
    }
}

impl CellStore for CellFiles {
    fn load(&self, id: &CellId) -> Result<Option<CellRecord>> {
        Ok(self.read(id))
    }

    fn save(&self, record: CellRecord) -> Result<()> {
        self.write(&record)
    }

    fn save_failure(&self, record: CellRecord, _error: Error) -> Result<()> {
        self.save(record)
    }
}
