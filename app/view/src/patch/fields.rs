//! Of which fields the values of live views consist.

use serde::{Deserialize, Serialize};

use super::super::{
    Access, Advice, AsOf, BoardHead, Capacity, ClientInfo, Confidence, Contender, ContenderRole, Depth, Edge,
    EdgeEvidence, EnsembleTag, FindingRow, FiredRow, Foreign, Headline, Herd, Liveness, LockHead, LockProblem, LockRow,
    LockStats, Missing, NodeData, PastHolder, ProblemsLeftOut, Proof, Recipe, RootBrief, RootState, RunsOut, SessionId,
    Severity, StatRow, Step, Totals, Trust, Verdict, Zxid,
};
use super::window::PatchedRow;
use super::{OptionPatch, Part, Patched, whole};

/// Digits of the number that ZooKeeper gives a sequential znode.
const SEQUENCE_DIGITS: usize = 10;

whole!(Access, Confidence, ContenderRole, EdgeEvidence, Liveness, Recipe, RootState, Severity, Verdict);
whole!(Depth, PastHolder, Proof, RootBrief, Step, Trust);
whole!(
    Option<bool>,
    Option<u32>,
    Option<Capacity>,
    Option<EnsembleTag>,
    Option<Herd>,
    Option<NodeData>,
    Option<RunsOut>
);
whole!(Vec<Edge>, Vec<FiredRow>, Vec<Foreign>, Vec<Missing>, Vec<ProblemsLeftOut>, Vec<Step>, Vec<(Verdict, u32)>);

