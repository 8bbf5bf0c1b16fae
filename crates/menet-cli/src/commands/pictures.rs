//! Pictures of axes: orange pixels have positive weights, blue pixels have negative weights.

use image::imageops;
use menet::Men;
use menet_lab::Folder;
use menet_lab::figures::axis_picture;

use crate::failure::Failure;

/// The factor by which pictures are enlarged.
const MAGNIFY: u32 = 8;

/// Writes `axis-01.png`, ... into `folder`.
pub(super) fn bases(men: &Men, folder: &Folder) -> Result<(), Failure> {
    let Some((height, width)) = men.image_shape() else {
        return Err(Failure::Usage(
            "the model is not of images; if its samples are images, fit again with --shape HxW".to_owned(),
        ));
    };
    for (k, axis) in men.projection().axes().iter().enumerate() {
        let picture = axis_picture((height, width), axis);
        let large = imageops::resize(
            &picture,
            width as u32 * MAGNIFY,
            height as u32 * MAGNIFY,
            imageops::FilterType::Nearest,
        );
        let mut bytes = std::io::Cursor::new(Vec::new());
        let unwritten = |e: image::ImageError| menet_io::Error::Output {
            path: folder.path().to_owned(),
            problem: e.to_string(),
        };
        large.write_to(&mut bytes, image::ImageFormat::Png).map_err(unwritten)?;
        folder.write(&format!("axis-{:02}.png", k + 1), bytes.get_ref())?;
    }
    Ok(())
}
