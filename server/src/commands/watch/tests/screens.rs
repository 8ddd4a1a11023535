//! Screens, as they are seen.

use super::*;

fn sample() -> Board {
    let rows = vec![
        row("/shipping/labels", Verdict::Stuck, "labels-1@app-1", 4),
        row("/reports/nightly", Verdict::Healthy, "report@app-2", 3),
        row("/锁/订单", Verdict::MaybeDeadlocked, "工人-7", 0),
    ];
    board(rows, vec![problem()])
}

#[test]
fn the_board_in_80_columns() {
    let mut app = opened(size(80, 14), Body::Board(sample()));
    let expected = "\
LIVE  < 1 s ago
127.0.0.1:3000  worst first  1 to 3 of 3
1 needs you
stuck  /shipping/labels
  labels-1@app-1 has held it for ≥ 2 min 05 s (usually 0.3 s). 4 wait.
  → Look at what its threads do. $ ssh app-1 jstack
3 locks, 3 held, 7 wait, the longest for 9.0 s
  VERDICT           LOCK                   HOLDER                  HELD  WAITERS
  stuck             /shipping/labels       labels-1@app-1  ≥ 2 min 05 s        4
  healthy           /reports/nightly       report@app-2    ≥ 2 min 05 s        3
  maybe deadlocked  /锁/订单               工人-7          ≥ 2 min 05 s        0


j/k move  Enter open  / filter  o order  p pause  ? keys  q quit";
    assert_eq!(text(&mut app).join("\n"), expected);
}

#[test]
fn nothing_is_wider_than_the_screen_and_nothing_higher() {
    for columns in [1, 19, 20, 39, 40, 41, 60, 64, 80, 92, 120, 300] {
        for rows in [1, 4, 5, 8, 24, 60] {
            for body in [
                Body::Board(sample()),
                Body::Lock(Some(Box::new(lock_page(
                    vec![contender("a", 0, "名字很长的持有者名字很长的持有者"); 30],
                    30,
                )))),
                Body::Lock(None),
                Body::Board(Board::default()),
            ] {
                let mut app = opened(size(columns, rows), body);
                for key in [KeyCode::Char('j'), KeyCode::Char('?'), KeyCode::Esc] {
                    press(&mut app, &[key]);
                    let lines = app.screen();
                    assert!(lines.len() <= rows.max(1), "{columns} × {rows}");
                    assert!(lines.iter().all(|line| line.width() <= columns), "{columns} × {rows}: {lines:?}");
                }
            }
        }
    }
}

#[test]
fn in_40_columns_the_verdict_the_lock_and_the_step_are_there() {
    let mut app = opened(size(40, 24), Body::Board(sample()));
    let shown = text(&mut app).join("\n");
    for part in ["1 needs you", "stuck  /shipping/labels", "ssh app-1 jstack", "maybe deadlocked"] {
        assert!(shown.contains(part), "{part}:\n{shown}");
    }
}

#[test]
fn a_lock_says_what_to_do_and_who_waits() {
    let contenders = vec![contender("lock-0", 0, "labels-1@app-1"), contender("lock-1", 1, "labels-2@app-2")];
    let mut app = opened(size(80, 16), Body::Lock(Some(Box::new(lock_page(contenders, 2)))));
    let shown = text(&mut app);
    assert_eq!(shown[2], "stuck  /shipping/labels  kazoo Lock");
    assert_eq!(shown[4], "Do this");
    assert_eq!(shown[5], "1. Look at what its threads do. $ ssh app-1 jstack");
    let queue: Vec<&String> = shown.iter().skip_while(|line| !line.contains("WHO")).collect();
    assert!(queue[1].contains("labels-1@app-1") && queue[1].contains("holds"), "{queue:?}");
    assert!(queue[2].contains("labels-2@app-2") && queue[2].contains(" 1 ") && queue[2].contains("9.0 s"), "{queue:?}");
}

#[test]
fn colours_are_those_of_verdicts_and_go_with_the_truth() {
    let style = OutputStyle { columns: None, is_colored: true };
    let mut app = opened(size(80, 14), Body::Board(sample()));
    let shown: Vec<String> = app.screen().iter().map(|line| line.render(style)).collect();
    assert!(shown[0].starts_with("\u{1b}[32mLIVE\u{1b}[0m") && shown[3].starts_with("\u{1b}[1;31mstuck"), "{shown:?}");
    app.viewer.disconnected(moment(100), false);
    let shown: Vec<String> = app.screen().iter().map(|line| line.render(style)).collect();
    assert!(shown[0].starts_with("\u{1b}[1;31mOFFLINE"), "{shown:?}");
    assert!(shown.iter().skip(2).all(|line| !line.contains("[1;31m") && !line.contains("[32m")), "{shown:?}");
}

#[test]
fn roots_that_are_not_whole_come_first_and_nothing_is_called_fine() {
    let mut board = board(vec![row("/a", Verdict::Healthy, "x", 0)], Vec::new());
    let mut app = opened(size(80, 14), Body::Board(board.clone()));
    assert_eq!(text(&mut app)[2], "1 lock is fine.");
    board.head.roots[0].state = RootState::Partial;
    board.head.as_of.state = RootState::Partial;
    let mut app = opened(size(80, 14), Body::Board(board.clone()));
    let shown = text(&mut app);
    assert_eq!(shown[0], "PARTIAL  some znodes may not be read, < 1 s ago");
    assert_eq!(shown[2], "PARTIAL /: some znodes may not be read");
    assert_eq!(shown[3], "No problem is seen, but not every root can be read.");
    board.head.roots[0].state = RootState::Stale;
    board.head.as_of = AsOf { since_ms: NOW_MS - 4_000, ..as_of(RootState::Stale) };
    let mut app = opened(size(80, 14), Body::Board(board));
    let shown = text(&mut app);
    assert_eq!(shown[0], "STALE  shown as of 4.0 s ago (21:03:16 UTC): no answer from ZooKeeper");
    assert_eq!(shown[3], "No problem was seen; what is so now is not known.");
}

#[test]
fn many_problems_leave_room_for_the_rows_and_are_counted() {
    let mut board = sample();
    board.head.problems = (0..8).map(|_| problem()).collect();
    board.head.problem_count = 12;
    let mut app = opened(size(80, 24), Body::Board(board));
    let shown = text(&mut app);
    assert_eq!(shown[2], "12 need you");
    assert!(shown.iter().any(|line| line.starts_with("And 8 more problems")), "{shown:?}");
    assert_eq!(shown.iter().filter(|line| line.starts_with("stuck  ")).count(), 4);
    assert!(shown.iter().any(|line| line.contains("/锁/订单")), "{shown:?}");
}
