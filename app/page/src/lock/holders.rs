//! The holders, as far as members report them.

use leptos::prelude::*;

use super::words;
use crate::erase::{dynamic, erase, view};
use crate::parts::{Client, ClientCard, Keyed, Section, holder_name, part, rows};
use crate::release::ReleaseButton;
use lockscope_view::{Contender, LockHead};

/// Holders, known by their znodes and sessions.
fn cards(head: &LockHead) -> Vec<Keyed<Contender>> {
    let card = |holder: &Contender| {
        let key = format!("{} {:?}", holder.path, holder.session_id);
        Keyed { key, ensemble: head.row.ensemble.clone(), item: holder.clone() }
    };
    head.row.holders.iter().map(card).collect()
}

fn card(Keyed { ensemble, item: holder, .. }: Keyed<Contender>) -> AnyView {
    let button = view! { <ReleaseButton node=holder.node.clone() path=holder.path.clone() /> };
    view! { <ClientCard of=Client::of(&ensemble, holder_name(&holder), &holder) button=button /> }
}

/// A card for each of the first holders; nothing when nobody holds.
#[component]
pub(super) fn Holders(head: Memo<Option<LockHead>>) -> AnyView {
    let shown = Memo::new(move |_| head.with(|head| head.as_ref().map(cards).unwrap_or_default()));
    let is_held = Memo::new(move |_| shown.with(|cards| !cards.is_empty()));
    let number = Memo::new(move |_| head.with(|head| head.as_ref().map_or(0, |head| head.row.holder_count)));
    let title = Signal::derive(move || words::holders(number.get()));
    dynamic(move || {
        is_held.get().then(|| {
            view! {
                <Section id="holders-title" title=title>
                    <div class="dossiers">{rows(shown, |card| &card.key, card)}</div>
                    {part(head, |head| head.row.holder_count.saturating_sub(head.row.holders.len() as u32), |more| erase(others(*more)))}
                    {part(head, why_unknown, |why| erase(why.as_deref().map(unknown)))}
                </Section>
            }
        })
    })
}

fn others(more: u32) -> Option<AnyView> {
    (more > 0).then(|| view! { <p class="quiet">{words::other_holders(more)}</p> })
}

/// Why nothing is known of the first holder without a client.
fn why_unknown(head: &LockHead) -> Option<String> {
    let holder = head.row.holders.iter().find(|holder| holder.client.is_none())?;
    Some(words::reason(holder, &head.trust))
}

fn unknown(reason: &str) -> AnyView {
    view! { <p class="quiet" data-testid="why-unknown">{words::reason_and_way(reason)}<a href="/status">"status"</a>" page."</p> }
}
