//! Pictures of axes: blue where a pixel counts against, red where it counts for.

use std::path::Path;

use image::{Rgb, RgbImage, imageops};
use menet::Men;

use crate::failure::Failure;

/// How many screen pixels an image pixel becomes.
const MAGNIFY: u32 = 8;

/// Writes `axis-01.png`, ... into `folder`, which is made if need be.
pub(super) fn bases(men: &Men, folder: &Path) -> Result<(), Failure> {
    let Some((height, width)) = men.image_shape() else {
        return Err(Failure::Usage(
            "the model is not of images; give their shape to fit with --shape HxW".to_owned(),
        ));
    };
    let failed = |problem: String| menet_io::Error::Output { path: folder.to_owned(), problem };
    std::fs::create_dir_all(folder).map_err(|e| failed(e.to_string()))?;
    for (k, axis) in men.projection().axes().iter().enumerate() {
        let heaviest = axis.values().iter().fold(0.0, |m: f64, w| m.max(w.abs()));
        let picture = RgbImage::from_fn(width as u32, height as u32, |x, y| {
            shade(axis.get(y as usize * width + x as usize) / heaviest)
        });
        let large = imageops::resize(
            &picture,
            width as u32 * MAGNIFY,
            height as u32 * MAGNIFY,
            imageops::FilterType::Nearest,
        );
        let mut bytes = std::io::Cursor::new(Vec::new());
        large.write_to(&mut bytes, image::ImageFormat::Png).map_err(|e| failed(e.to_string()))?;
        let path = folder.join(format!("axis-{:02}.png", k + 1));
        menet_io::atomic::write(&path, |out| out.write_all(bytes.get_ref()))?;
    }
    Ok(())
}

/// White at 0, red at 1, blue at −1; the square root keeps light weights visible.
fn shade(weight: f64) -> Rgb<u8> {
    let fade = (255.0 * (1.0 - weight.abs().sqrt())) as u8;
    if weight == 0.0 {
        Rgb([245, 245, 245])
    } else if weight > 0.0 {
        Rgb([220, fade.min(220), fade.min(220)])
    } else {
        Rgb([fade.min(220), fade.min(220), 220])
    }
}
