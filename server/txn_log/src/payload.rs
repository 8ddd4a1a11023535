//! The payload of a record of the log: who and when, what, and (since 3.6) a digest of the tree, which is not looked
//! at.

use crate::jute::Input;
use crate::{Change, Create, Lifetime, Multi, Problem, ReadError, Transaction};

/// ZooKeeper's numbers for types of transactions.
mod kind {
    pub(super) const ERROR: i32 = -1;
    pub(super) const CREATE_SESSION: i32 = -10;
    pub(super) const CLOSE_SESSION: i32 = -11;
    pub(super) const CREATE: i32 = 1;
    pub(super) const DELETE: i32 = 2;
    pub(super) const SET_DATA: i32 = 5;
    pub(super) const SET_ACL: i32 = 7;
    pub(super) const CHECK: i32 = 13;
    pub(super) const MULTI: i32 = 14;
    pub(super) const CREATE_2: i32 = 15;
    pub(super) const RECONFIG: i32 = 16;
    pub(super) const CREATE_CONTAINER: i32 = 19;
    pub(super) const DELETE_CONTAINER: i32 = 20;
    pub(super) const CREATE_TTL: i32 = 21;
}

/// A version and a digest of the whole tree, behind what was changed.
const DIGEST_BYTES: usize = 12;
/// The version of the digest; also what distinguishes it from a list of paths of the same length.
const DIGEST_VERSION: i32 = 2;
/// A type and a length.
const PART_MIN: usize = 8;
/// A length.
const STRING_MIN: usize = 4;

pub(crate) fn transaction(payload: &[u8], offset: u64) -> Result<Transaction, ReadError> {
    let mut input = Input::new(payload, offset);
    let (session, cxid, zxid, time_ms) = (input.long()?, input.int()?, input.long()?, input.long()?);
    let change = match input.int()? {
        kind::MULTI => Change::Multi(multi(&mut input)?),
        kind => change(kind, &mut input)?,
    };
    Ok(Transaction { zxid, time_ms, session, cxid, change })
}

/// Everything but a multi.
fn change(kind: i32, input: &mut Input<'_>) -> Result<Change, ReadError> {
    Ok(match kind {
        kind::CREATE | kind::CREATE_2 => Change::Create(create(input)?),
        kind::CREATE_CONTAINER => Change::Create(Create {
            path: input.string()?,
            data: input.buffer()?,
            acl: input.acl()?,
            lifetime: Lifetime::Container,
            parent_cversion: input.int()?,
        }),
        kind::CREATE_TTL => {
            let (path, data, acl, parent_cversion) = (input.string()?, input.buffer()?, input.acl()?, input.int()?);
            Change::Create(Create {
                path,
                data,
                acl,
                lifetime: Lifetime::Ttl { ttl_ms: input.long()? },
                parent_cversion,
            })
        }
        kind::DELETE => Change::Delete { path: input.string()?, by_server: false },
        kind::DELETE_CONTAINER => Change::Delete { path: input.string()?, by_server: true },
        kind::SET_DATA => Change::SetData { path: input.string()?, data: input.buffer()?, version: input.int()? },
        kind::RECONFIG => {
            // It is always the same znode.
            let _path = input.slice()?;
            Change::Reconfig { data: input.buffer()?, version: input.int()? }
        }
        kind::SET_ACL => Change::SetAcl { path: input.string()?, acl: input.acl()?, version: input.int()? },
        kind::CHECK => Change::Check { path: input.string()?, version: input.int()? },
        kind::CREATE_SESSION => Change::CreateSession { timeout_ms: input.int()? },
        kind::CLOSE_SESSION => Change::CloseSession { paths: closed_paths(input)? },
        kind::ERROR => Change::Error { code: input.int()? },
        kind::MULTI => return Err(input.error(Problem::NestedMulti)),
        kind => Change::Unknown { kind },
    })
}

fn create(input: &mut Input<'_>) -> Result<Create, ReadError> {
    let (path, data, acl) = (input.string()?, input.buffer()?, input.acl()?);
    let lifetime = if input.boolean()? { Lifetime::Ephemeral } else { Lifetime::Persistent };
    // Servers before 3.4 ended here.
    let parent_cversion = if input.left() == 0 { -1 } else { input.int()? };
    Ok(Create { path, data, acl, lifetime, parent_cversion })
}

/// The paths that fell with a session. A server may be configured to leave them out, and then the digest follows at
/// once.
fn closed_paths(input: &mut Input<'_>) -> Result<Option<Vec<String>>, ReadError> {
    // Two paths of no letters would be as long as a digest; there are none.
    let is_digest = input.left() == DIGEST_BYTES && { *input }.int()? == DIGEST_VERSION;
    if input.left() == 0 || is_digest {
        return Ok(None);
    }
    Ok(Some(input.vector(STRING_MIN, Input::string)?.unwrap_or_default()))
}

fn multi(input: &mut Input<'_>) -> Result<Multi, ReadError> {
    let part = |input: &mut Input<'_>| {
        let kind = input.int()?;
        let at = input.offset() + STRING_MIN as u64;
        let bytes = input.slice()?.unwrap_or_default();
        change(kind, &mut Input::new(bytes, at))
    };
    let parts = input.vector(PART_MIN, part)?.unwrap_or_default();
    if !parts.iter().any(|part| matches!(part, Change::Error { .. })) {
        return Ok(Multi::Done(parts));
    }
    let code = |part: &Change| if let Change::Error { code } = part { *code } else { 0 };
    Ok(Multi::Failed(parts.iter().map(code).collect()))
}
