//! A view over two owners, one of which is lost, without any socket.

use super::*;
use crate::directory::{Directory, Foreign, OwnerAddress};
use crate::link::{Bell, VIEWS_MAX};
use feed::ReplicaFrame;
use lockscope_wire::{AsOf, Board, BoardHead, BoardQuery, Body, CompactFrame, Epoch, LockQuery, RootState, Window};
use runtime::clock::Clock;

struct House {
    owners: Vec<(OwnerAddress, Arc<Link>)>,
    directory: Arc<Directory>,
    all: Composites,
    revision: u64,
}

impl House {
    /// Ensembles by name, with the ids of their owners.
    fn new(foreign: &[(&str, &[&str])]) -> Self {
        let owner = |id: &&str| OwnerAddress { id: (*id).to_owned(), address: format!("http://{id}") };
        let of = |(name, ids): &(&str, &[&str])| Foreign {
            name: (*name).to_owned(),
            color: None,
            connect: String::new(),
            labels: Default::default(),
            owners: ids.iter().map(owner).collect(),
        };
        let directory = Directory { foreign: foreign.iter().map(of).collect(), why: String::new() };
        let bell: Arc<Bell> = Arc::default();
        let mut owners: Vec<OwnerAddress> = directory.foreign.iter().flat_map(|one| one.owners.clone()).collect();
        owners.sort();
        owners.dedup();
        let link = |owner: OwnerAddress| (owner.clone(), Link::new(owner, Clock::system(), bell.clone()));
        let owners = owners.into_iter().map(link).collect();
        Self { owners, directory: Arc::new(directory), all: Composites::default(), revision: 0 }
    }

    fn link(&self, id: &str) -> &Arc<Link> {
        self.owners.iter().find(|(owner, _)| owner.id == id).map(|(_, link)| link).unwrap()
    }

    fn plan(&mut self) -> Plan {
        self.revision += 1;
        Plan::new(self.revision, self.directory.clone(), &self.owners.iter().cloned().collect())
    }

    fn parts(&self, plan: &Plan, view: &View) -> Arc<[Part]> {
        self.all.parts(plan, (view, &VisibilityScope::ALL), false, || view.clone()).unwrap()
    }
}

fn board_view() -> View {
    View::Board(BoardQuery::default())
}

/// Answers what a link was asked for.
fn answer(link: &Link, locks: u32) -> Vec<VisibilityScope> {
    let asked = link.take_outbox().into_iter().filter_map(|frame| match frame {
        ReplicaFrame::Subscribe { id, scope, .. } => Some((id, scope)),
        ReplicaFrame::Unsubscribe { .. } => None,
    });
    let answered = asked.map(|(id, scope)| {
        let as_of = AsOf { state: RootState::Live, ..AsOf::default() };
        let mut head = BoardHead { as_of, ..BoardHead::default() };
        head.totals.locks = locks;
        let body = Box::new(Body::Board(Board { head, window: Window::default() }));
        let frame = CompactFrame::Snapshot { id, epoch: Epoch(1), seq: 1, server_time_ms: 50, known_at_ms: 50, body };
        link.take(frame, clock::instant(), 100);
        scope
    });
    answered.collect()
}

/// Locks that are shown, and whether they are live.
fn shown(parts: &[Part], plan: &Plan) -> Vec<(Option<u32>, bool)> {
    let of = |part: &Part| {
        let glimpse = part.glimpse(plan, 0);
        let locks = glimpse.body.as_deref().map(|body| match body {
            Body::Board(board) => board.head.totals.locks,
            _ => u32::MAX,
        });
        (locks, glimpse.is_live)
    };
    parts.iter().map(of).collect()
}

