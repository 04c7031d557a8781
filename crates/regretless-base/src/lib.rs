//! What every crate of `regretless` needs: errors with a place and a remedy, cancellation, threads,
//! random streams, limits on input, checksummed files, and the decision of a solver.

pub mod cancellation;
pub mod checksummed_file;
pub mod compressed;
pub mod decision;
pub mod error;
pub mod observer;
pub mod parallel;
pub mod random;
pub mod renamed;
pub mod size_limits;
pub mod statistics;
pub mod text;
pub mod verdict;
