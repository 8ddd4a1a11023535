//! Queues that will come to nothing: who watches the wrong znode, what grows faster than it is served, what runs out. Each
//! with the near miss beside it that is none.

use lockscope_core::finding::Code;

use crate::language::Story;
use crate::members::{ask, member};

fn found(story: &Story, path: &str, code: Code) -> Option<(String, Vec<String>)> {
    let finding = story.lock(path).assessment.findings.iter().find(|finding| finding.code == code)?;
    Some((finding.text.to_string(), finding.paths.iter().map(ToString::to_string).collect()))
}

const READER: &str = "/l/0f1e2d3c00004a4a8b8b0123456789ab__rlock__0000000001";
const FIRST_WRITER: &str = "/l/1f1e2d3c00004a4a8b8b0123456789ab__lock__0000000000";
const WRITER: &str = "/l/2f1e2d3c00004a4a8b8b0123456789ab__lock__0000000002";

/// A writer of session 12 is behind a reader of session 11, and maybe another is before it.
fn reader_and_writer(has_first: bool) -> Story {
    let mut story = Story::new(&["/l"]);
    let first = if has_first { format!("1000000 node {FIRST_WRITER} owner=a data=w1\n") } else { String::new() };
    story.tell(&format!(
        "1000000 sync /l\n1000000 node /l created=3\n{first}1000000 node {READER} owner=b data=reader
        1000000 node {WRITER} owner=c data=writer\n1000000 end /l"
    ));
    story
}

fn watched(story: &mut Story, at: i64, watches: &[(&str, &[i64])]) -> Option<(String, Vec<String>)> {
    ask(story, vec![member("m1", at).connected(&[(10, 50), (11, 50), (12, 50)]).watches(watches)]);
    story.tell(&format!("{} tick\n{} known\n{} tick", at + 100, at + 1_000, at + 1_100));
    found(story, "/l", Code::WatchInversion)
}

#[test]
fn a_reader_that_watches_a_later_writer_waits_for_it_for_ever() {
    let mut story = reader_and_writer(false);
    let (text, paths) = watched(&mut story, 1_005_000, &[(WRITER, &[11]), (READER, &[12])]).unwrap();
    assert!(text.starts_with("reader watches writer, which stands behind it"), "{text}");
    assert!(text.contains("by the queue's order reader holds"), "{text}");
    assert_eq!(paths, [READER, WRITER]);
    story.tell(&format!("1007000 - {READER}\n1008000 tick"));
    assert_eq!(found(&story, "/l", Code::WatchInversion), None);
}

#[test]
fn a_waiter_that_watches_behind_itself_and_not_before_is_told_of() {
    let mut story = reader_and_writer(true);
    let (text, _) = watched(&mut story, 1_005_000, &[(WRITER, &[11])]).unwrap();
    assert!(text.contains("is woken only when writer goes"), "{text}");
    let mut story = reader_and_writer(true);
    let (text, _) = watched(&mut story, 1_005_000, &[(WRITER, &[11]), (READER, &[12])]).unwrap();
    assert!(text.contains("for ever"), "{text}");
}

#[test]
fn watches_that_mean_something_else_are_no_inversion() {
    let right: [(&str, &[i64]); 2] = [(FIRST_WRITER, &[11]), (READER, &[12])];
    assert_eq!(watched(&mut reader_and_writer(true), 1_005_000, &right), None);
    let both: [(&str, &[i64]); 3] = [(FIRST_WRITER, &[11]), (WRITER, &[11]), (READER, &[12])];
    assert_eq!(watched(&mut reader_and_writer(true), 1_005_000, &both), None, "it is woken as it should be");
    let holder: [(&str, &[i64]); 1] = [(WRITER, &[11])];
    assert_eq!(watched(&mut reader_and_writer(false), 1_005_000, &holder), None, "nobody waits for it");
    let circle: [(&str, &[i64]); 2] = [(WRITER, &[11]), (READER, &[12])];
    let mut story = reader_and_writer(false);
    let thread = "/l/3f1e2d3c00004a4a8b8b0123456789ab__lock__0000000003";
    story.tell(&format!("1000100 + {thread}\n1000101 = {thread} owner=b data=reader"));
    assert_eq!(watched(&mut story, 1_005_000, &circle), None, "another thread of it waits behind the writer");
    story.tell(&format!("1006500 - {thread}"));
    assert_eq!(watched(&mut story, 1_020_000, &circle), None, "the watch may be what that thread left");
    let mut story = reader_and_writer(false);
    story.tell("1005000 tick");
    assert_eq!(found(&story, "/l", Code::WatchInversion), None, "no table was read");
}

