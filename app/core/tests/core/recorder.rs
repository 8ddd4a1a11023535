//! The flight recorder: what is in it, in which order, and what is no more.

use lockscope_core::change::Change;
use lockscope_core::change::Event;
use lockscope_core::observatory::RECORDED_MAX;
use lockscope_core::root::RootState;

use crate::language::Story;

fn story() -> Story {
    let mut story = Story::new(&["/order"]);
    story.tell("10 sync /order\n10 node /order created=2\n10 node /order/lock-0000000001 owner=a\n10 end /order");
    story
}

/// What is recorded after a number, a word or two each.
fn told(story: &Story, after: u64) -> Vec<String> {
    let word = |what: &Event| match what {
        Event::Root(_, state) => format!("root {state:?}"),
        Event::Changed(Change::Arrived { node, .. }) => format!("+ {node}"),
        Event::Changed(Change::Identified { .. }) => "owner".to_owned(),
        Event::Changed(Change::Left { node, .. }) => format!("- {node}"),
        Event::Changed(Change::HolderChanged { node, .. }) => format!("holds {node:?}"),
        Event::Changed(other) => format!("{other:?}"),
    };
    story
        .observatory
        .recorder()
        .after(after)
        .map(|recorded| format!("{} {} {}", recorded.number, recorded.at.0, word(&recorded.what)))
        .collect()
}

#[test]
fn what_was_there_before_is_not_told_and_what_happens_then_is_in_order() {
    let mut story = story();
    let before = told(&story, 0);
    assert!(before.iter().all(|line| line.contains("root ") || line.contains("LinkChanged")), "{before:?}");
    assert_eq!(
        told(&story, 0).last().map(|line| line.ends_with(&format!("root {:?}", RootState::Live))),
        Some(true),
        "{before:?}"
    );
    let last = story.observatory.recorder().last();
    story.tell("20 + /order/lock-0000000002\n21 = /order/lock-0000000002 owner=b\n30 - /order/lock-0000000001");
    let number = |step: u64| last + step;
    assert_eq!(
        told(&story, last),
        [
            format!("{} 20 + lock-0000000002", number(1)),
            format!("{} 21 owner", number(2)),
            format!("{} 30 - lock-0000000001", number(3)),
            format!("{} 30 holds Some(\"lock-0000000002\")", number(4)),
        ]
    );
    assert_eq!(told(&story, number(3)).len(), 1);
    assert!(told(&story, number(4)).is_empty() && told(&story, u64::MAX).is_empty());
}

#[test]
fn the_oldest_go_first_and_it_is_said_how_many() {
    let mut story = story();
    let last = story.observatory.recorder().last();
    for turn in 0..4_000 {
        story.tell(&format!(
            "{0} + /order/lock-{1:010}\n{0} = /order/lock-{1:010} owner=b\n{0} - /order/lock-{1:010}",
            100 + turn,
            turn + 2
        ));
    }
    let recorder = story.observatory.recorder();
    let kept = recorder.after(0).count();
    assert_eq!((kept, recorder.after(last).count()), (RECORDED_MAX, RECORDED_MAX));
    assert_eq!(recorder.lost_after(last) + kept as u64, recorder.last() - last);
    assert_eq!(recorder.lost_after(recorder.last()), 0);
    let numbers: Vec<u64> = recorder.after(0).map(|recorded| recorded.number).collect();
    assert!(numbers.windows(2).all(|pair| pair[1] == pair[0] + 1));
}
