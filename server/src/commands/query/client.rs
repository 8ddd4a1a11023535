//! What is asked of a server, and what its refusals mean to whoever asked.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

use form_urlencoded::Serializer;
use lockscope_view::{Verdict, WINDOW_ROWS_MAX, visible};
use reqwest::Method;
use serde_json::{Value, json};

use super::responses::{self, Status};
use super::staleness::{self, notes};
use super::suggest::similar_paths;
use super::words::name;
use crate::api_client::{ApiClient, ApiError, checked, token_in};
use crate::cli;
use crate::error::RunError;
use lockscope_runtime::clock;

/// Where a token may be given without a file.
const TOKEN: &str = "LOCKSCOPE_TOKEN";
/// Ensembles that are asked one by one.
const ENSEMBLES_MAX: usize = 64;

pub(in crate::commands) struct QueryClient(ApiClient);

fn address(path: &str, pairs: &[(&str, String)]) -> String {
    let query =
        Serializer::new(String::new()).extend_pairs(pairs.iter().filter(|(_, value)| !value.is_empty())).finish();
    if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
}

/// Refuses an ensemble that the server does not watch.
fn check_ensemble(ensemble: Option<&str>, status: &Status) -> Result<(), RunError> {
    let Some(name) = ensemble.filter(|name| !status.ensembles.iter().any(|one| one.name == *name)) else {
        return Ok(());
    };
    let names: Vec<String> = status.ensembles.iter().map(|one| visible(&one.name)).collect();
    Err(RunError::wrong(format!("--ensemble {name:?} is not watched there; use one of {}", names.join(", "))))
}

/// The ensembles that are asked one by one: the one that was named, or all of them.
fn asked_ensembles<'a>(named: Option<&'a str>, status: &'a Status) -> Result<Vec<&'a str>, RunError> {
    match named {
        Some(name) => Ok(vec![name]),
        None if status.ensembles.len() > ENSEMBLES_MAX => {
            Err(RunError::wrong("there are many ensembles; name one with --ensemble".to_owned()))
        }
        None => Ok(status.ensembles.iter().map(|one| one.name.as_str()).collect()),
    }
}

impl QueryClient {
    pub(in crate::commands) fn new(asked: &cli::ServerArgs) -> Result<Self, RunError> {
        let token = match (&asked.token_file, std::env::var(TOKEN).ok().filter(|token| !token.is_empty())) {
            (Some(file), _) => Some(token_in(file)?),
            (None, Some(text)) => {
                let bad = || {
                    RunError::wrong(format!(
                        "{TOKEN} is no token; set it to what `lockscope token new` printed, or name a file with --token-file"
                    ))
                };
                Some(checked(&text).ok_or_else(bad)?)
            }
            (None, None) => None,
        };
        ApiClient::new(&asked.server, token, asked.server_ca.as_deref()).map(Self)
    }

    pub(in crate::commands) fn base(&self) -> &str {
        self.0.base()
    }

    /// The live socket, in its compact encoding.
    pub(in crate::commands) async fn live_socket(&self) -> Result<reqwest::Upgraded, RunError> {
        let opened = self.0.socket("/api/v1/live", lockscope_view::SUBPROTOCOL_BIN).await;
        opened.map_err(|error| self.explain(error))
    }

    pub(super) fn read<T: serde::de::DeserializeOwned>(&self, text: &str) -> Result<T, RunError> {
        Ok(self.0.read(text)?)
    }

    pub(super) async fn status(&self) -> Result<Status, RunError> {
        self.read(&self.get("/api/v1/status", &[]).await?)
    }

    /// Locks, as the API answers. It takes one verdict, so each of several is a question of its own.
    pub(super) async fn locks(&self, asked: &cli::LocksArgs, status: &Status) -> Result<String, RunError> {
        check_ensemble(asked.ensemble.as_deref(), status)?;
        let begun = clock::instant();
        let verdicts: BTreeSet<&str> = asked.verdict.iter().map(String::as_str).collect();
        if verdicts.len() < 2 {
            let text =
                self.board(asked, verdicts.first().copied().unwrap_or_default(), asked.offset, asked.limit).await?;
            return self.as_it_came(&text, begun);
        }
        let (mut total, mut seq, mut answers) = (0, 0, Vec::new());
        let wanted = asked.offset.saturating_add(asked.limit);
        if wanted > WINDOW_ROWS_MAX {
            return Err(RunError::wrong(format!(
                "--offset and --limit come to more than {WINDOW_ROWS_MAX} rows; with several verdicts, ask for one at a time"
            )));
        }
        for verdict in verdicts {
            let answer: Value = self.read(&self.board(asked, verdict, 0, wanted).await?)?;
            total += answer["total"].as_u64().unwrap_or_default();
            seq = answer["seq"].as_u64().unwrap_or_default().max(seq);
            answers.push(answer["locks"].as_array().cloned().unwrap_or_default());
        }
        let locks = merged(answers, &asked.sort);
        let shown = locks.into_iter().skip(asked.offset as usize).take(asked.limit as usize).collect::<Vec<_>>();
        self.as_it_came(&json!({ "seq": seq, "total": total, "locks": shown }).to_string(), begun)
    }

