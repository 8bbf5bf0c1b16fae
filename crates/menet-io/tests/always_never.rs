//! Model files keep which variables are always in.

use faer::Mat;
use menet::refit::Refit;
use menet::{Dataset, MenParams, SizeLimits, fit};
use menet_io::ModelFile;

#[test]
fn a_model_file_keeps_what_is_always_in() {
    let labels: Vec<usize> = (0..30).map(|i| i % 3).collect();
    let x = Mat::from_fn(30, 8, |i, j| {
        ((i * 7 + j * j * 5) % 11) as f64 + if j % 3 == i % 3 { 4.0 } else { 0.0 }
    });
    let data = Dataset::from_owned(x, &labels).unwrap();
    let params = MenParams::default().with(|it| {
        it.refit.kind = Some(Refit::None);
        it.nonzeros = Some(3);
        it.penalty.always = Some(vec![5.into(), "8".into()]);
        it.penalty.never = Some(vec![0.into()]);
    });
    let men = fit(&data, &params, &()).unwrap();
    assert_eq!((men.always(), men.never()), (vec![5, 7], vec![0]));
    let file = ModelFile::new(men, &data, "test").unwrap();
    let back = ModelFile::from_bytes(&file.to_bytes().unwrap()).unwrap();
    assert_eq!(back, file);
    assert_eq!((back.men.always(), back.men.never()), (vec![5, 7], vec![0]));
    // A smaller model does not count them either.
    let reading = SizeLimits::default().with(|it| it.nonzeros = Some(1));
    let read = back.men.at(reading, None).unwrap();
    assert_eq!(read.projection(), file.men.at(reading, None).unwrap().projection());
    assert_eq!(read.support_sizes(), [3, 3]);
}
