//! Files in, files out: every reader, the model file, and what happens to damaged bytes.

use std::fs;
use std::path::{Path, PathBuf};

use menet::model::MenParts;
use menet::panel::Reading;
use menet::params::Preset;
use menet::refit::Refit;
use menet::rules::{Learned, Metric, Nearest, Priors, RuleKind};
use menet::{Dataset, Men, MenParams, Named, fit};
use menet_io::model::{LabelKind, paths_from_bytes, paths_to_bytes};
use menet_io::{ModelFile, ReadOptions, Table, Values, read};
use rand::{RngExt, SeedableRng};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn write(folder: &tempfile::TempDir, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.path().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, bytes).unwrap();
    path
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn load(path: &Path, options: &ReadOptions) -> menet_io::Result<Table> {
    read(path.to_str().unwrap(), options)
}

/// 36 samples of 5 whole numbers in 12 classes, as text.
fn sample() -> (Vec<Vec<i64>>, Vec<i64>) {
    let rows =
        (0..36i64).map(|i| (0..5).map(|j| (i * 7 + j * j * 3 + (i % 12) * (j + 1)) % 23).collect()).collect();
    (rows, (0..36).map(|i| i % 12 + 1).collect())
}

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
    let params = MenParams { nonzeros: Some(3), ..MenParams::default() };
    let fits: Vec<_> = tables
        .iter()
        .map(|table| fit(&table.dataset().unwrap(), &params, &()).unwrap().projection().clone())
        .collect();
    assert_eq!(fits[0], fits[1]);
    assert_eq!(fits[0], fits[2]);
    // What other programs wrote: the committed samples, and those `make test` has them write today.
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

/// The paper's method, which can be made smaller without training samples.
fn model() -> (ModelFile, Table) {
    model_with(MenParams::paper())
}

fn model_with(params: MenParams) -> (ModelFile, Table) {
    let names = ["a \"quoted\", name", "<script>", "größe", "", "e"].map(str::to_owned).to_vec();
    let (rows, labels) = sample();
    let values: Vec<f64> = rows.iter().flatten().map(|&x| x as f64 / 3.0).collect();
    let table = Table {
        labels: Some(labels.iter().map(|label| format!("klasse, \"{label}\" <b>")).collect()),
        feature_names: Some(names),
        image_shape: Some((1, 5)),
        ..Table::new(Path::new("test"), values, 36, 5)
    };
    let data = table.dataset().unwrap();
    let params = MenParams {
        nonzeros: Some(4),
        penalty_factors: Some(vec![1.0, 1.0, f64::INFINITY, 0.5, 2.0]),
        ..params
    };
    let men = fit(&data, &params, &()).unwrap();
    (ModelFile::new(men, &data, "test").unwrap(), table.clone())
}

/// The rule of a model that decides by its nearest neighbour.
fn nearest(model: &ModelFile) -> &Nearest {
    match model.men.rule().unwrap() {
        Learned::Nearest(rule) => rule,
        other => panic!("not the nearest neighbour: {other:?}"),
    }
}

/// The same model with another part.
fn with_parts(model: &ModelFile, change: impl FnOnce(&mut MenParts)) -> ModelFile {
    let mut parts = model.men.parts().clone();
    change(&mut parts);
    ModelFile { men: Men::from_parts(parts).unwrap(), ..model.clone() }
}

fn reading(nonzeros: Option<usize>, components: Option<usize>) -> Reading {
    Reading { nonzeros, panel_size: None, components }
}

#[test]
fn every_refit_with_every_rule_survives_bit_for_bit() {
    for &refit in Refit::ALL {
        for &rule in RuleKind::ALL {
            for priors in [Priors::Train, Priors::Given((1..=12).map(f64::from).collect())] {
                let params = MenParams {
                    refit: Some(refit),
                    rule: Some(rule),
                    relax: 0.7,
                    voters: 2,
                    metric: Some(Metric::Cosine),
                    priors,
                    ..MenParams::default()
                };
                let what = format!("{} {} {:?}", refit.name(), rule.name(), params.priors);
                let (model, table) = model_with(params);
                let complete = model.to_bytes_complete().unwrap();
                let back = ModelFile::from_bytes(&complete).unwrap();
                assert_eq!(back, model, "{what}");
                assert_eq!(back.to_bytes_complete().unwrap(), complete, "{what}");
                // A file that users save leaves out the reduced problem, and nothing else.
                assert_eq!(model.men.parts().reached.is_some(), refit.needs_gram(), "{what}");
                let saved = ModelFile::from_bytes(&model.to_bytes().unwrap()).unwrap();
                assert_eq!(saved, with_parts(&model, |parts| parts.reached = None), "{what}");
                let z = table.project(saved.men.projection()).unwrap();
                let (own, other) = (model.men.rule().unwrap(), saved.men.rule().unwrap());
                assert_eq!(own.classify(z.as_ref()), other.classify(z.as_ref()), "{what}");
                assert_eq!(own.log_probabilities(z.as_ref()), other.log_probabilities(z.as_ref()), "{what}");
                assert_eq!(model.men.panel_table(), saved.men.panel_table(), "{what}");
                assert!(
                    saved.men.panel_table().iter().all(|row| row.effect.is_some() && row.class.is_some())
                );
                // With the training samples the complete bytes can be read at another size.
                let data = table.dataset().unwrap();
                let smaller = |men: &Men| men.at(reading(Some(2), None), Some(&data)).unwrap();
                assert_eq!(smaller(&back.men), smaller(&model.men), "{what}");
            }
        }
    }
}

