//! Silences: of whom nobody is told, and what is told when they end.

use lockscope_alerts::book::{Book, BookError, KeptSilence, SILENCES_MAX};
use lockscope_view::{AlertMatchers, Silence};

use crate::book::{book, due, due_of, fired, over, take};

fn silence(path: Option<&str>, at_ms: i64, until_at_ms: i64) -> Silence {
    let matchers = AlertMatchers { path: path.map(str::to_owned), ..AlertMatchers::default() };
    Silence { id: 0, matchers, by: "anna".into(), at_ms, until_at_ms, reason: "known".into() }
}

fn is(lock: &str, is_over: bool) -> (String, bool) {
    (lock.to_owned(), is_over)
}

#[test]
fn nobody_is_told_before_it_ends() {
    let mut book = book();
    let made = book.silence(silence(Some("/a"), 0, 1_000)).unwrap();
    take(&mut book, 100, fired("/a", 100), None);
    take(&mut book, 100, fired("/b", 100), None);
    book.advance(999);
    assert_eq!(due_of(&book, 999), [is("/b", false)]);
    let shown = book.alerts(999).into_iter().find(|alert| alert.lock == "/a").unwrap();
    assert_eq!(shown.silenced_by, Some(made));
    book.advance(1_000);
    assert_eq!(due_of(&book, 1_000).len(), 2, "it still fires");
    assert_eq!(book.silences(1_000), []);
    assert!(book.alerts(1_000).iter().all(|alert| alert.silenced_by.is_none()));
}

#[test]
fn what_was_over_before_it_ended_is_told_to_nobody() {
    let mut book = book();
    book.silence(silence(None, 0, 1_000)).unwrap();
    take(&mut book, 100, fired("/a", 100), None);
    book.advance(200);
    take(&mut book, 300, fired("/a", 100), over(250));
    book.advance(2_000);
    assert_eq!(due_of(&book, 2_000), []);
}

#[test]
fn whoever_was_told_is_told_that_it_is_over() {
    let mut book = book();
    take(&mut book, 100, fired("/a", 100), None);
    book.told("team", &due(&book, 100), 100);
    book.silence(silence(None, 200, 10_000)).unwrap();
    take(&mut book, 300, fired("/a", 100), over(250));
    book.advance(300);
    assert_eq!(due_of(&book, 300), [is("/a", true)]);
}

#[test]
fn nobody_is_told_again_while_it_lasts() {
    let mut book = book();
    take(&mut book, 100, fired("/a", 100), None);
    book.told("team", &due(&book, 100), 100);
    book.silence(silence(Some("/a"), 200, 10_000)).unwrap();
    let again = |book: &Book, now_ms| book.to_tell("team", now_ms, Some(1_000), false, |_| true).len();
    book.advance(5_000);
    assert_eq!((again(&book, 5_000), again(&book, 9_999)), (0, 0));
    book.advance(10_000);
    assert_eq!(again(&book, 10_000), 1);
}

#[test]
fn what_was_noted_and_not_taken_waits_for_its_end() {
    let mut book = book();
    take(&mut book, 100, fired("/a", 100), None);
    take(&mut book, 100, fired("/b", 100), None);
    let made = book.silence(silence(None, 200, 10_000)).unwrap();
    book.advance(300);
    assert_eq!((due_of(&book, 300), book.waiting("team", 300)), (vec![], 0));
    // One is over meanwhile: who waited for it is told that.
    take(&mut book, 400, fired("/b", 100), over(350));
    assert_eq!(due_of(&book, 400), [is("/b", true)]);
    book.end_silence(made.id).unwrap();
    book.advance(500);
    assert_eq!(due_of(&book, 500), [is("/b", true), is("/a", false)]);
    assert_eq!(book.waiting("team", 500), 2);
}

#[test]
fn all_that_is_named_must_fit() {
    let fits = |matchers: AlertMatchers| {
        let mut book = book();
        book.silence(Silence { matchers, ..silence(None, 0, 1_000) }).unwrap();
        take(&mut book, 100, fired("/locks/a", 100), None);
        due(&book, 200).is_empty()
    };
    let matchers = |rule: Option<&str>, ensemble: Option<&str>, path: Option<&str>| {
        let text = |text: Option<&str>| text.map(str::to_owned);
        AlertMatchers { rule: text(rule), ensemble: text(ensemble), path: text(path) }
    };
    assert!(fits(AlertMatchers::default()));
    assert!(fits(matchers(Some("bad"), Some("prod"), Some("/locks/*"))));
    assert!(fits(matchers(None, None, Some("/**"))));
    assert!(!fits(matchers(Some("bad"), Some("stage"), Some("/locks/*"))));
    assert!(!fits(matchers(Some("odd"), None, None)));
    assert!(!fits(matchers(None, None, Some("/*"))));
    assert!(!fits(matchers(Some(""), None, None)));
}

#[test]
fn the_longest_of_several_counts() {
    let mut book = book();
    book.silence(silence(None, 0, 1_000)).unwrap();
    book.silence(silence(Some("/a"), 0, 5_000)).unwrap();
    take(&mut book, 100, fired("/a", 100), None);
    book.advance(2_000);
    assert_eq!(due_of(&book, 2_000), []);
    book.advance(5_000);
    assert_eq!(due_of(&book, 5_000), [is("/a", false)]);
}

#[test]
fn nobody_takes_all_silences() {
    let mut book = book();
    for _ in 0..50 {
        book.silence(silence(None, 0, 1_000)).unwrap();
    }
    let refused = book.silence(silence(None, 0, 1_000)).unwrap_err();
    assert_eq!(refused, BookError::TooManyOfPerson);
    assert!(refused.to_string().contains("50 silences already") && refused.to_string().contains("end one of yours"));
    book.silence(Silence { by: "bob".to_owned(), ..silence(None, 0, 1_000) }).unwrap();
    book.end_silence(1).unwrap();
    book.silence(silence(None, 0, 1_000)).unwrap();
}

#[test]
fn there_are_so_many_at_once() {
    let mut book = book();
    for number in 1..=SILENCES_MAX as u64 {
        let by = format!("person {}", number / 50);
        assert_eq!(book.silence(Silence { by, ..silence(None, 0, 1_000) }).unwrap().id, number);
    }
    assert_eq!(book.silence(silence(None, 999, 2_000)), Err(BookError::TooMany));
    assert_eq!(book.silences(999).len(), SILENCES_MAX);
    // Those that have ended take no place.
    let later = book.silence(silence(None, 1_000, 2_000)).unwrap();
    assert_eq!(later.id, SILENCES_MAX as u64 + 1);
    assert_eq!(book.silence_by_id(1, 1_000), None);
    assert_eq!(book.silence_by_id(later.id, 1_000), Some(&later));
    book.end_silence(later.id).unwrap();
    assert_eq!(book.end_silence(later.id), Err(BookError::NoSilence(later.id)));
}

#[test]
fn numbers_go_on_after_a_restart() {
    let mut book = book();
    let made = [silence(None, 0, 1_000), silence(None, 0, 9_000)].map(|one| book.silence(one).unwrap());
    let kept = made.map(|silence| KeptSilence { silence, is_ended: false });
    let mut next = Book::new(Vec::new(), Vec::new(), kept.to_vec());
    assert_eq!(next.silences(500).len(), 2);
    assert_eq!(next.silence(silence(None, 500, 1_000)).unwrap().id, 3);
}
