//! Files that look right but are easily misread: types, labels, encodings, indices, headers, and transposed tables.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use menet_io::{Delimiter, ReadOptions, Table, TableValues, read};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// Reads bytes as a file with this name.
fn from_bytes(name: &str, bytes: impl AsRef<[u8]>, options: &ReadOptions) -> menet_io::Result<Table> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    read(path.to_str().unwrap(), options)
}

fn csv(text: impl AsRef<[u8]>, options: &ReadOptions) -> menet_io::Result<Table> {
    from_bytes("t.csv", text, options)
}

fn plain() -> ReadOptions {
    ReadOptions::default()
}

fn error(outcome: menet_io::Result<Table>) -> String {
    outcome.map(|table| (table.rows, table.columns)).unwrap_err().to_string()
}

/// The column of a table that has only one, and its labels.
fn column(table: &Table) -> Vec<f64> {
    table.matrix().unwrap().col(0).iter().copied().collect()
}

/// Reads one column of a file with many.
fn one_of(file: &str, column: &str, label: Option<&str>) -> menet_io::Result<Table> {
    const ALL: [&str; 24] = [
        "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "f32", "f64", "decimal", "bool",
        "category", "text", "truth", "large", "float", "classes", "date", "time", "list", "beyond",
        "infinite",
    ];
    let keep = |name: &&str| {
        *name != column && Some(*name) != label && !(file.ends_with("feather") && *name == "f16")
    };
    let drop = ALL.into_iter().filter(keep).map(str::to_owned).collect();
    let options = ReadOptions { drop, label: label.unwrap_or("label").to_owned(), ..plain() };
    read(fixture(file).to_str().unwrap(), &options)
}

#[test]
fn every_type_of_column_is_read_right_or_refused() {
    let nan = f64::NAN;
    let expected: [(&str, [f64; 3]); 14] = [
        ("i8", [-128.0, 0.0, 127.0]),
        ("i16", [-32768.0, 0.0, 32767.0]),
        ("i32", [-2147483648.0, 0.0, 2147483647.0]),
        ("i64", [-9007199254740992.0, 0.0, 9007199254740992.0]),
        ("u8", [0.0, 1.0, 255.0]),
        ("u16", [0.0, 1.0, 65535.0]),
        ("u32", [0.0, 1.0, 4294967295.0]),
        ("u64", [0.0, 1.0, 9007199254740992.0]),
        ("f16", [0.5, -1.0, 65504.0]),
        ("f32", [0.5, nan, -1.0]),
        ("f64", [0.1, -1e300, nan]),
        ("decimal", [0.1, -12345678901.25, nan]),
        ("bool", [1.0, 0.0, nan]),
        ("category", [7.0, 8.0, 7.0]),
    ];
    for file in ["types.parquet", "types.feather"] {
        for (name, values) in expected.iter().filter(|(name, _)| file == "types.parquet" || *name != "f16") {
            let found = column(&one_of(file, name, None).unwrap());
            let same = found.iter().zip(values).all(|(a, b)| a == b || a.is_nan() && b.is_nan());
            assert!(same && found.len() == 3, "{file} {name}: {found:?}");
        }
        for (label, expected) in [
            ("text", ["a", "", "b"]),
            ("truth", ["true", "false", ""]),
            ("large", ["9223372036854775808", "9223372036854775809", "9223372036854775809"]),
            ("float", ["1", "1.5", ""]),
            ("classes", ["x", "y", "x"]),
            ("category", ["7", "8", "7"]),
        ] {
            let table = one_of(file, "u8", Some(label)).unwrap();
            assert_eq!(table.labels.unwrap(), expected, "{file} {label}");
        }
        for (name, why) in [
            ("date", "dates or times"),
            ("time", "dates or times"),
            ("list", "lists"),
            ("beyond", "9007199254740993"),
            ("infinite", "inf"),
            ("text", "\"a\" is not a finite number"),
        ] {
            let message = error(one_of(file, name, None));
            assert!(
                message.contains(why) && message.contains(&format!("{name:?}")),
                "{file} {name}: {message}"
            );
        }
        let message = error(one_of(file, "u8", Some("date")));
        assert!(message.contains("dates or times"), "{message}");
    }
}

