//! Model files in MPS and LP format: valid ones, errors of invalid ones, and damaged ones, which
//! must not crash the reader.

#![cfg(feature = "highs")]
use std::path::{Path, PathBuf};

use crate::tests::common::{self, print_suite_summary, reference_data};
use regretless::Error;
use regretless::oracle::Oracle;
use regretless::problem::{
    CostColumns, LinearFile, LinearProblem, ProblemKind, ProblemSpec, Sense,
};
use regretless::random::{Purpose, RandomStream};
use regretless::solve::highs::{LinearModel, Lp};
use regretless::solve::{SearchLimits, SolveStatus};

const MPS: &str = "NAME shop
OBJSENSE
    MAX
ROWS
 N  profit
 L  flour
 G  least
 E  pairs
COLUMNS
    M1  'MARKER'  'INTORG'
    bread  profit  3  flour  2
    bread  least  1
    M2  'MARKER'  'INTEND'
    cake  profit  5.5  flour  4
    cake  pairs  1
    left  pairs  -1
RHS
    RHS  profit  -7  flour  10
    RHS  least  1
RANGES
    RNG  flour  8
BOUNDS
 UP BND  bread  4
 FR BND  left
ENDATA
";

const LP: &str = "\\ the same shop
maximize
 profit: 3 bread + 5.5 cake + 7
subject to
 flour: 2 bread + 4 cake <= 10
 least: bread >= 1
 pairs: cake - left = 0
bounds
 bread <= 4
 left free
general
 bread
end
";

fn write(folder: &tempfile::TempDir, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

fn read(name: &str, text: impl AsRef<[u8]>) -> Result<LinearModel, Error> {
    let folder = tempfile::tempdir().unwrap();
    LinearModel::read(&write(&folder, name, text))
}

#[test]
fn mps_and_lp_files_of_one_model_agree() {
    let mps = read("shop.mps", MPS).unwrap();
    assert_eq!(*mps.column_names, ["bread", "cake", "left"]);
    assert_eq!(*mps.row_names, ["flour", "least", "pairs"]);
    assert_eq!(
        (mps.maximize, mps.offset, mps.cost.as_slice()),
        (true, 7.0, [3.0, 5.5, 0.0].as_slice())
    );
    assert_eq!(mps.row_bounds[0], [2.0, 10.0]);
    assert_eq!(
        mps.column_bounds,
        [
            [0.0, 4.0],
            [0.0, f64::INFINITY],
            [f64::NEG_INFINITY, f64::INFINITY]
        ]
    );
    assert_eq!(mps.integer, [true, false, false]);
    // HiGHS would misread a row with two limits in an LP file, so the models are compared without
    // the range.
    let single = MPS.replace("RANGES\n    RNG  flour  8\n", "");
    assert_eq!(
        read("shop.mps", single).unwrap(),
        read("shop.lp", LP).unwrap()
    );
    let ranged = LP.replace("flour: 2 bread", "flour: 2 <= 2 bread");
    let message = read("shop.lp", ranged).unwrap_err().to_string();
    assert!(
        message.contains("shop.lp, row 5: a number is left of a relation"),
        "{message}"
    );
}

#[test]
fn a_sense_that_only_a_comment_states_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    // As PuLP writes a maximization.
    let sections = MPS.find("ROWS").unwrap();
    let commented = format!("*SENSE:Maximize\nNAME shop\n{}", &MPS[sections..]);
    let path = write(&folder, "shop.mps", &commented);
    let error = LinearProblem::read(&path, &CostColumns::All, None).unwrap_err();
    let message = error.to_string();
    assert!(
        message.contains("shop.mps, row 1: a comment says") && message.contains("sense ="),
        "{message}"
    );
    for sense in [Sense::Minimize, Sense::Maximize] {
        let problem = LinearProblem::read(&path, &CostColumns::All, Some(sense)).unwrap();
        assert_eq!(problem.sense(), sense);
    }
    // A section decides, whatever a comment says.
    let path = write(&folder, "max.mps", format!("*SENSE:Maximize\n{MPS}"));
    let problem = LinearProblem::read(&path, &CostColumns::All, None).unwrap();
    assert_eq!(problem.sense(), Sense::Maximize);
    let path = write(
        &folder,
        "min.mps",
        commented.replace("SENSE:Max", "SENSE:Min"),
    );
    let problem = LinearProblem::read(&path, &CostColumns::All, None).unwrap();
    assert_eq!(problem.sense(), Sense::Minimize);
}

