//! What the machine can do: bytes from memory and multiplications per second, measured.

#![allow(unsafe_code, reason = "the loop that measures arithmetic is compiled for AVX2 and FMA")]

use std::fmt;
use std::time::Instant;

/// Numbers of an array of the triad, beyond any cache.
const LONG: usize = 1 << 24;
const TRIES: usize = 7;

pub struct Machine {
    threads: usize,
    pub bytes_per_second: f64,
    pub flops_per_second: f64,
}

impl Machine {
    pub fn measure(threads: usize) -> Self {
        Self { threads, bytes_per_second: triad(threads), flops_per_second: arithmetic(threads) }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (bytes, flops) = (self.bytes_per_second / 1e9, self.flops_per_second / 1e9);
        write!(f, "{} threads: triad {bytes:.1} GB/s, multiply-add {flops:.1} GFLOP/s", self.threads)
    }
}

/// Seconds this thread has run on a processor, where the system tells.
pub fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split_whitespace().next()?.parse::<f64>().ok()? / 1e9)
}

/// Bytes per second of a = b + c · s: two read, one written and, before that, fetched.
fn triad(threads: usize) -> f64 {
    let part = LONG / threads;
    let mut a = vec![0.0_f32; LONG];
    let (b, c) = (vec![1.0_f32; LONG], vec![2.0_f32; LONG]);
    let run = || {
        std::thread::scope(|scope| {
            for ((a, b), c) in a.chunks_mut(part).zip(b.chunks(part)).zip(c.chunks(part)) {
                scope.spawn(move || a.iter_mut().zip(b.iter().zip(c)).for_each(|(a, (b, c))| *a = b + 3.0 * c));
            }
        });
    };
    16.0 * LONG as f64 / fastest(run)
}

fn fastest(mut run: impl FnMut()) -> f64 {
    let timed = |_| {
        let started = Instant::now();
        run();
        started.elapsed().as_secs_f64()
    };
    (0..TRIES).map(timed).fold(f64::INFINITY, f64::min)
}

/// Multiplications and additions per second, in registers.
fn arithmetic(threads: usize) -> f64 {
    const ROUNDS: usize = 1 << 21;
    let run = || {
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| std::hint::black_box(multiply_add(ROUNDS)));
            }
        });
    };
    (threads * ROUNDS * 2 * 8 * 12) as f64 / fastest(run)
}

fn multiply_add(rounds: usize) -> f32 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
        // SAFETY: the processor was asked on the line above.
        return unsafe { wide_multiply_add(rounds) };
    }
    chains(rounds)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn wide_multiply_add(rounds: usize) -> f32 {
    chains(rounds)
}

/// Twelve chains of eight lanes that do not wait for each other.
#[inline(always)]
fn chains(rounds: usize) -> f32 {
    let mut sums = [[0.5_f32; 8]; 12];
    let (factor, term) = std::hint::black_box((0.999_f32, 0.001_f32));
    for _ in 0..rounds {
        for sum in &mut sums {
            for lane in sum {
                *lane = lane.mul_add(factor, term);
            }
        }
    }
    sums.iter().flatten().sum()
}
