//! One thread's access to an oracle.

use std::cell::RefCell;

use super::{Answer, Oracle, Pool, Turn, check_finite};
use crate::decision::Decision;
use crate::error::Result;
use crate::problem::Problem;
use crate::solve::cone::Cone;
use crate::solve::relax::{Relaxation, Relaxer};
use crate::solve::{Failure, Solution, Solver, Status};

thread_local! {
    /// The last answer of the asker before, for its memory.
    static SPARE: RefCell<Solution> = RefCell::new(Solution::nothing());
}

fn spare() -> Solution {
    SPARE.with(|spare| spare.replace(Solution::nothing()))
}

/// What solves.
pub(super) enum Engine {
    /// The problem itself.
    Exact(Box<dyn Solver>),
    /// Its relaxation.
    Relaxed(Relaxation, Box<dyn Relaxer>),
}

/// Asks an oracle; the engine goes back when dropped.
pub struct Asker<'a> {
    oracle: &'a Oracle,
    /// Present until dropped.
    engine: Option<Engine>,
    pool: Option<&'a Pool>,
    turn: Turn,
    /// What was solved since the last time somebody took it, if there is a pool.
    found: Vec<Decision>,
    widened: Vec<f64>,
    /// The latest answer, whose memory the next one uses.
    answer: Solution,
}

impl<'a> Asker<'a> {
    pub(super) fn new(oracle: &'a Oracle, engine: Option<Engine>, pool: Option<&'a Pool>) -> Self {
        Self { oracle, engine, pool, turn: Turn::Solve, found: Vec::new(), widened: Vec::new(), answer: spare() }
    }

    /// The problem that is solved.
    pub fn problem(&self) -> &dyn Problem {
        self.oracle.problem.as_ref()
    }

    /// The decisions known so far; none where nobody keeps a pool.
    pub fn known(&self) -> &'a [Decision] {
        self.pool.map_or(&[], Pool::decisions)
    }

    /// From now on questions are solved or answered from the pool.
    pub fn take_turn(&mut self, turn: Turn) {
        self.turn = turn;
    }

    /// What was solved since the last call, for the pool.
    pub fn take_found(&mut self) -> Vec<Decision> {
        std::mem::take(&mut self.found)
    }

    /// The best decision for a row of single-precision costs.
    ///
    /// # Errors
    /// When there is none.
    pub fn solve_row(&mut self, costs: &[f32]) -> Answer {
        let mut widened = std::mem::take(&mut self.widened);
        widened.clear();
        widened.extend(costs.iter().map(|cost| f64::from(*cost)));
        let answer = self.solve(&widened);
        self.widened = widened;
        answer
    }

    /// The answer for these costs: solved, counted and checked, or the cheapest known decision.
    ///
    /// # Errors
    /// When there is none.
    pub fn solve(&mut self, costs: &[f64]) -> Answer {
        self.ask(costs)?;
        Ok(std::mem::replace(&mut self.answer, Solution::nothing()))
    }

    /// The same answer, kept here until the next question.
    ///
    /// # Errors
    /// When there is none.
    pub fn ask(&mut self, costs: &[f64]) -> Result<&Solution, Failure> {
        check_finite(costs)?;
        match self.turn {
            Turn::Recall => self.recall(costs)?,
            Turn::Solve => {
                self.compute(costs)?;
                if self.pool.is_some() {
                    self.found.push(self.answer.decision.clone());
                }
            }
        }
        Ok(&self.answer)
    }

    /// The cone of costs that keep a decision best; `method` is who asks.
    ///
    /// # Errors
    /// When the problem has none.
    pub fn cone(&self, decision: &Decision, method: &str) -> Result<Cone> {
        self.oracle.cone(decision, method)
    }

    /// What `how` makes of the cone of a decision, counted as a projection.
    ///
    /// # Errors
    /// When the problem has no cones.
    pub fn project<T>(&self, decision: &Decision, method: &str, how: impl FnOnce(&Cone) -> T) -> Result<T> {
        let cone = self.cone(decision, method)?;
        self.oracle.counters.projected();
        Ok(how(&cone))
    }

    fn recall(&mut self, costs: &[f64]) -> Result<(), Failure> {
        self.oracle.counters.pooled();
        let (cheapest, objective) = self.pool.and_then(|pool| pool.cheapest(costs)).ok_or(Failure::NothingKnown)?;
        self.answer.decision.clone_from(cheapest);
        self.answer.objective = objective;
        self.answer.bound = f64::NEG_INFINITY;
        self.answer.status = Status::LimitReached;
        Ok(())
    }

    fn compute(&mut self, costs: &[f64]) -> Result<(), Failure> {
        match &mut self.engine {
            Some(Engine::Exact(solver)) => {
                self.oracle.counters.exact();
                solver.solve_into(costs, &mut self.answer)?;
                self.oracle.problem.check(&self.answer.decision).map_err(Failure::WrongAnswer)?;
                self.answer.objective = self.answer.decision.dot(costs);
            }
            Some(Engine::Relaxed(_, relaxer)) => {
                self.oracle.counters.relaxed();
                self.answer = relaxer.relax(costs)?;
            }
            None => return Err(Failure::Engine("the engine is gone".into())),
        }
        Ok(())
    }
}

impl Drop for Asker<'_> {
    fn drop(&mut self) {
        if let Some(engine) = self.engine.take() {
            self.oracle.take_back(engine);
        }
        let answer = std::mem::replace(&mut self.answer, Solution::nothing());
        // A thread that is ending has no place left to keep it.
        let _ = SPARE.try_with(|spare| spare.replace(answer));
    }
}
