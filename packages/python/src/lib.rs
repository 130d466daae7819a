// SPDX-License-Identifier: MIT OR Apache-2.0
//! What `huepage/__init__.py` makes arrays of: colors of the cache, and memory as NumPy
//! takes it by its array interface.

use std::sync::{
    Mutex,
    atomic::{AtomicU64, Ordering},
};

use huepage::{
    Huepage,
    color::Color,
    place::{Policy, Region},
    units::Bytes,
};
use pyo3::{
    create_exception,
    exceptions::{PyRuntimeError, PyValueError},
    prelude::*,
    types::PyDict,
};

create_exception!(
    _huepage,
    Error,
    PyRuntimeError,
    "Memory cannot be placed, or its colors cannot be found."
);

/// A Python exception with the text of the error and of its causes, as the command
/// prints them.
fn failed(error: impl std::error::Error) -> PyErr {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(below) = cause {
        text = format!("{text}: {below}");
        cause = below.source();
    }
    Error::new_err(text)
}

/// Number of arrays placed at random; it is the seed, so each array has other colors.
static DRAWN: AtomicU64 = AtomicU64::new(1);

/// The colors of the cache.
#[pyclass(frozen)]
struct Colors(Huepage);

#[derive(FromPyObject)]
enum Named {
    Name(String),
    Colors(Vec<u32>),
}

#[pymethods]
impl Colors {
    #[new]
    fn open(py: Python<'_>) -> PyResult<Self> {
        py.detach(Huepage::open).map(Colors).map_err(failed)
    }

    fn __len__(&self) -> usize {
        self.0.count().get() as usize
    }

    /// How colors are found, and why this way.
    #[getter]
    fn reason(&self) -> &str {
        self.0.reason()
    }

    /// Placed memory of this many bytes, which are zero.
    fn memory(&self, py: Python<'_>, size: u64, policy: Named) -> PyResult<Memory> {
        let policy = match policy {
            Named::Name(name) => match name.as_str() {
                "balanced" => Policy::Balanced,
                "random" => Policy::Random { seed: DRAWN.fetch_add(1, Ordering::Relaxed) },
                "sequence" => Policy::Sequence,
                _ => {
                    return Err(PyValueError::new_err(format!(
                        "policy '{name}' is none of balanced, random, sequence, or numbers of \
                         colors"
                    )));
                }
            },
            Named::Colors(colors) => {
                Policy::Colors(colors.into_iter().map(Color).collect::<Vec<_>>())
            }
        };
        let region = py.detach(|| self.0.region(Bytes(size), &policy)).map_err(failed)?;
        Ok(Memory { region: Mutex::new(Some(region)), size, from: self.0.clone() })
    }

    /// The color of each page of a range of memory, -1 if unknown.
    fn colors_of(&self, py: Python<'_>, address: usize, size: usize) -> PyResult<Vec<i64>> {
        let found = py.detach(|| {
            let first = std::ptr::with_exposed_provenance(address);
            // SAFETY: the caller is a method of the array that lies there and keeps it.
            unsafe { self.0.colors_of_memory(first, size) }
        });
        let found = found.map_err(failed)?;
        Ok(found.into_iter().map(|color| color.map_or(-1, |color| color.0.into())).collect())
    }
}

/// Placed memory, which is given back when no array refers to it any more.
#[pyclass(frozen)]
struct Memory {
    region: Mutex<Option<Region>>,
    size: u64,
    from: Huepage,
}

#[pymethods]
impl Memory {
    /// NumPy's array interface, version 3: writable bytes.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut region = self.region.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let first = region.as_mut().map_or(0, |region| region.as_mut_ptr().expose_provenance());
        let interface = PyDict::new(py);
        interface.set_item("shape", (self.size,))?;
        interface.set_item("typestr", "|u1")?;
        interface.set_item("data", (first, false))?;
        interface.set_item("version", 3)?;
        Ok(interface)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let region = self.region.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(region) = region.take() {
            self.from.give_back(region);
        }
    }
}

#[pymodule]
fn _huepage(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Colors>()?;
    module.add("Error", module.py().get_type::<Error>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
