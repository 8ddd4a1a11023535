//! Real answers, kept as files: `LOCKSCOPE_TAKE_EXAMPLES=1 cargo test --test it openapi::` takes them anew from a
//! server with a ZooKeeper. The same test holds them against the schemas.

use serde_json::{Value, json};

/// An operation, a status and what was answered then.
const REPLIES: &[(&str, &str, &str)] = &[
    ("status", "200", include_str!("examples/status-200.json")),
    ("locks", "200", include_str!("examples/locks-200.json")),
    ("locks", "400", include_str!("examples/locks-400.json")),
    ("lock", "200", include_str!("examples/lock-200.json")),
    ("lock", "404", include_str!("examples/lock-404.json")),
    ("waits", "200", include_str!("examples/waits-200.json")),
    ("sessions", "200", include_str!("examples/sessions-200.json")),
    ("session", "200", include_str!("examples/session-200.json")),
    ("events", "200", include_str!("examples/events-200.json")),
    ("history", "200", include_str!("examples/history-200.json")),
    ("me", "200", include_str!("examples/me-200.json")),
    ("audit", "200", include_str!("examples/audit-200.json")),
    ("labRuns", "200", include_str!("examples/labRuns-200.json")),
    ("labRun", "200", include_str!("examples/labRun-200.json")),
    ("startLabRun", "201", include_str!("examples/startLabRun-201.json")),
    ("throwFault", "409", include_str!("examples/throwFault-409.json")),
    ("planRelease", "200", include_str!("examples/planRelease-200.json")),
    ("executeRelease", "200", include_str!("examples/executeRelease-200.json")),
    ("executeRelease", "409", include_str!("examples/executeRelease-409.json")),
];
/// An operation and what it is asked.
const BODIES: &[(&str, &str)] = &[
    ("planRelease", r#"{"path":"/locks/order/lock-0000000000"}"#),
    (
        "executeRelease",
        r#"{"plan_id":"8f14e45fceea167a5a36dedd4bea2543","confirm":"/locks/order","reason":"its host is gone, INC-2041"}"#,
    ),
    (
        "revoke",
        r#"{"plan_id":"8f14e45fceea167a5a36dedd4bea2543","confirm":"/locks/order","reason":"maintenance of the holder's host"}"#,
    ),
    (
        "approveRelease",
        r#"{"plan_id":"8f14e45fceea167a5a36dedd4bea2543","confirm":"/locks/order","reason":"seen by me as well"}"#,
    ),
    (
        "setPreferences",
        r#"{"revision":3,"pins":["/locks/order"],"views":[{"name":"stuck orders","query":"?q=/locks&verdict=stuck"}]}"#,
    ),
    ("startLabRun", r#"{"strategies":["predecessor","herd_children"],"clients":50,"in_turn":true}"#),
    ("throwFault", r#"{"fault":"kill","strategy":"predecessor"}"#),
];

pub(super) fn of_body(id: &str, operation: &mut Value) {
    if let Some(example) =
        BODIES.iter().find(|(of, _)| *of == id).and_then(|(_, text)| serde_json::from_str::<Value>(text).ok())
    {
        operation["requestBody"]["content"]["application/json"]["examples"] = json!({ "usual": { "value": example } });
    }
}

pub(super) fn of_replies(id: &str, operation: &mut Value) {
    for (_, status, text) in REPLIES.iter().filter(|(of, _, _)| *of == id) {
        if let Ok(example) = serde_json::from_str::<Value>(text) {
            let media = if example.get("detail").is_some() { "application/problem+json" } else { "application/json" };
            operation["responses"][*status]["content"][media]["examples"] = json!({ "real": { "value": example } });
        }
    }
}