#[test]
fn a_model_without_a_rule_survives() {
    let (model, _) = model();
    let men = model.men.at(reading(Some(2), None), None).unwrap();
    assert!(men.rule().is_err());
    let model = ModelFile { men, ..model };
    assert_eq!(ModelFile::from_bytes(&model.to_bytes().unwrap()).unwrap(), model);
}

#[test]
fn few_numbers_take_the_place_of_the_training_samples() {
    // Mean, unit and name of every variable are in the file too: some 25 bytes per variable, whatever the panel.
    let (p, size) = (200, 20);
    let bytes = |samples: usize, rule: RuleKind| {
        let value = |i: usize, j: usize| ((i * 7919 + j * 104_729 + i * j * 31) % 1009) as f64 / 100.0;
        let shifted = |i: usize, j: usize| value(i, j) + if j % 9 == i % 3 { 4.0 } else { 0.0 };
        let values: Vec<f64> = (0..samples * p).map(|at| shifted(at / p, at % p)).collect();
        let table = Table {
            labels: Some((0..samples).map(|i| format!("class {}", i % 3)).collect()),
            feature_names: Some((0..p).map(|j| format!("gene{j}")).collect()),
            ..Table::new(Path::new("test"), values, samples, p)
        };
        let data = table.dataset().unwrap();
        let params = MenParams { panel_size: Some(size), rule: Some(rule), ..MenParams::default() };
        let men = fit(&data, &params, &()).unwrap().without_paths();
        assert_eq!(men.panel().len(), size);
        ModelFile::new(men, &data, "test").unwrap().to_bytes().unwrap().len()
    };
    for rule in [RuleKind::Centroid, RuleKind::Gaussian] {
        let (few, many) = (bytes(120, rule), bytes(360, rule));
        assert!(many < 20_000, "{}: {many} bytes", rule.name());
        // Eight bytes per sample know it again; seconds, and the variables on the way, may differ a little.
        let grown = many.abs_diff(few);
        assert!(grown < 240 * 8 + 200, "{}: {few} and {many} bytes", rule.name());
    }
    assert!(bytes(360, RuleKind::Nearest) > bytes(360, RuleKind::Gaussian) + 360 * 2 * 8);
}

#[test]
fn a_model_survives_the_file_bit_for_bit() {
    let dir = folder();
    let (model, table) = model();
    let (one, two) = (dir.path().join("one.safetensors"), dir.path().join("two.safetensors"));
    model.save(&one).unwrap();
    model.save(&two).unwrap();
    assert_eq!(fs::read(&one).unwrap(), fs::read(&two).unwrap(), "saving twice gives the same bytes");
    let loaded = ModelFile::load(&one).unwrap();
    assert_eq!(loaded, model);
    assert_eq!(
        loaded.men.transform(table.matrix().unwrap()).unwrap(),
        model.men.transform(table.matrix().unwrap()).unwrap()
    );
    assert_eq!(loaded.men.at(reading(Some(2), Some(3)), None), model.men.at(reading(Some(2), Some(3)), None));

    assert_eq!(ModelFile::from_bytes(&model.to_bytes().unwrap()).unwrap(), model);
    let paths = model.men.paths();
    assert_eq!(paths_from_bytes(&paths_to_bytes(paths).unwrap()).unwrap(), paths);
    assert!(paths_from_bytes(&[0; 20]).is_err());
    let numbers = ModelFile { label_kind: Some(LabelKind::Integer), ..model.clone() };
    assert_eq!(ModelFile::from_bytes(&numbers.to_bytes().unwrap()).unwrap(), numbers);
    let mut parts = model.men.parts().clone();
    parts.neighbor_recall = Some(0.1 + 0.2);
    let approximate = ModelFile { men: Men::from_parts(parts).unwrap(), ..model.clone() };
    assert_eq!(ModelFile::from_bytes(&approximate.to_bytes().unwrap()).unwrap(), approximate);

    let light = ModelFile { men: model.men.clone().without_paths(), ..model.clone() };
    light.save(&two).unwrap();
    assert!(fs::metadata(&two).unwrap().len() < fs::metadata(&one).unwrap().len());
    let light = ModelFile::load(&two).unwrap();
    assert_eq!(light.men.projection(), model.men.projection());
    assert_eq!(light.men.certificates(), model.men.certificates());
    assert!(light.men.at(reading(Some(2), None), None).unwrap_err().to_string().contains("left out"));
    assert_eq!(light.men.at(reading(None, Some(2)), None).unwrap().projection().components(), 2);
}

