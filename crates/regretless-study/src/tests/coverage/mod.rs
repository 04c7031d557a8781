//! Simulated coverage: how often the 95 % intervals that `train`, `auto`, `compare` and `backtest`
//! state contain the truth, and how often they claim an improvement where there is none.
//!
//! Tables have a known distribution (`tables.rs`), so the truth is known. It is that of the models
//! that were trained, on rows of the same distribution that nobody has seen.

mod noise_columns;
mod tables;
mod verdicts;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use tables::{RowRelation, WORLDS, World};
use verdicts::{Observation, StatedVerdict};

/// Smallest fraction of intervals that contain the truth.
const MIN_COVERAGE: f64 = 0.93;
/// Largest upper end of the interval of the fraction of false claims, and of false losses.
const MAX_FALSE_CLAIMS: f64 = 0.075;

/// What was observed of a verdict.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    tables: u32,
    intervals: u32,
    covered: u32,
    claims: u32,
    false_claims: u32,
    losses: u32,
    false_losses: u32,
}

impl Tally {
    fn add(&mut self, observed: &Observation) {
        self.tables += u32::from(observed.is_first);
        if let Some([lower, upper]) = observed.interval {
            self.intervals += 1;
            self.covered += u32::from(lower <= observed.truth && observed.truth <= upper);
            let is_loss = observed.is_saving && upper < 0.0;
            self.losses += u32::from(is_loss);
            self.false_losses += u32::from(is_loss && observed.truth >= 0.0);
        }
        self.claims += u32::from(observed.is_claim);
        self.false_claims += u32::from(observed.is_claim && observed.truth <= 0.0);
    }

    fn merge(&mut self, other: &Self) {
        self.tables += other.tables;
        self.intervals += other.intervals;
        self.covered += other.covered;
        self.claims += other.claims;
        self.false_claims += other.false_claims;
        self.losses += other.losses;
        self.false_losses += other.false_losses;
    }

    fn coverage(&self) -> f64 {
        f64::from(self.covered) / f64::from(self.intervals.max(1))
    }

    fn false_fraction(&self) -> f64 {
        f64::from(self.false_claims) / f64::from(self.tables.max(1))
    }

    /// The upper end of the interval of the fraction of tables with a false claim.
    fn upper_false_fraction(&self) -> f64 {
        upper_fraction(self.false_claims, self.tables)
    }

    /// The upper end of the interval of the fraction of intervals that falsely state a loss.
    fn upper_false_loss_fraction(&self) -> f64 {
        upper_fraction(self.false_losses, self.intervals)
    }
}

/// The upper end of the 95 % interval of Wilson (1927) of a fraction.
fn upper_fraction(part: u32, whole: u32) -> f64 {
    let (count, z) = (f64::from(whole.max(1)), 1.96_f64);
    let fraction = f64::from(part) / count;
    let center = fraction + z * z / (2.0 * count);
    let spread = (fraction * (1.0 - fraction) / count + z * z / (4.0 * count * count)).sqrt();
    (center + z * spread) / (1.0 + z * z / count)
}

/// What is observed of so many tables, by verdict.
fn simulate(
    tables: u64,
    verdicts: &[StatedVerdict],
    relation: RowRelation,
    has_signal: bool,
) -> BTreeMap<String, Tally> {
    let worlds: Vec<World> = (0..WORLDS)
        .map(|number| World::new(number, relation, has_signal))
        .collect();
    let threads = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let of_thread = |thread: usize| {
        let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
        for table in (0..tables).skip(thread).step_by(threads) {
            let world = &worlds[(table % WORLDS) as usize];
            for observed in verdicts::observe(verdicts, world, table) {
                let tally = tallies.entry(observed.name.to_owned()).or_default();
                tally.add(&observed);
            }
        }
        tallies
    };
    let mut all: BTreeMap<String, Tally> = BTreeMap::new();
    std::thread::scope(|scope| {
        let of_thread = &of_thread;
        let running: Vec<_> = (0..threads)
            .map(|thread| scope.spawn(move || of_thread(thread)))
            .collect();
        for thread in running {
            for (name, tally) in thread.join().unwrap() {
                all.entry(name).or_default().merge(&tally);
            }
        }
    });
    all
}

