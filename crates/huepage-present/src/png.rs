// SPDX-License-Identifier: MIT OR Apache-2.0
//! SVG to PNG.

use std::sync::Arc;

use anyhow::{Context, bail};
use resvg::{
    tiny_skia::{Pixmap, Transform},
    usvg::{Options, Tree, fontdb::Database},
};

/// The fonts of this machine.
fn fonts() -> anyhow::Result<Database> {
    let mut fonts = Database::new();
    fonts.load_system_fonts();
    let families: Vec<String> =
        fonts.faces().filter_map(|face| face.families.first()).map(|f| f.0.clone()).collect();
    let wanted = ["DejaVu Sans", "Liberation Sans", "Noto Sans"].map(str::to_owned);
    let Some(family) = wanted.iter().find(|name| families.contains(name)).or(families.first())
    else {
        bail!(
            "a PNG needs a font and there is none on this machine: install the package \
             fonts-dejavu-core, or write an SVG instead"
        );
    };
    fonts.set_sans_serif_family(family);
    Ok(fonts)
}

/// Checks whether this machine has a font for labels.
///
/// # Errors
/// If it has none; the message says which package brings one.
pub fn check_fonts() -> anyhow::Result<()> {
    fonts().map(drop)
}

/// Renders an SVG at its own size.
///
/// # Errors
/// If there is no font, or the SVG cannot be read.
pub fn render(svg: &str) -> anyhow::Result<Vec<u8>> {
    let options = Options { fontdb: Arc::new(fonts()?), ..Options::default() };
    let tree = Tree::from_str(svg, &options).context("reading the picture back as SVG")?;
    let size = tree.size().to_int_size();
    let mut pixmap = Pixmap::new(size.width(), size.height()).context("a picture of no size")?;
    resvg::render(&tree, Transform::identity(), &mut pixmap.as_mut());
    pixmap.encode_png().context("encoding the picture as PNG")
}
