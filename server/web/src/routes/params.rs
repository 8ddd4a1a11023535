//! The parameters of the reading half of the API. What they may say is taken from where they are read.

use lockscope_view::{AuditKind, FLEET_TILES_MAX, Recipe, SessionGroup, SessionSort, Sort, Verdict};

use crate::alerts::view::StateFilter;
use crate::history::ExportFormat;
use crate::history::blame::BLAME_MAX;
use crate::history::holds::HOLDS_MAX;
use crate::history::incidents::INCIDENTS_MAX;
use crate::history::marks::MARKS_MAX;
use crate::history::time_to_lock::WAITS_USUAL;
use crate::operation::{Kind, Param, ParamLocation};
use crate::server_pages::fleet::LABELS_MAX;
use lockscope_audit::LIMIT_MAX;
use lockscope_live::{FILTER_CHARS_MAX, PATH_CHARS_MAX};
use lockscope_view::past::BlameBy;

/// A parameter of the query that may be left out.
pub(super) const fn query(name: &'static str, kind: Kind, text: &'static str) -> Param {
    Param { name, place: ParamLocation::Query, is_required: false, text, kind, example: None }
}

/// One that may not, like this.
const fn required(param: Param, example: Option<&'static str>) -> Param {
    Param { is_required: true, example, ..param }
}

const ENSEMBLE: Param = query("ensemble", Kind::Text(FILTER_CHARS_MAX), "Only this ensemble; empty for all.");
const ITS_ENSEMBLE: Param =
    query("ensemble", Kind::Text(FILTER_CHARS_MAX), "The ensemble it is in; not needed where there is only one.");
const OFFSET: Param =
    query("offset", Kind::Number { min: 0, max: u32::MAX as u64, usual: Some(0) }, "Index of the first row.");
const LIMIT: Param = query(
    "limit",
    Kind::Number { min: 0, max: u32::MAX as u64, usual: Some(100) },
    "Rows at most; more than 500 count as 500, and none as one.",
);

const FORMAT: Param = query(
    "format",
    Kind::OneOf(|| vec!["json", "csv"]),
    "`csv` for a table with a line for each row: RFC 4180, and no cell is a formula.",
);

const AT: Param = query(
    "at",
    Kind::Moment,
    "As it was at that moment: milliseconds since the epoch, or `zxid:0x…` for when that transaction had been seen. Left out: as it is now.",
);

fn sorts() -> Vec<&'static str> {
    Sort::ALL.map(Sort::name).to_vec()
}

fn session_sorts() -> Vec<&'static str> {
    SessionSort::ALL.map(SessionSort::name).to_vec()
}

fn session_groups() -> Vec<&'static str> {
    SessionGroup::ALL.map(SessionGroup::name).to_vec()
}

fn recipes() -> Vec<&'static str> {
    Recipe::ALL.map(Recipe::name).to_vec()
}

fn verdicts() -> Vec<&'static str> {
    Verdict::ALL.map(Verdict::name).to_vec()
}

fn audit_kinds() -> Vec<&'static str> {
    AuditKind::ALL.map(AuditKind::name).to_vec()
}

const INSTANT: Kind = Kind::Number { min: 0, max: i64::MAX as u64, usual: None };
const FROM: Param = query("from", INSTANT, "Where the range begins, ms since the epoch; an hour before its end.");
const TO: Param = query("to", INSTANT, "Where it ends; now. 400 days at most.");
const ITS_LOCK: Param = query("path", Kind::Text(PATH_CHARS_MAX), "Only this lock; empty for all.");

const fn up_to(max: usize, usual: u64, text: &'static str) -> Param {
    query("limit", Kind::Number { min: 1, max: max as u64, usual: Some(usual) }, text)
}

pub(super) const HISTORY: &[Param] = &[ITS_ENSEMBLE];

pub(super) const MARKS: &[Param] = &[ITS_ENSEMBLE, ITS_LOCK, FROM, TO, up_to(MARKS_MAX, 500, "Marks at most.")];

pub(super) const HOLDS: &[Param] = &[
    ITS_ENSEMBLE,
    ITS_LOCK,
    query("session", Kind::Session, "Only this session."),
    query("client", Kind::Text(FILTER_CHARS_MAX), "Only clients of this host; empty for all."),
    FROM,
    TO,
    up_to(HOLDS_MAX, 100, "Rows at most, those that go on not counted."),
    query("before", Kind::Cursor, "Only older ones; `next_before` of the answer before goes here."),
];

pub(super) const BLAME: &[Param] = &[
    ITS_ENSEMBLE,
    ITS_LOCK,
    FROM,
    TO,
    query(
        "by",
        Kind::OneOf(|| BlameBy::ALL.map(BlameBy::name).to_vec()),
        "What tells rows apart; `client` as without it.",
    ),
    up_to(BLAME_MAX, 100, "Rows at most."),
    FORMAT,
];

