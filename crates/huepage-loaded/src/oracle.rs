// SPDX-License-Identifier: MIT OR Apache-2.0
//! Opens the oracle that finds the colors of frames.

use huepage::{
    color::{
        Color, ColorCount, ColorError, ColorOracle, FrameNumberOracle, MeasureOptions, Method,
        palette::{Palette, PaletteOptions},
    },
    mapping::{PageAddr, page_size},
    run::Config,
    topology::allowed_cpus,
    with_causes,
};

/// By frame number, or by the palette, which is made if there is none and `make` is
/// set.
///
/// # Errors
/// Why there is none, as a sentence.
pub fn open(config: &Config, make: bool) -> Result<Box<dyn ColorOracle>, String> {
    if config.restless {
        return Ok(Box::new(Pretended(config.geometry.colors(page_size()))));
    }
    if config.by_frame_number {
        let oracle = FrameNumberOracle::new(&config.geometry).map_err(|e| with_causes(&e))?;
        return Ok(Box::new(oracle));
    }
    let cpus = allowed_cpus().map_err(|e| format!("no CPU to measure on: {e}"))?;
    let cpu = *cpus.last().ok_or("no CPU to measure on")?;
    let options = MeasureOptions::new(cpu, Some(config.geometry));
    let mut palettes = PaletteOptions::with_own(config.palettes.clone());
    palettes.make = make;
    let palette = Palette::open(&options, &palettes).map_err(|e| with_causes(&e))?;
    Ok(Box::new(palette))
}

/// Invents colors at once: for tests of what exchanging does to a program, on any
/// machine.
struct Pretended(ColorCount);

impl ColorOracle for Pretended {
    fn method(&self) -> Method {
        Method::Measurement
    }

    fn count(&self) -> ColorCount {
        self.0
    }

    unsafe fn classify(&mut self, pages: &[PageAddr]) -> Result<Vec<Option<Color>>, ColorError> {
        let size = rustix::param::page_size();
        let color = |page: &PageAddr| Color((page.get() / size) as u32 % self.0.get());
        Ok(pages.iter().map(|page| Some(color(page))).collect())
    }
}