#[test]
fn what_was_shown_stays_until_the_other_owner_has_answered_and_is_not_live() {
    let mut house = House::new(&[("default", &["a", "b"])]);
    let view = board_view();
    house.link("a").opened();
    house.link("b").opened();
    let plan = house.plan();
    let parts = house.parts(&plan, &view);
    assert_eq!(shown(&parts, &plan), [(None, false)]);
    answer(house.link("a"), 7);
    assert_eq!(shown(&parts, &plan), [(Some(7), true)]);
    assert!(house.link("b").take_outbox().is_empty(), "one owner is asked");

    house.link("a").closed("it broke");
    let plan = house.plan();
    let parts = house.parts(&plan, &view);
    assert_eq!(shown(&parts, &plan), [(Some(7), false)]);
    let (_, why) = parts[0].glimpse(&plan, 0).lost.unwrap();
    assert!(why.contains("the replica a at http://a") && why.contains("it broke"), "{why}");
    answer(house.link("b"), 8);
    assert_eq!(shown(&house.parts(&plan, &view), &plan), [(Some(8), true)]);

    house.link("b").closed("it broke as well");
    let plan = house.plan();
    assert_eq!(shown(&house.parts(&plan, &view), &plan), [(Some(8), false)], "nobody is left");
}

#[test]
fn a_view_over_several_is_asked_once_of_each_owner_and_of_nothing_that_may_not_be_seen() {
    let mut house = House::new(&[("x", &["a", "b"]), ("y", &["a", "c"]), ("z", &["c", "a"]), ("secret", &["b", "c"])]);
    ["a", "b", "c"].iter().for_each(|id| house.link(id).opened());
    let plan = house.plan();
    let names = ["x", "y", "z"].map(str::to_owned);
    let scope = VisibilityScope::new(&names, &[], false);
    let parts = house.all.parts(&plan, (&board_view(), &scope), false, board_view).unwrap();
    assert_eq!(parts.len(), 2);
    let of = |names: &[&str]| scope.among(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()).unwrap();
    assert_eq!(answer(house.link("a"), 1), [of(&["x", "y"])]);
    assert_eq!(answer(house.link("c"), 2), [of(&["z"])]);
    assert!(house.link("b").take_outbox().is_empty(), "who may not see it does not have it asked for");
    let nobody = house.all.parts(&plan, (&board_view(), &VisibilityScope::nothing()), false, board_view).unwrap();
    assert!(nobody.is_empty());
}

#[test]
fn one_more_than_there_is_room_for_is_refused_while_all_are_looked_at() {
    let mut house = House::new(&[("default", &["a"])]);
    house.link("a").opened();
    let plan = house.plan();
    let lock = |at: usize| View::Lock(LockQuery { path: format!("/{at}"), ..LockQuery::default() });
    for at in 0..VIEWS_MAX {
        house.parts(&plan, &lock(at));
    }
    let more = house.all.parts(&plan, (&lock(VIEWS_MAX), &VisibilityScope::ALL), false, || lock(VIEWS_MAX));
    let FeedError::TooManyElsewhere(why) = more.unwrap_err() else { panic!("refused for another reason") };
    assert!(why.contains("the replica a at http://a") && why.contains("2048 views"), "{why}");
    assert_eq!(house.link("a").views(), VIEWS_MAX);
    for at in VIEWS_MAX..2 * COMPOSITES_MAX {
        let _refused = house.all.parts(&plan, (&lock(at), &VisibilityScope::ALL), false, || lock(at));
    }
    assert!(house.all.all().len() <= COMPOSITES_MAX);
}

#[test]
fn an_answer_of_another_kind_is_not_shown() {
    let mut house = House::new(&[("default", &["a"])]);
    let view = View::Lock(LockQuery { path: "/a".to_owned(), ..LockQuery::default() });
    house.link("a").opened();
    let plan = house.plan();
    let parts = house.parts(&plan, &view);
    answer(house.link("a"), 7);
    let glimpse = parts[0].glimpse(&plan, 0);
    assert!(glimpse.body.is_none() && glimpse.is_settled());
    assert!(glimpse.refusal.unwrap().contains("another version"));
}
