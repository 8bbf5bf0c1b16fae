//! Small studies from built-in data, for looking at figures and reports: real splits, real fits, few methods.

use faer::{Mat, MatRef};
use menet::baselines::Pca;
use menet::classify::{Metric, nearest_neighbors};
use menet::sparse::SparseVector;
use menet::{Dataset, Men, MenParams, Projection, Reducer};
use menet_io::Table;
use menet_lab::study::{ResultRow, Showcase, Study, SummaryRow};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// What to run.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) name: String,
    pub(crate) train_per_class: Vec<usize>,
    pub(crate) repeats: usize,
    pub(crate) dimensions: usize,
    pub(crate) nonzeros: usize,
}

/// The methods: MEN, MEN with a tenth of the variables, PCA, a random projection.
pub(crate) const METHODS: [&str; 4] = ["MEN", "MEN, sparser", "PCA", "random"];

/// Runs the plans and puts them into one study.
pub(crate) fn study(plans: &[(Plan, &Table)]) -> Result<Study, menet_io::Error> {
    let mut study = Study {
        tuned: false,
        metric: "euclidean".to_owned(),
        methods: METHODS.map(str::to_owned).to_vec(),
        summary: Vec::new(),
        results: Vec::new(),
        run: String::new(),
        showcases: Vec::new(),
    };
    for (plan, table) in plans {
        study.run += &format!("[[run]]\n{plan:#?}\n");
        for &train in &plan.train_per_class {
            for repeat in 0..plan.repeats {
                one(plan, table, train, repeat, &mut study)?;
            }
            summarise(plan, train, &mut study);
        }
    }
    Ok(study)
}

fn one(
    plan: &Plan,
    table: &Table,
    train: usize,
    repeat: usize,
    study: &mut Study,
) -> Result<(), menet_io::Error> {
    let data = table.dataset()?;
    let mut rng = Pcg64::seed_from_u64((train * 1000 + repeat) as u64);
    let (mut learn, mut test) = (Vec::new(), Vec::new());
    for class in 0..data.classes().len() {
        let mut members = data.members(class).to_vec();
        members.shuffle(&mut rng);
        let cut = train.min(members.len() - 1);
        learn.extend_from_slice(&members[..cut]);
        test.extend_from_slice(&members[cut..]);
    }
    let rows = |rows: &[usize]| Mat::from_fn(rows.len(), table.columns, |i, j| data.x()[(rows[i], j)]);
    let labels = |rows: &[usize]| rows.iter().map(|&i| data.classes()[data.class_of(i)].clone()).collect();
    let (gallery, probes) = (rows(&learn), rows(&test));
    let (known, truth): (Vec<String>, Vec<String>) = (labels(&learn), labels(&test));
    let mut learned = Dataset::from_owned(gallery.clone(), &known)?;
    if let Some(names) = &table.feature_names {
        learned = learned.with_feature_names(names.clone())?;
    }
    if let Some((height, width)) = table.image_shape {
        learned = learned.with_image_shape(height, width)?;
    }
    let d = plan.dimensions.min(data.classes().len() - 1);
    let params = MenParams { components: Some(d), nonzeros: Some(plan.nonzeros), ..MenParams::default() };
    let men = menet::fit(&learned, &params, &())?;
    let sparser = men.at(Some((plan.nonzeros / 10).max(1)), None)?;
    let most = plan.dimensions.min(learn.len() - 1);
    let random: Vec<SparseVector> = (0..most)
        .map(|_| {
            let weights: Vec<f64> = (0..table.columns).map(|_| rng.random::<f64>() - 0.5).collect();
            SparseVector::from_dense(&weights)
        })
        .collect();
    let bases = [
        men.projection().clone(),
        sparser.projection().clone(),
        Pca {}.fit(&learned, Some(most), &())?.projection,
        Projection::new(men.projection().mean().to_vec(), random)?,
    ];
    let rate = |w: &Projection, dimension: usize| {
        rate_of(w, dimension, (gallery.as_ref(), &known), (probes.as_ref(), &truth))
    };
    for (method, w) in METHODS.iter().zip(&bases) {
        for dimension in 1..=w.components() {
            study.results.push(ResultRow {
                data: plan.name.clone(),
                train_per_class: train,
                method: (*method).to_owned(),
                repeat,
                dimension,
                rate: rate(w, dimension)?,
            });
        }
    }
    if repeat == 0 {
        let steps = [1, 2, 5, 10, 20, 50, 100, 200].into_iter().filter(|&k| k <= plan.nonzeros);
        let by = |k: usize| Ok((k, rate(men.at(Some(k), None)?.projection(), d)?));
        let rates_by_nonzeros = steps.map(by).collect::<Result<Vec<_>, menet_io::Error>>()?;
        study.showcases.push(showcase(plan, train, &data, bases, men, rates_by_nonzeros));
    }
    Ok(())
}

