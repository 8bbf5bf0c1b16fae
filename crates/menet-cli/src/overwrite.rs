//! No command may overwrite a file that it reads, or write two outputs to one file.
//!
//! Every command calls [`refuse`] first, before it reads anything.

use std::path::{Path, PathBuf};

use menet_io::atomic;
use menet_io::builtin::BuiltinSet;

use crate::args::{DataArgs, ReadingArgs};
use crate::failure::Failure;
use crate::text;

/// What a command reads: the option that names it, and the file or folder.
pub(crate) type Input = (&'static str, PathBuf);

/// Where a command writes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Output<'a> {
    /// The option, and its file.
    File(&'static str, &'a Path),
    /// The option, its folder, and the files that are written there: `name.csv`, `axis-*.png`, or `figures/` for all in a
    /// sub-folder.
    Folder(&'static str, &'a Path, &'static [&'static str]),
}

/// The files that `--data source` reads: none for a built-in set or a pipe.
pub(crate) fn data(source: &str, how: &ReadingArgs) -> Vec<Input> {
    let labels = how.labels.iter().map(|path| ("--labels", path.clone()));
    // A column or a file.
    let batch = how.batch.iter().map(PathBuf::from).filter(|path| path.is_file());
    let labels = labels.chain(batch.map(|path| ("--batch", path)));
    // The shell may have redirected standard input to a file.
    let redirected = PathBuf::from("/dev/stdin");
    if source == "-" && redirected.is_file() {
        return [("--data", redirected)].into_iter().chain(labels).collect();
    }
    if source == "-" || BuiltinSet::find(source).is_some() {
        return labels.collect();
    }
    let path = PathBuf::from(source);
    // The labels of an IDX file are in the same folder.
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let plain = name.strip_suffix(".gz").unwrap_or(&name).replace("images-idx3", "labels-idx1");
    let beside = [plain.clone(), format!("{plain}.gz")]
        .map(|name| ("the labels of --data", path.with_file_name(name)));
    let beside = beside.into_iter().filter(|_| name.contains("images-idx3"));
    [("--data", path.clone())].into_iter().chain(beside).chain(labels).collect()
}

/// Refuses outputs that are an input or another output, also through links.
///
/// # Errors
/// Usage, naming both options.
pub(crate) fn refuse(inputs: &[Input], outputs: &[Output<'_>]) -> Result<(), Failure> {
    for (k, output) in outputs.iter().enumerate() {
        match *output {
            Output::File(option, path) => {
                for earlier in &outputs[..k] {
                    if let Output::File(other, before) = *earlier
                        && one_output(before, path)
                    {
                        return Err(Failure::Usage(format!(
                            "{other} {} and {option} {} are the same file; give them different names",
                            text::path(before),
                            text::path(path)
                        )));
                    }
                }
                if let Some(input) = inputs.iter().find(|(_, input)| destroys(path, input)) {
                    return Err(destroyed(option, path, path, input));
                }
            }
            Output::Folder(option, folder, names) => {
                if let Some((read, input)) = inputs.iter().find(|(_, input)| lies_in(folder, input)) {
                    return Err(Failure::Usage(format!(
                        "{option} {} is inside {read} {}, where the results would be read as data the next time; give \
                         {option} another folder",
                        text::path(folder),
                        text::path(input)
                    )));
                }
                for path in existing(folder, names) {
                    if let Some(input) = inputs.iter().find(|(_, input)| destroys(&path, input)) {
                        return Err(destroyed(option, folder, &path, input));
                    }
                }
            }
        }
    }
    Ok(())
}

/// [`refuse`] for a command that applies a model to data.
pub(crate) fn refuse_model(model: &Path, read: &DataArgs, out: &Path) -> Result<(), Failure> {
    let inputs: Vec<Input> =
        [("--model", model.to_owned())].into_iter().chain(data(&read.data, &read.how)).collect();
    refuse(&inputs, &[Output::File("--out", out)])
}

/// [`refuse`] for `evaluate` and `tune`, which write these files into a folder of results.
pub(crate) fn refuse_run(
    sources: &[String],
    how: &ReadingArgs,
    read: impl Iterator<Item = Input>,
    out: &Path,
    files: &'static [&'static str],
) -> Result<(), Failure> {
    let sets = sources.iter().flat_map(|source| data(source, how));
    let inputs: Vec<Input> = sets.chain(read).collect();
    refuse(&inputs, &[Output::Folder("--out", out, files)])
}