#[test]
fn arrow_files_and_streams_are_read_like_csv() {
    let expected = read(fixture("sample-zstd.parquet").to_str().unwrap(), &plain()).unwrap();
    for name in [
        "sample-uncompressed.feather",
        "sample-lz4.feather",
        "sample-zstd.feather",
        "sample.arrows",
        "sample-checksum.parquet",
    ] {
        let table = read(fixture(name).to_str().unwrap(), &plain()).unwrap();
        assert_eq!(table, Table { source: table.source.clone(), ..expected.clone() }, "{name}");
    }
    assert!(error(from_bytes("old.feather", b"FEA1 and more", &plain())).contains("version 1"));
}

#[test]
fn sparse_matrices_and_text_labels_of_matlab() {
    let expected = read(fixture("sample.mat").to_str().unwrap(), &plain()).unwrap();
    let names: Vec<String> = expected.labels.iter().flatten().map(|label| format!("class {label}")).collect();
    for name in ["sparse.mat", "cells.mat"] {
        let table = read(fixture(name).to_str().unwrap(), &plain()).unwrap();
        assert_eq!(table.values, expected.values, "{name}");
        assert_eq!(table.labels.as_ref(), Some(&names), "{name}");
    }
    let large = read(fixture("integers.mat").to_str().unwrap(), &plain()).unwrap().labels.unwrap();
    assert_eq!(large[..2], ["9007199254740993", "9007199254740994"]);
    let text = ReadOptions { x_key: Some("y".into()), ..plain() };
    assert!(error(read(fixture("cells.mat").to_str().unwrap(), &text)).contains("holds text"));
    assert!(error(read(fixture("integers.mat").to_str().unwrap(), &text)).contains("2^53"));
}

#[test]
fn missing_labels_are_no_class_in_any_format() {
    let fit = |table: Table| table.dataset().unwrap_err().to_string();
    for missing in ["", "NA", "nan", "NaN", "null", "?", "  "] {
        let message = fit(csv(format!("a,label\n1,x\n2,{missing}\n3,{missing}\n"), &plain()).unwrap());
        assert!(message.contains("sample 2 of 3 has no label (2 without"), "{missing:?}: {message}");
        if !missing.trim().is_empty() {
            let message = fit(from_bytes("t.svm", format!("1 1:2\n{missing} 1:3\n"), &plain()).unwrap());
            assert!(message.contains("sample 2 of 2"), "{missing:?}: {message}");
        }
        let folder = tempfile::tempdir().unwrap();
        let (x, y) = (folder.path().join("t.csv"), folder.path().join("y.txt"));
        fs::write(&x, "a\n1\n2\n").unwrap();
        fs::write(&y, format!("u\n{missing}\n")).unwrap();
        let message = fit(read(x.to_str().unwrap(), &ReadOptions { labels: Some(y), ..plain() }).unwrap());
        assert!(message.contains("sample 2 of 2"), "{missing:?}: {message}");
    }
    assert!(fit(one_of("types.parquet", "u8", Some("text")).unwrap()).contains("sample 2 of 3"));
    assert!(fit(one_of("types.feather", "u8", Some("float")).unwrap()).contains("sample 3 of 3"));
    // Messages use the name of a sample, if it has one.
    let named = ReadOptions { id: Some("id".into()), ..plain() };
    assert!(fit(csv("id,a,label\np1,1,x\np2,2,\n", &named).unwrap()).contains("sample 2 (p2) of 2"));
    assert!(fit(csv("id,a,label\np1,1,x\np2,,x\n", &named).unwrap()).contains("sample 2 (p2) of 2"));
}

