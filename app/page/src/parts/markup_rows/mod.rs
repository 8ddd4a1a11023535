//! Rows of a long list, made as text: whoever scrolls through thousands has some dozens made at once. What stays keeps its
//! elements, and with them focus and selection, wherever it moves.

#[cfg(feature = "hydrate")]
mod ages;
#[cfg(feature = "hydrate")]
mod elements;

use std::sync::Arc;

use leptos::html::Div;
use leptos::prelude::*;

use super::markup::{Markup, Piece};
use crate::erase::view;
use crate::live::Places;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RowMarkup {
    pub(crate) key: Arc<str>,
    /// Where it stands in its lane, in rows.
    pub(crate) at: i64,
    /// Its index in the whole list.
    pub(crate) index: u32,
    pub(crate) attributes: Arc<Vec<(&'static str, Option<String>)>>,
    /// An element each; as many in all rows of a list.
    pub(crate) cells: Vec<Arc<Markup>>,
}

impl RowMarkup {
    /// The first row is the head.
    fn row_index(&self) -> String {
        (self.index + 2).to_string()
    }

    fn add_to(&self, made: &mut Markup) {
        made.add(&Piece::Html("<div role=\"row\""));
        self.attributes.iter().for_each(|(name, value)| made.add(&Piece::Attribute(name, value.as_deref())));
        made.add(&Piece::Attribute("aria-rowindex", Some(&self.row_index())));
        made.add(&Piece::Html(">"));
        self.cells.iter().for_each(|cell| made.add(&Piece::Markup(cell)));
        made.add(&Piece::Html("</div>"));
    }
}

/// Rows that are drawn, in an element of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lane {
    /// By how many rows all of them are moved up.
    pub(crate) moved_up: i64,
    pub(crate) rows: Vec<Arc<RowMarkup>>,
}

fn markup(rows: &[Arc<RowMarkup>]) -> String {
    let mut made = Markup::default();
    rows.iter().for_each(|row| row.add_to(&mut made));
    made.into_string()
}

pub(crate) fn markup_rows(lane: Memo<Lane>, places: Places) -> AnyView {
    let element = NodeRef::<Div>::new();
    let first = lane.get_untracked();
    let html = markup(&first.rows);
    #[cfg(feature = "hydrate")]
    {
        let move_ages = ages::follow(element);
        elements::follow(element, first, lane, places, move_ages);
    }
    #[cfg(not(feature = "hydrate"))]
    let _ = places;
    view! { <div class="lane" role="presentation" node_ref=element inner_html=html></div> }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_follow_each_other_and_no_key_becomes_markup() {
        let row = |key: &str| {
            Arc::new(RowMarkup {
                key: key.into(),
                at: 0,
                index: 7,
                attributes: Arc::new(vec![("data-key", Some(key.to_owned())), ("data-away", None)]),
                cells: vec![Arc::new(Markup::fill("<b>{}</b>", &[Piece::Text(key)])), Arc::default()],
            })
        };
        assert_eq!(
            markup(&[row("a"), row("\"><p>")]),
            "<div role=\"row\" data-key=\"a\" aria-rowindex=\"9\"><b>a</b></div>\
             <div role=\"row\" data-key=\"&quot;&gt;&lt;p&gt;\" aria-rowindex=\"9\"><b>&quot;&gt;&lt;p&gt;</b></div>"
        );
    }
}
