//! Documented is what is routed, and nothing else.

use std::collections::BTreeSet;

use super::*;
use crate::routes::{self, OPERATIONS};

fn operations() -> impl Iterator<Item = &'static Operation> {
    OPERATIONS.iter().flat_map(|(_, operations)| *operations)
}

#[test]
fn every_route_of_the_api_is_described_once() {
    let is_of_the_api = |path: &str| path.starts_with("/api/") || matches!(path, "/healthz" | "/readyz" | "/metrics");
    let routed = routes::all().filter(|row| row.verb != Verb::Any && is_of_the_api(row.path)).count();
    assert_eq!(routed, operations().count(), "a route of the API stands in a table of pages");
    let ids: BTreeSet<_> = operations().map(|operation| operation.id).collect();
    assert_eq!(ids.len(), routed, "two operations have the same name");
}

#[test]
fn parameters_of_the_path_are_those_of_the_route() {
    for operation in operations() {
        let named: Vec<_> =
            operation.route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect();
        let described: Vec<_> = operation
            .params
            .iter()
            .filter(|param| matches!(param.place, crate::operation::ParamLocation::Path))
            .map(|param| param.name)
            .collect();
        assert_eq!(named, described, "{}", operation.route.path);
    }
}

#[test]
fn every_reference_leads_somewhere_and_every_field_is_described() {
    fn references(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(fields) => {
                if let Some(Value::String(to)) = fields.get("$ref") {
                    found.insert(to.clone());
                }
                fields.values().for_each(|field| references(field, found));
            }
            Value::Array(items) => items.iter().for_each(|item| references(item, found)),
            _ => {}
        }
    }
    let document = make(OPERATIONS);
    let mut found = BTreeSet::new();
    references(&document, &mut found);
    assert!(found.len() > 50, "{found:?}");
    for to in found {
        assert!(document.pointer(&to[1..]).is_some(), "{to} leads nowhere");
    }
    let mut bare = Vec::new();
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        for (field, schema) in schema["properties"].as_object().into_iter().flatten() {
            if schema.get("description").is_none() {
                bare.push(format!("{name}.{field}"));
            }
        }
    }
    assert!(bare.is_empty(), "without a description: {bare:?}");
    let text = document.to_string();
    assert!(!text.contains("[`") && !text.contains("_MAX"), "a link or a name of the code is left in a description");
}

#[test]
fn who_may_is_what_the_gate_asks() {
    let document = make(OPERATIONS);
    let roles = |path: &str, verb: &str| document["paths"][path][verb]["x-roles"].clone();
    assert_eq!(roles("/api/v1/locks", "get"), json!(["viewer", "operator", "auditor", "admin"]));
    assert_eq!(roles("/api/v1/release/execute", "post"), json!(["operator", "admin"]));
    assert_eq!(roles("/api/v1/audit", "get"), json!(["operator", "auditor", "admin"]));
    assert_eq!(document["paths"]["/healthz"]["get"]["security"], json!([]));
}
