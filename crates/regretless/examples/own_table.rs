//! A CSV table, a problem file, a model file: what a deployment does.
//!
//! `cargo run --release -p regretless --example own_table`

#![allow(clippy::print_stdout, reason = "the program prints its results")]

use std::fs;
use std::path::Path;

use regretless::{Dataset, Error, Method, Model, Problem, Row, Split, Trainer};

/// Three parcels a day of which a truck takes those worth most within its capacity.
const PROBLEM: &str = "kind = \"knapsack\"\nweights = [[4.0, 3.0, 5.0]]\ncapacity = [8.0]\n";

fn write(path: &Path, text: &str) -> regretless::Result<()> {
    fs::write(path, text).map_err(Error::io(path))
}

fn main() -> regretless::Result<()> {
    let folder = tempfile::tempdir().map_err(Error::io(Path::new("the temporary folder")))?;
    let path = |name: &str| folder.path().join(name);

    let mut table = String::from("weekday,temperature,small,flat,large\n");
    for day in 0..200_i32 {
        let (weekday, temperature) = (day % 7, 10 + (day * 13) % 17);
        let small = 10 + 2 * weekday;
        let flat = 9 + temperature / 2;
        let large = 30 - weekday - temperature / 3;
        table += &format!("{weekday},{temperature},{small},{flat},{large}\n");
    }
    write(&path("parcels.csv"), &table)?;
    write(&path("truck.toml"), PROBLEM)?;

    let problem = Problem::from_file(path("truck.toml"))?;
    let data = Dataset::from_csv(path("parcels.csv"), "small,flat,large")?
        .split(Split::in_order(120, 40, 40))?;
    let model = Trainer::new(Method::default())
        .epochs(30)
        .fit(&problem, &data)?;
    println!("normalized regret: {:.2} %", {
        100.0 * model.evaluate(data.test())?.normalized_regret
    });

    // The file holds the predictor and the problem; another program decides with it.
    model.save(path("model.safetensors"))?;
    let deployed = Model::load(path("model.safetensors"))?;
    let today = [2.0, 21.0];
    println!(
        "predicted values: {:.1?}",
        deployed.predict(Row::from(&today[..]))?
    );
    println!(
        "parcels to load: {:?}",
        deployed.decide(Row::from(&today[..]))?.indices()
    );
    Ok(())
}
