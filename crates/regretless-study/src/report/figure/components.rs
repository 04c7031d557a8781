//! Contribution of each component: from no component over one and two to all.
//!
//! Method names are read as `BASE(A,B,…)`. A panel shows one base with C, S and one of O and O_S.
//! Columns count components, lines join sets that differ by one component, and the thick path is
//! greedy: at each set it adds the component with the lowest ratio.

use super::{Drawing, FigureContext, tip};
use crate::report::axes::{Axes, draw_text_background, spread_out};
use crate::report::scale::AxisScale;
use crate::report::style::{CIRCLE_SHAPE, mark};
use crate::report::svg::{Anchor, Point, Rect, SMALL_TEXT_HEIGHT, Svg};
use crate::report::text::{change, ratio, width};

/// Style classes of changes: a lower ratio has the color of missed items in the figure of examples
/// (green), a higher one that of wrongly taken items (orange).
const LOWER_RATIO_CLASS: &str = "missed";
/// See [`LOWER_RATIO_CLASS`].
const HIGHER_RATIO_CLASS: &str = "wrong";

const PANEL_HEIGHT: f64 = 170.0;
const PANEL_SPACING: f64 = PANEL_HEIGHT + 62.0;
/// Components of every panel, next to the one-sided one.
const FIXED_COMPONENTS: [&str; 2] = ["C", "S"];
const BASES: [&str; 2] = ["MSE", "MAE"];
const SIDES: [&str; 2] = ["O", "O_S"];

/// A method as a set of components on a base.
struct ComponentSet {
    index: usize,
    components: Vec<String>,
    ratio: f64,
}

/// Base and components of a method's name.
fn parse_name(name: &str) -> (&str, Vec<String>) {
    match name.strip_suffix(')').and_then(|rest| rest.split_once('(')) {
        Some((base, inside)) => (
            base,
            inside
                .split(',')
                .map(|component| component.trim().to_string())
                .collect(),
        ),
        None => (name, Vec::new()),
    }
}

fn component_sets(context: &FigureContext<'_>, base: &str, side: &str) -> Vec<ComponentSet> {
    let fits =
        |component: &String| FIXED_COMPONENTS.contains(&component.as_str()) || component == side;
    let all = context.measured().filter_map(|(index, method, ratio)| {
        let (method_base, components) = parse_name(&method.name);
        (method_base == base && components.iter().all(fits)).then_some(ComponentSet {
            index,
            components,
            ratio,
        })
    });
    all.collect()
}

pub(super) fn draw(context: &FigureContext<'_>) -> Option<Drawing> {
    let panels = BASES
        .iter()
        .flat_map(|base| SIDES.iter().map(move |side| (*base, *side)));
    let panels: Vec<((&str, &str), Vec<ComponentSet>)> = panels
        .map(|(base, side)| ((base, side), component_sets(context, base, side)))
        .collect();
    // A panel needs the base without components, and sets with its one-sided component; the first
    // panel of a base needs any two sets.
    let useful = |((_, side), sets): &((&str, &str), Vec<ComponentSet>)| {
        let with = |component: &str| {
            sets.iter()
                .any(|set| set.components.iter().any(|other| other == component))
        };
        sets.iter().any(|set| set.components.is_empty())
            && (with(side) || (*side == SIDES[0] && sets.len() > 1))
    };
    let panels: Vec<_> = panels.into_iter().filter(useful).collect();
    if panels.is_empty() {
        return None;
    }
    let mut svg = Svg::new(context.width);
    let top = context.heading(&mut svg);
    // Labels to the right of the last column: with their numbers if there is space for them.
    let label_width = if context.is_narrow() { 58.0 } else { 126.0 };
    let ratios: Vec<f64> = panels
        .iter()
        .flat_map(|(_, sets)| sets.iter().map(|set| set.ratio))
        .collect();
    let mut sentences = Vec::new();
    for (index, (name, sets)) in panels.iter().enumerate() {
        let area = Rect::new(
            44.0,
            top + 28.0 + index as f64 * PANEL_SPACING,
            context.width - 44.0 - 12.0,
            PANEL_HEIGHT,
        );
        let values = ratios.iter().copied().chain([1.0]);
        let y = AxisScale::linear(values, area.bottom(), area.top);
        let x = AxisScale::linear([0.0, 3.0], area.left + 14.0, area.right() - label_width);
        let (base, side) = *name;
        let frame = Axes { area, x, y };
        sentences.extend(panel(&mut svg, context, base, side, sets, &frame));
    }
    Some(Drawing {
        svg: svg.finish(top + panels.len() as f64 * PANEL_SPACING),
        explanation: vec![format!(
            "Each dot is a loss with some components; its height is its regret relative to {}, \
                lower is better. Lines join losses that differ by one component. The thick line \
                adds, set by set, the component that helps most; it is green where the ratio falls \
                and orange where it rises.",
            context.results.reference
        )],
        finding: sentences.join(" "),
    })
}