    /// An answer, as old as it is by now: what was live when it was asked for may be so no more.
    fn as_it_came(&self, text: &str, begun: Instant) -> Result<String, RunError> {
        let took_ms = i64::try_from(begun.elapsed().as_millis()).unwrap_or(i64::MAX);
        let mut answer: Value = self.read(text)?;
        match answer.get_mut("locks") {
            Some(Value::Array(locks)) => locks.iter_mut().for_each(|lock| staleness::grow_old(lock, took_ms)),
            _ => staleness::grow_old(&mut answer, took_ms),
        }
        Ok(answer.to_string())
    }

    async fn board(&self, asked: &cli::LocksArgs, verdict: &str, offset: u32, limit: u32) -> Result<String, RunError> {
        let pairs = [
            ("q", asked.pattern.join(" ")),
            ("verdict", verdict.to_owned()),
            ("recipe", asked.recipe.clone().unwrap_or_default()),
            ("ensemble", asked.ensemble.clone().unwrap_or_default()),
            ("sort", asked.sort.clone()),
            ("offset", offset.to_string()),
            ("limit", limit.to_string()),
        ];
        self.get("/api/v1/locks", &pairs).await
    }

    pub(super) async fn lock(
        &self,
        path: &str,
        ensemble: Option<&str>,
        limit: u32,
        offset: u32,
    ) -> Result<String, RunError> {
        if !path.starts_with('/') {
            return Err(RunError::wrong(format!(
                "{path:?} does not start with a slash; write /{}",
                path.trim_end_matches('/')
            )));
        }
        let path = if path.len() > 1 { path.trim_end_matches('/') } else { path };
        let status = self.status().await?;
        let mut found = Vec::new();
        for name in asked_ensembles(ensemble, &status)? {
            let begun = clock::instant();
            let pairs = [
                ("ensemble", name.to_owned()),
                ("path", path.to_owned()),
                ("limit", limit.to_string()),
                ("offset", offset.to_string()),
            ];
            match self.ask("/api/v1/lock", &pairs).await {
                Ok(text) => found.push((name, self.as_it_came(&text, begun)?)),
                Err(ApiError::Refused { status: 404, .. }) => {}
                Err(error) => return Err(self.explain(error)),
            }
        }
        match found.len() {
            0 => Err(self.none(path, ensemble, &status).await),
            1 => Ok(found.pop().map(|(_, text)| text).unwrap_or_default()),
            _ => {
                let names: Vec<String> = found.iter().map(|(name, _)| visible(name)).collect();
                Err(RunError::wrong(format!(
                    "{} is a lock in {}; say which with --ensemble NAME",
                    visible(path),
                    names.join(" and in ")
                )))
            }
        }
    }

    /// How long those in the line of a lock still have to wait, as the API answers: a hint, so what can't be had is none.
    pub(super) async fn time_to_lock(&self, path: &str, ensemble: &str) -> Option<Value> {
        let pairs = [("ensemble", ensemble.to_owned()), ("path", path.to_owned()), ("limit", "1".to_owned())];
        let text = self.ask("/api/v1/time-to-lock", &pairs).await.ok()?;
        self.read(&text).ok()
    }

    /// No such lock: is that known, and what may have been meant?
    async fn none(&self, path: &str, ensemble: Option<&str>, status: &Status) -> RunError {
        let path_shown = visible(path);
        let place = ensemble.map_or_else(String::new, |name| format!(" in {}", visible(name)));
        if let Err(error) = check_ensemble(ensemble, status) {
            return error;
        }
        let old: Vec<String> =
            notes(status, ensemble).into_iter().filter(|note| note.is_old).map(|note| note.text).collect();
        if !old.is_empty() {
            return RunError::Unsure(format!(
                "no lock is known at {path_shown}{place}, but not all is known: {}; ask again later",
                old.join("; ")
            ));
        }
        let known = self.known(path, ensemble).await;
        let is_named = ensemble.is_some() || status.ensembles.len() < 2;
        let shown = |near: &str| match known.iter().find(|(_, path)| path == near).filter(|_| !is_named) {
            Some((name, _)) => format!("{} (--ensemble {})", visible(near), visible(name)),
            None => visible(near),
        };
        let near = similar_paths(path, known.iter().map(|(_, path)| path.as_str()));
        let near: Vec<String> = near.into_iter().map(shown).collect();
        let remedy = if near.is_empty() {
            "`lockscope locks` lists those that there are".to_owned()
        } else {
            format!("did you mean {}?", near.join(" or "))
        };
        RunError::Missing(format!("no lock is known at {path_shown}{place}; {remedy}"))
    }