fn destroyed(option: &str, given: &Path, path: &Path, (read, input): &Input) -> Failure {
    let what = if input.is_dir() { "a file of" } else { "the file of" };
    let given = if given == path { String::new() } else { format!(" (it writes {})", text::path(path)) };
    Failure::Usage(format!(
        "{option} {}{given} would overwrite {what} {read} {}; give {option} another name",
        text::path(path),
        text::path(input)
    ))
}

/// Whether writing `output` destroys `input` or, if that is a folder, something in it.
fn destroys(output: &Path, input: &Path) -> bool {
    if output.as_os_str() == "-" || !is_plain(output) || !is_plain(input) {
        return false;
    }
    let in_folder = || output.exists() && lies_in(output, input);
    same(output, input) || in_folder()
}

/// Whether two outputs are the same.
fn one_output(a: &Path, b: &Path) -> bool {
    a == b && a.as_os_str() == "-" || is_plain(a) && is_plain(b) && same(a, b)
}

/// Whether a path is a file or a folder, or does not exist yet. Writing does not destroy pipes and devices, and opening a pipe to
/// compare it would wait for its other end.
fn is_plain(path: &Path) -> bool {
    path.metadata().map_or(true, |meta| meta.is_file() || meta.is_dir())
}

fn same(a: &Path, b: &Path) -> bool {
    let placed = place(a).zip(place(b)).is_some_and(|(a, b)| a == b);
    // Hard links have the same inode under different names.
    placed || same_file::is_same_file(a, b).unwrap_or(false)
}

/// Whether `path` is the folder `folder` or is inside it.
fn lies_in(path: &Path, folder: &Path) -> bool {
    folder.is_dir()
        && place(path).zip(folder.canonicalize().ok()).is_some_and(|(path, folder)| path.starts_with(folder))
}

/// The canonical name of a path that need not exist: its nearest existing folder is canonicalised.
fn place(path: &Path) -> Option<PathBuf> {
    if let Ok(found) = path.canonicalize() {
        return Some(found);
    }
    let target = atomic::target(path).ok()?;
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = target.file_name()?;
    match folder.canonicalize() {
        Ok(folder) => Some(folder.join(name)),
        Err(_) if folder == target => None,
        Err(_) => Some(place(folder)?.join(name)),
    }
}

