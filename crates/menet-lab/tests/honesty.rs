//! Validation is not fooled: by copies of samples, by labels that cannot be learned, by groups of several classes, by noise.

use faer::Mat;
use menet::evaluate::generator;
use menet::{Dataset, MenParams};
use menet_lab::validate::{
    Decisions, HeldOutCase, MenProcedure, Options, Procedure, Validation, ValidationSubject, validate,
};
use menet_lab::{NamedSet, Progress, Result};
use rand::RngExt;
use rand_pcg::Pcg64;

fn normal(rng: &mut Pcg64) -> f64 {
    (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0
}

fn set(x: Mat<f64>, labels: &[usize]) -> NamedSet<'static> {
    NamedSet { name: "made".to_owned(), data: Dataset::from_owned(x, labels).unwrap(), rows: None, ids: None }
}

fn fixed(params: &MenParams) -> MenProcedure {
    MenProcedure::fixed(params.clone())
}

fn options() -> Options {
    Options { folds: 4, repeats: 1, permutations: 99, pairs: 0, ..Options::default() }
}

fn go(
    set: &NamedSet<'_>,
    procedure: &dyn Procedure,
    groups: Option<&[usize]>,
    options: &Options,
) -> Validation {
    validate(ValidationSubject { set, groups, procedures: &[procedure] }, options, None, &[], &()).unwrap()
}

/// Calls the class of the nearest mean; the probabilities are those of the classes in the training part. With `blind` the most frequent class
/// is called, so that only labels decide.
struct NearestMean {
    blind: bool,
}

impl Procedure for NearestMean {
    fn name(&self) -> &str {
        "means"
    }

    fn identity(&self) -> String {
        format!("means {}", self.blind)
    }

    fn decide(&self, case: &HeldOutCase<'_>, _: &dyn Progress) -> Result<Decisions> {
        let x = case.data.x()?;
        let classes = case.data.classes().len();
        let (mut sums, mut counts) = (Mat::<f64>::zeros(classes, x.ncols()), vec![0.0; classes]);
        for &i in &case.split.train {
            let class = case.data.class_of(i);
            counts[class] += 1.0;
            (0..x.ncols()).for_each(|j| sums[(class, j)] += x[(i, j)]);
        }
        let far = |i: usize, class: usize| -> f64 {
            (0..x.ncols()).map(|j| (x[(i, j)] - sums[(class, j)] / counts[class]).powi(2)).sum()
        };
        let known = || (0..classes).filter(|&class| counts[class] > 0.0);
        let decide = |&i: &usize| {
            let worth = |class: usize| if self.blind { -counts[class] } else { far(i, class) };
            known().min_by(|&a, &b| worth(a).total_cmp(&worth(b))).unwrap()
        };
        let total: f64 = counts.iter().sum();
        let priors: Vec<f64> = counts.iter().map(|count| count / total).collect();
        Ok(Decisions {
            given: case.split.test.iter().map(decide).collect(),
            probabilities: Some(vec![priors; case.split.test.len()]),
            panel: Vec::new(),
            variables: x.ncols(),
            choice: String::new(),
        })
    }
}

/// Noise with every row twice is noise: without care, the copy of a held-out sample is the nearest neighbour.
#[test]
fn noise_with_every_row_twice_is_at_chance() {
    let mut rng = generator(1, &[]);
    let noise = Mat::from_fn(40, 20, |_, _| normal(&mut rng));
    let own: Vec<usize> = (0..40).map(|_| rng.random_range(0..2)).collect();
    let labels: Vec<usize> = (0..80).map(|i| own[i % 40]).collect();
    let twice = set(Mat::from_fn(80, 20, |i, j| noise[(i % 40, j)]), &labels);
    let params = MenParams::default().with(|it| it.rule.kind = Some(menet::rules::RuleKind::Nearest));
    let found = go(&twice, &fixed(&params), None, &options());
    assert!(found.methods[0].balanced.mean < 0.65, "{:?}", found.methods[0].balanced);
    assert!(found.permutation.as_ref().unwrap().p_value.mean > 0.1);
    assert_eq!(found.design.copies, 40);
    assert!(found.copies.as_ref().unwrap().starts_with("40 of 80 samples are copies"));
    assert!(
        found.words[0].contains("40 of 80 samples are copies") && found.words[0].contains("distinct sample")
    );
    // Copies say nothing new: the interval is that of 40 samples.
    let once = go(&set(noise, &own), &fixed(&params), None, &options());
    let width = |found: &Validation| found.methods[0].rate.high - found.methods[0].rate.low;
    assert!((width(&found) / width(&once) - 1.0).abs() < 0.1, "{} {}", width(&found), width(&once));
    assert_eq!((once.design.copies, once.copies), (0, None));
}

/// Labels of a binary marker that cannot be learned when permuted are no sign that chance does as well.
#[test]
fn a_binary_marker_equal_to_the_class_is_found() {
    let labels: Vec<usize> = (0..100).map(|i| i % 2).collect();
    let marker = set(Mat::from_fn(100, 1, |i, _| labels[i] as f64), &labels);
    let found = go(&marker, &MenProcedure::new(MenParams::default()), None, &options());
    let test = found.permutation.unwrap();
    assert_eq!((found.methods[0].balanced.mean, test.as_good), (1.0, 0));
    assert!((test.p_value.mean - 0.01).abs() < 1e-12 && test.failed > 0, "{test:?}");
    assert!(test.permuted.iter().all(|&balanced| balanced < 0.8), "decisions at chance");
    assert!(found.words[2].contains("could not be fitted in every fold"), "{}", found.words[2]);
    // So few values make samples equal that are no copies.
    assert!(found.design.copies == 0 && found.copies.unwrap().contains("count as different samples"));
}

