//! The blocking tree: who makes others wait, and under each those behind it, folded. Folds are the browser's own, so
//! that they work without scripts.

use leptos::prelude::*;

use super::words;
use crate::erase::{dynamic, erase, view};
use crate::format::{middle, visible};
use crate::live::Live;
use crate::parts::{
    Age, Chip, Item, Tag, and_more, cycle_mark, hold_least, lock_url, mark, outside_link, rows_in_parts, session_url,
};
use lockscope_view::{LockSince, WaitBranch, Waits};

const NAME_CHARS: usize = 40;
const LOCK_CHARS: usize = 44;

/// A session of the tree, known by the sessions above it and itself.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    key: String,
    /// The key of the row above.
    parent: String,
    branch: WaitBranch,
}

/// The rows with their keys; each comes behind the one it waits for.
fn tree_rows(waits: &Waits) -> Vec<Row> {
    let mut above: Vec<String> = Vec::new();
    let row = |branch: &WaitBranch| {
        above.truncate(branch.depth as usize);
        let parent = above.last().cloned().unwrap_or_default();
        let key = format!("{parent}/{} {}", branch.session_id, branch.ensemble);
        above.push(key.clone());
        Row { key, parent, branch: branch.clone() }
    };
    waits.tree.iter().map(row).collect()
}

#[component]
pub(super) fn Tree(waits: Memo<Waits>) -> AnyView {
    let all = Memo::new(move |_| waits.with(tree_rows));
    let more = Memo::new(move |_| waits.with(|waits| waits.roots_left_out));
    let rest = move || {
        (more.get() > 0).then(|| {
            view! { <p class="quiet">{words::other_roots(more.get())}</p> }
        })
    };
    view! {
        <section class="part dims" aria-labelledby="tree-title">
            <h2 class="part-title" id="tree-title">"Who blocks whom, most waiting first"</h2>
            <div class="tree-box" data-testid="tree">{level(all, String::new())}</div>
            {dynamic(rest)}
        </section>
    }
}

/// Those right behind one.
fn level(all: Memo<Vec<Row>>, parent: String) -> AnyView {
    let below = Memo::new(move |_| {
        all.with(|rows| rows.iter().filter(|row| row.parent == parent).cloned().collect::<Vec<Row>>())
    });
    view! { <ul class="tree">{rows_in_parts(below, |row| &row.key, move |item| branch(all, item))}</ul> }
}

fn branch(all: Memo<Vec<Row>>, item: Item<Row>) -> AnyView {
    let key = item.fixed(|row: &Row| row.key.clone());
    // A fold stays as it is while what it says changes: only a session that begins or ends to block is drawn anew.
    // Links stand beside the fold's own line: a control in a control is none to a screen reader.
    let drawn = move |blocks: &bool| {
        let line = view! { <div class="tree-line" data-folds=mark(*blocks)>{item.part(but_counts, who)}</div> };
        let fold = blocks.then(|| {
            view! {
                <details>
                    <summary class="tree-sum">{item.part(Behind::of, behind)}</summary>
                    {level(all, key.clone())}
                    {item.part(|row| row.branch.left_out, left_out)}
                </details>
            }
        });
        view! { {line} {fold} }
    };
    view! {
        <li class="tree-item" data-cycle=item.text(|row| cycle_mark(row.branch.cycle_verdict).map(str::to_owned))>
            {item.part(|row| row.branch.holds.is_some(), drawn)}
        </li>
    }
}

fn name_of(branch: &WaitBranch) -> String {
    branch.label.as_deref().map_or_else(|| branch.session_id.to_string(), visible)
}

/// What of a row changes only when its session waits for or holds something else.
fn but_counts(row: &Row) -> WaitBranch {
    WaitBranch { behind: 0, behind_since_sum_ms: 0, is_lower_bound: false, left_out: 0, ..row.branch.clone() }
}

fn who(branch: &WaitBranch) -> AnyView {
    let name = name_of(branch);
    let url = session_url(&branch.ensemble, branch.session_id);
    let lock = |does: &'static str, of: &LockSince| {
        let href = lock_url(&branch.ensemble, &of.lock);
        view! {
            <span class="tree-does">
                {does}
                {outside_link(Some("mono nowrap"), href, &of.lock, &middle(&visible(&of.lock), LOCK_CHARS))}
                ", "
                <Age since_ms=Some(of.since_ms) least=hold_least(of.is_lower_bound) />
            </span>
        }
    };
    let more = (branch.more_holds > 0).then(|| view! { <span class="quiet">{and_more(branch.more_holds)}</span> });
    view! {
        <span class="tree-who">
            <Tag of=branch.tag.clone() />
            {outside_link(Some("nowrap tree-name"), url, &branch.session_id.to_string(), &middle(&name, NAME_CHARS))}
            {branch.cycle_verdict.map(|verdict| view! { <Chip verdict=verdict /> })}
            {branch.waits.as_ref().map(|waits| lock(words::WAITS_FOR, waits))}
            {branch.holds.as_ref().map(|holds| lock(words::HOLDS, holds))}
            {more}
        </span>
    }
}

/// Those behind a session, summed.
#[derive(Clone, Debug, PartialEq)]
struct Behind {
    name: String,
    sessions: u32,
    since_sum_ms: i64,
    is_lower_bound: bool,
}

impl Behind {
    fn of(row: &Row) -> Self {
        let WaitBranch { behind, behind_since_sum_ms, is_lower_bound, .. } = row.branch;
        Self { name: name_of(&row.branch), sessions: behind, since_sum_ms: behind_since_sum_ms, is_lower_bound }
    }
}

fn behind(of: &Behind) -> AnyView {
    let (sessions, since_sum_ms) = (of.sessions, of.since_sum_ms);
    let live = Live::of_app();
    view! {
        <span class="sr-only">{words::behind(&middle(&of.name, NAME_CHARS))}</span>
        {words::waits(sessions, of.is_lower_bound)}
        {move || words::in_all(sessions, since_sum_ms, live.now_ms())}
        " in all"
    }
}

fn left_out(number: &u32) -> AnyView {
    erase((*number > 0).then(|| view! { <p class="tree-more quiet">{words::left_out(*number)}</p> }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockscope_view::SessionId;

    fn branch(depth: u32, id: i64) -> WaitBranch {
        WaitBranch {
            depth,
            ensemble: String::new(),
            tag: None,
            session_id: SessionId(id),
            label: None,
            waits: None,
            holds: None,
            more_holds: 0,
            behind: 0,
            behind_since_sum_ms: 0,
            is_lower_bound: false,
            left_out: 0,
            cycle_verdict: None,
        }
    }

    #[test]
    fn each_row_is_under_the_one_it_waits_for() {
        let tree = vec![branch(0, 1), branch(1, 2), branch(2, 3), branch(1, 4), branch(0, 5), branch(1, 2)];
        let rows = tree_rows(&Waits { tree, ..Waits::default() });
        let parents: Vec<Option<usize>> =
            rows.iter().map(|row| rows.iter().position(|above| above.key == row.parent)).collect();
        assert_eq!(parents, [None, Some(0), Some(1), Some(0), None, Some(4)]);
        let mut keys: Vec<&str> = rows.iter().map(|row| &*row.key).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), rows.len());
    }
}
