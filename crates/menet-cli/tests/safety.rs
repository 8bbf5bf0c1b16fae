//! No input is overwritten, no file is left behind, and no name controls the terminal.

use std::fs;
use std::path::Path;

use crate::common::{json, menet, names, ok, refused, small_csv, text};

/// A folder with data `d.csv`, their labels, parameters and a model `m`.
fn stocked() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("d.csv"), small_csv()).unwrap();
    fs::write(dir.path().join("l.txt"), ["no\n", "yes\n"].concat().repeat(10)).unwrap();
    fs::write(dir.path().join("p.toml"), "nonzeros = 2\n").unwrap();
    ok(dir.path(), &["fit", "--data", "d.csv", "--model", "m"]);
    fs::copy(dir.path().join("m"), dir.path().join("m.csv")).unwrap();
    dir
}

/// All files with their contents.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let read = |name: String| fs::read(folder.join(&name)).ok().map(|bytes| (name, bytes));
    names(folder).into_iter().filter_map(read).collect()
}

#[test]
fn no_input_is_overwritten() {
    let dir = stocked();
    fs::hard_link(dir.path().join("d.csv"), dir.path().join("hard.csv")).unwrap();
    let mut cases = vec![
        ("fit --data d.csv --model d.csv", ["--model", "--data"]),
        ("fit --data d.csv --model ./d.csv", ["--model", "--data"]),
        ("fit --data d.csv --model hard.csv", ["--model", "--data"]),
        ("fit --data d.csv --labels l.txt --drop label --model l.txt", ["--model", "--labels"]),
        ("fit --data d.csv --params p.toml --model p.toml", ["--model", "--params"]),
        ("transform --model m.csv --data d.csv --out m.csv", ["--out", "--model"]),
        ("transform --model m --data d.csv --out d.csv", ["--out", "--data"]),
        ("predict --model m --data d.csv --out d.csv", ["--out", "--data"]),
        ("predict --model m.csv --data d.csv --out ./m.csv", ["--out", "--model"]),
        ("path --data d.csv --out d.csv", ["--out", "--data"]),
        ("path --data d.csv --out a.csv --svg d.csv", ["--svg", "--data"]),
        ("path --data d.csv --params p.toml --out a.csv --svg p.toml", ["--svg", "--params"]),
        ("path --data d.csv --out a.csv --svg a.csv", ["--out", "--svg"]),
        ("path --data d.csv --out a.csv --svg ./a.csv", ["--out", "--svg"]),
    ];
    if cfg!(unix) {
        #[cfg(unix)]
        std::os::unix::fs::symlink("d.csv", dir.path().join("soft.csv")).unwrap();
        cases.push(("fit --data d.csv --model soft.csv", ["--model", "--data"]));
        cases.push(("fit --data soft.csv --model d.csv", ["--model", "--data"]));
    }
    let before = contents(dir.path());
    for (line, options) in cases {
        let refusal = refused(dir.path(), &line.split(' ').collect::<Vec<_>>());
        assert!(options.iter().all(|option| refusal.contains(option)), "{line}: {refusal}");
        assert_eq!(contents(dir.path()), before, "{line}");
    }
    // A built-in set is not a file, so an output may have its name.
    ok(dir.path(), &["fit", "--data", "leukemia", "--nonzeros", "2", "--model", "leukemia"]);
}

/// A run must not write a file that it reads.
#[test]
fn no_result_overwrites_an_input() {
    let dir = stocked();
    let evaluate = ["evaluate", "--data", "d.csv", "--methods", "men,pca", "--repeats", "2", "--out", "run"];
    let tuned = ["--tune", "--ridge", "0.3", "--folds", "2"];
    ok(dir.path(), &[&evaluate[..], &tuned[..]].concat());
    let tune = ["tune", "--data", "d.csv", "--ridge", "0.3", "--folds", "2", "--out", "tuned"];
    ok(dir.path(), &tune);
    let mut tried = 0;
    for (command, folder) in [(&evaluate[..], "run"), (&tune[..], "tuned")] {
        let written = names(&dir.path().join(folder)).into_iter().flat_map(|name| {
            let path = dir.path().join(folder).join(&name);
            if path.is_dir() {
                names(&path).iter().map(|file| format!("{name}/{file}")).collect()
            } else {
                vec![name]
            }
        });
        for name in written {
            let file = format!("{folder}/{name}");
            let refusal = refused(dir.path(), &[command, &["--params", &file]].concat());
            assert!(
                refusal.contains("--params") && refusal.contains("--out") && refusal.contains("overwrite"),
                "{refusal}"
            );
            tried += 1;
        }
    }
    assert!(tried > 12, "{tried}");
    // Results cannot go into the folder of the data.
    fs::create_dir_all(dir.path().join("faces/anna")).unwrap();
    for out in ["faces", "./faces/anna", "faces/new"] {
        let refusal = refused(dir.path(), &["evaluate", "--data", "faces", "--out", out]);
        assert!(refusal.contains("--out") && refusal.contains("--data"), "{refusal}");
        assert_eq!(names(&dir.path().join("faces")), ["anna"]);
    }
    // A model with the name of one of its pictures.
    fs::create_dir(dir.path().join("pictures")).unwrap();
    fs::copy(dir.path().join("m"), dir.path().join("pictures/axis-01.png")).unwrap();
    let refusal = refused(dir.path(), &["inspect", "--model", "pictures/axis-01.png", "--png", "pictures"]);
    assert!(refusal.contains("--png") && refusal.contains("--model"), "{refusal}");
}

