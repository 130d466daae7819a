// SPDX-License-Identifier: MIT OR Apache-2.0
//! Numbers and layouts of the C interface, as `huepage.h` has them.

/// What a call returns.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// Done.
    Ok = 0,
    /// An argument is wrong.
    Argument = 1,
    /// The process may not do this.
    Privilege = 2,
    /// The machine or its kernel cannot do this.
    Unsupported = 3,
    /// Colors were looked for and no answer could be trusted.
    Untrusted = 4,
    /// Memory is short.
    Memory = 5,
    /// Pages of the colors asked for are short.
    Short = 6,
    /// The handle belongs to the process that forked this one.
    Process = 7,
    /// The system refused something.
    System = 8,
    /// A defect of the library.
    Internal = 9,
}

/// All of them, with the names that the header gives.
#[allow(dead_code, reason = "for the tests that include this file")]
pub const CODES: [(&str, Code); 10] = [
    ("HUEPAGE_OK", Code::Ok),
    ("HUEPAGE_E_ARGUMENT", Code::Argument),
    ("HUEPAGE_E_PRIVILEGE", Code::Privilege),
    ("HUEPAGE_E_UNSUPPORTED", Code::Unsupported),
    ("HUEPAGE_E_UNTRUSTED", Code::Untrusted),
    ("HUEPAGE_E_MEMORY", Code::Memory),
    ("HUEPAGE_E_SHORT", Code::Short),
    ("HUEPAGE_E_PROCESS", Code::Process),
    ("HUEPAGE_E_SYSTEM", Code::System),
    ("HUEPAGE_E_INTERNAL", Code::Internal),
];

/// How to open; a caller compiled with an older header gives a smaller `size`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// `sizeof(huepage_options)` of the caller.
    pub size: usize,
    /// Negative for the last CPU that the process may use.
    pub cpu: i32,
    /// 0 auto, 1 by frame number, 2 by measurement.
    pub colors_by: u32,
    /// 0 balanced, 1 in the order of first touch.
    pub policy: u32,
    /// Not used: 0.
    pub reserved: u32,
    /// Bytes to draw pages for at once.
    pub pool: u64,
}

/// Counts of pages after re-verification.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct RepairReport {
    /// Have the color that they were placed with.
    pub already: usize,
    /// Had another color, and were exchanged.
    pub placed: usize,
    /// Have another color, and the pool has no page to exchange for.
    pub short_of: usize,
    /// Stay for other reasons, or their color cannot be found.
    pub other: usize,
}
