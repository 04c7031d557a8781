//! Amounts on the lanes from sources to destinations, as bands whose width is the amount (Sankey
//! 1898).

use super::{DecisionView, ExampleInput};
use crate::report::axes::LabelPlacement;
use crate::report::svg::{Anchor, Point, Rect, SMALL_TEXT_HEIGHT, Svg};
use crate::report::text::{clipped_to, trimmed, width};

/// Space between two nodes of a side.
const NODE_GAP: f64 = 9.0;
/// Width of the bar of a node.
const NODE_WIDTH: f64 = 5.0;
/// Most space for the names of a side.
const MAX_NAME_WIDTH: f64 = 62.0;
/// Bands with a number; others have it in the tooltip. Untuned: more numbers overlap.
const MAX_BAND_LABELS: usize = 10;

/// Sources and destinations with the space that they need in all panels, so a node has one place.
pub(super) struct Lanes<'a> {
    sources: &'a [String],
    destinations: &'a [String],
    /// The most that the bands of a node add up to, of each source and of each destination.
    totals: [Vec<f64>; 2],
}

/// A lane in a panel: what the decision and the optimal one ship.
struct Band {
    lane: u32,
    own: f64,
    best: f64,
}

impl Band {
    /// The width that shows both amounts.
    fn amount(&self) -> f64 {
        self.own.max(self.best)
    }
}

/// Where bands leave or reach the nodes of one side: the next free height of each.
struct Side {
    x: f64,
    tops: Vec<f64>,
}

impl<'a> Lanes<'a> {
    pub(super) fn new(
        input: &ExampleInput<'_>,
        sources: &'a [String],
        destinations: &'a [String],
    ) -> Self {
        let mut lanes = Self {
            sources,
            destinations,
            totals: [vec![0.0; sources.len()], vec![0.0; destinations.len()]],
        };
        for view in &input.views {
            let mut sums = [vec![0.0; sources.len()], vec![0.0; destinations.len()]];
            for band in lanes.bands(input, view) {
                for (sums, node) in sums.iter_mut().zip(lanes.ends(band.lane)) {
                    sums[node] += band.amount();
                }
            }
            for (totals, sums) in lanes.totals.iter_mut().zip(sums) {
                for (total, sum) in totals.iter_mut().zip(sums) {
                    *total = total.max(sum);
                }
            }
        }
        lanes
    }

    /// Height of a panel divided by its width.
    pub(super) fn aspect(&self) -> f64 {
        let nodes = self.sources.len().max(self.destinations.len());
        (nodes as f64 * 0.1).clamp(0.6, 1.6)
    }

    /// Panels side by side: names need space on both sides, and many bands need more of it.
    pub(super) fn columns(&self, width: f64) -> usize {
        /// Width of a panel with few and with many nodes. Untuned.
        const MIN_PANEL_WIDTHS: [f64; 2] = [170.0, 240.0];
        /// Most nodes of a narrow panel. Untuned.
        const MAX_NARROW_NODES: usize = 10;
        let has_many = self.sources.len() + self.destinations.len() > MAX_NARROW_NODES;
        let columns = (width / MIN_PANEL_WIDTHS[usize::from(has_many)]) as usize;
        columns.clamp(1, 3)
    }

    /// The source and the destination of a lane.
    fn ends(&self, lane: u32) -> [usize; 2] {
        let count = self.destinations.len().max(1);
        [lane as usize / count, lane as usize % count]
    }

    /// The lanes that the decision or the optimal one uses, in order.
    fn bands(&self, input: &ExampleInput<'_>, view: &DecisionView) -> Vec<Band> {
        let lanes = self.sources.len() * self.destinations.len();
        let optimal = &input.views[0].amounts;
        let mut bands = Vec::new();
        for lane in 0..lanes.min(input.example.costs.len()) as u32 {
            let [own, best] = [&view.amounts, optimal]
                .map(|amounts| amounts.get(&lane).copied().unwrap_or(0.0).max(0.0));
            if own > 0.0 || best > 0.0 {
                bands.push(Band { lane, own, best });
            }
        }
        bands
    }

    pub(super) fn draw(
        &self,
        svg: &mut Svg,
        input: &ExampleInput<'_>,
        view: &DecisionView,
        area: Rect,
    ) {
        let names = [self.sources, self.destinations];
        let name_widths = names.map(|names| {
            let widths = names.iter().map(|name| width(name) * SMALL_TEXT_HEIGHT);
            widths.fold(0.0, f64::max).min(MAX_NAME_WIDTH) + 6.0
        });
        let left = area.left + name_widths[0];
        let right = area.right() - name_widths[1];
        let scale = self.scale(area.height);
        let mut sides = [0, 1].map(|side| Side {
            x: [left, right][side],
            tops: self.node_tops(side, scale, &area),
        });
        let starts = [0, 1].map(|side| sides[side].tops.clone());
        let mut labels = LabelPlacement::new(LabelPlacement::TINTED);
        let inner = Rect::new(left, area.top, right - left, area.height);
        let mut numbers = Vec::new();
        for band in self.bands(input, view) {
            let ends = self.ends(band.lane);
            numbers.extend(draw_band(svg, input, view, &band, ends, &mut sides, scale));
        }
        // Above all bands.
        for label in numbers.iter().take(MAX_BAND_LABELS) {
            svg.group(label.class).open();
            labels.write(svg, &inner, label.middle, &label.text);
            svg.end();
        }
        for (side, anchor) in [(0, Anchor::End), (1, Anchor::Start)] {
            draw_nodes(svg, &sides[side], &starts[side], anchor, names[side]);
        }
    }

