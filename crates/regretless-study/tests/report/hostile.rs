//! Names are untrusted: HTML in them is shown as text.

use regretless_study::experiment::ExperimentResults;
use regretless_study::report::{figures, markdown, page};
use roxmltree::Document;

use crate::stored;

const HOSTILE: &str = "</script><img src=x onerror=alert(1)>\"'&<!--";

/// Results in which every name is hostile.
fn hostile() -> ExperimentResults {
    let mut results = stored("components");
    let reference = results.reference.clone();
    for text in [
        &mut results.name,
        &mut results.title,
        &mut results.description,
        &mut results.provenance.command,
    ] {
        *text = HOSTILE.into();
    }
    for problem in &mut results.problems {
        problem.name = HOSTILE.into();
        for method in &mut problem.methods {
            method.note = Some(HOSTILE.into());
            method.published_solves = Some(HOSTILE.into());
            if method.name != reference {
                method.name += HOSTILE;
            }
        }
    }
    results
}

#[test]
fn hostile_names_are_text_on_the_page() {
    let page = page(&hostile());
    assert!(
        page.contains("&lt;/script&gt;&lt;img src=x"),
        "the name is shown as it is"
    );
    assert!(!page.contains("<img") && !page.contains("<!--"));
    assert_eq!(
        page.matches("</script>").count(),
        2,
        "the numbers and the page's own script"
    );
    assert_eq!(page.matches("<script").count(), 2);
}

#[test]
fn hostile_names_are_text_in_figures_and_tables() {
    let results = hostile();
    let drawn = figures(&results);
    assert!(!drawn.is_empty());
    for figure in drawn {
        let document = Document::parse(&figure.svg).unwrap();
        assert!(
            document
                .descendants()
                .all(|node| !node.has_tag_name("img") && !node.has_tag_name("script"))
        );
        assert!(
            figure
                .name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_'),
            "{}",
            figure.name
        );
    }
    let text = markdown(&results);
    assert!(!text.contains("<img") && !text.contains("</script"));
}

#[test]
fn the_page_makes_no_requests() {
    let page = page(&stored("scale"));
    assert!(page.contains("default-src &#39;none&#39;"));
    assert!(
        !page.contains("unsafe-"),
        "no unsafe-inline, no unsafe-eval"
    );
    let outside = page.replace("http://www.w3.org/2000/svg", "");
    assert!(
        !outside.contains("http://")
            && !outside.contains("https://")
            && !outside.contains("@import")
    );
    assert!(
        !page.contains(" style=\""),
        "the policy allows no style attributes"
    );
}
