// SPDX-License-Identifier: MIT OR Apache-2.0
//! Placing memory by color: open, ask for memory, use it.
//!
//! Colors are found as the machine allows: measured in a virtual machine, and by frame
//! number if measurement shows that to be right. Needs no privilege.

use allocator_api2::vec::Vec;
use huepage::{Huepage, units::Bytes};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // These settings are enough.
    let huepage = Huepage::open()?;
    let mut numbers = huepage.vec::<f64>(100_000)?;
    numbers.iter_mut().zip(1..).for_each(|(number, n)| *number = f64::from(n));
    println!("sum: {}", numbers.iter().sum::<f64>());

    println!("{} colors, by {}", huepage.count(), huepage.reason());
    println!("first colors: {:?}", &numbers.colors()[..4]);
    // Ordinary memory from the kernel, for comparison.
    let plain = vec![1.0; 4096];
    println!("of a plain vector: {:?}", huepage.colors_of(&plain)?);

    // Has the kernel or the host moved pages meanwhile?
    println!("reverified: {:?}", numbers.reverify()?);

    // A quarter of the cache for one thing, the rest for another.
    let parts = huepage.partition().split(&[1, 3])?;
    let streamed = huepage.vec_in::<u8>(&parts[0], 1 << 20)?;
    println!("{} MiB in {} colors", streamed.len() >> 20, parts[0].colors().len());

    // Collections can use this memory too; when they are dropped, their pages go back
    // to the pool and keep their colors.
    let mut words = Vec::new_in(huepage.clone());
    words.extend(0..50_000u32);
    drop((numbers, streamed, words));
    let page = huepage::mapping::page_size().0;
    println!("in the pool: {}", Bytes(huepage.pages() as u64 * page));
    Ok(())
}