#[test]
fn a_written_model_reads_back_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let mut lp = Lp::new().unwrap();
    for (name, text) in [
        ("back.mps", MPS.to_string()),
        ("back.lp", MPS.replace("RNG  flour  8", "")),
    ] {
        let (path, model) = (folder.path().join(name), read("shop.mps", text).unwrap());
        lp = Lp::from_model(&model).unwrap();
        lp.write(&path).unwrap();
        assert_eq!(LinearModel::read(&path).unwrap(), model, "{name}");
    }
    assert!(lp.write(&folder.path().join("back.txt")).is_err());
    assert!(lp.write(Path::new("/no/such/folder/back.mps")).is_err());
}

#[test]
fn all_columns_or_named_columns_have_predicted_costs() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(&folder, "shop.mps", MPS);
    let all = LinearProblem::read(&path, &CostColumns::All, None).unwrap();
    assert_eq!((all.num_costs(), all.sense()), (3, Sense::Maximize));
    // Costs of a maximization are negated: bread earns 3 (2 flour), cake 5.5 (4 flour).
    let solution = all
        .solver(&SearchLimits::default())
        .solve(&[-3.0, -5.5, 0.0])
        .unwrap();
    assert_eq!(solution.objective, -(4.0 * 3.0 + 0.5 * 5.5 + 7.0));
    let named = CostColumns::Named(vec!["br*".into()]);
    let bread = LinearProblem::read(&path, &named, None).unwrap();
    assert_eq!(
        bread.capabilities().names.cost_names().unwrap().to_vec(),
        ["bread"]
    );
    // Worthless bread: one loaf and two cakes, which keep the price in the file.
    let solution = bread
        .solver(&SearchLimits::default())
        .solve(&[0.0])
        .unwrap();
    assert_eq!(
        (solution.decision.value(0), solution.objective),
        (1.0, -(2.0 * 5.5 + 7.0))
    );
    let spec = LinearFile {
        sense: Some(Sense::Minimize),
        ..LinearFile::new(&path, named)
    };
    let min = ProblemSpec::Linear(spec).build().unwrap();
    assert_eq!(min.sense(), Sense::Minimize);
    assert_eq!(
        min.solver(&SearchLimits::default())
            .solve(&[1.0])
            .unwrap()
            .objective,
        1.0 + 7.0
    );
    let missing = LinearProblem::read(&path, &CostColumns::Named(vec!["rye".into()]), None)
        .unwrap_err()
        .to_string();
    assert!(
        missing.contains("shop.mps") && missing.contains("'rye'") && missing.contains("bread"),
        "{missing}"
    );
}

#[test]
fn the_oracle_finds_the_published_optima_of_model_files() {
    let folder = reference_data().join("mps");
    for (file, slow) in [
        ("optima_lp.csv", vec![]),
        ("optima_mip.csv", vec!["stein27", "mod008", "misc03"]),
    ] {
        let table = std::fs::read_to_string(folder.join(file)).unwrap();
        for line in table.lines().skip(1) {
            let fields: Vec<&str> = line.split(',').collect();
            if slow.contains(&fields[0]) {
                continue;
            }
            let path = folder.join(format!("{}.mps", fields[0]));
            let costs = LinearModel::read(&path).unwrap().cost;
            let problem =
                std::sync::Arc::new(LinearProblem::read(&path, &CostColumns::All, None).unwrap());
            let solution = Oracle::new(problem)
                .worker()
                .solve(&costs)
                .unwrap_or_else(|failure| panic!("{line}: {failure}"));
            common::assert_close(
                &[solution.objective],
                &[fields[9].parse().unwrap()],
                1e-6,
                fields[0],
            );
            assert_eq!(solution.status, SolveStatus::Optimal, "{}", fields[0]);
        }
    }
}

