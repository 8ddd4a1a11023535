//! Plain data that crosses a wire: between server and browser, and to scripts; and `words`, times and counts as people
//! read them on either side. Serde only; knows neither the core nor the page. Live rows carry instants (`*_at_ms`,
//! `*_since_ms`: ms since the Unix epoch, server's clock), never ages, so that a row only changes when something
//! happened; ages are worked out where they are shown.
//!
//! Enums are externally tagged so that the compact encoding (postcard) can carry them; the JSON frames that
//! scripts see are flattened to `type` / `kind` tags by the server.

#![warn(missing_docs)]

mod advice;
mod alerts;
mod answer;
pub mod api;
mod audit;
mod board;
mod cluster;
mod events;
mod evidence;
mod find;
mod fleet;
mod frame;
mod freshness;
#[cfg(test)]
mod golden_tests;
pub mod guide;
mod id;
mod lab;
pub mod live;
mod lock;
mod name;
mod orders;
pub mod outgoing;
pub mod past;
mod past_holder;
mod patch;
mod person;
mod preferences;
mod problem;
mod query;
mod queue_map;
mod release;
mod scope;
mod session;
mod session_timeout;
mod sessions_query;
mod status;
mod time_to_lock;
mod visible;
mod waits;
mod window;
pub mod words;

pub use advice::{Advice, Headline, LockProblem, PROBLEM_LOCKS_MAX, PROBLEMS_MAX, ProblemsLeftOut, Step, StepAct};
pub use alerts::{Acknowledgement, Alert, AlertMatchers, AlertRoute, AlertRule, Alerts, Silence};
pub use answer::{Query, StatusQuery};
pub use audit::{AuditKind, AuditPage, AuditRecord, OtherAuditLog};
pub use board::{Board, BoardDelta, BoardHead, RootBrief, Totals};
pub use cluster::{Cluster, ClusterState, Replica, SharedMemory};
pub use events::{EventKind, EventRow, Events, EventsQuery, Lately, LatelyDelta, LatelyIn, LaterIn};
pub use evidence::{ClientInfo, FiredRow, Herd, HerdKnown, MemberRole, MemberStatus, RunsOut, SourceState, Trust};
pub use find::{FindAnswer, FindPlace, FoundIncident};
pub use fleet::{FLEET_TILES_MAX, Fleet, FleetQuery, FleetTile, LabelCount};
pub use frame::{
    Body, COMPACT_TYPE, ClientFrame, DeltaBody, Frame, KnownView, ServerFrame, View, decode_frame, encode_frame,
};
pub use freshness::{Freshness, LIVE_AGE_MAX_MS, Proof, age_ms, is_fresh};
pub use id::{EnsembleTag, Epoch, SessionId, Zxid};
pub use lab::{
    Fault, FaultOrder, LAB_POINTS_MAX, LabBrief, LabOrder, LabQuery, LabRequests, LabRun, LabRuns, LabStarted,
    LabState, Lane, ServerCounter, Spread, Strategy, ThrownFault,
};
pub use lock::{
    AsOf, Capacity, Contender, Depth, Edge, FindingRow, Foreign, LockDelta, LockHead, LockPage, LockRow, LockStats,
    NodeData, StatRow,
};
pub use name::{
    Access, AlertState, Confidence, ContenderRole, EdgeEvidence, EnsembleColor, HoldEnd, Link, Liveness, Missing,
    ProofPart, Recipe, RootState, Severity, Verdict,
};
pub use orders::{LockOrder, LockOrders, OrderSeen, OrderSnooze, OrderWarning};
pub use past_holder::PastHolder;
pub use patch::{
    Appended, BoardPatch, BodyPatch, CompactFrame, EndedHold, ListPatch, LockPatch, OptionPatch, Patched, PatchedRow,
    ROW_HOLDERS_MAX, RowPatch, Run, TextPatch, WindowPatch,
};
pub use person::{Person, Role, SignedBy};
pub use preferences::{PREFERENCES_BYTES_MAX, Preferences, SAVED_VIEWS_MAX, SavedView, VIEW_NAME_CHARS_MAX};
pub use problem::{NearestMoments, Problem};
pub use query::{BoardQuery, LockQuery, PINS_MAX, ParseQueryError, SessionQuery, Sort};
pub use queue_map::{
    HAND_OVERS_MIN, HandOvers, QUEUE_DEAD_MAX, QUEUE_MAPPED_MAX, QUEUE_SLICES_MAX, QueueMap, QueueMapQuery, QueuePlace,
    QueueSlice,
};
pub use release::{
    DeleteRight, FALLS_MAX, NEXT_MAX, Naming, Outcome, PlanRequest, ReleaseOrder, ReleasePlan, ReleaseResult,
};
pub use scope::{Scope, Within};
pub use session::{
    Happened, ROW_LOCKS_MAX, SESSION_EVENTS_MAX, SessionEvent, SessionGroupRow, SessionLockRow, SessionPage,
    SessionRow, Sessions, SessionsDelta, SessionsHead,
};
pub use session_timeout::{SessionTimeout, TimeoutOutcome, TimeoutUnknownReason};
pub use sessions_query::{SessionGroup, SessionSort, SessionsQuery};
pub use status::{ConfigStatus, EnsembleStatus, ExcludedStatus, HistoryStatus, RootStatus, Status};
pub use time_to_lock::{HoldsSource, NoEstimateReason, RemainingWait, TimeToLock, WaitCalibration, WaitTime};
pub use visible::visible;
pub use waits::{
    BRIEF_EDGES_MAX, Cycle, GRAPH_EDGES_MAX, GRAPH_NODES_MAX, LockSince, SessionLock, TREE_CHILDREN_MAX,
    TREE_DEPTH_MAX, TREE_ROOTS_MAX, TREE_ROWS_MAX, WAIT_NODES_MAX, WaitBranch, WaitEdge, WaitNode, Waits, WaitsQuery,
};
pub use window::{Window, WindowDelta, WindowRow};

/// Version of the live protocol; the first byte of every compact frame.
pub const PROTOCOL: u8 = 7;
/// Subprotocol of scripts: JSON text frames.
pub const SUBPROTOCOL_JSON: &str = "lockscope.v1.json";
/// Subprotocol of the page: binary frames, one version byte and then postcard.
pub const SUBPROTOCOL_BIN: &str = "lockscope.v1.bin";
/// Largest window of rows one view may ask for.
pub const WINDOW_ROWS_MAX: u32 = 500;
