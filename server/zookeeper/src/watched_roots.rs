//! The roots of a session with their watchers. Each says for itself that it has events, and only those that something
//! happened to are asked for requests: with a thousand roots, an event costs what it costs with one.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::{Context, Poll, Wake, Waker};

use futures_util::task::AtomicWaker;
use zookeeper_client::PersistentWatcher;

use super::outbox::Outbox;
use super::root::RootWatch;
use super::translate::{WatcherEvent, heard};

#[derive(Debug)]
pub(super) struct WatchedRoots {
    roots: Vec<Root>,
    /// Roots that something happened to since they last had nothing to ask for, and those that have no watch yet:
    /// indices, each once.
    active: VecDeque<usize>,
    /// Indices of roots whose watcher has events.
    woken: Receiver<usize>,
    task: Arc<AtomicWaker>,
}

#[derive(Debug)]
struct Root {
    watch: RootWatch,
    watcher: Option<PersistentWatcher>,
    waker: Waker,
    is_active: bool,
}

struct RootWaker {
    index: usize,
    woken: Sender<usize>,
    task: Arc<AtomicWaker>,
}

impl Wake for RootWaker {
    fn wake(self: Arc<Self>) {
        // Without a receiver nobody waits any more.
        let _ = self.woken.send(self.index);
        self.task.wake();
    }
}

impl WatchedRoots {
    pub(super) fn new(watches: impl IntoIterator<Item = RootWatch>) -> Self {
        let (sender, woken) = channel();
        let task = Arc::new(AtomicWaker::new());
        let root = |(index, watch)| {
            let waker = RootWaker { index, woken: sender.clone(), task: Arc::clone(&task) };
            Root { watch, watcher: None, waker: Arc::new(waker).into(), is_active: true }
        };
        let roots: Vec<Root> = watches.into_iter().enumerate().map(root).collect();
        Self { active: (0..roots.len()).collect(), roots, woken, task }
    }

    /// One root, which may have something to ask for afterwards.
    pub(super) fn root(&mut self, index: usize) -> Option<&mut RootWatch> {
        let root = self.roots.get_mut(index)?;
        if !std::mem::replace(&mut root.is_active, true) {
            self.active.push_back(index);
        }
        Some(&mut root.watch)
    }

    /// All of them, in order.
    pub(super) fn each(&mut self, mut change: impl FnMut(&mut RootWatch)) {
        for index in 0..self.roots.len() {
            self.root(index).into_iter().for_each(&mut change);
        }
    }

    /// Those that may have something to ask for, with their indices.
    pub(super) fn each_active(&mut self, mut look: impl FnMut(usize, &mut RootWatch)) {
        for index in &self.active {
            if let Some(root) = self.roots.get_mut(*index) {
                look(*index, &mut root.watch);
            }
        }
    }

    /// How many may have something to ask for.
    pub(super) fn active(&self) -> usize {
        self.active.len()
    }

    /// The one of them whose turn it is.
    pub(super) fn first_active(&mut self) -> Option<(usize, &mut RootWatch)> {
        let index = *self.active.front()?;
        self.roots.get_mut(index).map(|root| (index, &mut root.watch))
    }

    /// The first had its turn: a big root does not starve the others.
    pub(super) fn end_turn(&mut self) {
        self.active.rotate_left(1.min(self.active.len()));
    }

    /// The first had nothing to ask for. True when it rests until something happens to it.
    pub(super) fn rest(&mut self) -> bool {
        let Some(root) = self.active.front().and_then(|index| self.roots.get_mut(*index)) else { return false };
        let rests = !root.watch.waits_to_read() && !root.watch.is_unwatched_yet();
        if rests {
            root.is_active = false;
            self.active.pop_front();
        } else {
            self.end_turn();
        }
        rests
    }

    /// Every root has its watch.
    pub(super) fn is_watched(&self) -> bool {
        !self.active.iter().filter_map(|index| self.roots.get(*index)).any(|root| root.watch.is_unwatched_yet())
    }

    /// A root got a new watcher. It is in place before the old one goes, so no watch is removed at the server.
    pub(super) fn set_watcher(&mut self, index: usize, watcher: PersistentWatcher) {
        if let Some(root) = self.roots.get_mut(index) {
            root.watcher = Some(watcher);
            // It may have events already; and it knows only now whom to wake.
            root.waker.wake_by_ref();
        }
    }

    /// The session is over: its watchers would panic.
    pub(super) fn drop_watchers(&mut self) {
        self.roots.iter_mut().for_each(|root| root.watcher = None);
    }

    /// Hands over all events that are there. True when there was one.
    pub(super) fn drain(&mut self, out: &mut Outbox) -> bool {
        let mut any = false;
        while let Ok(index) = self.woken.try_recv() {
            while let Some(event) = self.next_event(index) {
                any = true;
                if let WatcherEvent::Node(event) = event
                    && let Some(watch) = self.root(index)
                {
                    watch.event(event, out);
                    out.heard();
                }
            }
        }
        any
    }

    /// Waits until there are events, and hands them over.
    pub(super) async fn events(&mut self, out: &mut Outbox) {
        poll_fn(|context| {
            self.task.register(context.waker());
            if self.drain(out) { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    /// One event of a root, when there is one; when there is none, its watcher wakes us for the next.
    fn next_event(&mut self, index: usize) -> Option<WatcherEvent> {
        let root = self.roots.get_mut(index)?;
        let watcher = root.watcher.as_mut()?;
        let event = match pin!(watcher.changed()).poll(&mut Context::from_waker(&root.waker)) {
            Poll::Ready(event) => heard(event),
            Poll::Pending => return None,
        };
        if matches!(event, WatcherEvent::Terminal) {
            // Asking it again would panic.
            root.watcher = None;
        }
        Some(event)
    }
}
