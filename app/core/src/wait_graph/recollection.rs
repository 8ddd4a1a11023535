//! A search under way as plain values, and back.

use super::{Circles, Entry, Search};
use crate::recollection::{SearchRecollection, VertexRecollection};

impl Search {
    /// As plain values.
    pub(crate) fn recall(&self) -> SearchRecollection {
        let Self { starts, ids: _, entries, way, open, found, components, is_sorted, circles } = self;
        let Circles { at: (session, edge, holder), found: circles_found, covered } = circles;
        SearchRecollection {
            starts: starts.clone(),
            vertices: entries.iter().map(recall_vertex).collect(),
            way: way.iter().map(|(vertex, followed)| (*vertex, *followed as u64)).collect(),
            open: open.clone(),
            found: *found,
            components: components.clone(),
            is_sorted: *is_sorted,
            circles_at: (*session as u64, *edge as u64, *holder as u64),
            circles_found: *circles_found as u64,
            covered: covered.clone(),
        }
    }

    /// What plain values say.
    pub(crate) fn from_recollection(recalled: SearchRecollection) -> Self {
        let SearchRecollection {
            starts,
            vertices,
            way,
            open,
            found,
            components,
            is_sorted,
            circles_at: (session, edge, holder),
            circles_found,
            covered,
        } = recalled;
        let entries: Vec<Entry> = vertices.into_iter().map(take_vertex).collect();
        Self {
            starts,
            ids: (0..).zip(&entries).map(|(id, entry)| (entry.vertex.clone(), id)).collect(),
            entries,
            way: way.into_iter().map(|(vertex, followed)| (vertex, place(followed))).collect(),
            open,
            found,
            components,
            is_sorted,
            circles: Circles { at: (place(session), place(edge), place(holder)), found: place(circles_found), covered },
        }
    }
}

fn recall_vertex(entry: &Entry) -> VertexRecollection {
    let Entry { vertex, edges, order, low, is_open, component } = entry;
    VertexRecollection {
        vertex: vertex.clone(),
        edges: edges.clone(),
        order: *order,
        low: *low,
        is_open: *is_open,
        component: *component,
    }
}

fn take_vertex(recalled: VertexRecollection) -> Entry {
    let VertexRecollection { vertex, edges, order, low, is_open, component } = recalled;
    Entry { vertex, edges, order, low, is_open, component }
}

fn place(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