#[test]
fn one_class_is_one_class_whatever_the_format_writes() {
    let labels = |table: Table| table.labels.unwrap();
    assert_eq!(labels(csv("a,label\n1, x\n2,x \n", &plain()).unwrap()), ["x", "x"]);
    assert_eq!(labels(csv("a,label\n1,1\n2,1.0\n3,+1\n4,01\n", &plain()).unwrap()), ["1", "1", "1", "01"]);
    assert_eq!(labels(csv("a,label\n1,true\n2,1\n3,TRUE\n", &plain()).unwrap()), ["true", "1", "true"]);
    assert_eq!(labels(from_bytes("t.svm", "+1 1:2\n1.0 1:3\n-1 1:4\n", &plain()).unwrap()), ["1", "1", "-1"]);
    let comma = ReadOptions { decimal_comma: true, ..plain() };
    assert_eq!(labels(csv("a;label\n1,5;2,50\n2;2,5\n", &comma).unwrap()), ["2.5", "2.5"]);
    let large = "a,label\n1,9007199254740992\n2,9007199254740993\n";
    assert_eq!(labels(csv(large, &plain()).unwrap()), ["9007199254740992", "9007199254740993"]);
}

#[test]
fn text_that_is_not_utf8_is_refused_or_decoded() {
    let latin = b"a,label\n1,M\xfcller\n2,M\xf6ller\n";
    let message = error(csv(latin, &plain()));
    assert!(message.contains("line 2, column \"label\": byte 2 of the field (0xFC)"), "{message}");
    assert!(message.contains("--encoding latin1"), "{message}");
    let decode = ReadOptions { encoding: Some("latin1".into()), ..plain() };
    assert_eq!(csv(latin, &decode).unwrap().labels.unwrap(), ["Müller", "Möller"]);
    assert!(error(csv(b"\xe4,label\n1,x\n", &plain())).contains("--encoding"), "names of columns too");
    let named = ReadOptions { id: Some("id".into()), ..plain() };
    assert!(error(csv(b"id,a\n\xe4,1\n", &named)).contains("--encoding"), "names of samples too");
    let utf16: Vec<u8> = "\u{feff}a,label\n1,ä\n2,ö\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let table = csv(&utf16, &plain()).unwrap();
    assert_eq!(table.labels.unwrap(), ["ä", "ö"]);
    assert!(table.notices[0].contains("UTF-16LE"), "{:?}", table.notices);
    assert!(error(csv(&utf16[2..], &plain())).contains("--encoding utf-16le"));
    let folder = tempfile::tempdir().unwrap();
    let (x, y) = (folder.path().join("t.csv"), folder.path().join("y.txt"));
    fs::write(&x, "a\n1\n").unwrap();
    fs::write(&y, b"\xe4\n").unwrap();
    let beside = ReadOptions { labels: Some(y), ..plain() };
    assert!(error(read(x.to_str().unwrap(), &beside)).contains("line 1"));
}

#[test]
fn an_index_is_no_variable() {
    let twice = csv(",Unnamed: 0,a,label\n0,0,5,x\n1,1,6,y\n", &plain()).unwrap();
    assert_eq!(twice.feature_names.as_deref().unwrap(), ["a"], "written, read and written again by pandas");
    let named = csv("ID,a,label\n7,5,x\n9,6,y\n", &plain()).unwrap();
    assert_eq!((named.columns, named.ids.unwrap().values), (1, vec!["7".to_owned(), "9".to_owned()]));
    for name in ["", "Unnamed: 0"] {
        let table = csv(format!("{name},a,label\n0,5,x\n1,6,y\n"), &plain()).unwrap();
        assert_eq!((table.columns, table.feature_names.as_deref().unwrap()), (1, &["a".to_owned()][..]));
        assert!(table.ids.is_none() && table.notices[0].contains("index"), "{:?}", table.notices);
        let table = csv(format!("{name},a,label\ns1,5,x\ns2,6,y\n"), &plain()).unwrap();
        assert_eq!(table.ids.unwrap().values, ["s1", "s2"]);
        assert!(table.notices[0].contains("names the samples"));
    }
    // R's row names.
    let table = csv("\"a\",\"label\"\n\"r1\",5,\"x\"\n\"r2\",6,\"y\"\n", &plain()).unwrap();
    assert_eq!((table.ids.unwrap().values, table.columns), (vec!["r1".to_owned(), "r2".to_owned()], 1));
    // Only the first column can be an index: a later column without a name stays a variable.
    assert_eq!(csv("a,,label\n1,2,x\n", &plain()).unwrap().columns, 2);
    let table = read(fixture("index.parquet").to_str().unwrap(), &plain()).unwrap();
    assert_eq!((table.columns, column(&table)), (1, vec![0.5, 1.5, 2.5]));
    assert!(table.notices[0].contains("__index_level_0__") && table.ids.is_none());
    let table = read(fixture("named-index.parquet").to_str().unwrap(), &plain()).unwrap();
    let ids = table.ids.unwrap();
    assert_eq!((ids.name.as_str(), ids.values), ("sample", ["s1", "s2", "s3"].map(str::to_owned).to_vec()));
}