/// A type's fields, each with a variant of its own. Variants go last, as in every enum on the wire.
macro_rules! fields {
    ($of:ident, $field:ident { $($variant:ident $name:ident: $type:ty,)+ }) => {
        #[doc = concat!("What changed in a field of [`", stringify!($of), "`].")]
        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        pub enum $field {
            $(#[doc = concat!("Of `", stringify!($name), "`.")] $variant(<$type as Patched>::Patch),)+
        }

        impl $of {
            fn changed_fields(&self, next: &Self) -> Vec<$field> {
                // None may be forgotten.
                let Self { $($name),+ } = self;
                let changed = [$($name.patch_to(&next.$name).map($field::$variant)),+];
                changed.into_iter().flatten().collect()
            }

            fn apply_field(&mut self, field: $field) {
                match field {
                    $($field::$variant(change) => self.$name.apply_patch(change),)+
                }
            }
        }
    };
}

/// The same of a type with few fields: a field that did not change is a byte, and takes less code.
macro_rules! few_fields {
    ($of:ident, $patch:ident { $($name:ident: $type:ty),+ $(,)? }) => {
        #[doc = concat!("What changed of [`", stringify!($of), "`].")]
        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        pub struct $patch {
            $(#[doc = concat!("Of `", stringify!($name), "`.")] pub $name: Option<<$type as Patched>::Patch>,)+
        }

        impl Patched for $of {
            type Patch = $patch;

            fn patch_to(&self, next: &Self) -> Option<$patch> {
                // None may be forgotten.
                let Self { $($name),+ } = self;
                let patch = $patch { $($name: $name.patch_to(&next.$name)),+ };
                ($(patch.$name.is_some())||+).then_some(patch)
            }

            fn apply_patch(&mut self, patch: $patch) {
                $(if let Some(change) = patch.$name {
                    self.$name.apply_patch(change);
                })+
            }
        }
    };
}

impl Part for Advice {}
impl Part for ClientInfo {}
impl Part for Contender {}
impl Part for FindingRow {}
impl Part for LockProblem {}
impl Part for Headline {}
impl Part for PastHolder {}
impl Part for RootBrief {}
impl Part for StatRow {}

/// Differences of a type are its fields that changed.
macro_rules! patched_by_fields {
    ($($of:ident $field:ident),+ $(,)?) => {
        $(impl Patched for $of {
            type Patch = Vec<$field>;

            fn patch_to(&self, next: &Self) -> Option<Vec<$field>> {
                Some(self.changed_fields(next)).filter(|fields| !fields.is_empty())
            }

            fn apply_patch(&mut self, patch: Vec<$field>) {
                patch.into_iter().for_each(|field| self.apply_field(field));
            }
        })+
    };
}

patched_by_fields!(
    AsOf AsOfField,
    BoardHead BoardHeadField,
    ClientInfo ClientInfoField,
    FindingRow FindingRowField,
    LockHead LockHeadField,
    LockProblem LockProblemField,
    LockStats LockStatsField,
    StatRow StatRowField,
    Totals TotalsField,
);

few_fields!(Advice, AdvicePatch {
    headline: Headline,
    steps: Vec<Step>,
    why: String,
});

few_fields!(Headline, HeadlinePatch {
    before: String,
    since_ms: Option<i64>,
    is_lower_bound: bool,
    after: String,
});

fields!(AsOf, AsOfField {
    State state: RootState,
    SinceMs since_ms: i64,
    Why why: String,
    Zxid zxid: Zxid,
    Ensemble ensemble: Option<EnsembleTag>,
    Proof proof: Proof,
});

fields!(ClientInfo, ClientInfoField {
    Address address: String,
    Server server: String,
    TimeoutMs timeout_ms: Option<i64>,
    LastHeardAtMs last_heard_at_ms: Option<i64>,
    ConnectedSinceMs connected_since_ms: Option<i64>,
    LastOperation last_operation: Option<String>,
});

fields!(FindingRow, FindingRowField {
    Code code: String,
    Severity severity: Severity,
    Text text: String,
    Paths paths: Vec<String>,
    SinceMs since_ms: i64,
});

fields!(Contender, ContenderField {
    Path path: String,
    Node node: Option<String>,
    Sequence sequence: Option<i64>,
    Position position: u32,
    Role role: ContenderRole,
    Access access: Access,
    SessionId session_id: Option<SessionId>,
    Ephemeral ephemeral: Option<bool>,
    Client client: Option<ClientInfo>,
    Liveness liveness: Liveness,
    RunsOut runs_out: Option<RunsOut>,
    OnlyOn only_on: Vec<String>,
    Label label: Option<String>,
    Data data: Option<NodeData>,
    CreatedAtMs created_at_ms: Option<i64>,
    WaitingSinceMs waiting_since_ms: Option<i64>,
    WaitingIsLowerBound waiting_is_lower_bound: bool,
    HoldingSinceMs holding_since_ms: Option<i64>,
    HoldingIsLowerBound holding_is_lower_bound: bool,
    WaitsFor waits_for: Vec<Edge>,
    Czxid czxid: Option<Zxid>,
    Version version: i32,
});

/// A znode's path says its name and its number, which are sent only where they are others.
impl Patched for Contender {
    type Patch = Vec<ContenderField>;

    fn patch_to(&self, next: &Self) -> Option<Vec<ContenderField>> {
        let mut fields = self.changed_fields(next);
        if self.path != next.path {
            let (node, sequence) = self.named_by(&next.path);
            fields.retain(|field| !matches!(field, ContenderField::Node(_) | ContenderField::Sequence(_)));
            fields.extend(node.patch_to(&next.node).map(ContenderField::Node));
            fields.extend(sequence.patch_to(&next.sequence).map(ContenderField::Sequence));
        }
        Some(fields).filter(|fields| !fields.is_empty())
    }

    fn apply_patch(&mut self, patch: Vec<ContenderField>) {
        for field in patch {
            let renames = matches!(field, ContenderField::Path(_));
            self.apply_field(field);
            if renames {
                (self.node, self.sequence) = self.named_by(&self.path);
            }
        }
    }
}

impl Contender {
    /// Name and number of a znode at this path, where this one has a name and a number.
    fn named_by(&self, path: &str) -> (Option<String>, Option<i64>) {
        let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
        let number = || name.get(name.len().checked_sub(SEQUENCE_DIGITS)?..)?.parse().ok();
        (self.node.is_some().then(|| name.to_owned()), self.sequence.and_then(|_| number()))
    }
}

impl PatchedRow for Contender {
    fn move_to(&mut self, at: u32) {
        self.position = at;
    }

    fn patch_at(&self, at: u32, next: &Self) -> Option<Vec<ContenderField>> {
        let mut fields = self.patch_to(next).unwrap_or_default();
        fields.retain(|field| !matches!(field, ContenderField::Position(_)));
        fields.extend(at.patch_to(&next.position).map(ContenderField::Position));
        Some(fields).filter(|fields| !fields.is_empty())
    }

    /// Who comes last waits for the one before.
    fn successor(&self) -> Self {
        let evidence = self.waits_for.first().map_or(EdgeEvidence::Inferred, |edge| edge.evidence);
        Self {
            waits_for: vec![Edge { to: self.path.clone(), evidence }],
            sequence: self.sequence.map(|number| number + 1),
            ..self.clone()
        }
    }
}

/// Since when a lock is held follows from its first holder, where the holders are others.
impl Patched for LockRow {
    type Patch = Vec<LockRowField>;

    fn patch_to(&self, next: &Self) -> Option<Vec<LockRowField>> {
        let mut fields = self.changed_fields(next);
        if self.holders != next.holders {
            fields.retain(|field| !matches!(field, LockRowField::HeldSinceMs(_)));
            if next.held_since_ms != next.held_since_first() {
                let held = next.held_since_ms.map_or(OptionPatch::None, OptionPatch::New);
                fields.push(LockRowField::HeldSinceMs(held));
            }
        }
        Some(fields).filter(|fields| !fields.is_empty())
    }

    fn apply_patch(&mut self, patch: Vec<LockRowField>) {
        for field in patch {
            let has_holders = matches!(field, LockRowField::Holders(_));
            self.apply_field(field);
            if has_holders {
                self.held_since_ms = self.held_since_first();
            }
        }
    }
}

impl LockRow {
    /// Since when the first holder holds.
    pub(super) fn held_since_first(&self) -> Option<i64> {
        self.holders.first().and_then(|holder| holder.holding_since_ms)
    }
}

impl PatchedRow for LockRow {}

fields!(LockRow, LockRowField {
    Key key: String,
    Ensemble ensemble: String,
    Tag tag: Option<EnsembleTag>,
    Path path: String,
    Root root: String,
    Recipe recipe: Recipe,
    RecipeLabel recipe_label: String,
    Confidence confidence: Confidence,
    Verdict verdict: Verdict,
    Sentence sentence: String,
    State state: RootState,
    Holders holders: Vec<Contender>,
    HolderCount holder_count: u32,
    WaiterCount waiter_count: Option<u32>,
    OldestWaitAtMs oldest_wait_at_ms: Option<i64>,
    WaitIsLowerBound wait_is_lower_bound: bool,
    WaitingSinceSumMs waiting_since_sum_ms: i64,
    Missing missing: Vec<Missing>,
    HeldSinceMs held_since_ms: Option<i64>,
    HoldIsLowerBound hold_is_lower_bound: bool,
    Findings findings: Vec<String>,
    Depth depth: Depth,
    HandOffsIn10S hand_offs_in_10_s: Option<u32>,
});

fields!(StatRow, StatRowField {
    Czxid czxid: Zxid,
    Mzxid mzxid: Zxid,
    Pzxid pzxid: Zxid,
    CtimeMs ctime_ms: i64,
    Version version: i32,
    Cversion cversion: i32,
    Children children: u32,
    CreatesEver creates_ever: u32,
});

fields!(LockStats, LockStatsField {
    Acquisitions acquisitions: u64,
    OwnerUnknown owner_unknown: u64,
    GaveUp gave_up: u64,
    SequenceUsedPpm sequence_used_ppm: Option<u32>,
    HoldP50Ms hold_p50_ms: Option<i64>,
    HoldP99Ms hold_p99_ms: Option<i64>,
    WaitP50Ms wait_p50_ms: Option<i64>,
    WaitP99Ms wait_p99_ms: Option<i64>,
});

fields!(LockHead, LockHeadField {
    Row row: LockRow,
    AsOf as_of: AsOf,
    RecognisedBy recognised_by: Vec<String>,
    Capacity capacity: Option<Capacity>,
    Foreign foreign: Vec<Foreign>,
    Findings findings: Vec<FindingRow>,
    Notes notes: Vec<String>,
    Stat stat: Option<StatRow>,
    Stats stats: LockStats,
    Past past: Vec<PastHolder>,
    Herd herd: Option<Herd>,
    Fired fired: Vec<FiredRow>,
    HiddenWaiters hidden_waiters: u32,
    Trust trust: Trust,
    Advice advice: Option<Advice>,
});

fields!(Totals, TotalsField {
    Locks locks: u32,
    Held held: u32,
    Waiters waiters: u32,
    Incomplete incomplete: u32,
    Contended contended: u32,
    WaitingSinceSumMs waiting_since_sum_ms: i64,
    OldestWaitAtMs oldest_wait_at_ms: Option<i64>,
    Findings findings: u32,
    Verdicts verdicts: Vec<(Verdict, u32)>,
});

fields!(BoardHead, BoardHeadField {
    AsOf as_of: AsOf,
    Totals totals: Totals,
    Roots roots: Vec<RootBrief>,
    Problems problems: Vec<LockProblem>,
    ProblemCount problem_count: u32,
    ProblemsLeftOut problems_left_out: Vec<ProblemsLeftOut>,
    EnsemblesWithoutEvidence ensembles_without_evidence: u32,
});

fields!(LockProblem, LockProblemField {
    Key key: String,
    Ensemble ensemble: String,
    Tag tag: Option<EnsembleTag>,
    Verdict verdict: Verdict,
    Finding finding: Option<String>,
    Locks locks: Vec<String>,
    LockCount lock_count: u32,
    Headline headline: Headline,
    WaiterCount waiter_count: u32,
    WaitingSinceSumMs waiting_since_sum_ms: i64,
    Step step: Step,
    LookedAfter looked_after: Option<Headline>,
});
