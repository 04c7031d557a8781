//! Randomness with names: a keyed stream for everything of ours, and numpy's legacy stream for
//! benchmark data that must equal PyEPO's to the bit.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rand_mt::Mt;

/// What a random stream is for; streams of different purposes never overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    /// Initial parameters of a predictor.
    Parameters = 1,
    /// The order of instances in an epoch.
    BatchOrder = 2,
    /// How a table is split.
    Split = 3,
    /// Noise drawn by a loss.
    Loss = 4,
    /// Coins thrown by the oracle.
    Oracle = 5,
    /// Data of a benchmark that has no recipe of its own.
    Benchmark = 6,
}

/// A stream that depends on what it is for and nothing else: not on threads, not on time.
#[derive(Debug, Clone)]
pub struct Stream {
    generator: ChaCha8Rng,
}

impl Stream {
    /// The stream of this purpose under this seed, at the given position (such as epoch, instance).
    pub fn new(purpose: Purpose, seed: u64, position: [u64; 2]) -> Self {
        let mut key = [0; 32];
        let words = [seed, purpose as u64, position[0], position[1]];
        for (bytes, word) in key.chunks_exact_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        Self { generator: ChaCha8Rng::from_seed(key) }
    }

    /// Uniform on [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.generator.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// Uniform on [low, high).
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Uniform on 0..bound, without bias.
    pub fn below(&mut self, bound: usize) -> usize {
        let bound = bound as u64;
        let limit = u64::MAX - u64::MAX % bound;
        loop {
            let draw = self.generator.next_u64();
            if draw < limit {
                return (draw % bound) as usize;
            }
        }
    }

    /// Standard normal.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// Fills a slice with standard normals; both of each pair are used, unlike by [`Stream::normal`].
    pub fn fill_normal(&mut self, out: &mut [f64]) {
        for pair in out.chunks_mut(2) {
            let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
            let (sine, cosine) = (std::f64::consts::TAU * self.unit()).sin_cos();
            pair[0] = radius * cosine;
            if let Some(second) = pair.get_mut(1) {
                *second = radius * sine;
            }
        }
    }

    /// Gamma with this shape and scale 1 (Marsaglia and Tsang 2000; shapes below 1 by their power trick).
    pub fn gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            return self.gamma(shape + 1.0) * (1.0 - self.unit()).powf(1.0 / shape);
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.normal();
            let v = (1.0 + c * x).powi(3);
            if v > 0.0 && (1.0 - self.unit()).ln() < 0.5 * x * x + d * (1.0 - v + v.ln()) {
                return d * v;
            }
        }
    }

    /// Puts a slice in random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

/// The stream of numpy's `RandomState`: MT19937 and the legacy transforms on top of it.
#[derive(Debug, Clone)]
pub struct NumpyStream {
    generator: Mt,
    /// The second normal of the last polar pair, kept for the next call as numpy does.
    spare_normal: Option<f64>,
}

impl NumpyStream {
    /// `numpy.random.RandomState(seed)`.
    pub fn new(seed: u32) -> Self {
        Self { generator: Mt::new(seed), spare_normal: None }
    }

    /// `random_sample()`: 53 random bits on [0, 1).
    pub fn unit(&mut self) -> f64 {
        let high = f64::from(self.generator.next_u32() >> 5);
        let low = f64::from(self.generator.next_u32() >> 6);
        (high * 67_108_864.0 + low) / 9_007_199_254_740_992.0
    }

    /// `uniform(low, high)`.
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// `binomial(1, 0.5)`.
    pub fn coin(&mut self) -> f64 {
        f64::from(u8::from(self.unit() > 0.5))
    }

    /// `normal(0, 1)` by Marsaglia's polar method.
    pub fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare_normal.take() {
            return spare;
        }
        loop {
            let x1 = 2.0 * self.unit() - 1.0;
            let x2 = 2.0 * self.unit() - 1.0;
            let square = x1 * x1 + x2 * x2;
            if square < 1.0 && square != 0.0 {
                let factor = (-2.0 * square.ln() / square).sqrt();
                self.spare_normal = Some(factor * x1);
                return factor * x2;
            }
        }
    }

    /// An index below `bound` as `choice(range(bound))` draws it: masked bits, rejected above.
    pub fn index(&mut self, bound: u32) -> u32 {
        let mask = bound.next_power_of_two() - 1;
        loop {
            let draw = self.generator.next_u32() & mask;
            if draw < bound {
                return draw;
            }
        }
    }

    /// `count` draws in a row, as filling an array does.
    pub fn fill(&mut self, count: usize, mut draw: impl FnMut(&mut Self) -> f64) -> Vec<f64> {
        (0..count).map(|_| draw(self)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Purpose, Stream};

    #[test]
    fn streams_differ_by_purpose_seed_and_position() {
        let first = |purpose, seed, position| Stream::new(purpose, seed, position).unit();
        let reference = first(Purpose::Loss, 1, [2, 3]);
        assert_eq!(reference, first(Purpose::Loss, 1, [2, 3]));
        assert_ne!(reference, first(Purpose::Oracle, 1, [2, 3]));
        assert_ne!(reference, first(Purpose::Loss, 2, [2, 3]));
        assert_ne!(reference, first(Purpose::Loss, 1, [3, 2]));
    }

    fn moments(draws: &[f64]) -> (f64, f64) {
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        (mean, draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / draws.len() as f64)
    }

    #[test]
    fn normals_and_gammas_have_the_right_mean_and_variance() {
        let mut stream = Stream::new(Purpose::Loss, 3, [0, 0]);
        let mut normals = vec![0.0; 99_999];
        stream.fill_normal(&mut normals);
        let (mean, variance) = moments(&normals);
        assert!(mean.abs() < 0.02 && (variance - 1.0).abs() < 0.02, "{mean} {variance}");
        for shape in [0.2, 1.0, 4.5] {
            let draws: Vec<f64> = (0..100_000).map(|_| stream.gamma(shape)).collect();
            let (mean, variance) = moments(&draws);
            assert!(
                (mean / shape - 1.0).abs() < 0.03 && (variance / shape - 1.0).abs() < 0.06,
                "{shape}: {mean} {variance}"
            );
        }
    }

    #[test]
    fn a_shuffle_keeps_every_item() {
        let mut items: Vec<usize> = (0..100).collect();
        Stream::new(Purpose::Split, 7, [0, 0]).shuffle(&mut items);
        assert_ne!(items, (0..100).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
    }
}
