//! Studies: methods compared with each other, on tables and over time, and what follows from it.

#[cfg(test)]
extern crate self as regretless_study;

pub mod backtest;
pub mod comparison;
pub mod decision_page;
pub mod experiment;
pub mod explanation;
pub mod fit;
pub mod report;
pub mod review;
pub mod table_report;
#[cfg(test)]
mod tests;
pub mod text;

pub use regretless_base::verdict;
