//! Figures and report of small studies: everything is written, is well-formed, and hostile names stay text.

use std::path::Path;

use menet_io::{ReadOptions, Table, read};
use menet_lab::params::MethodParams;
use menet_lab::study::Validated;
use menet_lab::{MetricChoice, NamedSet, Protocol, Study, figures, report, run};

use crate::common::opened;

const HOSTILE: &str =
    "<img src=x onerror=window.hacked=1></script><script>window.hacked=1</script>$a$\u{202e}\u{1}";

/// A small run over the sets given.
fn study(sets: &[(&str, &Table)], train_per_class: &[usize], repeats: usize) -> Study {
    let protocol = Protocol {
        methods: ["men", "pca"].map(str::to_owned).to_vec(),
        train_per_class: train_per_class.to_vec(),
        repeats,
        dims: (1..=5).collect(),
        seed: 0,
        metric: MetricChoice::Euclidean,
        subset_classes: None,
        min_per_class: None,
        tune: None,
        prepare: menet::prepare::PrepareParams::default(),
        params: MethodParams::parse("nonzeros = 12").unwrap(),
    };
    let named = |name: &str, data| NamedSet { name: name.to_owned(), data, rows: None, ids: None };
    let sets: Vec<NamedSet<'_>> =
        sets.iter().map(|(name, table)| named(name, table.dataset().unwrap())).collect();
    let folder = tempfile::tempdir().unwrap();
    run(&protocol, &sets, folder.path(), &[], &()).unwrap().0
}

/// The first classes of the built-in faces.
fn faces(classes: usize) -> Table {
    let mut table = read("orl", &ReadOptions::default()).unwrap();
    let labels = table.labels.clone().unwrap();
    let keep: Vec<usize> =
        (0..table.rows).filter(|&i| labels[i].parse::<usize>().unwrap() <= classes).collect();
    let x = table.matrix().unwrap();
    let kept: Vec<f64> = keep.iter().flat_map(|&i| x.row(i).iter().copied().collect::<Vec<_>>()).collect();
    table.values = kept.into();
    table.labels = Some(keep.iter().map(|&i| labels[i].clone()).collect());
    table.rows = keep.len();
    table
}

/// A few genes of the leukemia set.
fn genes() -> Table {
    let table = read("leukemia", &ReadOptions::default()).unwrap();
    let names = table.feature_names.clone().unwrap();
    table.select(&names[..60]).unwrap()
}

/// Writes and reads back all figures; returns their names.
fn drawn(study: &Study) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let files = figures::write_all(study, &opened(folder.path()), &()).unwrap();
    for file in &files {
        let bytes = std::fs::read(file).unwrap();
        match file.extension().unwrap().to_str().unwrap() {
            "svg" => {
                let text = String::from_utf8(bytes).unwrap();
                let svg =
                    roxmltree::Document::parse(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
                assert_eq!(svg.root_element().tag_name().name(), "svg");
                assert!(!text.contains("NaN") && !text.contains("inf"), "{}", file.display());
            }
            _ => assert!(bytes.starts_with(b"\x89PNG") && bytes.len() > 5000, "{}", file.display()),
        }
    }
    let stem = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
    files.iter().map(|path| stem(path)).step_by(2).collect()
}

/// The page without the charting library, which holds addresses in its code.
fn page(study: &Study) -> String {
    let html = report::html(study).unwrap();
    let start = html.find("<script>").unwrap();
    let end = start + html[start..].find("</script>").unwrap();
    assert!(html[start..end].contains("plotly.js"), "the charting library is inside");
    [&html[..start], &html[end..]].concat()
}

fn kinds(names: &[String], kind: &str) -> usize {
    names.iter().filter(|name| name.starts_with(kind)).count()
}

#[test]
fn faces_and_genes_are_drawn_and_reported() {
    let (faces, genes) = (faces(4), genes());
    let study = study(&[("faces", &faces), ("genes", &genes)], &[5, 3], 3);
    let names = drawn(&study);
    for kind in ["rates-", "boxes-"] {
        assert_eq!(kinds(&names, kind), 4, "{kind}");
    }
    for kind in ["bases-", "path-", "entries-"] {
        assert_eq!(kinds(&names, kind), 2, "{kind}");
    }
    assert_eq!(kinds(&names, "samples-"), 1, "genes are no images");
    let page = page(&study);
    assert!(page.contains("optimistic"));
    // Classes by name, and from which split every picture comes.
    for words in
        ["Who is taken for whom", "Recall of every class", ">ALL-B<", "repeats 0 to 2", "distinct variables"]
    {
        assert!(page.contains(words), "{words}");
    }
    assert_eq!(page.matches("learned from the split of repeat 0, 5 per class").count(), 2 * 3);
    assert_eq!(page.matches("id=\"confusion-").count(), 4 * 3);
    for row in &study.summary {
        assert!(page.contains(&format!("balanced {:.1}<br>", row.balanced)));
    }
    assert!(page.len() < 1_000_000, "{}", page.len());
    for fetch in ["src=\"http", "href=\"http", "src=http", "@import", "url("] {
        assert!(!page.contains(fetch), "{fetch}");
    }
    // Every chart the script draws has its place.
    for id in ["rates-0", "boxes-3", "path-0", "explorer-paths", "explorer-knot"] {
        assert!(page.contains(&format!("id=\"{id}\"")), "{id}");
    }
    let tuned = Study { tuned: true, ..study };
    let page = self::page(&tuned);
    assert!(!page.contains("optimistic") && page.contains("cross-validation"));
}

