//! The elements of rows in the browser's document.

use std::sync::Arc;

use leptos::html::Div;
use leptos::prelude::*;

use crate::erase::effect;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Element, HtmlElement, HtmlTemplateElement, Node};

use super::super::rows::keep_focus;
use super::{Lane, RowMarkup, markup};
use crate::live::Places;

/// Keeps a lane's element at what the lane is. `first` is what it was made with, `drawn` is run each time it was drawn.
pub(super) fn follow(element: NodeRef<Div>, first: Lane, lane: Memo<Lane>, places: Places, drawn: impl Fn() + 'static) {
    let list = StoredValue::new_local(List::default());
    let first = StoredValue::new(Some(first.rows));
    effect(move || {
        let Some(element) = element.get() else { return };
        list.update_value(|list| {
            if let Some(first) = first.try_update_value(Option::take).flatten() {
                list.take_over(&element, first);
            }
            lane.with(|lane| {
                // Elements and markup of ours: nothing of it can fail.
                let _ = list.draw(&element, &lane.rows);
                move_to(&element, &mut list.moved_up, places.style(-lane.moved_up));
            });
            for drawn in &mut list.drawn {
                move_to(&drawn.element, &mut drawn.style, places.style(drawn.row.at));
            }
        });
        drawn();
    });
}

/// Sets a style where it is another one.
fn move_to(element: &HtmlElement, was: &mut Option<String>, style: Option<String>) {
    if *was != style {
        element.style().set_css_text(style.as_deref().unwrap_or_default());
        *was = style;
    }
}

struct Drawn {
    row: Arc<RowMarkup>,
    element: HtmlElement,
    style: Option<String>,
}

impl Drawn {
    fn new(row: Arc<RowMarkup>, element: HtmlElement) -> Self {
        Self { row, element, style: None }
    }

    fn become_row(&mut self, row: &Arc<RowMarkup>, draft: &HtmlTemplateElement) -> Result<(), JsValue> {
        if row.index != self.row.index {
            self.element.set_attribute("aria-rowindex", &row.row_index())?;
        }
        for ((name, value), (_, was)) in row.attributes.iter().zip(self.row.attributes.iter()) {
            match value {
                _ if value == was => {}
                Some(value) => self.element.set_attribute(name, value)?,
                None => self.element.remove_attribute(name)?,
            }
        }
        for (at, (cell, was)) in (0..).zip(row.cells.iter().zip(&self.row.cells)) {
            if cell == was {
            } else if let Some(text) = text_that_differs(was.as_str(), cell.as_str()) {
                let cell = self.element.children().item(at);
                // Whatever is in it by now: a browser that translates puts elements of its own there.
                cell.into_iter().for_each(|cell| cell.set_text_content(Some(text)));
            } else {
                draft.set_inner_html(cell.as_str());
                let fresh = draft.content().first_element_child();
                if let Some((cell, fresh)) = self.element.children().item(at).zip(fresh) {
                    become_element(&cell, &fresh)?;
                }
            }
        }
        self.row = row.clone();
        Ok(())
    }
}

#[derive(Default)]
struct List {
    drawn: Vec<Drawn>,
    moved_up: Option<String>,
    /// What differs is made of text in here.
    draft: Option<HtmlTemplateElement>,
}

impl List {
    fn take_over(&mut self, lane: &HtmlElement, rows: Vec<Arc<RowMarkup>>) {
        let children = lane.children();
        if children.length() as usize != rows.len() {
            // Not what was asked for: it is made anew.
            lane.set_inner_html(&markup(&rows));
        }
        let elements = (0..).map_while(|at| children.item(at)).map(JsCast::unchecked_into);
        self.drawn = rows.into_iter().zip(elements).map(|(row, element)| Drawn::new(row, element)).collect();
    }

