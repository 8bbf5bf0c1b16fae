//! The results of a page: a small cross-validation of MEN, and the rest made up.

use faer::Mat;
use menet::evaluate::{Split, generator, stratified_folds, subset};
use menet::scores::scores_of;
use menet::{Dataset, Men, MenParams, fit};
use menet_lab::validate::{
    Design, Interval, MethodResult, Models, PanelEntry, PermutationTest, RepeatRow, SampleResult, SizeRow,
    StabilityFound, Validation,
};
use rand::RngExt;

use super::{Outcome, Pages};

impl Pages {
    /// A validation with a real cross-validation of MEN.
    pub(super) fn validation(
        &self,
        name: &str,
        data: &Dataset<'_>,
        params: &MenParams,
    ) -> Outcome<Validation> {
        let mut rng = generator(1, &[7]);
        let (n, c) = (data.samples(), data.classes().len());
        let mut folds: Vec<(Split, Men)> = Vec::new();
        let mut samples: Vec<SampleResult> = (0..n)
            .map(|i| SampleResult {
                row: i,
                name: (i % 9 != 8).then(|| self.named(i, &format!("sample {i}"))),
                class: data.class_of(i),
                tested: 0,
                wrong: 0,
                given: vec![0; c],
                probabilities: vec![0.0; c],
            })
            .collect();
        for split in stratified_folds(data, 4, &mut rng)? {
            let men = fit(&subset(data, &split.train)?, params, &())?;
            let tested = subset(data, &split.test)?;
            let z = men.projection().project(&tested)?;
            let (given, logs) =
                (men.rule()?.classify(z.as_ref())?, men.rule()?.log_probabilities(z.as_ref())?);
            for (k, &i) in split.test.iter().enumerate() {
                let sample = &mut samples[i];
                sample.tested += 1;
                sample.wrong += usize::from(given[k] != sample.class);
                sample.given[given[k]] += 1;
                sample.probabilities = (0..c).map(|class| logs[(k, class)].exp()).collect();
            }
            folds.push((split, men));
        }
        let men = assessed(&self.named(0, "men"), samples.clone(), data)?;
        let other = |name: &str, every: usize| {
            let mut samples = samples.clone();
            for sample in samples.iter_mut().step_by(every) {
                let wrong = (sample.class + 1) % c;
                sample.given = vec![0; c];
                sample.given[wrong] = 1;
                sample.wrong = sample.tested;
                sample.probabilities =
                    (0..c).map(|class| if class == wrong { 0.9 } else { 0.1 / (c - 1) as f64 }).collect();
            }
            assessed(&self.named(1, name), samples, data)
        };
        let methods = vec![men, other("l1-logistic", 9)?, other("random-forest", 6)?];
        let all = fit(data, params, &())?;
        let stability = self.stability(data, params, &all)?;
        let panel = panel(&all, data, &folds, &stability);
        let chance = 1.0 / c as f64;
        let permuted: Vec<f64> =
            (0..199).map(|_| chance + 0.12 * (rng.random::<f64>() + rng.random::<f64>() - 1.0)).collect();
        let sizes =
            [2.0, 4.2, 7.8, 15.5, 31.0, 62.2, 110.0].iter().enumerate().map(|(k, &variables)| SizeRow {
                variables,
                balanced: [0.71, 0.83, 0.9, 0.92, 0.94, 0.935, 0.93][k],
                standard_error: 0.03,
                chosen: k == 3,
                best: k == 4,
            });
        let (split, fold) = folds.swap_remove(0);
        Ok(Validation {
            data: self.named(2, name),
            classes: data.classes().to_vec(),
            class_sizes: (0..c).map(|class| data.members(class).len()).collect(),
            variables: data.variables(),
            design: Design { folds: 4, repeats: 1, inner_folds: 3, groups: None, copies: 0, leave_one_group_out: false, seed: 1 },
            copies: None,
            permutation: Some(PermutationTest {
                observed: methods[0].balanced.mean,
                permuted,
                as_good: 0,
                p_value: Interval { mean: 0.005, low: 0.0, high: 0.018 },
                asked: 999,
                early: true,
                failed: 0,
                arrangements: 1_000_000,
                exchanged: None,
            }),
            methods,
            stability: Some(stability),
            sizes: sizes.collect(),
            panel,
            models: Some(Models { all, split, fold }),
            words: vec![
                self.named(3, "Scores were estimated by nested, stratified cross-validation (made-up text of a sample page)."),
                "Intervals are Nadeau and Bengio's. The seed was 1; menet 0.2.0.".to_owned(),
            ],
            run: self.named(1, "command = \"menet validate --data leukemia\"\nseed = 1\nmenet = \"0.2.0\"\n"),
            seconds: 42.0,
        })
    }

