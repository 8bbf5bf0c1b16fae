//! All cells of an experiment, on all cores.

use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

use menet::evaluate::subset;
use menet::prepare::{Impute, Preparation, PrepareParams};
use menet::{Dataset, Men, Method, Named, SizeLimits};
use toml::Table;

use crate::cell::{Cell, CellKey, DimensionResult, TunedChoice, evaluate, places_of};
use crate::error::{Error, Result};
use crate::folder::Folder;
use crate::journal::{Fingerprint, Journal};
use crate::names::slug;
use crate::params::overlay;
use crate::progress::{Progress, QuietProgress, Steps, Tracker};
use crate::protocol::{NamedSet, Protocol};
use crate::space::sparsities;
use crate::study::{ChoiceRow, ResultRow, Showcase, Study, Validated};
use crate::workers::{self, locked};
use crate::{figures, output, report, summary};

/// Runs the unfinished cells in `folder`, and writes `results.csv`, `summary.csv`, `confusion.csv`, `splits.csv`, `run.toml`,
/// with tuning `choices.csv`, the figures and `report.html` there. A run with fewer repeats in the same folder is extended.
///
/// `command` is the command line of the user, for the record.
///
/// # Errors
/// When the protocol cannot be run on the sets, the folder holds another run or cannot be written, or `progress` asks to
/// stop; finished cells are kept.
pub fn run(
    protocol: &Protocol,
    sets: &[NamedSet<'_>],
    folder: &Path,
    command: &[String],
    progress: &dyn Progress,
) -> Result<(Study, Vec<Cell>)> {
    protocol.check()?;
    let sets: Vec<NamedSet<'_>> = sets.iter().map(|set| protocol.restrict(set)).collect::<Result<_>>()?;
    if let Some(k) = (1..sets.len()).find(|&k| sets[..k].iter().any(|set| set.name == sets[k].name)) {
        let message = format!("two sets have the name {:?}; rename one of the files", sets[k].name);
        return Err(Error::Usage(message));
    }
    // Report sparse data, and a class that is too small, now, not after an hour.
    for set in &sets {
        set.data.x()?;
        for &size in &protocol.train_per_class {
            protocol.split(set, size, 0)?;
        }
    }
    for name in &protocol.methods {
        let method = protocol.params.method(name)?;
        for set in &sets {
            let in_context = |source| Error::Method { context: format!("{name} on {}", set.name), source };
            method.reducer().check(set.data.variables()).map_err(&in_context)?;
            method.men().map_or(Ok(()), |men| men.check_names(&set.data)).map_err(in_context)?;
        }
    }
    let fingerprints: Vec<Fingerprint> = sets.iter().map(Fingerprint::new).collect();
    let run_toml = output::run_toml(protocol, &fingerprints, command)?;
    let folder = &Folder::open(folder, "evaluate", output::FILES)?;
    let mut journal: Journal<Cell> = Journal::open(folder, &options(protocol)?, &fingerprints)?;
    journal.refuse_fewer(folder.path(), protocol.repeats, |cell| cell.place.repeat)?;
    let places = places(protocol, &sets);
    complete(protocol, &places, &mut journal, progress)?;
    let cells: Vec<Cell> = places.iter().filter_map(|(_, place)| journal.find(place).cloned()).collect();
    let mut study = Study {
        tuned: protocol.tune.is_some(),
        metric: protocol.metric.name().to_owned(),
        methods: protocol.methods.clone(),
        summary: summary::summarize(protocol, &cells),
        confusions: summary::confusions(protocol, &cells, &sets),
        results: results(&cells),
        choices: choices(&cells),
        run: run_toml,
        showcases: Vec::new(),
        validations: sets.iter().map(|set| validated(set, folder.path())).collect(),
    };
    output::write(&study, protocol, &sets, folder)?;
    let mut steps = Steps::new(progress, sets.len() * protocol.methods.len());
    for set in &sets {
        study.showcases.push(showcase(protocol, set, &cells, progress, &mut steps)?);
    }
    figures::write_all(&study, folder, progress)?;
    Steps::new(progress, 1).next("writing the report".to_owned());
    let page = report::html(&study)?;
    folder.write("report.html", page.as_bytes())?;
    folder.finish()?;
    Ok((study, cells))
}

/// What the cells depend on besides the data. The number of repeats is not in it: raising it goes on with the same run.
fn options(protocol: &Protocol) -> Result<Table> {
    let mut options = Table::try_from(protocol).map_err(|e| Error::Usage(e.to_string()))?;
    options.remove("repeats");
    // Parameters in full, because a parameter file names the file of a feature graph, not its edges.
    let methods = protocol.methods.iter().map(|name| {
        let method = protocol.params.method(name)?;
        Ok((name.clone(), toml::Value::String(format!("{method:?}"))))
    });
    options.insert("params".to_owned(), toml::Value::Table(methods.collect::<Result<_>>()?));
    Ok(options)
}

/// All cells, repeat by repeat.
fn places<'a>(protocol: &Protocol, sets: &'a [NamedSet<'a>]) -> Vec<(&'a NamedSet<'a>, CellKey)> {
    let mut places = Vec::new();
    for set in sets {
        for &train_per_class in &protocol.train_per_class {
            for repeat in 0..protocol.repeats {
                for method in &protocol.methods {
                    let (data, method) = (set.name.clone(), method.clone());
                    places.push((set, CellKey { data, train_per_class, repeat, method }));
                }
            }
        }
    }
    places
}

/// Computes the cells that the journal does not have.
fn complete(
    protocol: &Protocol,
    places: &[(&NamedSet<'_>, CellKey)],
    journal: &mut Journal<Cell>,
    progress: &dyn Progress,
) -> Result<()> {
    let open: Vec<&(&NamedSet<'_>, CellKey)> =
        places.iter().filter(|(_, place)| journal.find(place).is_none()).collect();
    let tracker = Tracker::new(
        open.iter().map(|(_, place)| place),
        places.len() - open.len(),
        workers::count(open.len()),
    );
    let (journal, tracker) = (Mutex::new(journal), Mutex::new(tracker));
    workers::each(&open, |(set, place)| {
        if progress.stop() {
            let source = menet::Error::Stopped { stage: menet::Stage::Preprocess };
            return Err(Error::Method { context: place.to_string(), source });
        }
        note(&tracker, progress, |tracker, at| tracker.begin(place, at));
        let cell = evaluate(protocol, set, place, &QuietProgress(progress))?;
        locked(&journal).add(cell)?;
        note(&tracker, progress, |tracker, at| tracker.finish(place, at));
        Ok(())
    })
}

/// Updates the tracker and reports the progress. The lock ensures that no other worker reports an older state later.
fn note(tracker: &Mutex<Tracker>, progress: &dyn Progress, event: impl Fn(&mut Tracker, Instant)) {
    let mut tracker = locked(tracker);
    let now = Instant::now();
    event(&mut tracker, now);
    progress.status(tracker.status(now));
}

/// Where the report looks for the validation of a set.
fn validated(set: &NamedSet<'_>, folder: &Path) -> Validated {
    let name = format!("validation-{}", slug(&set.name));
    Validated {
        data: set.name.clone(),
        there: folder.join(&name).join("report.html").is_file(),
        folder: name,
    }
}

fn results(cells: &[Cell]) -> Vec<ResultRow> {
    let row = |cell: &Cell, outcome: &DimensionResult| ResultRow {
        data: cell.place.data.clone(),
        train_per_class: cell.place.train_per_class,
        method: cell.place.method.clone(),
        repeat: cell.place.repeat,
        dimension: outcome.dimension,
        rate: outcome.rate,
    };
    cells.iter().flat_map(|cell| cell.outcomes.iter().map(move |outcome| row(cell, outcome))).collect()
}

fn choices(cells: &[Cell]) -> Vec<ChoiceRow> {
    let row = |cell: &Cell| {
        let TunedChoice { dimension, metric, params, validated } = cell.chosen.as_ref()?;
        let parameter = |(name, value): (&String, &toml::Value)| format!("{name} = {value}");
        Some(ChoiceRow {
            data: cell.place.data.clone(),
            train_per_class: cell.place.train_per_class,
            method: cell.place.method.clone(),
            repeat: cell.place.repeat,
            dimension: *dimension,
            metric: metric.name().to_owned(),
            validated: *validated,
            parameters: params.iter().map(parameter).collect::<Vec<_>>().join(", "),
        })
    };
    cells.iter().filter_map(row).collect()
}

/// The number of classes and of samples per class that are shown.
const SHOWN: (usize, usize) = (8, 5);

/// The repeat whose split is shown.
const SHOWN_REPEAT: usize = 0;

/// The projections that every method learned from the first split of a set at its first training size.
fn showcase(
    protocol: &Protocol,
    set: &NamedSet<'_>,
    cells: &[Cell],
    monitor: &dyn Progress,
    steps: &mut Steps<'_>,
) -> Result<Showcase> {
    let size = protocol.train_per_class[0];
    let split = protocol.split(set, size, SHOWN_REPEAT)?;
    let (train, test) = (subset(&set.data, &split.train)?, subset(&set.data, &split.test)?);
    let dims = protocol.dims_for(&set.data, size);
    let first = |method: &str| {
        let shown = |cell: &&Cell| {
            cell.place.is_repeat_of(&set.name, size, method) && cell.place.repeat == SHOWN_REPEAT
        };
        cells.iter().find(shown)
    };
    let mut showcase = Showcase {
        data: set.name.clone(),
        train_per_class: size,
        repeat: SHOWN_REPEAT,
        image_shape: set.data.image_shape(),
        feature_names: set.data.feature_names().map(<[String]>::to_vec),
        samples: samples(set)?,
        bases: Vec::new(),
        men: None,
        rates_by_nonzeros: Vec::new(),
    };
    for name in &protocol.methods {
        steps.next(format!("{name} for the figures, {}", set.name));
        let Some(cell) = first(name).filter(|cell| cell.failed.is_none()) else { continue };
        let mut method = protocol.params.method(name)?;
        let mut most = dims.iter().copied().max();
        if let Some(choice) = &cell.chosen {
            // The choice has every parameter that is set.
            method = overlay(&Method::from_name(name)?, &choice.params)?;
            most = most.filter(|_| method.men().is_none());
        }
        let reduced = method.fit(&protocol.prepare, &train, most, &QuietProgress(monitor))?;
        if let Some(men) = reduced.men().filter(|_| name == "men") {
            showcase.rates_by_nonzeros = rates_by_nonzeros(men, &train, &test)?;
            showcase.men = Some(men.clone());
        }
        showcase.bases.push((name.clone(), reduced.projection));
    }
    Ok(showcase)
}

/// The percentage of test samples that a model recognises, by the largest number of variables per path.
fn rates_by_nonzeros(men: &Men, train: &Dataset<'_>, test: &Dataset<'_>) -> Result<Vec<(usize, f64)>> {
    let used = |path: &menet::lars::Path| path.last().coefficients.nonzeros();
    let most = men.paths().iter().map(used).max().unwrap_or(0);
    let class_of = places_of(men.classes(), test.classes());
    let mut rates = Vec::new();
    // Only a few numbers, because each needs a refit and, with a limit on the panel, an elimination.
    for k in sparsities(most).into_iter().filter(|&k| k > 0) {
        let reading = SizeLimits::default().with(|it| it.nonzeros = Some(k));
        let sparser = match men.at(reading, Some(train)) {
            Ok(sparser) => sparser,
            // A tie can leave an axis without variables.
            Err(menet::Error::Tie { .. } | menet::Error::NoVariable { .. }) => continue,
            Err(error) => return Err(error.into()),
        };
        let z = sparser.project(test)?;
        let given = sparser.rule()?.classify(z.as_ref())?;
        let right =
            given.iter().zip(test.class_indices()).filter(|(given, class)| class_of[**given] == **class);
        rates.push((k, 100.0 * right.count() as f64 / test.samples() as f64));
    }
    Ok(rates)
}

/// A few samples of the first classes.
fn samples(set: &NamedSet<'_>) -> Result<Vec<(String, Vec<f64>)>> {
    // A picture has no gaps.
    let mean = PrepareParams::default().with(|it| it.impute = Some(Impute::Mean));
    let data = &Preparation::learn(&set.data, &mean)?.prepare(&set.data)?;
    let x = data.x()?;
    let of_class = |class: usize| {
        let row = |&i: &usize| (data.classes()[class].clone(), x.row(i).iter().copied().collect());
        data.members(class).iter().take(SHOWN.0).map(row).collect::<Vec<_>>()
    };
    Ok((0..data.classes().len().min(SHOWN.1)).flat_map(of_class).collect())
}
