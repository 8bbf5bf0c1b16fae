//! The faces of the built-in set orl.

use std::path::Path;

use faer::Mat;
use menet::baselines::Pca;
use menet::rules::{Metric, nearest_neighbors};
use menet::{Dataset, Men, MenParams, Projection, Reducer, SizeLimits};
use menet_lab::{Folder, figures};

use crate::Context;
use crate::commands::pictures;
use crate::failure::Failure;
use crate::text;

pub(super) fn run(out: &Path, context: &Context) -> Result<(), Failure> {
    let folder = Folder::open(out, "demo", &["axis-01.png", "path-01.svg"])?;
    let table = menet_io::read("orl", &menet_io::ReadOptions::default())?;
    let all = table.dataset()?;
    let pixels = all.x()?;
    // Every second image of a person is for training, the others are for testing.
    let half = |odd: usize| {
        let rows: Vec<usize> = (0..all.samples()).filter(|i| i % 2 == odd).collect();
        let labels: Vec<&str> = rows.iter().map(|&i| all.classes()[all.class_of(i)].as_str()).collect();
        let x = Mat::from_fn(rows.len(), all.variables(), |i, j| pixels[(rows[i], j)]);
        Dataset::from_owned(x, &labels)
    };
    let (train, test) = (half(0)?.with_image_shape(40, 40)?, half(1)?);
    let params = MenParams::paper().with(|it| it.nonzeros = Some(100));
    let men = menet::fit(&train, &params, &context.watch)?;
    context.watch.done();
    pictures::bases(&men, &folder)?;
    let svg = figures::path(&men, 0, "ORL faces").unwrap_or_default();
    folder.write("path-01.svg", svg.as_bytes())?;
    folder.finish()?;

    let (d, p) = (men.projection().components(), train.variables());
    let certificate = men.certificates().iter().map(|c| c.kkt).fold(0.0, f64::max);
    let total: f64 = men.report().seconds.iter().map(|(_, seconds)| seconds).sum();
    let rates: Vec<(usize, f64)> = [10, 20, 50, 100]
        .into_iter()
        .map(|k| Ok((k, rate(at(&men, k, &train)?.projection(), &train, &test)?)))
        .collect::<Result<_, Failure>>()?;
    let pca = rate(&Pca {}.fit(&train, Some(d), &())?.projection, &train, &test)?;
    if context.json {
        let rates: Vec<_> =
            rates.iter().map(|(k, rate)| serde_json::json!({ "nonzeros": k, "rate": rate })).collect();
        text::print(format_args!(
            "{}",
            serde_json::json!({ "n": train.samples(), "components": d, "kkt": certificate, "seconds": total,
                                "rates": rates, "pca_rate": pca, "pictures": out.to_string_lossy() })
        ))?;
        return Ok(());
    }
    text::print(format_args!(
        "\
The ORL faces: 400 photographs of 40 people, 40 x 40 pixels. From five of the ten photographs of each person,
menet learned {d} axes that tell the people apart, in {total:.2} s. Each axis uses at most 100 of the {p} pixels.

Share of the other 200 photographs that are recognised by their nearest neighbour, by the number of pixels
per axis (all read from this one fit):
"
    ))?;
    for (k, rate) in &rates {
        text::print(format_args!("  menet, {k:>4} pixels per axis  {rate:5.1} %"))?;
    }
    text::print(format_args!("  PCA, all {p} pixels         {pca:5.1} %   (same number of axes)"))?;
    text::print(format_args!(
        "\nEvery axis is the exact optimum of its problem: the conditions that prove it hold to {certificate:.0e}."
    ))?;
    text::print(format_args!("In the folder {}:", text::path(out)))?;
    text::print(format_args!(
        "  axis-01.png ...  the pixels of each axis: orange for positive weights, blue for negative weights"
    ))?;
    text::print(format_args!("  path-01.svg      how the pixels of axis 1 enter as the penalty falls"))?;
    text::print(format_args!(
        "\nNext: menet fit --data orl --preset paper --nonzeros 100 --model faces.safetensors"
    ))?;
    Ok(())
}

/// A fit read with at most this many pixels per axis.
fn at(men: &Men, nonzeros: usize, train: &Dataset<'_>) -> Result<Men, Failure> {
    Ok(men.at(SizeLimits::default().with(|it| it.nonzeros = Some(nonzeros)), Some(train))?)
}

/// The percentage of `test` that the nearest sample of `train` recognises.
fn rate(projection: &Projection, train: &Dataset<'_>, test: &Dataset<'_>) -> Result<f64, Failure> {
    let (gallery, seen) = (projection.project(train)?, projection.project(test)?);
    let found =
        nearest_neighbors(gallery.as_ref(), train.class_indices(), seen.as_ref(), 1, Metric::Euclidean)?;
    let right =
        found.iter().zip(test.class_indices()).filter(|(found, class)| found.class == **class).count();
    Ok(100.0 * right as f64 / found.len() as f64)
}
