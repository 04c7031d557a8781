//! Figures as PNG images, for programs without support for SVG.

use resvg::{tiny_skia, usvg};

/// Why an image cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// The SVG cannot be read.
    #[error("the figure is not an SVG that can be drawn: {0}")]
    Svg(#[from] usvg::Error),
    /// Text would be missing.
    #[error(
        "this system has no fonts; install some, for example the package \
            fonts-dejavu-core"
    )]
    NoFonts,
    /// The image would be empty or too large.
    #[error("this figure cannot be an image {0} pixels wide; choose another width")]
    Width(u32),
    /// The image cannot be encoded.
    #[error("the image cannot be encoded: {0}")]
    Encoding(String),
}

/// A figure as a PNG file with this width in pixels, on a white background.
///
/// # Errors
/// When the figure is not an SVG, the system has no fonts, or the width is 0 or too large.
pub fn png(svg: &str, width: u32) -> Result<Vec<u8>, PngError> {
    let mut options = usvg::Options::default();
    options.fontdb_mut().load_system_fonts();
    let face = options
        .fontdb
        .faces()
        .next()
        .and_then(|face| face.families.first())
        .map(|(name, _)| name.clone());
    // Any font is better than none if the usual names are missing.
    let preferred = ["Liberation Sans", "Arial", "Helvetica", "DejaVu Sans"];
    let has = |name: &&&str| {
        options
            .fontdb
            .faces()
            .any(|face| face.families.iter().any(|(family, _)| family == **name))
    };
    let sans = preferred
        .iter()
        .find(has)
        .map(|name| (*name).to_string())
        .or(face)
        .ok_or(PngError::NoFonts)?;
    options.fontdb_mut().set_sans_serif_family(sans);
    let tree = usvg::Tree::from_str(svg, &options)?;
    let factor = width as f32 / tree.size().width();
    let height = (tree.size().height() * factor).ceil() as u32;
    let mut image = tiny_skia::Pixmap::new(width, height).ok_or(PngError::Width(width))?;
    image.fill(tiny_skia::Color::WHITE);
    resvg::render(
        &tree,
        tiny_skia::Transform::from_scale(factor, factor),
        &mut image.as_mut(),
    );
    image
        .encode_png()
        .map_err(|e| PngError::Encoding(e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::{PngError, png};

    const SQUARE: &str = "<svg xmlns='http://www.w3.org/2000/svg' width='10' height='20'><rect \
        width='10' height='20'/></svg>";

    #[test]
    fn an_image_has_the_requested_width() {
        let image = match png(SQUARE, 30) {
            Err(PngError::NoFonts) => return,
            other => other.unwrap(),
        };
        assert_eq!(&image[1..4], b"PNG");
        assert_eq!(
            (&image[16..20], &image[20..24]),
            (&[0, 0, 0, 30][..], &[0, 0, 0, 60][..])
        );
    }

    #[test]
    fn other_text_and_a_width_of_zero_are_refused() {
        assert!(matches!(
            png("<html>", 30),
            Err(PngError::Svg(_) | PngError::NoFonts)
        ));
        assert!(matches!(
            png(SQUARE, 0),
            Err(PngError::Width(0) | PngError::NoFonts)
        ));
    }
}
