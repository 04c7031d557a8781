//! Figures as pixels, for programs that know no SVG.

use resvg::{tiny_skia, usvg};

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// The drawing cannot be read.
    #[error("the drawing is no SVG that can be drawn: {0}")]
    Drawing(#[from] usvg::Error),
    /// Text would be missing.
    #[error(
        "this system has no fonts to write text with; install some, for example the package \
            fonts-dejavu-core"
    )]
    NoFonts,
    /// The picture has no size, or too large a one.
    #[error("a picture {0} pixels wide cannot be made of this drawing; choose another width")]
    Width(u32),
    /// The picture cannot be packed.
    #[error("the picture cannot be written: {0}")]
    Writing(String),
}

/// A figure as a PNG file with this width in pixels, on a white background.
///
/// # Errors
/// When the drawing is no SVG, the system has no fonts, or the width makes no picture.
pub fn png(svg: &str, width: u32) -> Result<Vec<u8>, PngError> {
    let mut options = usvg::Options::default();
    options.fontdb_mut().load_system_fonts();
    let face = options
        .fontdb
        .faces()
        .next()
        .and_then(|face| face.families.first())
        .map(|(name, _)| name.clone());
    // Any font is better than none where the usual names are missing.
    let preferred = ["Liberation Sans", "Arial", "Helvetica", "DejaVu Sans"];
    let has = |name: &&&str| {
        options
            .fontdb
            .faces()
            .any(|face| face.families.iter().any(|(own, _)| own == **name))
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
    let mut picture = tiny_skia::Pixmap::new(width, height).ok_or(PngError::Width(width))?;
    picture.fill(tiny_skia::Color::WHITE);
    resvg::render(
        &tree,
        tiny_skia::Transform::from_scale(factor, factor),
        &mut picture.as_mut(),
    );
    picture
        .encode_png()
        .map_err(|e| PngError::Writing(e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::{PngError, png};

    const SQUARE: &str = "<svg xmlns='http://www.w3.org/2000/svg' width='10' height='20'><rect \
        width='10' height='20'/></svg>";

    #[test]
    fn a_picture_is_as_wide_as_asked_for() {
        let picture = match png(SQUARE, 30) {
            Err(PngError::NoFonts) => return,
            other => other.unwrap(),
        };
        assert_eq!(&picture[1..4], b"PNG");
        assert_eq!(
            (&picture[16..20], &picture[20..24]),
            (&[0, 0, 0, 30][..], &[0, 0, 0, 60][..])
        );
    }

    #[test]
    fn what_is_no_drawing_or_has_no_size_is_refused() {
        assert!(matches!(
            png("<html>", 30),
            Err(PngError::Drawing(_) | PngError::NoFonts)
        ));
        assert!(matches!(
            png(SQUARE, 0),
            Err(PngError::Width(0) | PngError::NoFonts)
        ));
    }
}
