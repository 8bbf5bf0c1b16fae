//! Careless, degenerate and extreme input to a fit: certified answers or one clear error.

mod nonzeros;
mod requests;
mod routes;
mod samples;
mod variables;

use faer::Mat;
use menet::lars::Certificate;
use menet::{Dataset, Men, MenParams, fit};

fn fitted(data: &Dataset<'_>, params: &MenParams) -> Men {
    let men = fit(data, params, &()).unwrap();
    // On raw columns the plain measure says little of one that is far longer than those that carry b.
    let kkt = |c: &Certificate| if params.penalty.standardize { c.kkt.max(c.scaled) } else { c.scaled };
    assert!(men.certificates().iter().all(|c| kkt(c) <= 1e-9), "{:?}", men.certificates());
    let limit = params.nonzeros.unwrap_or_else(|| menet::params::default_nonzeros(data.samples()));
    assert!(men.support_sizes().iter().all(|&k| k <= limit));
    assert!(men.transform(data.x().unwrap()).unwrap().norm_max().is_finite());
    men
}

fn message(data: &Dataset<'_>, params: &MenParams) -> String {
    fit(data, params, &()).unwrap_err().to_string()
}

/// The samples of `data` at `rows`.
fn rows(data: &Dataset<'_>, rows: &[usize]) -> Mat<f64> {
    Mat::from_fn(rows.len(), data.variables(), |i, j| data.x().unwrap()[(rows[i], j)])
}
