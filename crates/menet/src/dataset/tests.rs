use super::*;
use faer::mat;

#[test]
fn classes_sort_by_value_or_bytewise() {
    let sorted = |labels: &[&str]| sorted_classes(&labels.iter().map(|l| l.to_string()).collect::<Vec<_>>());
    assert_eq!(sorted(&["10", "9", "-1", "9"]), ["-1", "9", "10"]);
    assert_eq!(sorted(&["10", "9", "b"]), ["10", "9", "b"]);
    assert_eq!(sorted(&["2.0", "10.0", "1.0"]), ["1.0", "2.0", "10.0"]);
    assert_eq!(sorted(&["1.5", "10", "9"]), ["1.5", "10", "9"]);
    assert_eq!(sorted(&["ä", "Z", "a", ""]), ["", "Z", "a", "ä"]);
    assert_eq!(sorted(&["inf", "1"]), ["1", "inf"]);
}

#[test]
fn any_strides_are_borrowed() {
    let x = mat![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0f64]];
    let data = Dataset::new(x.as_ref().transpose().subcols(1, 2), &[0, 1, 0]).unwrap();
    assert_eq!((data.samples(), data.variables()), (3, 2));
    assert_eq!(data.x().unwrap()[(2, 0)], 6.0);
    assert_eq!(data.members(0), [0, 2]);
}

#[test]
fn large_sparse_data_stay_sparse() {
    let x = SparseMatrix::from_dense(mat![[1.0, 0.0], [0.0, 3.0f64]].as_ref()).unwrap();
    let small = Dataset::from_sparse(x.clone(), &[0, 1]).unwrap();
    assert!(small.sparse().is_none());
    assert_eq!(small.x().unwrap(), x.to_dense());
    let large = Dataset::from_sparse_beyond(31, x.clone(), &[0, 1]).unwrap();
    assert_eq!((large.sparse(), large.variables()), (Some(&x), 2));
    let message = large.x().unwrap_err().to_string();
    assert!(message.contains("2 x 2") && message.contains("dense"), "{message}");
    assert!(Dataset::from_sparse_beyond(0, x, &[0]).is_err());
}

#[test]
fn bad_values_are_named() {
    let x = mat![[1.0, 2.0], [3.0, f64::NAN]];
    let message = Dataset::new(x.as_ref(), &[0, 1]).unwrap_err().to_string();
    assert!(message.contains("row 1, column 1") && message.contains("NaN"), "{message}");
    for value in [f64::INFINITY, -f64::INFINITY, 1e101] {
        let x = mat![[value], [1.0]];
        assert!(matches!(Dataset::new(x.as_ref(), &[0, 1]), Err(Error::NotFinite { row: 0, column: 0, .. })));
    }
}

#[test]
fn sizes_are_checked() {
    let x = mat![[1.0, 2.0], [3.0, 4.0f64]];
    let message = Dataset::new(x.as_ref(), &["a"]).unwrap_err().to_string();
    assert!(message.contains("1 entries") && message.contains("2 rows"), "{message}");
    let empty: Mat<f64> = Mat::zeros(0, 3);
    assert!(matches!(Dataset::new(empty.as_ref(), &[""; 0]), Err(Error::Empty { rows: 0, columns: 3 })));
    let data = Dataset::new(x.as_ref(), &[0, 1]).unwrap();
    assert!(data.clone().with_feature_names(vec!["a".into()]).is_err());
    assert!(data.clone().with_image_shape(usize::MAX, 2).is_err());
    assert_eq!(data.with_image_shape(1, 2).unwrap().image_shape(), Some((1, 2)));
}

#[test]
fn codes_are_classes_in_the_order_of_the_caller() {
    let x = mat![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0f64]];
    let names = || vec!["b".to_owned(), "a".to_owned()];
    let data = Dataset::from_codes(x.as_ref(), vec![1, 0, 1], names()).unwrap();
    assert_eq!((data.classes(), data.class_indices()), (&names()[..], &[1, 0, 1][..]));
    assert_eq!(data.members(1), [0, 2]);
    let message = |codes: Vec<usize>| Dataset::from_codes(x.clone(), codes, names()).unwrap_err().to_string();
    assert!(message(vec![1, 2, 0]).contains("2 at sample 1"), "{}", message(vec![1, 2, 0]));
    assert!(message(vec![1, 1, 1]).contains("\"b\", which no sample is of"));
    assert!(message(vec![1, 1]).contains("2 entries"));
}

#[test]
fn single_precision_is_converted() {
    let x = mat![[0.5f32], [1.5f32]];
    assert_eq!(Dataset::from_f32(x.as_ref(), &[0, 1]).unwrap().x().unwrap()[(1, 0)], 1.5);
}
