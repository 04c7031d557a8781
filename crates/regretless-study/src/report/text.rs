//! Formatting of text and numbers, and escaping for HTML, SVG and Markdown.

use regretless_base::text::grouped_digits;

/// Escapes text for HTML and XML, in elements and in attributes.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // XML allows no other control characters, not even as references.
            c if c.is_control() && !matches!(c, '\n' | '\t') => out.push('\u{fffd}'),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// Escapes text for a cell of a Markdown table.
pub(crate) fn plain_markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' => out.push(' '),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

/// A name that is valid in every file system.
pub(crate) fn file_name(text: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || c == '-' {
            c
        } else {
            '_'
        }
    };
    text.chars().map(plain).collect()
}

/// A number with about three significant digits.
pub(crate) fn short(value: f64) -> String {
    let size = value.abs();
    let text = match size {
        s if !s.is_finite() => return "–".into(),
        0.0 => return "0".into(),
        s if !(1e-4..1e7).contains(&s) => return format!("{value:.2e}").replace('-', "−"),
        s if s >= 100.0 => grouped(value.round()),
        s => format!("{value:.*}", (2 - s.log10().floor() as i32).max(0) as usize),
    };
    signed(&text)
}

/// The same without trailing zeros.
pub(crate) fn trimmed(value: f64) -> String {
    let text = short((value * 1e9).round() / 1e9);
    if text.contains('.') && !text.contains('e') {
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    } else {
        text
    }
}

/// An integer with thousands separators.
fn grouped(value: f64) -> String {
    let digits = format!("{value:.0}");
    let (sign, digits) = digits
        .strip_prefix('-')
        .map_or(("", digits.as_str()), |rest| ("-", rest));
    format!("{sign}{}", grouped_digits(digits))
}

/// A count, averaged over seeds.
pub(crate) fn count(value: f64) -> String {
    if value.fract() == 0.0 || value >= 100.0 {
        grouped(value.round())
    } else {
        format!("{value:.1}")
    }
}

/// Two decimals, as ratios are published.
pub(crate) fn ratio(value: f64) -> String {
    if value.abs() >= 100.0 {
        short(value)
    } else {
        signed(&format!("{value:.2}"))
    }
}

/// A difference, always with its sign.
pub(crate) fn change(value: f64) -> String {
    let text = ratio(value);
    if text.starts_with('−') || text == "0.00" {
        text
    } else {
        format!("+{text}")
    }
}

/// A true minus sign instead of a hyphen, and none before a zero.
fn signed(text: &str) -> String {
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|c| matches!(c, '0' | '.')) => rest.to_string(),
        Some(rest) => format!("−{rest}"),
        None => text.to_string(),
    }
}

/// Text for HTML in which `names` between backticks are code.
pub(crate) fn coded(text: &str) -> String {
    let text = escaped(text);
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return text;
    }
    let mut out = String::with_capacity(text.len() + 13 * parts.len());
    for (position, part) in parts.iter().enumerate() {
        match position % 2 {
            0 => out.push_str(part),
            _ => out.extend(["<code>", part, "</code>"]),
        }
    }
    out
}

/// A sentence with a capital letter at its beginning and a period at its end.
pub(crate) fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(char::to_uppercase);
    let mut out: String = first.into_iter().flatten().chain(chars).collect();
    if !out.ends_with(['.', '!', '?']) {
        out.push('.');
    }
    out
}

/// A number with its unit, if it has one.
pub(crate) fn with_unit(number: &str, unit: &str) -> String {
    if unit.is_empty() {
        number.to_owned()
    } else {
        format!("{number}\u{a0}{unit}")
    }
}

/// `1 seed`, `3 seeds`.
pub(crate) fn pluralize(number: usize, noun: &str) -> String {
    if number == 1 {
        format!("1 {noun}")
    } else {
        format!("{} {noun}s", grouped(number as f64))
    }
}