    /// Locks that may have been meant, with their ensembles: the first by path, and those with a name like it or beside
    /// it.
    async fn known(&self, path: &str, ensemble: Option<&str>) -> BTreeSet<(String, String)> {
        let (folder, name) = path.rsplit_once('/').unwrap_or_default();
        let mut known = BTreeSet::new();
        for text in ["", name, folder] {
            let pairs = [
                ("q", text.trim_start_matches('!').to_owned()),
                ("sort", "path".to_owned()),
                ("ensemble", ensemble.unwrap_or_default().to_owned()),
                ("limit", WINDOW_ROWS_MAX.to_string()),
            ];
            let answer = self.ask("/api/v1/locks", &pairs).await;
            // A hint that can't be had is none.
            let Some(answer) = answer.ok().and_then(|text| self.read::<responses::Locks>(&text).ok()) else { break };
            let is_all = text.is_empty() && answer.total <= WINDOW_ROWS_MAX;
            known.extend(answer.locks.into_iter().map(|lock| (lock.ensemble, lock.path)));
            if is_all {
                break;
            }
        }
        known
    }

    /// What is kept of the past of an ensemble, or of each, as the API answers.
    pub(super) async fn histories(&self, ensemble: Option<&str>) -> Result<Vec<String>, RunError> {
        let status = self.status().await?;
        check_ensemble(ensemble, &status)?;
        let mut answers = Vec::new();
        for name in asked_ensembles(ensemble, &status)? {
            answers.push(self.get("/api/v1/history", &[("ensemble", name.to_owned())]).await?);
        }
        Ok(answers)
    }

    pub(super) async fn download(&self, path: &str, pairs: &[(&str, String)], file: &Path) -> Result<(), RunError> {
        self.0.download(&address(path, pairs), file).await.map_err(|error| self.explain(error))
    }

    pub(super) async fn try_rule(&self, order: &Value) -> Result<String, RunError> {
        let asked = self.0.text(Method::POST, "/api/v1/alerts/test", Some(order.to_string())).await;
        asked.map_err(|error| self.explain(error))
    }

    /// An answer as it came, or why there is none. Parameters without a value are left out.
    pub(super) async fn get(&self, path: &str, pairs: &[(&str, String)]) -> Result<String, RunError> {
        self.ask(path, pairs).await.map_err(|error| self.explain(error))
    }

    async fn ask(&self, path: &str, pairs: &[(&str, String)]) -> Result<String, ApiError> {
        self.0.text(Method::GET, &address(path, pairs), None).await
    }

    fn explain(&self, error: ApiError) -> RunError {
        match error {
            ApiError::Refused { status: 401, detail } => {
                let why = if self.0.has_token() {
                    format!("rejects the token ({detail})")
                } else {
                    "requires authentication".to_owned()
                };
                RunError::Denied(format!(
                    "--server {} {why}; make a token there with `lockscope token new --name NAME --role viewer` and name its file with --token-file FILE",
                    self.0.base()
                ))
            }
            ApiError::Refused { status: 403, detail } => {
                RunError::Denied(format!("--server {} refuses: {detail}", self.0.base()))
            }
            ApiError::Refused { status: 400, detail } => {
                RunError::wrong(format!("--server {} does not understand: {detail}", self.0.base()))
            }
            ApiError::Refused { status: 404, detail } => RunError::Unavailable(format!(
                "--server {} has no such API ({detail}); is it Lockscope, and of this version?",
                self.0.base()
            )),
            error => error.into(),
        }
    }
}

/// Locks of several answers, as the server orders them. Each answer is in that order already, which rests on more than
/// rows tell (a critical finding comes first): none of its rows comes behind one that it has further down.
pub(super) fn merged(answers: Vec<Vec<Value>>, sort: &str) -> Vec<Value> {
    let mut keyed = Vec::new();
    for answer in answers {
        let mut first = None;
        for lock in answer.into_iter().rev() {
            let key = first.into_iter().chain([sort_key(&lock, sort)]).min().unwrap_or_default();
            first = Some(key.clone());
            keyed.push((key, lock));
        }
    }
    keyed.reverse();
    keyed.sort_by(|(one, _), (other, _)| one.cmp(other));
    keyed.into_iter().map(|(_, lock)| lock).collect()
}

/// The smallest comes first: by verdict, by number, by text where there is one, by path. What has no number comes last.
fn sort_key(lock: &Value, sort: &str) -> (Reverse<usize>, Reverse<i64>, bool, String, String) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let is_verdict = |verdict: &Verdict| sort == "worst" && lock["verdict"] == verdict.name();
    let severity = Verdict::ALL.iter().position(|verdict| *verdict >= Verdict::Slow && is_verdict(verdict));
    let number = match sort {
        "worst" | "damage" => "total_wait_ms",
        "oldest_wait" => "oldest_wait_ms",
        "depth" => "waiter_count",
        "hold" => "hold_ms",
        _ => "",
    };
    let by = match sort {
        "recipe" => Some(text(&lock["recipe_label"])),
        "holder" => serde_json::from_value(lock["holders"][0].clone()).ok().map(|holder| name(&holder)),
        _ => None,
    };
    let number = Reverse(lock[number].as_i64().unwrap_or(-1));
    (Reverse(severity.map_or(0, |at| at + 1)), number, by.is_none(), by.unwrap_or_default(), text(&lock["path"]))
}