/// The files in `folder` that would be overwritten, the list of these files among them.
fn existing(folder: &Path, names: &[&str]) -> Vec<PathBuf> {
    let listed = |folder: &Path| -> Vec<PathBuf> {
        std::fs::read_dir(folder).map_or(Vec::new(), |entries| entries.flatten().map(|e| e.path()).collect())
    };
    let mut found = vec![folder.join(menet_lab::folder::MARK)];
    for name in names {
        if let Some(sub) = name.strip_suffix('/') {
            found.extend(listed(&folder.join(sub)));
        } else if let Some((start, end)) = name.split_once('*') {
            let fits = |path: &PathBuf| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                name.starts_with(start) && name.ends_with(end)
            };
            found.extend(listed(folder).into_iter().filter(fits));
        } else {
            found.push(folder.join(name));
        }
    }
    found.retain(|path| path.exists());
    found
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn message(inputs: &[Input], outputs: &[Output<'_>]) -> Option<String> {
        refuse(inputs, outputs).err().map(|failure| failure.to_string())
    }

    #[test]
    fn an_input_is_not_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("d.csv"), "x").unwrap();
        fs::write(at("other.csv"), "x").unwrap();
        fs::create_dir_all(at("faces/anna")).unwrap();
        fs::write(at("faces/anna/1.png"), "x").unwrap();
        let inputs = [("--data", at("d.csv")), ("--data", at("faces"))];
        for (name, refused) in [
            ("d.csv", true),
            ("faces/../d.csv", true),
            ("other.csv", false),
            ("new.csv", false),
            ("no/such/d.csv", false),
            ("faces/anna/1.png", true),
            ("faces/new.csv", false),
        ] {
            let refusal = message(&inputs, &[Output::File("--out", &at(name))]);
            assert_eq!(refusal.is_some(), refused, "{name}: {refusal:?}");
            assert!(
                refusal.is_none_or(|refusal| refusal.contains("--out") && refusal.contains("--data")),
                "{name}"
            );
        }
        assert!(message(&inputs, &[Output::File("--out", Path::new("-"))]).is_none());
    }

    #[test]
    fn two_outputs_have_two_names() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let two = |a: &Path, b: &Path| message(&[], &[Output::File("--out", a), Output::File("--svg", b)]);
        let refusal = two(&at("a"), &at("./a")).unwrap();
        assert!(refusal.contains("--out") && refusal.contains("--svg"), "{refusal}");
        assert!(two(&at("new/a"), &at("new/./a")).is_some(), "a folder that does not exist has one name too");
        assert!(two(&at("a"), &at("b")).is_none());
        assert!(two(Path::new("-"), Path::new("-")).is_some());
        assert!(two(Path::new("a"), Path::new("./a")).is_some());
        // A device can be written any number of times.
        if Path::new("/dev/null").exists() {
            assert!(two(Path::new("/dev/null"), Path::new("/dev/null")).is_none());
        }
    }

    #[test]
    fn a_folder_of_results_is_not_one_of_data() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir_all(at("faces/anna")).unwrap();
        fs::create_dir_all(at("run/figures")).unwrap();
        for name in ["run/results.csv", "run/mine.csv", "run/figures/a.csv", "run/axis-01.png"] {
            fs::write(at(name), "x").unwrap();
        }
        let names: &[&str] = &["results.csv", "figures/", "axis-*.png"];
        let refused = |input: &str, folder: &str| {
            message(&[("--data", at(input))], &[Output::Folder("--out", &at(folder), names)]).is_some()
        };
        assert!(refused("faces", "faces") && refused("faces", "faces/anna") && refused("faces", "faces/new"));
        assert!(refused("run/results.csv", "run") && refused("run/figures/a.csv", "run"));
        assert!(refused("run/axis-01.png", "run") && refused("run/figures", "run"));
        assert!(!refused("run/mine.csv", "run") && !refused("faces", "run") && !refused("faces", "."));
    }

    #[test]
    #[cfg(unix)]
    fn links_hide_nothing() {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("d.csv"), "x").unwrap();
        fs::create_dir(at("run")).unwrap();
        fs::hard_link(at("d.csv"), at("hard.csv")).unwrap();
        symlink("d.csv", at("soft.csv")).unwrap();
        symlink("../d.csv", at("run/results.csv")).unwrap();
        symlink("nothing-yet", at("dangling")).unwrap();
        symlink("loop", at("loop")).unwrap();
        let inputs = [("--data", at("d.csv"))];
        for name in ["hard.csv", "soft.csv"] {
            assert!(message(&inputs, &[Output::File("--model", &at(name))]).is_some(), "{name}");
            let from = [("--data", at(name))];
            assert!(message(&from, &[Output::File("--model", &at("d.csv"))]).is_some(), "{name}");
        }
        assert!(message(&inputs, &[Output::Folder("--out", &at("run"), &["results.csv"])]).is_some());
        let two = [Output::File("--out", &at("dangling")), Output::File("--svg", &at("nothing-yet"))];
        assert!(message(&[], &two).is_some());
        assert!(message(&inputs, &[Output::File("--out", &at("loop"))]).is_none());
    }
}