#[test]
fn a_model_of_the_first_version_still_loads() {
    // Made by this test with MENET_WRITE_FIXTURE=1, once; it must never be written again.
    let path = fixture("model-v1.safetensors");
    let (fresh, table) = model();
    if std::env::var_os("MENET_WRITE_FIXTURE").is_some() {
        fresh.save(&path).unwrap();
    }
    let kept = ModelFile::load(&path).unwrap();
    // What were the defaults then.
    let then = MenParams {
        ridge: Some(0.1),
        metric: Some(Metric::Euclidean),
        target_shrinkage: 1.0,
        ..fresh.men.params().clone()
    };
    assert_eq!((kept.men.classes(), kept.men.params()), (fresh.men.classes(), &then));
    assert_eq!(kept.men.feature_names().unwrap()[2], "größe");
    // The numbers themselves may move by rounding as the solver changes; the file must give back what it held.
    let z = kept.men.transform(table.matrix().unwrap()).unwrap();
    assert_eq!(z, nearest(&kept).gallery);
    assert!(kept.men.at(reading(Some(2), Some(3)), None).is_ok());
    is_the_papers(&kept);
}

/// What every file from before there were refits and rules comes back as.
fn is_the_papers(kept: &ModelFile) {
    let params = kept.men.params();
    assert_eq!(
        (params.preset, params.refit(), params.rule().kind),
        (Preset::Paper, Refit::None, RuleKind::Nearest)
    );
    let report = kept.men.refit();
    assert_eq!((report.refit, report.residual, report.shrinkage), (Refit::None, None, None));
    let rule = nearest(kept);
    assert_eq!((rule.neighbors, rule.metric), (1, params.metric()));
    assert!(rule.temperature > 0.0 && rule.shifts.iter().all(|&shift| shift == 0.0));
    let panel = kept.men.panel_table();
    assert!(!panel.is_empty() && panel.iter().all(|row| row.effect.is_none() && row.class.is_none()));
    assert_eq!(ModelFile::from_bytes(&kept.to_bytes().unwrap()).unwrap(), *kept, "it can be saved again");
}

#[test]
fn a_model_from_before_there_were_rules_still_loads() {
    // Written once by `menet fit --shape 1x5 --nonzeros 4 --metric cosine --penalty-factors 1,1,inf,0.5,2` of the last version
    // without rules, on the table of `model()` with the fourth variable called d; it must never be written again.
    let kept = ModelFile::load(&fixture("model-v2.safetensors")).unwrap();
    is_the_papers(&kept);
    let (_, table) = model();
    assert_eq!(nearest(&kept).metric, Metric::Cosine);
    assert_eq!(kept.men.feature_names().unwrap()[3], "d");
    let z = kept.men.transform(table.matrix().unwrap()).unwrap();
    assert_eq!(z, nearest(&kept).gallery);
    let data = table.dataset().unwrap();
    assert_eq!(kept.men.rule().unwrap().classify(z.as_ref()).unwrap(), data.class_indices());
    let own = menet_io::fingerprint::of_rows(table.matrix().unwrap());
    assert!(kept.seen(&own).iter().all(|seen| *seen));
    assert_eq!(kept.at_components(2).unwrap().men.projection().components(), 2);
}

#[test]
fn numbers_of_a_model_are_finite() {
    let (model, _) = model();
    for bad in [f64::NAN, f64::INFINITY] {
        let broken = with_parts(&model, |parts| {
            if let Some(Learned::Nearest(rule)) = &mut parts.rule {
                rule.gallery[(0, 0)] = bad;
            }
        });
        let message = ModelFile::from_bytes(&broken.to_bytes().unwrap()).unwrap_err().to_string();
        assert!(message.contains("\"gallery\"") && message.contains("not a"), "{message}");
    }
}

