//! A model asks new samples for its panel, by name, and for nothing else.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::common::{self, menet, ok, refused};

/// Forty samples of eight variables, two of which tell the classes; measured at two sites. Some values are missing.
fn write_samples(folder: &Path) {
    let mut text = "sample_id,site,label,a,b,c,d,e,f,g,h\n".to_owned();
    for i in 0..40_usize {
        write!(text, "s{i},{},k{}", ["north", "south"][(i / 2) % 2], i % 2).unwrap();
        for j in 0..8_usize {
            let value =
                (i * (7 + j) + j * 13 + i * i * (j + 1)) % 23 + 15 * usize::from(j % 4 == 1 && i % 2 == 1);
            if i > 0 && (i * 11 + j * 5) % 17 == 0 {
                text.push(',');
            } else {
                write!(text, ",{value}.5").unwrap();
            }
        }
        text.push('\n');
    }
    fs::write(folder.join("d.csv"), text).unwrap();
}

const FIT: [&str; 9] = ["fit", "--data", "d.csv", "--panel-size", "2", "--model", "m", "--drop", "sample_id"];

/// The panel, as the template has it.
fn template(folder: &Path) -> Vec<String> {
    let header = ok(folder, &["inspect", "--model", "m", "--template", "-"]);
    assert_eq!(header.lines().count(), 1, "{header}");
    header.trim_end().split(',').map(str::to_owned).collect()
}

/// Some columns of `d.csv` as `to`, with a column of text, one of dates, and one that two have the name of.
fn write_part(folder: &Path, to: &str, columns: &[&str]) {
    let text = fs::read_to_string(folder.join("d.csv")).unwrap();
    let own: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let place = |name: &&str| own.iter().position(|other| other == name).unwrap();
    let places: Vec<usize> = columns.iter().map(place).collect();
    let mut part = String::new();
    for (i, line) in text.lines().enumerate() {
        let fields: Vec<&str> = line.split(',').collect();
        let more =
            if i == 0 { "patient name,born,note,note" } else { "Mary O'Neil,1950-01-02,,\"\"\"=1+1\"\"\"" };
        let fields: Vec<&str> = [more].into_iter().chain(places.iter().map(|&at| fields[at])).collect();
        writeln!(part, "{}", fields.join(",")).unwrap();
    }
    fs::write(folder.join(to), part).unwrap();
}

#[test]
fn new_samples_need_the_panel_alone() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    write_samples(folder);
    for prepare in [
        &["--impute", "median", "--scale", "unit", "--batch", "site"][..],
        &["--impute", "mean", "--drop", "site"],
    ] {
        ok(folder, &[&FIT[..], prepare].concat());
        let header = template(folder);
        let batched = prepare.contains(&"--batch");
        let start = if batched { vec!["id", "batch"] } else { vec!["id"] };
        assert_eq!(header[..start.len()], start);
        let panel: Vec<&str> = header[start.len()..].iter().map(String::as_str).collect();
        assert_eq!(panel.len(), 2, "{header:?}");
        // In another order, beside columns that no model knows.
        let columns = [&["site", "label", "sample_id"][..], &[panel[1], panel[0]]].concat();
        write_part(folder, "part.csv", &columns);
        let batch = if batched { &["--batch", "site"][..] } else { &[] };
        for command in ["predict", "transform"] {
            let run = |data: &str| {
                let arguments = [command, "--model", "m", "--data", data, "--id", "sample_id", "--out", "-"];
                ok(folder, &[&arguments[..], batch].concat())
            };
            assert_eq!(run("part.csv"), run("d.csv"), "{command} {prepare:?}");
        }
        let output = menet(
            folder,
            &[&["predict", "--model", "m", "--data", "part.csv", "--out", "p.csv"], batch].concat(),
        );
        let said = common::text(&output.stdout);
        assert!(said.contains("% correct") && said.contains("40 samples"), "the label is understood: {said}");
        // All that is missing is told at once.
        write_part(folder, "none.csv", &["site", "label"]);
        for command in ["predict", "transform"] {
            let message =
                refused(folder, &[command, "--model", "m", "--data", "none.csv", "--out", "no.csv"]);
            let names = format!("2 of the 2 variables that the model needs: {:?}, {:?}", panel[0], panel[1]);
            assert!(message.contains(&names), "{message}");
        }
        // Text is refused in the panel.
        let text = fs::read_to_string(folder.join("part.csv")).unwrap();
        fs::write(
            folder.join("text.csv"),
            text.trim_end().rsplit_once(',').unwrap().0.to_owned() + ",high\n",
        )
        .unwrap();
        let message = refused(folder, &["predict", "--model", "m", "--data", "text.csv", "--out", "no.csv"]);
        assert!(message.contains("\"high\" is not a finite number"), "{message}");
    }
}