pub(super) const INCIDENTS: &[Param] = &[
    ITS_ENSEMBLE,
    query("from", INSTANT, "Where the range begins, ms since the epoch; a day before its end."),
    TO,
    query("path", Kind::Znode(PATH_CHARS_MAX), "Only those that this lock is part of."),
    query("q", Kind::Text(FILTER_CHARS_MAX), "Text to find in its locks, or in who is at its root; empty for all."),
    query("min_ms", INSTANT, "Only those that lasted so long."),
    up_to(INCIDENTS_MAX, 100, "Rows at most."),
    FORMAT,
];

pub(super) const INCIDENT: &[Param] = &[
    ITS_ENSEMBLE,
    query("id", Kind::Text(FILTER_CHARS_MAX), "The `id` of an incident; or `path` and `around`."),
    query("path", Kind::Text(PATH_CHARS_MAX), "Without `id`: a lock."),
    query("around", INSTANT, "Its incident at this moment, or the nearest within a minute, ms since the epoch."),
    query("format", Kind::OneOf(|| vec!["json", "markdown"]), "`markdown` for a ticket."),
];

pub(super) const DIFF: &[Param] = &[
    ITS_ENSEMBLE,
    ITS_LOCK,
    query("from", INSTANT, "The earlier moment; an hour before the later one."),
    query("to", INSTANT, "The later moment; the newest that is kept."),
];

pub(super) const DIFFERS: &[Param] = &[
    ITS_ENSEMBLE,
    ITS_LOCK,
    FROM,
    TO,
    query("sel_from", INSTANT, "Where the selection begins: those that joined no earlier, ms since the epoch; `from`."),
    query("sel_to", INSTANT, "Where it ends; `to`."),
    query("min_wait_ms", INSTANT, "Selected are those that waited at least so long."),
    query("max_wait_ms", INSTANT, "Selected are those that waited for less than this."),
    FORMAT,
];

pub(super) const EXPORT: &[Param] = &[
    ITS_ENSEMBLE,
    ITS_LOCK,
    query("session", Kind::Session, "Only this session."),
    query("client", Kind::Text(FILTER_CHARS_MAX), "Only clients of this host; empty for all."),
    FROM,
    TO,
    query(
        "format",
        Kind::OneOf(|| ExportFormat::ALL.map(ExportFormat::name).to_vec()),
        "`csv`, as without it: RFC 4180, a line a contender, and no cell is a formula. `perfetto`: trace events, which ui.perfetto.dev opens. `sqlite`: a history of its own, not cut by `session` and `client`.",
    ),
];

pub(super) const LOCK_OVER_TIME: &[Param] = &[
    ITS_ENSEMBLE,
    required(query("path", Kind::Znode(PATH_CHARS_MAX), "Path of the lock."), Some("/locks/order")),
    FROM,
    TO,
    query(
        "grain",
        Kind::Minutes,
        "Length of a point, in milliseconds: whole minutes. Without it there are some hundred points.",
    ),
];

pub(super) const LOCKS: &[Param] = &[
    ENSEMBLE,
    query("root", Kind::Text(PATH_CHARS_MAX), "Only locks under this watched root; empty for all."),
    query(
        "q",
        Kind::Text(FILTER_CHARS_MAX),
        "Text to find in path, recipe label, holder's label or session id. Terms are separated by spaces and all must be found; `!text` excludes.",
    ),
    query("recipe", Kind::OneOf(recipes), "Only this family of recipes."),
    query("verdict", Kind::OneOf(verdicts), "Only this verdict."),
    query(
        "sort",
        Kind::OneOf(sorts),
        "Order; `damage` (all waiting time together, largest first) when it is left out.",
    ),
    query(
        "group",
        Kind::OneOf(|| vec!["root", "true", "1", "false", "0"]),
        "`root`, `true` or `1` keeps the locks of one root together.",
    ),
    OFFSET,
    LIMIT,
    FORMAT,
    AT,
];

pub(super) const LOCK: &[Param] = &[
    ITS_ENSEMBLE,
    required(
        query("path", Kind::Znode(PATH_CHARS_MAX), "Path of the lock, or of a znode in it."),
        Some("/locks/order"),
    ),
    query("offset", OFFSET.kind, "Index of the first contender."),
    query("limit", LIMIT.kind, "Contenders at most; more than 500 count as 500, and none as one."),
    FORMAT,
    AT,
];

pub(super) const TIME_TO_LOCK: &[Param] = &[
    ITS_ENSEMBLE,
    required(
        query("path", Kind::Znode(PATH_CHARS_MAX), "Path of the lock, or of a znode in it."),
        Some("/locks/order"),
    ),
    query(
        "limit",
        Kind::Number { min: 0, max: u32::MAX as u64, usual: Some(WAITS_USUAL as u64) },
        "Waiters listed at most; more than 500 count as 500, and none as one.",
    ),
    AT,
];

