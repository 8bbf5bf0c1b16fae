//! A path as its knots, and what can be read off it.

use serde::{Deserialize, Serialize};

use super::Certificate;
use crate::error::{Error, Result};
use crate::numerics::sparse::SparseVector;

/// A point where the path changes direction.
#[derive(Debug, Clone, PartialEq)]
pub struct Knot {
    /// The level λ.
    pub level: f64,
    /// The coefficients here.
    pub coefficients: SparseVector,
    /// Variables that begin to move here. They are nonzero just below this level.
    pub entered: Vec<usize>,
    /// Variables that have come back to zero here.
    pub left: Vec<usize>,
    /// How far the coefficients are from optimal.
    pub certificate: Certificate,
}

/// Why a path ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EndReason {
    /// Level 0: the (ridge) least-squares solution. Without a ridge, the support is then at most the rank of G.
    Complete,
    /// More penalised variables than `max_nonzeros` would have moved.
    MaxNonzeros {
        /// How many there would be. More than one above the last support if several tie.
        needed: usize,
    },
    /// The level reached `lambda_min`.
    LambdaMin,
    /// The level at which a penalty with rounds has its answer for a number of variables: below it the path would be that of
    /// weights which belong to this level.
    Answer,
    /// `variable` had to enter, but without a ridge it cannot be told from a combination of the active ones in
    /// double precision. A small ridge helps.
    Dependent {
        /// The variable.
        variable: usize,
    },
    /// `variable` had to enter, but below this level the problem has no minimum: G is singular and b leaves its
    /// range.
    Unbounded {
        /// The variable.
        variable: usize,
    },
    /// Entering `variable` showed that G is not positive semidefinite.
    Indefinite {
        /// The variable.
        variable: usize,
    },
    /// The path stopped making progress: a diagnostic for problems at the edge of double precision.
    Stalled,
}

impl EndReason {
    /// Whether numerical trouble ended the path.
    pub(crate) fn is_early(self) -> bool {
        !matches!(
            self,
            EndReason::Complete | EndReason::MaxNonzeros { .. } | EndReason::LambdaMin | EndReason::Answer
        )
    }

    /// The variable at which the path could not go on.
    pub(crate) fn variable(self) -> Option<usize> {
        match self {
            EndReason::Dependent { variable }
            | EndReason::Unbounded { variable }
            | EndReason::Indefinite { variable } => Some(variable),
            EndReason::Complete
            | EndReason::MaxNonzeros { .. }
            | EndReason::LambdaMin
            | EndReason::Answer
            | EndReason::Stalled => None,
        }
    }
}

impl std::fmt::Display for EndReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            EndReason::Complete => write!(f, "reached level 0"),
            EndReason::MaxNonzeros { needed } => {
                write!(f, "reached the largest number of nonzeros (next, {needed} would move)")
            }
            EndReason::LambdaMin => write!(f, "reached the smallest level"),
            EndReason::Answer => write!(f, "reached the level of the answer"),
            EndReason::Dependent { variable } => {
                write!(f, "ended where variable {variable} depends on the active ones (add a ridge)")
            }
            EndReason::Unbounded { variable } => {
                write!(f, "ended where variable {variable} makes the problem unbounded")
            }
            EndReason::Indefinite { variable } => {
                write!(f, "ended at variable {variable}: the Gram matrix is not positive semidefinite")
            }
            EndReason::Stalled => {
                write!(f, "ended where double precision no longer tells the variables apart")
            }
        }
    }
}

/// How the penalty of a path came about, where it is not ℓ1 ([`crate::penalties`]).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum PenaltyReport {
    /// In rounds; the path is that of the last.
    Rounds {
        /// Weighted paths that were computed, after a first one without weights.
        count: usize,
        /// Whether another round would change nothing.
        settled: bool,
        /// By how much the end of the path violates the first-order conditions of the concave penalty, with the weights at that point, measured
        /// as [`Certificate::kkt`]; none where the path is the answer to a weighted problem and not to a concave one.
        stationarity: Option<f64>,
    },
    /// By exchange of variables; every number of variables has its own best subset.
    Subsets {
        /// For 1, 2, … variables, whether no exchange of a variable makes the subset better.
        local: Vec<bool>,
    },
}

/// One point of a path.
#[derive(Debug, Clone, PartialEq)]
pub struct PathPoint {
    /// The level λ.
    pub level: f64,
    /// The coefficients.
    pub coefficients: SparseVector,
}

/// A whole path, levels falling.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    pub(super) knots: Vec<Knot>,
    pub(super) ended: EndReason,
    pub(super) max_nonzeros: Option<usize>,
    pub(super) free: Vec<usize>,
    pub(super) report: Option<PenaltyReport>,
}

