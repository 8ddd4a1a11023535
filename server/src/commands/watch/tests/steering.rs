//! Keys, and time: what is asked of the server, and what is said while nothing comes.

use super::*;

fn rows(count: u32) -> Board {
    let rows = (0..count).map(|at| row(&format!("/lock-{at:03}"), Verdict::Healthy, "x", 0)).collect();
    board(rows, Vec::new())
}

#[test]
fn enter_opens_the_chosen_lock_and_escape_leads_back() {
    let mut app = opened(size(80, 24), Body::Board(rows(5)));
    let _ = app.screen();
    press(&mut app, &[KeyCode::Enter]);
    assert_eq!(asked(&mut app), [], "nothing is chosen");
    press(&mut app, &[KeyCode::Char('j'), KeyCode::Down, KeyCode::Char('k'), KeyCode::Char('j'), KeyCode::Enter]);
    let lock = LockQuery { ensemble: "default".to_owned(), path: "/lock-001".to_owned(), ..LockQuery::default() };
    assert!(asked(&mut app).contains(&View::Lock(lock)));
    assert!(text(&mut app).iter().any(|line| line.contains("Nothing came from the server yet")));
    press(&mut app, &[KeyCode::Backspace]);
    assert!(asked(&mut app).contains(&View::Board(BoardQuery::default())));
}

#[test]
fn a_filter_is_typed_and_asked_for_and_keys_are_letters_meanwhile() {
    let mut app = opened(size(80, 24), Body::Board(rows(5)));
    press(
        &mut app,
        &[KeyCode::Char('/'), KeyCode::Char('q'), KeyCode::Char('锁'), KeyCode::Char('x'), KeyCode::Backspace],
    );
    assert_eq!(text(&mut app).last().unwrap(), "/q锁_");
    assert!(!app.look(moment(50)));
    let query = |q: &str| View::Board(BoardQuery { q: q.to_owned(), ..BoardQuery::default() });
    assert_eq!(asked(&mut app), [query("q锁")]);
    assert!(!app.look(moment(100)));
    assert_eq!(asked(&mut app), [], "once");
    press(&mut app, &[KeyCode::Enter]);
    assert_eq!(text(&mut app)[1].split("  ").nth(2), Some("/q锁"));
    press(&mut app, &[KeyCode::Esc]);
    assert_eq!(asked(&mut app), [query("")]);
}

#[test]
fn sort_group_and_pin_change_what_is_asked_for() {
    let mut app = opened(size(80, 24), Body::Board(rows(5)));
    let _ = app.screen();
    press(&mut app, &[KeyCode::Char('O'), KeyCode::Char('o'), KeyCode::Char('o'), KeyCode::Char('g')]);
    let last = asked(&mut app).pop().unwrap();
    let Some(View::Board(query)) = Some(last) else { panic!() };
    assert_eq!((query.sort.name(), query.group), ("damage", true));
    let mut app = opened(size(80, 24), Body::Board(rows(5)));
    let _ = app.screen();
    press(&mut app, &[KeyCode::Char('j'), KeyCode::Char('s')]);
    let View::Board(query) = asked(&mut app).pop().unwrap() else { panic!() };
    assert_eq!(query.pins, ["/lock-000"]);
}

#[test]
fn control_characters_are_keys_and_alt_is_none() {
    let mut app = opened(size(80, 24), Body::Board(rows(5)));
    let _ = app.screen();
    for (char, chosen) in [('n', 0), ('n', 1), ('p', 0), ('f', 4), ('b', 0), ('x', 0)] {
        assert_eq!(app.press(control(char)), Turn::Go);
        assert!(text(&mut app)[5 + chosen].starts_with("› "), "{char}: {:?}", text(&mut app));
    }
    assert_eq!(app.press(KeyEvent::new(KeyCode::Char('q'), KeyModifiers::ALT)), Turn::Go);
    for quit in ['c', 'd', '4'] {
        assert_eq!(app.press(control(quit)), Turn::Quit);
    }
    let _ = app.press(control('j'));
    assert!(asked(&mut app).iter().any(|view| matches!(view, View::Lock(_))), "as Enter");
    let _ = app.press(control('h'));
    assert!(asked(&mut app).iter().any(|view| matches!(view, View::Board(_))), "as Backspace");
    press(&mut app, &[KeyCode::Char('/'), KeyCode::Char('\u{9b}'), KeyCode::Char('a')]);
    assert_eq!(app.press(KeyEvent::new(KeyCode::Char('x'), KeyModifiers::ALT)), Turn::Go);
    assert_eq!(text(&mut app).last().unwrap(), "/a_", "no character that steers");
}

