//! How many variables per axis recognise held-out samples best, by the number of training samples: the evidence for the default of
//! `nonzeros`.
//!
//! ```sh
//! cargo run --release -p menet-io --example how_sparse -- 10 orl leukemia digits yale.npz
//! ```
//!
//! The arguments are the number of random splits and the data: built-in sets or files. Models learn from 2, 3, 5, 10, 20 and 50
//! samples per class, as long as half of the classes have more; smaller classes give all samples but one. The output is the mean
//! balanced accuracy in percent of the nearest neighbour in the projected space, for each K.

use menet::evaluate::{classes_of, generator, subset};
use menet::rules::{Metric, nearest_neighbors};
use menet::{Dataset, MenParams, SizeLimits, fit};
use menet_io::{ReadOptions, read};
use rand::seq::SliceRandom;

const SIZES: [usize; 10] = [1, 2, 3, 5, 10, 20, 30, 50, 100, 200];
const PER_CLASS: [usize; 6] = [2, 3, 5, 10, 20, 50];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (splits, names) = args.split_first().ok_or("say how many splits, and which data")?;
    let splits: usize = splits.parse()?;
    let header: Vec<String> = SIZES.iter().map(|k| format!("K = {k}")).collect();
    println!("| data | n | classes | {} |", header.join(" | "));
    println!("|---|---|---|{}", "---|".repeat(SIZES.len()));
    for name in names {
        let table = read(name, &ReadOptions::default())?;
        let data = table.dataset()?;
        let short = name.rsplit('/').next().unwrap_or(name).trim_end_matches(".npz");
        for per_class in PER_CLASS {
            let large = |class: &usize| data.members(*class).len() > per_class;
            if 2 * (0..data.classes().len()).filter(large).count() <= data.classes().len() {
                break;
            }
            let mut sums = [0.0; SIZES.len()];
            let mut n = 0;
            for split in 0..splits {
                let (train, test) = drawn(&data, per_class, split as u64);
                n = train.len();
                for (sum, accuracy) in sums.iter_mut().zip(accuracies(&data, &train, &test)?) {
                    *sum += 100.0 * accuracy / splits as f64;
                }
            }
            let cells: Vec<String> = sums.iter().map(|sum| format!("{sum:.1}")).collect();
            println!("| {short} | {n} | {} | {} |", data.classes().len(), cells.join(" | "));
        }
    }
    Ok(())
}

/// Rows for training (`per_class` per class, but never all of a class) and rows for testing.
fn drawn(data: &Dataset<'_>, per_class: usize, split: u64) -> (Vec<usize>, Vec<usize>) {
    let mut rng = generator(0, &[per_class as u64, split]);
    let (mut train, mut test) = (Vec::new(), Vec::new());
    for class in 0..data.classes().len() {
        let mut members = data.members(class).to_vec();
        members.shuffle(&mut rng);
        let (learn, rest) = members.split_at(per_class.min(members.len() - 1));
        train.extend_from_slice(learn);
        test.extend_from_slice(rest);
    }
    train.sort_unstable();
    (train, test)
}

/// The balanced accuracy for every K; 0 if ties leave an axis without a variable.
fn accuracies(
    data: &Dataset<'_>,
    train: &[usize],
    test: &[usize],
) -> Result<Vec<f64>, Box<dyn std::error::Error>> {
    let (gallery, samples) = (subset(data, train)?, subset(data, test)?);
    let most = SIZES[SIZES.len() - 1];
    let men = fit(&gallery, &MenParams::paper().with(|it| it.nonzeros = Some(most)), &())?;
    let (known, truth) = (classes_of(data, train), classes_of(data, test));
    let mut found = Vec::new();
    for k in SIZES {
        let Ok(sparser) = men.at(
            SizeLimits::default().with(|it| {
                it.nonzeros = Some(k);
                it.components = None;
            }),
            None,
        ) else {
            found.push(0.0);
            continue;
        };
        let (z, y) = (sparser.transform(gallery.x()?)?, sparser.transform(samples.x()?)?);
        let given = nearest_neighbors(z.as_ref(), &known, y.as_ref(), 1, Metric::Euclidean)?;
        let (mut right, mut tested) = (vec![0.0; data.classes().len()], vec![0.0; data.classes().len()]);
        for (given, &class) in given.iter().zip(&truth) {
            tested[class] += 1.0;
            right[class] += f64::from(u8::from(given.class == class));
        }
        let recalls = right.iter().zip(&tested).filter(|(_, tested)| **tested > 0.0).map(|(r, t)| r / t);
        found.push(recalls.clone().sum::<f64>() / recalls.count() as f64);
    }
    Ok(found)
}