/// A label truncated to the space of a figure.
pub(crate) fn clipped(name: &str) -> String {
    const MAX_LABEL_CHARS: usize = 28;
    if name.chars().count() <= MAX_LABEL_CHARS {
        name.into()
    } else {
        name.chars()
            .take(MAX_LABEL_CHARS - 1)
            .chain(['…'])
            .collect()
    }
}

/// A text truncated to a width in ems.
pub(crate) fn clipped_to(text: &str, ems: f64) -> String {
    if width(text) <= ems {
        return text.into();
    }
    let mut out = String::new();
    for c in text.chars() {
        out.push(c);
        if width(&out) + width("…") > ems {
            out.pop();
            break;
        }
    }
    out.push('…');
    out
}

/// Estimated width of a text in ems of a sans-serif font, slightly too large rather than too small.
pub(crate) fn width(text: &str) -> f64 {
    let char_width = |c: char| match c {
        'i' | 'j' | 'l' | '|' | '\'' | '.' | ',' | ':' | ';' | '!' => 0.31,
        ' ' | '\u{a0}' | 't' | 'f' | 'r' | '(' | ')' | '[' | ']' | '/' | '-' | '·' => 0.38,
        'm' | 'w' | 'M' | 'W' | '%' | '@' | '–' | '—' => 0.93,
        '+' | '−' | '±' | '=' | '<' | '>' => 0.72,
        c if c.is_ascii_uppercase() => 0.69,
        c if c.is_ascii() => 0.6,
        _ => 0.75,
    };
    text.chars().map(char_width).sum()
}

/// Lines of at most `ems` width, broken at spaces, but not at no-break spaces.
pub(crate) fn lines(text: &str, ems: f64) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        match out.last_mut() {
            Some(line) if width(line) + width(word) + 0.38 <= ems => {
                line.push(' ');
                line.push_str(word);
            }
            _ => out.push(word.to_string()),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{
        change, clipped_to, count, escaped, file_name, lines, plain_markdown, pluralize, ratio,
        short, width,
    };

    #[test]
    fn a_label_is_truncated_to_its_width() {
        assert_eq!(clipped_to("MAE(O,S)", 10.0), "MAE(O,S)");
        let clipped = clipped_to("a long name of a method", 6.0);
        assert!(
            clipped.ends_with('…') && width(&clipped) <= 6.0,
            "{clipped}"
        );
        assert!(clipped.chars().count() > 5, "{clipped}");
    }

    #[test]
    fn numbers_have_three_significant_digits() {
        assert_eq!(short(0.012_345), "0.0123");
        assert_eq!(short(-12.345), "−12.3");
        assert_eq!(short(1_234_567.8), "1,234,568");
        assert_eq!(short(3e-9), "3.00e−9");
        assert_eq!(
            (ratio(0.654), change(0.05), change(-0.05)),
            ("0.65".into(), "+0.05".into(), "−0.05".into())
        );
        assert_eq!(change(-0.001), "0.00");
        assert_eq!((count(2000.0), count(2.5)), ("2,000".into(), "2.5".into()));
        assert_eq!(
            (pluralize(1, "seed"), pluralize(3, "seed")),
            ("1 seed".into(), "3 seeds".into())
        );
    }

    #[test]
    fn special_characters_are_escaped() {
        let hostile = "</script><img src=\"x\" onerror='alert(1)'>&\u{0}";
        let text = escaped(hostile);
        assert!(!text.contains(['<', '>', '"', '\'', '\u{0}']), "{text}");
        assert!(!plain_markdown("a|b<c>\nd").contains(['<', '>', '\n']));
        assert_eq!(plain_markdown("a|b_c"), "a\\|b\\_c");
        assert_eq!(file_name("../SPO+ lr=0.1"), "___SPO__lr_0_1");
    }

    #[test]
    fn lines_break_at_spaces_only() {
        assert_eq!(lines("one two three", 5.0), ["one two", "three"]);
        assert_eq!(lines("immeasurable", 2.0), ["immeasurable"]);
        assert_eq!(lines("of 48\u{a0}%", 3.0), ["of", "48\u{a0}%"]);
    }
}
