//! `/api/v1/openapi.json`: the API described by its own code. Operations stand in the tables of routes, the
//! schemas come from the types that are answered, and who may is what authentication asks.

mod examples;
pub(super) mod frames;
mod schemas;

use std::sync::OnceLock;

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use schemars::Schema;
use serde_json::{Map, Value, json};

use super::Http;
use super::operation::{Content, Operation, Reply, Tag};
use super::route::{Need, Verb};

const TITLE: &str = "Lockscope";
const ABOUT: &str = "A lock observatory for Apache ZooKeeper: who holds which lock, who waits, since when, and what is wrong.\n\n\
     Conventions: JSON in snake_case. Instants `*_at_ms` and `*_since_ms` are whole milliseconds since the Unix epoch by the server's clock, durations \
     `*_ms`. Session ids and transaction ids are strings like `\"0x100000a1b2c0001\"`. A field that is null is not known, or does not apply. Fields may \
     be added; none is renamed or taken away within v1. Every error is `application/problem+json` (RFC 9457) with one sentence in `detail` that names \
     what was wrong and what to do. An address asked for with another method answers 405 with `Allow`.\n\n\
     Who asks is told by `Authorization: Bearer TOKEN` (`lockscope token new` makes one) or by the session cookie of a browser. Unless the server is told \
     otherwise, a server on loopback lets anybody look.";

/// `GET /api/v1/openapi.json`; made once.
pub(super) async fn document(State(http): State<Http>) -> Response {
    static DOCUMENT: OnceLock<Bytes> = OnceLock::new();
    let document = DOCUMENT.get_or_init(|| Bytes::from(make(http.operations).to_string()));
    ([(CONTENT_TYPE, "application/json")], document.clone()).into_response()
}

fn make(groups: &[(Tag, &'static [Operation])]) -> Value {
    let operations: Vec<(Tag, &Operation)> =
        groups.iter().flat_map(|(tag, group)| group.iter().map(|operation| (*tag, operation))).collect();
    let (mut answered, mut asked) = (schemas::answered(), schemas::asked());
    frames::of_server(&mut answered);
    frames::of_client(&mut asked);
    let bodies = operations
        .iter()
        .enumerate()
        .filter_map(|(at, (_, operation))| operation.takes.map(|takes| (at, takes(&mut asked))));
    let mut bodies: Vec<(usize, Schema)> = bodies.collect();
    let replies: Vec<Value> =
        operations.iter().map(|(tag, operation)| replies(*tag, operation, &mut answered)).collect();
    let mut schemas = schemas::merge(answered, asked, &mut bodies);
    frames::put_right(&mut schemas);
    let mut paths = Map::new();
    for (at, ((tag, operation), replies)) in operations.iter().zip(replies).enumerate() {
        let body = bodies.iter().find(|(of, _)| *of == at).map(|(_, schema)| schema);
        let verb = operation.route.verb.name().to_ascii_lowercase();
        let path = paths.entry(operation.route.path).or_insert_with(|| Value::Object(Map::new()));
        path[verb] = described(*tag, operation, replies, body);
    }
    let tags: Vec<Value> = Tag::ALL.map(|tag| json!({ "name": tag.name(), "description": tag.text() })).to_vec();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": TITLE,
            "version": env!("CARGO_PKG_VERSION"),
            "description": ABOUT,
            "license": { "name": env!("CARGO_PKG_LICENSE"), "identifier": env!("CARGO_PKG_LICENSE") },
        },
        "servers": [{ "url": "/", "description": "The server that this came from." }],
        "tags": tags,
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "bearer": { "type": "http", "scheme": "bearer", "description": "A token of `lockscope token new`." },
                "cookie": {
                    "type": "apiKey", "in": "cookie", "name": "lockscope",
                    "description": "The session of a browser, called `__Host-lockscope` where pages are served encrypted. What changes something must \
                                    then say in `Origin` or `Sec-Fetch-Site` that a page of this server sent it.",
                },
            },
        },
    })
}

fn described(tag: Tag, operation: &Operation, replies: Value, body: Option<&Schema>) -> Value {
    let roles = match operation.route.need {
        Need::Of(right) => right.roles().into_iter().map(|role| role.name()).collect(),
        Need::Open => Vec::new(),
    };
    let who = if roles.is_empty() { "For everybody.".to_owned() } else { format!("Roles: {}.", roles.join(", ")) };
    let text = [operation.text, &who].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n");
    let mut out = json!({
        "operationId": operation.id,
        "tags": [tag.name()],
        "summary": operation.summary,
        "description": text,
        "responses": replies,
        "security": if roles.is_empty() { json!([]) } else { json!([{ "bearer": [] }, { "cookie": [] }]) },
        "x-roles": roles,
    });
    if !operation.params.is_empty() {
        out["parameters"] = operation.params.iter().map(|param| param.to_json()).collect();
    }
    if let Some(schema) = body {
        out["requestBody"] = json!({ "required": true, "content": { "application/json": { "schema": schema } } });
        examples::of_body(operation.id, &mut out);
    }
    if tag == Tag::Live {
        out["x-websocket"] = frames::websocket();
    }
    examples::of_replies(operation.id, &mut out);
    out
}

/// The answers of an operation, with those that the way to it may give.
fn replies(tag: Tag, operation: &Operation, schemas: &mut schemars::SchemaGenerator) -> Value {
    let own = operation.replies.iter();
    let common = common(tag, operation)
        .into_iter()
        .filter(|reply| !operation.replies.iter().any(|own| own.status == reply.status));
    let mut out = Map::new();
    for reply in own {
        out.insert(reply.status.to_string(), reply.to_json(schemas));
    }
    for reply in common {
        out.insert(reply.status.to_string(), reply.to_json(schemas));
    }
    Value::Object(out)
}

/// What origin checks, authentication and the bounds of every answer may say before or instead of the handler.
fn common(tag: Tag, operation: &Operation) -> Vec<Reply> {
    let problem = |status, text| Reply { status, text, content: &[Content::Problem] };
    let mut replies = vec![problem(503, "No answer was ready in time; try again.")];
    replies.push(Reply { status: 431, text: "The address or the headers are too long.", content: &[] });
    if !operation.route.is_probe {
        replies.push(problem(
            400,
            "The request or its query is not what it should be; `detail` names the parameter and what it takes.",
        ));
        replies.push(problem(403, "Who asks may not do this, or the page behind the request is not of this server."));
        replies.push(problem(421, "The `Host` that was asked for is not this server."));
    }
    if operation.route.need != Need::Open {
        replies.push(problem(401, "Nobody is known by what came with the request."));
    }
    if tag == Tag::Look || operation.route.path == "/metrics" {
        replies.push(problem(429, "Too many requests of one caller; `Retry-After` says how long to wait."));
    }
    if operation.route.verb != Verb::Get {
        replies.push(problem(413, "The body is longer than 64 KiB."));
        replies.push(problem(415, "The body's content type is not `application/json`."));
    }
    if operation.takes.is_some() {
        replies.push(problem(422, "The body is not what it should be; `detail` shows one that is."));
    }
    replies
}

#[cfg(test)]
mod tests;
