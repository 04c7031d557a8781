//! Fuzzing of every reader of files: 10,000 mutants per reader, or as many as
//! `REGRETLESS_FUZZ_CASES` says (`scripts/fuzz` runs a million), from the number
//! `REGRETLESS_FUZZ_FIRST_CASE` on.
//!
//! Each reader runs in a process of its own with limited memory. It must return a value or an
//! error: no panic, no abort, no case that takes long. Errors have to name the file, and what is
//! accepted has to agree with a slow, obvious reading if there is one. A failed case stays in the
//! temporary folder; the message has its path.

use std::fs;
use std::os::unix::process::parent_id;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use fastrand::Rng;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use self::readers::{Content, READERS, Reader};
use crate::parallel::cpu_seconds;

mod mutate;
mod readers;

/// Mutants per reader unless the environment says otherwise.
const DEFAULT_CASES: u64 = 10_000;

/// Address space that a reader may take beyond that of the test process.
const MAX_MEMORY_BYTES: u64 = 1 << 30;

/// Processor time of one case. Processor time, because other processes may delay the case.
const MAX_CPU_SECONDS: f64 = 5.0;

/// Names the reader in the process that runs its cases.
const READER_VARIABLE: &str = "REGRETLESS_FUZZ_READER";

macro_rules! fuzz_tests {
    ($($(#[$condition:meta])* $name:ident)*) => {
        $($(#[$condition])*
        #[test]
        fn $name() {
            fuzz(stringify!($name));
        })*

        #[test]
        fn every_reader_has_a_test() {
            let tested = [$(stringify!($name)),*];
            assert_eq!(READERS.map(|reader| reader.name), tested);
        }
    };
}

fuzz_tests! {
    csv_wide csv_long csv_parameters csv_arcs csv_different_items csv_dialect
    #[cfg(feature = "parquet")] parquet
    npy problem_toml settings_toml
    #[cfg(feature = "highs")] mps
    #[cfg(feature = "highs")] mps_fixed
    #[cfg(feature = "highs")] lp
    tsplib
    #[cfg(feature = "highs")] cvrplib
    compressed orlib mknap2 model labels checkpoint
}

/// Runs the cases of a reader in another process.
fn fuzz(name: &str) {
    let reader = READERS.into_iter().find(|reader| reader.name == name);
    let reader = reader.unwrap();
    if std::env::var(READER_VARIABLE).is_ok_and(|selected| selected == name) {
        run_cases(&reader);
        return;
    }
    let test = format!("{}::{name}", module_path!().split_once("::").unwrap().1);
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &test, "--nocapture", "--test-threads", "1"])
        .env(READER_VARIABLE, name)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success() && text.contains("accepted"),
        "{name}: {}; the case is {}\n{text}\n{errors}",
        output.status,
        case_file(&reader, std::process::id()).display()
    );
    // Panics of a decoder of others are caught, and not printed.
    assert!(!errors.contains("panicked"), "{name}: {errors}");
    for line in text.lines().filter(|line| line.contains("accepted")) {
        println!("{line}");
    }
}

/// The file of the running case. Its folder has the number of the process that started the cases,
/// so runs at the same time do not share it.
fn case_file(reader: &Reader, parent: u32) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("regretless-fuzz-{parent}-{}", reader.name));
    folder.join(format!("{}.{}", reader.name, reader.extension))
}

fn run_cases(reader: &Reader) {
    let number = |variable: &str| -> Option<u64> {
        let text = std::env::var(variable).ok()?;
        Some(text.parse().unwrap())
    };
    let cases = number("REGRETLESS_FUZZ_CASES").unwrap_or(DEFAULT_CASES);
    let first = number("REGRETLESS_FUZZ_FIRST_CASE").unwrap_or(0);
    let corpus = reader.corpus();
    let path = case_file(reader, parent_id());
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    limit_memory();
    std::thread::spawn(watch_time);
    let mut accepted = 0_u64;
    for case in first..first + cases {
        let mutant = mutant(reader, &corpus, &mut Rng::with_seed(case));
        fs::write(&path, &mutant).unwrap();
        CASE.store(case + 1, Ordering::Relaxed);
        match (reader.read)(&path) {
            Ok(content) => {
                accepted += 1;
                check_accepted(reader, &mutant, &content);
            }
            Err(message) => check_refused(reader, case, &path, &message),
        }
    }
    // A harness whose mutants are all refused, or all accepted, tests little.
    assert!(accepted > 0, "{}: no mutant was accepted", reader.name);
    assert!(accepted < cases, "{}: no mutant was refused", reader.name);
    println!("{}: {cases} cases, {accepted} accepted", reader.name);
    fs::remove_dir_all(path.parent().unwrap()).unwrap();
}

fn mutant(reader: &Reader, corpus: &[Vec<u8>], rng: &mut Rng) -> Vec<u8> {
    let file = &corpus[rng.usize(..corpus.len())];
    match reader.content {
        Content::Text => mutate::mutate_text(corpus, rng),
        Content::Binary => mutate::mutate_bytes(file.clone(), rng),
        Content::Parquet => mutate::mutate_parquet(file, rng),
        Content::Checksummed {
            with_matching_checksum,
            ..
        } => {
            let mutant = if rng.bool() {
                mutate::mutate_header(file, rng)
            } else {
                mutate::mutate_bytes(file.clone(), rng)
            };
            with_matching_checksum(&mutant).unwrap_or(mutant)
        }
    }
}

fn check_accepted(reader: &Reader, mutant: &[u8], content: &str) {
    if let Some(expected) = reader.slow_reading.and_then(|read| read(mutant)) {
        assert_eq!(content, expected, "{}: read otherwise", reader.name);
    }
}

fn check_refused(reader: &Reader, case: u64, file: &Path, message: &str) {
    let name = file.file_name().unwrap().to_str().unwrap();
    assert!(
        !reader.errors_name_the_file || message.contains(name),
        "{}, case {case}: the error does not name the file: {message}",
        reader.name
    );
}

/// The case that runs, from 1; 0 before the first.
static CASE: AtomicU64 = AtomicU64::new(0);

/// Aborts the process when a case takes too much processor time.
fn watch_time() {
    let (mut watched, mut started) = (0, 0.0);
    loop {
        std::thread::sleep(Duration::from_millis(200));
        let case = CASE.load(Ordering::Relaxed);
        let now = cpu_seconds().unwrap();
        if case != watched {
            (watched, started) = (case, now);
        } else if case > 0 && now - started > MAX_CPU_SECONDS {
            eprintln!("case {} takes more than {MAX_CPU_SECONDS} s", case - 1);
            std::process::abort();
        }
    }
}

/// Lets allocations beyond the limit fail, which aborts the process.
fn limit_memory() {
    let pages = fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = pages.split(' ').next().unwrap().parse().unwrap();
    let limit = pages * rustix::param::page_size() as u64 + MAX_MEMORY_BYTES;
    let maximum = getrlimit(Resource::As).maximum;
    let limit = Rlimit {
        current: Some(limit),
        maximum,
    };
    setrlimit(Resource::As, limit).unwrap();
}
