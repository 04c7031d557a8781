//! Dates that are written in other forms than ISO 8601: they are recognized, so nobody takes them
//! for names or amounts, but not read. `03.04.2024` and `3/4/2024` do not say which number is the
//! day.

/// Years of dates: amounts of four digits are rarely between them in every row.
const YEARS: std::ops::RangeInclusive<u32> = 1900..=2100;
const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];

/// Whether a text looks like a date in any of the usual forms, such as `31.12.2024`, `12/31/24`,
/// `2024/1/5`, `1 Sep 2025` or `20241231`, with or without a time of day.
pub(super) fn looks_like_date(text: &str) -> bool {
    let text = text.trim();
    if text.len() == "20241231".len() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        let number = |range: std::ops::Range<usize>| text[range].parse().unwrap_or(0);
        return is_date(number(0..4), number(4..6), number(6..8));
    }
    let mut parts = Vec::new();
    let mut is_first = true;
    for word in text.split([' ', 'T', ',']).filter(|word| !word.is_empty()) {
        // The name of a weekday may stand before the date.
        let is_name = word.trim_end_matches('.').chars().all(char::is_alphabetic);
        if std::mem::take(&mut is_first) && is_name && !matches!(part_of(word), Part::Month) {
            continue;
        }
        // A time of day follows a complete date.
        if parts.len() == 3 && word.contains(':') {
            break;
        }
        parts.extend(word.split(['.', '/', '-']).filter(|part| !part.is_empty()));
    }
    let [first, second, third] = parts.as_slice() else {
        return false;
    };
    match (part_of(first), part_of(second), part_of(third)) {
        (Part::Year(year), Part::Day(month), Part::Day(day)) => is_date(year, month, day),
        (Part::Day(a), Part::Day(b), Part::Year(year)) => {
            is_date(year, a, b) || is_date(year, b, a)
        }
        // Years of two digits, unless the numbers are separated by spaces.
        (Part::Day(a), Part::Day(b), Part::Day(_) | Part::Short)
            if third.len() == 2 && !text.contains(' ') =>
        {
            is_date(2000, a, b) || is_date(2000, b, a)
        }
        (Part::Day(_), Part::Month, Part::Year(_) | Part::Day(_) | Part::Short)
        | (Part::Month, Part::Day(_), Part::Year(_)) => true,
        _ => false,
    }
}

enum Part {
    Year(u32),
    /// A number of one or two digits that may be a day or a month.
    Day(u32),
    /// Another number of two digits.
    Short,
    Month,
    Other,
}

fn part_of(text: &str) -> Part {
    if let Ok(number) = text.parse::<u32>() {
        return match text.len() {
            4 if YEARS.contains(&number) => Part::Year(number),
            1 | 2 if (1..=31).contains(&number) => Part::Day(number),
            2 => Part::Short,
            _ => Part::Other,
        };
    }
    let start: String = text.chars().take(3).collect::<String>().to_lowercase();
    let is_word = text.chars().all(char::is_alphabetic);
    if is_word && MONTHS.contains(&start.as_str()) {
        Part::Month
    } else {
        Part::Other
    }
}

fn is_date(year: u32, month: u32, day: u32) -> bool {
    YEARS.contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day)
}

#[cfg(test)]
mod tests {
    use super::looks_like_date;

    #[test]
    fn dates_of_the_usual_forms_are_recognized_and_other_texts_are_not() {
        for text in [
            "31.12.2024",
            "12/31/2024",
            "1/5/24",
            "31-12-99",
            "2024/1/5",
            "2024-1-5",
            "1 Sep 2025",
            "Sep 1, 2025",
            "01-September-2025",
            "20241231",
            "31.12.2024 18:30",
            "Mon 04.05.2026",
            "Di., 5.5.2026",
            "Thu 05/14/2026",
            "2024-12-31T18:30:00",
        ] {
            assert!(looks_like_date(text), "{text}");
        }
        for text in [
            "north",
            "1.2.3",
            "10.0.0.1",
            "20241331",
            "12345678",
            "A-12-2024",
            "3.14",
            "12:30",
            "order 1 2",
            "40.50.2024",
            "1 2 24",
            "",
        ] {
            assert!(!looks_like_date(text), "{text}");
        }
    }
}
