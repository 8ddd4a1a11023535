//! Views in an order of their own, by a number each: one is drawn when it comes, and moved only where it does not stand in
//! its order already. What is moved loses the focus, and a browser takes what is moved for new.

use std::sync::Arc;

use leptos::prelude::*;
use leptos::reactive::owner::Owner;
use leptos::tachys::html::attribute::Attribute;
use leptos::tachys::html::attribute::any_attribute::AnyAttribute;
use leptos::tachys::hydration::Cursor;
use leptos::tachys::reactive_graph::OwnedView;
use leptos::tachys::renderer::types::{Element, Node, Placeholder};
use leptos::tachys::renderer::{CastFrom, Rndr};
use leptos::tachys::ssr::StreamBuilder;
use leptos::tachys::view::add_attr::AddAnyAttr;
use leptos::tachys::view::{Mountable, Position, PositionState, Render, RenderHtml};

/// A view with what belongs to it alone.
type Owned = OwnedView<AnyView>;
type OwnedState = <Owned as Render>::State;

/// How the view of a number is drawn.
#[derive(Clone)]
pub(super) struct Draw {
    /// Whose views they are: what is drawn lasts as long as they do, whatever draws it.
    owner: Owner,
    draw: Arc<dyn Fn(u32) -> AnyView + Send + Sync>,
}

impl Draw {
    /// For views of the calling component.
    pub(super) fn new(draw: impl Fn(u32) -> AnyView + Send + Sync + 'static) -> Self {
        Self { owner: Owner::current().unwrap_or_else(Owner::new), draw: Arc::new(draw) }
    }

    fn one(&self, id: u32) -> Owned {
        let owner = self.owner.with(Owner::new);
        let view = owner.with(|| (self.draw)(id));
        OwnedView::new_with_owner(view, owner)
    }
}

/// The views of these numbers, in this order.
pub(super) struct Ordered {
    ids: Vec<u32>,
    draw: Draw,
    /// What a server renders is drawn at once.
    drawn: Vec<Owned>,
}

impl Ordered {
    pub(super) fn new(ids: Vec<u32>, draw: Draw) -> Self {
        let drawn = if cfg!(feature = "ssr") { ids.iter().map(|id| draw.one(*id)).collect() } else { Vec::new() };
        Self { ids, draw, drawn }
    }

    fn views(self) -> Vec<Owned> {
        if cfg!(feature = "ssr") { self.drawn } else { self.ids.iter().map(|id| self.draw.one(*id)).collect() }
    }
}

/// Which of `next` stay where they are in the document, as many as can: those whose order is that of `before`, where all of
/// the document's are.
fn staying(before: &[u32], next: &[u32]) -> Vec<u32> {
    let known = |id: &u32| before.iter().position(|other| other == id).map(|at| (at, *id));
    let known: Vec<(usize, u32)> = next.iter().filter_map(known).collect();
    if known.is_sorted() {
        return known.into_iter().map(|(_, id)| id).collect();
    }
    // The longest rising row of places: the last of the best row of each length, and whom each follows.
    let mut ends: Vec<usize> = Vec::new();
    let mut follows: Vec<Option<usize>> = Vec::with_capacity(known.len());
    for (at, (place, _)) in known.iter().enumerate() {
        let length = ends.partition_point(|end| known[*end].0 < *place);
        follows.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        if length == ends.len() {
            ends.push(at);
        } else {
            ends[length] = at;
        }
    }
    std::iter::successors(ends.last().copied(), |at| follows[*at]).map(|at| known[at].1).collect()
}

/// What is drawn.
pub(super) struct OrderedState {
    parent: Option<Element>,
    marker: Placeholder,
    /// In the document's order.
    views: Vec<(u32, OwnedState)>,
}

impl OrderedState {
    fn put(&self, next: &[(u32, OwnedState)], view: &mut OwnedState) {
        // Without a parent it is not in the document yet.
        let Some(parent) = &self.parent else { return };
        let marker = Some(self.marker.as_ref());
        match next.last() {
            Some((_, after)) => after.insert_before_this_or_marker(parent, view, marker),
            None => view.mount(parent, marker),
        }
    }
}

impl Render for Ordered {
    type State = OrderedState;

    fn build(self) -> OrderedState {
        let ids = self.ids.clone();
        let views = ids.into_iter().zip(self.views().into_iter().map(Render::build)).collect();
        OrderedState { parent: None, marker: Rndr::create_placeholder(), views }
    }

