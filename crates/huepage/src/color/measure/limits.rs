// SPDX-License-Identifier: MIT OR Apache-2.0
//! Limits of measurement, checked before it begins: it is for private caches of a core,
//! and a geometry given by hand can be of any size.

use super::shape::Shape;
use crate::{color::ColorError, units::Bytes};

/// The largest cache to measure: private ones have up to 3 MiB now, and 6 MiB
/// where two cores shared one.
pub(super) const MOST_SIZE: Bytes = Bytes::mib(8);
/// The most colors to measure: twice those of any such cache. If pages fit no color, as
/// with a wrong geometry, the time grows with the square of the number of colors: ten
/// minutes were not enough for 1,024.
pub(super) const MOST_COLORS: u32 = 128;

/// Refuses a cache that cannot be measured in reasonable time, or in the memory that is
/// available. For a cache that is accepted, no figure exceeds 32 bits.
///
/// # Errors
/// [`ColorError::TooLarge`], [`ColorError::NoMemory`].
pub(super) fn check(
    shape: Shape,
    page_size: Bytes,
    available: Option<Bytes>,
) -> Result<(), ColorError> {
    let (colors, ways) = (shape.colors_assumed(), shape.ways);
    // Below 2^64 in pages, but not in bytes.
    let size = Bytes((u64::from(colors) * u64::from(ways)).saturating_mul(page_size.0));
    if size > MOST_SIZE || colors > MOST_COLORS {
        let (most, most_colors) = (MOST_SIZE, MOST_COLORS);
        return Err(ColorError::TooLarge { size, ways, colors, most, most_colors });
    }
    let needed = Bytes(shape.arena() as u64 * page_size.0);
    match available {
        Some(available) if available < needed => Err(ColorError::NoMemory { needed, available }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: Bytes = Bytes::kib(4);

    fn shape(colors: u32, ways: u32) -> Shape {
        Shape { colors: Some(colors), ways }
    }

    #[test]
    fn every_private_cache_of_the_field_is_measured() {
        let enough = Some(Bytes::mib(128));
        for (colors, ways) in [(8, 4), (16, 16), (32, 16), (40, 16), (64, 12), (64, 24)] {
            assert!(check(shape(colors, ways), PAGE, enough).is_ok(), "{colors} {ways}");
        }
        assert!(check(Shape { colors: None, ways: 16 }, PAGE, enough).is_ok());
    }

    #[test]
    fn the_limits_are_inclusive() {
        assert!(check(shape(128, 16), PAGE, None).is_ok());
        for (colors, ways) in [(129, 1), (128, 17), (8, 257), (65, 32)] {
            let refused = check(shape(colors, ways), PAGE, None);
            assert!(matches!(refused, Err(ColorError::TooLarge { .. })), "{colors} {ways}");
        }
    }

    /// 2 GiB of 16 ways, 64 GiB of one, 4 GiB of 1024; and the most that fits.
    #[test]
    fn nothing_overflows_before_it_is_refused() {
        for (colors, ways, gib) in
            [(1 << 15, 16, 2), (1 << 24, 1, 64), (1 << 10, 1 << 10, 4), (1 << 20, 1 << 20, 1 << 22)]
        {
            match check(shape(colors, ways), PAGE, None) {
                Err(ColorError::TooLarge { size, .. }) => assert_eq!(size, Bytes(gib << 30)),
                other => panic!("{colors} {ways}: {other:?}"),
            }
        }
        let most = check(shape(u32::MAX, u32::MAX), PAGE, None);
        assert!(matches!(most, Err(ColorError::TooLarge { size: Bytes(u64::MAX), .. })));
    }

    /// All that is computed of a shape that passes, as a machine of 32 bits would.
    #[test]
    fn what_passes_fits_32_bits() {
        for (colors, ways) in [(128, 16), (128, 1), (2, 1024), (1, 2048), (64, 32)] {
            let shape = shape(colors, ways);
            assert!(check(shape, PAGE, None).is_ok(), "{colors} {ways}");
            let pages = u64::from(colors) * 56 + 8 * u64::from(colors) * u64::from(ways) + 1024;
            assert_eq!(shape.arena() as u64, pages);
            assert!(pages * PAGE.0 < 1 << 31, "{colors} {ways}");
        }
    }

    #[test]
    fn memory_that_is_not_there_is_named() {
        let shape = shape(32, 16);
        let needed = Bytes(shape.arena() as u64 * PAGE.0);
        assert_eq!(needed, Bytes((32 * 56 + 8 * 512 + 1024) * 4096));
        assert!(check(shape, PAGE, Some(needed)).is_ok());
        match check(shape, PAGE, Some(Bytes(needed.0 - 1))) {
            Err(error @ ColorError::NoMemory { .. }) => {
                assert!(error.to_string().contains("are available"), "{error}");
            }
            other => panic!("{other:?}"),
        }
    }
}
