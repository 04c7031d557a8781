//! `auto`: a default method for users who do not want to choose one.
//!
//! Two races, both scored by regret on validation rows. First, cost-sensitive losses that need no
//! solve during training: MSE, MAE(O,S) and MSE(O,S), in a few epochs with a large, decaying
//! learning rate. Then training continues from the winner with SPO+, its solver calls answered as
//! well as the budget allows: exactly, by the tight relaxation, by local search, by the plain
//! relaxation, or from a solution pool. If each item has features of its own, SPO+ starts from an
//! untrained model, since one-sided losses carry little information there, and from the winner too
//! if that is affordable.
//!
//! The plan follows from the counted work of solves during labeling (`solve_times.rs`), never from
//! a clock, so that the same seed and budget give the same model on any machine. The exception is a
//! solver of the user's own, whose work is not counted: its seconds are stated
//! (`auto 60s solve 0.5s`) or measured once, and the report says so. The loss is always rescaled:
//! training on large tours would stall otherwise.

mod racing;
mod solve_times;

pub(crate) use racing::CandidateRace;
