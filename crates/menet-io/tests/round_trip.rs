//! Every reader: formats agree, problems are located, missing values and names are handled, sparse data stay sparse.

use std::fs;
use std::path::PathBuf;

use crate::common::{fixture, folder, load, sample, write};
use menet::prepare::{Impute, Preparation, PrepareParams};
use menet::rules::LearnedRule;
use menet::{MenParams, fit};
use menet_io::{ReadOptions, Table, TableValues, read};
use rand::{RngExt, SeedableRng};

#[test]
fn every_format_gives_the_same_w() {
    let (rows, labels) = sample();
    let dir = folder();
    let mut csv = String::from("a,b,label,c,d,e\n");
    let mut tsv = String::from("label\ta\tb\tc\td\te\n");
    let mut svm = String::new();
    for (row, label) in rows.iter().zip(&labels) {
        csv += &format!("{},{},{label},{},{},{}\n", row[0], row[1], row[2], row[3], row[4]);
        let fields: Vec<String> = row.iter().map(i64::to_string).collect();
        tsv += &format!("{label}\t{}\n", fields.join("\t"));
        let pairs: Vec<String> =
            row.iter().enumerate().filter(|(_, x)| **x != 0).map(|(j, x)| format!("{}:{x}", j + 1)).collect();
        svm += &format!("{label} {} # a comment\n", pairs.join(" "));
    }
    let files = [write(&dir, "d.csv", csv), write(&dir, "d.tsv", tsv), write(&dir, "d.svm", svm)];
    let tables: Vec<Table> = files.iter().map(|file| load(file, &ReadOptions::default()).unwrap()).collect();
    let params = MenParams::default().with(|it| it.nonzeros = Some(3));
    let fits: Vec<_> = tables
        .iter()
        .map(|table| fit(&table.dataset().unwrap(), &params, &()).unwrap().projection().clone())
        .collect();
    assert_eq!(fits[0], fits[1]);
    assert_eq!(fits[0], fits[2]);
    // Files of other programs: the committed samples, and those that `make test` writes with current versions.
    let fresh = std::env::var_os("MENET_FIXTURES")
        .map(PathBuf::from)
        .filter(|folder| folder.join("sample.mat").exists());
    println!("freshly written samples: {}", if fresh.is_some() { "tested" } else { "not at hand" });
    for folder in [Some(fixture("")), fresh].into_iter().flatten() {
        for name in [
            "sample.npz",
            "sample-fortran.npz",
            "sample.mat",
            "sample-plain.mat",
            "sample-snappy.parquet",
            "sample-zstd.parquet",
            "sample-gzip.parquet",
            "sample-checksum.parquet",
            "sample-lz4.feather",
            "sample.arrows",
        ] {
            let table = load(&folder.join(name), &ReadOptions::default()).unwrap();
            assert_eq!(table.labels, tables[0].labels, "{name}");
            let men = fit(&table.dataset().unwrap(), &params, &()).unwrap();
            assert_eq!(men.projection(), &fits[0], "{name}");
        }
    }
    let text: Vec<String> = labels.iter().map(i64::to_string).collect();
    let beside = write(&dir, "labels.txt", text.join("\n"));
    let options = ReadOptions { labels: Some(beside), ..ReadOptions::default() };
    let table = load(&fixture("sample.npy"), &options).unwrap();
    assert_eq!(fit(&table.dataset().unwrap(), &params, &()).unwrap().projection(), &fits[0]);
    assert_eq!(tables[0].dataset().unwrap().classes()[9], "10", "whole numbers sort by value");
}