impl Path {
    /// From its knots, for instance read from a file.
    ///
    /// # Errors
    /// When there are none, or a level rises.
    pub fn from_knots(knots: Vec<Knot>, ended: EndReason, max_nonzeros: Option<usize>) -> Result<Self> {
        if knots.is_empty() {
            return Err(Error::Degenerate("a path without knots".to_owned()));
        }
        if knots.windows(2).any(|pair| pair[1].level.is_nan() || pair[1].level > pair[0].level) {
            return Err(Error::Degenerate("a path whose levels rise".to_owned()));
        }
        Ok(Path { knots, ended, max_nonzeros, free: Vec::new(), report: None })
    }

    /// This path with these free variables, in any order: those with a penalty factor of 0. It belongs to
    /// [`Self::from_knots`].
    pub fn with_free(mut self, mut free: Vec<usize>) -> Self {
        free.sort_unstable();
        free.dedup();
        self.free = free;
        self
    }

    /// This path with what is known of its penalty.
    pub fn with_report(mut self, report: PenaltyReport) -> Self {
        self.report = Some(report);
        self
    }

    /// What is known of its penalty; none for ℓ1.
    pub fn report(&self) -> Option<&PenaltyReport> {
        self.report.as_ref()
    }

    /// Whether it was computed for one number of variables, so that no smaller model can be read off it.
    pub(crate) fn is_of_one_size(&self) -> bool {
        matches!(self.report, Some(PenaltyReport::Rounds { stationarity: Some(_), .. }))
    }

    /// The path down to `level`, where the coefficients are `w`. `ended` says why it goes no farther, if it does.
    pub(crate) fn down_to(
        mut self,
        level: f64,
        w: SparseVector,
        certificate: Certificate,
        ended: EndReason,
    ) -> Self {
        let above = self.knots.partition_point(|knot| knot.level > level);
        if above == self.knots.len() {
            return self;
        }
        // A path to a level that got there, or was ended by trouble, knows why. One to a number of variables has another limit.
        if level > 0.0 && (level > self.last().level || ended == EndReason::Answer) {
            self.ended = ended;
        }
        self.knots.truncate(above);
        self.knots.push(Knot { level, coefficients: w, entered: Vec::new(), left: Vec::new(), certificate });
        self
    }

    /// This path with other free variables; those in `freed` count as if they had entered at the first knot.
    pub(crate) fn freed(mut self, free: Vec<usize>, freed: Vec<usize>) -> Self {
        self.free = free;
        if let Some(first) = self.knots.first_mut() {
            first.entered.extend(freed);
        }
        self
    }

    /// This path, said to go to so many variables.
    pub(crate) fn limited(self, max_nonzeros: Option<usize>) -> Self {
        Path { max_nonzeros, ..self }
    }

    /// How numerical trouble ended the path; none if it did not.
    pub fn ended_early(&self) -> Option<String> {
        self.ended.is_early().then(|| self.ended.to_string())
    }

    /// The free variables, rising: those with a penalty factor of 0. They are in every model, also where their coefficient
    /// happens to be 0, and no count of nonzeros includes them.
    pub fn free(&self) -> &[usize] {
        &self.free
    }

    /// How many penalised variables are nonzero in `coefficients`: what a limit on nonzeros counts.
    pub fn selected(&self, coefficients: &SparseVector) -> usize {
        coefficients.indices().iter().filter(|j| self.free.binary_search(j).is_err()).count()
    }

    /// The number of nonzeros it was told to stop at, free variables not counted.
    pub fn max_nonzeros(&self) -> Option<usize> {
        self.max_nonzeros
    }

    /// The knots, levels falling; in the first only free variables are nonzero.
    pub fn knots(&self) -> &[Knot] {
        &self.knots
    }

    /// Why it ended.
    pub fn ended(&self) -> EndReason {
        self.ended
    }

    /// The worst certificate over the knots.
    pub fn certificate(&self) -> Certificate {
        self.knots.iter().map(|knot| knot.certificate).fold(Certificate::default(), Certificate::worse)
    }

    /// The last knot.
    pub fn last(&self) -> &Knot {
        &self.knots[self.knots.len() - 1]
    }

