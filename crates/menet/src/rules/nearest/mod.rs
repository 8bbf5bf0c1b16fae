//! The nearest-neighbour rule: a sample gets the class of most of its k nearest gallery samples.
//!
//! With `d_c` the distance to the nearest gallery sample of class c and `v_c` its votes, the value of class c is
//!
//! ```text
//! k = 1:  −d_c / T                      k > 1:  (v_c − d_c / Σ d) / T
//! ```
//!
//! plus `log(prior_c / frequency_c)` where other priors than those of the gallery are wanted, or samples have weights. Every sample of
//! the gallery has one vote, whatever its weight. T comes from leaving each gallery sample out in turn.

use std::borrow::Cow;

use faer::{Mat, MatRef};
use rayon::prelude::*;

use super::calibration::{Trial, calibration_rows, spaced, temperature};
use super::{Decision, Metric, Priors, Projected, Rule, RuleKind, RuleParams, counts_of, largest, row};
use crate::error::{Error, Result};
use crate::numerics::finite::check_finite;
use crate::numerics::linalg::vectorized;

/// Distances that are computed at a time: few enough to stay in the fastest cache.
const CHUNK: usize = 1024;

/// The class given to a sample, and the distance to the nearest gallery sample of that class.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// The class, as in the gallery's `classes`.
    pub class: usize,
    /// The distance to the nearest voter of that class.
    pub distance: f64,
}

/// Classifies each row of `samples` by its `k` nearest rows of `gallery`.
///
/// Distance ties go to the lower gallery row; among equally many votes, to the class of the nearest voter.
///
/// # Errors
/// When sizes disagree, `k` is 0, the gallery is empty, or a value is not finite.
pub fn nearest_neighbors(
    gallery: MatRef<'_, f64>,
    classes: &[usize],
    samples: MatRef<'_, f64>,
    k: usize,
    metric: Metric,
) -> Result<Vec<Prediction>> {
    if gallery.nrows() == 0 {
        return Err(Error::Empty { rows: 0, columns: gallery.ncols() });
    }
    if classes.len() != gallery.nrows() {
        let why = format!("the gallery has {} rows", gallery.nrows());
        return Err(Error::Size { what: "`classes`", given: classes.len(), expected: gallery.nrows(), why });
    }
    if samples.ncols() != gallery.ncols() {
        let why = format!("the gallery has {} columns", gallery.ncols());
        return Err(Error::Size { what: "a sample", given: samples.ncols(), expected: gallery.ncols(), why });
    }
    if k == 0 {
        return Err(Error::parameter("neighbors", 0, ">= 1"));
    }
    check_finite("the gallery", gallery)?;
    check_finite("the samples", samples)?;
    Ok(voted(gallery, classes, samples, k, metric))
}

/// Classifies samples by a gallery of which it is known that they fit together.
fn voted(
    gallery: MatRef<'_, f64>,
    classes: &[usize],
    samples: MatRef<'_, f64>,
    k: usize,
    metric: Metric,
) -> Vec<Prediction> {
    let known = Gallery::new(gallery, metric);
    let predict = |distances: &mut Vec<f64>, i: usize| {
        let sample: Vec<f64> = samples.row(i).iter().copied().collect();
        known.distances(&sample, distances);
        if k == 1 {
            let (j, distance) = nearest(distances);
            return Prediction { class: classes[j], distance };
        }
        vote(&nearest_of(distances, k), classes)
    };
    (0..samples.nrows()).into_par_iter().map_init(Vec::new, predict).collect()
}

/// The learned rule: the gallery itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Nearest {
    /// The known samples, one per row.
    pub gallery: Mat<f64>,
    /// Their classes. Every class has a sample.
    pub classes: Vec<usize>,
    /// How many neighbours vote.
    pub neighbors: usize,
    /// How samples are compared.
    pub metric: Metric,
    /// T, > 0.
    pub temperature: f64,
    /// What is added to the value of each class: `log(prior / frequency in the gallery)`, all 0 for the gallery's own.
    pub shifts: Vec<f64>,
}

impl Nearest {
    /// The rule from its parts, checked.
    ///
    /// # Errors
    /// When sizes disagree, a value is out of range, or a class has no sample.
    pub fn from_parts(
        gallery: Mat<f64>,
        classes: Vec<usize>,
        neighbors: usize,
        metric: Metric,
        temperature: f64,
        shifts: Vec<f64>,
    ) -> Result<Self> {
        counts_of(&Projected {
            z: gallery.as_ref(),
            classes: &classes,
            count: shifts.len(),
            weights: None,
            covariance: None,
        })?;
        crate::error::at_least_one("neighbors", Some(neighbors))?;
        crate::error::check("temperature", temperature.sqrt(), "a number > 0, at most 1e200", |t| t > 0.0)?;
        for &shift in &shifts {
            crate::error::check("shifts", shift, "finite numbers", |_| true)?;
        }
        Ok(Nearest { gallery, classes, neighbors, metric, temperature, shifts })
    }