#[test]
fn a_variable_outside_the_panel_may_hold_anything() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    write_samples(folder);
    ok(folder, &[&FIT[..], &["--impute", "mean", "--drop", "site"]].concat());
    let expected = ok(folder, &["predict", "--model", "m", "--data", "d.csv", "--out", "-"]);
    let panel = template(folder).split_off(1);
    let text = fs::read_to_string(folder.join("d.csv")).unwrap();
    let header: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let at = (3..11).find(|&at| !panel.iter().any(|name| name == header[at])).unwrap();
    let changed: Vec<String> = text
        .lines()
        .enumerate()
        .map(|(i, line)| {
            let mut fields: Vec<&str> = line.split(',').collect();
            if i > 0 {
                fields[at] = ["unknown", "1e999"][i % 2];
            }
            fields.join(",")
        })
        .collect();
    fs::write(folder.join("text.csv"), changed.join("\n")).unwrap();
    assert_eq!(ok(folder, &["predict", "--model", "m", "--data", "text.csv", "--out", "-"]), expected);
    // One sample per column, as gene tables have them.
    let turned = |lines: &[String]| {
        let rows: Vec<Vec<&str>> = lines.iter().map(|line| line.split(',').collect()).collect();
        let columns = (0..rows[0].len()).map(|j| rows.iter().map(|row| row[j]).collect::<Vec<_>>().join(","));
        columns.collect::<Vec<_>>().join("\n")
    };
    fs::write(folder.join("turned.csv"), turned(&changed)).unwrap();
    let arguments = ["predict", "--model", "m", "--data", "turned.csv", "--transpose", "--out", "-"];
    assert_eq!(ok(folder, &arguments).replace("id,", "sample_id,"), expected);
    // Samples are recognised only by all their values.
    let said = |data: &str| {
        common::text(&menet(folder, &["predict", "--model", "m", "--data", data, "--out", "p.csv"]).stderr)
    };
    let known = "fitted to 40 of these 40 samples";
    assert!(said("d.csv").contains(known) && !said("text.csv").contains(known));
}

#[test]
fn neighbours_are_near_on_the_panel_where_the_data_lack_the_rest() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    write_samples(folder);
    ok(folder, &[&FIT[..], &["--impute", "knn", "--drop", "site"]].concat());
    let panel = template(folder).split_off(1);
    write_part(folder, "part.csv", &[&panel[0], &panel[1], "label"]);
    let predict = |data: &str| menet(folder, &["predict", "--model", "m", "--data", data, "--out", "-"]);
    let (whole, part) = (predict("d.csv"), predict("part.csv"));
    assert!(whole.status.success() && part.status.success(), "{}", common::text(&part.stderr));
    let note = "near on the panel (2 variables)";
    assert!(common::text(&part.stderr).contains(note), "{}", common::text(&part.stderr));
    assert!(!common::text(&whole.stderr).contains(note));
}

