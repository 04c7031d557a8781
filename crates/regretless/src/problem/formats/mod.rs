//! Readers of published instance files.

pub mod orlib;
pub mod tsplib;
