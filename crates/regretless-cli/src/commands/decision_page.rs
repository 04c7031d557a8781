//! The page about decisions on one's own data that `train` and `backtest` write, and what it has in
//! common with that of `compare`.

use std::path::Path;

use regretless::data::OutputFile;
use regretless::{Error, Result};
use regretless_study::decision_page::DecisionPage;
use regretless_study::report::Figure;
use regretless_study::table_report::Fact;
use regretless_study::text::write_text;

use super::CommandContext;
use crate::args::{DataOptions, PageOptions};
use crate::output::{CommandReport, path_json};

/// Checks before long work that the page can be written. `may_exist` says that an existing one may
/// be that of an earlier call with the same results.
pub fn check(
    page: &PageOptions,
    unit: Option<&str>,
    may_exist: bool,
    context: &CommandContext,
) -> Result<()> {
    if let Some(unit) = unit
        && (unit.trim().is_empty() || unit.chars().any(char::is_control))
    {
        return Err(Error::setting(format!(
            "the unit {unit:?} is empty or has control characters"
        ))
        .with_remedy("write a word such as EUR"));
    }
    if let Some(folder) = &page.figures {
        check_figures(folder, context.force)?;
    }
    match &page.report {
        Some(path) => OutputFile::new(path, context.force || may_exist).check_free(),
        None => Ok(()),
    }
}

/// Refuses a folder of figures that is a file or, without `force`, has files.
fn check_figures(folder: &Path, force: bool) -> Result<()> {
    let is_empty = || std::fs::read_dir(folder).is_ok_and(|mut files| files.next().is_none());
    let is_usable = folder.is_dir() && (force || is_empty());
    if folder.exists() && !is_usable {
        return Err(Error::Exists(folder.to_path_buf()));
    }
    Ok(())
}

/// Refuses coordinates if no page is written that would use them.
pub fn check_coordinates(page: &PageOptions) -> Result<()> {
    if !page.is_wanted() && page.coordinates.is_some() {
        return Err(Error::setting("--coordinates are for a page")
            .with_remedy("give --report a file or --figures a folder, or leave them out"));
    }
    Ok(())
}

/// Writes what the options ask for, and says where it is.
pub fn write(
    drawn: &DecisionPage,
    page: &PageOptions,
    may_replace: bool,
    report: &mut CommandReport,
) -> Result<()> {
    if let Some(path) = &page.report {
        write_page(path, &drawn.html, may_replace)?;
        mention(path, report);
    }
    write_page_figures(drawn, page, report)
}

/// Writes a page. That of an earlier call with the same results is left as it is.
pub fn write_page(path: &Path, html: &str, may_replace: bool) -> Result<()> {
    if std::fs::read(path).is_ok_and(|written| written == html.as_bytes()) {
        return Ok(());
    }
    write_text(path, html, may_replace)
}

/// Writes the figures of a page if the options ask for them.
pub fn write_page_figures(
    drawn: &DecisionPage,
    page: &PageOptions,
    report: &mut CommandReport,
) -> Result<()> {
    let Some(folder) = &page.figures else {
        return Ok(());
    };
    write_figures(folder, &drawn.figures)?;
    report.json["figures"] = path_json(folder);
    report.line(format!(
        "{} figures in {}",
        drawn.figures.len(),
        folder.display()
    ));
    Ok(())
}

/// Writes every figure as SVG, and as PNG if the program was built with it.
pub fn write_figures(folder: &Path, figures: &[Figure]) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(Error::io(folder))?;
    for figure in figures {
        let file = |extension: &str| folder.join(format!("{}.{extension}", figure.name));
        write_text(&file("svg"), &figure.svg, true)?;
        #[cfg(feature = "png")]
        {
            let picture = regretless_study::report::png(&figure.svg, 1600)
                .map_err(|error| Error::setting(error.to_string()))?;
            OutputFile::new(&file("png"), true).write(|out| out.write_all(&picture))?;
        }
    }
    Ok(())
}

/// Says where the page is.
pub fn mention(path: &Path, report: &mut CommandReport) {
    report.json["report"] = path_json(path);
    report.line(format!("report in {}", path.display()));
}

/// What a table is called in titles.
pub fn table_name(data: &DataOptions) -> Option<String> {
    let file = data.data.as_ref().or(data.cost_data.as_ref())?;
    Some(file.file_name()?.to_string_lossy().into_owned())
}

/// The files that a table was read from.
pub fn origin(data: &DataOptions) -> Vec<Fact> {
    let mut files = Vec::new();
    for (what, file) in [("table", &data.data), ("costs", &data.cost_data)] {
        if let Some(file) = file {
            files.push((what.to_string(), file.display().to_string()));
        }
    }
    files
}