fn showcase(
    plan: &Plan,
    train: usize,
    data: &Dataset<'_>,
    bases: [Projection; 4],
    men: Men,
    rates_by_nonzeros: Vec<(usize, f64)>,
) -> Showcase {
    let few = |class: usize| {
        let sample = move |&i: &usize| {
            let values: Vec<f64> = data.x().row(i).iter().copied().collect();
            (data.classes()[class].clone(), values)
        };
        data.members(class).iter().take(8).map(sample)
    };
    Showcase {
        data: plan.name.clone(),
        train_per_class: train,
        image_shape: data.image_shape(),
        feature_names: data.feature_names().map(<[String]>::to_vec),
        samples: (0..data.classes().len().min(5)).flat_map(few).collect(),
        bases: METHODS.iter().map(|name| (*name).to_owned()).zip(bases).collect(),
        men: Some(men),
        rates_by_nonzeros,
    }
}

/// Percent of the probes whose nearest neighbour in the first dimensions has their label.
fn rate_of(
    w: &Projection,
    dimension: usize,
    (gallery, known): (MatRef<'_, f64>, &[String]),
    (probes, truth): (MatRef<'_, f64>, &[String]),
) -> Result<f64, menet_io::Error> {
    let cut = Projection::new(w.mean().to_vec(), w.axes()[..dimension].to_vec())?;
    let rows: Vec<usize> = (0..known.len()).collect();
    let (gallery, probes) = (cut.transform(gallery)?, cut.transform(probes)?);
    let found = nearest_neighbors(gallery.as_ref(), &rows, probes.as_ref(), 1, Metric::Euclidean)?;
    let right = found.iter().zip(truth).filter(|(found, truth)| known[found.class] == **truth).count();
    Ok(100.0 * right as f64 / truth.len() as f64)
}

/// The best mean over dimensions of every method.
fn summarise(plan: &Plan, train: usize, study: &mut Study) {
    for method in METHODS {
        let mean = |dimension: usize| {
            let rates: Vec<f64> = study
                .results
                .iter()
                .filter(|r| r.data == plan.name && r.train_per_class == train)
                .filter(|r| r.method == method && r.dimension == dimension)
                .map(|r| r.rate)
                .collect();
            let n = rates.len() as f64;
            let mean = rates.iter().sum::<f64>() / n;
            let squares: f64 = rates.iter().map(|r| (r - mean) * (r - mean)).sum();
            (mean, (squares / (n - 1.0)).sqrt())
        };
        let all = (1..=plan.dimensions).map(|d| (d, mean(d))).filter(|(_, (rate, _))| rate.is_finite());
        let best = all.fold(None, |best: Option<(usize, (f64, f64))>, next| match best {
            Some(best) if best.1.0 >= next.1.0 => Some(best),
            _ => Some(next),
        });
        if let Some((dimension, (rate, sd))) = best {
            study.summary.push(SummaryRow {
                data: plan.name.clone(),
                train_per_class: train,
                method: method.to_owned(),
                rate,
                sd,
                dimension,
                seconds: 0.0,
            });
        }
    }
}
