//! The text of tables and captions.

use regretless_study::report::{markdown, page};

use crate::{STORED, stored};

#[test]
fn pages_are_small_and_the_same_every_time() {
    for name in STORED {
        let results = stored(name);
        let first = page(&results);
        assert!(first.len() < 1_500_000, "{name}: {} bytes", first.len());
        assert!(
            first == page(&results),
            "{name}: two pages of the same results differ"
        );
    }
}

#[test]
fn a_page_of_eleven_problems_is_still_small() {
    let mut results = stored("scale");
    let measured: Vec<_> = results
        .problems
        .iter()
        .filter(|problem| problem.layout.is_some())
        .cloned()
        .collect();
    results.problems = measured.iter().cycle().take(11).cloned().collect();
    let size = page(&results).len();
    assert!((300_000..1_500_000).contains(&size), "{size} bytes");
}

#[test]
fn the_lowest_ratio_is_bold_and_followed_by_the_published_one() {
    let results = stored("components");
    let text = markdown(&results);
    let best = results.problems[0]
        .methods
        .iter()
        .find(|method| method.is_best)
        .unwrap();
    let published = best.published.unwrap().ratio;
    let line = text.lines().find(|line| line.contains("**")).unwrap();
    let cell = line.split('|').nth(2).unwrap();
    let (mean, sd) = (best.ratio.mean.unwrap(), best.ratio.sd.unwrap());
    let start = format!(" **{mean:.2} ± {sd:.2}** ({published:.2}, ");
    assert!(
        cell.starts_with(&start),
        "{cell} does not begin with {start}"
    );
}

#[test]
fn cells_without_numbers_are_stars_with_a_reason() {
    let results = stored("scale");
    let (text, page) = (markdown(&results), page(&results));
    let reason = results
        .problems
        .iter()
        .find(|problem| problem.name == "CAKS100")
        .unwrap()
        .methods[0]
        .note
        .clone()
        .unwrap();
    assert!(text.contains("\\*") && text.contains("* CAKS100, all methods: "));
    assert!(
        page.contains(&format!("title=\"{reason}\">*")),
        "the reason is shown on hover"
    );
    let missing = page.split("id=\"missing\"").nth(1).unwrap();
    assert_eq!(
        missing.matches("<b>CAKS100</b>, all methods: ").count(),
        1,
        "and listed once"
    );
}

#[test]
fn every_figure_and_table_says_how_many_seeds() {
    let results = stored("scale");
    for figure in regretless_study::report::figures(&results) {
        assert!(
            figure.svg.contains("2 seeds") || figure.svg.contains("first seed"),
            "{}",
            figure.name
        );
    }
    let text = markdown(&results);
    assert!(text.contains("CVRP20 (2 seeds)"));
    assert!(text.contains("machine: a machine, 1 threads") && text.contains("date: 2026-01-01"));
}

#[test]
fn results_without_anything_run_still_make_a_page() {
    let mut results = stored("scale");
    results.problems.retain(|problem| problem.name == "CAKS100");
    assert!(page(&results).contains("not run yet") || page(&results).contains("Missing results"));
    results.problems.clear();
    assert!(page(&results).contains("</html>") && markdown(&results).contains("##"));
}
