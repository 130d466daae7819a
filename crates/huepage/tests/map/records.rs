// SPDX-License-Identifier: MIT OR Apache-2.0
//! Records with values that no process has are refused with the reason.

use huepage::map::{MapOptions, MapRecordError, ProcessMap};
use serde_json::{Value, json};

use crate::processes::{frames_visible, known_placement, map};

fn record() -> Value {
    let (running, _) = known_placement();
    serde_json::from_str(&map(running.pid(), &MapOptions::default()).to_json()).unwrap()
}

/// The result of reading a record after one value was replaced.
fn tampered(record: &Value, path: &str, value: Value) -> Result<ProcessMap, MapRecordError> {
    let mut record = record.clone();
    *record.pointer_mut(path).unwrap_or_else(|| panic!("{path} is not in a record")) = value;
    ProcessMap::from_json(&record.to_string())
}

#[test]
fn a_value_that_cannot_be_is_refused() {
    let record = record();
    assert!(ProcessMap::from_json(&record.to_string()).is_ok());
    let mut cases = vec![
        ("/machine/page_size", json!(0)),
        ("/machine/page_size", json!(4095)),
        ("/cell_cache", json!(99)),
        ("/total/pages/present", json!(1)),
        ("/total/pages/anonymous", json!(u64::MAX)),
        ("/total/pages/reserved", json!(0)),
        ("/areas/0/end", json!(0)),
        ("/areas/0/start", json!(1)),
        ("/areas/1/start", json!(0)),
        ("/areas/0/permissions", json!("\u{1b}[2J")),
        ("/areas/0/cells/pages_each", json!(3)),
        ("/areas/0/cells/pages_each", json!(0)),
        ("/areas/0/cells/cells/0/at", json!(u64::MAX)),
        ("/areas/0/cells/cells/0/pages", json!(0)),
        ("/areas/0/cells/cells/0/pages", json!(2)),
        ("/areas/0/cells/cells/0/kinds/0/pages", json!(2)),
        ("/areas/0/cells/cells/0/huge", json!(2)),
        ("/areas/0/placement/pages/reserved", json!(1u64 << 40)),
        ("/registered/0/pages", json!(u64::MAX)),
        ("/registered/0/known", json!(9)),
        ("/registered/0/balance/held", json!(100)),
        ("/registered/0/cells/cells/0/colors", json!([1, 0])),
    ];
    if frames_visible() {
        cases.extend([
            ("/total/runs/count", json!(0)),
            ("/total/runs/longest", json!(u64::MAX)),
            ("/total/balances", json!([record["total"]["balances"][0], null])),
            ("/total/balances/0/imbalance", json!(u64::MAX)),
            ("/total/balances/0/histogram", json!([1, 2])),
            ("/caches/0/colors", json!(1)),
            ("/caches/0/ways", json!(0)),
            ("/areas/0/cells/cells/0/colors", json!(vec![1; 300])),
        ]);
    }
    for (path, value) in cases {
        if record.pointer(path).is_none() {
            assert!(path.contains("balances") || path.contains("cache"), "{path}");
            continue;
        }
        let refused = tampered(&record, path, value.clone());
        let error = refused.expect_err(&format!("{path} = {value}")).to_string();
        assert!(error.starts_with("not a recorded map"), "{path}: {error}");
        assert!(!error.chars().any(char::is_control), "{path}: {error}");
    }
}

#[test]
fn another_schema_is_named_and_other_texts_are_refused() {
    let record = record();
    let error = tampered(&record, "/schema", json!("huepage.map/2\u{1b}[0m")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the schema is 'huepage.map/2\\u{1b}[0m', this program reads 'huepage.map/1': record the \
         map again"
    );
    for text in ["", "[]", "{\"schema\":1}", "{\"schema\":\"huepage.map/1\"}"] {
        assert!(matches!(ProcessMap::from_json(text), Err(MapRecordError::Json(_))), "{text}");
    }
}

#[test]
fn names_in_a_record_are_made_safe_again() {
    let record = record();
    let map = tampered(&record, "/areas/0/name", json!("/tmp/\u{1b}]0;x\u{7}\u{202e}")).unwrap();
    assert_eq!(map.areas[0].name.as_str(), "/tmp/\\u{1b}]0;x\\u{7}\\u{202e}");
}
