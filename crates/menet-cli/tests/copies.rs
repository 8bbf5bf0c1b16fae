//! Copies of samples stay on one side of every split, and every command says how many there are.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::common::{menet, refused, text};

/// 30 samples of 5 variables, each twice; two of the copies have another class.
fn twice() -> String {
    let value = |i: usize, j: usize| (i * 37 + j * 101 + i * j * 13) % 97;
    let row = |i: usize| {
        let class = (i % 30 + usize::from(i == 31 || i == 47)) % 2;
        let values: Vec<String> =
            (0..5).map(|j| (value(i % 30, j) + 40 * (i % 2) * (j / 4)).to_string()).collect();
        format!("{},{},p{}\n", values.join(","), ["no", "yes"][class], i % 10)
    };
    "a,b,c,d,e,label,patient\n".to_owned() + &(0..60).map(row).collect::<String>()
}

/// The note that a successful command prints.
fn note(folder: &Path, command: &str) -> String {
    let output = menet(folder, &command.split(' ').collect::<Vec<_>>());
    let said = text(&output.stderr);
    assert!(output.status.success(), "{command}: {said}");
    said
}

/// The values of the samples in a file.
fn samples(folder: &Path, name: &str) -> BTreeSet<String> {
    let table = fs::read_to_string(folder.join(name)).unwrap();
    table.lines().skip(1).map(|line| line.split_once(',').unwrap().1.to_owned()).collect()
}

#[test]
fn no_sample_is_in_both_files_of_a_split() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("d.csv"), twice()).unwrap();
    for seed in ["0", "1", "2"] {
        let command = format!("split --data d.csv --drop patient --train a.csv --test b.csv --seed {seed}");
        let said = note(dir.path(), &command);
        assert!(
            said.contains("30 of 60 samples are copies of others (2 of them with another class)"),
            "{said}"
        );
        let (train, test) = (samples(dir.path(), "a.csv"), samples(dir.path(), "b.csv"));
        assert!(train.is_disjoint(&test) && train.len() + test.len() == 30, "{train:?}\n{test:?}");
        assert!((7..=11).contains(&test.len()), "{}", test.len());
    }
}

#[test]
fn every_command_that_splits_says_how_many_copies_there_are() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("d.csv"), twice()).unwrap();
    for command in [
        "tune --data d.csv --drop patient --nonzeros 1,2 --ridge 0.3 --folds 2 --out t",
        "evaluate --data d.csv --drop patient --methods pca --repeats 2 --train-per-class 4 --out e",
        "validate --data d.csv --drop patient --nonzeros 2 --folds 3 --repeats 1 --permutations 3 --pairs 2 --out v",
    ] {
        let said = note(dir.path(), command);
        assert!(
            said.contains("30 of 60 samples are copies of others (2 of them with another class)"),
            "{said}"
        );
    }
    // Rows 0 to 29 and 30 to 59 are copies. No split of `evaluate` has one on each side.
    let splits = fs::read_to_string(dir.path().join("e/splits.csv")).unwrap();
    for repeat in ["0", "1"] {
        let of = |role: &str| -> BTreeSet<usize> {
            let cells = splits.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
            let own = cells.filter(|cells| cells[2] == repeat && cells[4] == role);
            own.map(|cells| cells[3].parse::<usize>().unwrap() % 30).collect()
        };
        let (train, test) = (of("train"), of("test"));
        assert!(!train.is_empty() && !test.is_empty() && train.is_disjoint(&test), "{splits}");
    }
    let said =
        note(dir.path(), "tune --data d.csv --groups patient --nonzeros 1 --ridge 0.3 --folds 2 --out g");
    assert!(said.contains("copies stay on one side of every split\n"), "patients share no copies: {said}");
    let quiet = "validate --data leukemia --nonzeros 2 --repeats 1 --permutations 0 --pairs 0 --out j";
    assert!(!note(dir.path(), quiet).contains("copies"));
}

/// The "stable panel" of groups was columns 1 to 15.
#[test]
fn stability_of_groups_of_variables_is_refused_before_any_work() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("d.csv"), twice()).unwrap();
    fs::write(dir.path().join("p.toml"), "[penalty]\ngroup_axes = \"together\"\n").unwrap();
    let base = "validate --data d.csv --drop patient --params p.toml --nonzeros 2 --folds 2 --repeats 1 --permutations 0 --out g";
    let said = refused(dir.path(), &base.split(' ').collect::<Vec<_>>());
    assert!(said.contains("stability selection") && said.contains("--pairs 0"), "{said}");
    note(dir.path(), &format!("{base} --pairs 0 --ridge 0.3 --refit panel --rule gaussian"));
}
