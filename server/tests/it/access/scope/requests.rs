//! What is asked for by a caller with a scope: every view and every address.

/// Every view there is; some of what is outside.
pub(super) const VIEWS: [&str; 11] = [
    r#"{"kind":"events"}"#,
    r#"{"kind":"board"}"#,
    r#"{"kind":"board","q":"gold"}"#,
    r#"{"kind":"lock","ensemble":"prod","path":"/shop/order"}"#,
    r#"{"kind":"lock","path":"/shop-canary"}"#,
    r#"{"kind":"status"}"#,
    r#"{"kind":"waits"}"#,
    r#"{"kind":"sessions"}"#,
    r#"{"kind":"session","ensemble":"prod","id":"0x1001"}"#,
    r#"{"kind":"session","ensemble":"prod","id":"0x1003"}"#,
    r#"{"kind":"session","ensemble":"prod","id":"0x1fca"}"#,
];
/// Every address that shows something of a model.
pub(super) const ADDRESSES: [&str; 19] = [
    "/api/v1/status",
    "/api/v1/locks",
    "/api/v1/locks?sort=path&q=gold",
    "/api/v1/lock?ensemble=prod&path=/shop/order",
    "/api/v1/lock?path=/shop/stock",
    "/api/v1/waits",
    "/api/v1/sessions",
    "/api/v1/session?ensemble=prod&id=0x1001",
    "/api/v1/session?ensemble=prod&id=0x1002",
    "/api/v1/session?ensemble=prod&id=0x1003",
    "/api/v1/events?ensemble=prod",
    "/api/v1/me",
    "/metrics",
    "/",
    "/status",
    "/waits",
    "/sessions",
    "/lock?ensemble=prod&path=/shop/order",
    "/session?ensemble=prod&id=0x1003",
];
