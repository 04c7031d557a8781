//! Colours and shapes.
//!
//! Colours are those of Okabe and Ito (2008), which people with any kind of colour blindness can
//! tell apart; on dark paper they are lighter. Every method has a colour and a shape of its own, so
//! that nothing hangs on colour alone.

use crate::svg::{Point, Svg};

/// How figures look, in terms of named colours.
const FIGURE_CSS: &str = include_str!("../assets/figure.css");

/// Named colours: on light paper and on dark.
const COLORS: [(&str, &str, &str); 16] = [
    ("paper", "#ffffff", "#16181d"),
    ("ink", "#1c1e22", "#e8e8ea"),
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

/// Colours for methods, kinds and components.
pub(crate) const METHOD_COLORS: usize = 7;
/// Different shapes of marks; with [`METHOD_COLORS`] it has no common divisor, so that 42 methods differ.
const MARK_SHAPES: usize = 6;

/// The class of a colour.
pub(crate) fn hue(place: usize) -> String {
    format!("c{}", place % METHOD_COLORS)
}

/// The class of a line: methods of one colour are told apart by their dashes.
pub(crate) fn dash(place: usize) -> String {
    format!("dash{}", place % MARK_SHAPES)
}

/// The style sheet of a figure that stands alone: plain colours, since few programs know CSS
/// variables.
pub(crate) fn standalone() -> String {
    let colour = |css: String, (name, light, _): &(&str, &str, &str)| {
        css.replace(&format!("var(--{name})"), light)
    };
    COLORS.iter().fold(FIGURE_CSS.to_string(), colour)
}

/// The style sheet of figures on a page, light or dark as the reader has it, and light in print.
pub(crate) fn on_page() -> String {
    let of = |dark: bool| -> String {
        COLORS
            .iter()
            .map(|(name, day, night)| format!("--{name}:{};", if dark { night } else { day }))
            .collect()
    };
    format!(
        ":root{{color-scheme:light dark;{}}}@media screen and \
            (prefers-color-scheme:dark){{:root{{{}}}}}{FIGURE_CSS}",
        of(false),
        of(true)
    )
}

/// The mark of a method: its shape around a point.
pub(crate) fn mark(svg: &mut Svg, method: usize, (x, y): Point, size: f64, class: &str) {
    let corners: &[Point] = match method % MARK_SHAPES {
        0 => {
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
                "{name} is used and nowhere defined"
            );
        }
    }
}
