//! The page of a run that another replica carries out, or may.

use crate::erase::view;
use leptos::prelude::*;

use super::super::{ServerPage, page};
use super::{encoded, run_url, words};
use crate::format::visible;

/// Where a run is that this server does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabElsewhere {
    /// At another replica.
    At {
        /// Its id.
        replica: String,
        /// How replicas reach it.
        address: String,
    },
    /// That is not known; one sentence.
    NotKnown(String),
}

/// The page; `id` is that of a run.
pub fn lab_elsewhere_page(plain: &ServerPage<'_>, id: &str, at: &LabElsewhere) -> String {
    let body = || match at {
        LabElsewhere::At { replica, address } => {
            let there = format!("{}{}", address.trim_end_matches('/'), run_url(id));
            let file = format!("/api/v1/lab/runs/{}", encoded(id));
            view! {
                <p class="lab-lead" data-testid="lab-elsewhere">
                    {words::carried_out_by(&visible(replica))}
                </p>
                <p><a href=there.clone() rel="external">{visible(&there)}</a></p>
                <p><a href=file rel="external">{words::AS_JSON}</a></p>
            }
        }
        LabElsewhere::NotKnown(why) => view! {
            <p class="notice" role="alert" data-testid="lab-error">{visible(why)}</p>
        },
    };
    page(plain, "Lab", "lab", 0, || {
        view! {
            <div class="lab">
                <h1 class="lab-title">{words::ELSEWHERE}</h1>
                {body()}
                <p><a href="/lab">{words::KEPT_HERE}</a></p>
            </div>
        }
    })
}
