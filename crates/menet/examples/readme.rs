use menet::{Dataset, MenParams, fit};

fn main() -> menet::Result<()> {
    // Six samples of four variables, three of them of no use, in two classes.
    let x = faer::mat![
        [0.1, 5.0, 2.0, 7.0],
        [0.2, 4.0, 3.0, 7.1],
        [0.0, 6.0, 1.0, 6.9],
        [0.9, 5.1, 2.1, 7.0],
        [1.0, 4.2, 2.9, 7.2],
        [1.1, 5.9, 1.2, 6.8f64],
    ];
    let data = Dataset::new(x.as_ref(), &["no", "no", "no", "yes", "yes", "yes"])?;
    let men = fit(&data, &MenParams::default().with(|it| it.nonzeros = Some(1)), &())?;
    assert_eq!(men.projection().axes()[0].indices(), [0]); // the axis uses variable 0
    assert!(men.certificates()[0].kkt < 1e-12); // and is optimal
    println!("{:?}", men.transform(x.as_ref())?);
    Ok(())
}
