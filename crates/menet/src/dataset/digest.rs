//! What tells data sets apart: one hash per part that a result can depend on.
//!
//! Whoever keeps results for later asks here whether they belong to these data. The parts come from one pattern that names every field,
//! so a field that is added does not compile until somebody has said what it means here.

use std::collections::BTreeMap;
use std::hash::Hasher;

use super::samples::SampleValues;
use super::{Batches, Dataset, View};

impl Dataset<'_> {
    /// The hash of every part that a result can depend on, by the name of the part. What was not given has no entry.
    pub fn digest<H: Hasher + Default>(&self) -> BTreeMap<&'static str, u64> {
        let Dataset {
            x,
            class_of,
            classes,
            feature_names,
            image_shape,
            weights,
            unlabelled,
            balanced,
            batches,
            // These follow from the others.
            members: _,
            distinct: _,
            missing: _,
        } = self;
        let codes = |hash: &mut H, codes: &[usize]| codes.iter().for_each(|&code| number(hash, code));
        let mut parts = BTreeMap::new();
        let mut add = |name, write: &dyn Fn(&mut H)| {
            let mut hash = H::default();
            write(&mut hash);
            parts.insert(name, hash.finish());
        };
        add("values", &|hash| values(hash, x));
        add("labels", &|hash| {
            names(hash, classes);
            codes(hash, class_of);
        });
        if let Some(given) = feature_names {
            add("variable names", &|hash| names(hash, given));
        }
        if let Some((height, width)) = image_shape {
            add("image shape", &|hash| codes(hash, &[*height, *width]));
        }
        if let Some(given) = weights {
            add("sample weights", &|hash| {
                given.iter().for_each(|weight| hash.write(&weight.to_bits().to_le_bytes()));
            });
        }
        if *balanced {
            // Parts of these data are balanced again, which the weights alone do not say.
            add("balanced classes", &|_| {});
        }
        if let Some(given) = batches {
            let Batches { names: known, of } = given;
            add("batches", &|hash| {
                names(hash, known);
                codes(hash, of);
            });
        }
        if let Some(given) = unlabelled {
            add("samples without a label", &|hash| values(hash, given));
        }
        parts
    }
}

fn number(hash: &mut impl Hasher, number: usize) {
    hash.write(&(number as u64).to_le_bytes());
}

/// The length comes first, so that two names are never one.
fn names(hash: &mut impl Hasher, names: &[String]) {
    number(hash, names.len());
    for name in names {
        number(hash, name.len());
        hash.write(name.as_bytes());
    }
}