/// A folder of results belongs to one command, which replaces only what it wrote.
#[test]
fn files_in_a_folder_of_results_are_kept() {
    let dir = stocked();
    let pixels = |i: usize| format!("{},{},{},{}\n", i % 3, i * i % 7, i % 2, ["no", "yes"][i % 2]);
    let images = "a,b,c,label\n".to_owned() + &(0..20).map(pixels).collect::<String>();
    fs::write(dir.path().join("images.csv"), images).unwrap();
    ok(dir.path(), &["fit", "--data", "images.csv", "--shape", "1x3", "--model", "images"]);
    let commands = [
        ("tune --data d.csv --folds 2 --nonzeros 1 --out", "trials.csv"),
        ("evaluate --data d.csv --methods pca --train-per-class 5 --repeats 1 --out", "summary.csv"),
        ("validate --data d.csv --nonzeros 1 --repeats 1 --permutations 0 --pairs 0 --out", "report.html"),
        ("inspect --model images --png", "axis-01.png"),
        ("demo --out", "path-01.svg"),
    ];
    for (k, (line, file)) in commands.iter().enumerate() {
        let out = format!("out-{k}");
        let line: Vec<&str> = line.split(' ').chain([out.as_str()]).collect();
        let folder = dir.path().join(&out);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join(file), "mine").unwrap();
        let refusal = refused(dir.path(), &line);
        assert!(refusal.contains(file) && refusal.contains("did not write"), "{refusal}");
        assert_eq!(contents(&folder), [((*file).to_owned(), b"mine".to_vec())], "{line:?}");
        fs::remove_file(folder.join(file)).unwrap();
        fs::write(folder.join("notes.txt"), "mine").unwrap();
        ok(dir.path(), &line);
        let all = names(&folder);
        ok(dir.path(), &line);
        assert_eq!(names(&folder), all, "the same command may replace its files");
        assert_eq!(fs::read(folder.join("notes.txt")).unwrap(), b"mine");
        // The results of one command are not those of the next.
        let (other, _) = commands[(k + 1) % commands.len()];
        let refusal = refused(dir.path(), &other.split(' ').chain([out.as_str()]).collect::<Vec<_>>());
        assert!(
            refusal.contains("holds the results of menet") || refusal.contains("another run"),
            "{refusal}"
        );
        assert_eq!(names(&folder), all);
    }
}

/// Weights are part of what a run is of, and a run that is asked for less leaves nothing of more behind.
#[test]
fn a_folder_holds_one_run() {
    let dir = stocked();
    let validate = |more: &[&str]| {
        let line = "validate --data d.csv --nonzeros 1,2 --repeats 1 --out r";
        line.split(' ').chain(more.iter().copied()).map(str::to_owned).collect::<Vec<_>>()
    };
    let run = |more: &[&str]| ok(dir.path(), &validate(more).iter().map(String::as_str).collect::<Vec<_>>());
    run(&["--permutations", "3", "--pairs", "2"]);
    let work = fs::read(dir.path().join("r/work.jsonl")).unwrap();
    let more = validate(&["--permutations", "3", "--pairs", "2", "--balanced"]);
    let refusal = refused(dir.path(), &more.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(refusal.contains("another run") && refusal.contains("balanced classes"), "{refusal}");
    assert!(dir.path().join("r/permutations.csv").exists());
    run(&["--permutations", "0", "--pairs", "0"]);
    for gone in ["permutations.csv", "stability.csv", "figures/permutation.svg"] {
        assert!(!dir.path().join("r").join(gone).exists(), "{gone}");
    }
    assert_eq!(fs::read(dir.path().join("r/work.jsonl")).unwrap().len(), work.len(), "finished work stays");
}

#[test]
fn too_many_threads_are_fewer() {
    let dir = stocked();
    let fit = ["fit", "--data", "d.csv", "--model", "n", "--threads"];
    let many = menet(dir.path(), &[&fit[..], &["100000"]].concat());
    assert!(many.status.success(), "{}", text(&many.stderr));
    assert!(text(&many.stderr).starts_with("menet: note: --threads 100000"), "{}", text(&many.stderr));
    let few = menet(dir.path(), &[&fit[..], &["2"]].concat());
    assert_eq!(text(&few.stderr), "");
    let quiet = menet(dir.path(), &[&fit[..], &["100000", "-q"]].concat());
    assert_eq!(text(&quiet.stderr), "");
}

/// Names of files are bytes and need not be valid text.
#[test]
#[cfg(target_os = "linux")]
fn outputs_whose_names_are_no_text() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let dir = stocked();
    let name = OsStr::from_bytes(b"r\x9bun.csv");
    let lines = [
        "fit --data d.csv --json --model",
        "transform --model m --data d.csv --out",
        "predict --model m --data d.csv --out",
        "path --data d.csv --out",
        "evaluate --data d.csv --methods men,pca --repeats 2 --json --out",
        "tune --data d.csv --ridge 0.3 --folds 2 --json --out",
        "demo --json --out",
    ];
    for line in lines {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_menet"))
            .current_dir(dir.path())
            .args(line.split(' '))
            .arg(name)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{line}: {}", text(&output.stderr));
        let written = dir.path().join(name);
        if written.is_dir() {
            fs::remove_dir_all(written).unwrap();
        } else {
            fs::remove_file(written).unwrap();
        }
    }
}