#[test]
fn a_model_knows_the_samples_it_was_fitted_to() {
    let (model, table) = model();
    let own = menet_io::fingerprint::of_rows(table.matrix().unwrap());
    let count = |model: &ModelFile, samples: &[u64]| model.seen(samples).iter().filter(|seen| **seen).count();
    assert_eq!(count(&model, &own), 36);
    let mut other = table.clone();
    if let Values::Dense(values) = &mut other.values {
        values[7] += 1e-9;
    }
    assert_eq!(count(&model, &menet_io::fingerprint::of_rows(other.matrix().unwrap())), 35);
    let old = ModelFile::load(&fixture("model-v1.safetensors")).unwrap();
    assert_eq!(count(&old, &own), 0, "a file of version 1 does not know");
}

#[test]
fn a_damaged_model_is_an_error() {
    let dir = folder();
    let path = dir.path().join("m.safetensors");
    model().0.save(&path).unwrap();
    let bytes = fs::read(&path).unwrap();
    for cut in (0..bytes.len()).step_by(64) {
        fs::write(&path, &bytes[..cut]).unwrap();
        assert!(ModelFile::load(&path).is_err(), "cut at {cut} of {}", bytes.len());
    }
    let replace = |from: &str, to: &str| {
        assert_eq!(from.len(), to.len());
        let text: Vec<u8> = bytes.clone();
        let at = text.windows(from.len()).position(|w| w == from.as_bytes()).unwrap();
        [&text[..at], to.as_bytes(), &text[at + to.len()..]].concat()
    };
    fs::write(&path, replace("\\\"format\\\":2", "\\\"format\\\":7")).unwrap();
    let message = ModelFile::load(&path).unwrap_err().to_string();
    assert!(message.contains("version 7") && message.contains("versions 1 to 2"), "{message}");
    // Neither another version nor a lost checksum gets past it.
    fs::write(&path, replace("\\\"format\\\":2", "\\\"format\\\":1")).unwrap();
    assert!(ModelFile::load(&path).unwrap_err().to_string().contains("checksum"));
    fs::write(&path, replace("\\\"checksum\\\"", "\\\"checkmum\\\"")).unwrap();
    assert!(ModelFile::load(&path).unwrap_err().to_string().contains("checksum is missing"));
    // A header that claims absurd sizes.
    let header =
        br#"{"mean":{"dtype":"F64","shape":[1152921504606846976],"data_offsets":[0,9223372036854775807]}}"#;
    fs::write(&path, [&(header.len() as u64).to_le_bytes()[..], header].concat()).unwrap();
    assert!(ModelFile::load(&path).is_err());
    fs::write(&path, u64::MAX.to_le_bytes()).unwrap();
    assert!(ModelFile::load(&path).is_err());
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
        ("absurd.svm", b"1 18446744073709551615:2\n", "too many"),
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
    let filled = load(&path, &ReadOptions { impute_mean: true, ..ReadOptions::default() }).unwrap();
    assert_eq!(filled.values, vec![1.0, 2.0, 2.0, 4.0, 3.0, 3.0].into());
    let empty = write(&dir, "e.csv", "a,b\nNA,1\n,2\n");
    let impute = ReadOptions { impute_mean: true, ..ReadOptions::default() };
    assert!(load(&empty, &impute).unwrap_err().to_string().contains("every value"));
}

#[test]
fn sparse_files_stay_sparse_where_dense_would_be_large() {
    let dir = folder();
    let line = |i: usize| format!("{} {}:2 {}:1.5\n", i % 2, 1 + i % 3 * 7, 99_000 + i % 5);
    let text = |rows: usize| (0..rows).map(line).collect::<String>();
    let small = load(&write(&dir, "small.svm", text(4)), &ReadOptions::default()).unwrap();
    assert!(matches!(small.values, Values::Dense(_)));
    let table = load(&write(&dir, "large.svm", text(400)), &ReadOptions::default()).unwrap();
    let Values::Sparse(x) = &table.values else { panic!("400 x 99,004 dense") };
    assert_eq!((x.rows(), x.columns(), x.nonzeros()), (400, 99_004, 800));
    assert_eq!(x.select(&[0, 1, 2, 3]).to_dense().subcols(0, small.columns), small.matrix().unwrap());
    assert!(table.matrix().unwrap_err().to_string().contains("400 x 99004"));
    let data = table.dataset().unwrap();
    assert_eq!(data.sparse(), Some(x));
    let men = fit(&data, &MenParams { nonzeros: Some(3), ..MenParams::paper() }, &()).unwrap();
    let z = table.project(men.projection()).unwrap();
    assert_eq!(nearest(&ModelFile::new(men, &data, "large").unwrap()).gallery, z);
    // Nothing is missing of them.
    let mut filled = table.clone();
    filled.impute_mean().unwrap();
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

#[test]
fn strings_as_labels_reach_the_model() {
    let (model, table) = model();
    let data: Dataset<'_> = table.dataset().unwrap();
    assert_eq!(model.men.classes(), data.classes());
    assert!(model.men.classes()[0].contains('"'));
}
