//! Paths in settings files, which are relative to the folder of the file: a folder of results may
//! be moved, together with the files that it names.

use std::path::{Component, Path, PathBuf};

/// The path of a file as it is written into a settings file in a folder.
pub fn path_from(folder: &Path, file: &Path) -> PathBuf {
    let absolute = |path: &Path| std::path::absolute(path).map(|path| without_dots(&path));
    let (Ok(folder), Ok(target)) = (absolute(folder), absolute(file)) else {
        return file.to_path_buf();
    };
    let pairs = folder.components().zip(target.components());
    let shared = pairs.take_while(|(a, b)| a == b).count();
    let up = folder
        .components()
        .skip(shared)
        .map(|_| Component::ParentDir);
    up.chain(target.components().skip(shared)).collect()
}

/// The file of a path in a settings file in a folder.
pub fn path_in(folder: &Path, file: &Path) -> PathBuf {
    without_dots(&folder.join(file))
}

/// `FILE` or `NAME=FILE` with another path of the file.
pub fn with_path(named: &str, change: impl Fn(&Path) -> PathBuf) -> String {
    match named.split_once('=') {
        Some((name, file)) => format!("{name}={}", change(Path::new(file)).display()),
        None => change(Path::new(named)).display().to_string(),
    }
}

/// A path without `.`, and without folders that `..` leaves again.
fn without_dots(path: &Path) -> PathBuf {
    let mut short = PathBuf::new();
    for component in path.components() {
        let leaves = component == Component::ParentDir
            && matches!(short.components().next_back(), Some(Component::Normal(_)));
        if leaves {
            short.pop();
        } else if component != Component::CurDir {
            short.push(component);
        }
    }
    if short.as_os_str().is_empty() {
        short.push(".");
    }
    short
}