#[test]
fn a_template_goes_back_in() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    write_samples(folder);
    ok(folder, &[&FIT[..], &["--impute", "mean", "--batch", "site"]].concat());
    let said = ok(folder, &["inspect", "--model", "m", "--template", "new.csv"]);
    assert!(said.contains("--data new.csv --batch batch --out labels.csv"), "{said}");
    let header = fs::read_to_string(folder.join("new.csv")).unwrap();
    fs::write(folder.join("new.csv"), header + "p1,north,3.5,\np2,south,20,4\n").unwrap();
    let arguments = ["predict", "--model", "m", "--data", "new.csv", "--batch", "batch", "--out", "-"];
    let found = ok(folder, &arguments);
    assert!(found.lines().nth(1).unwrap().starts_with("p1,k") && found.lines().count() == 3, "{found}");
    // Without names there is nothing to match.
    fs::write(
        folder.join("plain.csv"),
        (0..20).map(|i| format!("{},{},{}\n", i * 7 % 5, i % 2, i % 2)).collect::<String>(),
    )
    .unwrap();
    ok(folder, &["fit", "--data", "plain.csv", "--no-header", "--label", "3", "--model", "plain"]);
    let message = refused(folder, &["inspect", "--model", "plain", "--template", "no.csv"]);
    assert!(message.contains("have no names") && message.contains("all 2 variables"), "{message}");
}

#[test]
fn an_onnx_file_takes_the_panel_or_all_variables() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    write_samples(folder);
    ok(folder, &[&FIT[..], &["--impute", "mean", "--drop", "site"]].concat());
    ok(folder, &["export", "--model", "m", "--onnx", "panel.onnx"]);
    ok(folder, &["export", "--model", "m", "--onnx", "all.onnx", "--all-variables"]);
    // The dimensions of `X` in the description of the input: any number of rows, and 2 or 8 columns.
    let takes = |file: &str, columns: u8| {
        let bytes = fs::read(folder.join(file)).unwrap();
        bytes.windows(9).any(|some| some == [0x0a, 0x03, 0x12, 0x01, b'N', 0x0a, 0x02, 0x08, columns])
    };
    assert!(takes("panel.onnx", 2) && !takes("panel.onnx", 8));
    assert!(takes("all.onnx", 8));
    let message = refused(folder, &["export", "--model", "m", "--sql", "t", "--all-variables"]);
    assert!(message.contains("--all-variables is for --onnx"), "{message}");
}

#[test]
fn predictions_say_what_was_missing_and_what_is_far_away() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    write_samples(folder);
    ok(folder, &[&FIT[..], &["--impute", "mean", "--drop", "site", "--rule", "gaussian"]].concat());
    let header = template(folder);
    let new = format!("{}\np1,3.5,4.5\np2,,\np3,1e9,\n", header.join(","));
    fs::write(folder.join("new.csv"), new).unwrap();
    let arguments = ["predict", "--model", "m", "--data", "new.csv", "--id", "id", "--out", "-"];
    let output = menet(folder, &arguments);
    let (found, said) = (common::text(&output.stdout), common::text(&output.stderr));
    assert!(output.status.success(), "{said}");
    let lines: Vec<&str> = found.lines().collect();
    assert_eq!(lines[0], "id,label,probability,missing");
    assert!(lines[1].ends_with(",0") && lines[2].ends_with(",2") && lines[3].ends_with(",1"), "{found}");
    // Half of the samples of the fit are of each class.
    assert!(lines[2].starts_with("p2,k0,0.500000000000"), "{found}");
    assert!(said.contains("without any value of the panel: 1 of 3 samples (\"p2\")"), "{said}");
    assert!(
        said.contains("far outside the range of the training samples") && said.contains("\"p3\" with"),
        "{said}"
    );
    let report = ok(folder, &["predict", "--model", "m", "--data", "new.csv", "--out", "l.csv", "--json"]);
    assert!(report.contains("\"without_panel\":1") && report.contains("\"far_outside\":1"), "{report}");
    ok(folder, &["transform", "--model", "m", "--data", "new.csv", "--out", "z.csv"]);
    let z = fs::read_to_string(folder.join("z.csv")).unwrap();
    assert!(z.lines().nth(2).unwrap().contains("NaN") && !z.lines().nth(3).unwrap().contains("NaN"), "{z}");
    // A model that fills nothing, with means on request: the same.
    let whole: String = fs::read_to_string(folder.join("d.csv"))
        .unwrap()
        .lines()
        .map(|line| {
            line.split(',').map(|cell| if cell.is_empty() { "9" } else { cell }).collect::<Vec<_>>().join(",")
                + "\n"
        })
        .collect();
    fs::write(folder.join("d.csv"), whole).unwrap();
    ok(folder, &[&FIT[..], &["--drop", "site", "--rule", "gaussian"]].concat());
    let new = format!("{}\np1,3.5,4.5\np2,,\n", template(folder).join(","));
    fs::write(folder.join("new.csv"), new).unwrap();
    let found = ok(folder, &[&arguments[..], &["--impute", "mean"]].concat());
    assert_eq!(found.lines().nth(2).unwrap(), lines[2]);
    let message = refused(folder, &arguments);
    assert!(message.contains("--impute"), "{message}");
}

