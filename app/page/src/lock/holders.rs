//! Who holds, as far as members tell.

use super::facts::section;
use crate::format::plural;
use crate::html::Html;
use crate::parts::{ClientCard, client_card, holder_name};
use crate::release::release_button;
use lockscope_wire::{Contender, Liveness, LockHead, Trust};

/// A dossier for each of the first holders; nothing when nobody holds.
pub(super) fn holders(head: &LockHead, may_release: bool, now_ms: i64) -> Html {
    let row = &head.row;
    if row.holders.is_empty() {
        return Html::default();
    }
    let one = |holder: &Contender| {
        let button = release_button(holder.node.as_deref(), &holder.path, may_release);
        client_card(&ClientCard { button, ..ClientCard::of(&row.ensemble, holder_name(holder), holder) }, now_ms)
    };
    let cards = Html::tag("div", &[("class", "dossiers")], Html::all(row.holders.iter().map(one).collect()));
    let more = row.holder_count.saturating_sub(row.holders.len() as u32);
    let more =
        if more == 0 { Html::default() } else { Html::of("p", &[("class", "quiet")], &format!("And {} more: they are in the table below.", more)) };
    let why = row.holders.iter().find(|holder| holder.client.is_none()).map(|holder| why_unknown(holder, &head.trust)).unwrap_or_default();
    let title = if row.holder_count == 1 { "Holder".to_owned() } else { plural(row.holder_count.into(), "holder", "holders") };
    section("holders-title", &title, Html::all(vec![cards, more, why]))
}

/// Why nothing is known of a holder's client, and where to look.
fn why_unknown(holder: &Contender, trust: &Trust) -> Html {
    let words = reason(holder, trust);
    let status = Html::of("a", &[("href", "/status")], "status");
    let sentence = vec![Html::text(&format!("{words} More on the ")), status, Html::text(" page.")];
    Html::tag("p", &[("class", "quiet"), ("data-testid", "why-unknown")], Html::all(sentence))
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