#[test]
fn the_usual_column_of_labels_gives_way_to_an_option_that_names_it() {
    let text = "label,a,kind\np1,1,x\np2,2,y\n";
    let named = ReadOptions { id: Some("label".into()), label: "kind".into(), ..plain() };
    assert_eq!(csv(text, &named).unwrap().labels.unwrap(), ["x", "y"]);
    let usual = ReadOptions { id: Some("label".into()), drop: vec!["kind".into()], ..plain() };
    let table = csv(text, &usual).unwrap();
    assert_eq!((table.labels, table.ids.unwrap().values), (None, vec!["p1".to_owned(), "p2".to_owned()]));
    let turned = ReadOptions { transpose: true, id: Some("label".into()), ..plain() };
    let table = csv("g,s1,s2\nlabel,p1,p2\na,1,2\n", &turned).unwrap();
    assert_eq!((table.labels, table.ids.unwrap().values[1].as_str()), (None, "p2"));
    for transpose in [false, true] {
        let both = ReadOptions { id: Some("kind".into()), label: "kind".into(), transpose, ..plain() };
        let message = error(csv("kind,a\nkind,1\n", &both));
        assert!(message.contains("--id and --label both name"), "{message}");
    }
}

#[test]
fn a_column_can_name_the_samples() {
    let named = |name: &str| ReadOptions { id: Some(name.into()), ..plain() };
    let table = csv("a,patient,label\n1,007,x\n2,8,y\n", &named("patient")).unwrap();
    let ids = table.ids.unwrap();
    assert_eq!((ids.name.as_str(), ids.values), ("patient", vec!["007".to_owned(), "8".to_owned()]));
    assert_eq!(table.columns, 1);
    assert!(error(csv("a,label\n1,x\n", &named("q"))).contains("\"q\""));
    let table = one_of("types.parquet", "u8", None).unwrap();
    assert!(table.ids.is_none());
}

#[test]
fn a_file_without_a_header_loses_no_sample() {
    let iris = "5.1,3.5,setosa\n4.9,3.0,setosa\n6.3,3.3,virginica\n";
    let message = error(csv(iris, &ReadOptions { label: "setosa".into(), ..plain() }));
    assert!(message.contains("--no-header") && message.contains("--label 3"), "{message}");
    assert!(error(csv("1,1,2\n3,4,5\n", &plain())).contains("--no-header"), "a name that repeats");
    let table = csv(iris, &ReadOptions { no_header: true, label: "3".into(), ..plain() }).unwrap();
    assert_eq!((table.rows, table.columns, table.labels.unwrap()[0].as_str()), (3, 2, "setosa"));
    assert!(table.feature_names.is_none());
    assert!(
        error(csv(iris, &ReadOptions { no_header: true, label: "4".into(), ..plain() })).contains("\"4\"")
    );
    let waves = "label,400,402,404,406,408,410,412,414\nx,1,2,3,4,5,6,7,8\n";
    let table = csv(waves, &plain()).unwrap();
    assert_eq!((table.rows, table.columns), (1, 8));
    let numbered = csv("0,1,2\n5,6,7\n", &plain()).unwrap();
    assert!(numbered.rows == 1 && numbered.notices[0].contains("--no-header"));
}

