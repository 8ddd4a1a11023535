//! How an operation of the API is described beside its route: what it takes, what it answers. Plain data, and its form in
//! the document.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::route::Route;
use lockscope_view::past::Unanswered;

/// Puts a type's schema among the document's and gives its place.
pub(super) type Shape = fn(&mut SchemaGenerator) -> Schema;

pub(super) fn shape<T: JsonSchema>(schemas: &mut SchemaGenerator) -> Schema {
    schemas.subschema_for::<T>()
}

pub(super) struct Operation {
    pub(super) route: Route,
    /// Its name in generated clients.
    pub(super) id: &'static str,
    pub(super) summary: &'static str,
    /// What else there is to know; may be empty.
    pub(super) text: &'static str,
    pub(super) params: &'static [Param],
    /// What it takes as a body.
    pub(super) takes: Option<Shape>,
    /// What it answers, without the problems that every operation of its kind has.
    pub(super) replies: &'static [Reply],
}

pub(super) const fn operation(id: &'static str, route: Route) -> Operation {
    Operation { route, id, summary: "", text: "", params: &[], takes: None, replies: &[] }
}

impl Operation {
    pub(super) fn query_params(&self) -> impl Iterator<Item = &'static str> {
        let of_query = self.params.iter().filter(|param| matches!(param.place, ParamLocation::Query));
        of_query.map(|param| param.name)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tag {
    Look,
    Live,
    Release,
    Alerts,
    Audit,
    Lab,
    Server,
}

impl Tag {
    pub(super) const ALL: [Self; 7] =
        [Self::Look, Self::Live, Self::Release, Self::Alerts, Self::Audit, Self::Lab, Self::Server];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Look => "look",
            Self::Live => "live",
            Self::Release => "release",
            Self::Alerts => "alerts",
            Self::Audit => "audit",
            Self::Lab => "lab",
            Self::Server => "server",
        }
    }

    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Look => "Locks, sessions and who waits for whom, as they are now.",
            Self::Live => "The same as a stream of snapshots and differences.",
            Self::Release => "Releasing a lock by force: planned first, then executed.",
            Self::Alerts => "What fires, who looks at it, and what is silenced.",
            Self::Audit => "The audit log.",
            Self::Lab => "Runs that compare ways of waiting for a lock, on a real ensemble.",
            Self::Server => "The server itself.",
        }
    }
}

pub(super) struct Param {
    pub(super) name: &'static str,
    pub(super) place: ParamLocation,
    pub(super) is_required: bool,
    pub(super) text: &'static str,
    pub(super) kind: Kind,
    pub(super) example: Option<&'static str>,
}

#[derive(Clone, Copy)]
pub(super) enum ParamLocation {
    Query,
    Path,
}

/// What a parameter may say.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// Any text of at most so many characters.
    Text(usize),
    Znode(usize),
    /// An absolute path, or nothing.
    Below(usize),
    Session,
    /// One of these names; the empty one says the same as leaving it out.
    OneOf(fn() -> Vec<&'static str>),
    /// A whole number within these, and what it is when it is left out.
    Number {
        min: u64,
        max: u64,
        usual: Option<u64>,
    },
    /// An instant or a transaction.
    Moment,
    /// Whole minutes, in milliseconds.
    Minutes,
    /// So many pairs like `env:prod` at most, separated by commas, of so many characters in all.
    Labels {
        pairs_max: usize,
        chars_max: usize,
    },
    /// Where a page of lives ended.
    Cursor,
    /// The name of a run, or the number of a silence.
    Run,
}