fn panel(
    svg: &mut Svg,
    context: &FigureContext<'_>,
    base: &str,
    side: &str,
    sets: &[ComponentSet],
    frame: &Axes,
) -> Option<String> {
    let area = frame.area;
    svg.text(
        (area.left, area.top - 10.0),
        Anchor::Start,
        "strong",
        &format!(
            "{base} with {}, {side}, {}",
            FIXED_COMPONENTS[0], FIXED_COMPONENTS[1]
        ),
    );
    for (value, text) in frame.y.ticks() {
        svg.line(
            (area.left, frame.y.at(value)),
            (area.right(), frame.y.at(value)),
            "grid",
        );
        svg.text(
            (area.left - 6.0, frame.y.at(value) + 3.8),
            Anchor::End,
            "small faint",
            &text,
        );
    }
    for (count, text) in ["none", "one", "two", "all three"].iter().enumerate() {
        svg.text(
            (frame.x.at(count as f64), area.bottom() + 15.0),
            Anchor::Middle,
            "small faint",
            text,
        );
    }
    let at = |set: &ComponentSet| frame.at(set.components.len() as f64, set.ratio);
    for before in sets {
        for after in sets.iter().filter(|after| adds_one(before, after)) {
            // The color of axes.
            svg.group("quiet").open();
            svg.line(at(before), at(after), "thin");
            svg.end();
        }
    }
    let path = greedy_path(sets);
    for pair in path.windows(2) {
        let class = if pair[1].ratio <= pair[0].ratio {
            LOWER_RATIO_CLASS
        } else {
            HIGHER_RATIO_CLASS
        };
        svg.group(class).open();
        svg.line(at(pair[0]), at(pair[1]), "thick");
        svg.end();
    }
    points(svg, context, sets, &path, frame);
    sentence(base, &path)
}

fn adds_one(before: &ComponentSet, after: &ComponentSet) -> bool {
    after.components.len() == before.components.len() + 1
        && before
            .components
            .iter()
            .all(|component| after.components.contains(component))
}

/// Greedy path: from no component, always to the lowest ratio with one more component.
fn greedy_path(sets: &[ComponentSet]) -> Vec<&ComponentSet> {
    let mut path: Vec<&ComponentSet> = sets
        .iter()
        .filter(|set| set.components.is_empty())
        .take(1)
        .collect();
    while let Some(last) = path.last().copied() {
        let next = sets
            .iter()
            .filter(|after| adds_one(last, after))
            .min_by(|a, b| a.ratio.total_cmp(&b.ratio));
        match next {
            Some(next) => path.push(next),
            None => break,
        }
    }
    path
}

