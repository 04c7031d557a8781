//! Where `reproduce` finds real data: in the files named by the user, else in the folder `testdata`
//! of a clone of the repository.

use std::path::{Path, PathBuf};

use regretless_study::experiment::DataFiles;

use crate::args::ReproduceOptions;

/// The files to read. Files that nobody named and no clone holds stay `None`; a problem that needs
/// them reports so.
pub fn locate(options: &ReproduceOptions, current_folder: &Path) -> DataFiles {
    let repository_data = repository_data(current_folder);
    let from_repository = |path: &str| {
        let path = repository_data.as_ref()?.join(path);
        path.exists().then_some(path)
    };
    DataFiles {
        california: (options.california.clone())
            .or_else(|| from_repository("california/cal_housing.csv")),
        energy: options.energy.clone().or_else(|| from_repository("energy")),
        // The repository has some tasks, so a folder of the user need not have them.
        scoreboard: options
            .scoreboard
            .clone()
            .into_iter()
            .chain(from_repository("scoreboard"))
            .collect(),
    }
}

/// The folder `testdata` of the clone that holds a folder. Its manifest tells it from folders of
/// the same name in other projects.
fn repository_data(folder: &Path) -> Option<PathBuf> {
    let candidates = folder.ancestors().map(|folder| folder.join("testdata"));
    let mut with_manifest = candidates.filter(|data| is_reference_data(data));
    with_manifest.next()
}

fn is_reference_data(folder: &Path) -> bool {
    folder.join("MANIFEST.csv").is_file() && folder.join("golden").is_dir()
}
