//! Projection in blocks: the same result for every format and block size, and no file after a failure.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use faer::{Mat, MatRef};
use menet::{Men, MenParams, Monitor, Stage, fit};
use menet_io::blocks::{BLOCK, BlockReader};
use menet_io::write::{self, BlockWriter};
use menet_io::{ReadOptions, Table, TableModel, TableValues, read, transform};
use parquet::basic::{Repetition, Type as PhysicalType};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, FloatType, Int64Type};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

const NAMES: [&str; 5] = ["a", "b, \"c\"", "größe", "d", "e"];
const ROWS: usize = 37;

/// Whole numbers, which every type can hold, and a model that was learned from them.
fn model() -> (Men, Mat<f64>) {
    let x = Mat::from_fn(ROWS, 5, |i, j| ((i * 7 + j * j * 3 + (i % 4) * (j + 1)) % 23) as f64);
    let names = NAMES.map(str::to_owned).to_vec();
    let labels: Vec<usize> = (0..ROWS).map(|i| i % 4).collect();
    let data = menet::Dataset::new(x.as_ref(), &labels).unwrap().with_feature_names(names).unwrap();
    let men = fit(&data, &MenParams::default().with(|it| it.nonzeros = Some(3)), &()).unwrap();
    (men, x)
}

fn text(x: MatRef<'_, f64>, separator: char) -> String {
    // The columns in another order, with an extra column and a label.
    let mut text = ["e", "\"b, \"\"c\"\"\"", "label", "a", "more", "größe", "d"].join(&separator.to_string());
    for row in x.row_iter() {
        let fields = [row[4], row[1], f64::NAN, row[0], 99.0, row[2], row[3]].map(|x| x.to_string());
        text += &format!("\n{}", fields.join(&separator.to_string()).replacen("NaN", "klasse", 1));
    }
    text + "\n"
}

fn packed(text: &str) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut out, text.as_bytes()).unwrap();
    out.finish().unwrap()
}

/// An array as NumPy writes it: `descr` is the type, and `bytes` gives the bytes of every value.
fn npy<T, const N: usize>(
    values: impl Iterator<Item = T>,
    shape: &[usize],
    (descr, fortran): (&str, bool),
    bytes: impl Fn(T) -> [u8; N],
) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let shape: String = shape.iter().map(|size| format!("{size}, ")).collect();
    let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({shape}), }}");
    let header = header.replace(", )", ")");
    // The numbers begin at a multiple of 64 bytes.
    let header = format!("{header:<width$}\n", width = (header.len() + 11).next_multiple_of(64) - 11);
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend((header.len() as u16).to_le_bytes());
    out.extend(header.bytes());
    out.extend(values.flat_map(bytes));
    out
}

/// Doubles in C order.
fn doubles(values: impl Iterator<Item = f64>, shape: &[usize]) -> Vec<u8> {
    npy(values, shape, ("<f8", false), f64::to_le_bytes)
}

/// Row groups of several lengths, one of them empty, and columns of several types.
fn parquet(x: MatRef<'_, f64>, groups: &[usize]) -> Vec<u8> {
    let column = |name: &str, kind, how| {
        Arc::new(Type::primitive_type_builder(name, kind).with_repetition(how).build().unwrap())
    };
    let fields = vec![
        column("label", PhysicalType::BYTE_ARRAY, Repetition::REQUIRED),
        column("e", PhysicalType::DOUBLE, Repetition::OPTIONAL),
        column(NAMES[1], PhysicalType::INT64, Repetition::REQUIRED),
        column("a", PhysicalType::DOUBLE, Repetition::REQUIRED),
        column("größe", PhysicalType::FLOAT, Repetition::REQUIRED),
        column("d", PhysicalType::DOUBLE, Repetition::REQUIRED),
    ];
    let schema = Type::group_type_builder("schema").with_fields(fields).build().unwrap();
    let mut writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::default()).unwrap();
    let mut start = 0;
    for &rows in groups {
        let mut group = writer.next_row_group().unwrap();
        let values = |j: usize| (start..start + rows).map(move |i| x[(i, j)]);
        let mut next = |k: usize| {
            let mut column = group.next_column().unwrap().unwrap();
            let double: Vec<f64> = values([0, 4, 1, 0, 2, 3][k]).filter(|x| !x.is_nan()).collect();
            let present: Vec<i16> = values(4).map(|x| i16::from(!x.is_nan())).collect();
            match k {
                0 => {
                    let labels = vec![ByteArray::from("klasse"); rows];
                    column.typed::<ByteArrayType>().write_batch(&labels, None, None)
                }
                1 => column.typed::<DoubleType>().write_batch(&double, Some(&present), None),
                2 => {
                    let whole: Vec<i64> = double.iter().map(|&x| x as i64).collect();
                    column.typed::<Int64Type>().write_batch(&whole, None, None)
                }
                4 => {
                    let single: Vec<f32> = double.iter().map(|&x| x as f32).collect();
                    column.typed::<FloatType>().write_batch(&single, None, None)
                }
                _ => column.typed::<DoubleType>().write_batch(&double, None, None),
            }
            .unwrap();
            column.close().unwrap();
        };
        (0..6).for_each(&mut next);
        group.close().unwrap();
        start += rows;
    }
    writer.into_inner().unwrap()
}

