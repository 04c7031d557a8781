//! Limits of the machine: memory bandwidth and arithmetic, with the threads of a benchmark. Also
//! used by the library's benchmark of training.
//!
//! Bandwidth is measured twice: by the triad a = b + s·c of STREAM (McCalpin 1995; two reads, one
//! write), and by the mix of an Adam step (four reads, three writes in place). Only bytes that the
//! program reads and writes are counted, not those a cache reads before a write. Arithmetic is
//! single-precision multiply-adds in registers.

#![allow(
    unsafe_code,
    reason = "a function compiled for AVX2 and FMA is called after checking the processor for them"
)]
#![allow(
    dead_code,
    reason = "each crate that includes this file uses only some of its functions"
)]

use std::hint::black_box;
use std::thread;
use std::time::Instant;

use serde::Serialize;

/// Values per array and thread: 64 MB, larger than any cache.
const VALUES_PER_ARRAY: usize = 16 << 20;
/// Independent accumulators of eight lanes, which hide the latency of a multiply-add.
const CHAINS: usize = 12;

/// Limits of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Machine {
    /// Threads that were used.
    pub threads: usize,
    /// Bytes per second of the triad.
    pub triad: f64,
    /// Bytes per second of an Adam step.
    pub adam: f64,
    /// Floating-point operations per second.
    pub flops: f64,
}

impl Machine {
    /// Measures for about a second.
    pub fn measure(threads: usize, smoke: bool) -> Self {
        let length = if smoke {
            VALUES_PER_ARRAY / 64
        } else {
            VALUES_PER_ARRAY
        };
        let rounds = if smoke { 2 } else { 6 };
        Self {
            threads,
            triad: max_rate(threads, rounds, || Triad::new(length)),
            adam: max_rate(threads, rounds, || AdamMix::new(length / 2)),
            flops: max_rate(threads, rounds, || MultiplyAdd {
                steps: if smoke { 100_000 } else { 4_000_000 },
            }),
        }
    }

    /// The higher value of each limit.
    #[must_use]
    pub fn max_with(self, other: Self) -> Self {
        Self {
            threads: self.threads,
            triad: self.triad.max(other.triad),
            adam: self.adam.max(other.adam),
            flops: self.flops.max(other.flops),
        }
    }

    /// The limits as text.
    pub fn describe(&self) -> String {
        let Self {
            threads,
            triad,
            adam,
            flops,
        } = self;
        let (triad, adam, flops) = (triad / 1e9, adam / 1e9, flops / 1e9);
        format!(
            "machine, {threads} threads: triad {triad:.1} GB/s, Adam mix (4 reads, 3 writes) \
                {adam:.1} GB/s, multiply-add {flops:.0} GFLOP/s"
        )
    }
}

/// The processor and the load of the machine, for readers of the times.
pub fn host() -> String {
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    let processor = read("/proc/cpuinfo");
    let model = processor
        .lines()
        .find_map(|line| line.strip_prefix("model name"))
        .unwrap_or(": unknown processor");
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let load = read("/proc/loadavg");
    let load = load
        .split(' ')
        .next()
        .filter(|load| !load.is_empty())
        .unwrap_or("unknown");
    format!(
        "{}, {cores} cores, load of the machine at the start: {load}",
        model.trim_start_matches([' ', '\t', ':'])
    )
}

/// A workload whose rate is a limit of the machine.
trait Workload: Send {
    /// Runs once; returns the amount of work.
    fn run(&mut self) -> f64;
}

/// Sum over threads of the highest rate of several rounds; other programs on the machine can only
/// slow it down.
fn max_rate<W: Workload>(threads: usize, rounds: usize, make: impl Fn() -> W + Sync) -> f64 {
    let rate = || {
        let mut work = make();
        let rates = (0..rounds).map(|_| {
            let start = Instant::now();
            work.run() / start.elapsed().as_secs_f64()
        });
        rates.fold(0.0, f64::max)
    };
    let barrier = std::sync::Barrier::new(threads);
    thread::scope(|scope| {
        let spawn = || {
            scope.spawn(|| {
                barrier.wait();
                rate()
            })
        };
        let running: Vec<_> = (0..threads).map(|_| spawn()).collect();
        running
            .into_iter()
            .map(|thread| thread.join().unwrap_or(0.0))
            .sum()
    })
}

struct Triad {
    arrays: [Vec<f32>; 3],
}

impl Triad {
    fn new(length: usize) -> Self {
        Self {
            arrays: [0.0, 1.0, 2.0].map(|value| vec![value; length]),
        }
    }
}

impl Workload for Triad {
    fn run(&mut self) -> f64 {
        let [a, b, c] = &mut self.arrays;
        let scale = black_box(3.0_f32);
        for ((a, b), c) in a.iter_mut().zip(&*b).zip(&*c) {
            *a = b + scale * c;
        }
        black_box(&mut self.arrays[0]);
        (12 * self.arrays[0].len()) as f64
    }
}

struct AdamMix {
    arrays: [Vec<f32>; 4],
}

impl AdamMix {
    fn new(length: usize) -> Self {
        Self {
            arrays: [0.5, 1.0, 2.0, 3.0].map(|value| vec![value; length]),
        }
    }
}

impl Workload for AdamMix {
    fn run(&mut self) -> f64 {
        let [weights, means, squares, gradient] = &mut self.arrays;
        let keep = black_box(0.9_f32);
        let moments = means.iter_mut().zip(squares);
        for ((weight, g), (mean, square)) in weights.iter_mut().zip(&*gradient).zip(moments) {
            *mean = keep * *mean + 0.1 * g;
            *square = keep * *square + 0.1 * g;
            *weight -= 0.01 * *mean * *square;
        }
        black_box(&mut self.arrays);
        (28 * self.arrays[0].len()) as f64
    }
}

struct MultiplyAdd {
    steps: usize,
}

impl Workload for MultiplyAdd {
    fn run(&mut self) -> f64 {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: both features were detected just above.
            black_box(unsafe { chains_avx2(self.steps) });
            return (self.steps * CHAINS * 8 * 2) as f64;
        }
        black_box(chains(self.steps));
        (self.steps * CHAINS * 8 * 2) as f64
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn chains_avx2(steps: usize) -> [[f32; 8]; CHAINS] {
    chains(steps)
}

#[inline(always)]
fn chains(steps: usize) -> [[f32; 8]; CHAINS] {
    let (factor, add) = (black_box([0.999_f32; 8]), black_box([0.001_f32; 8]));
    let mut sums = black_box([[1.0_f32; 8]; CHAINS]);
    for _ in 0..steps {
        for sum in &mut sums {
            for lane in 0..8 {
                sum[lane] = sum[lane].mul_add(factor[lane], add[lane]);
            }
        }
    }
    sums
}
