// SPDX-License-Identifier: MIT OR Apache-2.0
//! Finds the function of a kernel for an address, by its `System.map`.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context, ensure};

/// The name for code that is no function of the kernel: programs, modules.
const OTHERS: &str = "(not the kernel)";

/// Functions by their first address, ascending.
pub struct Symbols(Vec<(u64, String)>);

impl Symbols {
    /// Reads the file.
    ///
    /// # Errors
    /// If it cannot be read, or has no function.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let text = fs::read_to_string(path)
            .with_context(|| format!("functions of the kernel in {}", path.display()))?;
        let symbols = Symbols::of(&text);
        ensure!(!symbols.0.is_empty(), "{} has no function", path.display());
        Ok(symbols)
    }

    fn of(text: &str) -> Self {
        let function = |line: &str| {
            let mut words = line.split_whitespace();
            let address = u64::from_str_radix(words.next()?, 16).ok()?;
            let is_code = ["t", "T", "w", "W"].contains(&words.next()?);
            // The compiler splits parts of functions off: rank.part.0.
            let name = words.next()?.split('.').next()?;
            is_code.then(|| (address, name.to_owned()))
        };
        let mut functions: Vec<_> = text.lines().filter_map(function).collect();
        // If an address has several names, the last one.
        functions.sort_by_key(|(address, _)| *address);
        Symbols(functions)
    }

    /// How many instructions each function executed, from the executions of addresses.
    pub fn by_function(&self, executed: &[(u64, u64)]) -> BTreeMap<String, u64> {
        let mut functions = BTreeMap::new();
        for &(address, times) in executed {
            let behind = self.0.partition_point(|(first, _)| *first <= address);
            let name = behind.checked_sub(1).map_or(OTHERS, |last| self.0[last].1.as_str());
            *functions.entry(name.to_owned()).or_default() += times;
        }
        functions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_belongs_to_the_last_function_that_begins_before_it() {
        let map = "0000000000001000 D data\nffffffff81000100 t rank.part.0\n\
                   ffffffff81000000 T choose\nffffffff81000200 T _etext\n";
        let executed = [
            (0x40_0000, 7),
            (0xffff_ffff_8100_0000, 1),
            (0xffff_ffff_8100_00ff, 2),
            (0xffff_ffff_8100_0100, 4),
        ];
        let functions = Symbols::of(map).by_function(&executed);
        let expected = [(OTHERS, 7), ("choose", 3), ("rank", 4)];
        assert_eq!(functions, expected.map(|(name, times)| (name.to_owned(), times)).into());
    }
}
