// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors as codes, with a message for the thread.

use std::{
    cell::RefCell,
    ffi::{CString, c_char},
    panic::{AssertUnwindSafe, catch_unwind},
    ptr,
};

use library::{color::ColorError, colored::ColoredError, place::PlaceError, topology::PinError};

use crate::abi::Code;

/// Why a call failed.
#[derive(Debug)]
pub struct Failure {
    pub code: Code,
    pub message: String,
}

impl Failure {
    pub fn argument(message: impl Into<String>) -> Self {
        Failure { code: Code::Argument, message: message.into() }
    }
}

impl From<ColoredError> for Failure {
    fn from(error: ColoredError) -> Self {
        let code = match &error {
            ColoredError::Color(error) => of_color(error),
            ColoredError::Place(error) => of_place(error),
            ColoredError::Pin(error) => of_pin(error),
            ColoredError::TooMany { .. } => Code::Memory,
            ColoredError::Topology(_) | ColoredError::Cache(_) => Code::Unsupported,
            _ => Code::System,
        };
        Failure { code, message: library::with_causes(&error) }
    }
}

fn of_pin(error: &PinError) -> Code {
    match error {
        PinError::NotAllowed { .. } => Code::Argument,
        _ => Code::System,
    }
}

fn of_color(error: &ColorError) -> Code {
    match error {
        ColorError::FrameNumbersHidden => Code::Privilege,
        ColorError::NotTrusted(_) => Code::Untrusted,
        ColorError::NoMemory { .. } => Code::Memory,
        ColorError::Pin(error) => of_pin(error),
        ColorError::System { .. } => Code::System,
        _ => Code::Unsupported,
    }
}

fn of_place(error: &PlaceError) -> Code {
    match error {
        PlaceError::NoBytes | PlaceError::Policy(_) => Code::Argument,
        PlaceError::NeedsPrivilege { .. } => Code::Privilege,
        PlaceError::NeedsMove { .. } => Code::Unsupported,
        PlaceError::NotEnoughMemory { .. } => Code::Memory,
        PlaceError::MappingLimit { .. }
        | PlaceError::ColorsNotDrawn { .. }
        | PlaceError::PoolTooSmall { .. }
        | PlaceError::PoolShort { .. } => Code::Short,
        PlaceError::OtherProcess => Code::Process,
        PlaceError::Color(error) => of_color(error),
        PlaceError::Interrupted { source, .. } => of_place(source),
        _ => Code::System,
    }
}

thread_local! {
    static MESSAGE: RefCell<Option<CString>> = const { RefCell::new(None) };
}

/// Runs a call, keeps the message of a failure, and lets no panic through.
pub fn guarded(call: impl FnOnce() -> Result<(), Failure>) -> i32 {
    let failure = match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(())) => return Code::Ok as i32,
        Ok(Err(failure)) => failure,
        // Its message is on standard error.
        Err(_) => Failure { code: Code::Internal, message: "a defect of libhuepage".to_owned() },
    };
    let message = CString::new(failure.message.replace('\0', "?")).unwrap_or_default();
    // A thread that ends keeps no messages any more.
    let _ = MESSAGE.try_with(|kept| *kept.borrow_mut() = Some(message));
    failure.code as i32
}

/// The message of the last failure of this thread, valid until the next one; empty
/// before the first.
pub fn message() -> *const c_char {
    let kept = MESSAGE.try_with(|kept| kept.borrow().as_ref().map(|message| message.as_ptr()));
    kept.ok().flatten().unwrap_or(c"".as_ptr())
}

/// For calls that return a pointer.
pub fn or_null<T>(pointer: impl FnOnce() -> *const T) -> *const T {
    catch_unwind(AssertUnwindSafe(pointer)).unwrap_or(ptr::null())
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;

    use super::*;

    fn kept() -> String {
        // SAFETY: valid until the next failure of this thread.
        unsafe { CStr::from_ptr(message()) }.to_str().unwrap().to_owned()
    }

    #[test]
    fn a_failure_is_a_code_and_a_message_with_its_causes() {
        assert_eq!(kept(), "");
        assert_eq!(guarded(|| Ok(())), 0);
        let source = std::io::Error::from(std::io::ErrorKind::PermissionDenied);
        let error = ColorError::System { action: "read it", source };
        let error = ColoredError::Place(PlaceError::Color(error));
        assert_eq!(guarded(|| Err(error.into())), Code::System as i32);
        assert_eq!(kept(), "cannot read it: permission denied");
        assert_eq!(guarded(|| Err(Failure::argument("a\0b"))), Code::Argument as i32);
        assert_eq!(kept(), "a?b");
        std::thread::spawn(|| assert_eq!(kept(), "")).join().unwrap();
    }

    #[test]
    fn no_panic_comes_through() {
        assert_eq!(guarded(|| panic!("as a test")), Code::Internal as i32);
        assert_eq!(kept(), "a defect of libhuepage");
        assert!(or_null::<u8>(|| panic!("as a test")).is_null());
    }
}