    fn rebuild(self, state: &mut OrderedState) {
        let mut left = std::mem::take(&mut state.views);
        left.retain_mut(|(id, view)| {
            let stays = self.ids.contains(id);
            if !stays {
                view.unmount();
            }
            stays
        });
        let before: Vec<u32> = left.iter().map(|(id, _)| *id).collect();
        let staying = staying(&before, &self.ids);
        let mut next = Vec::with_capacity(self.ids.len());
        for id in self.ids.iter().rev() {
            let view = match left.iter().rposition(|(other, _)| other == id) {
                Some(at) => {
                    let (_, mut view) = left.remove(at);
                    if !staying.contains(id) {
                        state.put(&next, &mut view);
                    }
                    view
                }
                None => {
                    let mut view = self.draw.one(*id).build();
                    state.put(&next, &mut view);
                    view
                }
            };
            next.push((*id, view));
        }
        next.reverse();
        state.views = next;
    }
}

impl AddAnyAttr for Ordered {
    type Output<SomeNewAttr: Attribute> = Self;

    /// There is no element of its own to have it.
    fn add_any_attr<NewAttr: Attribute>(self, _: NewAttr) -> Self {
        self
    }
}

impl RenderHtml for Ordered {
    type AsyncOutput = Vec<<Owned as RenderHtml>::AsyncOutput>;
    type Owned = Self;

    const MIN_LENGTH: usize = 0;

    fn dry_resolve(&mut self) {
        self.drawn.iter_mut().for_each(RenderHtml::dry_resolve);
    }

    async fn resolve(self) -> Self::AsyncOutput {
        let mut resolved = Vec::with_capacity(self.ids.len());
        for view in self.views() {
            resolved.push(view.resolve().await);
        }
        resolved
    }

    fn to_html_with_buf(
        self,
        buf: &mut String,
        position: &mut Position,
        escape: bool,
        mark_branches: bool,
        extra_attrs: Vec<AnyAttribute>,
    ) {
        for view in self.views() {
            view.to_html_with_buf(buf, position, escape, mark_branches, extra_attrs.clone());
            *position = Position::NextChild;
        }
        buf.push_str("<!>");
    }

    fn to_html_async_with_buf<const OUT_OF_ORDER: bool>(
        self,
        buf: &mut StreamBuilder,
        position: &mut Position,
        escape: bool,
        mark_branches: bool,
        extra_attrs: Vec<AnyAttribute>,
    ) {
        for view in self.views() {
            view.to_html_async_with_buf::<OUT_OF_ORDER>(buf, position, escape, mark_branches, extra_attrs.clone());
            *position = Position::NextChild;
        }
        buf.push_sync("<!>");
    }

    fn hydrate<const FROM_SERVER: bool>(self, cursor: &Cursor, position: &PositionState) -> OrderedState {
        let current = cursor.current();
        let parent = if position.get() == Position::FirstChild { Some(current) } else { Rndr::get_parent(&current) };
        let ids = self.ids.clone();
        // All are drawn before the first is taken over, as the server did.
        let views = self.views();
        let views =
            ids.into_iter().zip(views.into_iter().map(|view| view.hydrate::<FROM_SERVER>(cursor, position))).collect();
        let marker = cursor.next_placeholder(position);
        position.set(Position::NextChild);
        OrderedState { parent: parent.and_then(Element::cast_from), marker, views }
    }

    async fn hydrate_async(self, cursor: &Cursor, position: &PositionState) -> OrderedState {
        self.hydrate::<true>(cursor, position)
    }

    fn into_owned(self) -> Self {
        self
    }
}

impl Mountable for OrderedState {
    fn unmount(&mut self) {
        self.views.iter_mut().for_each(|(_, view)| view.unmount());
        self.marker.unmount();
    }

    fn mount(&mut self, parent: &Element, marker: Option<&Node>) {
        self.parent = Some(parent.clone());
        self.views.iter_mut().for_each(|(_, view)| view.mount(parent, marker));
        self.marker.mount(parent, marker);
    }

    fn insert_before_this(&self, child: &mut dyn Mountable) -> bool {
        match self.views.first() {
            Some((_, view)) => view.insert_before_this(child),
            None => self.marker.insert_before_this(child),
        }
    }

    fn elements(&self) -> Vec<Element> {
        self.views.iter().flat_map(|(_, view)| view.elements()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved(before: &[u32], next: &[u32]) -> usize {
        let staying = staying(before, next);
        before.iter().filter(|id| next.contains(id) && !staying.contains(id)).count()
    }

    #[test]
    fn only_whoever_changes_its_place_is_moved() {
        assert_eq!(moved(&[7, 8, 9, 10], &[7, 8, 9, 10]), 0);
        assert_eq!(moved(&[7, 8, 9, 10], &[8, 9, 10, 7]), 1);
        assert_eq!(moved(&[7, 8, 9, 10], &[10, 7, 8, 9]), 1);
        assert_eq!(moved(&[7, 8, 9, 10], &[8, 11, 10, 12]), 0);
        assert_eq!(moved(&[1, 2, 3, 4], &[4, 3, 2, 1]), 3);
        assert_eq!(moved(&[1, 2, 3, 4, 5], &[5, 2, 3, 6, 4, 1]), 2);
        assert_eq!(moved(&[], &[1, 2]), 0);
    }
}