#[test]
fn keys_that_end_end() {
    let mut app = opened(size(80, 24), Body::Board(rows(1)));
    assert_eq!(app.press(KeyCode::Char('q').into()), Turn::Quit);
    assert_eq!(app.press(control('c')), Turn::Quit);
    assert_eq!(app.press(control('z')), Turn::Suspend);
    assert_eq!(app.press(control('l')), Turn::Redraw);
    press(&mut app, &[KeyCode::Char('?')]);
    assert!(text(&mut app).iter().any(|line| line.contains("open the chosen lock")));
    press(&mut app, &[KeyCode::Char('j')]);
    assert!(!text(&mut app).iter().any(|line| line.contains("open the chosen lock")));
    press(&mut app, &[KeyCode::Char('/')]);
    assert_eq!(app.press(control('c')), Turn::Quit, "while typing, too");
}

#[test]
fn a_long_list_is_walked_through_and_its_rows_are_asked_for() {
    let mut board = rows(100);
    board.window.total = 10_000;
    let mut app = opened(size(80, 24), Body::Board(board));
    let _ = app.screen();
    press(&mut app, &[KeyCode::End]);
    let _ = app.screen();
    let View::Board(query) = asked(&mut app).pop().unwrap() else { panic!() };
    assert!(query.offset > 9_800 && query.offset + query.limit >= 10_000, "{query:?}");
    assert!(text(&mut app)[1].ends_with("of 10\u{202f}000"));
}

#[test]
fn what_is_shown_is_called_old_after_two_seconds_and_lost_after_three() {
    let mut app = opened(size(100, 24), Body::Board(rows(1)));
    assert!(!app.look(moment(2_000)));
    assert_eq!(text(&mut app)[0], "LIVE  2.0 s ago");
    assert!(!app.look(moment(2_100)));
    let shown = text(&mut app);
    assert_eq!(shown[0], "STALE  shown as of 2.1 s ago (21:03:20 UTC): what comes from Lockscope is too old");
    assert!(app.look(moment(3_100)), "a new connection");
    app.viewer.disconnected(moment(3_100), false);
    assert!(!app.look(moment(7_100)));
    let shown = text(&mut app);
    assert_eq!(shown[0], "OFFLINE  link lost 4.0 s ago, shown as of 7.1 s ago (21:03:20 UTC); trying again");
}

#[test]
fn a_connection_on_which_nothing_ever_comes_is_renewed() {
    let mut app = App::new("http://a", BoardQuery::default(), None, size(80, 24));
    app.viewer.connected(moment(0));
    assert!(!app.look(moment(3_000)));
    assert!(app.look(moment(3_001)));
}

#[test]
fn after_a_loss_it_is_live_once_something_newer_is_known() {
    let mut app = opened(size(80, 24), Body::Board(rows(1)));
    app.viewer.disconnected(moment(100), false);
    app.viewer.connected(moment(500));
    let hello =
        CompactFrame::Hello { protocol: lockscope_view::PROTOCOL, epoch: Epoch(1), server_time_ms: NOW_MS + 600 };
    app.viewer.take(hello, moment(600));
    assert!(text(&mut app)[0].starts_with("RESYNCING"), "{:?}", text(&mut app)[0]);
    snapshot(&mut app, 1, Body::Board(rows(2)), 700);
    assert!(text(&mut app)[0].starts_with("LIVE"));
}

#[test]
fn a_pause_holds_everything_and_says_so() {
    let mut app = opened(size(80, 24), Body::Board(rows(1)));
    press(&mut app, &[KeyCode::Char('p')]);
    assert!(matches!(app.viewer.outbox().as_slice(), [ClientFrame::Pause { .. }]));
    let hello = CompactFrame::Heartbeat { seq: 1, server_time_ms: NOW_MS + 60_000, views: Vec::new() };
    app.viewer.take(hello, moment(60_000));
    let _ = app.look(moment(60_000));
    let shown = text(&mut app);
    assert_eq!(shown[0], "PAUSED  updates paused 1 min 00 s ago");
    assert!(shown.iter().any(|line| line.contains("≥ 2 min 05 s")), "ages stand: {shown:?}");
    press(&mut app, &[KeyCode::Char('p')]);
    assert!(matches!(app.viewer.outbox().as_slice(), [ClientFrame::Resume { .. }]));
}

#[test]
fn a_sign_in_that_ended_is_no_lost_link() {
    let mut app = opened(size(80, 24), Body::Board(rows(1)));
    app.viewer.disconnected(moment(100), true);
    assert!(text(&mut app)[0].starts_with("SIGNED OUT  your sign-in ended"));
}

#[test]
fn the_servers_refusal_is_shown_without_what_steers() {
    let mut app = opened(size(80, 24), Body::Board(rows(1)));
    let detail = "no ensemble \u{1b}[2J".to_owned();
    app.viewer.take(CompactFrame::Error { id: Some(1), detail }, moment(1));
    assert_eq!(text(&mut app).last().unwrap(), "no ensemble ␛[2J");
}
