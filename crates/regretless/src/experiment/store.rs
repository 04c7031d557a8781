//! Storage of cells: one file each, or any other storage of the caller.

use std::path::PathBuf;

use super::cell::{CellId, CellRecord};
use crate::data::atomic_write::write_atomically;
use crate::error::{Error, Result};
use crate::text::file_name_part;

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

/// One file per cell. Failed cells are stored, too, and not repeated.
pub(super) struct CellFiles {
    pub(super) folder: PathBuf,
}

impl CellFiles {
    fn path(&self, id: &CellId) -> PathBuf {
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
}

impl CellStore for CellFiles {
    fn load(&self, id: &CellId) -> Result<Option<CellRecord>> {
        let Ok(text) = std::fs::read(self.path(id)) else {
            return Ok(None);
        };
        let record = serde_json::from_slice::<CellRecord>(&text).ok();
        Ok(record.filter(|record| record.id.key == id.key))
    }

    fn save(&self, record: CellRecord) -> Result<()> {
        let path = self.path(&record.id);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(Error::io(parent))?;
        }
        write_atomically(&path, true, |out| {
            serde_json::to_writer(out, &record).map_err(Into::into)
        })
    }

    fn save_failure(&self, record: CellRecord, _error: Error) -> Result<()> {
        self.save(record)
    }
}