/// The same samples in every format.
fn inputs(folder: &Path, x: MatRef<'_, f64>) -> Vec<PathBuf> {
    let (n, p) = x.shape();
    let by_rows = || x.row_iter().flat_map(|row| row.iter().copied().collect::<Vec<f64>>());
    let by_columns = || x.col_iter().flat_map(|column| column.iter().copied().collect::<Vec<f64>>());
    let half = x.nrows() / 2;
    let svm: String = x
        .row_iter()
        .map(|row| format!("1 1:{} 2:{} 3:{} 4:{} 5:{}\n", row[0], row[1], row[2], row[3], row[4]))
        .collect();
    let samples: [(&str, Vec<u8>); 13] = [
        ("x.csv", text(x, ',').into_bytes()),
        ("x.tsv", text(x, '\t').into_bytes()),
        ("x.csv.gz", packed(&text(x, ','))),
        ("x.parquet", parquet(x, &[half, 0, 1, x.nrows() - half - 1])),
        ("x.svm", svm.into_bytes()),
        ("double.npy", doubles(by_rows(), &[n, p])),
        ("single.npy", npy(by_rows().map(|x| x as f32), &[n, p], ("<f4", false), f32::to_le_bytes)),
        ("byte.npy", npy(by_rows().map(|x| x as u8), &[n, p], ("|u1", false), u8::to_le_bytes)),
        ("whole.npy", npy(by_rows().map(|x| x as i64), &[n, p], ("<i8", false), i64::to_le_bytes)),
        ("images.npy", doubles(by_rows(), &[n, 1, p])),
        ("swapped.npy", npy(by_rows(), &[n, p], (">f8", false), f64::to_be_bytes)),
        ("fortran.npy", npy(by_columns(), &[n, p], ("<f8", true), f64::to_le_bytes)),
        ("fortran-short.npy", npy(by_columns().map(|x| x as i16), &[n, p], ("<i2", true), i16::to_le_bytes)),
    ];
    samples
        .into_iter()
        .map(|(name, bytes)| {
            fs::write(folder.join(name), bytes).unwrap();
            folder.join(name)
        })
        .collect()
}

fn project(men: &Men, source: &Path, out: &Path, bytes: usize) -> menet_io::Result<usize> {
    let done = transform(men, source.to_str().unwrap(), &ReadOptions::default(), false, out, bytes, &())?;
    Ok(done.samples)
}

fn load(path: &Path, options: &ReadOptions) -> menet_io::Result<Table> {
    read(path.to_str().unwrap(), options)
}

#[test]
fn every_pair_of_formats_gives_the_whole_answer_whatever_the_blocks() {
    let dir = tempfile::tempdir().unwrap();
    let (men, x) = model();
    for rows in [ROWS, 1] {
        let expected = men.transform(x.subrows(0, rows)).unwrap();
        for input in inputs(dir.path(), x.subrows(0, rows)) {
            for ending in ["csv", "npy", "parquet"] {
                let out = dir.path().join(format!("z.{ending}"));
                let mut files = Vec::new();
                // Blocks of one row, of three, of 16, and one of all.
                for bytes in [1, 3 * 5 * 8, 16 * 5 * 8, BLOCK] {
                    let what = format!("{} to {ending} by {bytes}", input.display());
                    assert_eq!(project(&men, &input, &out, bytes).unwrap(), rows, "{what}");
                    assert_eq!(
                        load(&out, &ReadOptions::default()).unwrap().matrix().unwrap(),
                        expected,
                        "{what}"
                    );
                    files.push(fs::read(&out).unwrap());
                }
                assert!(
                    files.windows(2).all(|pair| pair[0] == pair[1]),
                    "{}: the file itself",
                    input.display()
                );
            }
        }
    }
}