#[test]
fn problems_name_the_file_and_the_place() {
    let dir = folder();
    let png = |name: &str, side: u32| {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        image::GrayImage::from_fn(side, side, |x, y| image::Luma([(x * 7 + y * 13) as u8]))
            .save(path)
            .unwrap();
    };
    png("faces/ann/1.png", 4);
    png("faces/bob/1.png", 5);
    png("same/ann/1.png", 4);
    png("same/bob/1.png", 4);
    write(&dir, "bad/ann/1.png", b"not a picture");
    write(&dir, "none/ann/readme.txt", b"hello");
    fs::create_dir(dir.path().join("empty")).unwrap();
    let cases: &[(&str, &[u8], &str)] = &[
        ("nothing.csv", b"", "empty"),
        ("header.csv", b"a,label\n", "no data"),
        ("ragged.csv", b"a,label\n1,x\n2\n", "ragged.csv"),
        ("text.csv", b"a,label\nhello,x\n", "line 2, column \"a\": \"hello\""),
        ("huge.csv", b"a,label\n1e400,x\n", "1e400"),
        ("twice.csv", b"a,a\n1,2\n", "more than once"),
        ("x.svm", b"1 1:a\n", "line 1"),
        ("zero.svm", b"1 0:2\n", "--zero-based"),
        ("absurd.svm", b"1 18446744073709551615:2\n", "at most"),
        ("twice.svm", b"1 3:2\n2 7:1 4:1 7:2\n", "line 2: index 7 is given twice"),
        ("x.npz", b"PK nothing", "npz"),
        ("x.npy", b"\x93NUMPY", "x.npy"),
        ("x-images-idx3-ubyte", b"\0\0\x08\x03\x7f\xff\xff\xff\x7f\xff\xff\xff\0\0\0\x02", "claims"),
        ("y-images-idx3-ubyte", b"\0\0\x08\x03\0\0\0\x02\0\0\0\x01\0\0\0\x01a", "fewer"),
        ("z-images-idx3-ubyte", b"\0\0\x08\x03\0\0\0\x01\0\0\0\x01\0\0\0\x01a", "labels file"),
        ("what.xyz", b"1", "unknown format"),
        ("x.csv.gz", b"not packed", "x.csv.gz"),
        ("x.mat", b"MATLAB 5.0 MAT-file, and no more", "too short"),
        ("y.mat", b"MATLAB 7.3 MAT-file", "-v7"),
        ("x.parquet", b"PAR1 no", "parquet"),
    ];
    for (name, bytes, expected) in cases {
        let path = write(&dir, name, bytes);
        let message = load(&path, &ReadOptions::default()).unwrap_err().to_string();
        assert!(message.contains(expected) && message.contains(name), "{name}: {message}");
    }
    for (name, expected) in [
        ("faces", "--size"),
        ("bad", "not a readable image"),
        ("none", "no images"),
        ("empty", "no sub-folders"),
        ("missing.csv", "no such file"),
    ] {
        let message = load(&dir.path().join(name), &ReadOptions::default()).unwrap_err().to_string();
        assert!(message.contains(expected), "{name}: {message}");
    }
    let sized = ReadOptions { size: Some((3, 6)), ..ReadOptions::default() };
    let table = load(&dir.path().join("faces"), &sized).unwrap();
    assert_eq!((table.rows, table.columns, table.image_shape), (2, 18, Some((3, 6))));
    assert_eq!(table.labels.unwrap(), ["ann", "bob"]);
    assert!(load(&dir.path().join("same"), &ReadOptions::default()).is_ok());
    let shaped = ReadOptions { shape: Some((7, 7)), ..ReadOptions::default() };
    assert!(read("digits", &shaped).unwrap_err().to_string().contains("7x7"));
}

