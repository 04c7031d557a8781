//! Random streams keyed by purpose, seed and position, and numpy's legacy generator for benchmark
//! data that must equal PyEPO's bit for bit.

use std::sync::LazyLock;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rand_mt::Mt;

/// The purpose of a random stream; streams of different purposes are independent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    /// Initial parameters of a predictor.
    Parameters = 1,
    /// The order of instances in an epoch.
    BatchOrder = 2,
    /// The split of a table.
    Split = 3,
    /// Noise drawn by a loss.
    Loss = 4,
    /// Whether the oracle solves a call or takes its result from the cache.
    Oracle = 5,
    /// Data of a benchmark without a published generator.
    Benchmark = 6,
    /// Permutations of features, to measure their importance.
    Importance = 7,
    /// The folds of a cross-validation.
    Folds = 8,
    /// Resampled rows of a bootstrap.
    Bootstrap = 9,
    /// Predictions and directions at which the gradient of a loss is checked.
    GradientCheck = 10,
}

/// A stream that depends on purpose, seed and position only: not on threads, not on time.
#[derive(Debug, Clone)]
pub struct RandomStream {
    generator: ChaCha8Rng,
}

impl RandomStream {
    /// The stream of this purpose under this seed, at the given position (such as epoch, instance).
    pub fn new(purpose: Purpose, seed: u64, position: [u64; 2]) -> Self {
        let mut key = [0; 32];
        let words = [seed, purpose as u64, position[0], position[1]];
        for (bytes, word) in key.chunks_exact_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        Self {
            generator: ChaCha8Rng::from_seed(key),
        }
    }

    /// Uniform on [0, 1).
    pub fn standard_uniform(&mut self) -> f64 {
        (self.generator.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// Uniform on [low, high).
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.standard_uniform()
    }

    /// Uniform on 0..bound, without bias.
    pub fn index_below(&mut self, bound: usize) -> usize {
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
        Ziggurat::get().draw(self)
    }

    /// Fills a slice with standard normals.
    pub fn fill_normal(&mut self, out: &mut [f64]) {
        let ziggurat = Ziggurat::get();
        for value in out {
            *value = ziggurat.draw(self);
        }
    }

    /// Gamma with this shape and scale 1 (Marsaglia and Tsang 2000). Shapes below 1:
    /// Gamma(shape + 1) · U^(1/shape), as they propose. `d`, `c`, `x` and `v` are as in the paper.
    pub fn gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            return self.gamma(shape + 1.0) * (1.0 - self.standard_uniform()).powf(1.0 / shape);
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.normal();
            let v = (1.0 + c * x).powi(3);
            if v > 0.0
                && (1.0 - self.standard_uniform()).ln() < 0.5 * x * x + d * (1.0 - v + v.ln())
            {
                return d * v;
            }
        }
    }

    /// Shuffles a slice (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.index_below(last + 1));
        }
    }
}

/// Standard normals by the ziggurat method, rejection from layers of equal area (Marsaglia and
/// Tsang 2000): 98 of 100 draws take one random number, one product and one comparison.
struct Ziggurat {
    /// Half-widths of the layers from the lowest up; the first is that of a box with the area of
    /// the lowest layer and its tail, the last is 0.
    half_widths: [f64; Self::ZIGGURAT_LAYERS + 1],
    /// exp(−x²/2) at these half-widths.
    heights: [f64; Self::ZIGGURAT_LAYERS + 1],
}

static ZIGGURAT: LazyLock<Ziggurat> = LazyLock::new(Ziggurat::new);

impl Ziggurat {
    /// 256 layers, as published: eight random bits choose one.
    const ZIGGURAT_LAYERS: usize = 256;
    /// Start of the tail, and area of a layer, for this number of layers.
    const ZIGGURAT_TAIL_START: f64 = 3.654_152_885_361_009;
    const ZIGGURAT_LAYER_AREA: f64 = 0.004_928_673_233_974_648;

    fn new() -> Self {
        let height = |x: f64| (-0.5 * x * x).exp();
        let mut half_widths = [0.0; Self::ZIGGURAT_LAYERS + 1];
        half_widths[0] = Self::ZIGGURAT_LAYER_AREA / height(Self::ZIGGURAT_TAIL_START);
        half_widths[1] = Self::ZIGGURAT_TAIL_START;
        for layer in 2..Self::ZIGGURAT_LAYERS {
            let below: f64 = half_widths[layer - 1];
            half_widths[layer] =
                (-2.0 * (Self::ZIGGURAT_LAYER_AREA / below + height(below)).ln()).sqrt();
        }
        Self {
            half_widths,
            heights: half_widths.map(height),
        }
    }

    fn get() -> &'static Self {
        &ZIGGURAT
    }

    fn draw(&self, stream: &mut RandomStream) -> f64 {
        loop {
            // The lowest bits choose the layer, the upper 53 the position: no bit is used twice.
            let bits = stream.generator.next_u64();
            let layer = bits as usize % Self::ZIGGURAT_LAYERS;
            let x = (bits.cast_signed() >> 11) as f64
                * (1.0 / (1_u64 << 52) as f64)
                * self.half_widths[layer];
            if x.abs() < self.half_widths[layer + 1] {
                return x;
            }
            if layer == 0 {
                return Self::tail(stream).copysign(x);
            }
            let [low, high] = [self.heights[layer], self.heights[layer + 1]];
            if stream.uniform(low, high) < (-0.5 * x * x).exp() {
                return x;
            }
        }
    }

    /// A normal beyond the start of the tail (Marsaglia 1964).
    fn tail(stream: &mut RandomStream) -> f64 {
        loop {
            let beyond = -(1.0 - stream.standard_uniform()).ln() / Self::ZIGGURAT_TAIL_START;
            if -2.0 * (1.0 - stream.standard_uniform()).ln() > beyond * beyond {
                return Self::ZIGGURAT_TAIL_START + beyond;
            }
        }
    }
}

