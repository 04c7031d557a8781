//! Trains on a CSV table through the Rust interface, for `scripts/record-bytes`.
//!
//! `train_table TABLE COSTS PROBLEM METHOD EPOCHS SEED MODEL` writes the model and prints the
//! regret and the decision of every test row.

#![allow(clippy::print_stdout, reason = "the program prints its results")]

use std::process::ExitCode;

use regretless::data::{CsvDialect, Layout, TableSource, WideColumns};
use regretless::{Error, Method, Problem, Result, Split, Trainer};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[String]) -> Result<()> {
    let [table, costs, problem, method, epochs, seed, model] = words else {
        return Err(Error::setting("expected seven arguments"));
    };
    let number = |word: &String| {
        word.parse::<u64>()
            .map_err(|_| Error::setting(format!("'{word}' is no number")))
    };
    let columns = WideColumns {
        costs: costs.split(',').map(String::from).collect(),
        ..WideColumns::default()
    };
    let source = TableSource::Csv {
        file: table.into(),
        layout: Layout::Wide(columns),
        dialect: CsvDialect::default(),
        parameters: Vec::new(),
    };
    let (problem, data) = source.read_for(Problem::from_file(problem)?.spec().clone())?;
    let split = Split::random(number(seed)?).train(0.6).validation(0.2);
    let data = data.split(split)?;
    let trained = Trainer::new(method.parse::<Method>()?)
        .epochs(usize::try_from(number(epochs)?).unwrap_or(usize::MAX))
        .seed(number(seed)?)
        .fit(&problem, &data)?;
    trained.save(model)?;
    println!("{}", trained.evaluate(data.test())?.regret);
    for row in 0..data.test().len() {
        println!("{:?}", trained.decide(data.test().row(row))?);
    }
    Ok(())
}
