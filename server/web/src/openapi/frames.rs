//! The live socket's frames in the document. The wire's enums are tagged from outside and `lockscope_live::json` writes their
//! tags inside; two of its forms have no counterpart among serde's, and are put right here.

use lockscope_view::{ClientFrame, SUBPROTOCOL_JSON, ServerFrame};
use schemars::SchemaGenerator;
use serde_json::{Map, Value, json};

use crate::operation::shape;

pub(crate) const TEXT: &str = "Open it as a WebSocket with the subprotocol `lockscope.v1.json` and the same `Authorization` as any request. Text frames of \
     JSON go both ways: the client sends `ClientFrame`, the server `ServerFrame` (see the schemas of these names). The server says `hello` first. Each \
     `subscribe` names a view and an `id` of the client's choice and is answered by a `snapshot`; every `delta` after it leads from state `seq - 1` to \
     `seq`. Applied one after the other they always give the view as it is. When a client falls behind, it is sent `resync` and a new `snapshot`. \
     A `heartbeat` comes at least every second, and says of the views that stay as they are that they do. `known_at_ms` is the instant up to which \
     what a view calls live is known to be true: it is live no longer than 2,000 ms after it. \
     A view with `at` is of a moment of the past: one `snapshot` with `as_of`, and no `delta`. What was not understood is answered by `error`, and the socket stays open. \
     Closed with 1001: the server ends; 1008: the sign-in ended; 1009: a frame was too long; 1013: the client was too slow, connect again and resume.";

/// Where the two kinds of frames are described, for tools.
pub(super) fn websocket() -> Value {
    json!({
        "subprotocols": [SUBPROTOCOL_JSON],
        "client": { "$ref": "#/components/schemas/ClientFrame" },
        "server": { "$ref": "#/components/schemas/ServerFrame" },
    })
}

pub(super) fn of_server(schemas: &mut SchemaGenerator) {
    shape::<ServerFrame>(schemas);
}

pub(super) fn of_client(schemas: &mut SchemaGenerator) {
    shape::<ClientFrame>(schemas);
}

/// Puts right what `lockscope_live::json` writes otherwise than serde would.
pub(super) fn put_right(schemas: &mut Map<String, Value>) {
    for variant in variants(schemas, "Body") {
        // Nothing there: `{"kind":"lock","value":null}`.
        let is_optional = variant
            .get("anyOf")
            .and_then(Value::as_array)
            .is_some_and(|forms| forms.iter().any(|form| form["type"] == "null"));
        if let (true, Some(forms)) = (is_optional, variant.get_mut("anyOf").and_then(Value::as_array_mut)) {
            for form in forms.iter_mut().filter(|form| form["type"] == "null") {
                *form =
                    json!({ "type": "object", "required": ["value"], "properties": { "value": { "type": "null" } } });
            }
        }
    }
    for variant in variants(schemas, "View") {
        add(
            variant,
            "at",
            json!({
                "description": "The moment of the past that it is of: ms since the Unix epoch, or `zxid:0x2a6`. It gives one snapshot and no deltas. A run of the lab has none.",
                "type": ["integer", "string", "null"],
            }),
        );
    }
    for variant in variants(schemas, "ServerFrame").filter(|variant| variant.get("properties").is_some_and(is_snapshot))
    {
        add(
            variant,
            "as_of",
            json!({
                "description": "Of a view that is of a moment: which. Left out where the view is live.",
                "type": "object",
                "properties": {
                    "state": { "const": "past", "type": "string" },
                    "at_ms": { "description": "The moment, ms since the Unix epoch.", "type": "integer", "format": "int64" },
                },
                "required": ["state", "at_ms"],
            }),
        );
    }
    for variant in variants(schemas, "DeltaBody") {
        // A view as a whole keeps its own `kind`, one level below.
        if variant.get("$ref").is_some_and(|to| to == "#/components/schemas/Body") {
            variant.remove("$ref");
            variant.insert("type".to_owned(), "object".into());
            if let Some(properties) = variant.get_mut("properties").and_then(Value::as_object_mut) {
                properties.insert("body".to_owned(), json!({ "$ref": "#/components/schemas/Body" }));
            }
            variant.insert("required".to_owned(), json!(["kind", "body"]));
        }
    }
}

fn is_snapshot(properties: &Value) -> bool {
    properties["type"]["const"] == "snapshot"
}

/// Adds a field that need not be there.
fn add(variant: &mut Map<String, Value>, name: &str, schema: Value) {
    let properties = variant.entry("properties").or_insert_with(|| json!({}));
    if let Some(properties) = properties.as_object_mut() {
        properties.insert(name.to_owned(), schema);
    }
}

fn variants<'a>(schemas: &'a mut Map<String, Value>, name: &str) -> impl Iterator<Item = &'a mut Map<String, Value>> {
    let variants = schemas.get_mut(name).and_then(|schema| schema.get_mut("oneOf")).and_then(Value::as_array_mut);
    variants.into_iter().flatten().filter_map(Value::as_object_mut)
}
