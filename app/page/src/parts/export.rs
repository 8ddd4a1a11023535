//! A list as a file, by plain links to the API: for a spreadsheet, for a script.

use leptos::prelude::*;

use crate::address::with_parameter;
use crate::erase::view;

/// Rows of one answer at most, as the API has it.
const ROWS: u32 = lockscope_view::WINDOW_ROWS_MAX;

/// The menu. `address`: of the list in the API, without a format.
pub(crate) fn export(address: impl Fn() -> String + Copy + Send + Sync + 'static) -> AnyView {
    let link =
        move |format: &str| with_parameter(&format!("/api/v1{}", address()), &format!("limit={ROWS}&format={format}"));
    view! {
        <details class="menu" data-testid="export">
            <summary class="tool">"Export"</summary>
            <div class="menu-list menu-start export-list">
                <a class="tool" href=move || link("csv") rel="external" download>"CSV"</a>
                <a class="tool" href=move || link("json") rel="external" target="_blank">"JSON"</a>
            </div>
        </details>
    }
}
