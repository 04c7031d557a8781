//! The page that `compare` writes for one's own data.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::TestWorkspace;

/// Two depots and two customers: `ship_*` is predicted, `open_*` has known costs. Shipping from
/// depot a costs more when `load` is above 0.5, so another depot should be opened.
fn write_depots(workspace: &TestWorkspace) {
    workspace.write(
        "model.lp",
        "Minimize\n cost: 5 open_a + 4 open_b + ship_a_x + ship_a_y + ship_b_x + ship_b_y\n\
        Subject To\n x: ship_a_x + ship_b_x >= 3\n y: ship_a_y + ship_b_y >= 2\n\
        a: ship_a_x + ship_a_y - 6 open_a <= 0\n b: ship_b_x + ship_b_y - 6 open_b <= 0\n\
        Binary\n open_a open_b\nEnd\n",
    );
    workspace.write(
        "problem.toml",
        "kind = 'linear'\nfile = 'model.lp'\ncosts = ['ship_*']\n",
    );
    let mut table = "date,load,ship_a_x,ship_a_y,ship_b_x,ship_b_y\n".to_string();
    for day in 0..90 {
        let load = f64::from(day * 37 % 90) / 90.0;
        let noise = f64::from(day * 53 % 17) / 17.0;
        let a = if load > 0.5 { 6.0 } else { 1.0 } + noise;
        let date = format!("2026-{:02}-{:02}", 1 + 2 * (day / 30), 1 + day % 30);
        table += &format!("{date},{load},{a},{},{},{}\n", a + 0.5, 3.0 - noise, 3.1);
    }
    workspace.write("table.csv", &table);
}

const DEPOTS: &str = "compare --data table.csv --costs ship_* --problem problem.toml --methods \
    MAE(O,S) --epochs 5 --out cmp";

#[test]
fn the_page_has_the_verdict_the_decisions_and_the_settings() {
    let workspace = TestWorkspace::new();
    write_depots(&workspace);
    let output = workspace.run(&format!("{DEPOTS} --seeds 3")).succeeded();
    assert!(
        output.out.contains("report in cmp/report.html"),
        "{}",
        output.out
    );
    let page = workspace.read("cmp/report.html");
    // The verdict comes before everything else, in the words of the terminal.
    let verdict = page.split("class=\"verdict\">").nth(1).unwrap();
    let is_verdict = |line: &&str| line.contains(" less regret") || line.contains(" beat");
    let sentence = output.out.lines().find(is_verdict).unwrap();
    let end = sentence.rsplit('`').next().unwrap();
    let end = end.trim_start_matches(char::is_alphabetic);
    let shown = verdict.split("</p>").next().unwrap();
    assert!(shown.contains(end), "{shown} {sentence}");
    // Chosen and missed columns, and the depots that are opened, which are not predicted.
    assert!(page.contains("<h3>The worst row</h3>"));
    let worst = page.split("<h3>The worst row</h3>").nth(1).unwrap();
    let worst = worst.split("</section>").next().unwrap();
    assert!(
        worst.contains("ship_a_x") && worst.contains("ship_b_x"),
        "{worst}"
    );
    assert!(worst.contains('▲') && worst.contains('▽') && worst.contains("predicted cost"));
    assert!(worst.contains("<th scope=\"row\">open_a</th>"), "{worst}");
    assert!(worst.contains("known costs, in total"), "{worst}");
    assert!(
        worst.contains("date 2026-"),
        "the row is named by its date: {worst}"
    );
    for text in [
        "least squares",
        "95 % interval",
        "<dt>table</dt><dd>table.csv</dd>",
        "54 rows to train, 18 to validate, 18 to test; split at random, for each seed",
        "<dt>features</dt><dd>date weekday=Mon, ",
        "<dt>encoding</dt><dd>date: weekday (7 values)",
        "<dt>labels</dt><dd>90 optimal</dd>",
        "regretless compare --data table.csv --costs &#39;ship_*&#39;",
        "--config cmp/settings.toml",
    ] {
        assert!(page.contains(text), "{text} is missing");
    }
}

#[test]
fn regrets_of_a_comparison_have_the_unit() {
    let workspace = TestWorkspace::new();
    write_depots(&workspace);
    let output = workspace
        .run(&format!("{DEPOTS} --seeds 2 --unit EUR"))
        .succeeded();
    assert!(output.out.contains("test regret (EUR)"), "{}", output.out);
    let page = workspace.read("cmp/report.html");
    let verdict = page.split("class=\"verdict\">").nth(1).unwrap();
    let verdict = verdict.split("</p>").next().unwrap();
    assert_eq!(verdict.matches(" EUR per decision").count(), 1, "{verdict}");
    let table = page.split("<section id=\"overview\"").nth(1).unwrap();
    let table = table.split("</section>").next().unwrap();
    assert!(table.contains("not knowing the costs, in EUR."), "{table}");
    // MSE, MAE(O,S) and two baselines.
    assert_eq!(table.matches("\u{a0}EUR</td>").count(), 4, "{table}");
    let is_verdict = |line: &&str| line.contains("decision-focused") || line.contains("` saves ");
    let sentence = output.out.lines().find(is_verdict).unwrap();
    assert!(sentence.contains(" EUR per decision"), "{sentence}");
}

/// The row of the first seed with the largest regret of a method, by the stored runs.
fn worst_row(runs: &str, method: &str) -> usize {
    let mut worst = (0, 0.0);
    for line in runs.lines() {
        let run: serde_json::Value = serde_json::from_str(line).unwrap();
        if run["name"] != method || run["seed"] != 0 {
            continue;
        }
        for decision in run["outcome"]["done"]["examples"].as_array().unwrap() {
            let regret = decision["regret"].as_f64().unwrap();
            if regret > worst.1 {
                worst = (decision["row"].as_u64().unwrap() as usize, regret);
            }
        }
    }
    assert!(worst.1 > 0.0, "no regret of {method}");
    worst.0
}