pub(super) const SESSIONS: &[Param] = &[
    ENSEMBLE,
    query("q", Kind::Text(FILTER_CHARS_MAX), "Text to find in id, label or lock path; `!text` excludes."),
    query(
        "sort",
        Kind::OneOf(session_sorts),
        "Order; `worst` (those in a deadlock, then who makes most others wait) when it is left out. Of groups, `ephemerals` is most sessions first and `id` by name.",
    ),
    query(
        "group",
        Kind::OneOf(session_groups),
        "`host` or `application` for one row each; `session`, or left out, for one row a session.",
    ),
    query(
        "host",
        Kind::Text(FILTER_CHARS_MAX),
        "Only sessions of this client host: its address without the port; empty for all.",
    ),
    query(
        "application",
        Kind::Text(FILTER_CHARS_MAX),
        "Only sessions of this application: the name before a number and `@`, like `report` of `report-9@app-2`, or what `application_pattern` of the server finds; empty for all.",
    ),
    OFFSET,
    LIMIT,
    FORMAT,
    AT,
];

pub(super) const SESSION: &[Param] = &[
    ITS_ENSEMBLE,
    required(query("id", Kind::Session, "The session's id as ZooKeeper prints it."), Some("0x100000a1b2c0001")),
    query("offset", OFFSET.kind, "Index of the first of its znodes."),
    query("limit", LIMIT.kind, "Znodes at most; more than 500 count as 500, and none as one."),
    AT,
];

pub(super) const ONLY_AT: &[Param] = &[AT];

pub(super) const ORDERS: &[Param] = &[ENSEMBLE, AT];

pub(super) const FLEET: &[Param] = &[
    query("q", Kind::Text(FILTER_CHARS_MAX), "Only ensembles whose name has this text."),
    query(
        "label",
        Kind::Labels { pairs_max: LABELS_MAX, chars_max: FILTER_CHARS_MAX },
        "Only ensembles with these labels: pairs like `env:prod`, several separated by commas.",
    ),
    query("verdict", Kind::OneOf(verdicts), "Only ensembles whose worst verdict this is."),
    OFFSET,
    query(
        "limit",
        Kind::Number { min: 1, max: FLEET_TILES_MAX as u64, usual: Some(FLEET_TILES_MAX as u64 / 2) },
        "Tiles at most.",
    ),
];

pub(super) const EVENTS: &[Param] = &[
    query("ensemble", Kind::Text(FILTER_CHARS_MAX), "The ensemble; not needed where there is only one."),
    query("path", Kind::Below(PATH_CHARS_MAX), "Only what is at or below this path; empty for all."),
    query("after", RECORD, "Only what has a greater number."),
    query(
        "from",
        INSTANT,
        "Only what happened no earlier, ms since the epoch. With this, `to` or `before` the answer reaches into what was recorded.",
    ),
    query("to", INSTANT, "Only what happened earlier, ms since the epoch."),
    query(
        "before",
        Kind::Text(FILTER_CHARS_MAX),
        "Only what comes before this in the list; `next_before` of the answer before goes here.",
    ),
    LIMIT,
];

const RECORD: Kind = Kind::Number { min: 0, max: u64::MAX, usual: None };

pub(super) const AUDIT: &[Param] = &[
    query("after", RECORD, "Only records with a greater number."),
    query("before", RECORD, "Only records with a smaller number; `next_before` of the answer before goes here."),
    query("limit", Kind::Number { min: 1, max: LIMIT_MAX as u64, usual: None }, "Records at most."),
    query("actor", Kind::Text(FILTER_CHARS_MAX), "Only what this one did; empty for everybody."),
    query("kind", Kind::OneOf(audit_kinds), "Only records of this kind."),
    query("lock", Kind::Text(PATH_CHARS_MAX), "Only what concerns this lock; empty for all."),
];

pub(super) const RUN: Param = Param {
    name: "id",
    place: ParamLocation::Path,
    is_required: true,
    text: "The run's name.",
    kind: Kind::Run,
    example: None,
};

pub(super) const ONE_SILENCE: &[Param] = &[Param { text: "The silence's number.", ..RUN }];

pub(super) const ONE_SNOOZE: &[Param] =
    &[Param { text: "The snooze's number.", ..RUN }, query("ensemble", Kind::Text(FILTER_CHARS_MAX), "Its ensemble.")];

pub(super) const ALERTS: &[Param] = &[query(
    "state",
    Kind::OneOf(|| StateFilter::NAMES.to_vec()),
    "Only those; `silenced` are those that nobody is told of.",
)];
