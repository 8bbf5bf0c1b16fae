//! The whole road on drawn faces: fit, look, classify, and read every sparsity off one fit.
//!
//! `cargo run --release --example faces`

#[path = "support/faces.rs"]
mod drawn;

use faer::Mat;
use menet::rules::nearest_neighbors;
use menet::{Dataset, Men, MenParams, Named, SizeLimits, fit};

const PERSONS: usize = 40;
const IMAGES: usize = 10;
const SIZE: usize = 40;

fn main() -> menet::Result<()> {
    // Half of each person's images to learn from, half to be recognised.
    let all = drawn::faces(0, PERSONS, IMAGES, SIZE);
    let half = |odd: usize| Mat::from_fn(PERSONS * IMAGES / 2, SIZE * SIZE, |i, j| all[(2 * i + odd, j)]);
    let person: Vec<String> =
        (0..PERSONS * IMAGES / 2).map(|i| format!("person {}", i / (IMAGES / 2) + 1)).collect();
    let (train, test) = (half(0), half(1));
    let data = Dataset::new(train.as_ref(), &person)?.with_image_shape(SIZE, SIZE)?;

    let params = MenParams::paper().with(|it| {
        it.components = Some(20);
        it.nonzeros = Some(100);
    });
    let men = fit(&data, &params, &())?;

    let report = men.report().definiteness;
    println!("{} drawn faces of {PERSONS} persons, {SIZE} x {SIZE} pixels", data.samples());
    println!("kappa {} -> {:.4} ({})", report.kappa_requested, report.kappa_used, report.policy.name());
    let total: f64 = men.report().seconds.iter().map(|(_, seconds)| seconds).sum();
    let stages: Vec<String> =
        men.report().seconds.iter().map(|(s, t)| format!("{s} {:.0} ms", 1e3 * t)).collect();
    println!("fitted in {:.0} ms: {}\n", 1e3 * total, stages.join(", "));

    println!("axis  pixels  of {}   level     certificate", SIZE * SIZE);
    for k in 0..5 {
        let (pixels, level) = (men.support_sizes()[k], men.levels()[k]);
        println!("{:>4}  {pixels:>6}           {level:<8.3}  {:.1e}", k + 1, men.certificates()[k].kkt);
    }
    println!("\nThe pixels that make axes 1 and 2 (+ and - by sign, bold where heavy):\n");
    draw(&men, [0, 1]);

    println!("\nPersons recognised among {} unseen images, all from this one fit:\n", test.nrows());
    println!("pixels per axis  5     10    20    50    100");
    for d in [5, 10, 20] {
        print!("{d:>3} axes      ");
        for k in [5, 10, 20, 50, 100] {
            let men = men.at(
                SizeLimits::default().with(|it| {
                    it.nonzeros = Some(k);
                    it.components = Some(d);
                }),
                None,
            )?;
            let gallery = men.transform(train.as_ref())?;
            let seen = men.transform(test.as_ref())?;
            let found = nearest_neighbors(
                gallery.as_ref(),
                data.class_indices(),
                seen.as_ref(),
                1,
                params.rule.on_several().metric,
            )?;
            let right = found
                .iter()
                .zip(data.class_indices())
                .filter(|(found, class)| found.class == **class)
                .count();
            print!("{:5.1}%", 100.0 * right as f64 / found.len() as f64);
        }
        println!();
    }
    Ok(())
}

/// Two axes side by side, two characters a pixel and every other row.
fn draw(men: &Men, axes: [usize; 2]) {
    let heaviest =
        |k: usize| men.projection().axes()[k].values().iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    for row in (0..SIZE).step_by(2) {
        let mut line = String::from("  ");
        for k in axes {
            for column in 0..SIZE {
                let weight = |r: usize| men.projection().axes()[k].get(r * SIZE + column);
                let (a, b) = (weight(row), weight(row + 1));
                let weight = if a.abs() > b.abs() { a } else { b };
                line.push(match weight / heaviest(k) {
                    w if w > 0.4 => '#',
                    w if w > 0.0 => '+',
                    w if w < -0.4 => '=',
                    w if w < 0.0 => '-',
                    _ => '.',
                });
            }
            line.push_str("    ");
        }
        println!("{}", line.trim_end());
    }
}