    /// The selections of a few half-samples.
    fn stability(&self, data: &Dataset<'_>, params: &MenParams, all: &Men) -> Outcome<StabilityFound> {
        const HALVES: usize = 12;
        let mut counts = vec![0_usize; data.variables()];
        let mut rng = generator(2, &[]);
        for _ in 0..HALVES / 2 {
            for split in stratified_folds(data, 2, &mut rng)? {
                fit(&subset(data, &split.train)?, params, &())?
                    .panel()
                    .into_iter()
                    .for_each(|j| counts[j] += 1);
            }
        }
        let mut frequencies: Vec<(usize, f64)> = counts
            .iter()
            .enumerate()
            .filter(|(_, n)| **n > 0)
            .map(|(j, &n)| (j, n as f64 / HALVES as f64))
            .collect();
        frequencies.sort_by(|a, b| b.1.total_cmp(&a.1));
        let size = all.panel().len();
        let at = |k: usize| Interval {
            mean: 0.3 + 0.03 * k as f64,
            low: 0.2 + 0.03 * k as f64,
            high: 0.42 + 0.03 * k as f64,
        };
        Ok(StabilityFound {
            half_samples: HALVES,
            selectable: data.variables(),
            size,
            index: at(8),
            by_size: (1..=16).map(|k| (k * size.div_ceil(8), at(k))).collect(),
            stable_frequencies: frequencies.clone(),
            stable_size: size,
            threshold: 0.75,
            stable: frequencies.iter().filter(|(_, f)| *f >= 0.75).map(|(j, _)| *j).collect(),
            frequencies,
            false_selections: vec![
                (self.named(4, "Meinshausen and Bühlmann: exchangeable selection"), 1.25),
                ("Shah and Samworth: unimodal".to_owned(), 0.5),
            ],
        })
    }
}

fn assessed(name: &str, samples: Vec<SampleResult>, data: &Dataset<'_>) -> Outcome<MethodResult> {
    let c = data.classes().len();
    let mut confusion = vec![vec![0; c]; c];
    for sample in &samples {
        sample.given.iter().enumerate().for_each(|(class, n)| confusion[sample.class][class] += n);
    }
    let decided: Vec<usize> =
        samples.iter().map(|s| s.given.iter().position(|&n| n > 0).unwrap_or(s.class)).collect();
    let logs = Mat::from_fn(samples.len(), c, |i, class| samples[i].probabilities[class].max(1e-300).ln());
    let scores = scores_of(data.class_indices(), &decided, c, Some(logs.as_ref()))?;
    let about = |mean: f64, half: f64| Interval {
        mean,
        low: (mean - half).max(0.0),
        high: (mean + half / 2.0).min(1.0),
    };
    let recalls =
        scores.recalls.iter().map(|recall| recall.map(|recall| about(recall / 100.0, 0.1))).collect();
    let (balanced, rate) = (scores.balanced / 100.0, scores.rate / 100.0);
    let row =
        RepeatRow { repeat: 0, balanced, rate, auc: scores.auc, log_loss: scores.log_loss, variables: 30.0 };
    Ok(MethodResult {
        name: name.to_owned(),
        balanced: about(balanced, 0.08),
        rate: about(rate, 0.07),
        auc: scores.auc.map(|auc| about(auc, 0.03)),
        log_loss: scores.log_loss.map(|loss| Interval { mean: loss, low: 0.8 * loss, high: 1.3 * loss }),
        recalls,
        confusion,
        samples,
        repeats: vec![row],
        variables: 30.0,
        choices: Vec::new(),
    })
}

fn panel(
    all: &Men,
    data: &Dataset<'_>,
    folds: &[(Split, Men)],
    stability: &StabilityFound,
) -> Vec<PanelEntry> {
    let rows = all.panel_table().into_iter();
    rows.map(|row| {
        let known = all.parts().panel.iter().find(|known| known.variable == row.variable);
        let used = folds.iter().filter(|(_, men)| men.panel().contains(&row.variable)).count();
        let frequency =
            stability.frequencies.iter().find(|(j, _)| *j == row.variable).map_or(0.0, |(_, f)| *f);
        PanelEntry {
            variable: row.variable,
            name: data
                .feature_names()
                .map_or_else(|| row.variable.to_string(), |names| names[row.variable].clone()),
            frequency: Some(frequency),
            folds: used as f64 / folds.len() as f64,
            entered: row.entered,
            weights: all.projection().axes().iter().map(|axis| axis.get(row.variable)).collect(),
            deviation: known.and_then(|known| known.deviation),
            effect: row.effect,
            class_means: row.class_means,
            higher_in: row.higher_in,
            class: row.class,
            stable: stability.stable.contains(&row.variable),
        }
    })
    .collect()
}