fn points(
    svg: &mut Svg,
    context: &FigureContext<'_>,
    sets: &[ComponentSet],
    path: &[&ComponentSet],
    frame: &Axes,
) {
    for count in 0..=3 {
        let column: Vec<&ComponentSet> = sets
            .iter()
            .filter(|set| set.components.len() == count)
            .collect();
        let ideal: Vec<f64> = column.iter().map(|set| frame.y.at(set.ratio)).collect();
        let heights = spread_out(&ideal, 13.0, frame.area.top - 4.0, frame.area.bottom());
        for (set, height) in column.iter().zip(heights) {
            let (x, y) = frame.at(count as f64, set.ratio);
            svg.group("text-color mark")
                .num("data-method", set.index as f64)
                .open();
            svg.tip(&tip(&context.problem.methods[set.index]));
            // The class "measured" has no style: tests/report/figures.rs counts its elements.
            mark(svg, CIRCLE_SHAPE, (x, y), 4.5, "fill measured");
            let change = path
                .windows(2)
                .find(|pair| pair[1].index == set.index)
                .map(|pair| set.ratio - pair[0].ratio);
            label(
                svg,
                set,
                (x + 9.0, height + 3.8),
                change,
                context.is_narrow(),
            );
            svg.end();
        }
    }
}

/// Components and ratio of a set and, on the path, the change of the set to it.
///
/// A narrow drawing has space for the components only; numbers are in tooltips and in the finding.
fn label(svg: &mut Svg, set: &ComponentSet, at: Point, amount: Option<f64>, is_narrow: bool) {
    let name = if set.components.is_empty() {
        "none".to_string()
    } else {
        set.components.join(",")
    };
    let (text, amount) = if is_narrow {
        (name, None)
    } else {
        (format!("{name} {}", ratio(set.ratio)), amount)
    };
    draw_text_background(svg, at, Anchor::Start, &text);
    svg.text(at, Anchor::Start, "small", &text);
    if let Some(amount) = amount {
        svg.group(if amount <= 0.0 {
            LOWER_RATIO_CLASS
        } else {
            HIGHER_RATIO_CLASS
        })
        .open();
        let right = (at.0 + width(&text) * SMALL_TEXT_HEIGHT + 4.0, at.1);
        draw_text_background(svg, right, Anchor::Start, &change(amount));
        svg.text(right, Anchor::Start, "small strong tinted", &change(amount));
        svg.end();
    }
}

fn sentence(base: &str, path: &[&ComponentSet]) -> Option<String> {
    let (first, last) = (path.first()?, path.last()?);
    let added: Vec<String> = path
        .windows(2)
        .map(|pair| {
            let new = pair[1]
                .components
                .iter()
                .find(|component| !pair[0].components.contains(component));
            format!(
                "{} ({})",
                new.map_or("", String::as_str),
                change(pair[1].ratio - pair[0].ratio)
            )
        })
        .collect();
    (path.len() > 1).then(|| {
        format!(
            "{base}: {} → {} by adding {}.",
            ratio(first.ratio),
            ratio(last.ratio),
            added.join(", then ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::{ComponentSet, greedy_path, parse_name};

    #[test]
    fn names_are_bases_with_components() {
        assert_eq!(
            parse_name("MAE(C,O_S,S)"),
            ("MAE", vec!["C".into(), "O_S".into(), "S".into()])
        );
        assert_eq!(parse_name("MSE"), ("MSE", vec![]));
    }

    #[test]
    fn the_path_adds_the_most_useful_component() {
        let set = |name: &str, ratio| ComponentSet {
            index: 0,
            components: parse_name(name).1,
            ratio,
        };
        let sets = [
            set("M", 1.0),
            set("M(C)", 0.9),
            set("M(S)", 0.8),
            set("M(C,S)", 0.85),
            set("M(C,O)", 0.1),
        ];
        let ratios: Vec<f64> = greedy_path(&sets).iter().map(|set| set.ratio).collect();
        assert_eq!(ratios, [1.0, 0.8, 0.85]);
    }
}
