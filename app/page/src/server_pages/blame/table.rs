//! Who is charged, as a table; its last rows are what is charged to nobody in particular, and all waiting.

use crate::erase::view;
use leptos::prelude::*;

use super::view::{BlameFigures, BlameLinks, BlameView};
use super::{NAME_CHARS, words};
use crate::format::{count, duration};
use crate::parts::{head, linked, marked, shortened, stamp};
use crate::server_pages::waits::share_bar;
use lockscope_view::past::{BlameBy, BlameRow};

pub(super) fn table(of: &BlameView, figures: &BlameFigures) -> AnyView {
    let heads = words::heads(of.by, figures.has_roots, figures.has_week_before());
    let links = figures.links.iter().cloned().chain(std::iter::repeat(BlameLinks::default()));
    let rows = figures.blame.rows.iter().zip(links).map(|(row, links)| table_row(of.by, figures, row, links));
    let sums =
        words::sums(figures).into_iter().map(|(name, root_ms, direct_ms)| sum(figures, name, root_ms, direct_ms));
    view! {
        // What scrolls must be reachable by keyboard.
        <div class="overflow-x-auto" tabindex="0" role="group" aria-label="Table">
            <table class="table blame-table" data-testid="blame">
                <thead><tr>{heads.iter().map(head).collect_view()}</tr></thead>
                <tbody>{rows.collect_view()}</tbody>
                <tfoot data-testid="blame-sums">{sums.collect_view()}</tfoot>
            </table>
        </div>
    }
}

/// A cell with a number; its name stands beside it where the table has no head.
fn number(name: &'static str, text: String) -> AnyView {
    view! { <td class="table-number" data-name=name>{text}</td> }
}

fn table_row(by: BlameBy, figures: &BlameFigures, row: &BlameRow, links: BlameLinks) -> AnyView {
    let root = figures.has_roots.then(|| number(words::IN_THE_END, duration(figures.charged(row))));
    let before = figures.has_week_before().then(|| {
        let is_whole = figures.blame.week_before_part.is_some_and(|part| part >= 1.0);
        number(words::WEEK_BEFORE, words::trend(figures.charged(row), row.charged_week_before_ms, is_whole))
    });
    let victims = if figures.blame.is_lower_bound { words::at_least(row.victims) } else { count(row.victims) };
    let worst = linked(links.worst, stamp(row.worst_at_ms));
    // By lock it is the row's own.
    let lock = (by != BlameBy::Lock)
        .then(|| view! { <div class="quiet blame-lock">{shortened(&row.worst_lock, NAME_CHARS)}</div> });
    view! {
        <tr>
            <th scope="row">{linked(links.key, shortened(&row.key, NAME_CHARS))}</th>
            {root}
            {number(words::AS_HOLDER, duration(row.charged_ms))}
            <td class="table-number" data-name=words::SHARE>{words::percent(row.share)}{share_bar(row.share, "blame-bar-part")}</td>
            {before}
            {number(words::HOLDS, count(row.holds))}
            {number(words::HOLD_TIMES, words::hold_times(row.hold_ms.as_ref()))}
            {number(words::VICTIMS, victims)}
            <td data-name=words::WORST>{worst}{lock}</td>
        </tr>
    }
}

/// What is not in the rows; together with them it makes all waiting.
fn sum(figures: &BlameFigures, name: &'static str, root_ms: i64, direct_ms: i64) -> AnyView {
    let root = figures.has_roots.then(|| number(words::IN_THE_END, duration(root_ms)));
    view! {
        <tr>
            <th scope="row">{marked(name)}</th>
            {root}
            {number(words::AS_HOLDER, duration(direct_ms))}
            <td class="blame-rest" colspan=if figures.has_week_before() { "6" } else { "5" }></td>
        </tr>
    }
}