#[test]
fn transposed_tables() {
    let genes = "gene,s1,s2,s3\nlabel,x,y,x\nTP53,1,2,3\nBRCA1,4,5,6\n";
    let turned = ReadOptions { transpose: true, ..plain() };
    let table = csv(genes, &turned).unwrap();
    assert_eq!((table.rows, table.columns), (3, 2));
    assert_eq!(table.values, vec![1.0, 4.0, 2.0, 5.0, 3.0, 6.0].into());
    assert_eq!(table.labels.unwrap(), ["x", "y", "x"]);
    assert_eq!(table.ids.unwrap().values, ["s1", "s2", "s3"]);
    assert_eq!(table.feature_names.unwrap(), ["TP53", "BRCA1"]);
    // A transposed table gets a hint.
    let message = error(csv("gene,s1,s2\nTP53,1,2\nBRCA1,4,5\n", &plain()));
    assert!(message.contains("transposed") && message.contains("--transpose"), "{message}");
    assert!(error(csv(",s1,s2\nTP53,1,2\ndiagnosis,x,y\n", &plain())).contains("--transpose"));
    let folder = tempfile::tempdir().unwrap();
    let (x, y) = (folder.path().join("t.csv"), folder.path().join("y.txt"));
    fs::write(&x, "s1,s2,s3\n1,2,3\n4,5,6\n").unwrap();
    fs::write(&y, "u\nv\nu\n").unwrap();
    let beside = ReadOptions { labels: Some(y), ..plain() };
    let message = error(read(x.to_str().unwrap(), &beside));
    assert!(message.contains("3 labels for 2 samples") && message.contains("--transpose"), "{message}");
    // Numbers alone.
    let bare = ReadOptions { no_header: true, ..turned.clone() };
    assert_eq!(csv("1,2,3\n4,5,6\n", &bare).unwrap().values, vec![1.0, 4.0, 2.0, 5.0, 3.0, 6.0].into());
    let npy = read(fixture("sample.npy").to_str().unwrap(), &turned).unwrap();
    assert_eq!((npy.rows, npy.columns), (5, 36));
    let wrong = error(csv("g,s1\na,x\n", &turned));
    assert!(wrong.contains("line 2, row \"a\": \"x\"") && !wrong.contains("column"), "{wrong}");
    assert!(error(csv("g,s1\na,1\na,2\n", &turned)).contains("more than once"));
    assert!(error(csv("g,s1\nlabel,x\n", &turned)).contains("no variables"));
    assert!(error(read(fixture("sample-zstd.parquet").to_str().unwrap(), &turned)).contains("--transpose"));
}

#[test]
fn text_in_every_dress() {
    let expected = vec![1.5, 2.0, -3.0, 4.25];
    let semicolons = ReadOptions { delimiter: Some(Delimiter::Byte(b';')), decimal_comma: true, ..plain() };
    let cases: [(&str, &str, ReadOptions); 7] = [
        ("t.txt", "a\tb\n1.5\t2\n-3\t4.25\n", plain()),
        ("t.txt", "a;b\n1.5;2\n-3;4.25\n", plain()),
        ("t.dat", "  a   b\n 1.5  2 \n\n -3\t4.25", plain()),
        ("t.csv", "a;b\n1,5;2\n-3;4,25\n", semicolons),
        ("t.csv", "a;b\n1,5;2\n-3;4,25\n", ReadOptions { decimal_comma: true, ..plain() }),
        (
            "t.csv",
            "a|b\r\n1.5|2\r\n-3|4.25\r\n",
            ReadOptions { delimiter: Some(Delimiter::Byte(b'|')), ..plain() },
        ),
        ("numbers", "a,b\n1.5,2\n-3,4.25\n", ReadOptions { format: Some("csv".into()), ..plain() }),
    ];
    for (name, text, options) in cases {
        let table = from_bytes(name, text, &options).unwrap();
        assert_eq!(table.values, expected.clone().into(), "{text:?}");
    }
    let with_semicolons = ReadOptions { delimiter: Some(Delimiter::Byte(b';')), ..plain() };
    assert!(error(csv("a;b\n1,5;2\n", &with_semicolons)).ends_with("give --decimal ,"));
    assert!(error(csv(b"PAR1 and more", &plain())).contains("--format parquet"));
    assert!(error(csv("a,b\n1,9007199254740993\n", &plain())).contains("beyond 2^53"));
    assert!(error(csv("a,b\n1,-9007199254740993\n", &plain())).contains("beyond 2^53"));
    for two_signs in ["--1", "+-1", "++1"] {
        let message = error(csv(format!("a,b\n1,{two_signs}\n"), &plain()));
        assert!(message.contains("not a finite number;"), "{message}");
    }
    let message = error(csv("a;b\n1,5;2\n", &plain()));
    assert!(message.contains("--delimiter semicolon") && message.contains("--decimal ,"), "{message}");
    assert!(error(from_bytes("numbers", "a\n1\n", &plain())).contains("--format"));
    let wrong = ReadOptions { format: Some("xml".into()), ..plain() };
    assert!(error(csv("a\n1\n", &wrong)).contains("--format xml"));
    let both = ReadOptions { delimiter: Some(Delimiter::Byte(b',')), decimal_comma: true, ..plain() };
    assert!(error(csv("a\n1\n", &both)).contains("comma"));
}

