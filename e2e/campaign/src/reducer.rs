//! What a client of the live socket does with frames, exactly as docs/api.md says, over plain JSON: so that it knows
//! nothing that the document does not contain, and reads servers of other versions. Pure.

use serde_json::{Map, Value, json};

/// What a view becomes by a difference; None where the document does not say.
pub fn apply(body: &Value, delta: &Value) -> Option<Value> {
    match delta["kind"].as_str()? {
        "whole" => Some(delta["body"].clone()),
        "events" => None,
        _ => {
            let mut next: Map<String, Value> = body.as_object()?.clone();
            if !delta["head"].is_null() {
                next.insert("head".to_owned(), delta["head"].clone());
            }
            if !delta["window"].is_null() {
                next.insert("window".to_owned(), apply_window(&body["window"], &delta["window"])?);
            }
            Some(Value::Object(next))
        }
    }
}

fn apply_window(window: &Value, delta: &Value) -> Option<Value> {
    let old = window["rows"].as_array()?;
    let mut rows = match delta["order"].as_array() {
        None => old.clone(),
        Some(order) => order.iter().map(|was| old_row(old, was)).collect(),
    };
    for change in delta["changed"].as_array()? {
        let at = usize::try_from(change[0].as_u64()?).ok()?;
        *rows.get_mut(at)? = change[1].clone();
    }
    Some(json!({"total": delta["total"], "offset": delta["offset"], "rows": rows}))
}

/// Where there was none, `changed` brings it.
fn old_row(old: &[Value], was: &Value) -> Value {
    was.as_u64().and_then(|was| old.get(usize::try_from(was).ok()?)).cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_move_come_and_change() {
        let body = json!({"kind": "board", "head": 1, "window": {"total": 2, "offset": 0, "rows": ["a", "b"]}});
        let delta = json!({"kind": "board", "head": null, "window": {"total": 3, "offset": 0, "order": [1, null, 0], "changed": [[1, "c"], [2, "A"]]}});
        let next = apply(&body, &delta).unwrap();
        assert_eq!(
            next,
            json!({"kind": "board", "head": 1, "window": {"total": 3, "offset": 0, "rows": ["b", "c", "A"]}})
        );
        let same_places = json!({"kind": "board", "head": 2, "window": {"total": 3, "offset": 0, "order": null, "changed": [[0, "B"]]}});
        assert_eq!(apply(&next, &same_places).unwrap()["window"]["rows"], json!(["B", "c", "A"]));
        assert_eq!(apply(&next, &json!({"kind": "whole", "body": 7})), Some(json!(7)));
    }
}
