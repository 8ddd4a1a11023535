//! The page on which a second person approves a release.

use crate::erase::view;
use leptos::prelude::*;

use super::{ServerPage, words};
use crate::exact::Exact;
use crate::form_token::form_token;
use crate::format::visible;
use crate::parts::filled;
use crate::release::{Field, consequence, details, subject, victim, warnings};
use lockscope_view::ReleasePlan;

/// The page on which a second person approves a plan. `approved_by`: who has done so; empty for nobody. `error`: why it
/// did not work; empty for nothing.
pub fn approve_page(plain: &ServerPage<'_>, plan: &ReleasePlan, approved_by: &str, error: &str, now_ms: i64) -> String {
    let number = plan.plan_id.clone();
    let form = || {
        view! {
            <form method="post" action="/release/approve">
                {form_token("/release/approve")}
                <input type="hidden" name="plan_id" value=Exact(number) />
                <Field name="reason" label="Remark, for the audit log" hint=Some(words::REMARK_HINT) />
                <div class="release-buttons">
                    <button class="tool danger" type="submit" data-testid="approve">"Approve it"</button>
                </div>
            </form>
        }
    };
    let done = |by: &str| view! { <p class="release-result" data-kind="good" data-testid="approved">{words::approved(by)}</p> };
    super::page(plain, "Approve", "", now_ms, || {
        view! {
            <div class="approve">
                <h1 class="page-title">"Approve this release?"</h1>
                {subject(&plan.path, &plan.lock)}
                {victim(plan)}
                {consequence(plan)}
                {warnings(plan)}
                {filled(error).map(|error| view! { <p class="release-stop" role="alert">{visible(error)}</p> })}
                {if approved_by.is_empty() { form() } else { done(approved_by) }}
                {details(plan)}
            </div>
        }
    })
}
