//! `fit`, `train`, `compare` and `backtest` with their default methods do not contradict one
//! another on one table: every sentence about least squares states an interval with its rows, or
//! that nothing is certain, and no two sentences claim opposite directions.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fmt::Write;

use common::TestWorkspace;

/// Numbers between 0 and 1 that look random.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        // Knuth's linear congruential generator.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// About normal, with deviation 1.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.next()).sum::<f64>() - 6.0
    }
}

const ITEMS: [&str; 6] = ["fish", "milk", "corn", "rice", "beer", "nuts"];

/// What the costs of a table depend on.
#[derive(Clone, Copy, PartialEq)]
enum Signal {
    /// Nothing.
    None,
    /// Whether the temperature is a usual one, which no linear function of it tells.
    Extremes,
    /// The temperature, with a best one for each item, and the store; a capacity for each day.
    Van,
}

/// A table of days, and its problem.
fn write_table(workspace: &TestWorkspace, signal: Signal, days: u32) {
    let mut noise = Noise(7);
    let mut table = format!("day,store,temp,minutes,{}\n", ITEMS.join(","));
    for day in 0..days {
        let (year, rest) = (2023 + day / 336, day % 336);
        let temp = -5.0 + 35.0 * noise.next();
        let is_north = noise.next() < 0.5;
        let minutes = [8, 10, 12, 14][(4.0 * noise.next()) as usize];
        let store = if is_north { "north" } else { "south" };
        let (month, date) = (1 + rest / 28, 1 + rest % 28);
        write!(
            table,
            "{year}-{month:02}-{date:02},{store},{temp:.2},{minutes}"
        )
        .unwrap();
        for (position, best) in [0.0, 25.0, 5.0, 20.0, 12.0, 28.0].into_iter().enumerate() {
            let peak = match signal {
                Signal::None => 20.0,
                Signal::Extremes => {
                    let is_usual = (5.0..20.0).contains(&temp);
                    if is_usual == (position < 3) {
                        40.0
                    } else {
                        10.0
                    }
                }
                Signal::Van => 60.0 - 2.5 * f64::abs(temp - best),
            };
            let local = if is_north && position < 2 { 4.0 } else { 0.0 };
            let margin = peak + local + 6.0 * noise.normal();
            write!(table, ",{margin:.2}").unwrap();
        }
        table.push('\n');
    }
    workspace.write("table.csv", &table);
    let capacity = if signal == Signal::Van {
        "{ column = 'minutes' }"
    } else {
        "10"
    };
    workspace.write(
        "problem.toml",
        &format!(
            "kind = 'knapsack'\nitems = {ITEMS:?}\nweights = [[3, 4, 5, 2, 6, 3]]\n\
             capacity = {capacity}\n"
        ),
    );
}

/// What a sentence claims about a trained method against least squares.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Claim {
    Better,
    NotBetter,
    Open,
}

/// The sentences about least squares in an output, with their claims.
fn claims(output: &str) -> Vec<(Claim, String)> {
    let mut found = Vec::new();
    for line in output.lines() {
        let sentence = line.trim();
        let is_method = sentence.contains("auto") || sentence.contains("method");
        if !sentence.contains("least squares") || !is_method {
            continue;
        }
        let is_open = [
            "is certain to beat",
            "not certain to beat",
            "to tell whether",
        ]
        .iter()
        .any(|words| sentence.contains(words));
        let is_denial = [
            "no compared",
            "decides hardly better",
            "is least squares here",
        ]
        .iter()
        .any(|words| sentence.contains(words));
        let is_worse = sentence.contains("`least squares` gains");
        let claim = if is_open {
            Claim::Open
        } else if is_denial || is_worse {
            Claim::NotBetter
        } else if sentence.contains("more than least squares") {
            Claim::Better
        } else {
            continue;
        };
        found.push((claim, sentence.to_owned()));
    }
    found
}

/// Runs the four commands with their default methods and returns what they claim.
fn all_claims(signal: Signal, days: u32) -> Vec<(Claim, String)> {
    let workspace = TestWorkspace::new();
    write_table(&workspace, signal, days);
    let table = format!(
        "--data table.csv --costs {} --problem problem.toml",
        ITEMS.join(",")
    );
    let mut found = Vec::new();
    for command in [
        "fit table.csv --problem problem.toml --out fitted".to_owned(),
        format!("train {table} --ignore day --out random.safetensors"),
        format!("train {table} --split time:day --out latest.safetensors"),
        format!("compare {table} --ignore day --seeds 3 --out compared"),
        format!("backtest {table} --time day --out tested"),
    ] {
        let output = workspace.run(&command).succeeded();
        for text in [&output.out, &output.err] {
            assert!(!text.contains("significant"), "{text}");
            found.extend(claims(text));
        }
        let is_compare = command.starts_with("compare");
        assert!(is_compare || !found.is_empty(), "{}", output.out);
    }
    found
}

fn assert_agreement(found: &[(Claim, String)]) {
    for (claim, sentence) in found {
        let has_rows = ["rows", "periods"]
            .iter()
            .any(|noun| sentence.contains(noun));
        assert!(has_rows, "it names no rows: {sentence}");
        let has_interval = sentence.contains("95 %:");
        assert!(has_interval || *claim != Claim::Better, "{sentence}");
    }
    let claims = |wanted: Claim| found.iter().any(|(claim, _)| *claim == wanted);
    assert!(
        !(claims(Claim::Better) && claims(Claim::NotBetter)),
        "{found:#?}"
    );
}

#[test]
fn commands_agree_on_noise_and_claim_no_improvement() {
    let found = all_claims(Signal::None, 200);
    assert_agreement(&found);
    assert!(
        found.iter().all(|(claim, _)| *claim != Claim::Better),
        "{found:#?}"
    );
}

#[test]
fn commands_agree_on_a_planted_difference_and_find_it() {
    let found = all_claims(Signal::Extremes, 500);
    assert_agreement(&found);
    assert!(
        found.iter().any(|(claim, _)| *claim == Claim::Better),
        "{found:#?}"
    );
}

#[test]
fn commands_agree_on_a_table_on_which_little_is_certain() {
    assert_agreement(&all_claims(Signal::Van, 400));
}