    /// Whether the classes are those of [`nearest_neighbors`].
    fn plain(&self) -> bool {
        self.shifts.iter().all(|&shift| shift == 0.0)
    }

    /// The class by votes, and `T ×` the values. A gallery sample at an infinite distance is left out.
    fn decide(&self, distances: &[f64]) -> (usize, Vec<f64>) {
        let mut near = vec![f64::INFINITY; self.shifts.len()];
        for (&d, &class) in distances.iter().zip(&self.classes) {
            if d < near[class] {
                near[class] = d;
            }
        }
        if self.neighbors == 1 {
            let class = self.classes[nearest(distances).0];
            return (class, near.iter().map(|d| -d).collect());
        }
        let mut voters = nearest_of(distances, self.neighbors);
        voters.retain(|voter| voter.0.is_finite());
        let mut votes = vec![0.0; near.len()];
        voters.iter().for_each(|&(_, j)| votes[self.classes[j]] += 1.0);
        let total: f64 = near.iter().filter(|d| d.is_finite()).sum();
        let share = |d: f64| if total > 0.0 { d / total } else { 0.0 };
        let class = vote(&voters, &self.classes).class;
        (class, votes.iter().zip(&near).map(|(votes, &d)| votes - share(d)).collect())
    }

    /// T from the gallery samples, each left out in turn.
    fn calibrated(&self, known: &Gallery<'_>, counts: &[usize], projected: &Projected<'_>) -> f64 {
        let rows = calibration_rows(counts, &self.classes);
        let trial = |distances: &mut Vec<f64>, i: usize| {
            known.distances(&row(self.gallery.as_ref(), i), distances);
            distances[i] = f64::INFINITY;
            Trial { own: self.classes[i], weight: projected.weight(i), scores: self.decide(distances).1 }
        };
        let trials: Vec<Trial> = rows.into_par_iter().map_init(Vec::new, trial).collect();
        let found = temperature(&trials, &projected.masses(), None);
        found.unwrap_or_else(|| {
            if self.neighbors > 1 {
                return 1.0;
            }
            let mean = known.mean_distance();
            if mean > 0.0 { mean } else { 1.0 }
        })
    }
}

impl Rule for Nearest {
    fn learn(params: &RuleParams, projected: &Projected<'_>, calibrate: bool) -> Result<Self> {
        let counts = counts_of(projected)?;
        let n = projected.classes.len() as f64;
        let shifts = match params.priors {
            Priors::Train if projected.weights.is_none() => vec![0.0; counts.len()],
            _ => {
                let priors = params.priors.logs(&projected.masses())?;
                let shift = |(log, &count): (f64, &usize)| log - (count as f64 / n).ln();
                // Equal priors of equally large classes are the gallery's own.
                priors
                    .into_iter()
                    .zip(&counts)
                    .map(shift)
                    .map(|s| if s.abs() < 1e-12 { 0.0 } else { s })
                    .collect()
            }
        };
        let (gallery, classes) = (projected.z.to_owned(), projected.classes.to_vec());
        let (neighbors, metric) = (params.neighbors, params.metric);
        let mut rule = Nearest { gallery, classes, neighbors, metric, temperature: 1.0, shifts };
        if calibrate {
            let known = Gallery::new(rule.gallery.as_ref(), metric);
            rule.temperature = rule.calibrated(&known, &counts, projected);
        }
        Ok(rule)
    }

    fn kind(&self) -> RuleKind {
        RuleKind::Nearest
    }

    fn log_priors(&self) -> Vec<f64> {
        let mut counts = vec![0.0_f64; self.shifts.len()];
        self.classes.iter().for_each(|&class| counts[class] += 1.0);
        counts.iter().zip(&self.shifts).map(|(count, shift)| count.ln() + shift).collect()
    }

    fn dimension(&self) -> usize {
        self.gallery.ncols()
    }

    fn class_count(&self) -> usize {
        self.shifts.len()
    }

    fn first(&self, d: usize) -> Self {
        Nearest { gallery: self.gallery.subcols(0, d).to_owned(), ..self.clone() }
    }

    fn decisions(&self, z: MatRef<'_, f64>) -> Result<Vec<Decision>> {
        let known = Gallery::new(self.gallery.as_ref(), self.metric);
        let decide = |distances: &mut Vec<f64>, i: usize| {
            known.distances(&row(z, i), distances);
            let (class, mut values) = self.decide(distances);
            for (value, shift) in values.iter_mut().zip(&self.shifts) {
                // A temperature that someone wrote may be tiny.
                *value = (*value / self.temperature).max(-1e300) + shift;
            }
            let class = if self.plain() { class } else { largest(&values) };
            Decision { class, values, shared: 0.0 }
        };
        Ok((0..z.nrows()).into_par_iter().map_init(Vec::new, decide).collect())
    }

