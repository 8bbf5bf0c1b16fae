//! Numerics that are not about MEN.
//!
//! | room | holds |
//! |---|---|
//! | [`finite`] | which numbers can be computed with |
//! | [`linalg`] | dense products, decompositions and vector kernels, with the same bits on any number of threads |
//! | [`sparse`] | sparse vectors and matrices |
//! | [`spectrum`] | the lower end of a spectrum, by Lanczos |
//! | [`conjugate_gradients`] | conjugate gradients |

pub(crate) mod conjugate_gradients;
pub(crate) mod finite;
pub(crate) mod linalg;
pub mod sparse;
pub(crate) mod spectrum;
