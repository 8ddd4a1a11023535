//! `/api/v1/openapi.json`: the API described by its own code. The operations stand in a table beside the routes, the
//! schemas come from the types that are answered, and who may is what authentication asks.

mod alert_operations;
mod cluster_operations;
mod examples;
mod frames;
mod lab_operations;
mod operation;
mod operations;
mod order_operations;
mod params;
mod replies;
mod schemas;

use std::sync::OnceLock;

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use schemars::Schema;
use serde_json::{Map, Value, json};

use self::operation::{Content, Operation, ParamLocation, Reply, Tag};
use self::operations::OPERATIONS;
use super::Http;
use super::route::{Need, Route, Verb};

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
    let document = DOCUMENT.get_or_init(|| Bytes::from(make(http.routes).to_string()));
    ([(CONTENT_TYPE, "application/json")], document.clone()).into_response()
}

/// What this build can be asked.
fn operations() -> Vec<&'static Operation> {
    OPERATIONS
        .iter()
        .chain(alert_operations::OPERATIONS)
        .chain(order_operations::OPERATIONS)
        .chain(cluster_operations::OPERATIONS)
        .chain(lab_operations::OPERATIONS)
        .filter(|operation| cfg!(feature = "lab") || operation.tag != Tag::Lab)
        .collect()
}

/// The parameters of the query that a route takes; None where it is not of the API.
pub(super) fn query_params(row: &Route) -> Option<Vec<&'static str>> {
    let operation = operations().into_iter().find(|one| one.path == row.path && one.verb == row.verb)?;
    let of_query = operation.params.iter().filter(|param| matches!(param.place, ParamLocation::Query));
    Some(of_query.map(|param| param.name).collect())
}

fn make(routes: &[Route]) -> Value {
    let operations = operations();
    let (mut answered, mut asked) = (schemas::answered(), schemas::asked());
    frames::of_server(&mut answered);
    frames::of_client(&mut asked);
    let bodies = operations
        .iter()
        .enumerate()
        .filter_map(|(at, operation)| operation.takes.map(|takes| (at, takes(&mut asked))));
    let mut bodies: Vec<(usize, Schema)> = bodies.collect();
    let replies: Vec<Value> = operations.iter().map(|operation| replies(operation, routes, &mut answered)).collect();
    let mut schemas = schemas::merge(answered, asked, &mut bodies);
    frames::put_right(&mut schemas);
    let mut paths = Map::new();
    for (at, (operation, replies)) in operations.iter().zip(replies).enumerate() {
        let body = bodies.iter().find(|(of, _)| *of == at).map(|(_, schema)| schema);
        let verb = operation.verb.name().to_ascii_lowercase();
        let path = paths.entry(operation.path).or_insert_with(|| Value::Object(Map::new()));
        path[verb] = described(operation, routes, replies, body);
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

fn described(operation: &Operation, routes: &[Route], replies: Value, body: Option<&Schema>) -> Value {
    let needs = route_of(operation, routes).map(|route| route.need);
    let roles = match needs {
        Some(Need::Of(right)) => right.roles().into_iter().map(|role| role.name()).collect(),
        _ => Vec::new(),
    };
    let who = if roles.is_empty() { "For everybody.".to_owned() } else { format!("Roles: {}.", roles.join(", ")) };
    let text = [operation.text, &who].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n");
    let mut out = json!({
        "operationId": operation.id,
        "tags": [operation.tag.name()],
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
    if matches!(operation.tag, Tag::Live) {
        out["x-websocket"] = frames::websocket();
    }
    examples::of_replies(operation.id, &mut out);
    out
}

/// The answers of an operation, with those that the way to it may give.
fn replies(operation: &Operation, routes: &[Route], schemas: &mut schemars::SchemaGenerator) -> Value {
    let own = operation.replies.iter();
    let common = common(operation, routes)
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
fn common(operation: &Operation, routes: &[Route]) -> Vec<Reply> {
    let problem = |status, text| Reply { status, text, content: &[Content::Problem] };
    let mut replies = vec![problem(503, "No answer was ready in time; try again.")];
    replies.push(Reply { status: 431, text: "The address or the headers are too long.", content: &[] });
    if !route_of(operation, routes).is_some_and(|route| route.is_probe) {
        replies.push(problem(
            400,
            "The request or its query is not what it should be; `detail` names the parameter and what it takes.",
        ));
        replies.push(problem(403, "Who asks may not do this, or the page behind the request is not of this server."));
        replies.push(problem(421, "The `Host` that was asked for is not this server."));
    }
    if route_of(operation, routes).is_some_and(|route| route.need != Need::Open) {
        replies.push(problem(401, "Nobody is known by what came with the request."));
    }
    if matches!(operation.tag, Tag::Look) || operation.path == "/metrics" {
        replies.push(problem(429, "Too many requests of one caller; `Retry-After` says how long to wait."));
    }
    if operation.verb != Verb::Get {
        replies.push(problem(413, "The body is longer than 64 KiB."));
        replies.push(problem(415, "The body's content type is not `application/json`."));
    }
    if operation.takes.is_some() {
        replies.push(problem(422, "The body is not what it should be; `detail` shows one that is."));
    }
    replies
}

fn route_of<'a>(operation: &Operation, routes: &'a [Route]) -> Option<&'a Route> {
    routes.iter().find(|route| route.verb == operation.verb && route.path == operation.path)
}

#[cfg(test)]
mod tests;
