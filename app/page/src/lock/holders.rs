//! Who holds, as far as members tell.

use leptos::prelude::*;

use crate::erase::erase;
use crate::format::plural;
use crate::parts::{Client, ClientCard, Section, holder_name};
use crate::release::ReleaseButton;
use lockscope_wire::{Contender, Liveness, LockHead, Trust};

/// A card for each of the first holders; nothing when nobody holds.
pub(super) fn holders(head: &LockHead) -> Option<AnyView> {
    let row = &head.row;
    if row.holders.is_empty() {
        return None;
    }
    let one = |holder: &Contender| {
        let button = erase(view! { <ReleaseButton node=holder.node.clone() path=holder.path.clone() /> });
        view! { <ClientCard of=Client::of(&row.ensemble, holder_name(holder), holder) button=button /> }
    };
    let cards = row.holders.iter().map(one).collect_view();
    let more = row.holder_count.saturating_sub(row.holders.len() as u32);
    let more = (more > 0).then(|| view! { <p class="quiet">{format!("And {more} more: they are in the table below.")}</p> });
    let why = row.holders.iter().find(|holder| holder.client.is_none()).map(|holder| why_unknown(holder, &head.trust));
    let title = if row.holder_count == 1 { "Holder".to_owned() } else { plural(row.holder_count.into(), "holder", "holders") };
    Some(erase(view! {
        <Section id="holders-title" title=title>
            <div class="dossiers">{cards}</div>
            {more}
            {why}
        </Section>
    }))
}

/// Why nothing is known of a holder's client, and where to look.
fn why_unknown(holder: &Contender, trust: &Trust) -> impl IntoView + use<> {
    let words = format!("{} More on the ", reason(holder, trust));
    view! { <p class="quiet" data-testid="why-unknown">{words}<a href="/status">"status"</a>" page."</p> }
}

fn reason(holder: &Contender, trust: &Trust) -> String {
    match (holder.liveness, holder.session_id) {
        (Liveness::Persistent, _) => "No session owns this znode, so there is no client: it stays until somebody deletes it.".to_owned(),
        (_, None) => "The owner was not read, so the client is not known.".to_owned(),
        _ if trust.members == 0 => "The client is not known: evidence is off, or no member was asked yet.".to_owned(),
        _ if trust.members_heard < trust.members => {
            format!("The client is not known: only {} of {} members tell who is connected.", trust.members_heard, trust.members)
        }
        _ => "The client is not known: no member has listed the session.".to_owned(),
    }
}