#[test]
fn one_decision_of_the_best_method_is_explained_and_figures_are_files_on_request() {
    let workspace = TestWorkspace::new();
    write_depots(&workspace);
    // So long that MAE(O,S) is better than least squares, whose decisions are not stored.
    let depots = DEPOTS.replace("--epochs 5", "--epochs 150 --seeds 2 --figures drawn");
    let output = workspace.run(&depots).succeeded();
    let page = workspace.read("cmp/report.html");
    let explained = page.split("<section id=\"explained\"").nth(1).unwrap();
    let explained = explained.split("</section>").next().unwrap();
    let method = explained
        .split("of the first seed, decided by ")
        .nth(1)
        .unwrap();
    let method = method.split(".</p>").next().unwrap();
    let row = worst_row(&workspace.read("cmp/results.jsonl"), method);
    let table = workspace.read("table.csv");
    let date = table.lines().nth(1 + row).unwrap().split(',').next();
    let title = format!("One decision explained: {}<", date.unwrap());
    assert!(explained.contains(&title), "{title} {explained:.300}");
    assert!(explained.contains("ship_a_x"));
    for name in ["sources", "explained"] {
        assert!(
            workspace
                .read(&format!("drawn/{name}.svg"))
                .starts_with("<svg")
        );
    }
    assert!(output.out.contains("figures in drawn"), "{}", output.out);
    let again = workspace.run(&format!("{depots}-2"));
    again.failed(3, &["drawn: exists already"]);
}

#[test]
fn the_worst_row_loses_what_its_columns_cost() {
    let workspace = TestWorkspace::new();
    write_depots(&workspace);
    workspace.run(&format!("{DEPOTS} --seeds 1")).succeeded();
    let runs = workspace.read("cmp/results.jsonl");
    let table = workspace.read("table.csv");
    let mut checked = 0;
    for line in runs.lines() {
        let run: serde_json::Value = serde_json::from_str(line).unwrap();
        let examples = run["outcome"]["done"]["examples"].as_array().cloned();
        for example in examples.unwrap_or_default() {
            let row = example["row"].as_u64().unwrap() as usize;
            let cells: Vec<f64> = table
                .lines()
                .nth(row + 1)
                .unwrap()
                .split(',')
                .skip(2)
                .map(|cell| cell.parse().unwrap())
                .collect();
            // The cost of the decision by hand, and the best of the three sets of open depots.
            let chosen = example["chosen"].as_array().unwrap();
            let values = example["values"].as_array().unwrap();
            let shipped: f64 = chosen
                .iter()
                .zip(values)
                .map(|(at, value)| cells[at.as_u64().unwrap() as usize] * value.as_f64().unwrap())
                .sum();
            let only_a = 5.0 + 3.0 * cells[0] + 2.0 * cells[1];
            let only_b = 4.0 + 3.0 * cells[2] + 2.0 * cells[3];
            let both = 9.0 + 3.0 * cells[0].min(cells[2]) + 2.0 * cells[1].min(cells[3]);
            let regret =
                shipped + example["fixed"].as_f64().unwrap() - only_a.min(only_b).min(both);
            assert!(
                (regret - example["regret"].as_f64().unwrap()).abs() < 1e-4,
                "{example}: {regret}"
            );
            // Predicted costs of the chosen columns are stored with it.
            assert!(example["predicted"].as_array().unwrap().len() >= chosen.len());
            checked += 1;
        }
    }
    // MSE and MAE(O,S) on the 18 test rows.
    assert_eq!(checked, 36);
}

#[test]
fn seeds_with_the_same_test_rows_have_no_intervals() {
    let workspace = TestWorkspace::new();
    write_depots(&workspace);
    workspace
        .run(&format!("{DEPOTS} --seeds 3 --split 50,20,20"))
        .succeeded();
    let page = workspace.read("cmp/report.html");
    assert!(page.contains("20 to test; in table order, the same for all seeds"));
    assert!(
        !page.contains("95 % interval"),
        "the seeds share their test rows"
    );
}

#[test]
fn hostile_names_of_columns_and_files_are_text() {
    let workspace = TestWorkspace::new();
    let name = "<script>alert(1)</script>";
    let mut table = format!("x,\"{name}\",\"<img src=x onerror=alert(2)>\",c\n");
    for row in 0..60 {
        let x = f64::from(row * 7 % 60) / 60.0;
        table += &format!("{x},{},{},{}\n", x * x * 9.0, 3.0 + x, f64::from(row % 5));
    }
    workspace.write("<b>table.csv", &table);
    workspace.write(
        "problem.toml",
        "kind = 'top_k'\nk = 1\nitems = 3\nsense = 'minimize'\n",
    );
    let words = [
        "compare",
        "--data",
        "<b>table.csv",
        "--features",
        "x",
        "--problem",
        "problem.toml",
        "--costs",
        "<*,c",
        "--methods",
        "MAE(O,S)",
        "--seeds",
        "2",
        "--epochs",
        "2",
        "--out",
        "cmp",
    ];
    workspace.run_words(&words).succeeded();
    let page = workspace.read("cmp/report.html");
    assert!(
        page.contains("&lt;b&gt;table.csv"),
        "the name of the file is shown"
    );
    assert!(
        page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"),
        "and that of the column"
    );
    assert!(
        !page.contains("<img") && !page.contains("<b>table") && !page.contains("<script>alert")
    );
    assert_eq!(
        page.matches("<script").count(),
        2,
        "the numbers and the page's own script"
    );
    let outside = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!outside.contains("http://") && !outside.contains("https://"));
}
