//! A search for deadlocks that was left half way.

use std::collections::BTreeSet;

use crate::wait_graph::Vertex;
use crate::znode::SessionId;

/// The search. Vertices go by their places in `vertices`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchRecollection {
    /// Sessions to begin with, the last first.
    pub starts: Vec<SessionId>,
    /// What was come by.
    pub vertices: Vec<VertexRecollection>,
    /// The way from the start to where the search is: a vertex and how many of its edges were followed.
    pub way: Vec<(u32, u64)>,
    /// Vertices whose component is not known yet, in the order they were found.
    pub open: Vec<u32>,
    /// How many were found.
    pub found: u32,
    /// Sessions of each component of more than one.
    pub components: Vec<Vec<u32>>,
    /// All components are known.
    pub is_sorted: bool,
    /// Session, its edge, the edge of that edge's lock: where the search is within the component that comes next.
    pub circles_at: (u64, u64, u64),
    /// Circles found in that component.
    pub circles_found: u64,
    /// Waits that are in a circle already.
    pub covered: BTreeSet<(u32, u32, u32)>,
}

/// A session or lock that the search came by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VertexRecollection {
    /// Which.
    pub vertex: Vertex,
    /// What it waits for, or who holds it.
    pub edges: Vec<u32>,
    /// When it was found, from 1; 0 while it was not.
    pub order: u32,
    /// The first that can be reached from it.
    pub low: u32,
    /// Its component is not known yet.
    pub is_open: bool,
    /// Which component it is in; 0 while that is not known.
    pub component: u32,
}