/// The first character that controls a terminal.
fn steers(text: &str) -> Option<char> {
    let bad =
        |c: &char| c.is_control() && *c != '\n' || ('\u{202a}'..='\u{202e}').contains(c) || *c == '\u{2028}';
    text.chars().find(bad)
}

#[test]
fn hostile_names_do_not_reach_the_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let (name, class) = ("x\u{1b}]0;owned\u{7}\u{9b}2J", "fine\nmenet: all is well\u{202e}\u{1b}[31m\t|");
    // A label with a line break looks like an unclosed quotation mark, but a name may contain one.
    let one = class.replace('\n', " ");
    let header = format!("\"{name}\",b,\"{class}\",label\n");
    let row = |i: usize| {
        let label = [one.as_str(), "b\u{85}", "c\u{2028}\u{7f}"][i % 3];
        format!("{},{},{},\"{label}\"\n", i % 3 * 4 + i, i % 3 + i * i % 5, i * 7 % 4)
    };
    let file = "e\u{1b}[2Jvil\n.csv";
    fs::write(dir.path().join(file), header + &(0..18).map(row).collect::<String>()).unwrap();
    let svg = "\u{1b}[1m.svg";
    let run = "r\u{9b}un";
    let lines: Vec<(Vec<&str>, i32)> = vec![
        (vec!["data", file], 0),
        (vec!["fit", "--data", file, "--model", "m", "-v"], 0),
        (vec!["inspect", "--model", "m"], 0),
        (vec!["transform", "--model", "m", "--data", file, "--out", "\u{9b}z.csv"], 0),
        (vec!["predict", "--model", "m", "--data", file, "--out", "\u{1b}l.csv"], 0),
        (vec!["path", "--data", file, "--out", "\u{1b}p.csv", "--svg", svg], 0),
        (vec!["evaluate", "--data", file, "--methods", "men,pca", "--repeats", "2", "--out", run], 0),
        (vec!["tune", "--data", file, "--ridge", "0.3", "--folds", "2", "--out", "t\u{9b}uned"], 0),
        (vec!["fit", "--data", file, "--model", file], 2),
        (vec!["fit", "--data", file, "--label", "\u{1b}", "--model", "n"], 2),
        (vec!["fit", "--data", file, "--label", name, "--model", "n"], 2),
        (vec!["fit", "--data", "\u{1b}[0m\nnone.csv", "--model", "n"], 2),
        (vec!["inspect", "--model", file], 2),
        (vec!["transform", "--model", "m", "--data", "digits", "--out", "y.csv"], 2),
    ];
    for (line, code) in &lines {
        let output = menet(dir.path(), line);
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(*code), "{line:?}: {err}");
        assert_eq!((steers(&out), steers(&err)), (None, None), "{line:?}: {out}{err}");
        // No name can print its own line.
        assert!(!(out + &err).lines().any(|line| line.starts_with("menet: all is well")), "{line:?}");
        let commands = ["data", "fit", "inspect", "transform", "predict", "path", "evaluate", "tune"];
        if *code == 0 && commands.contains(&line[0]) {
            let output = menet(dir.path(), &[line, &["--json"][..]].concat());
            let printed = text(&output.stdout);
            assert_eq!(steers(&printed), None, "{line:?}: {printed}");
            serde_json::from_str::<serde_json::Value>(&printed).unwrap();
        }
    }
    // JSON gives programs the original names.
    let data = json(dir.path(), &["data", file, "--json"]);
    assert_eq!((&data["names"][0], &data["names"][2]), (&name.into(), &class.into()));
    assert!(data["classes"].as_array().unwrap().iter().any(|c| c["name"] == one));
    let shown = json(dir.path(), &["inspect", "--model", "m", "--json"]);
    assert!(shown["classes"].as_array().unwrap().contains(&one.as_str().into()));
    assert_eq!(shown["data"], file);
    // Names stay unchanged in files, where they are data.
    assert!(fs::read_to_string(dir.path().join("\u{1b}p.csv")).unwrap().contains(name));
    assert!(fs::read_to_string(dir.path().join("\u{1b}l.csv")).unwrap().contains(&one));
}