impl Kind {
    fn schema(self) -> Value {
        match self {
            Self::Text(chars_max) => json!({ "type": "string", "maxLength": chars_max }),
            Self::Znode(chars_max) => json!({ "type": "string", "pattern": "^/", "maxLength": chars_max }),
            Self::Below(chars_max) => json!({ "type": "string", "pattern": "^(/|$)", "maxLength": chars_max }),
            Self::Session => json!({ "type": "string", "pattern": "^0x[0-9a-fA-F]{1,16}$" }),
            Self::OneOf(names) => {
                let names: Vec<_> = std::iter::once("").chain(names()).collect();
                json!({ "type": "string", "enum": names })
            }
            Self::Number { min, max, usual: None } => json!({ "type": "integer", "minimum": min, "maximum": max }),
            Self::Number { min, max, usual: Some(usual) } => {
                json!({ "type": "integer", "minimum": min, "maximum": max, "default": usual })
            }
            Self::Moment => json!({ "type": "string", "pattern": "^([0-9]{1,15}|zxid:0x[0-9a-fA-F]{1,16})$" }),
            Self::Minutes => json!({ "type": "integer", "minimum": 60_000, "multipleOf": 60_000 }),
            Self::Labels { pairs_max, chars_max } => {
                let pair = "[^:,]+:[^,]+";
                let pattern = format!("^({pair}(,{pair}){{0,{}}})?$", pairs_max.saturating_sub(1));
                json!({ "type": "string", "pattern": pattern, "maxLength": chars_max })
            }
            Self::Cursor => json!({ "type": "string", "pattern": "^[0-9]{1,15}-0x[0-9a-fA-F]{1,16}$" }),
            Self::Run => json!({ "type": "string", "minLength": 1 }),
        }
    }
}

impl Param {
    pub(super) fn to_json(&self) -> Value {
        let place = match self.place {
            ParamLocation::Query => "query",
            ParamLocation::Path => "path",
        };
        let mut out = json!({ "name": self.name, "in": place, "required": self.is_required, "description": self.text, "schema": self.kind.schema() });
        if let Some(example) = self.example {
            out["example"] = example.into();
        }
        out
    }
}

pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) text: &'static str,
    pub(super) content: &'static [Content],
}

#[derive(Clone, Copy)]
pub(super) enum Content {
    Json(Shape),
    /// JSON about a moment, with the ensembles of which nothing is known then.
    AtMoment(Shape),
    /// RFC 9457.
    Problem,
    /// Any JSON: the document itself.
    Document,
    Trace,
    /// Text of this media type.
    Text(&'static str),
}

impl Content {
    fn to_json(self, schemas: &mut SchemaGenerator) -> (String, Value) {
        match self {
            Self::Json(shape) => ("application/json".to_owned(), json!({ "schema": shape(schemas) })),
            Self::AtMoment(shape_of) => {
                let unanswered = json!({
                    "type": "array",
                    "description": "Ensembles of which nothing is known at that moment; left out where there are none.",
                    "items": shape::<Unanswered>(schemas),
                });
                let more = json!({ "type": "object", "properties": { "unanswered": unanswered } });
                ("application/json".to_owned(), json!({ "schema": { "allOf": [shape_of(schemas), more] } }))
            }
            Self::Problem => {
                ("application/problem+json".to_owned(), json!({ "schema": shape::<lockscope_view::Problem>(schemas) }))
            }
            Self::Trace => {
                ("application/json".to_owned(), json!({ "schema": { "type": "object", "required": ["traceEvents"] } }))
            }
            Self::Document => (
                "application/json".to_owned(),
                json!({ "schema": { "type": "object", "required": ["openapi", "info", "paths"] } }),
            ),
            Self::Text(media) => (media.to_owned(), json!({ "schema": { "type": "string" } })),
        }
    }
}

impl Reply {
    pub(super) fn to_json(&self, schemas: &mut SchemaGenerator) -> Value {
        let mut reply = Map::from_iter([("description".to_owned(), Value::from(self.text))]);
        let headers = headers_of(self.status);
        if !headers.is_null() {
            reply.insert("headers".to_owned(), headers);
        }
        if !self.content.is_empty() {
            let content: Map<String, Value> = self.content.iter().map(|content| content.to_json(schemas)).collect();
            reply.insert("content".to_owned(), Value::Object(content));
        }
        Value::Object(reply)
    }
}

/// Headers that come with every answer of a status.
fn headers_of(status: u16) -> Value {
    let text = json!({ "type": "string" });
    match status {
        201 => json!({ "Location": { "description": "Where it is looked at.", "required": true, "schema": text } }),
        401 => {
            json!({ "WWW-Authenticate": { "description": "How to make oneself known (RFC 6750).", "required": true, "schema": text } })
        }
        429 => {
            json!({ "Retry-After": { "description": "Seconds to wait.", "schema": { "type": "integer", "minimum": 1 } } })
        }
        _ => Value::Null,
    }
}