#[test]
fn a_matrix_is_written_as_its_blocks_are() {
    let dir = tempfile::tempdir().unwrap();
    let (_, x) = model();
    let header = NAMES.map(str::to_owned);
    for ending in ["csv", "npy", "parquet"] {
        let (one, two) = (dir.path().join(format!("1.{ending}")), dir.path().join(format!("2.{ending}")));
        write::matrix(&one, &header, x.as_ref()).unwrap();
        let mut writer = BlockWriter::create(&two, &header, None).unwrap();
        for start in (0..ROWS).step_by(5) {
            writer.write(x.subrows(start, 5.min(ROWS - start)), None).unwrap();
        }
        assert!(writer.write(x.subcols(0, 3), None).is_err(), "three columns under five names");
        assert!(!two.exists(), "not before it is finished");
        writer.finish().unwrap();
        assert_eq!(fs::read(&one).unwrap(), fs::read(&two).unwrap(), "{ending}");
        assert_eq!(load(&one, &ReadOptions::default()).unwrap().matrix().unwrap(), x, "{ending}");
    }
}

#[test]
fn blocks_together_are_the_table() {
    let dir = tempfile::tempdir().unwrap();
    let (_, x) = model();
    let labels = dir.path().join("labels.txt");
    fs::write(&labels, (0..ROWS).map(|i| format!("{}\r\n", i % 3)).collect::<String>()).unwrap();
    let options = ReadOptions { labels: Some(labels.clone()), shape: Some((5, 1)), ..ReadOptions::default() };
    for input in inputs(dir.path(), x.as_ref()) {
        let named = input.extension().unwrap() != "npy" && input.extension().unwrap() != "svm";
        let drop = if named && !input.ends_with("x.parquet") { vec!["more".to_owned()] } else { Vec::new() };
        let options = ReadOptions { drop, ..options.clone() };
        let whole = load(&input, &options).unwrap();
        let blocks: Vec<Table> = BlockReader::open(input.to_str().unwrap(), &options, 4 * 5 * 8)
            .unwrap()
            .collect::<menet_io::Result<_>>()
            .unwrap();
        let values: Vec<f64> = blocks
            .iter()
            .flat_map(|block| match &block.values {
                TableValues::Dense(values) => values.clone(),
                TableValues::Sparse(_) => panic!("dense values"),
            })
            .collect();
        let labels: Vec<String> = blocks.iter().flat_map(|block| block.labels.clone().unwrap()).collect();
        assert_eq!(
            (TableValues::Dense(values), Some(labels)),
            (whole.values, whole.labels),
            "{}",
            input.display()
        );
        assert!(blocks.iter().all(|block| block.feature_names == whole.feature_names));
        assert!(blocks.iter().all(|block| block.image_shape == Some((5, 1))));
        let most = blocks.iter().map(|block| block.rows).max().unwrap();
        assert_eq!(most, if input.ends_with("x.svm") { ROWS } else { 4 }, "{}", input.display());
    }
    fs::write(&labels, "1\n2\n").unwrap();
    let input = dir.path().join("double.npy");
    let message = load(&input, &options).unwrap_err().to_string();
    assert!(message.contains("2 labels for 37 samples"), "{message}");
    let blocks = BlockReader::open(input.to_str().unwrap(), &options, 1).unwrap();
    assert_eq!(blocks.collect::<menet_io::Result<Vec<_>>>().unwrap_err().to_string(), message);
}

/// The error for the whole table.
fn whole_message(men: &Men, source: &Path) -> String {
    let fitted = TableModel::new(men).unwrap();
    let project = |table: Table| {
        let (table, men) = fitted.arrange(table)?;
        table.check_missing_for(men)?;
        men.transform(table.matrix()?)?;
        Ok(())
    };
    let options = ReadOptions { needs: fitted.needs(), ..ReadOptions::default() };
    load(source, &options).and_then(project).unwrap_err().to_string()
}

