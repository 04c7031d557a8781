//! Trains on a CSV table through the Rust interface, for `scripts/record-bytes`.
//!
//! `train_table TABLE COSTS PROBLEM METHOD EPOCHS SEED MODEL` writes the model and prints the
//! regret and the decision of every test row.

#![allow(clippy::print_stdout, reason = "the program prints its results")]

use std::process::ExitCode;

use regretless::{Dataset, Error, Method, Problem, Result, Split, Trainer};

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
    let problem = Problem::from_file(problem)?;
    let split = Split::random(number(seed)?).train(0.6).validation(0.2);
    let data = Dataset::from_csv(table, costs)?.split(split)?;
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
