//! What the machine can do: bytes from memory and multiplications per second, measured.

#![allow(
    unsafe_code,
    reason = "the loop that measures arithmetic is compiled for AVX2 and FMA; a clock of the C \
        library"
)]

use std::fmt;
use std::time::Instant;

/// Numbers of an array of the triad, beyond any cache.
const LONG: usize = 1 << 24;
const TRIES: usize = 15;

pub struct Machine {
    threads: usize,
    pub bytes_per_second: f64,
    pub flops_per_second: f64,
}

impl Machine {
    pub fn measure(threads: usize) -> Self {
        Self {
            threads,
            bytes_per_second: triad(threads),
            flops_per_second: arithmetic(threads),
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (bytes, flops) = (self.bytes_per_second / 1e9, self.flops_per_second / 1e9);
        write!(
            f,
            "{} threads: triad {bytes:.1} GB/s, multiply-add {flops:.1} GFLOP/s",
            self.threads
        )
    }
}

/// Seconds this thread has run on a processor, where the system tells.
#[cfg(target_os = "linux")]
pub fn cpu_seconds() -> Option<f64> {
    #[repr(C)]
    struct Time {
        seconds: i64,
        nanoseconds: i64,
    }
    const THREAD: i32 = 3;
    unsafe extern "C" {
        fn clock_gettime(clock: i32, time: *mut Time) -> i32;
    }
    let mut time = Time {
        seconds: 0,
        nanoseconds: 0,
    };
    // SAFETY: the C library fills the two numbers of `time`.
    let failed = unsafe { clock_gettime(THREAD, &raw mut time) } != 0;
    (!failed).then_some(time.seconds as f64 + time.nanoseconds as f64 * 1e-9)
}

/// Seconds this thread has run on a processor, where the system tells.
#[cfg(not(target_os = "linux"))]
pub fn cpu_seconds() -> Option<f64> {
    None
}

/// Bytes per second of a = b + c · s: two read, one written and, before that, fetched.
fn triad(threads: usize) -> f64 {
    let part = LONG / threads;
    let mut a = vec![0.0_f32; LONG];
    let (b, c) = (vec![1.0_f32; LONG], vec![2.0_f32; LONG]);
    let add = |a: &mut [f32], b: &[f32], c: &[f32]| {
        a.iter_mut()
            .zip(b.iter().zip(c))
            .for_each(|(a, (b, c))| *a = b + 3.0 * c);
    };
    let run = || {
        if threads == 1 {
            return add(&mut a, &b, &c);
        }
        std::thread::scope(|scope| {
            for ((a, b), c) in a.chunks_mut(part).zip(b.chunks(part)).zip(c.chunks(part)) {
                scope.spawn(move || add(a, b, c));
            }
        });
    };
    16.0 * LONG as f64 / fastest(threads == 1, run)
}

/// The fastest of a few runs: in wall-clock time, or on one thread in processor time.
fn fastest(alone: bool, mut run: impl FnMut()) -> f64 {
    let timed = |_| {
        let (started, before) = (Instant::now(), cpu_seconds());
        run();
        let own = cpu_seconds()
            .zip(before)
            .map(|(after, before)| after - before);
        own.filter(|_| alone)
            .unwrap_or_else(|| started.elapsed().as_secs_f64())
    };
    (0..TRIES).map(timed).fold(f64::INFINITY, f64::min)
}

/// Multiplications and additions per second, in registers.
fn arithmetic(threads: usize) -> f64 {
    const ROUNDS: usize = 1 << 18;
    let run = || {
        if threads == 1 {
            std::hint::black_box(multiply_add(ROUNDS));
            return;
        }
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| std::hint::black_box(multiply_add(ROUNDS)));
            }
        });
    };
    (threads * ROUNDS * 2 * 8 * 12) as f64 / fastest(threads == 1, run)
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
