//! Signals, file modes and links: which files exist afterwards.
#![cfg(unix)]

use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use crate::common;
use crate::common::{names, ok, small_csv};
use menet::Men;
use menet::rules::{LearnedRule, Metric, Nearest};
use menet_io::ModelFile;

/// Starts the command with the signal settings of a terminal, even if the tests run under `nohup`.
fn start(folder: &Path, arguments: &[&str]) -> Child {
    let mut command = if cfg!(target_os = "linux") {
        let mut env = Command::new("env");
        env.args(["--default-signal=HUP", env!("CARGO_BIN_EXE_menet")]);
        env
    } else {
        Command::new(env!("CARGO_BIN_EXE_menet"))
    };
    command.current_dir(folder).args(arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits at most a minute for something that must happen.
fn wait_for(what: &str, happened: impl Fn() -> bool) {
    for _ in 0..6000 {
        if happened() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{what} did not happen");
}

/// Waits until the program handles signals; earlier signals would end it directly.
fn wait_until_listening(child: &Child) {
    let status = PathBuf::from(format!("/proc/{}/status", child.id()));
    if !status.exists() {
        return std::thread::sleep(Duration::from_millis(700));
    }
    // SIGHUP, SIGINT and SIGTERM.
    let wanted = 1 | 1 << 1 | 1 << 14;
    wait_for("listening to signals", || {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let mask = text.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
            .is_some_and(|mask| mask & wanted == wanted)
    });
}

fn send(child: &Child, signal: &str) {
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
}

/// Waits at most a minute for the end, and returns the exit code and the messages.
fn end(mut child: Child, why: &str) -> (ExitStatus, String) {
    for _ in 0..6000 {
        if let Some(status) = child.try_wait().unwrap() {
            let mut said = String::new();
            std::io::Read::read_to_string(child.stderr.as_mut().unwrap(), &mut said).unwrap();
            return (status, said);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    panic!("{why} did not end");
}

/// A file that never ends: reading it continues until the process is stopped.
fn pipe(folder: &Path, name: &str) {
    assert!(Command::new("mkfifo").arg(folder.join(name)).status().unwrap().success());
}

/// The drafts in a folder.
fn drafts(folder: &Path) -> Vec<String> {
    names(folder).into_iter().filter(|name| name.starts_with(".menet-") && name.ends_with(".tmp")).collect()
}

#[test]
fn every_command_stops_with_the_code_of_its_signal() {
    let dir = tempfile::tempdir().unwrap();
    let here = dir.path();
    fs::write(here.join("d.csv"), small_csv()).unwrap();
    ok(here, &["fit", "--data", "d.csv", "--model", "m"]);
    pipe(here, "busy.csv");
    let before = names(here);
    let lines = [
        "data busy.csv",
        "fit --data busy.csv --model n",
        "transform --model m --data busy.csv --out z.csv",
        "predict --model m --data busy.csv --out l.csv",
        "path --data busy.csv --out p.csv",
        "evaluate --data busy.csv --out run",
        "tune --data busy.csv --out run",
    ];
    for (k, line) in lines.iter().enumerate() {
        let (signal, code, name) =
            [("-INT", 130, "SIGINT"), ("-TERM", 143, "SIGTERM"), ("-HUP", 129, "SIGHUP")][k % 3];
        let child = start(here, &line.split(' ').collect::<Vec<_>>());
        wait_until_listening(&child);
        send(&child, signal);
        let (status, said) = end(child, line);
        assert_eq!(status.code(), Some(code), "{line}: {said}");
        assert!(said.contains(&format!("stopped by {name}")), "{line}: {said}");
        assert_eq!(said.lines().count(), 1, "{line}: {said}");
        assert_eq!(names(here), before, "{line}");
    }
}

/// Work that would take minutes: a neighbour search among many samples.
#[test]
fn predict_stops_while_it_computes() {
    let dir = tempfile::tempdir().unwrap();
    let here = dir.path();
    fs::write(here.join("d.csv"), small_csv()).unwrap();
    ok(here, &["fit", "--data", "d.csv", "--model", "m"]);
    let mut model = ModelFile::load(&here.join("m")).unwrap();
    let n = 400_000;
    let gallery = faer::Mat::from_fn(n, 1, |i, _| (i * 7919 % n) as f64);
    let classes = (0..n).map(|i| i % 2).collect();
    let rule = Nearest::from_parts(gallery, classes, 1, Metric::Euclidean, 1.0, vec![0.0; 2]).unwrap();
    let mut parts = model.men.parts().clone();
    parts.rule = Some(LearnedRule::Nearest(rule));
    model.men = Men::from_parts(parts).unwrap();
    model.save(&here.join("m")).unwrap();
    let rows: String = (0..n).map(|i| format!("{},{},1\n", i % 977, i % 1009)).collect();
    fs::write(here.join("many.csv"), "a,b,c\n".to_owned() + &rows).unwrap();
    let before = names(here);
    for signals in [&["-INT"][..], &["-INT", "-INT"], &["-INT", "-TERM"]] {
        let child = start(here, &["predict", "--model", "m", "--data", "many.csv", "--out", "l.csv"]);
        wait_until_listening(&child);
        std::thread::sleep(Duration::from_millis(700));
        for signal in signals {
            send(&child, signal);
        }
        let (status, said) = end(child, "predict");
        assert_eq!(status.code(), Some(130), "{said}");
        assert!(said.contains("no file was written"), "{said}");
        assert_eq!(names(here), before);
    }
}

#[test]
fn a_fit_stops_while_it_computes() {
    let dir = tempfile::tempdir().unwrap();
    let line = ["fit", "--data", "orl", "--nonzeros", "1600", "--ridge", "0.001", "--model", "m"];
    for (signal, code) in [("-INT", 130), ("-HUP", 129)] {
        let child = start(dir.path(), &line);
        wait_until_listening(&child);
        std::thread::sleep(Duration::from_millis(300));
        send(&child, signal);
        let (status, said) = end(child, "fit");
        assert_eq!(status.code(), Some(code), "{said}");
        assert!(said.contains("stopped by"), "{said}");
        assert!(names(dir.path()).is_empty());
    }
}

#[test]
fn a_stopped_run_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let line = "evaluate --data orl --methods men,slpp,pca --train-per-class 3 --repeats 6 --dims 1-10 --out";
    let run = |folder: &'static str| line.split(' ').chain([folder]).collect::<Vec<_>>();
    ok(dir.path(), &run("whole"));
    let journal = dir.path().join("stopped/cells.jsonl");
    let finished = || fs::read_to_string(&journal).map_or(0, |text| text.lines().count());
    let child = start(dir.path(), &[run("stopped"), vec!["--threads", "1"]].concat());
    wait_for("a few cells", || finished() >= 4);
    send(&child, "-TERM");
    let (status, said) = end(child, "evaluate");
    assert_eq!(status.code(), Some(143), "{said}");
    assert!(said.contains("the same command goes on"), "{said}");
    assert!(!dir.path().join("stopped/results.csv").exists());
    assert_eq!(drafts(&dir.path().join("stopped")), [""; 0]);
    ok(dir.path(), &run("stopped"));
    let rows = |name: &str| fs::read(dir.path().join(name).join("results.csv")).unwrap();
    assert_eq!(rows("whole"), rows("stopped"));
}

/// A `transform` that has begun its output and waits for more data, and the input end of its pipe.
fn half_done(here: &Path, number: usize, out: &str) -> (Child, fs::File) {
    let name = format!("busy{number}.csv");
    pipe(here, &name);
    let before = drafts(here);
    let child = start(here, &["transform", "--model", "m", "--data", &name, "--out", out]);
    wait_until_listening(&child);
    let mut feed = fs::File::options().write(true).open(here.join(&name)).unwrap();
    // The first block is larger than the buffer of the pipe, so once it is written it has been read.
    feed.write_all(b"a,b,c\n").unwrap();
    for _ in 0..20_000 {
        feed.write_all(b"1.5,2.5,3.5\n").unwrap();
    }
    wait_for("a draft", || drafts(here).iter().any(|name| !before.contains(name)));
    (child, feed)
}

#[test]
fn drafts_are_removed_and_those_of_others_are_not() {
    let dir = tempfile::tempdir().unwrap();
    let here = dir.path();
    fs::write(here.join("d.csv"), small_csv()).unwrap();
    ok(here, &["fit", "--data", "d.csv", "--model", "m"]);

    for (k, (signals, code)) in
        [(&["-TERM"][..], 143), (&["-HUP"], 129), (&["-INT", "-INT"], 130)].into_iter().enumerate()
    {
        let (child, feed) = half_done(here, k, "z.csv");
        for signal in signals {
            send(&child, signal);
        }
        let (status, said) = end(child, "transform");
        assert_eq!(status.code(), Some(code), "{said}");
        assert_eq!((drafts(here), here.join("z.csv").exists()), (vec![], false), "{signals:?}");
        drop(feed);
    }

    // After SIGKILL the process cannot clean up.
    let (mut killed, feed) = half_done(here, 10, "z.csv");
    killed.kill().unwrap();
    killed.wait().unwrap();
    drop(feed);
    let stale = drafts(here);
    assert_eq!(stale.len(), 1);
    // The next run does, but keeps the drafts of running processes.
    let (child, feed) = half_done(here, 11, "slow.csv");
    let live = drafts(here);
    assert!(!live.contains(&stale[0]), "the stale one went when the slow run began: {live:?}");
    ok(here, &["transform", "--model", "m", "--data", "d.csv", "--out", "y.csv"]);
    assert_eq!(drafts(here), live);
    drop(feed);
    let (status, said) = end(child, "the slow run");
    assert!(status.success(), "{said}");
    assert_eq!(fs::read_to_string(here.join("slow.csv")).unwrap().lines().count(), 20_001);
    assert_eq!(drafts(here), [""; 0]);
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o7777
}

#[test]
fn modes_are_kept_and_the_umask_is_honoured() {
    let dir = tempfile::tempdir().unwrap();
    let here = dir.path();
    fs::write(here.join("d.csv"), small_csv()).unwrap();
    for (umask, expected) in [("022", 0o644), ("077", 0o600), ("002", 0o664)] {
        let line = format!(
            "umask {umask}; exec '{}' fit --data d.csv --model m{umask}",
            env!("CARGO_BIN_EXE_menet")
        );
        let status = Command::new("sh").current_dir(here).args(["-c", &line]).stdout(Stdio::null()).status();
        assert!(status.unwrap().success());
        assert_eq!(mode(&here.join(format!("m{umask}"))), expected, "{umask}");
    }
    for kept in [0o600, 0o640, 0o666, 0o444] {
        fs::write(here.join("z.csv"), "before").unwrap();
        fs::set_permissions(here.join("z.csv"), fs::Permissions::from_mode(kept)).unwrap();
        ok(here, &["transform", "--model", "m022", "--data", "d.csv", "--out", "z.csv"]);
        assert_eq!(mode(&here.join("z.csv")), kept);
        assert!(fs::read_to_string(here.join("z.csv")).unwrap().starts_with("z1\n"));
        fs::remove_file(here.join("z.csv")).unwrap();
    }
    // The same holds for the files of a run.
    let line = format!(
        "umask 027; exec '{}' evaluate --data d.csv --methods men,pca --repeats 2 --out run",
        env!("CARGO_BIN_EXE_menet")
    );
    let status = Command::new("sh").current_dir(here).args(["-c", &line]).stdout(Stdio::null()).status();
    assert!(status.unwrap().success());
    for name in ["results.csv", "report.html", "run.toml", "cells.jsonl"] {
        assert_eq!(mode(&here.join("run").join(name)), 0o640, "{name}");
    }
}

#[test]
fn a_link_stays_a_link() {
    let dir = tempfile::tempdir().unwrap();
    let here = dir.path();
    fs::create_dir(here.join("far")).unwrap();
    fs::write(here.join("d.csv"), small_csv()).unwrap();
    ok(here, &["fit", "--data", "d.csv", "--model", "m"]);
    fs::write(here.join("far/there.csv"), "before").unwrap();
    symlink("far/there.csv", here.join("there.csv")).unwrap();
    symlink("far/not-yet.csv", here.join("dangling.csv")).unwrap();
    symlink("../dangling.csv", here.join("far/twice.csv")).unwrap();
    symlink("no/such/folder.csv", here.join("lost.csv")).unwrap();
    symlink("circle.csv", here.join("circle.csv")).unwrap();
    let to = |out: &str| common::menet(here, &["transform", "--model", "m", "--data", "d.csv", "--out", out]);
    for (out, target) in [
        ("there.csv", "far/there.csv"),
        ("dangling.csv", "far/not-yet.csv"),
        ("far/twice.csv", "far/not-yet.csv"),
    ] {
        assert!(to(out).status.success(), "{out}");
        assert!(here.join(out).symlink_metadata().unwrap().is_symlink(), "{out}");
        assert!(fs::read_to_string(here.join(target)).unwrap().starts_with("z1\n"), "{out}");
        fs::write(here.join(target), "before").unwrap();
    }
    fs::remove_file(here.join("far/not-yet.csv")).unwrap();
    assert!(to("dangling.csv").status.success());
    assert!(here.join("far/not-yet.csv").is_file());
    for out in ["lost.csv", "circle.csv"] {
        let output = to(out);
        assert_eq!(output.status.code(), Some(1), "{}", common::text(&output.stderr));
        assert!(here.join(out).symlink_metadata().unwrap().is_symlink());
    }
    // A device, or a link to one, is written and not replaced by a file.
    symlink("/dev/null", here.join("null.csv")).unwrap();
    assert!(to("null.csv").status.success());
    assert!(here.join("null.csv").symlink_metadata().unwrap().is_symlink());
    assert!(!Path::new("/dev/null").metadata().unwrap().is_file());
    assert_eq!((drafts(here), drafts(&here.join("far"))), (vec![], vec![]));
}

/// Under `nohup` a program ignores SIGHUP, and it must stay ignored. SIGINT and SIGTERM still stop the program.
#[test]
#[cfg(target_os = "linux")]
fn an_ignored_signal_stays_ignored() {
    let dir = tempfile::tempdir().unwrap();
    let here = dir.path();
    pipe(here, "busy.csv");
    let line = format!("trap '' HUP; exec '{}' data busy.csv", env!("CARGO_BIN_EXE_menet"));
    let child = Command::new("env")
        .args(["--default-signal=HUP", "sh", "-c", &line])
        .current_dir(here)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let status = PathBuf::from(format!("/proc/{}/status", child.id()));
    let caught = |status: &Path| {
        let text = fs::read_to_string(status).unwrap_or_default();
        let mask = text.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
    };
    wait_for("listening to SIGINT and SIGTERM", || caught(&status) & (1 << 1 | 1 << 14) == 1 << 1 | 1 << 14);
    send(&child, "-HUP");
    // Once the data arrive, the work completes normally.
    fs::write(here.join("busy.csv"), small_csv()).unwrap();
    let (status, said) = end(child, "data");
    assert!(status.success(), "{said}");
}
