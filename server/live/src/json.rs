//! The JSON frames that scripts see: flat, with `type` on a frame and `kind` on a view or body. The wire's own enums
//! are tagged from outside because the compact encoding needs that; this file turns one into the other. Pure.

use lockscope_view::{
    BoardQuery, Body, DeltaBody, EventsQuery, LabQuery, LockQuery, QueueMapQuery, ServerFrame, SessionQuery,
    SessionsQuery, WaitsQuery,
};
use serde::Serialize;
use serde_json::{Map, Value};

use super::FeedError;
use super::client_message::{ClientMessage, FrameError};

/// Views that a client may subscribe to.
const VIEWS: [&str; 9] = ["board", "lock", "status", "waits", "sessions", "session", "lab", "events", "queue_map"];
/// Names the moment that a view is of.
const AT: &str = "at";
/// A content that is no object is found under this name beside the tag.
const VALUE_KEY: &str = "value";
/// What a client may send, and which fields each takes beside `type`.
const CLIENT_FRAMES: [(&str, &[&str]); 5] = [
    ("subscribe", &["id", "view"]),
    ("resume_after", &["id", "view", "epoch", "seq"]),
    ("unsubscribe", &["id"]),
    ("pause", &["id"]),
    ("resume", &["id"]),
];

/// A server frame as text.
///
/// # Errors
/// When a value has no JSON form, which no frame can cause.
pub fn server_frame(frame: &ServerFrame) -> Result<String, FeedError> {
    match frame {
        ServerFrame::Snapshot { id, epoch, seq, server_time_ms, known_at_ms, body: view } => {
            let head = format!(
                r#""id":{id},"epoch":"{epoch}","seq":{seq},"server_time_ms":{server_time_ms},"known_at_ms":{known_at_ms}"#
            );
            Ok(format!(r#"{{"type":"snapshot",{head},"body":{}}}"#, body(view)?))
        }
        ServerFrame::Delta { id, server_time_ms, seq, known_at_ms, body } => {
            let head =
                format!(r#""id":{id},"server_time_ms":{server_time_ms},"seq":{seq},"known_at_ms":{known_at_ms}"#);
            Ok(format!(r#"{{"type":"delta",{head},"body":{}}}"#, delta_body(body)?))
        }
        ServerFrame::Hello { .. }
        | ServerFrame::Resync { .. }
        | ServerFrame::Heartbeat { .. }
        | ServerFrame::Error { .. } => {
            let value = serde_json::to_value(frame).map_err(unencodable)?;
            text(&tag_inside(value, "type"))
        }
    }
}

/// A view's body as text: `{"kind":"board",…}`; a lock that does not exist is `{"kind":"lock","value":null}`.
pub fn body(body: &Body) -> Result<String, FeedError> {
    match body {
        Body::Board(board) => kind("board", board),
        Body::Lock(page) => kind("lock", page),
        Body::Status(status) => kind("status", status),
        Body::Waits(waits) => kind("waits", waits),
        Body::Sessions(sessions) => kind("sessions", sessions),
        Body::Session(page) => kind("session", page),
        Body::Lab(run) => kind("lab", run),
        Body::Events(lately) => kind("events", lately),
        Body::QueueMap(map) => kind("queue_map", map),
    }
}

/// A difference as text: `{"kind":"board",…}`, or `{"kind":"whole","body":{"kind":…}}`.
pub fn delta_body(delta: &DeltaBody) -> Result<String, FeedError> {
    match delta {
        DeltaBody::Board(delta) => kind("board", delta),
        DeltaBody::Lock(delta) => kind("lock", delta),
        DeltaBody::Sessions(delta) => kind("sessions", delta),
        DeltaBody::Events(delta) => kind("events", delta),
        DeltaBody::Whole(whole) => Ok(format!(r#"{{"kind":"whole","body":{}}}"#, body(whole)?)),
    }
}

/// Reads a client frame.
///
/// # Errors
/// One sentence that names what was not understood and what is.
pub fn client_frame(bytes: &[u8]) -> Result<ClientMessage, FrameError> {
    let value: Value = serde_json::from_slice(bytes).map_err(|error| {
        refuse(None, format!("the frame is not JSON ({error}); send an object like {{\"type\":\"pause\",\"id\":1}}"))
    })?;
    let Value::Object(mut fields) = value else {
        return Err(refuse(
            None,
            "the frame is not a JSON object; send one like {\"type\":\"pause\",\"id\":1}".to_owned(),
        ));
    };
    let id = fields.get("id").and_then(Value::as_u64).and_then(|id| u32::try_from(id).ok());
    let names: Vec<&str> = CLIENT_FRAMES.iter().map(|(name, _)| *name).collect();
    let name = take_tag(&mut fields, "type", &names).map_err(|detail| refuse(id, detail))?;
    let known = CLIENT_FRAMES.iter().find(|(known, _)| *known == name).map_or(&[][..], |(_, fields)| *fields);
    check_fields(&fields, known, &format!("a `{name}` frame")).map_err(|detail| refuse(id, detail))?;
    if id.is_none() {
        return Err(refuse(None, format!("a `{name}` frame needs `id`, a whole number from 0 to {}", u32::MAX)));
    }
    let mut at = None;
    if known.contains(&"view") {
        let mut view = fields
            .remove("view")
            .ok_or_else(|| refuse(id, format!("a `{name}` frame needs `view`, like {{\"kind\":\"board\"}}")))?;
        at = take_moment(&mut view).map_err(|detail| refuse(id, detail))?;
        let view = view_outside(view).map_err(|detail| refuse(id, detail))?;
        fields.insert("view".to_owned(), view);
    }
    let outside = Value::Object(Map::from_iter([(name.clone(), Value::Object(fields))]));
    let frame = serde_json::from_value(outside)
        .map_err(|error| refuse(id, format!("a `{name}` frame was not understood: {error}")))?;
    Ok(ClientMessage { frame, at })
}

/// Takes the moment out of a view, as it was written: a number or a text.
fn take_moment(view: &mut Value) -> Result<Option<String>, String> {
    let at = view.as_object_mut().and_then(|fields| fields.remove(AT));
    match at {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Number(ms)) => Ok(Some(ms.to_string())),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(Value::Bool(_) | Value::Array(_) | Value::Object(_)) => Err(format!(
            "`{AT}` of a view is no moment; write it like {{\"kind\":\"board\",\"{AT}\":1764041547412}} or \"{AT}\":\"zxid:0x2a6\""
        )),
    }
}

/// Turns a view's `kind` into the wire's outside tag.
fn view_outside(view: Value) -> Result<Value, String> {
    let Value::Object(mut fields) = view else {
        return Err("`view` is not an object; write it like {\"kind\":\"board\"}".to_owned());
    };
    let kind = take_tag(&mut fields, "kind", &VIEWS)?;
    let known = match kind.as_str() {
        "board" => field_names(&BoardQuery::default()),
        "lock" => field_names(&LockQuery::default()),
        "waits" => field_names(&WaitsQuery::default()),
        "sessions" => field_names(&SessionsQuery::default()),
        "session" => field_names(&SessionQuery::default()),
        "lab" => field_names(&LabQuery::default()),
        "events" => field_names(&EventsQuery::default()),
        "queue_map" => field_names(&QueueMapQuery::default()),
        _ => Vec::new(),
    };
    let mut known: Vec<&str> = known.iter().map(String::as_str).collect();
    known.push(AT);
    check_fields(&fields, &known, &format!("the view `{kind}`"))?;
    Ok(Value::Object(Map::from_iter([(kind, Value::Object(fields))])))
}

fn take_tag(fields: &mut Map<String, Value>, tag: &str, names: &[&str]) -> Result<String, String> {
    match fields.remove(tag) {
        Some(Value::String(name)) if names.contains(&name.as_str()) => Ok(name),
        Some(other) => Err(format!("`{tag}` {other} is unknown; use one of {}", names.join(", "))),
        None => Err(format!("`{tag}` is missing; use one of {}", names.join(", "))),
    }
}

fn check_fields(fields: &Map<String, Value>, known: &[&str], of: &str) -> Result<(), String> {
    let Some(name) = fields.keys().find(|name| !known.contains(&name.as_str())) else { return Ok(()) };
    if known.is_empty() {
        return Err(format!("{of} has no field `{name}`; it takes none"));
    }
    Err(format!("{of} has no field `{name}`; it takes {}", known.join(", ")))
}

fn field_names(value: &impl Serialize) -> Vec<String> {
    match serde_json::to_value(value) {
        Ok(Value::Object(fields)) => fields.into_iter().map(|(name, _)| name).collect(),
        _ => Vec::new(),
    }
}

/// `{"name":{…}}` becomes `{"tag":"name",…}`; a content that is no object goes under `value`.
fn tag_inside(value: Value, tag: &str) -> Value {
    let Value::Object(outer) = value else { return value };
    let Some((name, content)) = outer.into_iter().next() else { return Value::Null };
    let mut fields = match content {
        Value::Object(fields) => fields,
        other => Map::from_iter([(VALUE_KEY.to_owned(), other)]),
    };
    fields.insert(tag.to_owned(), Value::String(name));
    Value::Object(fields)
}

/// The same for a content that is about to be written: its text is kept in the order of its fields.
fn kind(name: &str, content: &impl Serialize) -> Result<String, FeedError> {
    let text = text(content)?;
    Ok(match text.strip_prefix('{') {
        Some("}") => format!(r#"{{"kind":"{name}"}}"#),
        Some(rest) => format!(r#"{{"kind":"{name}",{rest}"#),
        None => format!(r#"{{"kind":"{name}","{VALUE_KEY}":{text}}}"#),
    })
}

fn text(value: &impl Serialize) -> Result<String, FeedError> {
    serde_json::to_string(value).map_err(unencodable)
}

fn unencodable(error: serde_json::Error) -> FeedError {
    FeedError::Encoding(error.to_string())
}

fn refuse(id: Option<u32>, detail: String) -> FrameError {
    FrameError { id, detail }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockscope_view::{Board, BoardDelta, ClientFrame, Epoch, KnownView, PROTOCOL, Sort, View};

    /// The way back, as a script written in Rust would go it.
    fn tag_outside(value: Value, tag: &str) -> Value {
        let Value::Object(mut fields) = value else { return value };
        let name = fields.remove(tag).and_then(|name| name.as_str().map(str::to_owned)).unwrap();
        if let Some(body) = fields.remove("body") {
            let body = if body.get("kind") == Some(&Value::from("whole")) {
                let inner = tag_outside(body.get("body").cloned().unwrap(), "kind");
                Value::Object(Map::from_iter([("whole".to_owned(), inner)]))
            } else {
                tag_outside(body, "kind")
            };
            fields.insert("body".to_owned(), body);
        }
        let content = fields.remove(VALUE_KEY).unwrap_or(Value::Object(fields));
        Value::Object(Map::from_iter([(name, content)]))
    }

    fn live(text: &[u8]) -> ClientFrame {
        let ClientMessage { frame, at, .. } = client_frame(text).unwrap();
        assert_eq!(at, None);
        frame
    }

    #[test]
    fn a_view_may_be_of_a_moment() {
        let at = |value: &str| {
            let text = format!(r#"{{"type":"subscribe","id":1,"view":{{"kind":"status","at":{value}}}}}"#);
            client_frame(text.as_bytes()).map(|message| (message.frame, message.at))
        };
        let frame = ClientFrame::Subscribe { id: 1, view: View::Status {} };
        for (value, moment) in [
            ("1764041547412", Some("1764041547412")),
            ("\"1764041547412\"", Some("1764041547412")),
            ("\"zxid:0x2a6\"", Some("zxid:0x2a6")),
            ("-1", Some("-1")),
            ("null", None),
        ] {
            assert_eq!(at(value), Ok((frame.clone(), moment.map(str::to_owned))), "{value}");
        }
        for value in ["true", "[]", "{}"] {
            let refusal = at(value).unwrap_err();
            assert!(
                refusal.id == Some(1) && refusal.detail.starts_with("`at` of a view is no moment; "),
                "{refusal:?}"
            );
        }
        let refusal = client_frame(br#"{"type":"pause","id":1,"at":5}"#).unwrap_err();
        assert_eq!(refusal.detail, "a `pause` frame has no field `at`; it takes id");
    }

    #[test]
    fn every_server_frame_comes_back() {
        let board = Board::default();
        let frames = [
            ServerFrame::Hello { protocol: PROTOCOL, epoch: Epoch(-1), server_time_ms: 5 },
            ServerFrame::Snapshot {
                id: 1,
                epoch: Epoch(255),
                seq: 9,
                server_time_ms: 5,
                known_at_ms: 4,
                body: Body::Board(board.clone()).into(),
            },
            ServerFrame::Snapshot {
                id: 1,
                epoch: Epoch(255),
                seq: 9,
                server_time_ms: 5,
                known_at_ms: 4,
                body: Body::Lock(None).into(),
            },
            ServerFrame::Delta {
                id: 1,
                server_time_ms: 5,
                seq: 10,
                known_at_ms: 4,
                body: DeltaBody::Board(BoardDelta { head: Some(board.head.clone()), window: None }),
            },
            ServerFrame::Delta {
                id: 1,
                server_time_ms: 5,
                seq: 10,
                known_at_ms: 4,
                body: DeltaBody::Whole(Body::Lock(None)),
            },
            ServerFrame::Resync { id: 4, why: "fell behind".to_owned() },
            ServerFrame::Heartbeat {
                seq: 3,
                server_time_ms: 7,
                views: vec![KnownView { id: 1, seq: 9, known_at_ms: 6 }],
            },
            ServerFrame::Error { id: None, detail: "no".to_owned() },
        ];
        for frame in frames {
            let value: Value = serde_json::from_str(&server_frame(&frame).unwrap()).unwrap();
            assert!(value.get("type").is_some_and(Value::is_string), "{value}");
            let back: ServerFrame = serde_json::from_value(tag_outside(value, "type")).unwrap();
            assert_eq!(back, frame);
        }
    }

    #[test]
    fn the_documented_frames_are_read() {
        let text =
            br#"{"type":"subscribe","id":1,"view":{"kind":"board","q":"","sort":"damage","offset":0,"limit":100}}"#;
        assert_eq!(
            live(text),
            ClientFrame::Subscribe {
                id: 1,
                view: View::Board(BoardQuery { sort: Sort::Damage, ..BoardQuery::default() })
            }
        );
        let text = br#"{"type":"subscribe","id":2,"view":{"kind":"lock","ensemble":"default","path":"/order","offset":0,"limit":100}}"#;
        let query = LockQuery { ensemble: "default".to_owned(), path: "/order".to_owned(), ..LockQuery::default() };
        assert_eq!(live(text), ClientFrame::Subscribe { id: 2, view: View::Lock(query) });
        let text =
            br#"{"type":"resume_after","id":3,"epoch":"0xff","seq":7,"view":{"kind":"board","sort":"oldest_wait"}}"#;
        let view = View::Board(BoardQuery { sort: Sort::OldestWait, ..BoardQuery::default() });
        assert_eq!(live(text), ClientFrame::ResumeAfter { id: 3, view, epoch: Epoch(255), seq: 7 });
        assert_eq!(
            live(br#"{"type":"subscribe","id":4,"view":{"kind":"status"}}"#),
            ClientFrame::Subscribe { id: 4, view: View::Status {} }
        );
        assert_eq!(live(br#"{"type":"pause","id":1}"#), ClientFrame::Pause { id: 1 });
    }

    #[test]
    fn every_mistake_has_its_sentence() {
        let cases: [(&str, Option<u32>, &str); 11] = [
            ("[]", None, "the frame is not a JSON object; send one like {\"type\":\"pause\",\"id\":1}"),
            ("{}", None, "`type` is missing; use one of subscribe, resume_after, unsubscribe, pause, resume"),
            (
                r#"{"type":"sub","id":7}"#,
                Some(7),
                "`type` \"sub\" is unknown; use one of subscribe, resume_after, unsubscribe, pause, resume",
            ),
            (r#"{"type":"pause"}"#, None, "a `pause` frame needs `id`, a whole number from 0 to 4294967295"),
            (r#"{"type":"pause","id":-1}"#, None, "a `pause` frame needs `id`, a whole number from 0 to 4294967295"),
            (r#"{"type":"pause","id":1,"why":2}"#, Some(1), "a `pause` frame has no field `why`; it takes id"),
            (r#"{"type":"subscribe","id":1}"#, Some(1), "a `subscribe` frame needs `view`, like {\"kind\":\"board\"}"),
            (
                r#"{"type":"subscribe","id":1,"view":{"kind":"x"}}"#,
                Some(1),
                "`kind` \"x\" is unknown; use one of board, lock, status, waits, sessions, session, lab, events, queue_map",
            ),
            (
                r#"{"type":"subscribe","id":1,"view":{"kind":"status","q":1}}"#,
                Some(1),
                "the view `status` has no field `q`; it takes at",
            ),
            (
                r#"{"type":"subscribe","id":1,"view":{"kind":"lock","paht":"/a"}}"#,
                Some(1),
                "the view `lock` has no field `paht`; it takes ensemble, limit, offset, path, at",
            ),
            (
                r#"{"type":"subscribe","id":1,"view":{"kind":"board","sort":"size"}}"#,
                Some(1),
                "a `subscribe` frame was not understood: unknown variant `size`, expected one of `damage`, `oldest_wait`, `depth`, `hold`, `path`, `worst`, `recipe`, `holder`",
            ),
        ];
        for (text, id, detail) in cases {
            assert_eq!(
                client_frame(text.as_bytes()).unwrap_err(),
                FrameError { id, detail: detail.to_owned() },
                "{text}"
            );
        }
        assert!(client_frame(b"{").unwrap_err().detail.starts_with("the frame is not JSON ("));
    }
}
