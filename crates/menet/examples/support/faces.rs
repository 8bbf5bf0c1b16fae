//! Drawn faces: seeded, grey, whole numbers from 0 to 255, as real images are. Nobody's face.

#![allow(unreachable_pub, reason = "included by examples, benchmarks and tests")]

use faer::Mat;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Normal};
use rand_pcg::Pcg64Mcg;

/// What makes a person, in units of the image's size, with the origin in its middle.
struct Person {
    head: (f64, f64),
    eyes: (f64, f64, f64),
    brows: f64,
    nose: (f64, f64),
    mouth: (f64, f64, f64),
    hair: f64,
    tones: [f64; 4],
}

/// `images` pictures of each of `persons`, `size`×`size` pixels, one per row, persons after one another.
pub fn faces(seed: u64, persons: usize, images: usize, size: usize) -> Mat<f64> {
    let rng = &mut Pcg64Mcg::seed_from_u64(seed);
    let mut x = Mat::zeros(persons * images, size * size);
    for person in 0..persons {
        let mut around = |mean: f64, sd: f64| Normal::new(mean, sd).expect("sd > 0").sample(rng);
        let who = Person {
            head: (around(0.36, 0.025), around(0.44, 0.02)),
            eyes: (around(-0.08, 0.02), around(0.15, 0.015), around(0.05, 0.008)),
            brows: around(-0.17, 0.02),
            nose: (around(0.08, 0.025), around(0.035, 0.008)),
            mouth: (around(0.22, 0.02), around(0.12, 0.025), around(0.025, 0.008)),
            hair: around(-0.27, 0.04),
            tones: [around(185.0, 12.0), around(60.0, 25.0), around(70.0, 15.0), around(105.0, 15.0)],
        };
        for image in 0..images {
            let noise = Normal::new(0.0, 6.0).expect("sd > 0");
            let mut uniform = |spread: f64| rng.random_range(-spread..spread);
            let (dx, dy, turn) = (uniform(0.03), uniform(0.03), uniform(0.12));
            let (light, glow, open) = (uniform(0.35), uniform(0.15), uniform(0.02));
            for row in 0..size {
                for column in 0..size {
                    let (u, v) =
                        ((column as f64 + 0.5) / size as f64 - 0.5, (row as f64 + 0.5) / size as f64 - 0.5);
                    let (u, v) = (u - dx + turn * v, v - dy - turn * u);
                    let grey = shade(&who, u, v, open) * (1.0 + glow + light * u) + noise.sample(rng);
                    x[(person * images + image, row * size + column)] = grey.clamp(0.0, 255.0).round();
                }
            }
        }
    }
    x
}

/// The grey value of a person at a point, the mouth `open` a little more or less.
fn shade(who: &Person, u: f64, v: f64, open: f64) -> f64 {
    let blob = |x: f64, y: f64, w: f64, h: f64| (-((u - x) / w).powi(2) - ((v - y) / h).powi(2)).exp();
    let edge = |inside: f64| 1.0 / (1.0 + (-inside * 25.0).exp());
    let head = edge(1.0 - (u / who.head.0).powi(2) - (v / who.head.1).powi(2));
    let [skin, hair, eye, lip] = who.tones;
    let mut grey = skin - 25.0 * (u / who.head.0).powi(2) * skin / 185.0;
    for side in [-1.0, 1.0] {
        grey -= (skin - eye) * blob(side * who.eyes.1, who.eyes.0, who.eyes.2, 0.6 * who.eyes.2);
        grey -= 0.6 * (skin - hair) * blob(side * who.eyes.1, who.brows, 1.5 * who.eyes.2, 0.018);
    }
    grey += 25.0 * blob(0.0, who.nose.0 - 0.06, who.nose.1, 0.09);
    grey -= 30.0 * blob(0.0, who.nose.0 + 0.04, 1.6 * who.nose.1, 0.02);
    grey -= (skin - lip) * blob(0.0, who.mouth.0, who.mouth.1, who.mouth.2 + open.abs());
    let top = edge(who.hair - v);
    head * (top * hair + (1.0 - top) * grey) + (1.0 - head) * 35.0
}
