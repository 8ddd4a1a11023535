//! What people said at one of two servers, at the other.

use lockscope_alerts::book::{Book, BookError, KeptSilence};
use lockscope_view::{Acknowledgement, AlertMatchers, Silence};

use crate::book::{book, due, fired, over, take};

fn silence(at_ms: i64) -> Silence {
    let matchers = AlertMatchers { path: Some("/a".to_owned()), ..AlertMatchers::default() };
    Silence { id: 0, matchers, by: "anna".into(), at_ms, until_at_ms: at_ms + 100_000, reason: "known".into() }
}

fn shared(replica: &str) -> Book {
    let mut book = book();
    book.share(replica);
    book
}

/// What one is to tell, told to the other.
fn tell(from: &mut Book, to: &mut Book, now_ms: i64) {
    let (silences, acknowledgements) = (from.outgoing_silences(), from.outgoing_acknowledgements());
    from.silences_sent(&silences);
    from.acknowledgements_sent(&acknowledgements);
    to.take_silences(silences, false, now_ms);
    to.take_acknowledgements(acknowledgements, false);
    assert!(from.outgoing_silences().is_empty() && from.outgoing_acknowledgements().is_empty());
}

#[test]
fn a_silence_of_one_holds_at_the_other_until_anybody_ends_it() {
    let (mut a, mut b) = (shared("a"), shared("b"));
    let (first, second) = (a.silence(silence(5)).unwrap(), b.silence(silence(5)).unwrap());
    assert_ne!(first.id, second.id);
    assert!(first.id < 1 << 53);
    let again = a.silence(silence(5)).unwrap();
    assert!(again.id > first.id);
    tell(&mut a, &mut b, 10);
    assert_eq!(b.silence_by_id(first.id, 10), Some(&first));
    take(&mut b, 10, fired("/a", 10), None);
    assert!(due(&b, 10).is_empty());
    // Ended where it was not made.
    for id in [first.id, again.id, second.id] {
        b.end_silence(id).unwrap();
    }
    let old = a.outgoing_silences();
    assert!(old.is_empty());
    tell(&mut b, &mut a, 20);
    assert!(a.silences(20).is_empty());
    assert_eq!(a.end_silence(first.id), Err(BookError::NoSilence(first.id)));
    b.advance(20);
    assert_eq!(due(&b, 20).len(), 1);
}

#[test]
fn what_was_ended_while_the_others_could_not_be_told_stays_so_over_a_restart() {
    let (mut a, mut b) = (shared("a"), shared("b"));
    let made = a.silence(silence(5)).unwrap();
    let before = a.outgoing_silences();
    tell(&mut a, &mut b, 10);
    a.end_silence(made.id).unwrap();
    let kept: Vec<KeptSilence> = a.take_unsaved().silences.into_iter().filter_map(|(_, kept)| kept).collect();
    assert!(kept.iter().all(|kept| kept.is_ended) && kept.len() == 1);
    let mut next = Book::new(Vec::new(), Vec::new(), kept);
    next.share("a");
    // The others have it still.
    next.take_silences(before, true, 20);
    assert!(next.silences(20).is_empty());
    tell(&mut next, &mut b, 20);
    assert!(b.silences(20).is_empty());
    next.advance(200_000);
    assert!(next.take_unsaved().silences.iter().any(|(id, kept)| *id == made.id && kept.is_none()));
}

#[test]
fn numbers_of_a_time_without_others_are_given_anew_and_what_nobody_means_is_not_taken() {
    let kept = KeptSilence { silence: Silence { id: 3, ..silence(5) }, is_ended: false };
    let mut book = Book::new(Vec::new(), Vec::new(), vec![kept]);
    book.share("a");
    let id = book.silences(10)[0].id;
    assert!(id > 1 << 14 && book.outgoing_silences().len() == 1);
    let good = book.outgoing_silences().remove(0);
    let mut other = shared("b");
    for (key, body) in [("x", good.body.as_str()), ("7", good.body.as_str()), (good.key.as_str(), "{}")] {
        let row =
            lockscope_runtime::shared_rows::SharedRow { key: key.to_owned(), body: body.to_owned(), ..good.clone() };
        other.take_silences(vec![row], false, 10);
    }
    assert!(other.silences(10).is_empty());
    // What the place lost is told again.
    book.silences_sent(&[good]);
    book.take_silences(Vec::new(), true, 10);
    assert_eq!(book.outgoing_silences().len(), 1);
}

#[test]
fn who_looks_at_an_alert_is_known_elsewhere_and_not_of_the_next_one() {
    let (mut a, mut b, mut late) = (shared("a"), shared("b"), shared("late"));
    take(&mut a, 1_000, fired("/a", 1_000), None);
    // Another server finds it a little later, so its key is another one.
    take(&mut b, 1_400, fired("/a", 1_400), None);
    let key = a.alerts(2_000)[0].key.clone();
    a.acknowledge(&key, Acknowledgement { by: "anna".into(), at_ms: 2_000, reason: String::new() }).unwrap();
    let rows = a.outgoing_acknowledgements();
    tell(&mut a, &mut b, 2_000);
    assert_eq!(b.alerts(2_000)[0].acked_by.as_ref().unwrap().by, "anna");
    // One that finds it only then.
    late.take_acknowledgements(rows, true);
    take(&mut late, 2_500, fired("/a", 2_500), None);
    assert_eq!(late.acknowledged().count(), 1);
    // It is over, and comes again a minute later.
    take(&mut late, 3_000, fired("/a", 2_500), over(3_000));
    take(&mut late, 63_000, fired("/a", 63_000), None);
    assert_eq!(late.acknowledged().count(), 0);
}