#[test]
fn errors_in_mps_files_name_file_and_line() {
    let cases = [
        ("cake  pairs  1", "cake  pairs  one", 15),
        ("cake  pairs  1", "cake  pairs  nan", 15),
        ("cake  pairs  1", "cake  pears  1", 15),
        ("cake  pairs  1", "cake  pairs", 15),
        ("cake  pairs  1", "cake  profit  1", 15),
        ("left  pairs  -1", "bread  pairs  -1", 16),
        ("RHS  least  1", "RHS  least  1.2.3", 19),
        ("RNG  flour  8", "RNG  fluor  8", 21),
        ("UP BND  bread  4", "XX BND  bread  4", 23),
        ("UP BND  bread  4", "UP BND  brad  4", 23),
        ("BOUNDS", "BONDS", 22),
        (" E  pairs", " E  pairs\n E  pairs", 9),
        (" E  pairs", " E", 8),
        ("'INTEND'", "'INTORG'", 13),
        ("    MAX", "    MOST", 3),
        ("OBJSENSE\n    MAX", "OBJSENSE MAXIMIZE", 2),
        ("ENDATA\n", "QUADOBJ\n bread bread 1\nENDATA\n", 25),
        ("ENDATA\n", "QSECTION profit\n bread bread 1\nENDATA\n", 25),
        ("ENDATA\n", "", 24),
        ("ROWS", "COLUMNS", 4),
    ];
    for (from, to, line) in cases {
        assert!(MPS.contains(from));
        let error = read("shop.mps", MPS.replace(from, to)).unwrap_err();
        let Error::Input { place, .. } = &error else {
            panic!("{error}")
        };
        assert!(place.file.as_ref().unwrap().ends_with("shop.mps"));
        assert_eq!(place.row, Some(line), "{from} → {to}: {error}");
    }
}

#[test]
fn files_that_are_not_linear_models_are_refused() {
    let cases: [(&str, &[u8]); 14] = [
        ("empty.mps", b""),
        ("empty.lp", b""),
        ("garbage.mps", b"\x00\x01\x02 not a model \xff\xfe"),
        ("garbage.lp", b"*%$ not & a ) model\nend\n"),
        ("binary.lp", b"\x7fELF\x00\x00\x00end\n"),
        ("cut.lp", b"minimize\n x + y\nsubject to\n x +"),
        ("half.lp", b"minimize\n x + y\nsubject to\n x + <= \nend\n"),
        (
            "quadratic.lp",
            b"minimize\n x + [ x^2 ] / 2\nsubject to\n x >= 1\nend\n",
        ),
        (
            "semi.lp",
            b"maximize\n x\nsubject to\n x >= 1\nbounds\n x <= 4\nsemi-continuous\n x\nend\n",
        ),
        (
            "sets.lp",
            b"maximize\n x + y\nsubject to\n c: x + y <= 1\nsos\n s1: S1:: x:1 y:2\nend\n",
        ),
        ("nothing.lp", b"minimize\nend\n"),
        (
            "nocolumns.mps",
            b"NAME x\nROWS\n N obj\nCOLUMNS\nRHS\nENDATA\n",
        ),
        ("norows.mps", b"NAME x\nENDATA\n"),
        ("model.txt", b"minimize\n x\nend\n"),
    ];
    for (name, bytes) in cases {
        let error = read(name, bytes).expect_err(name).to_string();
        assert!(error.contains(name), "{error}");
    }
    let conditional = read("if.lp", LP.replace("least: ", "least: cake = 1 -> "))
        .unwrap_err()
        .to_string();
    assert!(
        conditional.contains("if.lp, row 6: conditional rows"),
        "{conditional}"
    );
    let twice = MPS.replace(" FR BND  left", " UP BND  bread  3");
    assert!(
        read("twice.mps", twice)
            .unwrap_err()
            .to_string()
            .contains("bread"),
        "two upper bounds"
    );
    let absent = LinearModel::read(Path::new("/no/such/model.mps"))
        .unwrap_err()
        .to_string();
    assert!(absent.contains("/no/such/model.mps"), "{absent}");
}