#[test]
fn what_is_wrong_is_told_as_of_the_whole_and_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (men, x) = model();
    let good = text(x.as_ref(), ',');
    let with = |row: usize, column: usize, value: f64| {
        let mut x = x.clone();
        x[(row, column)] = value;
        x
    };
    let by_rows = |x: &Mat<f64>| {
        doubles(x.transpose().col_iter().flat_map(|r| r.iter().copied().collect::<Vec<_>>()), &[ROWS, 5])
    };
    let nameless = doubles(x.col_iter().flat_map(|c| c.iter().copied().collect::<Vec<_>>()), &[5, ROWS]);
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("text.csv", format!("{good}1,2,x,four,4,5,6\n").into_bytes(), "line 39, column \"a\": \"four\""),
        ("ragged.csv", format!("{good}1,2\n").into_bytes(), "line 39 has 2 fields"),
        (
            "gap.csv",
            text(with(30, 2, f64::NAN).as_ref(), ',').into_bytes(),
            "sample 31 of 37, variable \"größe\" (1 missing",
        ),
        (
            "gap.parquet",
            parquet(with(30, 4, f64::NAN).as_ref(), &[20, 17]),
            "sample 31 of 37, variable \"e\" (1 missing",
        ),
        (
            "far.parquet",
            parquet(with(30, 0, f64::INFINITY).as_ref(), &[20, 17]),
            "row 31, column \"a\": \"inf\"",
        ),
        ("gap.npy", by_rows(&with(33, 1, f64::NAN)), "sample 34 of 37, variable 2 (1 missing"),
        ("far.npy", by_rows(&with(33, 1, f64::INFINITY)), "row 33, column 1 (counted from 0)"),
        ("wide.npy", nameless, "37"),
        ("cut.npy", by_rows(&x)[..900].to_vec(), "cut short"),
        ("empty.csv", Vec::new(), "empty"),
        ("header.csv", format!("{}\n", good.lines().next().unwrap()).into_bytes(), "no data"),
        ("none.parquet", parquet(x.as_ref(), &[]), "no data"),
        ("none.npy", doubles(std::iter::empty(), &[0, 5]), "empty"),
        ("other.csv", b"a,b\n1,2\n".to_vec(), "no column"),
    ];
    for (name, bytes, expected) in cases {
        let input = dir.path().join(name);
        fs::write(&input, bytes).unwrap();
        let before = fs::read_dir(dir.path()).unwrap().count();
        for ending in ["csv", "npy", "parquet"] {
            let error = project(&men, &input, &dir.path().join(format!("z.{ending}")), 100).unwrap_err();
            let message = error.to_string();
            assert!(message.contains(expected), "{name}: {message}");
            assert_eq!(message, whole_message(&men, &input), "{name}");
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), before, "{name}: nothing is left");
        }
    }
    // Missing values can be filled with the mean of the training data.
    let out = dir.path().join("z.npy");
    let gap = dir.path().join("gap.npy");
    transform(&men, gap.to_str().unwrap(), &ReadOptions::default(), true, &out, 100, &()).unwrap();
    let filled = with(33, 1, men.projection().mean()[1]);
    let z = load(&out, &ReadOptions::default()).unwrap();
    assert_eq!(z.matrix().unwrap(), men.transform(filled.as_ref()).unwrap());
}

#[test]
fn a_stop_leaves_nothing() {
    struct StopAfter(std::sync::atomic::AtomicUsize);
    impl Monitor for StopAfter {
        fn progress(&self, stage: Stage, done: usize, total: usize) {
            assert!(stage == Stage::Transform && done <= total);
            self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
        fn stop(&self) -> bool {
            self.0.load(std::sync::atomic::Ordering::Relaxed) >= 3
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let (men, x) = model();
    for input in inputs(dir.path(), x.as_ref()).iter().filter(|path| !path.ends_with("x.svm")) {
        let out = dir.path().join("z.csv");
        fs::write(&out, "before").unwrap();
        let before = fs::read_dir(dir.path()).unwrap().count();
        let source = input.to_str().unwrap();
        let stopped = transform(&men, source, &ReadOptions::default(), false, &out, 1, &StopAfter(0.into()))
            .unwrap_err();
        assert!(matches!(stopped, menet_io::Error::Core(menet::Error::Stopped { stage: Stage::Transform })));
        assert_eq!(fs::read_to_string(&out).unwrap(), "before");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), before);
    }
}