/// A lock whose number of waiters is this in each slice of 2.5 s; the text of the finding after each.
fn depths(waiters: impl Iterator<Item = usize>) -> Vec<Option<String>> {
    let mut story = Story::new(&["/l"]);
    story.tell("0 sync /l\n0 node /l\n0 node /l/lock-0000000000 owner=1\n0 end /l");
    let (mut there, mut next) = (Vec::new(), 1);
    let mut texts = Vec::new();
    for (slice, wanted) in waiters.enumerate() {
        let at = 2_500 * slice as i64;
        while there.len() < wanted {
            story.tell(&format!("{} + /l/lock-{next:010}\n{0} = /l/lock-{next:010} owner={next:x}", at + 100));
            there.push(next);
            next += 1;
        }
        while there.len() > wanted {
            let gone = there.pop().unwrap();
            story.tell(&format!("{} - /l/lock-{gone:010}", at + 100));
        }
        story.tell(&format!("{} known\n{0} tick\n{} tick", at + 1_500, at + 2_500));
        texts.push(found(&story, "/l", Code::NeverDrains).map(|(text, _)| text));
    }
    texts
}

#[test]
fn a_queue_that_grows_for_two_minutes_never_drains() {
    let texts = depths((0..80).chain(std::iter::repeat_n(80, 40)));
    assert!(texts[..12].iter().all(Option::is_none), "{texts:?}");
    assert!(texts[47..80].iter().all(Option::is_some), "{texts:?}");
    let text = texts[79].as_deref().unwrap();
    assert!(text.contains("about 20 a minute arrive, about 0 have had it"), "{text}");
    assert_eq!(texts[119], None, "it no longer grows");
}

#[test]
fn a_burst_and_a_steady_queue_drain() {
    let burst = (0..60).map(|slice| if slice < 50 { 2 } else { 60 });
    assert!(depths(burst).iter().all(Option::is_none));
    let steady = (0..100).map(|slice| 30 + slice % 3);
    assert!(depths(steady).iter().skip(48).all(Option::is_none));
    let few = (0..100).map(|slice| slice / 12);
    assert!(depths(few).iter().all(Option::is_none), "fewer than ten");
}

const DAY_MS: i64 = 86_400_000;

/// What is forecast of a queue that gave out so many numbers in so many ms.
fn forecast(created: u32, age_ms: i64) -> Option<String> {
    let now = 1_000 * DAY_MS;
    let mut story = Story::new(&["/"]);
    story.tell(&format!(
        "{now} sync /\n{now} node /\n{now} node /l created={created} ctime={}\n{now} node /l/lock-0000000009 owner=a
        {now} end /\n{} tick",
        now - age_ms,
        now + 1_000
    ));
    found(&story, "/l", Code::SequenceOverflow).map(|(text, _)| text)
}

#[test]
fn numbers_that_run_out_within_ninety_days_are_foreseen() {
    let text = forecast(1_000_000_000, 40 * DAY_MS).unwrap();
    assert!(text.starts_with("About 24000000 sequence numbers are given out a day"), "{text}");
    assert!(text.contains("in about 45 days the counter reaches 2147483647"), "{text}");
    assert_eq!(forecast(1_000_000_000, 400 * DAY_MS), None, "in more than a year");
    assert_eq!(forecast(500_000, 60_000), None, "a young directory");
    assert!(forecast(1_900_000_000, 400 * DAY_MS).unwrap().contains('%'), "much of it is used");
}

#[test]
fn a_directory_that_was_deleted_while_empty_will_be_again() {
    let mut story = Story::new(&["/l"]);
    story.tell("0 sync /l\n0 node /l\n0 node /l/lock-0000000000 owner=a\n0 end /l");
    story.tell("100 - /l/lock-0000000000\n900 known\n1000 tick");
    assert_eq!(found(&story, "/l", Code::WillBeReaped), None, "nothing says that it is a container");
    story.tell("2000 - /l\n3000 + /l\n3001 = /l\n3002 + /l/lock-0000000000\n3003 = /l/lock-0000000000 owner=b");
    story.tell("3900 known\n4000 tick");
    assert_eq!(found(&story, "/l", Code::WillBeReaped), None, "somebody holds");
    story.tell("5000 - /l/lock-0000000000\n5900 known\n6000 tick");
    let (text, paths) = found(&story, "/l", Code::WillBeReaped).unwrap();
    assert!(text.contains("was deleted once before while it was"), "{text}");
    assert_eq!(paths, ["/l"]);
}
