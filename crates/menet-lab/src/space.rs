//! The parameters that are searched for each method, from the most to the least important, with a few values each.

use menet::{Dataset, Method};
use toml::Value;

/// A parameter and the values to try, in increasing order.
#[derive(Debug, Clone)]
pub struct Parameter {
    /// The name of the parameter, a field of the method's type.
    pub name: &'static str,
    /// The values; `None` means that the field is absent and has its default.
    pub values: Vec<Option<Value>>,
}

fn floats(name: &'static str, values: &[f64]) -> Parameter {
    Parameter { name, values: values.iter().map(|&x| Some(Value::Float(x))).collect() }
}

fn wholes(name: &'static str, values: &[usize]) -> Parameter {
    Parameter { name, values: values.iter().map(|&x| Some(Value::Integer(x as i64))).collect() }
}

/// Ranks of the PCA space, from a small part of `full` up to `full`.
fn ranks(full: usize) -> Parameter {
    let mut values: Vec<usize> = vec![full / 8, full / 5, full / 3, full / 2, 3 * full / 4];
    values.retain(|&rank| rank >= 1);
    values.dedup();
    let some = values.into_iter().map(|rank| Some(Value::Integer(rank as i64)));
    Parameter { name: "pca_rank", values: some.chain([None]).collect() }
}

/// Numbers of neighbours in the same class. `most` is how many a fold has. Larger numbers are equivalent, and `own`, the value
/// of the method, stands for them.
fn neighbours(name: &'static str, own: usize, most: usize) -> Parameter {
    let mut values: Vec<usize> = [1, 2, 3, 5, 10].into_iter().filter(|&k| k < most).collect();
    values.push(if own >= most { own } else { most.min(10) });
    values.sort_unstable();
    values.dedup();
    wholes(name, &values)
}

/// The numbers of variables at which paths are read, up to `most`.
pub fn sparsities(most: usize) -> Vec<usize> {
    let grid = [1, 2, 3, 5, 10, 15, 20, 30, 40, 60, 80, 100, 130, 160, 200, 250, 300, 400, 500];
    let mut sizes: Vec<usize> = grid.into_iter().filter(|&k| k < most).collect();
    sizes.push(most);
    sizes
}

/// The largest number of variables per axis to try by default. The time of a path grows faster than its length, and on faces
/// of 1600 pixels 300 or 400 gained less than half a point over 200.
pub fn largest_support(variables: usize) -> usize {
    variables.min(200)
}

/// The search space of a method on `data`, with this many folds.
pub fn default_space(method: &Method, data: &Dataset<'_>, folds: usize) -> Vec<Parameter> {
    let (samples, variables, classes) = (data.samples(), data.variables(), data.classes().len());
    let rank = samples.saturating_sub(1).min(variables);
    // The size of the largest class in a fold, minus the sample itself.
    let largest = (0..classes).map(|class| data.members(class).len()).max().unwrap_or(1);
    let most = (largest - largest.div_ceil(folds)).saturating_sub(1).max(1);
    let near = |own: usize| neighbours("k_within", own, most);
    let any = || wholes("k", &[1, 2, 3, 5, 10]);
    let ridge = || floats("ridge", &[0.01, 0.03, 0.1, 0.3, 1.0, 3.0]);
    // For sparse PCA every sparsity needs its own fit.
    let coarse: Vec<usize> =
        [1, 2, 3, 5, 10, 20, 50, 100, 200].into_iter().filter(|&k| k <= variables).collect();
    match method {
        Method::Dla(dla) => vec![
            ranks(rank),
            floats("kappa", &[0.0, 0.01, 0.03, 0.1, 0.3, 1.0]),
            near(dla.k_within),
            wholes("k_between", &[1, 2, 5, 10, 20]),
        ],
        Method::Slpp(lpp) | Method::Lpp(lpp) => vec![
            ranks(rank),
            if lpp.supervised { neighbours("k", lpp.k, most) } else { any() },
            Parameter { name: "binary", values: [false, true].map(|b| Some(Value::Boolean(b))).to_vec() },
        ],
        Method::Npe(npe) | Method::Unpe(npe) => vec![
            ranks(rank),
            if npe.supervised { neighbours("k", npe.k, most) } else { any() },
            floats("regularizer", &[1e-5, 1e-4, 1e-3, 1e-2, 1e-1]),
        ],
        Method::Flda(_) => vec![
            ranks(samples.saturating_sub(classes).min(variables)),
            floats("ridge", &[0.0, 1e-3, 1e-2, 0.1, 1.0, 10.0]),
        ],
        Method::Pca(_) => vec![],
        Method::Spca(_) => vec![
            wholes("nonzeros", &coarse),
            ridge(),
            Parameter { name: "soft", values: [false, true].map(|b| Some(Value::Boolean(b))).to_vec() },
        ],
        Method::Spg(spg) => vec![ridge(), near(spg.k_within)],
        // MEN and its variants, which are searched on a grid ([`crate::tune`]).
        _ => vec![],
    }
}
