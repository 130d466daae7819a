// SPDX-License-Identifier: MIT OR Apache-2.0
//! JSON Schemas of all formats, made from the tables of docs/json.md.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

/// The formats by name (`huepage.map/1`).
pub struct Formats(BTreeMap<String, Format>);

/// A section of docs/json.md.
struct Format {
    text: String,
    rows: Vec<Row>,
}

/// A line of its table.
#[derive(Clone)]
struct Row {
    /// Such as `areas[].file.inode`.
    path: String,
    /// Such as `integer, bytes, or null`, without `optional`.
    of: String,
    optional: bool,
    meaning: String,
}

impl Formats {
    /// All that the text of docs/json.md describes.
    pub fn of(document: &str) -> Self {
        let sections = document.split("\n## `").skip(1);
        Formats(
            sections
                .map(|section| {
                    let (name, text) = section.split_once("`\n").unwrap();
                    (name.to_owned(), Format::of(text))
                })
                .collect(),
        )
    }

    /// The schema of each, by its name.
    pub fn schemas(&self) -> BTreeMap<String, Value> {
        self.0.iter().map(|(name, format)| (name.clone(), self.schema(name, format))).collect()
    }

    fn schema(&self, name: &str, format: &Format) -> Value {
        let mut schema = self.object(name, "");
        schema["properties"]["schema"] = json!({ "const": name });
        schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
        schema["title"] = json!(name);
        schema["description"] = json!(format.text);
        sorted(&schema)
    }

    /// The object whose fields are the rows that begin with `prefix`.
    fn object(&self, name: &str, prefix: &str) -> Value {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for row in &self.0[name].rows {
            let Some(field) = row.path.strip_prefix(prefix).filter(|rest| !rest.contains('.'))
            else {
                continue;
            };
            let mut value = self.value(name, row);
            if !row.meaning.is_empty() {
                value["description"] = json!(row.meaning);
            }
            properties.insert(field.to_owned(), value);
            if !row.optional {
                required.push(field);
            }
        }
        assert!(!properties.is_empty(), "{name}: no field begins with {prefix}");
        json!({ "type": "object", "properties": properties, "required": required })
    }

    /// What the type of a row allows.
    fn value(&self, name: &str, row: &Row) -> Value {
        let without_null = row.of.strip_suffix(" or null").map(|of| of.trim_end_matches(','));
        let of = without_null.unwrap_or(&row.of);
        let mut value = match of.strip_prefix("as ") {
            Some(other) => {
                let mut value = self.described_at(name, other);
                value["$comment"] = json!(of);
                value
            }
            None => self.plain(name, &row.path, of.split(", ").next().unwrap()),
        };
        match (without_null, value["type"].as_str()) {
            (Some(_), Some(one)) => value["type"] = json!([one, "null"]),
            (None, Some(_)) | (None, None) => {}
            (Some(_), None) => panic!("{name}: {}: null or what?", row.path),
        }
        value
    }

    /// Such as `` `total` ``, `` `cache` of `huepage.colors/1` ``, `` `huepage.features/1` ``.
    fn described_at(&self, name: &str, other: &str) -> Value {
        let words: Vec<&str> = other.split('`').collect();
        let (name, path) = match words[..] {
            ["", format, ""] if self.0.contains_key(format) => {
                return self.schema_within(format);
            }
            ["", path, ""] => (name, path),
            ["", path, " of ", format, ""] => (format, path),
            _ => panic!("{name}: what is meant by 'as {other}'?"),
        };
        let list = path.strip_suffix("[]");
        let row = self.0[name].rows.iter().find(|row| row.path == list.unwrap_or(path));
        let mut row = row.unwrap_or_else(|| panic!("{name}: nothing is at {path}")).clone();
        row.of = row.of.trim_end_matches(" or null").trim_end_matches(',').to_owned();
        let value = self.value(name, &row);
        if list.is_some() { value["items"].clone() } else { value }
    }

