//! The public API of the library stays small.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use syn::{Item, UseTree, Visibility};

use crate::sizes::check_number;
use crate::{parsed, root};

/// Types, traits and free functions that users of the library can name. Custom losses
/// (`BatchLoss`, `BatchLossInput`), intervals over seeds (`RegretSample`) and the report of `auto`
/// (`SearchReport`) came after the first 150; then the 16 types that an explanation of a decision
/// consists of, because its parts are results that users read field by field; backtests
/// (`backtest`) are thirteen: settings, table, folds, what the user has, results and verdict;
/// reviews (`review`) are eight: what a page shows, which another crate draws. `SolvePlace` is a
/// field of an error. Notes (`notes`) are six, which interfaces print: a note, its kind, and what
/// it is about; `ChosenCandidates` is a field of a backtest, and
/// `SeedDesign` says which interval over seeds holds. `MissingPredictions` and
/// `UnpredictedCosts` are what an evaluation says of costs that no training row has. `Recourse` is
/// the capability of kinds that predict quantities, `Remedy` the field of an error with commands to
/// paste.
///
/// The number may only fall: a change that lowers it lowers the constant. The one time that it may
/// rise is a part of a large trait that becomes a trait of its own, as `Sensitivity` did.
const PUBLIC_ITEMS: usize = 207;

#[test]
fn the_public_api_stays_small() {
    let mut names = BTreeSet::new();
    let source = root().join("crates/regretless/src");
    collect_module(&source.join("lib.rs"), &source, &mut names);
    assert!(names.len() > 50, "only {} public items found", names.len());
    check_number("public item", &names, PUBLIC_ITEMS);
}

/// Adds the names that a public module defines or re-exports. Type names are unique in the crate,
/// so an item with two paths counts once. `folder` has the files of the module's submodules.
fn collect_module(file: &Path, folder: &Path, names: &mut BTreeSet<String>) {
    collect_items(&parsed(file).items, folder, names);
}

fn collect_items(items: &[Item], folder: &Path, names: &mut BTreeSet<String>) {
    for item in items {
        let (visibility, name) = match item {
            Item::Struct(item) => (&item.vis, &item.ident),
            Item::Enum(item) => (&item.vis, &item.ident),
            Item::Union(item) => (&item.vis, &item.ident),
            Item::Trait(item) => (&item.vis, &item.ident),
            Item::Type(item) => (&item.vis, &item.ident),
            Item::Fn(item) => (&item.vis, &item.sig.ident),
            Item::Mod(item) => (&item.vis, &item.ident),
            Item::Use(item) => {
                if is_public(&item.vis) {
                    collect_use(&item.tree, None, names);
                }
                continue;
            }
            _ => continue,
        };
        if !is_public(visibility) {
            continue;
        }
        if let Item::Mod(module) = item {
            let folder = folder.join(name.to_string());
            match &module.content {
                Some((_, items)) => collect_items(items, &folder, names),
                None => collect_module(&module_file(&folder), &folder, names),
            }
        } else {
            names.insert(name.to_string());
        }
    }
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// The file of a module with this folder of submodules.
fn module_file(folder: &Path) -> PathBuf {
    let file = folder.with_extension("rs");
    if file.exists() {
        file
    } else {
        folder.join("mod.rs")
    }
}

/// Adds the names at the ends of a re-export; constants do not count. Modules of other crates of
/// the workspace are followed.
fn collect_use(tree: &UseTree, source: Option<&Path>, names: &mut BTreeSet<String>) {
    let name = match tree {
        UseTree::Path(path) => {
            let folder = path.ident.to_string().replace('_', "-");
            let source = match source {
                Some(source) => source.join(&folder),
                None => root().join("crates").join(&folder).join("src"),
            };
            return collect_use(&path.tree, Some(&source), names);
        }
        UseTree::Group(group) => {
            for tree in &group.items {
                collect_use(tree, source, names);
            }
            return;
        }
        UseTree::Name(name) => name.ident.to_string(),
        UseTree::Rename(rename) => rename.rename.to_string(),
        UseTree::Glob(_) => panic!("a public re-export lists its names"),
    };
    if name.chars().any(char::is_uppercase) {
        if name.chars().any(char::is_lowercase) {
            names.insert(name);
        }
        return;
    }
    let folder = source.unwrap_or(Path::new("")).join(&name);
    if module_file(&folder).exists() {
        collect_module(&module_file(&folder), &folder, names);
    } else {
        names.insert(name);
    }
}
