//! A plan and the page it was made from, for tests.

use lockscope_view::{
    Access, AsOf, Confidence, Contender, ContenderRole, DeleteRight, Depth, Liveness, LockHead, LockPage, LockRow,
    LockStats, Naming, Recipe, ReleasePlan, RootState, SessionId, Trust, Verdict, Window, Zxid,
};

pub(crate) fn holder() -> Contender {
    Contender {
        path: "/order/lock-0000000001".to_owned(),
        node: Some("lock-0000000001".to_owned()),
        sequence: Some(1),
        position: 0,
        role: ContenderRole::Holder,
        access: Access::Exclusive,
        session_id: Some(SessionId(7)),
        ephemeral: Some(true),
        client: None,
        liveness: Liveness::Unknown,
        runs_out: None,
        only_on: Vec::new(),
        label: None,
        data: None,
        created_at_ms: None,
        waiting_since_ms: None,
        waiting_is_lower_bound: false,
        holding_since_ms: Some(1_000),
        holding_is_lower_bound: false,
        waits_for: Vec::new(),
        czxid: Some(Zxid(5)),
        version: 0,
    }
}

pub(crate) fn plan() -> ReleasePlan {
    ReleasePlan {
        plan_id: "abc".to_owned(),
        expires_at_ms: 60_000,
        ensemble: "default".to_owned(),
        tag: None,
        path: "/order/lock-0000000001".to_owned(),
        lock: "/order".to_owned(),
        recipe: Recipe::SequentialMutex,
        recipe_label: "Curator InterProcessMutex".to_owned(),
        czxid: Zxid(5),
        session_id: Some(SessionId(7)),
        version: 0,
        naming: Naming::Sequential,
        holder: holder(),
        next: Vec::new(),
        next_sentence: "Nobody waits.".to_owned(),
        waiters_moving: 0,
        warnings: vec!["The old holder is not notified.".to_owned()],
        frees_itself_at_ms: None,
        frees_itself_is_upper_bound: false,
        right: DeleteRight::Granted,
        right_sentence: String::new(),
        can_revoke: false,
        needs_second: false,
        falls: Vec::new(),
        falls_count: 0,
        runbook: None,
    }
}

pub(crate) fn page(plan: &ReleasePlan) -> LockPage {
    let row = LockRow {
        key: plan.lock.clone(),
        ensemble: plan.ensemble.clone(),
        tag: None,
        path: plan.lock.clone(),
        root: "/".to_owned(),
        recipe: plan.recipe,
        recipe_label: plan.recipe_label.clone(),
        confidence: Confidence::High,
        verdict: Verdict::Healthy,
        sentence: String::new(),
        state: RootState::Live,
        holders: Vec::new(),
        holder_count: 1,
        waiter_count: Some(0),
        oldest_wait_at_ms: None,
        wait_is_lower_bound: false,
        waiting_since_sum_ms: 0,
        missing: Vec::new(),
        held_since_ms: None,
        hold_is_lower_bound: false,
        findings: Vec::new(),
        depth: Depth::default(),
        hand_offs_in_10_s: None,
    };
    let head = LockHead {
        row,
        as_of: AsOf { state: RootState::Live, ..AsOf::default() },
        recognised_by: Vec::new(),
        capacity: None,
        foreign: Vec::new(),
        findings: Vec::new(),
        notes: Vec::new(),
        stat: None,
        stats: LockStats::default(),
        past: Vec::new(),
        herd: None,
        fired: Vec::new(),
        hidden_waiters: 0,
        trust: Trust::default(),
        advice: None,
    };
    LockPage { head, window: Window { total: 1, offset: 0, rows: vec![plan.holder.clone()] } }
}