    /// One format as a part of another.
    fn schema_within(&self, name: &str) -> Value {
        let mut schema = self.object(name, "");
        schema["properties"]["schema"] = json!({ "const": name });
        schema
    }

    fn plain(&self, name: &str, path: &str, of: &str) -> Value {
        if let Some(entries) = of.strip_prefix("list of ") {
            let number = entries
                .split_once(' ')
                .and_then(|(number, of)| Some((number.parse::<usize>().ok()?, of)));
            let entries = number.map_or(entries, |(_, of)| of);
            let items = match entries {
                "numbers or nulls" => json!({ "type": ["number", "null"] }),
                _ => self.plain(name, &format!("{path}[]"), entries.trim_end_matches('s')),
            };
            let mut list = json!({ "type": "array", "items": items });
            if let Some((number, _)) = number {
                list["minItems"] = json!(number);
                list["maxItems"] = json!(number);
            }
            return list;
        }
        if let Some(entries) = of.strip_prefix("object of ") {
            let entries = self.plain(name, path, entries.trim_end_matches('s'));
            return json!({ "type": "object", "additionalProperties": entries });
        }
        match of {
            "any" => json!({}),
            "object" => self.object(name, &format!("{path}.")),
            "integer" => json!({ "type": "integer", "minimum": 0 }),
            "boolean" | "number" | "string" => json!({ "type": of }),
            _ => panic!("{name}: {path}: no type: {of}"),
        }
    }
}

impl Format {
    fn of(section: &str) -> Self {
        let (text, table) = section.split_once("\n| field |").unwrap();
        let rows = table.lines().filter_map(|line| {
            let [path, of, meaning] =
                line.strip_prefix("| `")?.splitn(3, " | ").collect::<Vec<_>>()[..]
            else {
                panic!("{line}: three columns are expected");
            };
            let required = of.strip_suffix(", optional");
            Some(Row {
                path: path.trim_end_matches('`').to_owned(),
                of: required.unwrap_or(of).to_owned(),
                optional: required.is_some(),
                meaning: meaning.trim_end_matches('|').trim().to_owned(),
            })
        });
        let first = text.trim().split("\n\n").next().unwrap().replace('\n', " ");
        Format { text: first, rows: rows.collect() }
    }
}

/// The same with the fields of all objects in order: whether serde_json keeps the order
/// in which they came depends on what else is built.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, field)| (name.clone(), sorted(field)));
            fields.collect::<BTreeMap<_, _>>().into_iter().collect()
        }
        Value::Array(list) => list.iter().map(sorted).collect(),
        _ => value.clone(),
    }
}

/// The schema without fields that it does not name. Readers ignore such fields; what
/// this version prints must not have any.
pub fn closed(schema: &Value) -> Value {
    match schema {
        Value::Object(keywords) => {
            let mut all: Map<String, Value> =
                keywords.iter().map(|(key, value)| (key.clone(), closed(value))).collect();
            if all.get("type").is_some() && all.contains_key("properties") {
                all.insert("additionalProperties".to_owned(), Value::Bool(false));
            }
            Value::Object(all)
        }
        Value::Array(list) => list.iter().map(closed).collect(),
        _ => schema.clone(),
    }
}

/// Paths of all fields that a schema names, but those that are described elsewhere.
pub fn fields(schema: &Value, path: &str) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    if !path.is_empty() && schema.get("$comment").is_some() {
        return all;
    }
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        all.extend(fields(field, &path));
        all.extend(fields(&field["items"], &format!("{path}[]")));
        all.insert(path);
    }
    all
}

/// Those of them that a document has.
pub fn present(schema: &Value, document: &Value, path: &str) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let Some(value) = document.get(name) else { continue };
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        all.extend(present(field, value, &path));
        for entry in value.as_array().into_iter().flatten() {
            all.extend(present(&field["items"], entry, &format!("{path}[]")));
        }
        all.insert(path);
    }
    all
}
