//! `auto`: a search over losses, predictors and learning rates within a budget.
//!
//! The search is successive halving (Jamieson and Talwalkar 2016) over folds. Rows for training and
//! validation are divided into folds (`folds.rs`): contiguous blocks if rows are in order of time,
//! random ones otherwise. Every candidate (`candidate.rs`) is trained without the first fold and
//! scored by the regret of its decisions on that fold (`scoring.rs`); the better ones go on to the
//! next fold, and the few best are trained without each fold in turn. If solves take so long that
//! this does not fit in the budget, the only fold is the validation rows.
//!
//! The first candidates need no solve during training: closed forms and cost-sensitive losses. The
//! best of them are then trained on with losses that call the solver. Their solver calls use the
//! most accurate of these that the budget allows: the exact solver, the tight relaxation (with all
//! cuts of the problem's solver), a local search, the plain relaxation (without cuts), or a
//! solution pool.
//!
//! The result is the average of the best candidates, each scaled to the same norm, and of their
//! models of all folds (bagging, Breiman 1996): it has a lower variance than the best one alone.
//! The average of linear models is one linear model.
//!
//! The plan follows from the counted work of solves during labeling (`solve_times.rs`) and from the
//! number of multiplications of training (`training_time.rs`), never from a clock, so the same seed
//! and budget result in the same model on any machine. The exception is a user-defined solver,
//! whose work is not counted: its seconds are stated, as in `auto 60s solve 0.5s`, or measured
//! once, and the report says so. Features are always standardized and the loss is always rescaled:
//! without the latter, training on large tours makes no progress.

mod candidate;
mod ensemble;
mod folds;
mod scoring;
mod search;
mod selection;
mod solve_times;
mod training_time;

pub(crate) use search::AutoSearch;
