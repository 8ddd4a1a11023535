//! Pins and saved views of people: each their own, never lost to another page, gone with the account.

use lockscope_access::{Grant, remove_user, revoke_token};
use lockscope_view::Role;
use serde_json::{Value, json};

use super::{Answer, House, PASSWORD, bearer};

const PATH: &str = "/api/v1/preferences";

async fn kept(house: &House, header: (&str, &str)) -> Value {
    let answer = house.get(PATH, &[header]).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    serde_json::from_str(&answer.text).unwrap()
}

async fn put(house: &House, header: (&str, &str), body: &Value) -> Answer {
    house.ask("PUT", PATH, &[header, ("content-type", "application/json")], &body.to_string()).await
}

fn pins(revision: u64, pin: &str) -> Value {
    json!({ "revision": revision, "pins": [pin], "views": [{ "name": "all", "query": "?sort=path" }] })
}

#[tokio::test]
async fn each_person_sees_their_own_and_nobody_elses() {
    let house = House::plain().await;
    house.user("ada", Role::Viewer);
    house.user("bob", Role::Admin);
    let tokens = ["ada", "ci"].map(|name| house.token(name, Grant::everywhere(Role::Viewer), None));
    let mut people = Vec::new();
    for name in ["ada", "bob"] {
        people.push((format!("user {name}"), ("cookie", house.sign_in(name, PASSWORD).await.cookie())));
    }
    for token in &tokens {
        people.push((format!("token {token}"), ("authorization", bearer(token))));
    }
    let header = |at: usize| (people[at].1.0, people[at].1.1.as_str());
    for (at, (who, _)) in people.iter().enumerate() {
        let nothing = json!({ "revision": 0, "pins": [], "views": [] });
        assert_eq!(kept(&house, header(at)).await, nothing, "{who} sees what another keeps");
        let answer = put(&house, header(at), &pins(0, &format!("/of/{at}"))).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
    }
    for (at, (who, _)) in people.iter().enumerate() {
        assert_eq!(kept(&house, header(at)).await, pins(1, &format!("/of/{at}")), "{who}");
    }
    // The same token in a browser is the same person.
    let signed_in = house.ask("POST", "/sign-in", &[], &format!("token={}", tokens[1])).await.cookie();
    assert_eq!(kept(&house, ("cookie", &signed_in)).await, pins(1, "/of/3"));

    remove_user(&house.path(), "ada").unwrap();
    house.user("ada", Role::Viewer);
    let again = house.sign_in("ada", PASSWORD).await.cookie();
    assert_eq!(kept(&house, ("cookie", &again)).await["revision"], 0, "gone with the account");
    revoke_token(&house.path(), "ci").unwrap();
    let token = house.token("ci", Grant::everywhere(Role::Viewer), None);
    assert_eq!(kept(&house, ("authorization", &bearer(&token))).await["revision"], 0);
    assert_eq!(kept(&house, header(1)).await, pins(1, "/of/1"), "others keep theirs");
}

#[tokio::test]
async fn what_another_page_changed_meanwhile_is_not_overwritten_and_mistakes_have_their_sentences() {
    let house = House::plain().await;
    let token = bearer(&house.token("ci", Grant::everywhere(Role::Viewer), None));
    let header = ("authorization", token.as_str());
    assert_eq!(put(&house, header, &pins(0, "/a")).await.status, 200);
    let late = put(&house, header, &pins(0, "/b")).await;
    assert_eq!(late.status, 409);
    assert!(late.text.contains("at revision 1; read them again, and change those"), "{}", late.text);
    assert_eq!(put(&house, header, &pins(1, "/b")).await.status, 200);
    let wrong = json!({ "revision": 2, "pins": [], "views": [{ "name": "x", "query": "https://evil.example" }] });
    let answer = put(&house, header, &wrong).await;
    assert_eq!(answer.status, 422);
    assert!(answer.text.contains("does not begin with ?"), "{}", answer.text);
    let form = house.ask("PUT", PATH, &[header], "pins=1").await;
    assert_eq!(form.status, 415, "no form sends it");
    let stranger = [header, ("content-type", "application/json"), ("origin", "https://evil.example")];
    assert_eq!(house.ask("PUT", PATH, &stranger, &pins(2, "/c").to_string()).await.status, 403);
    assert_eq!(kept(&house, header).await, pins(2, "/b"));

    let nobody = house.get(PATH, &[]).await;
    assert_eq!(nobody.status, 404);
    assert!(nobody.text.contains("sign in to have them everywhere"), "{}", nobody.text);
    let mut last = 200;
    for revision in 2..60 {
        last = put(&house, header, &pins(revision, "/d")).await.status;
        if last != 200 {
            break;
        }
    }
    assert_eq!(last, 429);
}
