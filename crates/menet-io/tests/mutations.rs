//! Damaged files: bits flipped, bytes replaced, cut short, spliced. No reader panics, and formats with a checksum never
//! return wrong data silently.
//!
//! `MENET_SOAK=100` tries a hundred times as many (`make soak`).

use std::fs;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Once;

use menet::refit::Refit;
use menet::rules::RuleKind;
use menet::{MenParams, Named, fit};
use menet_io::{ModelFile, ReadOptions, Table, read};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// The number of damaged copies per file; a soak multiplies it.
const ROUNDS: usize = 400;

fn rounds() -> usize {
    let soak = std::env::var("MENET_SOAK").ok().and_then(|times| times.parse().ok());
    ROUNDS * soak.unwrap_or(1)
}

fn fixture(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)).unwrap()
}

/// A copy that is, in turn, changed in one bit or in some bytes, cut short, or spliced with a piece of itself.
fn damaged(bytes: &[u8], round: usize, rng: &mut Pcg64Mcg) -> Vec<u8> {
    let mut copy = bytes.to_vec();
    let place = |rng: &mut Pcg64Mcg| rng.random_range(0..bytes.len());
    match round % 4 {
        0 | 1 => copy[place(rng)] ^= 1 << rng.random_range(0..8),
        2 if round % 8 == 2 => copy.truncate(place(rng)),
        2 => {
            for _ in 0..rng.random_range(1..8) {
                copy[place(rng)] = rng.random();
            }
        }
        _ => {
            let (from, to) = (place(rng), place(rng));
            let length = rng.random_range(1..64).min(bytes.len() - from).min(bytes.len() - to);
            copy[to..to + length].copy_from_slice(&bytes[from..from + length]);
        }
    }
    copy
}

/// The contents of a file, without notices.
type FileContents = (menet_io::TableValues, Option<Vec<String>>, Option<Vec<String>>, Option<(usize, usize)>);

fn said(table: Table) -> FileContents {
    (table.values, table.labels, table.feature_names, table.image_shape)
}

/// Damages a file many times, and returns how many copies were read without an error but with other contents.
fn silent(name: &str, bytes: &[u8], seed: u64, read: &dyn Fn(&Path) -> Option<FileContents>) -> usize {
    // A decoder's panic becomes an error, so the thousands of panic messages are hidden.
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let previous_hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !menet_io::guard::expected() {
                previous_hook(panic);
            }
        }));
    });
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    let sound = read(&path).unwrap_or_else(|| panic!("{name} is sound"));
    // A MATLAB file that is cut off between two variables is a valid file. Commands that need the labels then report that
    // there are none.
    let without_labels = format!("{:?}", (&sound.0, None::<Vec<String>>, &sound.2, &sound.3));
    let sound = format!("{sound:?}");
    let rng = &mut Pcg64Mcg::seed_from_u64(seed);
    let mut silent = 0;
    for round in 0..rounds() {
        let copy = damaged(bytes, round, rng);
        fs::write(&path, &copy).unwrap();
        match catch_unwind(AssertUnwindSafe(|| read(&path))) {
            Err(_) => panic!("{name}, round {round}: the reader panicked"),
            // NaN does not equal itself, but its text does.
            Ok(Some(other)) if copy != bytes => {
                let other = format!("{other:?}");
                silent += usize::from(other != sound && other != without_labels);
            }
            Ok(_) => {}
        }
    }
    println!("{name}: {silent} of {} damaged copies were silently read as something else", rounds());
    silent
}

fn table(path: &Path) -> Option<FileContents> {
    let table = read(path.to_str().unwrap(), &ReadOptions::default()).ok()?;
    let _ = table.dataset();
    Some(said(table))
}

const CSV: &[u8] = b"label,a,b\nx,1.25,2\ny,3,4.5\nz,5,6e3\nx,7,8\ny,9,10\nz,11,12\n";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut out = zstd::Encoder::new(Vec::new(), 3).unwrap();
    out.include_checksum(true).unwrap();
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