#[test]
fn a_filled_template_is_not_lost_and_a_variable_may_be_called_label() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    write_samples(folder);
    // The classes are in `kind`, and `b`, which tells them apart, is called `label`.
    let text = fs::read_to_string(folder.join("d.csv")).unwrap();
    fs::write(folder.join("d.csv"), text.replacen("label,a,b,", "kind,a,label,", 1)).unwrap();
    ok(folder, &[&FIT[..], &["--label", "kind", "--drop", "site", "--impute", "mean"]].concat());
    ok(folder, &["inspect", "--model", "m", "--template", "new.csv"]);
    let header = fs::read_to_string(folder.join("new.csv")).unwrap();
    assert!(header.contains("label"), "{header}");
    let filled = header + "p1,20,30\n";
    fs::write(folder.join("new.csv"), &filled).unwrap();
    let message = refused(folder, &["inspect", "--model", "m", "--template", "new.csv"]);
    assert!(message.contains("exists already") && message.contains("filled in"), "{message}");
    assert_eq!(fs::read_to_string(folder.join("new.csv")).unwrap(), filled);
    let found = ok(folder, &["predict", "--model", "m", "--data", "new.csv", "--out", "-"]);
    assert!(found.lines().nth(1).unwrap().starts_with("p1,k"), "{found}");
}

#[test]
fn hints_name_options_that_work() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    write_samples(folder);
    let whole = fs::read_to_string(folder.join("d.csv")).unwrap();
    // Names that are numbers, as of wavelengths; no value is missing.
    let mut lines = whole.lines();
    let header = lines.next().unwrap().replace(",a,b,c,d,e,f,g,h", ",17,203,511,80,90,5,6,7");
    let rows: Vec<String> = lines.map(|line| line.replace(",,", ",9,").replace(",,", ",9,")).collect();
    let rows = rows.iter().map(|line| if line.ends_with(',') { format!("{line}9") } else { line.clone() });
    let rows = rows.collect::<Vec<_>>().join("\n");
    fs::write(folder.join("d.csv"), format!("{header}\n{rows}\n")).unwrap();
    ok(folder, &[&FIT[..], &["--drop", "site", "--scale", "unit", "--header"]].concat());
    let said = ok(folder, &["inspect", "--model", "m", "--template", "new.csv"]);
    assert!(said.contains("--data new.csv --header --out labels.csv"), "{said}");
    let header = fs::read_to_string(folder.join("new.csv")).unwrap();
    let predict = ["predict", "--model", "m", "--data", "new.csv", "--header", "--out", "-"];
    fs::write(folder.join("new.csv"), format!("{header}p1,3,4\n")).unwrap();
    assert_eq!(ok(folder, &predict).lines().count(), 2);
    // A model that scales samples has no means of them as they are.
    fs::write(folder.join("new.csv"), format!("{header}p1,3,\n")).unwrap();
    for more in [&[][..], &["--impute", "mean"]] {
        let message = refused(folder, &[&predict[..], more].concat());
        assert!(message.contains("only if it was fitted with --impute: fit again"), "{message}");
    }
}
