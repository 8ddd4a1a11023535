//! Converts the client crate's types to ours. The only file that knows both.

use lockscope_core::observation::RootTrouble;
use lockscope_core::znode::{Facts, PAYLOAD_BYTES_MAX, SessionId, Zxid};
use zookeeper_client::{Error, EventType, Stat, WatchedEvent};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NodeEvent {
    Created(Box<str>),
    Deleted(Box<str>),
    Changed(Box<str>),
}

#[derive(Debug)]
pub(super) enum WatcherEvent {
    Node(NodeEvent),
    /// Children of the watched node itself came or went.
    Children,
    /// The session ended; the watcher must not be asked again.
    Terminal,
    /// The link went or came; the session's own state says so too.
    Link,
}

pub(super) fn heard(event: WatchedEvent) -> WatcherEvent {
    match event.event_type {
        EventType::NodeCreated => WatcherEvent::Node(NodeEvent::Created(event.path.into())),
        EventType::NodeDeleted => WatcherEvent::Node(NodeEvent::Deleted(event.path.into())),
        EventType::NodeDataChanged => WatcherEvent::Node(NodeEvent::Changed(event.path.into())),
        EventType::NodeChildrenChanged => WatcherEvent::Children,
        EventType::Session if event.session_state.is_terminated() => WatcherEvent::Terminal,
        EventType::Session => WatcherEvent::Link,
    }
}

/// Facts of a znode; `payload` is None when the data may not be read.
pub(super) fn facts(stat: &Stat, payload: Option<Vec<u8>>) -> Box<Facts> {
    let payload = payload.map(|mut bytes| {
        bytes.truncate(PAYLOAD_BYTES_MAX);
        bytes.into_boxed_slice()
    });
    Box::new(Facts {
        czxid: Zxid(stat.czxid),
        mzxid: Zxid(stat.mzxid),
        pzxid: Zxid(stat.pzxid),
        ctime_ms: stat.ctime,
        version: stat.version,
        cversion: stat.cversion,
        children: stat.num_children.max(0).cast_unsigned(),
        owner: (stat.ephemeral_owner != 0).then_some(SessionId(stat.ephemeral_owner)),
        payload,
        payload_bytes: stat.data_length.max(0).cast_unsigned(),
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WatchFailure {
    /// This server can't do it: too old, or its watch manager refuses.
    Refused,
    Passing,
}

pub(super) fn watch_failure(error: &Error) -> WatchFailure {
    match error {
        Error::ConnectionLoss
        | Error::SessionExpired
        | Error::SessionMoved
        | Error::ClientClosed
        | Error::AuthFailed => WatchFailure::Passing,
        // Unimplemented before 3.6, MarshallingError from WatchManagerOptimized; whatever else a server says, it said
        // no.
        _ => WatchFailure::Refused,
    }
}

pub(super) fn trouble_text(trouble: RootTrouble) -> &'static str {
    match trouble {
        RootTrouble::Gone => "does not exist",
        RootTrouble::Denied => "may not be read",
        RootTrouble::Reduced => "the server refuses persistent watches; read in full every few seconds",
        RootTrouble::Partial => "not everything is read",
    }
}
