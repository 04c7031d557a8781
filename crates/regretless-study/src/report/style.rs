//! Colors and shapes.
//!
//! Colors follow Okabe and Ito (2008): a neutral one for the reference, and five hues that stay
//! distinguishable with any kind of color blindness, on a light and on a dark background (a test
//! simulates it). Every method also has a shape, so color is never the only difference.

use crate::experiment::{ExperimentResults, ProblemResults};

use crate::report::svg::{Point, Svg};

/// Style sheet of figures, with named colors.
const FIGURE_CSS: &str = include_str!("../../assets/figure.css");

/// Fonts of the page and of its figures.
const PAGE_FONTS: &str = "system-ui,-apple-system,\"Segoe UI\",Helvetica,Arial,sans-serif";
/// Fonts of standalone figures, which are read by programs without a system font.
const FILE_FONTS: &str = "Helvetica,Arial,\"Liberation Sans\",\"DejaVu Sans\",sans-serif";

/// Named colors: on a light and on a dark background.
const COLORS: [(&str, &str, &str); 15] = [
    ("paper", "#ffffff", "#16181d"),
    ("text-color", "#1c1e22", "#e8e8ea"),
    ("faint", "#5c6068", "#a4a9b3"),
    ("axis", "#8a8f98", "#747a85"),
    ("grid", "#e4e6ea", "#2c3038"),
    ("wash", "#f4f5f7", "#20242b"),
    ("accent", "#0b5cad", "#79b8ff"),
    ("wrong", "#b84300", "#ff8f4a"),
    ("missed", "#00795a", "#38d1a6"),
    ("neutral", "#30343b", "#eceef1"),
    ("c0", "#1a5fd0", "#5b92ff"),
    ("c1", "#a83208", "#f0603a"),
    ("c2", "#0a9d6c", "#3fe0a0"),
    ("c3", "#d064b0", "#dd74bb"),
    ("c4", "#a88f00", "#ffcf4a"),
];

/// Colors for methods, without that of the reference, and for kinds of solves.
pub(crate) const METHOD_COLORS: usize = 5;
/// Shapes of marks; coprime to [`METHOD_COLORS`], so 30 methods differ.
const MARK_SHAPES: usize = 6;
/// Index of the circle among the shapes of [`mark`], for the reference and for marks that do not
/// identify a method.
pub(crate) const CIRCLE_SHAPE: usize = 0;

/// Color and shape of a method, the same in all figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MethodStyle {
    /// The class of its color.
    pub(crate) color: String,
    /// Its shape, for [`mark`].
    pub(crate) shape: usize,
    /// The class of its lines: methods of one color differ by their dashes.
    pub(crate) dash: String,
}

impl MethodStyle {
    /// The style of a method by its index: neutral for the reference, and else by its position
    /// among the other methods.
    pub(crate) fn of(results: &ExperimentResults, problem: &ProblemResults, index: usize) -> Self {
        let is_reference = |name: &str| name == results.reference;
        let method = problem.methods.get(index);
        if method.is_some_and(|method| is_reference(&method.name)) {
            return Self {
                color: "neutral".into(),
                shape: CIRCLE_SHAPE,
                dash: "dash0".into(),
            };
        }
        let before = problem.methods.iter().take(index);
        let position = before.filter(|method| !is_reference(&method.name)).count();
        Self {
            color: hue(position),
            // The circle belongs to the reference as long as there are few methods.
            shape: (position + 1) % MARK_SHAPES,
            dash: format!("dash{}", (position + 1) % MARK_SHAPES),
        }
    }
}

/// The class of a color.
pub(crate) fn hue(index: usize) -> String {
    format!("c{}", index % METHOD_COLORS)
}

/// The style sheet of a standalone figure: literal colors, since few viewers support CSS variables.
pub(crate) fn standalone() -> String {
    let mut css = FIGURE_CSS.replace("var(--fonts)", FILE_FONTS);
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
        ":root{{color-scheme:light dark;--fonts:{PAGE_FONTS};{}}}@media screen and \
            (prefers-color-scheme:dark){{:root{{{}}}}}{FIGURE_CSS}",
        variables(false),
        variables(true)
    )
}

