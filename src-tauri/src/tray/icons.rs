//! The icon of each state, as pixels.

use std::sync::LazyLock;

use skillopt_app::supervisor::Overall;

/// Side of the icons, in pixels.
const SIDE: i32 = 44;

macro_rules! icon {
    ($state:literal) => {
        LazyLock::new(|| {
            decoded(include_bytes!(concat!(
                "../../icons/tray/",
                $state,
                "-light.png"
            )))
        })
    };
}

// Panels are dark almost everywhere, also beside light windows.
static ASLEEP: LazyLock<Vec<u8>> = icon!("asleep");
static WORKING: LazyLock<Vec<u8>> = icon!("working");
static WAITING: LazyLock<Vec<u8>> = icon!("waiting");
static ATTENTION: LazyLock<Vec<u8>> = icon!("attention");
static PAUSED: LazyLock<Vec<u8>> = icon!("paused");

/// Side, and red, green, blue, alpha of each pixel.
pub(super) fn pixels(overall: Overall) -> (i32, &'static [u8]) {
    let pixels = match overall {
        Overall::Asleep => &ASLEEP,
        Overall::Working => &WORKING,
        Overall::WaitingForReview => &WAITING,
        Overall::Attention => &ATTENTION,
        Overall::Paused => &PAUSED,
    };
    (SIDE, pixels)
}

/// A test decodes each of them.
fn decoded(file: &[u8]) -> Vec<u8> {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(file));
    decoder.set_transformations(png::Transformations::ALPHA | png::Transformations::STRIP_16);
    let read = || {
        let mut reader = decoder.read_info()?;
        let mut pixels = vec![0; reader.output_buffer_size().unwrap_or_default()];
        let length = reader.next_frame(&mut pixels)?.buffer_size();
        pixels.truncate(length);
        Ok::<_, png::DecodingError>(pixels)
    };
    read().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_has_a_shape_of_its_own() {
        let states = [
            Overall::Asleep,
            Overall::Working,
            Overall::WaitingForReview,
            Overall::Attention,
            Overall::Paused,
        ];
        let mut shapes: Vec<Vec<bool>> = Vec::new();
        for state in states {
            let (side, pixels) = pixels(state);
            assert_eq!(
                pixels.len(),
                usize::try_from(side * side * 4).unwrap(),
                "{state:?}"
            );
            shapes.push(pixels.chunks(4).map(|pixel| pixel[3] > 127).collect());
        }
        for (n, shape) in shapes.iter().enumerate() {
            assert!(shape.iter().filter(|set| **set).count() > 100);
            assert!(shapes[n + 1..].iter().all(|other| other != shape));
        }
    }
}