#[test]
fn the_page_links_to_validations_beside_it() {
    let table = genes();
    let full = study(&[("genes", &table)], &[2], 1);
    assert!(page(&full).contains("menet validate") && page(&full).contains("validation-genes"));
    let there = Validated { data: "<genes>".to_owned(), folder: "validation-genes".to_owned(), there: true };
    let linked = page(&Study { validations: vec![there], ..full });
    assert!(linked.contains("<a href=\"validation-genes/report.html\">&lt;genes&gt;</a>"));
    assert!(!linked.contains("menet validate"));
}

#[test]
fn hostile_names_stay_text() {
    let mut genes = genes();
    for (kind, label) in genes.labels.as_mut().unwrap().iter_mut().enumerate() {
        *label = format!("{HOSTILE}{}", kind % 2);
    }
    genes.feature_names = Some((0..genes.columns).map(|j| format!("{HOSTILE}{j}")).collect());
    let mut study = study(&[(HOSTILE, &genes)], &[5], 2);
    study.run = HOSTILE.to_owned();
    study.metric = HOSTILE.to_owned();
    for method in study.methods.iter_mut().chain(study.results.iter_mut().map(|row| &mut row.method)) {
        *method += HOSTILE;
    }
    for method in study.summary.iter_mut().map(|row| &mut row.method) {
        *method += HOSTILE;
    }
    for confusion in &mut study.confusions {
        confusion.method += HOSTILE;
    }
    assert_eq!(drawn(&study).len(), 5);
    let page = page(&study);
    assert!(page.contains("&lt;img src=x"));
    assert!(!page.contains("<img"));
    // Ours: data, draw, paths and explorer; and the one that ends where the library was cut out.
    assert_eq!(page.matches("<script").count(), 2);
    assert_eq!(page.matches("</script").count(), 3);
    for figure in figures::all(&study).unwrap() {
        assert!(
            !figure.svg.contains("<script") && !figure.svg.contains("onerror=window.hacked=1>"),
            "{}",
            figure.name
        );
    }
}

#[test]
fn what_is_missing_is_left_out() {
    let genes = genes();
    let full = study(&[("genes", &genes)], &[5], 1);

    // One repeat has no spread; a method may lack dimensions, or all of them.
    let mut few = full.clone();
    few.results.retain(|row| row.method != "pca" || row.dimension == 3);
    few.methods.push("flda".to_owned());
    assert_eq!(kinds(&drawn(&few), "boxes-"), 1);
    let text = page(&few);
    assert!(text.contains("done once") && !text.contains("NaN"));
    assert!(!text.contains('±'), "one repeat has no standard deviation");
    assert!(text.contains("the one split there is, repeat 0"));

    // Without MEN, or with a model whose paths were left out, nothing can be explored.
    let mut bare = full.clone();
    for showcase in &mut bare.showcases {
        showcase.men = showcase.men.take().map(|men| men.without_paths());
    }
    let mut without = full.clone();
    for showcase in &mut without.showcases {
        showcase.men = None;
        showcase.bases.retain(|(name, _)| name == "pca");
        showcase.rates_by_nonzeros.clear();
    }
    for study in [&bare, &without] {
        let names = drawn(study);
        assert_eq!((kinds(&names, "path-"), kinds(&names, "bases-")), (0, 1));
        assert!(!page(study).contains("id=\"explorer\""));
    }

    let empty =
        Study { summary: vec![], results: vec![], showcases: vec![], confusions: vec![], ..full.clone() };
    assert_eq!(drawn(&empty).len(), 0);
    assert!(page(&empty).contains("No results"));

    let mut wrong = full;
    wrong.showcases[0].samples[0].1.pop();
    assert!(figures::all(&wrong).unwrap_err().to_string().contains("59"));
    assert!(report::html(&wrong).is_err());
}