    /// Height of one unit.
    fn scale(&self, height: f64) -> f64 {
        let of_side = |totals: &Vec<f64>| {
            let gaps = NODE_GAP * (totals.len().max(1) - 1) as f64;
            let sum: f64 = totals.iter().sum();
            (height - gaps).max(1.0) / sum.max(f64::MIN_POSITIVE)
        };
        of_side(&self.totals[0]).min(of_side(&self.totals[1]))
    }

    /// The top of each node of a side, centered in the area.
    fn node_tops(&self, side: usize, scale: f64, area: &Rect) -> Vec<f64> {
        let totals = &self.totals[side];
        let gaps = NODE_GAP * (totals.len().max(1) - 1) as f64;
        let sum: f64 = totals.iter().sum();
        let mut top = area.top + (area.height - gaps - sum * scale) / 2.0;
        let mut tops = Vec::with_capacity(totals.len());
        for total in totals {
            tops.push(top);
            top += total * scale + NODE_GAP;
        }
        tops
    }
}

/// The nodes of a side as bars over the bands that they have, with their names.
fn draw_nodes(svg: &mut Svg, side: &Side, starts: &[f64], anchor: Anchor, names: &[String]) {
    let (bar, text) = match anchor {
        Anchor::End => (side.x - NODE_WIDTH, side.x - NODE_WIDTH - 3.0),
        Anchor::Start | Anchor::Middle => (side.x, side.x + NODE_WIDTH + 3.0),
    };
    for (node, name) in names.iter().enumerate() {
        let (top, height) = (starts[node], side.tops[node] - starts[node]);
        svg.group("text-color").open();
        svg.rect(Rect::new(bar, top, NODE_WIDTH, height.max(1.0)), "fill");
        svg.end();
        let name = clipped_to(name, MAX_NAME_WIDTH / SMALL_TEXT_HEIGHT);
        let at = (text, top + height / 2.0 + 3.8);
        svg.text(at, anchor, "small faint", &name);
    }
}

/// The number of a band.
struct BandLabel {
    class: &'static str,
    middle: Point,
    text: String,
}

/// Draws the area between the line from one point to another and the same line below it.
fn draw_parallelogram(svg: &mut Svg, from: Point, to: Point, thickness: f64, style: &str) {
    let corners = [
        from,
        to,
        (to.0, to.1 + thickness),
        (from.0, from.1 + thickness),
    ];
    let points = corners.map(|(x, y)| format!("{x:.2},{y:.2}"));
    svg.tag("polygon")
        .set("points", &points.join(" "))
        .set("class", style)
        .done();
}

/// Draws the common part of both amounts, and below it what is too much or missing.
fn draw_band(
    svg: &mut Svg,
    input: &ExampleInput<'_>,
    view: &DecisionView,
    band: &Band,
    ends: [usize; 2],
    sides: &mut [Side; 2],
    scale: f64,
) -> Option<BandLabel> {
    let is_optimal = view.regret.is_none();
    let differs = view
        .differences
        .iter()
        .any(|(entry, _)| *entry == band.lane);
    let common = band.own.min(band.best) * scale;
    let rest = (band.amount() * scale - common).max(0.0);
    let [from, to] = [0, 1].map(|side| {
        let top = &mut sides[side].tops[ends[side]];
        let at = (sides[side].x, *top);
        *top += common + rest;
        at
    });
    let role = if differs {
        format!(
            "{} shipped, optimal {}",
            trimmed(band.own),
            trimmed(band.best)
        )
    } else {
        format!("{} shipped", trimmed(band.own))
    };
    let tip = input.tip(band.lane, &format!("lane {}", band.lane), &role);
    let mut part = |class: &str, offset: f64, thickness: f64, style: &str| {
        svg.group(&format!("{class} mark")).open();
        svg.tip(&tip);
        let [from, to] = [from, to].map(|(x, y)| (x, y + offset));
        draw_parallelogram(svg, from, to, thickness, style);
        svg.end();
    };
    if common > 0.0 {
        part("text-color", 0.0, common, "pale");
    }
    let label = |class: &'static str, offset: f64, text: String| BandLabel {
        class,
        middle: (
            f64::midpoint(from.0, to.0) - 9.0,
            f64::midpoint(from.1, to.1) + offset,
        ),
        text,
    };
    if !differs {
        let text = trimmed(band.own);
        return is_optimal.then(|| label("text-color", common / 2.0, text));
    }
    let difference = trimmed((band.own - band.best).abs());
    let offset = common + rest / 2.0;
    if band.own > band.best {
        part("wrong", common, rest, "soft");
        Some(label("wrong", offset, format!("+{difference}")))
    } else {
        part("missed", common, rest, "outline");
        Some(label("missed", offset, format!("−{difference}")))
    }
}