/// The target triple of this machine.
fn host_target() -> String {
    let output = std::process::Command::new("rustc")
        .arg("-vV")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.unwrap().to_owned()
}

/// The instances in the sources of HiGHS that cargo downloaded.
fn instances() -> Vec<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = std::process::Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--offline", "--locked"])
        // Packages of other platforms need not be downloaded.
        .args(["--filter-platform", &host_target()])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let highs = packages
        .iter()
        .find(|package| package["name"] == "highs-sys");
    let manifest = highs.unwrap()["manifest_path"].as_str().unwrap();
    let folder = Path::new(manifest).with_file_name("HiGHS/check/instances");
    let entries = std::fs::read_dir(folder).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn instances_of_highs_are_read_or_refused_with_an_error() {
    let (mut num_read, mut errors) = (0, Vec::new());
    for path in instances() {
        match LinearModel::read(&path) {
            Ok(model) => {
                assert!(model.cost.len() == model.column_names.len() && !model.cost.is_empty());
                num_read += 1;
            }
            Err(error) => errors.push(error.to_string()),
        }
    }
    errors.iter().for_each(|error| eprintln!("{error}"));
    assert!(errors.iter().any(|error| error.contains("nan1.mps")));
    assert!(
        errors
            .iter()
            .any(|error| error.contains("garbage.mps, row 2"))
    );
    assert!(num_read > 60, "{num_read} read, {} refused", errors.len());
}

/// Reads damaged copies of a file: truncated, with bytes changed, or with pieces removed or
/// repeated. Returns how many were refused and how many were read.
fn read_damaged(path: &Path, copies: usize, stream: &mut RandomStream) -> [usize; 2] {
    let folder = tempfile::tempdir().unwrap();
    let original = std::fs::read(path).unwrap();
    let mut counts = [0, 0];
    for _ in 0..copies {
        let mut text = original.clone();
        for _ in 0..=stream.index_below(3) {
            let (a, b) = (
                stream.index_below(text.len().max(1)),
                stream.index_below(text.len().max(1)),
            );
            let (from, to) = (a.min(b), a.max(b).min(a.min(b) + 200));
            match stream.index_below(5) {
                0 => text.truncate(a),
                1 if !text.is_empty() => text[a] = b" \n*-0xE:<[\xff\x00"[stream.index_below(12)],
                2 => drop(text.drain(from..to)),
                3 => text
                    .splice(
                        b..b,
                        original[from.min(original.len())..to.min(original.len())].to_vec(),
                    )
                    .for_each(drop),
                _ => text.extend_from_slice(b"\nend\nENDATA\n"),
            }
        }
        let name = path.file_name().unwrap().to_str().unwrap();
        counts[usize::from(LinearModel::read(&write(&folder, name, &text)).is_ok())] += 1;
    }
    counts
}

fn read_many_damaged(copies: usize) {
    let folder = tempfile::tempdir().unwrap();
    let mut files = vec![
        write(&folder, "shop.mps", MPS),
        write(&folder, "shop.lp", LP),
    ];
    let is_small = |path: &PathBuf| std::fs::metadata(path).is_ok_and(|data| data.len() < 100_000);
    files.extend(instances().into_iter().filter(is_small));
    files.push(reference_data().join("mps/p0033.mps"));
    let mut stream = RandomStream::new(Purpose::Benchmark, 99, [0, 0]);
    let counts: Vec<_> = files
        .iter()
        .map(|file| read_damaged(file, copies, &mut stream))
        .collect();
    let [refused, read] = counts.iter().fold([0, 0], |[a, b], [c, d]| [a + c, b + d]);
    eprintln!("{refused} damaged files refused, {read} still valid models");
    assert!(refused > 0 && read > 0);
    print_suite_summary(refused + read, None);
}

#[test]
fn damaged_files_never_crash_the_reader() {
    read_many_damaged(10);
}

#[test]
#[ignore = "takes a minute"]
fn very_many_damaged_files_never_crash_the_reader() {
    read_many_damaged(200);
}