    fn draw(&mut self, lane: &HtmlElement, rows: &[Arc<RowMarkup>]) -> Result<(), JsValue> {
        let draft = match &self.draft {
            Some(draft) => draft.clone(),
            None => self.draft.insert(document().create_element("template")?.unchecked_into()).clone(),
        };
        let mut before = std::mem::take(&mut self.drawn);
        let mut stay: Vec<Option<Drawn>> = Vec::with_capacity(rows.len());
        for row in rows {
            let found = before.iter().position(|drawn| drawn.row.key == row.key);
            let mut drawn = found.map(|at| before.remove(at));
            if let Some(drawn) = drawn.as_mut().filter(|drawn| drawn.row != *row) {
                drawn.become_row(row, &draft)?;
            }
            stay.push(drawn);
        }
        if stay.iter().all(Option::is_none) {
            lane.set_inner_html(&markup(rows));
            self.take_over(lane, rows.to_vec());
            return Ok(());
        }
        before.iter().for_each(|gone| gone.element.remove());

        let mut next = lane.first_element_child();
        let (mut stay, mut rest) = (stay.into_iter().peekable(), rows);
        while let Some(drawn) = stay.next() {
            let mut new = 1;
            if let Some(drawn) = drawn {
                let element: &Element = &drawn.element;
                if next.as_ref() == Some(element) {
                    next = element.next_element_sibling();
                } else {
                    keep_focus();
                    lane.insert_before(element, next.as_deref())?;
                }
                self.drawn.push(drawn);
            } else {
                // All that come one after the other, at once.
                while stay.next_if(Option::is_none).is_some() {
                    new += 1;
                }
                let rows = rest.get(..new).unwrap_or_default();
                self.drawn.extend(insert(lane, next.as_ref(), rows)?);
            }
            rest = rest.get(new..).unwrap_or_default();
        }
        Ok(())
    }
}

/// Makes elements of rows, before one that is there or behind all.
fn insert(lane: &HtmlElement, next: Option<&Element>, rows: &[Arc<RowMarkup>]) -> Result<Vec<Drawn>, JsValue> {
    let html = markup(rows);
    match next {
        Some(next) => next.insert_adjacent_html("beforebegin", &html)?,
        None => lane.insert_adjacent_html("beforeend", &html)?,
    }
    let last = || next.map_or_else(|| lane.last_element_child(), Element::previous_element_sibling);
    let back = std::iter::successors(last(), Element::previous_element_sibling);
    let mut made: Vec<Drawn> =
        rows.iter().rev().zip(back).map(|(row, element)| Drawn::new(row.clone(), element.unchecked_into())).collect();
    made.reverse();
    Ok(made)
}

/// The second one's text, where both elements have nothing but a text in them that needs no escape, and differ in nothing else.
fn text_that_differs<'a>(one: &str, other: &'a str) -> Option<&'a str> {
    let ((one, one_text), (other, other_text)) = (opened(one)?, opened(other)?);
    (one == other && !one_text.is_empty() && !other_text.is_empty()).then_some(other_text)
}

/// An element's tag, and the text in it.
fn opened(element: &str) -> Option<(&str, &str)> {
    let (tag, inner) = element.split_once('>')?;
    let (text, end) = inner.split_once('<')?;
    (end.starts_with('/') && !end.contains('<') && !text.contains('&')).then_some((tag, text))
}

/// Makes an element what another one is: what is the same in both stays, and with it the focus.
fn become_element(old: &Element, fresh: &Element) -> Result<(), JsValue> {
    for name in old.get_attribute_names().iter().filter_map(|name| name.as_string()) {
        if !fresh.has_attribute(&name) {
            old.remove_attribute(&name)?;
        }
    }
    for name in fresh.get_attribute_names().iter().filter_map(|name| name.as_string()) {
        let value = fresh.get_attribute(&name).unwrap_or_default();
        if old.get_attribute(&name).as_ref() != Some(&value) {
            old.set_attribute(&name, &value)?;
        }
    }
    let (mut child, mut model) = (old.first_child(), fresh.first_child());
    while let Some(fresh) = model {
        model = fresh.next_sibling();
        match child {
            Some(node) => {
                child = node.next_sibling();
                become_node(old, &node, &fresh)?;
            }
            None => _ = old.append_child(&fresh)?,
        }
    }
    while let Some(node) = child {
        child = node.next_sibling();
        old.remove_child(&node)?;
    }
    Ok(())
}

fn become_node(parent: &Element, old: &Node, fresh: &Node) -> Result<(), JsValue> {
    if old.node_name() != fresh.node_name() {
        parent.replace_child(fresh, old)?;
        return Ok(());
    }
    match (old.dyn_ref::<Element>(), fresh.dyn_ref::<Element>()) {
        (Some(old), Some(fresh)) => become_element(old, fresh),
        _ => {
            if old.node_value() != fresh.node_value() {
                old.set_node_value(fresh.node_value().as_deref());
            }
            Ok(())
        }
    }
}