    /// The coefficients at level `lambda`; above the first knot those of the first knot, where all penalised ones are 0.
    ///
    /// # Errors
    /// When the path ended above `lambda`, `lambda` is negative or NaN, or the path was made for one size and `lambda` is not the level of
    /// its end.
    pub fn at_lambda(&self, lambda: f64) -> Result<PathPoint> {
        if lambda.is_nan() || lambda < 0.0 {
            return Err(Error::parameter("lambda", lambda, ">= 0"));
        }
        let end = self.last().level;
        if self.is_of_one_size() && lambda > end {
            let allowed = format!("{end:?}: this path was made for one size, and only its end is an answer");
            return Err(Error::parameter("lambda", format!("{lambda:?}"), allowed));
        }
        let below = self.knots.partition_point(|knot| knot.level > lambda);
        let Some(lower) = self.knots.get(below) else {
            let has = format!("{} at level {}", self.ended, self.last().level);
            return Err(Error::PathTooShort { asked: format!("level {lambda}"), has });
        };
        let coefficients = match below.checked_sub(1).map(|above| &self.knots[above]) {
            Some(upper) if lower.level < lambda => {
                let t = (upper.level - lambda) / (upper.level - lower.level);
                upper.coefficients.interpolate(&lower.coefficients, t)
            }
            _ => lower.coefficients.clone(),
        };
        Ok(PathPoint { level: lambda, coefficients })
    }

    /// The coefficients at the smallest level before the support first exceeds `k`, free variables not counted.
    ///
    /// Where several variables enter at once the support may jump past `k`: the point then has fewer nonzeros,
    /// as its coefficients say. The same holds if the whole path never reaches `k`.
    ///
    /// # Errors
    /// When `k` is 0, or larger than the number of nonzeros the path was stopped at.
    pub fn at_nonzeros(&self, k: usize) -> Result<PathPoint> {
        let knot = &self.knots[self.stop_at(k)?.knot];
        Ok(PathPoint { level: knot.level, coefficients: knot.coefficients.clone() })
    }

    /// The path up to [`Self::at_nonzeros`]`(k)`, as if it had been computed with `max_nonzeros = k`.
    ///
    /// # Errors
    /// As [`Self::at_nonzeros`].
    pub fn truncated(&self, k: usize) -> Result<Path> {
        let CutPoint { knot, needed } = self.stop_at(k)?;
        let (knots, free) = (self.knots[..=knot].to_vec(), self.free.clone());
        let report = match &self.report {
            Some(PenaltyReport::Subsets { local }) => {
                Some(PenaltyReport::Subsets { local: local[..local.len().min(k)].to_vec() })
            }
            other => other.clone(),
        };
        let mut path = Path { knots, ended: self.ended, max_nonzeros: Some(k), free, report };
        if let Some(needed) = needed {
            path.ended = EndReason::MaxNonzeros { needed };
            path.knots[knot].entered.clear();
            path.knots[knot].left.clear();
        }
        Ok(path)
    }

    /// The penalised variables in the order in which they first entered.
    pub fn order_of_entry(&self) -> Vec<usize> {
        let mut order: Vec<usize> = Vec::new();
        for &variable in self.knots.iter().flat_map(|knot| &knot.entered) {
            if !order.contains(&variable) {
                order.push(variable);
            }
        }
        order
    }

    /// Where the support is about to exceed `k`.
    fn stop_at(&self, k: usize) -> Result<CutPoint> {
        if k == 0 {
            return Err(Error::parameter("nonzeros", 0, ">= 1"));
        }
        let has = self.selected(&self.last().coefficients);
        if self.is_of_one_size() && k < has {
            let allowed =
                format!("{has} or more: this path was made for one size, and only its end is an answer");
            return Err(Error::parameter("nonzeros", k, allowed));
        }
        let mut active = 0;
        // Of a path that was made for one size, the end is the answer, also where more variables are active on the way.
        let knots = if self.is_of_one_size() { &[] } else { &self.knots[..] };
        for (i, knot) in knots.iter().enumerate() {
            active = (active + knot.entered.len()).saturating_sub(knot.left.len());
            if active > k {
                return Ok(CutPoint { knot: i, needed: Some(active) });
            }
        }
        let knot = self.knots.len() - 1;
        match (self.ended, self.max_nonzeros) {
            (EndReason::MaxNonzeros { .. }, Some(max)) if k > max => {
                let has = format!("was stopped at {max} nonzeros");
                Err(Error::PathTooShort { asked: format!("a support of {k}"), has })
            }
            (EndReason::MaxNonzeros { needed }, _) => Ok(CutPoint { knot, needed: Some(needed) }),
            _ => Ok(CutPoint { knot, needed: None }),
        }
    }
}

/// Where a path is cut.
struct CutPoint {
    knot: usize,
    /// How many variables would move next, if that is why.
    needed: Option<usize>,
}