#[test]
fn damaged_pictures_never_panic() {
    let dir = folder();
    let rng = &mut rand_pcg::Pcg64Mcg::seed_from_u64(3);
    for ending in ["png", "jpg", "pgm", "tiff", "bmp", "gif"] {
        let path = dir.path().join(format!("{ending}/a/1.{ending}"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let picture = image::RgbImage::from_fn(9, 7, |x, y| image::Rgb([(x * 20) as u8, (y * 30) as u8, 5]));
        if ending == "pgm" {
            image::DynamicImage::from(picture).into_luma8().save(&path).unwrap();
        } else {
            picture.save(&path).unwrap();
        }
        let top = dir.path().join(ending);
        assert_eq!(load(&top, &ReadOptions::default()).unwrap().image_shape, Some((7, 9)), "{ending}");
        let bytes = fs::read(&path).unwrap();
        for _ in 0..200 {
            let mut damaged = bytes.clone();
            for _ in 0..rng.random_range(1..6) {
                let at = rng.random_range(0..damaged.len());
                damaged[at] = rng.random();
            }
            damaged.truncate(rng.random_range(0..=damaged.len()));
            fs::write(&path, &damaged).unwrap();
            let _ = load(&top, &ReadOptions::default());
        }
    }
}

#[test]
fn missing_values_are_located_or_filled() {
    let dir = folder();
    let path = write(&dir, "m.csv", "a,b,label\n1,2,x\n,4,y\n3,NA,x\n");
    let table = load(&path, &ReadOptions::default()).unwrap();
    let message = table.dataset().unwrap_err().to_string();
    assert!(
        message.contains("sample 2 of 3") && message.contains("\"a\"") && message.contains("2 missing"),
        "{message}"
    );
    let data = table.dataset_with_missing().unwrap();
    assert_eq!(data.first_missing(), Some((1, 0)));
    let impute = PrepareParams::default().with(|it| it.impute = Some(Impute::Mean));
    let (_, filled) = Preparation::of(&data, &impute).unwrap().unwrap();
    assert_eq!(filled.x().unwrap(), faer::mat![[1.0, 2.0], [2.0, 4.0], [3.0, 3.0]]);
}

#[test]
fn batches_come_from_a_column_or_a_file() {
    let dir = folder();
    let options = |batch: &str| ReadOptions { batch: Some(batch.to_owned()), ..ReadOptions::default() };
    let text = "run,a,label\nr2,1,x\nr1,2,y\nr2,3,x\n";
    let table = load(&write(&dir, "b.csv", text), &options("run")).unwrap();
    assert_eq!(table.batches, Some(["r2", "r1", "r2"].map(str::to_owned).to_vec()));
    assert_eq!(table.feature_names, Some(vec!["a".to_owned()]), "a batch is no variable");
    let data = table.dataset().unwrap();
    assert_eq!(data.batches().unwrap().names(), ["r1", "r2"]);
    // The same column may hold samples together.
    let both = ReadOptions { groups: Some("run".to_owned()), ..options("run") };
    let table = load(&dir.path().join("b.csv"), &both).unwrap();
    assert_eq!(table.groups, table.batches);
    let turned = ReadOptions { transpose: true, ..both };
    let table =
        load(&write(&dir, "t.csv", "id,s1,s2,s3\nrun,r2,r1,r2\na,1,2,3\nlabel,x,y,x\n"), &turned).unwrap();
    assert_eq!((table.columns, &table.groups), (1, &table.batches));
    let file = write(&dir, "b.txt", "r2\nr1\nr2\n");
    let svm = write(&dir, "b.svm", "1 1:2\n2 1:3\n1 1:4\n");
    let table = load(&svm, &options(file.to_str().unwrap())).unwrap();
    assert_eq!(table.batches, Some(["r2", "r1", "r2"].map(str::to_owned).to_vec()));
    for (path, batch, word) in [
        (dir.path().join("b.csv"), "runs", "to take the batches from"),
        (svm, "runs", "one batch per line"),
        (write(&dir, "g.csv", "run,a,label\nr2,1,x\n,2,y\n"), "run", "the batch of sample 2 is missing"),
        // The column of the classes gives way to --batch.
        (dir.path().join("b.csv"), "label", "column \"run\": \"r2\" is not a finite number"),
    ] {
        let message = load(&path, &options(batch)).unwrap_err().to_string();
        assert!(message.contains(word), "{message}");
    }
}

#[test]
fn sparse_files_stay_sparse_where_dense_would_be_large() {
    let dir = folder();
    let line = |i: usize| format!("{} {}:2 {}:1.5{i:03}\n", i % 2, 1 + i % 3 * 7, 99_000 + i % 5);
    let text = |rows: usize| (0..rows).map(line).collect::<String>();
    let small = load(&write(&dir, "small.svm", text(4)), &ReadOptions::default()).unwrap();
    assert!(matches!(small.values, TableValues::Dense(_)));
    let table = load(&write(&dir, "large.svm", text(400)), &ReadOptions::default()).unwrap();
    let TableValues::Sparse(x) = &table.values else { panic!("400 x 99,004 dense") };
    assert_eq!((x.rows(), x.columns(), x.nonzeros()), (400, 99_004, 800));
    assert_eq!(x.select(&[0, 1, 2, 3]).to_dense().subcols(0, small.columns), small.matrix().unwrap());
    assert!(table.matrix().unwrap_err().to_string().contains("400 x 99004"));
    let data = table.dataset().unwrap();
    assert_eq!(data.sparse(), Some(x));
    let men = fit(&data, &MenParams::paper().with(|it| it.nonzeros = Some(3)), &()).unwrap();
    let z = table.project(&men).unwrap();
    let LearnedRule::Nearest(rule) = men.rule().unwrap() else { panic!("another rule") };
    assert_eq!(rule.gallery, z);
    // Sparse data have no missing values.
    let mut filled = table.clone();
    filled.fill_missing(&[7.0; 99_004]);
    assert_eq!(filled, table);
    let least = ReadOptions { least_columns: 99_010, ..ReadOptions::default() };
    let wider = load(&dir.path().join("small.svm"), &least).unwrap();
    assert_eq!((wider.rows, wider.columns), (4, 99_010));
}

#[test]
fn columns_are_matched_by_name() {
    let dir = folder();
    let path = write(&dir, "c.csv", "b,a,extra\n1,2,3\n4,5,6\n");
    let table = load(&path, &ReadOptions::default()).unwrap();
    let names = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    assert_eq!(table.clone().select(&names(&["a", "b"])).unwrap().values, vec![2.0, 1.0, 5.0, 4.0].into());
    assert!(table.select(&names(&["a", "q"])).unwrap_err().to_string().contains("\"q\""));
}

#[test]
fn nothing_half_written_is_left() {
    let dir = folder();
    let path = dir.path().join("out.csv");
    fs::write(&path, "before").unwrap();
    let failed = menet_io::atomic::write(&path, |out| {
        out.write_all(b"half of it")?;
        Err(std::io::Error::other("the disk is full"))
    });
    assert!(failed.unwrap_err().to_string().contains("the disk is full"));
    assert_eq!(fs::read_to_string(&path).unwrap(), "before");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no temporary file is left");
    assert!(menet_io::atomic::write(&dir.path().join("no/such/folder"), |_| Ok(())).is_err());
    assert!(menet_io::atomic::write(dir.path(), |_| Ok(())).is_err());
}
