//! Pages of reviews: every part is there, the numbers are those of the review, names are text.

use regretless_study::report::{Figure, review_figures, review_page};
use regretless_study::review::DecisionReview;

#[path = "../fixtures/reviews.rs"]
mod fixture;

use fixture::{HOSTILE, of_backtest, of_training, summary};

fn section<'a>(page: &'a str, id: &str) -> &'a str {
    let start = format!("<section id=\"{id}\"");
    let text = page
        .split(&start)
        .nth(1)
        .unwrap_or_else(|| panic!("no section {id}"));
    text.split("</section>").next().unwrap()
}

fn check_is_inert(page: &str) {
    assert!(!page.contains("<img") && !page.contains("<!--"));
    assert_eq!(page.matches("</script>").count(), 2);
    assert!(
        page.contains("&lt;img src=x"),
        "names are shown as they are"
    );
    assert!(
        !page.contains(" style=\""),
        "the policy allows no style attributes"
    );
}

#[test]
fn the_page_of_a_backtest_has_the_verdict_first_and_every_part() {
    let review = of_backtest().unwrap();
    let page = review_page(&review, &summary());
    check_is_inert(&page);
    let verdict = page.find("class=\"verdict\"").unwrap();
    assert!(verdict < page.find("<svg").unwrap());
    for id in [
        "money",
        "methods",
        "regrets",
        "sources",
        "examples",
        "explained",
        "data-check",
    ] {
        assert!(section(&page, id).len() > 100, "{id}");
    }
    assert_eq!(page.matches("<li><b>").count(), review.key_figures.len());
    assert!(page.contains("<summary>What these words mean</summary>"));
    // One bar per decided period.
    let bars = section(&page, "regrets").matches("soft bar").count();
    let periods = review.regrets.len();
    assert!(
        periods >= 60 && bars >= periods,
        "{bars} bars, {periods} periods"
    );
    assert_eq!(
        page,
        review_page(&of_backtest().unwrap(), &summary()),
        "the same bytes"
    );
}

#[test]
fn the_page_of_a_training_compares_with_least_squares_and_states_its_limits() {
    let review = of_training().unwrap();
    let page = review_page(&review, &summary());
    check_is_inert(&page);
    assert!(review.history.is_none() && !page.contains("id=\"money\""));
    assert!(
        page.contains("This is one training and one split"),
        "{:?}",
        review.verdict
    );
    assert!(page.contains("least squares"));
    assert!(section(&page, "sources").contains("Which features decisions depend on"));
    assert!(!review.importance.is_empty());
}

#[test]
fn the_page_of_a_backtest_says_which_features_its_decisions_depend_on() {
    let review = of_backtest().unwrap();
    let page = review_page(&review, &summary());
    let sources = section(&page, "sources");
    // One model decided the last 25 days; both features move costs across the best ones.
    let basis = "Measured on 25 decisions of the latest model, with 3 shuffles of each feature.";
    assert_eq!(review.importance_basis, basis);
    assert!(sources.contains(basis));
    let names: Vec<&str> = review
        .importance
        .iter()
        .map(|entry| entry.feature.as_str())
        .collect();
    assert_eq!(names.len(), 2);
    assert!(names.contains(&"wind"));
    let means = review.importance.iter().map(|entry| entry.increase.mean);
    let means: Vec<f64> = means.map(Option::unwrap).collect();
    assert!(means[0] >= means[1] && means[0] > 0.0, "{means:?}");
}

#[test]
fn shares_of_the_regret_have_no_unit_where_predicted_costs_are_right_up_to_a_factor() {
    let mut review = of_backtest().unwrap();
    review.unit = Some("EUR".into());
    let factor = "predicted costs are correct up to a per-row scale factor: shares";
    let texts = |review: &DecisionReview| {
        let page = review_page(review, &summary());
        let files = review_figures(review);
        let file = files.into_iter().find(|file| file.name == "sources");
        [section(&page, "sources").to_owned(), file.unwrap().svg]
    };
    // After the identity of the sum: the regret, which is a true amount.
    let regret = "the difference is the regret of";
    review.method = "MSE".into();
    for text in texts(&review) {
        let (shares, regret) = text.split_once(regret).unwrap();
        assert!(shares.contains("\u{a0}EUR; the best decisions"), "{shares}");
        assert!(regret.contains("\u{a0}EUR"), "{regret}");
        assert!(!text.contains(factor), "{text}");
    }
    review.method = "MAE(O,S)".into();
    for text in texts(&review) {
        let (shares, regret) = text.split_once(regret).unwrap();
        assert!(!shares.contains("EUR"), "{shares}");
        assert!(regret.contains("\u{a0}EUR"), "{regret}");
        assert!(text.contains(&format!("With MAE(O,S) {factor}")), "{text}");
    }
}

#[test]
fn figures_as_files_are_those_of_the_page() {
    let review = of_backtest().unwrap();
    let page = review_page(&review, &summary());
    let files = review_figures(&review);
    let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(
        names[..4],
        ["money", "regrets", "sources", "explained"],
        "{names:?}"
    );
    assert!(names[4..].iter().all(|name| name.contains("top_1_of_6")));
    assert_eq!(
        names.len(),
        6,
        "a typical and the worst row, too: {names:?}"
    );
    for Figure { name, svg } in &files {
        roxmltree::Document::parse(svg).unwrap();
        assert!(!svg.contains("<img") && !svg.contains("<script"), "{name}");
        // The drawing without its frame, which has a style sheet in a file.
        let drawing = |text: &str| text.split("</style>").nth(1).map(str::to_owned);
        let content = drawing(svg).unwrap();
        let content = content.trim_end_matches("</svg>").trim_end();
        if names[..4].contains(&name.as_str()) {
            assert!(page.contains(content), "{name} is not drawn on the page");
        }
    }
}

/// The shares of all costs minus the gap are the regret, and the gap is not negative: decisions are
/// optimal for the predicted costs.
fn check_sources(review: &DecisionReview) {
    let sources = review.sources.as_ref().unwrap();
    let shares: f64 = sources.costs.iter().map(|cost| cost.share).sum();
    let regret: f64 = review.regrets.iter().map(|row| row.method).sum();
    assert!((sources.regret - regret).abs() < 1e-6 * regret.abs().max(1.0));
    assert!((shares - sources.gap - regret).abs() < 1e-6 * shares.abs().max(1.0));
    assert!(
        sources.gap > -1e-3 * shares.abs().max(1.0),
        "gap {}",
        sources.gap
    );
    assert!(
        sources
            .costs
            .iter()
            .all(|cost| cost.name.ends_with(HOSTILE))
    );
}

#[test]
fn regret_by_cost_adds_up() {
    for review in [of_backtest().unwrap(), of_training().unwrap()] {
        check_sources(&review);
        let explained = review.explained.unwrap();
        let split = explained.explanation.regret.unwrap();
        let shares: f64 = split.shares.iter().map(|share| share.share).sum();
        assert!((shares - split.gap - split.regret).abs() < 1e-6 * shares.abs().max(1.0));
    }
}

#[test]
fn the_explained_decision_is_the_one_of_the_backtest() {
    let review = of_backtest().unwrap();
    let explained = review.explained.unwrap();
    let regret = explained.explanation.regret.unwrap().regret;
    let row = review
        .regrets
        .iter()
        .find(|row| row.name == explained.name)
        .unwrap();
    assert!(
        (row.method - regret).abs() < 1e-6,
        "{} and {regret}",
        row.method
    );
}