/// Simulates tables with and without order of time and with and without a true difference, prints
/// a table, and returns what is beyond its limit.
fn failures_of(tables: u64, verdicts: &[StatedVerdict]) -> Vec<String> {
    let mut failures = Vec::new();
    let mut losses = Tally::default();
    println!(
        "| verdict and its tables | tables | intervals | covered % | claims | false % | at most % |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|");
    for relation in [RowRelation::Independent, RowRelation::InTime] {
        for has_signal in [false, true] {
            let rows = match relation {
                RowRelation::Independent => "independent rows",
                RowRelation::InTime => "rows in time",
            };
            let costs = if has_signal { "signal" } else { "noise" };
            for (name, tally) in simulate(tables, verdicts, relation, has_signal) {
                let name = format!("{name}: {rows}, {costs}");
                let covered = if tally.intervals > 0 {
                    format!("{:.1}", 100.0 * tally.coverage())
                } else {
                    "–".into()
                };
                println!(
                    "| {name} | {} | {} | {covered} | {} | {:.1} | {:.1} |",
                    tally.tables,
                    tally.intervals,
                    tally.claims,
                    100.0 * tally.false_fraction(),
                    100.0 * tally.upper_false_fraction()
                );
                losses.merge(&tally);
                if tally.intervals > 0 && tally.coverage() < MIN_COVERAGE {
                    failures.push(format!("{name}: {covered} % covered"));
                }
                if tally.upper_false_fraction() > MAX_FALSE_CLAIMS {
                    failures.push(format!("{name}: {} false claims", tally.false_claims));
                }
                if tally.intervals > 0 && tally.upper_false_loss_fraction() > MAX_FALSE_CLAIMS {
                    failures.push(format!("{name}: {} false losses", tally.false_losses));
                }
            }
        }
    }
    println!(
        "{} intervals state a loss, {} of them falsely",
        losses.losses, losses.false_losses
    );
    failures
}

#[test]
#[ignore = "1,600 tables: minutes"]
fn stated_intervals_hold_and_claims_are_rarely_false() {
    let tables = 400;
    let failures = failures_of(tables, &StatedVerdict::ALL);
    println!("suite summary: {} instances, - optimal", 4 * tables);
    assert!(failures.is_empty(), "{failures:#?}");
}

/// All seeds of a comparison in order of time are tested on the same rows.
#[test]
fn a_comparison_in_order_of_time_states_no_interval_and_claims_nothing() {
    for has_signal in [false, true] {
        let tallies = simulate(
            4,
            &[StatedVerdict::Compare],
            RowRelation::InTime,
            has_signal,
        );
        assert_eq!(tallies.len(), 2);
        for (name, tally) in tallies {
            assert_eq!(tally.tables, 4, "{name}");
            assert_eq!([tally.intervals, tally.claims], [0, 0], "{name}");
        }
    }
}

/// A small part of the suite above.
#[test]
fn the_intervals_of_compare_hold_with_and_without_a_difference() {
    for has_signal in [false, true] {
        let verdicts = [StatedVerdict::Compare];
        for (name, tally) in simulate(48, &verdicts, RowRelation::Independent, has_signal) {
            println!("{name}, signal {has_signal}: {tally:?}");
            assert!(tally.intervals >= tally.tables, "{name}: {tally:?}");
            assert!(tally.coverage() > 0.9, "{name}: {tally:?}");
            assert!(tally.false_fraction() < 0.05, "{name}: {tally:?}");
        }
    }
}

/// A small part of the suite above. With a percentile bootstrap of the regrets that chose the
/// candidates, three of four intervals contained the truth, and a sixth of the tables had a false
/// claim.
#[test]
fn the_intervals_of_auto_hold_on_noise() {
    let tallies = simulate(
        36,
        &[StatedVerdict::AutoOfFolds],
        RowRelation::Independent,
        false,
    );
    for (name, tally) in tallies {
        assert!(
            tally.tables == 36 && tally.intervals >= 20,
            "{name}: {tally:?}"
        );
        assert!(tally.coverage() > 0.85, "{name}: {tally:?}");
        assert!(tally.false_fraction() < 0.1, "{name}: {tally:?}");
    }
}
