//! Principal component analysis.

use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::linalg::thin_svd;
use crate::preprocess::Preprocessed;
use crate::projection::Projection;
use crate::sparse::SparseVector;

/// The projection on the `components` directions of largest variance: right singular vectors of the centred data, of length
/// 1, the entry of largest size positive.
///
/// # Errors
/// When the data have fewer directions, or do not vary.
pub fn pca(data: &Dataset<'_>, components: usize) -> Result<Projection> {
    let pre = Preprocessed::new(data, None)?;
    let svd = thin_svd(pre.x.as_ref())?;
    let rank = svd.s.len();
    if components == 0 || components > rank {
        return Err(Error::parameter("components", components, format!("1 to {rank}, the rank of the data")));
    }
    let axes = (0..components)
        .map(|k| {
            let v: Vec<f64> = svd.v.col(k).iter().copied().collect();
            let largest = v.iter().copied().fold(0.0, |m: f64, x| if x.abs() > m.abs() { x } else { m });
            SparseVector::from_dense(&v).map(|_, x| x * largest.signum())
        })
        .collect();
    Projection::new(pre.mean, axes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    #[test]
    fn variances_fall_and_axes_are_orthonormal() {
        let x = Mat::from_fn(20, 6, |i, j| ((i * 31 + j * 17 + i * j) % 13) as f64);
        let labels: Vec<usize> = (0..20).map(|i| i % 2).collect();
        let data = Dataset::from_owned(x, &labels).unwrap();
        let projection = pca(&data, 4).unwrap();
        let w = projection.to_dense();
        assert!((w.transpose() * &w - Mat::<f64>::identity(4, 4)).norm_max() < 1e-12);
        let z = projection.transform(data.x()).unwrap();
        let products = z.transpose() * &z;
        for k in 1..4 {
            assert!(products[(k, k)] <= products[(k - 1, k - 1)]);
            assert!(products[(k, k - 1)].abs() < 1e-9 * products[(0, 0)], "scores are uncorrelated");
        }
        assert!(pca(&data, 7).is_err() && pca(&data, 0).is_err());
    }
}
