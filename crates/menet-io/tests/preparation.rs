//! How samples are prepared, through files: the model file, tables with gaps and batches, and blocks.

use std::fmt::Write;

use crate::common::{folder, load, write};
use menet::prepare::{Filling, Impute, Scale};
use menet::{Men, MenParams, Named, fit};
use menet_io::{ModelFile, ReadOptions, Table, transform};

/// A table of 36 samples with gaps and three batches, whose values are counts.
fn text() -> String {
    let mut text = "run,label,a,b,c,d,e\n".to_owned();
    for i in 0..36 {
        write!(text, "r{},k{}", (i / 3) % 3, i % 3).unwrap();
        for j in 0..5 {
            let value = (i * 7 + j * 13 + i * j) % 11 + 4 * usize::from(j == i % 3);
            let gap = (i * 5 + j * 3) % 17 == 0;
            if gap { text.push_str(",NA") } else { write!(text, ",{value}.{i:02}").unwrap() }
        }
        text.push('\n');
    }
    text
}

fn options() -> ReadOptions {
    ReadOptions { batch: Some("run".to_owned()), ..ReadOptions::default() }
}

fn params(impute: Impute, scale: Scale, batch_scale: bool) -> MenParams {
    MenParams::default().with(|it| {
        (it.prepare.impute, it.prepare.scale, it.prepare.batch_scale) = (Some(impute), scale, batch_scale);
    })
}

fn model(table: &Table, params: &MenParams) -> Men {
    fit(&table.dataset_with_missing().unwrap(), params, &()).unwrap()
}

#[test]
fn every_preparation_survives_bit_for_bit() {
    let dir = folder();
    let table = load(&write(&dir, "x.csv", text()), &options()).unwrap();
    for with_batches in [false, true] {
        let mut table = table.clone();
        if !with_batches {
            table.batches = None;
        }
        for &impute in Impute::ALL {
            for &scale in Scale::ALL {
                let men = model(&table, &params(impute, scale, true));
                let what = format!("{} {} {with_batches}", impute.name(), scale.name());
                let file = ModelFile::new(men, &table.dataset_with_missing().unwrap(), "test").unwrap();
                let bytes = file.to_bytes().unwrap();
                let back = ModelFile::from_bytes(&bytes).unwrap();
                assert_eq!(back, file, "{what}");
                assert_eq!(back.to_bytes().unwrap(), bytes, "{what}");
                assert_eq!(table.project(&back.men).unwrap(), table.project(&file.men).unwrap(), "{what}");
                let seen = menet_io::fingerprint::of_rows(table.matrix().unwrap());
                assert!(
                    back.seen(&seen).iter().all(|seen| *seen),
                    "{what}: samples with gaps are known again"
                );
            }
        }
    }
}

#[test]
fn parts_that_do_not_fit_are_refused() {
    let dir = folder();
    let table = load(&write(&dir, "x.csv", text()), &options()).unwrap();
    let men = model(&table, &params(Impute::Knn, Scale::Unit, true));
    let refused = |change: &dyn Fn(&mut menet::prepare::Preparation)| {
        let mut parts = men.parts().clone();
        change(parts.preparation.as_mut().unwrap());
        assert!(Men::from_parts(parts).is_err());
    };
    refused(&|it| {
        it.missing.pop();
    });
    refused(&|it| it.dropped = vec![3, 1]);
    refused(&|it| it.divisors.as_mut().unwrap()[2] = 0.0);
    refused(&|it| it.params.max_missing = 2.0);
    refused(&|it| drop(it.batches.as_mut().unwrap().names.pop()));
    refused(&|it| it.batches.as_mut().unwrap().of_one_class = vec![7]);
    for cut in [true, false] {
        refused(&|it| match it.filling.as_mut().unwrap() {
            Filling::Neighbors(near) if cut => drop(near.samples.pop()),
            Filling::Neighbors(near) => drop(near.means.pop()),
            Filling::Values(_) => unreachable!("knn"),
        });
    }
}

#[test]
fn blocks_are_prepared_like_the_whole() {
    let dir = folder();
    let path = write(&dir, "x.csv", text());
    let out = dir.path().join("z.npy");
    let mut table = load(&path, &options()).unwrap();
    for batch in [true, false] {
        let read = if batch {
            options()
        } else {
            table.batches = None;
            ReadOptions { drop: vec!["run".to_owned()], ..ReadOptions::default() }
        };
        for &impute in Impute::ALL {
            let men = model(&table, &params(impute, Scale::Log1pUnit, false));
            let source = path.to_str().unwrap();
            transform(&men, source, &read, false, &out, 100, &()).unwrap();
            let found = load(&out, &ReadOptions::default()).unwrap();
            assert_eq!(found.matrix().unwrap(), table.project(&men).unwrap(), "{}", impute.name());
        }
    }
    // A model that needs batches, and a table without.
    table.batches = Some((0..36).map(|i| (i / 3 % 3).to_string()).collect());
    let men = model(&table, &params(Impute::Mean, Scale::None, false));
    let read = ReadOptions { drop: vec!["run".to_owned()], ..ReadOptions::default() };
    let message =
        transform(&men, path.to_str().unwrap(), &read, false, &out, 100, &()).unwrap_err().to_string();
    assert!(message.contains("batch"), "{message}");
}
