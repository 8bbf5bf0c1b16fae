//! Pictures of axes: orange pixels have positive weights, blue pixels have negative weights.

use std::path::Path;

use image::imageops;
use menet::Men;
use menet_lab::figures::axis_picture;

use crate::failure::Failure;

/// The factor by which pictures are enlarged.
const MAGNIFY: u32 = 8;

/// Writes `axis-01.png`, ... into `folder`, and makes the folder if necessary.
pub(super) fn bases(men: &Men, folder: &Path) -> Result<(), Failure> {
    let Some((height, width)) = men.image_shape() else {
        return Err(Failure::Usage(
            "the model is not of images; if its samples are images, fit again with --shape HxW".to_owned(),
        ));
    };
    let failed = |problem: String| menet_io::Error::Output { path: folder.to_owned(), problem };
    std::fs::create_dir_all(folder).map_err(|e| failed(e.to_string()))?;
    for (k, axis) in men.projection().axes().iter().enumerate() {
        let picture = axis_picture((height, width), axis);
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