    fn classify(&self, z: MatRef<'_, f64>) -> Result<Vec<usize>> {
        if !self.plain() {
            return Ok(self.decisions(z)?.into_iter().map(|decision| decision.class).collect());
        }
        // The gallery was looked through when the rule was made; it is not, again, for every sample that is asked about.
        let found = voted(self.gallery.as_ref(), &self.classes, z, self.neighbors, self.metric);
        Ok(found.into_iter().map(|found| found.class).collect())
    }
}

/// Known samples, one coordinate after the other, so that all distances to a sample are computed side by side: the same
/// numbers as [`Metric::distance`] of each. A matrix by columns is borrowed.
struct Gallery<'a> {
    columns: Vec<Cow<'a, [f64]>>,
    /// All 0 where the metric does not ask for them.
    lengths: Vec<f64>,
    metric: Metric,
}

impl<'a> Gallery<'a> {
    fn new(gallery: MatRef<'a, f64>, metric: Metric) -> Self {
        let column = |k: usize| match gallery.col(k).try_as_col_major() {
            Some(column) => Cow::Borrowed(column.as_slice()),
            None => Cow::Owned(gallery.col(k).iter().copied().collect()),
        };
        let columns: Vec<Cow<'a, [f64]>> = (0..gallery.ncols()).map(column).collect();
        let mut lengths = vec![0.0; gallery.nrows()];
        if metric == Metric::Cosine {
            for column in &columns {
                lengths.iter_mut().zip(&column[..]).for_each(|(length, x)| *length += x * x);
            }
            lengths.iter_mut().for_each(|length| *length = f64::sqrt(*length));
        }
        Gallery { columns, lengths, metric }
    }

    /// The mean distance between two samples, over a few of them; 0 of one sample.
    fn mean_distance(&self) -> f64 {
        let n = self.lengths.len();
        let few = spaced(n, 100);
        let (mut distances, mut total) = (Vec::new(), 0.0);
        for &i in &few {
            let sample: Vec<f64> = self.columns.iter().map(|column| column[i]).collect();
            self.distances(&sample, &mut distances);
            total += distances.iter().enumerate().filter(|&(j, _)| j != i).map(|(_, d)| d).sum::<f64>();
        }
        total / (few.len() * (n - 1).max(1)) as f64
    }

    fn distances(&self, sample: &[f64], out: &mut Vec<f64>) {
        out.clear();
        out.resize(self.lengths.len(), 0.0);
        let length = sample.iter().map(|x| x * x).sum::<f64>().sqrt();
        vectorized(
            #[inline(always)]
            || {
                let parts = out.chunks_mut(CHUNK).zip(self.lengths.chunks(CHUNK)).enumerate();
                for (c, (out, lengths)) in parts {
                    for (x, column) in sample.iter().zip(&self.columns) {
                        let column = &column[c * CHUNK..c * CHUNK + out.len()];
                        match self.metric {
                            Metric::Euclidean => {
                                out.iter_mut().zip(column).for_each(|(out, y)| *out += (x - y) * (x - y));
                            }
                            Metric::Cosine => out.iter_mut().zip(column).for_each(|(out, y)| *out += x * y),
                        }
                    }
                    match self.metric {
                        Metric::Euclidean => out.iter_mut().for_each(|out| *out = out.sqrt()),
                        Metric::Cosine => {
                            for (out, other) in out.iter_mut().zip(lengths) {
                                let lengths = length * other;
                                *out = if lengths > 0.0 { (1.0 - *out / lengths).max(0.0) } else { 1.0 };
                            }
                        }
                    }
                }
            },
        );
    }
}

/// The smallest distance, and the first place where it is.
fn nearest(distances: &[f64]) -> (usize, f64) {
    let lowest = |values: &[f64]| values.iter().fold(f64::INFINITY, |low, &x| if x < low { x } else { low });
    let (mut part, mut least) = (0, f64::INFINITY);
    for (c, values) in distances.chunks(CHUNK).enumerate() {
        let low = lowest(values);
        if low < least {
            (part, least) = (c, low);
        }
    }
    let start = part * CHUNK;
    let place = distances[start..].iter().position(|&x| x == least).unwrap_or(0);
    (start + place, least)
}

/// The `k` smallest distances, or all there are, and where they are, nearest first.
fn nearest_of(distances: &[f64], k: usize) -> Vec<(f64, usize)> {
    let mut near: Vec<(f64, usize)> = distances.iter().copied().zip(0..).collect();
    let k = k.min(near.len());
    let order = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
    near.select_nth_unstable_by(k - 1, order);
    near.truncate(k);
    near.sort_unstable_by(order);
    near
}

/// The class most of the voters, nearest first, belong to.
fn vote(near: &[(f64, usize)], classes: &[usize]) -> Prediction {
    let votes = |class: usize| near.iter().filter(|&&(_, j)| classes[j] == class).count();
    let mut best = (0, 0);
    for (place, &(_, j)) in near.iter().enumerate() {
        let count = votes(classes[j]);
        if count > best.0 {
            best = (count, place);
        }
    }
    let (distance, j) = near[best.1];
    Prediction { class: classes[j], distance }
}

#[cfg(test)]
mod tests;
