//! Studies: methods compared with each other, on tables and over time, and what follows from it.

#[cfg(test)]
extern crate self as regretless_study;

pub mod backtest;
pub mod experiment;
pub mod report;
pub mod review;
#[cfg(test)]
mod tests;
