//! Colors and shapes.
//!
//! Colors are those of Okabe and Ito (2008), which are distinguishable with any kind of color
//! blindness; on a dark background they are lighter. Every method also has a shape, so that color
//! is never the only difference.

use crate::svg::{Point, Svg};

/// Style sheet of figures, with named colors.
const FIGURE_CSS: &str = include_str!("../assets/figure.css");

/// Named colors: on a light and on a dark background.
const COLORS: [(&str, &str, &str); 16] = [
    ("paper", "#ffffff", "#16181d"),
    ("text-color", "#1c1e22", "#e8e8ea"),
    ("faint", "#5c6068", "#a4a9b3"),
    ("axis", "#8a8f98", "#747a85"),
    ("grid", "#e4e6ea", "#2c3038"),
    ("wash", "#f4f5f7", "#20242b"),
    ("accent", "#0b5cad", "#79b8ff"),
    ("wrong", "#c44e00", "#ff8f4a"),
    ("missed", "#00795a", "#38d1a6"),
    ("c0", "#0072b2", "#4aa8e8"),
    ("c1", "#d55e00", "#ff8a3d"),
    ("c2", "#008f68", "#2fc99d"),
    ("c3", "#b8568a", "#e69cc4"),
    ("c4", "#b87d00", "#f0b93a"),
    ("c5", "#2f9bd6", "#86cdf7"),
    ("c6", "#666b75", "#b4b9c3"),
];

/// Colors for methods, kinds and components.
pub(crate) const METHOD_COLORS: usize = 7;
/// Shapes of marks; coprime to [`METHOD_COLORS`], so that 42 methods differ.
const MARK_SHAPES: usize = 6;
/// Index of the circle among the shapes of [`mark`], for marks that do not identify a method.
pub(crate) const CIRCLE_SHAPE: usize = 0;

/// The class of a color.
pub(crate) fn hue(index: usize) -> String {
    format!("c{}", index % METHOD_COLORS)
}

/// The class of a line: methods of one color differ by their dashes.
pub(crate) fn dash(index: usize) -> String {
    format!("dash{}", index % MARK_SHAPES)
}

/// The style sheet of a standalone figure: literal colors, since few viewers support CSS variables.
pub(crate) fn standalone() -> String {
    let mut css = FIGURE_CSS.to_string();
    for (name, light, _) in COLORS {
        css = css.replace(&format!("var(--{name})"), light);
    }
    css
}

/// The style sheet of figures on a page: light or dark as the reader prefers, and light in print.
pub(crate) fn on_page() -> String {
    let variables = |dark: bool| -> String {
        COLORS
            .iter()
            .map(|(name, light, night)| format!("--{name}:{};", if dark { night } else { light }))
            .collect()
    };
    format!(
        ":root{{color-scheme:light dark;{}}}@media screen and \
            (prefers-color-scheme:dark){{:root{{{}}}}}{FIGURE_CSS}",
        variables(false),
        variables(true)
    )
}

/// The mark of a method: its shape around a point.
pub(crate) fn mark(svg: &mut Svg, method: usize, center: Point, size: f64, class: &str) {
    let (x, y) = center;
    let corners: &[Point] = match method % MARK_SHAPES {
        CIRCLE_SHAPE => {
            return svg
                .tag("circle")
                .num("cx", x)
                .num("cy", y)
                .num("r", size)
                .set("class", class)
                .done();
        }
        1 => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
        2 => &[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)],
        3 => &[(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)],
        4 => &[(-1.1, -0.8), (1.1, -0.8), (0.0, 1.2)],
        _ => &[
            (-0.6, -1.1),
            (0.6, -1.1),
            (1.2, 0.0),
            (0.6, 1.1),
            (-0.6, 1.1),
            (-1.2, 0.0),
        ],
    };
    let points: Vec<String> = corners
        .iter()
        .map(|(dx, dy)| format!("{:.2},{:.2}", x + dx * size, y + dy * size))
        .collect();
    svg.tag("polygon")
        .set("points", &points.join(" "))
        .set("class", class)
        .done();
}

#[cfg(test)]
mod tests {
    use super::{on_page, standalone};

    #[test]
    fn a_figure_alone_needs_no_variables_and_the_page_defines_all_it_uses() {
        assert!(!standalone().contains("var("), "{}", standalone());
        let page = on_page();
        for used in page.split("var(").skip(1) {
            let name = used.split(')').next().unwrap();
            assert!(
                page.contains(&format!("{name}:")),
                "{name} is used and not defined"
            );
        }
    }
}