/// The form counts, too: dense and sparse samples take other roads, whose results round differently.
fn values(hash: &mut impl Hasher, values: &SampleValues<'_>) {
    let (rows, columns) = values.shape();
    number(hash, rows);
    number(hash, columns);
    match values.view() {
        View::Double(x) => {
            hash.write(b"double");
            for i in 0..rows {
                x.row(i).iter().for_each(|value| hash.write(&value.to_bits().to_le_bytes()));
            }
        }
        View::Single(x) => {
            hash.write(b"single");
            for i in 0..rows {
                x.row(i).iter().for_each(|value| hash.write(&value.to_bits().to_le_bytes()));
            }
        }
        View::Sparse(x) => {
            hash.write(b"sparse");
            for i in 0..rows {
                x.row(i).for_each(|(j, value)| {
                    number(hash, j);
                    hash.write(&value.to_bits().to_le_bytes());
                });
                number(hash, columns);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::hash::DefaultHasher;

    use faer::{Mat, mat};

    use super::*;
    use crate::sparse::SparseMatrix;

    fn digest(data: &Dataset<'_>) -> BTreeMap<&'static str, u64> {
        data.digest::<DefaultHasher>()
    }

    fn plain() -> Dataset<'static> {
        let x = mat![[0.0, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0f64]];
        Dataset::from_owned(x, &["a", "b", "a", "b"]).unwrap()
    }

    /// Data that differ from [`plain`] in one field, by the name of the field.
    fn changed() -> Vec<(&'static str, Dataset<'static>)> {
        let x = |last: f64| mat![[0.0, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, last]];
        let names = |names: [&str; 2]| names.map(str::to_owned).to_vec();
        let lacking = [Some(0), Some(1), Some(0), Some(1), None];
        let more = |value: f64| Mat::from_fn(5, 2, |i, j| if i == 4 { value } else { (2 * i + j) as f64 });
        let classes = || vec!["a".to_owned(), "b".to_owned()];
        let partly = |value| Dataset::partly_labelled(more(value), &lacking, classes()).unwrap();
        vec![
            ("x", Dataset::from_owned(x(7.5), &["a", "b", "a", "b"]).unwrap()),
            (
                "x",
                Dataset::from_sparse_beyond(
                    0,
                    SparseMatrix::from_dense(x(7.0).as_ref()).unwrap(),
                    &["a", "b", "a", "b"],
                )
                .unwrap(),
            ),
            ("class_of", Dataset::from_owned(x(7.0), &["a", "b", "b", "a"]).unwrap()),
            ("classes", Dataset::from_owned(x(7.0), &["a", "c", "a", "c"]).unwrap()),
            ("classes", Dataset::from_owned(x(7.0), &["", "ab", "", "ab"]).unwrap()),
            ("feature_names", plain().with_feature_names(names(["u", "v"])).unwrap()),
            ("feature_names", plain().with_feature_names(names(["uv", ""])).unwrap()),
            ("image_shape", plain().with_image_shape(1, 2).unwrap()),
            ("image_shape", plain().with_image_shape(2, 1).unwrap()),
            ("weights", plain().with_weights(&[1.0, 2.0, 3.0, 4.0]).unwrap()),
            ("weights", plain().with_weights(&[1.0, 2.0, 4.0, 3.0]).unwrap()),
            ("unlabelled", partly(1.0)),
            ("unlabelled", partly(2.0)),
            ("balanced", plain().with_balanced_classes()),
            ("batches", plain().with_batches(&["p", "p", "q", "q"]).unwrap()),
            ("batches", plain().with_batches(&["p", "q", "q", "q"]).unwrap()),
            ("batches", plain().with_batches(&["p", "p", "r", "r"]).unwrap()),
        ]
    }

    /// The fields of a structure, from its `Debug` form.
    fn fields(of: &impl std::fmt::Debug) -> BTreeSet<String> {
        let text = format!("{of:#?}");
        let field = |line: &str| {
            let name = line.strip_prefix("    ")?.split_once(':')?.0;
            (!name.starts_with([' ', '}', ']', ')'])).then(|| name.to_owned())
        };
        text.lines().filter_map(field).collect()
    }

    #[test]
    fn every_field_is_in_the_digest_or_follows_from_others() {
        let follow = ["members", "distinct", "missing"].map(str::to_owned);
        let mut known: BTreeSet<String> = changed().iter().map(|(name, _)| (*name).to_owned()).collect();
        known.extend(follow);
        assert_eq!(fields(&plain()), known, "a new field needs a line in `changed` above");
    }

    #[test]
    fn what_differs_has_another_digest() {
        let all: Vec<_> = std::iter::once(("none", plain())).chain(changed()).collect();
        for (k, (one, a)) in all.iter().enumerate() {
            assert_eq!(digest(a), digest(&a.clone()), "{one}");
            for (other, b) in &all[..k] {
                assert_ne!(digest(a), digest(b), "{one} and {other}");
            }
        }
    }

    #[test]
    fn what_was_not_given_has_no_entry() {
        assert_eq!(digest(&plain()).into_keys().collect::<Vec<_>>(), ["labels", "values"]);
        let strided = mat![[0.0, 2.0, 4.0, 6.0], [1.0, 3.0, 5.0, 7.0f64]];
        let strided = Dataset::new(strided.as_ref().transpose(), &["a", "b", "a", "b"]).unwrap();
        assert_eq!(digest(&strided), digest(&plain()), "strides do not count");
    }
}
