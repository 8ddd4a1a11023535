//! Guessing passwords: how soon it stops, and whom it must not stop.

use lockscope_access::{ACCOUNT_FREE, Grant, WAIT_MS_MAX};
use lockscope_audit::REFUSALS_A_MINUTE_MAX;
use lockscope_view::Role;

use super::{House, PASSWORD, bearer};

#[tokio::test]
async fn guessing_is_slowed_and_a_right_guess_in_between_is_refused_too() {
    let house = House::plain().await;
    house.user("ann", Role::Operator);
    let token = house.token("ci", Grant::everywhere(Role::Operator), None);
    for at in 0..ACCOUNT_FREE {
        let answer = house.sign_in("ann", &format!("wrong guess {at}")).await;
        assert_eq!(answer.status, 401);
        assert!(answer.text.contains("Wrong name, password or token.") && answer.header("set-cookie").is_empty());
    }
    let answer = house.sign_in("ann", PASSWORD).await;
    assert_eq!((answer.status, answer.header("retry-after")), (429, "1"), "right, but too soon");
    let mut guesses = u64::from(ACCOUNT_FREE);
    let began = house.clock.now_ms();
    while house.clock.now_ms() - began < 24 * 60 * 60 * 1_000 {
        let answer = house.sign_in("ann", "wrong guess again").await;
        if answer.status == 429 {
            let wait_ms = answer.header("retry-after").parse::<i64>().unwrap() * 1_000;
            assert!(wait_ms <= WAIT_MS_MAX);
            house.clock.set_ms(house.clock.now_ms() + wait_ms);
        } else {
            guesses += 1;
        }
    }
    assert!(guesses < 120, "{guesses} guesses in a day");
    assert_eq!(
        house.me(&[("authorization", &bearer(&token))]).await,
        "ci operator token",
        "a token is never locked out"
    );
    assert_eq!(house.ask("POST", "/sign-in", &[], &format!("token={token}")).await.status, 303);
    let link = house.access.one_time_link("demo", Role::Operator);
    assert_eq!(
        house.ask("POST", "/sign-in/once", &[], &format!("key={}", link.split_once('=').unwrap().1)).await.status,
        303
    );
    house.pass(WAIT_MS_MAX).await;
    assert_eq!(house.sign_in("ann", PASSWORD).await.status, 303, "who waited comes in");
    assert_eq!(house.sign_in("ann", "wrong guess").await.status, 401, "and starts afresh");
}

#[tokio::test]
async fn many_at_once_are_no_way_around() {
    let house = House::plain().await;
    house.user("ann", Role::Operator);
    let tries = (0..25).map(|at| {
        let house = &house;
        async move { house.sign_in("ann", &format!("wrong guess {at}")).await.status }
    });
    let answers = futures_util::future::join_all(tries).await;
    assert_eq!(answers.iter().filter(|status| **status == 401).count(), ACCOUNT_FREE as usize, "{answers:?}");
    assert!(answers.iter().all(|status| matches!(status, 401 | 429)), "{answers:?}");
}

#[tokio::test]
async fn unknown_names_are_told_and_limited_like_known_ones() {
    let house = House::plain().await;
    house.user("ann", Role::Operator);
    let mut of_known = Vec::new();
    let mut of_unknown = Vec::new();
    for _ in 0..ACCOUNT_FREE + 1 {
        let [known, unknown] = [house.sign_in("ann", "wrong guess").await, house.sign_in("eve", "wrong guess").await];
        of_known.push((known.status, known.text.replace("\"ann\"", "\"\"")));
        of_unknown.push((unknown.status, unknown.text.replace("\"eve\"", "\"\"")));
    }
    assert_eq!(of_known, of_unknown);
}

#[tokio::test]
async fn a_flood_of_refusals_leaves_a_few_records_and_a_count() {
    let house = House::plain().await;
    for at in 0..REFUSALS_A_MINUTE_MAX + 10 {
        let _ = house.sign_in(&format!("u{at}%0A%E2%80%AE"), "wrong guess").await;
    }
    house.pass(60_000).await;
    let told = house.kept.told();
    assert_eq!(told.len(), REFUSALS_A_MINUTE_MAX as usize + 1, "{told:?}");
    assert!(told[0].starts_with("refused: sign-in of \"u0\\n\\u{202e}\" from 127.0.0.1 refused: "), "{}", told[0]);
    assert!(told.last().unwrap().starts_with("refused: 10 more refused sign-ins"), "{told:?}");
}
