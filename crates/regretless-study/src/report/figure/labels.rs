//! Rows with a label each: to the left of the row if there is space, and else above it.

use crate::experiment::MethodResults;
use crate::report::svg::{Anchor, Rect, Svg, TEXT_HEIGHT};
use crate::report::text::{clipped_to, width};

/// Height of a row whose label is to its left.
const ROW_HEIGHT: f64 = 20.0;
/// Height of a row whose label is above it.
const TALL_ROW_HEIGHT: f64 = 34.0;
/// Least width of the plot next to labels. Untuned: narrower bars are hard to compare.
const MIN_PLOT_WIDTH: f64 = 130.0;
/// Most of a drawing's width that labels to the left take.
const MAX_LABEL_FRACTION: f64 = 0.38;

/// The row of a method in a figure.
#[derive(Clone, Copy)]
pub(super) struct MethodRow<'a> {
    pub(super) rows: &'a LabeledRows,
    pub(super) row: usize,
    pub(super) method: &'a MethodResults,
    /// The number of the method among all of the problem.
    pub(super) index: usize,
}

impl<'a> MethodRow<'a> {
    /// Methods with their numbers, from the first row on.
    pub(super) fn all(
        rows: &'a LabeledRows,
        methods: &'a [(usize, &'a MethodResults)],
    ) -> impl Iterator<Item = Self> {
        let methods = methods.iter().enumerate();
        methods.map(move |(row, (index, method))| Self {
            rows,
            row,
            method,
            index: *index,
        })
    }

    pub(super) fn middle(&self) -> f64 {
        self.rows.middle(self.row)
    }
}

/// The layout of labeled rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct LabeledRows {
    /// Plot area of all rows.
    pub(super) area: Rect,
    row_height: f64,
    labels_above: bool,
}

impl LabeledRows {
    /// Rows from `top` on with these labels in a drawing of this width, and with `right` units to
    /// the right of the plot.
    pub(super) fn new<'a>(
        drawing_width: f64,
        labels: impl Iterator<Item = &'a str> + Clone,
        top: f64,
        right: f64,
    ) -> Self {
        let widest = labels
            .clone()
            .map(|label| width(label) * TEXT_HEIGHT * 1.05)
            .fold(40.0, f64::max);
        let wanted = widest.min(MAX_LABEL_FRACTION * drawing_width) + 22.0;
        let labels_above = widest > MAX_LABEL_FRACTION * drawing_width
            || drawing_width - wanted - right < MIN_PLOT_WIDTH;
        let (left, row_height) = if labels_above {
            (12.0, TALL_ROW_HEIGHT)
        } else {
            (wanted, ROW_HEIGHT)
        };
        let height = row_height * labels.count() as f64;
        Self {
            area: Rect::new(left, top, drawing_width - left - right, height),
            row_height,
            labels_above,
        }
    }

    /// Height of the middle of a row's bar.
    pub(super) fn middle(&self, row: usize) -> f64 {
        let top = self.area.top + row as f64 * self.row_height;
        if self.labels_above {
            top + self.row_height - 10.0
        } else {
            top + self.row_height / 2.0
        }
    }

    /// Writes the label of a row.
    pub(super) fn write(&self, svg: &mut Svg, row: usize, class: &str, label: &str) {
        let middle = self.middle(row);
        if self.labels_above {
            let label = clipped_to(label, (self.area.width + 60.0) / TEXT_HEIGHT / 1.05);
            svg.text(
                (self.area.left, middle - 11.0),
                Anchor::Start,
                class,
                &label,
            );
        } else {
            let label = clipped_to(label, (self.area.left - 16.0) / TEXT_HEIGHT / 1.02);
            svg.text(
                (self.area.left - 8.0, middle + 4.0),
                Anchor::End,
                class,
                &label,
            );
        }
    }
}
