//! The settings that need their own paths, and the steps between them.

/// The values along which the third pass makes steps.
const STEPS: [f64; 11] = [1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0];

/// The parameters that need their own paths.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PathSetting {
    pub(super) beta: f64,
    pub(super) target_shrinkage: f64,
    pub(super) ridge: f64,
}

/// Settings by β and target shrinkage, each with its ridges.
pub(super) fn by_problem(settings: &[PathSetting]) -> Vec<(PathSetting, Vec<f64>)> {
    let mut groups: Vec<(PathSetting, Vec<f64>)> = Vec::new();
    for setting in settings {
        let same = |(other, _): &&mut (PathSetting, Vec<f64>)| {
            (other.beta, other.target_shrinkage) == (setting.beta, setting.target_shrinkage)
        };
        match groups.iter_mut().find(same) {
            Some((_, ridges)) => ridges.push(setting.ridge),
            None => groups.push((*setting, vec![setting.ridge])),
        }
    }
    groups
}

/// The list, with `own` added if it is missing.
pub(super) fn with<T: Copy + PartialEq>(list: &[T], own: T) -> Vec<T> {
    let more = (!list.contains(&own)).then_some(own);
    list.iter().copied().chain(more).collect()
}

/// The nearest of [`STEPS`] below and above.
pub(super) fn near(value: f64) -> Vec<f64> {
    let below = STEPS.into_iter().rev().find(|&step| step < value);
    let above = STEPS.into_iter().find(|&step| step > value);
    below.into_iter().chain(above).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_go_along_a_list_that_ends() {
        assert_eq!((near(0.3), near(0.5)), (vec![0.1, 1.0], vec![0.3, 1.0]));
        assert_eq!((near(0.0), near(1e-3), near(100.0)), (vec![1e-3], vec![3e-3], vec![30.0]));
    }
}
