//! `auto`: a default method for users who do not want to choose one.
//!
//! Two races: several candidates are trained one after the other, and the one with the lowest
//! regret on validation rows wins. The candidates of the first race are cost-sensitive losses that
//! need no solve during training: MSE, MAE(O,S) and MSE(O,S), in a few epochs with a large,
//! decaying learning rate. In the second race training continues from the winner with SPO+. Its
//! solver calls use the most accurate of these that the budget allows: the exact solver, the tight
//! relaxation (with all cuts of the problem's solver), a fast local search, the plain relaxation
//! (without cuts), or a solution pool. If each item has separate features, SPO+ starts from an
//! untrained model, since one-sided losses carry little information there, and from the winner too
//! if that is affordable.
//!
//! The plan follows from the counted work of solves during labeling (`solve_times.rs`), never from
//! a clock, so that the same seed and budget result in the same model on any machine. The exception
//! is a user-defined solver, whose work is not counted: its seconds are stated, as in
//! `auto 60s solve 0.5s`, or measured once, and the report says so. The loss is always rescaled:
//! without it, training on large tours makes no progress.

mod racing;
mod solve_times;

pub(crate) use racing::CandidateRace;