#[test]
fn formats_with_a_checksum_are_never_wrong_in_silence() {
    let digits = include_bytes!("../data/digits.npz");
    for (seed, (name, bytes)) in [
        ("packed.npz", fixture("sample.npz")),
        ("stored.npz", fixture("sample-fortran.npz")),
        ("image.npz", digits.to_vec()),
        ("packed.mat", fixture("sample.mat")),
        ("sparse.mat", fixture("sparse.mat")),
        ("d.csv.gz", gzip(CSV)),
        ("d.csv.zst", zstd(CSV)),
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(silent(name, &bytes, seed as u64, &table), 0, "{name}");
    }
}

/// The pages of a Parquet file may have checksums; its footer, which names and types the columns, has none.
#[test]
fn pages_of_parquet_are_never_wrong_in_silence() {
    let bytes = fixture("sample-checksum.parquet");
    let length = u32::from_le_bytes(bytes[bytes.len() - 8..bytes.len() - 4].try_into().unwrap()) as usize;
    let footer = bytes.split_at(bytes.len() - 8 - length).1.to_vec();
    let pages = &bytes[..bytes.len() - footer.len()];
    let whole = |path: &Path| {
        let damaged = fs::read(path).unwrap();
        // The original footer, with damaged pages.
        fs::write(path, [&damaged[..], &footer].concat()).unwrap();
        table(path)
    };
    assert_eq!(silent("pages.parquet", pages, 9, &whole), 0);
}

#[test]
fn models_are_never_wrong_in_silence() {
    let rows: Vec<f64> = (0..60).map(|i| f64::from(i * 7 % 23) + f64::from(i % 3)).collect();
    let mut data = Table::new(Path::new("test"), rows, 12, 5);
    data.labels = Some((0..12).map(|i| ["a", "b", "c"][i % 3].to_owned()).collect());
    let data = data.dataset().unwrap();
    for (seed, &rule) in RuleKind::ALL.iter().enumerate() {
        // With the refit panel, the complete bytes have every tensor.
        let params = MenParams::default().with(|it| {
            it.nonzeros = Some(3);
            it.refit.kind = Some(Refit::Panel);
            it.rule.kind = Some(rule);
        });
        let model = ModelFile::new(fit(&data, &params, &()).unwrap(), &data, "test").unwrap();
        let load = |path: &Path| {
            let found = ModelFile::load(path).ok()?;
            assert_eq!(found, model, "a damaged model was read as another");
            Some(said(Table::new(Path::new("model"), Vec::new(), 0, 0)))
        };
        let bytes = model.to_bytes_complete().unwrap();
        assert_eq!(silent("m.safetensors", &bytes, 10 + seed as u64, &load), 0, "{}", rule.name());
    }
}

/// Without a checksum, readers only guarantee to return a table or an error.
#[test]
fn formats_without_a_checksum_do_not_panic() {
    let svm = b"1 1:2 5:3\n2 2:1 3:4.5\n1 1:3 4:1\n2 5:1\n";
    let mut idx = vec![0, 0, 8, 3, 0, 0, 0, 4, 0, 0, 0, 2, 0, 0, 0, 3];
    idx.extend(0..24);
    for (seed, (name, bytes)) in [
        ("d.csv", CSV.to_vec()),
        ("d.txt", b"label a  b\nx 1 2\ny 3 4\n".to_vec()),
        ("d.svm", svm.to_vec()),
        ("d.npy", fixture("sample.npy")),
        ("d.mat", fixture("sample-plain.mat")),
        ("cells.mat", fixture("cells.mat")),
        ("snappy.parquet", fixture("sample-snappy.parquet")),
        ("zstd.parquet", fixture("sample-zstd.parquet")),
        ("plain.feather", fixture("sample-uncompressed.feather")),
        // No compressed files: Arrow's reader allocates whatever a damaged file claims, and the process runs out of memory.
        // The command reports the claimed size (crates/menet-cli/tests/files.rs).
        ("stream.arrows", fixture("sample.arrows")),
    ]
    .into_iter()
    .enumerate()
    {
        silent(name, &bytes, 20 + seed as u64, &table);
    }
    let labels = [0, 0, 8, 1, 0, 0, 0, 4, 1, 2, 1, 2];
    let beside = |path: &Path| {
        fs::write(path.with_file_name("t-labels-idx1-ubyte"), labels).unwrap();
        table(path)
    };
    silent("t-images-idx3-ubyte", &idx, 40, &beside);
}
