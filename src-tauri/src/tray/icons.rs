//! The icon of each state, as pixels.

use std::sync::LazyLock;

use skillopt_app::supervisor::Overall;
#[cfg(not(target_os = "macos"))]
use skillopt_app::types::TrayIcon;

/// Side of the icons, in pixels.
const SIDE: u8 = 44;

/// The icons of all states, in one colour.
pub(super) struct Drawings {
    asleep: LazyLock<Vec<u8>>,
    working: LazyLock<Vec<u8>>,
    waiting: LazyLock<Vec<u8>>,
    attention: LazyLock<Vec<u8>>,
    paused: LazyLock<Vec<u8>>,
}

macro_rules! icon {
    ($state:literal, $variant:literal) => {
        LazyLock::new(|| {
            decoded(include_bytes!(concat!(
                "../../icons/tray/",
                $state,
                "-",
                $variant,
                ".png"
            )))
        })
    };
}

macro_rules! drawings {
    ($variant:literal) => {
        Drawings {
            asleep: icon!("asleep", $variant),
            working: icon!("working", $variant),
            waiting: icon!("waiting", $variant),
            attention: icon!("attention", $variant),
            paused: icon!("paused", $variant),
        }
    };
}

/// For dark panels.
#[cfg(any(test, not(target_os = "macos")))]
pub(super) static FOR_DARK: Drawings = drawings!("light");
/// For light panels.
#[cfg(any(test, not(target_os = "macos")))]
pub(super) static FOR_LIGHT: Drawings = drawings!("dark");
/// For macOS, which looks at their shape alone.
#[cfg(any(test, target_os = "macos"))]
pub(super) static TEMPLATE: Drawings = drawings!("template");

/// Those for the panel that the settings name, or that is light as the desktop says.
#[cfg(not(target_os = "macos"))]
pub(super) fn of(panel: TrayIcon, is_light: impl FnOnce() -> bool) -> &'static Drawings {
    let is_light = match panel {
        TrayIcon::Light => true,
        TrayIcon::Dark => false,
        TrayIcon::Auto => is_light(),
    };
    if is_light { &FOR_LIGHT } else { &FOR_DARK }
}

impl Drawings {
    /// Side, and red, green, blue, alpha of each pixel.
    pub(super) fn pixels<Side: From<u8>>(&self, overall: Overall) -> (Side, &[u8]) {
        let pixels = match overall {
            Overall::Asleep => &self.asleep,
            Overall::Working => &self.working,
            Overall::WaitingForReview => &self.waiting,
            Overall::Attention => &self.attention,
            Overall::Paused => &self.paused,
        };
        (SIDE.into(), pixels)
    }
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
        for drawings in [&FOR_DARK, &FOR_LIGHT, &TEMPLATE] {
            let mut shapes: Vec<Vec<bool>> = Vec::new();
            for state in states {
                let (side, pixels): (usize, _) = drawings.pixels(state);
                assert_eq!(pixels.len(), side * side * 4, "{state:?}");
                shapes.push(pixels.chunks(4).map(|pixel| pixel[3] > 127).collect());
            }
            for (n, shape) in shapes.iter().enumerate() {
                assert!(shape.iter().filter(|set| **set).count() > 100);
                assert!(shapes[n + 1..].iter().all(|other| other != shape));
            }
        }
    }
}