/// The generator of numpy's `RandomState`: MT19937 with numpy's legacy distributions.
#[derive(Debug, Clone)]
pub struct NumpyRandomState {
    generator: Mt,
    /// The second normal of the last polar pair, for the next call, as in numpy.
    spare_normal: Option<f64>,
}

impl NumpyRandomState {
    /// `numpy.random.RandomState(seed)`.
    pub fn new(seed: u32) -> Self {
        Self {
            generator: Mt::new(seed),
            spare_normal: None,
        }
    }

    /// `random_sample()`: 53 random bits on [0, 1).
    pub fn standard_uniform(&mut self) -> f64 {
        let high = f64::from(self.generator.next_u32() >> 5);
        let low = f64::from(self.generator.next_u32() >> 6);
        (high * 67_108_864.0 + low) / 9_007_199_254_740_992.0
    }

    /// `uniform(low, high)`.
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.standard_uniform()
    }

    /// `binomial(1, 0.5)`.
    pub fn bernoulli_half(&mut self) -> f64 {
        f64::from(u8::from(self.standard_uniform() > 0.5))
    }

    /// `normal(0, 1)` by Marsaglia's polar method.
    pub fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare_normal.take() {
            return spare;
        }
        loop {
            let x1 = 2.0 * self.standard_uniform() - 1.0;
            let x2 = 2.0 * self.standard_uniform() - 1.0;
            let square = x1 * x1 + x2 * x2;
            if square < 1.0 && square != 0.0 {
                let factor = (-2.0 * square.ln() / square).sqrt();
                self.spare_normal = Some(factor * x1);
                return factor * x2;
            }
        }
    }

    /// An index below `bound` as `choice(range(bound))` draws it: random bits under a mask, drawn
    /// again until they are below `bound`.
    pub fn index(&mut self, bound: u32) -> u32 {
        let mask = bound.next_power_of_two() - 1;
        loop {
            let draw = self.generator.next_u32() & mask;
            if draw < bound {
                return draw;
            }
        }
    }

    /// The integers below `count` in random order, as `permutation(count)` returns them.
    pub fn permutation(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            order.swap(last, self.index(last as u32 + 1) as usize);
        }
        order
    }

    /// `count` draws, in the order in which numpy fills an array.
    pub fn draw_many(&mut self, count: usize, mut draw: impl FnMut(&mut Self) -> f64) -> Vec<f64> {
        (0..count).map(|_| draw(self)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Purpose, RandomStream};

    #[test]
    fn streams_differ_by_purpose_seed_and_position() {
        let first =
            |purpose, seed, position| RandomStream::new(purpose, seed, position).standard_uniform();
        let reference = first(Purpose::Loss, 1, [2, 3]);
        assert_eq!(reference, first(Purpose::Loss, 1, [2, 3]));
        assert_ne!(reference, first(Purpose::Oracle, 1, [2, 3]));
        assert_ne!(reference, first(Purpose::Loss, 2, [2, 3]));
        assert_ne!(reference, first(Purpose::Loss, 1, [3, 2]));
    }

    /// Fractions of a million draws below some points, against the distribution function; the last
    /// two lie in the tail.
    #[test]
    fn normals_are_distributed_as_they_should_be() {
        let mut draws = vec![0.0; 1_000_000];
        RandomStream::new(Purpose::Loss, 5, [0, 0]).fill_normal(&mut draws);
        for (point, expected) in [
            (-2.0, 0.022_750_131_948),
            (-1.0, 0.158_655_253_931),
            (-0.1, 0.460_172_162_723),
            (0.5, 0.691_462_461_274),
            (1.5, 0.933_192_798_731),
            (3.0, 0.998_650_101_968),
            (3.7, 0.999_892_200_266),
            (4.0, 0.999_968_328_758),
        ] {
            let fraction = draws.iter().filter(|x| **x < point).count() as f64 / 1e6;
            let deviation = (expected * (1.0 - expected) / 1e6_f64).sqrt();
            assert!(
                (fraction - expected).abs() < 4.0 * deviation,
                "{point}: {fraction}, not {expected}"
            );
        }
        let max = draws.iter().fold(0.0_f64, |max, x| max.max(x.abs()));
        assert!((4.2..6.5).contains(&max), "{max}");
    }

    fn moments(draws: &[f64]) -> (f64, f64) {
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        (
            mean,
            draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / draws.len() as f64,
        )
    }

    #[test]
    fn normals_and_gammas_have_the_right_mean_and_variance() {
        let mut stream = RandomStream::new(Purpose::Loss, 3, [0, 0]);
        let mut normals = vec![0.0; 99_999];
        stream.fill_normal(&mut normals);
        let (mean, variance) = moments(&normals);
        assert!(
            mean.abs() < 0.02 && (variance - 1.0).abs() < 0.02,
            "{mean} {variance}"
        );
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
        RandomStream::new(Purpose::Split, 7, [0, 0]).shuffle(&mut items);
        assert_ne!(items, (0..100).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
    }
}