/// A mark of a shape around a point.
pub(crate) fn mark(svg: &mut Svg, shape: usize, center: Point, size: f64, class: &str) {
    let (x, y) = center;
    let corners: &[Point] = match shape % MARK_SHAPES {
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
    use super::{COLORS, METHOD_COLORS, on_page, standalone};

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

    type Rgb = [f64; 3];

    /// Linear light of a color such as #1a5fd0.
    fn linear(color: &str) -> Rgb {
        let channel = |at: usize| {
            let value = f64::from(u8::from_str_radix(&color[at..at + 2], 16).unwrap()) / 255.0;
            if value <= 0.04045 {
                value / 12.92
            } else {
                ((value + 0.055) / 1.055).powf(2.4)
            }
        };
        [channel(1), channel(3), channel(5)]
    }

    fn times(matrix: &[Rgb; 3], color: Rgb) -> Rgb {
        matrix.map(|row| {
            let sum: f64 = row
                .iter()
                .zip(color)
                .map(|(factor, value)| factor * value)
                .sum();
            sum.clamp(0.0, 1.0)
        })
    }

    /// The color in CIE 1976 (L*, a*, b*), for a white of D65.
    fn lab(color: Rgb) -> Rgb {
        let to_xyz = [
            [0.412_456_4, 0.357_576_1, 0.180_437_5],
            [0.212_672_9, 0.715_152_2, 0.072_175_0],
            [0.019_333_9, 0.119_192_0, 0.950_304_1],
        ];
        let root = |value: f64| {
            if value > 0.008_856 {
                value.cbrt()
            } else {
                7.787 * value + 16.0 / 116.0
            }
        };
        let xyz = to_xyz.map(|row| row.iter().zip(color).map(|(a, b)| a * b).sum::<f64>());
        let [x, y, z] = [
            root(xyz[0] / 0.950_47),
            root(xyz[1]),
            root(xyz[2] / 1.088_83),
        ];
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    /// Full color blindness of each kind, by Machado, Oliveira and Fernandes (2009).
    const VISION: [(&str, [Rgb; 3]); 4] = [
        (
            "no deficiency",
            [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        ),
        (
            "protanopia",
            [
                [0.152_286, 1.052_583, -0.204_868],
                [0.114_503, 0.786_281, 0.099_216],
                [-0.003_882, -0.048_116, 1.051_998],
            ],
        ),
        (
            "deuteranopia",
            [
                [0.367_322, 0.860_646, -0.227_968],
                [0.280_085, 0.672_501, 0.047_413],
                [-0.011_820, 0.042_940, 0.968_881],
            ],
        ),
        (
            "tritanopia",
            [
                [1.255_528, -0.076_749, -0.178_779],
                [-0.078_411, 0.930_809, 0.147_602],
                [0.004_733, 0.691_367, 0.303_900],
            ],
        ),
    ];

    /// Contrast by WCAG 2.
    fn contrast(one: &str, other: &str) -> f64 {
        let luminance = |color: &str| {
            let [red, green, blue] = linear(color);
            0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05
        };
        let quotient = luminance(one) / luminance(other);
        quotient.max(1.0 / quotient)
    }

    /// A named color on a light (false) or dark background.
    fn color(name: &str, dark: bool) -> &'static str {
        let found = COLORS.iter().find(|(known, ..)| *known == name).unwrap();
        if dark { found.2 } else { found.1 }
    }

    #[test]
    fn colors_of_methods_differ_for_every_kind_of_vision() {
        // About ten times the least difference that is visible side by side.
        const MIN_DIFFERENCE: f64 = 20.0;
        let mut names: Vec<String> = (0..METHOD_COLORS).map(super::hue).collect();
        names.push("neutral".into());
        for dark in [false, true] {
            for (kind, matrix) in &VISION {
                for (index, one) in names.iter().enumerate() {
                    for other in &names[..index] {
                        let [a, b] =
                            [one, other].map(|name| lab(times(matrix, linear(color(name, dark)))));
                        let squares = a.iter().zip(b).map(|(x, y)| (x - y).powi(2));
                        let difference = squares.sum::<f64>().sqrt();
                        assert!(
                            difference > MIN_DIFFERENCE,
                            "{one} and {other}, {kind}, dark {dark}: {difference}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn text_and_marks_have_enough_contrast() {
        for dark in [false, true] {
            let paper = color("paper", dark);
            for text in [
                "text-color",
                "faint",
                "accent",
                "wrong",
                "missed",
                "neutral",
            ] {
                assert!(
                    contrast(color(text, dark), paper) >= 4.5,
                    "{text}, dark {dark}"
                );
            }
            for index in 0..METHOD_COLORS {
                let mark = super::hue(index);
                assert!(
                    contrast(color(&mark, dark), paper) >= 3.0,
                    "{mark}, dark {dark}"
                );
            }
        }
    }
}
