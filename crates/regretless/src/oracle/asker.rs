//! One thread's access to an oracle.

use std::time::Instant;

use super::counts::Kind;
use super::engine::Engine;
use super::store::{Spot, Store};
use super::{Answer, Oracle, OracleSettings, Pool, Turn, check_finite};
use crate::decision::Decision;
use crate::error::Result;
use crate::problem::Problem;
use crate::solve::cone::Cone;
use crate::solve::{Failure, Solution, Status};

/// Asks an oracle; the engine goes back when dropped.
pub struct Asker<'a> {
    oracle: &'a Oracle,
    /// Present until dropped.
    engine: Option<Engine>,
    help: Help<'a>,
    turn: Turn,
    /// What the next question is about, if somebody said so.
    spot: Option<Spot>,
    /// What was solved since the last time somebody took it, if there is a pool.
    found: Vec<Decision>,
    widened: Vec<f64>,
}

/// What an asker may look at beside its engine.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Help<'a> {
    pub(super) settings: OracleSettings,
    pub(super) pool: Option<&'a Pool>,
    pub(super) store: Option<&'a Store>,
}

impl<'a> Asker<'a> {
    pub(super) fn new(oracle: &'a Oracle, engine: Option<Engine>, help: Help<'a>) -> Self {
        Self { oracle, engine, help, turn: Turn::Solve, spot: None, found: Vec::new(), widened: Vec::new() }
    }

    /// The problem that is solved.
    pub fn problem(&self) -> &dyn Problem {
        self.oracle.problem.as_ref()
    }

    /// The decisions known so far; none where nobody keeps a pool.
    pub fn known(&self) -> &'a [Decision] {
        self.help.pool.map_or(&[], Pool::decisions)
    }

    /// From now on questions are solved or answered from the pool.
    pub fn take_turn(&mut self, turn: Turn) {
        self.turn = turn;
    }

    /// From now on questions are about this row of the table; what is remembered of it may help. One thread
    /// at a time asks about a row.
    pub fn about(&mut self, instance: usize) {
        self.spot = Some(Spot { instance, question: 0 });
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
        check_finite(costs)?;
        match self.turn {
            Turn::Recall => self.recall(costs),
            Turn::Solve => {
                let solution = self.compute(costs)?;
                if self.help.pool.is_some() {
                    self.found.push(solution.decision.clone());
                }
                Ok(solution)
            }
        }
    }

    /// The cone of costs that keep a decision best; `method` is who asks.
    ///
    /// # Errors
    /// When the problem has none.
    pub fn cone(&self, decision: &Decision, method: &str) -> Result<Cone> {
        self.oracle.cone(decision, method)
    }

    /// The point nearest to a vector in the cone of a decision, counted as a projection.
    ///
    /// # Errors
    /// When the problem has no cones.
    pub fn project(&self, decision: &Decision, vector: &[f64], method: &str) -> Result<Vec<f64>> {
        let cone = self.cone(decision, method)?;
        self.oracle.counters.count(Kind::Projected);
        Ok(cone.project(vector))
    }

    fn recall(&self, costs: &[f64]) -> Answer {
        self.oracle.counters.count(Kind::Pooled);
        let cheapest = self.help.pool.and_then(|pool| pool.cheapest(costs)).ok_or(Failure::NothingKnown)?;
        let (decision, objective) = (cheapest.0.clone(), cheapest.1);
        Ok(Solution { decision, objective, bound: f64::NEG_INFINITY, status: Status::LimitReached })
    }

    fn compute(&mut self, costs: &[f64]) -> Answer {
        let Some(mut engine) = self.engine.take() else { return Err(Failure::Engine("the engine is gone".into())) };
        let place = self.help.store.zip(self.spot);
        let answer = match place {
            Some((store, spot)) => self.solve_timed(&mut engine, costs, (store, spot)),
            None => {
                self.oracle.counters.count(engine.kind());
                engine.solve(costs)
            }
        };
        if let Some(spot) = &mut self.spot {
            spot.question += 1;
        }
        let exact = !matches!(engine, Engine::Relaxed(..));
        self.engine = Some(engine);
        answer.and_then(|solution| if exact { self.checked(solution, costs) } else { Ok(solution) })
    }

    /// Solves and notes how long it took, if more than one thread works.
    fn solve_timed(&self, engine: &mut Engine, costs: &[f64], (store, spot): (&Store, Spot)) -> Answer {
        let started = (self.oracle.threads.count() > 1).then(Instant::now);
        let answer = if self.help.settings.remembers() {
            self.solve_with_memory(engine, costs, (store, spot))
        } else {
            self.oracle.counters.count(engine.kind());
            engine.solve(costs)
        };
        if let Some(started) = started {
            store.note(spot, started.elapsed().as_secs_f32());
        }
        answer
    }

    fn solve_with_memory(&self, engine: &mut Engine, costs: &[f64], (store, spot): (&Store, Spot)) -> Answer {
        let mut memory = store.take(spot);
        if self.help.settings.certify {
            if let Some(solution) = engine.certify(costs, &memory) {
                self.oracle.counters.count(Kind::Certified);
                store.put(spot, memory);
                return Ok(solution);
            }
        }
        if !self.help.settings.warm {
            memory.forget();
        }
        self.oracle.counters.count(engine.kind());
        let answer = engine.solve_again(costs, &mut memory);
        if answer.is_ok() {
            store.put(spot, memory);
        }
        answer
    }

    fn checked(&self, mut solution: Solution, costs: &[f64]) -> Answer {
        self.oracle.problem.check(&solution.decision).map_err(Failure::WrongAnswer)?;
        solution.objective = solution.decision.dot(costs);
        Ok(solution)
    }
}

impl Drop for Asker<'_> {
    fn drop(&mut self) {
        if let Some(engine) = self.engine.take() {
            self.oracle.take_back(engine);
        }
    }
}
