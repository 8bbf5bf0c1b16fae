//! A preparation of some of its variables.

use faer::Mat;

use super::{BatchEffects, Filling, Neighbors, Preparation};

impl Preparation {
    /// This preparation for samples that have these variables alone, which rise. Each variable is prepared by itself, so nothing changes for them,
    /// but for missing values from neighbours: those are near on these variables then.
    pub(crate) fn on(&self, variables: &[usize]) -> Self {
        let of = |values: &[f64]| -> Vec<f64> { variables.iter().map(|&j| values[j]).collect() };
        let columns = |x: &Mat<f64>| Mat::from_fn(x.nrows(), variables.len(), |k, at| x[(k, variables[at])]);
        let place = |j: &usize| variables.binary_search(j).ok();
        Preparation {
            params: self.params,
            missing: of(&self.missing),
            dropped: self.dropped.iter().filter_map(place).collect(),
            batches: self.batches.as_ref().map(|batches| BatchEffects {
                names: batches.names.clone(),
                centres: columns(&batches.centres),
                deviations: batches.deviations.as_ref().map(columns),
                of_one_class: batches.of_one_class.clone(),
            }),
            divisors: self.divisors.as_deref().map(of),
            filling: self.filling.as_ref().map(|filling| match filling {
                Filling::Values(values) => Filling::Values(of(values)),
                Filling::Neighbors(near) => Filling::Neighbors(near.on(variables)),
            }),
        }
    }
}

impl Neighbors {
    /// The training samples on these variables, which rise. Those that are equal there become one.
    fn on(&self, variables: &[usize]) -> Self {
        let kept: Vec<(usize, usize)> = (0..variables.len())
            .filter_map(|place| Some((place, self.variables.binary_search(&variables[place]).ok()?)))
            .collect();
        let q = self.variables.len();
        let x = Mat::from_fn(self.weights.len(), kept.len(), |i, at| self.samples[i * q + kept[at].1]);
        let means = kept.iter().map(|&(_, own)| self.means[own]).collect();
        let mut on = Neighbors::new(&x, &|i| self.weights[i], (0..kept.len()).collect(), means);
        on.variables = kept.iter().map(|&(place, _)| place).collect();
        on
    }
}