/// One relabelled sample in a group of three took p from 0.01 to 0.36.
#[test]
fn one_relabelled_sample_costs_little() {
    let mut rng = generator(4, &[]);
    let groups: Vec<usize> = (0..48).map(|i| i / 3).collect();
    let mut labels: Vec<usize> = groups.iter().map(|group| group % 2).collect();
    let x = Mat::from_fn(48, 6, |i, j| normal(&mut rng) + if j == 0 { 4.0 * labels[i] as f64 } else { 0.0 });
    let p = |labels: &[usize]| {
        let found = go(&set(x.clone(), labels), &NearestMean { blind: false }, Some(&groups), &options());
        (found.permutation.unwrap(), found.words[1].clone())
    };
    assert!((p(&labels).0.p_value.mean - 0.01).abs() < 1e-12);
    labels[7] = 1 - labels[7];
    let (test, words) = p(&labels);
    assert!((test.p_value.mean - 0.01).abs() < 1e-12 && test.limit().is_none(), "{test:?}");
    assert!(words.contains("groups of one class exchanged it"), "{words}");
}

#[test]
fn a_p_value_that_cannot_be_small_is_said_to_be_so() {
    let mut rng = generator(5, &[]);
    let x = Mat::from_fn(24, 6, |i, j| normal(&mut rng) + if j == 0 { 4.0 * (i / 12) as f64 } else { 0.0 });
    let labels: Vec<usize> = (0..24).map(|i| i / 12).collect();
    // Four patients of six samples each.
    let groups: Vec<usize> = (0..24).map(|i| i / 6).collect();
    let found = go(&set(x, &labels), &NearestMean { blind: false }, Some(&groups), &options());
    let test = found.permutation.unwrap();
    assert_eq!((test.arrangements, test.many()), (6, false));
    assert!(test.limit().unwrap().contains("p cannot be below 0.17"), "{test:?}");
    assert!(found.words[1].contains("P cannot be below 0.17"), "{}", found.words[1]);
}

/// How labels come about where samples say nothing about them.
type Labels = fn(&mut Pcg64, &[usize]) -> Vec<usize>;

/// Every sample has a class of its own, seven of ten the first.
fn of_samples(rng: &mut Pcg64, groups: &[usize]) -> Vec<usize> {
    groups.iter().map(|_| usize::from(rng.random::<f64>() > 0.7)).collect()
}

/// Every group has a class, and one sample in ten another.
fn of_groups(rng: &mut Pcg64, groups: &[usize]) -> Vec<usize> {
    let most = groups.iter().max().unwrap() + 1;
    let classes: Vec<usize> = (0..most).map(|_| usize::from(rng.random::<f64>() > 0.6)).collect();
    groups.iter().map(|&group| classes[group] ^ usize::from(rng.random::<f64>() < 0.05)).collect()
}

/// P(p ≤ α) is at most α where there is nothing to find, with groups of one class, of several and of both, for a procedure that looks at
/// samples and for one that only counts labels, whose log loss would notice if permuted labels were of another kind.
#[test]
fn p_values_are_valid_with_mixed_groups() {
    const SETS: u64 = 300;
    let sizes = [1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4, 4];
    let unequal: Vec<usize> = sizes.iter().enumerate().flat_map(|(g, &size)| vec![g; size]).collect();
    let batches: Vec<usize> = (0..28).map(|i| i / 7).collect();
    let cases: [(&str, Labels, &[usize]); 3] = [
        ("classes of samples, unequal groups", of_samples, &unequal),
        ("classes of groups with errors", of_groups, &unequal),
        ("classes of samples, batches", of_samples, &batches),
    ];
    for (name, labels, groups) in cases {
        for blind in [false, true] {
            let mut p_values = Vec::new();
            for seed in 0..SETS {
                let rng = &mut generator(seed, &[7]);
                let effects = Mat::from_fn(groups.len(), 3, |_, _| normal(rng));
                let x = Mat::from_fn(groups.len(), 3, |i, j| 0.7 * normal(rng) + effects[(groups[i], j)]);
                let labels = labels(rng, groups);
                if (0..2).any(|class| labels.iter().filter(|&&label| label == class).count() < 4) {
                    continue;
                }
                let options = Options { folds: 3, permutations: 39, seed, ..options() };
                let subject = ValidationSubject {
                    set: &set(x, &labels),
                    groups: Some(groups),
                    procedures: &[&NearestMean { blind }],
                };
                // Labels of which nothing can be held out have no p-value.
                if let Ok(found) = validate(subject, &options, None, &[], &()) {
                    p_values.push(found.permutation.unwrap().p_value.mean);
                }
            }
            let n = p_values.len() as f64;
            assert!(n > 0.8 * SETS as f64, "{name}: {n}");
            for level in [0.05, 0.1, 0.25, 0.5] {
                let part = p_values.iter().filter(|&&p| p <= level + 1e-9).count() as f64 / n;
                let error = (level * (1.0 - level) / n).sqrt();
                assert!(part <= level + 3.0 * error, "{name}, blind {blind}: {part} at {level}");
            }
        }
    }
}
