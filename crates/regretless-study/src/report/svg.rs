//! Writes SVG elements, attributes and text; every value is escaped or a number.
//!
//! Styles come from classes only, so the same figure is readable on paper and on a dark page: a
//! standalone figure contains a style sheet with light colors, a figure on the page uses that of
//! the page.

use std::fmt::Write;

use crate::report::style;
use crate::report::text::{escaped, width};

/// Height of ordinary text in units of the figure.
pub(crate) const TEXT_HEIGHT: f64 = 12.0;
/// Height of small text, the least that is readable if a unit is a pixel.
pub(crate) const SMALL_TEXT_HEIGHT: f64 = 11.0;

/// A point of a figure: x and y.
pub(crate) type Point = (f64, f64);

/// A rectangle: left, top, width and height.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rect {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl Rect {
    pub(crate) fn new(left: f64, top: f64, width: f64, height: f64) -> Self {
        Self {
            left,
            top,
            width,
            height,
        }
    }

    pub(crate) fn right(&self) -> f64 {
        self.left + self.width
    }

    pub(crate) fn bottom(&self) -> f64 {
        self.top + self.height
    }

    pub(crate) fn intersects(&self, other: &Self) -> bool {
        self.left < other.right()
            && other.left < self.right()
            && self.top < other.bottom()
            && other.top < self.bottom()
    }
}

/// Alignment of a text relative to its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A figure under construction.
#[derive(Debug, Clone)]
pub(crate) struct Svg {
    body: String,
    open: Vec<&'static str>,
    width: f64,
    height: f64,
}

/// An element under construction.
pub(crate) struct SvgElement<'a> {
    svg: &'a mut Svg,
    name: &'static str,
}

/// A number with at most two decimals.
fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" {
        "0".into()
    } else {
        text.into()
    }
}

impl Svg {
    /// A figure without a background.
    pub(crate) fn bare(width: f64, height: f64) -> Self {
        Self {
            body: String::new(),
            open: Vec::new(),
            width,
            height,
        }
    }

    /// A figure on a background; its height is set by [`Svg::finish`].
    pub(crate) fn new(width: f64) -> Self {
        Self::bare(width, 0.0)
    }

    /// Sets the height, with the background behind everything drawn so far.
    pub(crate) fn finish(mut self, height: f64) -> Self {
        let content = std::mem::take(&mut self.body);
        self.height = height;
        self.rect(Rect::new(0.0, 0.0, self.width, height), "paper");
        self.body.push_str(&content);
        self
    }

    pub(crate) fn tag(&mut self, name: &'static str) -> SvgElement<'_> {
        self.body.push('<');
        self.body.push_str(name);
        SvgElement { svg: self, name }
    }

    /// Begins a group with this class.
    pub(crate) fn group(&mut self, class: &str) -> SvgElement<'_> {
        self.tag("g").set("class", class)
    }

    /// Ends the innermost group.
    pub(crate) fn end(&mut self) {
        if let Some(name) = self.open.pop() {
            let _ = write!(self.body, "</{name}>");
        }
    }

    pub(crate) fn line(&mut self, from: Point, to: Point, class: &str) {
        self.tag("line")
            .num("x1", from.0)
            .num("y1", from.1)
            .num("x2", to.0)
            .num("y2", to.1)
            .set("class", class)
            .done();
    }

    pub(crate) fn rect(&mut self, area: Rect, class: &str) {
        let tag = self.tag("rect").num("x", area.left).num("y", area.top);
        tag.num("width", area.width.max(0.0))
            .num("height", area.height.max(0.0))
            .set("class", class)
            .done();
    }

    /// A line through several points.
    pub(crate) fn path(&mut self, points: &[Point], class: &str) {
        let mut commands = String::new();
        for (index, (x, y)) in points.iter().enumerate() {
            let command = if index == 0 { 'M' } else { 'L' };
            let _ = write!(commands, "{command}{} {}", number(*x), number(*y));
        }
        self.tag("path")
            .set("d", &commands)
            .set("class", class)
            .done();
    }

    pub(crate) fn text(&mut self, at: Point, anchor: Anchor, class: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        self.tag("text")
            .num("x", at.0)
            .num("y", at.1)
            .set("text-anchor", anchor)
            .set("class", class)
            .with_text(text);
    }

    /// A text that runs upwards.
    pub(crate) fn vertical_text(&mut self, at: Point, class: &str, text: &str) {
        let transform = format!("translate({} {}) rotate(-90)", number(at.0), number(at.1));
        self.tag("text")
            .set("transform", &transform)
            .set("text-anchor", "middle")
            .set("class", class)
            .with_text(text);
    }

    /// Tooltip of the current group.
    pub(crate) fn tip(&mut self, text: &str) {
        let _ = write!(self.body, "<title>{}</title>", escaped(text));
    }

    /// The figure as part of a page, with a further class.
    pub(crate) fn inline(&self, name: &str, class: &str) -> String {
        self.wrapped(name, class, "", "")
    }

    /// The figure as a standalone file.
    pub(crate) fn standalone(&self, name: &str) -> String {
        let style = format!("<style>{}</style>", style::standalone());
        let size = format!(
            " width=\"{}\" height=\"{}\"",
            number(self.width),
            number(self.height)
        );
        self.wrapped(name, "", &size, &style)
    }

    fn wrapped(&self, name: &str, class: &str, size: &str, style: &str) -> String {
        let (width, height, name) = (number(self.width), number(self.height), escaped(name));
        let class = format!("drawn {class}");
        let class = class.trim();
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"{class}\" role=\"img\" \
            aria-label=\"{name}\" viewBox=\"0 0 {width} {height}\"{size}>{style}{}</svg>",
            self.body
        )
    }
}

impl<'a> SvgElement<'a> {
    pub(crate) fn num(self, name: &str, value: f64) -> Self {
        let _ = write!(self.svg.body, " {name}=\"{}\"", number(value));
        self
    }

    pub(crate) fn set(self, name: &str, value: &str) -> Self {
        let _ = write!(self.svg.body, " {name}=\"{}\"", escaped(value));
        self
    }

    /// Ends an empty element.
    pub(crate) fn done(self) {
        self.svg.body.push_str("/>");
    }

    /// Ends an element around a text.
    pub(crate) fn with_text(self, text: &str) {
        let _ = write!(self.svg.body, ">{}</{}>", escaped(text), self.name);
    }

    /// Leaves the element open; [`Svg::end`] closes it.
    pub(crate) fn open(self) -> &'a mut Svg {
        self.svg.body.push('>');
        self.svg.open.push(self.name);
        self.svg
    }
}

/// The extent of a text at a point of its baseline.
pub(crate) fn text_extent(at: Point, anchor: Anchor, size: f64, text: &str) -> Rect {
    let (x, y) = at;
    let text_width = width(text) * size;
    let left = match anchor {
        Anchor::Start => x,
        Anchor::Middle => x - text_width / 2.0,
        Anchor::End => x - text_width,
    };
    Rect::new(left, y - size * 0.8, text_width, size)
}
