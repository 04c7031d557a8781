//! Report of an experiment: one HTML page, the figures as files, the tables as Markdown.
//!
//! Everything is a pure function of [`ExperimentResults`]: the same results give the same bytes.
//! The page is self-contained and makes no requests. One SVG writer draws every figure, for the
//! page and for papers; a small script adds selection, sorting and tooltips. Names are untrusted:
//! they are escaped where they are written, and the content security policy of the page allows no
//! script but its own.
//!
//! ```no_run
//! # fn show(results: &regretless_study::experiment::ExperimentResults) -> std::io::Result<()> {
//! std::fs::write("report.html", regretless_study::report::page(results))?;
//! for figure in regretless_study::report::figures(results) {
//!     std::fs::write(format!("{}.svg", figure.name), figure.svg)?;
//! }
//! # Ok(())
//! # }
//! ```

mod axes;
mod figure;
mod markdown;
mod page;
#[cfg(feature = "png")]
mod png;
mod scale;
mod scoreboard;
mod style;
mod svg;
mod table;
mod text;

pub use markdown::markdown;
pub use page::{
    PageSummary, comparison_figures, comparison_page, page, review_figures, review_page,
};
#[cfg(feature = "png")]
pub use png::{PngError, png};
pub use scoreboard::{BoardCell, BoardColumn, BoardRow, BoardTable, Scoreboard};

use crate::experiment::ExperimentResults;

use figure::critical_difference::CriticalDifferenceFigure;
use figure::{FigureWidth, Variant};

/// A figure as a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    /// Its kind and problem, as a file name without extension: `pareto-TSP100`.
    pub name: String,
    /// A self-contained SVG document.
    pub svg: String,
}

/// All figures of the experiment, in its order, problem by problem, except the variants with a
/// linear time axis, which only the page shows.
pub fn figures(results: &ExperimentResults) -> Vec<Figure> {
    let mut figures = Vec::new();
    for figure in figure::all(results, |_| &[FigureWidth::Wide]) {
        if figure.variant == Variant::LinearTime {
            continue;
        }
        if let Some(drawing) = figure.drawings.first() {
            figures.push(Figure {
                svg: drawing.standalone(&figure.caption()),
                name: figure.name,
            });
        }
    }
    let board = Scoreboard::new(results);
    let diagram =
        board.and_then(|board| CriticalDifferenceFigure::draw(&board, &[FigureWidth::Wide]));
    if let Some(diagram) = diagram {
        let svg = diagram.drawings.first();
        figures.extend(svg.map(|svg| Figure {
            name: CriticalDifferenceFigure::NAME.into(),
            svg: svg.standalone(&diagram.explanation),
        }));
    }
    figures
}