#[test]
fn packed_text_is_unpacked_and_checked() {
    let text = b"a,label\n1,x\n2,y\n";
    let gzip = |bytes: &[u8]| {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        out.write_all(bytes).unwrap();
        out.finish().unwrap()
    };
    let zstd = zstd::encode_all(&text[..], 3).unwrap();
    for (name, bytes) in [
        ("t.csv.gz", gzip(text)),
        ("t.csv.zst", zstd.clone()),
        ("t.csv", zstd.clone()),
        ("t.csv.gz", [gzip(&text[..8]), gzip(&text[8..])].concat()),
    ] {
        assert_eq!(column(&from_bytes(name, &bytes, &plain()).unwrap()), [1.0, 2.0], "{name}");
        assert!(from_bytes(name, &bytes[..bytes.len() - 3], &plain()).is_err(), "{name} cut short");
    }
    let svm = zstd::encode_all(&b"1 1:2\n2 1:3\n"[..], 3).unwrap();
    assert_eq!(from_bytes("t.svm.zst", svm, &plain()).unwrap().rows, 2);
    assert!(error(from_bytes("t.csv.zst", text, &plain())).contains("is not compressed"));
}

#[test]
fn what_has_no_end_is_not_read_into_memory() {
    let header: Vec<u8> = std::iter::repeat_n(b'a', 80 << 20).collect();
    let packed = zstd::encode_all(&header[..], 1).unwrap();
    assert!(packed.len() < 1 << 20);
    assert!(error(from_bytes("t.csv.zst", &packed, &plain())).contains("too long"));
    let open_quote = format!("a,label\n1,\"x\n{}", "2,y\n".repeat(2 << 20));
    assert!(error(csv(open_quote, &plain())).contains("quotation mark"));
    let message = error(csv("a,label\n1,\"x\n2,y\n3,z\n", &plain()));
    assert!(message.contains("line 2") && message.contains("quotation mark"), "{message}");
    let columns = zstd::encode_all(&vec![b','; 5 << 20][..], 1).unwrap();
    assert!(error(from_bytes("t.csv.zst", columns, &plain())).contains("columns are allowed"));
    let message = error(csv(format!("{},label\n1,x\n", "n".repeat(5000)).replace("1,x", "q,x"), &plain()));
    assert!(message.len() < 700, "{} characters", message.len());
}

#[test]
fn arrays_hold_what_their_headers_say() {
    let bytes = fs::read(fixture("sample.npy")).unwrap();
    let longer = [&bytes[..], b"more"].concat();
    assert!(error(from_bytes("t.npy", longer, &plain())).contains("4 bytes follow"));
    assert!(from_bytes("t.npy", &bytes[..bytes.len() - 1], &plain()).is_err());
    let table = from_bytes("t.npy", &bytes, &plain()).unwrap();
    assert!(matches!(table.values, TableValues::Dense(_)));
}
