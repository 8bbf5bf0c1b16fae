//! The baselines that MEN is compared with. Each is short and reads like its definition.
//!
//! | baseline | axes | how many at most | length of an axis |
//! |---|---|---|---|
//! | [`Pca`] | largest variance | rank of X | 1, orthonormal |
//! | [`Flda`] | classes far apart for their width | c−1 | 1 |
//! | [`Dla`] | the paper's patches, dense | n−1 | 1, orthonormal |
//! | [`Lpp`] | neighbours stay near; supervised: SLPP | n−1 | 1 |
//! | [`Npe`] | neighbours reconstruct; unsupervised: UNPE | n−1 | 1 |
//! | [`Spca`] | sparse PCA | rank of X | 1 |
//! | [`Spg`] | a graph embedding, then the elastic net | n−1 | that of the elastic net |
//!
//! The nearest-neighbour rule depends on the length of the axes, so the table states it. FLDA, DLA, LPP and NPE work in a PCA
//! space, as in the paper. The module `space` says how equal eigenvalues are treated. All are
//! [`Reducer`](crate::Reducer)s and are listed in [`Method`](crate::Method).

mod dla;
mod flda;
mod leading;
mod lpp;
mod npe;
mod pca;
mod space;
mod spca;
mod spg;

pub use dla::Dla;
pub use flda::Flda;
pub use lpp::Lpp;
pub use npe::Npe;
pub use pca::Pca;
pub use spca::Spca;
pub use spg::Spg;
