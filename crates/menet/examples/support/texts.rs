//! Drawn texts: seeded counts of words, damped, few of them in each text and the frequent ones in most.

#![allow(unreachable_pub, reason = "included by examples, benchmarks and tests")]

use faer::Mat;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// `n` texts of `p` words in `classes` classes, text i in class i mod `classes`; each has `words` words, some of them more than once.
///
/// The k-th word of a language is drawn with a frequency of 1/(k+2.7), as Zipf and Mandelbrot have it. A third of the words of a text
/// are those of its subject, whose frequent words are rare elsewhere. A value is 1 + log of the count.
pub fn texts(seed: u64, n: usize, p: usize, classes: usize, words: std::ops::Range<usize>) -> Mat<f64> {
    let rng = &mut Pcg64Mcg::seed_from_u64(seed);
    let mut cumulated: Vec<f64> = (0..p).map(|k| 1.0 / (k as f64 + 2.7)).collect();
    for k in 1..p {
        cumulated[k] += cumulated[k - 1];
    }
    let total = cumulated[p - 1];
    let mut x = Mat::<f64>::zeros(n, p);
    for i in 0..n {
        let subject = (i % classes + 1) * (p / (classes + 1));
        for _ in 0..rng.random_range(words.clone()) {
            let place = rng.random_range(0.0..total);
            let word = cumulated.partition_point(|&below| below <= place).min(p - 1);
            let shift = if rng.random_bool(1.0 / 3.0) { subject } else { 0 };
            x[(i, (word + shift) % p)] += 1.0;
        }
    }
    for column in x.col_iter_mut() {
        for value in column.iter_mut().filter(|value| **value > 0.0) {
            *value = 1.0 + value.ln();
        }
    }
    x
}
