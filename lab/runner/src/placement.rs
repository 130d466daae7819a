// SPDX-License-Identifier: MIT OR Apache-2.0
//! The policies by which pages are placed: the stock kernel, unchanged or with an
//! option of its own, or the kernel variant that colors pages.

use huepage::units::Bytes;

use crate::{boot::Machine, kernel::Variant};

/// A way of placing pages, as experiments set it by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// The kernel that was requested, without further options.
    Stock,
    /// The kernel that was requested, with free blocks shuffled at boot.
    Shuffle,
    /// The kernel variant huepage with coloring off.
    Off,
    /// The kernel variant huepage with coloring on.
    On,
}

impl Placement {
    /// All of them.
    pub const ALL: [Placement; 4] =
        [Placement::Stock, Placement::Shuffle, Placement::Off, Placement::On];

    /// As settings spell it.
    pub fn name(self) -> &'static str {
        match self {
            Placement::Stock => "stock",
            Placement::Shuffle => "shuffle",
            Placement::Off => "off",
            Placement::On => "on",
        }
    }

    /// Whether pages are colored.
    pub fn colors(self) -> bool {
        self == Placement::On
    }

    /// The kernel it needs. `Off` beside `Stock` shows what our changes cost if they
    /// are not turned on, so these are two kernels.
    pub fn variant(self) -> Variant {
        match self {
            Placement::Stock | Placement::Shuffle => Variant::Stock,
            Placement::Off | Placement::On => Variant::Huepage,
        }
    }

    /// Adds the kernel's option, and arguments with the expected state for the guest
    /// program: `coloring_check()` of `lab/guest/coloring.h` fails if the kernel is in
    /// another state.
    pub fn apply(
        self,
        cache: Bytes,
        ways: u32,
        machine: &mut Machine,
        arguments: &mut Vec<(String, String)>,
    ) {
        let option = match self {
            Placement::Stock => None,
            Placement::Shuffle => Some("page_alloc.shuffle=1".to_owned()),
            Placement::Off => Some("page_color=off".to_owned()),
            Placement::On => Some(format!("page_color={}K,ways={ways}", cache.0 >> 10)),
        };
        machine.kernel_options.extend(option);
        let expected = match self {
            Placement::Stock | Placement::Shuffle => "none",
            Placement::Off => "off",
            Placement::On => "on",
        };
        arguments.push(("coloring".into(), expected.into()));
        if self.colors() {
            arguments.push(("color_cache".into(), cache.0.to_string()));
            arguments.push(("color_ways".into(), ways.to_string()));
        }
    }
}

impl std::str::FromStr for Placement {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Placement::ALL.into_iter().find(|placement| placement.name() == name);
        found.ok_or_else(|| {
            let names = Placement::ALL.map(Placement::name).join(", ");
            format!("no policy '{name}'; there are {names}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_is_told_and_the_guest_expects_it() {
        let applied = |placement: Placement| {
            let (mut machine, mut arguments) = (Machine::plain(1, Bytes(1 << 28)), Vec::new());
            placement.apply(Bytes(2 << 20), 16, &mut machine, &mut arguments);
            let arguments: Vec<String> =
                arguments.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
            (machine.kernel_options.join(" "), arguments.join(" "))
        };
        let both = |options: &str, arguments: &str| (options.to_owned(), arguments.to_owned());
        assert_eq!(applied(Placement::Stock), both("", "coloring=none"));
        assert_eq!(applied(Placement::Off), both("page_color=off", "coloring=off"));
        assert_eq!(
            applied(Placement::On),
            both("page_color=2048K,ways=16", "coloring=on color_cache=2097152 color_ways=16")
        );
        assert_eq!(applied(Placement::Shuffle), both("page_alloc.shuffle=1", "coloring=none"));
    }

    #[test]
    fn names_and_kernels_fit() {
        for placement in Placement::ALL {
            assert_eq!(placement.name().parse(), Ok(placement));
            let stock = placement.variant() == Variant::Stock;
            assert_eq!(stock, ["stock", "shuffle"].contains(&placement.name()));
        }
        assert!("best".parse::<Placement>().unwrap_err().contains("stock, shuffle, off, on"));
    }
}
