//! An oracle at the service of one training: it answers by its settings and keeps the pool.
//!
//! Losses ask an [`Asker`] and do not know where the answer comes from. Within a batch the pool does not
//! change; what was found joins it afterwards, in the order of the instances, so that results do not depend
//! on threads.

use super::asker::{Asker, Engine};
use super::{Cache, Coin, Oracle, OracleSettings, Pool};
use crate::decision::Decision;
use crate::error::Result;
use crate::random::{Purpose, Stream};

/// Whether a question is solved or answered from the pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// Solved, exactly or relaxed.
    Solve,
    /// Answered with the cheapest known decision.
    Recall,
}

/// Where in a training a question is asked; coins depend on this and the seed only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Occasion {
    /// Epoch, counted from 1.
    pub epoch: usize,
    /// Batch of the epoch, counted from 0.
    pub batch: usize,
    /// Whether the answer trains. Questions that only judge are answered from the pool if there is one.
    pub training: bool,
}

/// An oracle with settings and a pool.
#[derive(Debug)]
pub struct Answering<'a> {
    oracle: &'a Oracle,
    settings: OracleSettings,
    pool: Option<Pool>,
    seed: u64,
}

impl<'a> Answering<'a> {
    /// Every question is solved exactly.
    pub fn exactly(oracle: &'a Oracle) -> Self {
        Self { oracle, settings: OracleSettings::default(), pool: None, seed: 0 }
    }

    /// Questions are answered by these settings; `method` is who asks, for messages.
    ///
    /// # Errors
    /// When the problem has no such relaxation.
    pub fn new(oracle: &'a Oracle, settings: OracleSettings, (method, seed): (&str, u64)) -> Result<Self> {
        let answering = Self { oracle, settings, pool: settings.cache.map(|cache| Pool::new(cache.most)), seed };
        if settings.relaxation.is_some() && answering.engine().is_none() {
            return Err(oracle.missing(method, "a linear relaxation", "leave out 'relax', or use another problem"));
        }
        Ok(answering)
    }

    /// The same with a pool of these decisions (in this order), if there is a cache or `wanted`.
    #[must_use]
    pub fn knowing<'d>(mut self, decisions: impl IntoIterator<Item = &'d Decision>, wanted: bool) -> Self {
        if self.pool.is_some() || wanted {
            self.pool.get_or_insert_with(|| Pool::new(Cache::MOST)).extend(decisions);
        }
        self
    }

    /// The oracle behind.
    pub fn oracle(&self) -> &'a Oracle {
        self.oracle
    }

    /// The pool, if there is one.
    pub fn pool(&self) -> Option<&Pool> {
        self.pool.as_ref()
    }

    fn engine(&self) -> Option<Engine> {
        match self.settings.relaxation {
            None => Some(self.oracle.engine()),
            Some(kind) => self.oracle.relaxing_engine(kind),
        }
    }

    /// Access for the calling thread.
    pub fn asker(&self) -> Asker<'_> {
        Asker::new(self.oracle, self.engine(), self.pool.as_ref())
    }

    /// What the coin says for an instance on this occasion.
    pub fn turn(&self, occasion: Occasion, instance: usize) -> Turn {
        match self.settings.cache {
            None => Turn::Solve,
            Some(_) if !occasion.training => Turn::Recall,
            Some(cache) => {
                let place = match cache.coin {
                    Coin::Batch => u64::MAX - occasion.batch as u64,
                    Coin::Instance => instance as u64,
                };
                let mut stream = Stream::new(Purpose::Oracle, self.seed, [occasion.epoch as u64, place]);
                if stream.unit() < cache.share { Turn::Solve } else { Turn::Recall }
            }
        }
    }

    /// Goes on with the pool of an earlier run, if this one keeps a pool.
    pub fn replace_pool(&mut self, pool: Pool) {
        if self.pool.is_some() {
            self.pool = Some(pool);
        }
    }

    /// Lets decisions join the pool, if there is one.
    pub fn keep<'d>(&mut self, found: impl IntoIterator<Item = &'d Decision>) {
        if let Some(pool) = &mut self.pool {
            pool.extend(found);
        }
    }
}
