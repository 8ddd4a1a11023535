//! Tests: two servers with the same files, and a place between them that anybody may write.

use std::path::Path;
use std::sync::Mutex;

use axum::http::HeaderMap;
use axum::http::header::COOKIE;
use lockscope_runtime::clock::Clock;

use super::*;
use crate::sessions::TOUCH_MS;
use crate::{Grant, ListenScope, Secret, new_token, set_user};

const PASSWORD: &str = "correct horse battery";

/// A place where rows are merged as they are in the database, and can't be reached at times.
#[derive(Default)]
struct Place {
    rows: Mutex<Vec<SharedRow>>,
    is_down: std::sync::atomic::AtomicBool,
}

/// What a server exchanges with it.
struct Line(Arc<Place>, Access);

impl Exchange for Line {
    fn exchange(&self) -> Pin<Box<dyn Future<Output = bool> + Send + '_>> {
        Box::pin(async {
            if self.0.is_down.load(std::sync::atomic::Ordering::Relaxed) {
                return false;
            }
            let own = self.1.outgoing();
            for new in &own {
                let mut rows = self.0.rows.lock().unwrap();
                match rows.iter_mut().find(|row| row.key == new.key) {
                    Some(row) => {
                        if new.stamp > row.stamp {
                            row.body.clone_from(&new.body);
                        }
                        row.stamp = row.stamp.max(new.stamp);
                        row.is_over |= new.is_over;
                    }
                    None => rows.push(new.clone()),
                }
            }
            self.1.sent(&own);
            let rows = self.0.rows.lock().unwrap().clone();
            self.1.take(rows, false).await;
            true
        })
    }
}

fn server(dir: &Path, name: &str, place: &Arc<Place>) -> Access {
    let access = Access::new(Some(dir.to_owned()), Settings::default(), ListenScope::LOOPBACK, Clock::system());
    access.share(name.to_owned(), None, Arc::new(Line(place.clone(), access.clone())));
    access
}

fn with_cookie(set: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(COOKIE, set.split(';').next().unwrap().parse().unwrap());
    headers
}

async fn who(access: &Access, headers: &HeaderMap) -> String {
    access.resolve(headers, None).await.unwrap().actor.name
}

#[tokio::test]
async fn who_signed_in_at_one_is_known_at_the_other_and_signed_out_at_both() {
    let dir = tempfile::tempdir().unwrap();
    set_user(dir.path(), "ann", Grant::everywhere(Role::Operator), &Secret::new(PASSWORD.to_owned()), 0).unwrap();
    let place = Arc::<Place>::default();
    let (a, b) = (server(dir.path(), "a", &place), server(dir.path(), "b", &place));
    let password = Secret::new(PASSWORD.to_owned());
    let signed_in = a.by_password(&HeaderMap::new(), None, "ann", password).await.unwrap();
    let cookie = with_cookie(&signed_in.cookie(&a));
    assert_eq!((who(&a, &cookie).await, who(&b, &cookie).await), ("ann".to_owned(), "ann".to_owned()));
    let told = place.rows.lock().unwrap()[0].body.clone();
    let id = signed_in.cookie(&a).split(['=', ';']).nth(1).unwrap().to_owned();
    assert!(!told.contains(&id) && !told.contains("argon2"), "{told}");
    let socket = b.resolve(&cookie, None).await.unwrap().revocation;
    // The one where they signed in starts again, and goes on.
    drop(a);
    let a = server(dir.path(), "a", &place);
    assert_eq!(who(&a, &cookie).await, "ann");
    assert_eq!(a.sign_out(&cookie, None).await.unwrap().name, "ann");
    assert_eq!((who(&a, &cookie).await, who(&b, &HeaderMap::new()).await), ("anonymous".into(), "anonymous".into()));
    let place_again = Line(place.clone(), b.clone());
    assert!(place_again.exchange().await);
    assert_eq!((who(&b, &cookie).await, socket.reason()), ("anonymous".into(), Some(RevocationReason::SignedOut)));
}

#[tokio::test]
async fn without_the_place_a_sign_in_holds_here_and_a_sign_out_is_not_undone() {
    let dir = tempfile::tempdir().unwrap();
    let (_, token) = new_token(dir.path(), "ci", Grant::everywhere(Role::Operator), 0, None).unwrap();
    let place = Arc::<Place>::default();
    let (a, b) = (server(dir.path(), "a", &place), server(dir.path(), "b", &place));
    let first = with_cookie(&a.by_token(&HeaderMap::new(), None, &token, None).await.unwrap().cookie(&a));
    assert_eq!(who(&b, &first).await, "ci");
    place.is_down.store(true, std::sync::atomic::Ordering::Relaxed);
    let second = with_cookie(&a.by_token(&HeaderMap::new(), None, &token, None).await.unwrap().cookie(&a));
    assert_eq!((who(&a, &second).await, who(&b, &second).await), ("ci".into(), "anonymous".into()));
    assert_eq!(who(&b, &first).await, "ci", "who is known stays so");
    a.sign_out(&first, None).await.unwrap();
    place.is_down.store(false, std::sync::atomic::Ordering::Relaxed);
    // What the place has still is not taken back.
    let rows = place.rows.lock().unwrap().clone();
    a.take(rows, true).await;
    assert_eq!(who(&a, &first).await, "anonymous");
    assert_eq!((who(&a, &second).await, who(&b, &second).await), ("ci".into(), "anonymous".into()));
    assert!(Line(place.clone(), a.clone()).exchange().await && Line(place.clone(), b.clone()).exchange().await);
    assert_eq!((who(&b, &first).await, who(&b, &second).await), ("anonymous".into(), "ci".into()));
}

#[tokio::test]
async fn a_sign_out_is_not_undone_by_its_row() {
    let dir = tempfile::tempdir().unwrap();
    let (_, token) = new_token(dir.path(), "ci", Grant::everywhere(Role::Operator), 0, None).unwrap();
    let place = Arc::<Place>::default();
    let (a, b, c) = (server(dir.path(), "a", &place), server(dir.path(), "b", &place), server(dir.path(), "c", &place));
    let cookie = with_cookie(&a.by_token(&HeaderMap::new(), None, &token, None).await.unwrap().cookie(&a));
    assert_eq!(who(&b, &cookie).await, "ci");
    let row = place.rows.lock().unwrap()[0].clone();
    a.sign_out(&cookie, None).await.unwrap();
    // One knew the session, one only hears of its end.
    assert!(Line(place.clone(), b.clone()).exchange().await && Line(place.clone(), c.clone()).exchange().await);
    for is_whole in [false, true] {
        *place.rows.lock().unwrap() = vec![row.clone()];
        for server in [&a, &b, &c] {
            server.take(vec![row.clone()], is_whole).await;
            assert_eq!(who(server, &cookie).await, "anonymous");
        }
        assert!(place.rows.lock().unwrap()[0].is_over || Line(place.clone(), b.clone()).exchange().await);
        assert!(place.rows.lock().unwrap()[0].is_over, "whoever heard of it tells of it again");
    }
    let state = c.state();
    let ended = state.sessions.ended.values().next().unwrap();
    assert!(ended.expires_at_ms >= row.expires_at_ms, "as long as it can live");
}

#[tokio::test]
async fn made_up_ends_displace_none_that_were() {
    let dir = tempfile::tempdir().unwrap();
    let (_, token) = new_token(dir.path(), "ci", Grant::everywhere(Role::Operator), 0, None).unwrap();
    let place = Arc::<Place>::default();
    let a = server(dir.path(), "a", &place);
    let cookie = with_cookie(&a.by_token(&HeaderMap::new(), None, &token, None).await.unwrap().cookie(&a));
    let row = place.rows.lock().unwrap()[0].clone();
    a.sign_out(&cookie, None).await.unwrap();
    let over = |_: u32| SharedRow { key: Secret::random().digest().into(), is_over: true, ..row.clone() };
    a.take((0..30_000).map(over).collect(), false).await;
    a.take(vec![row.clone()], false).await;
    assert_eq!(who(&a, &cookie).await, "anonymous");
}

#[tokio::test]
async fn who_writes_the_place_signs_nobody_in() {
    let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let password = || Secret::new(PASSWORD.to_owned());
    for (dir, role) in [(&dir, Role::Viewer), (&other, Role::Admin)] {
        set_user(dir.path(), "ann", Grant::everywhere(role), &password(), 0).unwrap();
    }
    let place = Arc::<Place>::default();
    let (a, stranger) = (server(dir.path(), "a", &place), server(other.path(), "x", &place));
    // One with other files, which knows the same password.
    let theirs = stranger.by_password(&HeaderMap::new(), None, "ann", password()).await.unwrap();
    assert_eq!(who(&a, &with_cookie(&theirs.cookie(&stranger))).await, "anonymous");
    // A row that is changed, or stands at another hash.
    let ours = a.by_password(&HeaderMap::new(), None, "ann", password()).await.unwrap();
    let row = place.rows.lock().unwrap().iter().find(|row| row.body.contains("\"a\"")).unwrap().clone();
    let mine = Secret::random();
    for body in [row.body.clone(), row.body.replace("\"user\"", "{\"open_id\":{\"role\":\"admin\"}}"), "{}".into()] {
        let forged = SharedRow { key: mine.digest().into(), body, ..row.clone() };
        a.take(vec![forged], false).await;
        assert_eq!(who(&a, &with_cookie(&format!("lockscope={}", mine.expose()))).await, "anonymous");
    }
    // It lasts no longer than one does, whatever the stamp says.
    a.take(vec![SharedRow { stamp: i64::MAX, ..row }], false).await;
    let cookie = with_cookie(&ours.cookie(&a));
    let id = a.cookie(&cookie).unwrap();
    let state = a.state();
    assert!(state.sessions.find(&id, a.inner().clock.now_ms() + AGE_MS_MAX).is_none());
    assert!(state.sessions.open[&id].asked_at_ms <= a.inner().clock.now_ms());
}

#[tokio::test]
async fn with_a_secret_files_may_differ_and_a_new_password_ends_sessions_over_a_restart() {
    let place = Arc::<Place>::default();
    let dirs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let password = || Secret::new(PASSWORD.to_owned());
    let set = |dir: &tempfile::TempDir| set_user(dir.path(), "ann", Grant::everywhere(Role::Viewer), &password(), 0);
    let server = |at: usize, secret: &str| {
        let dir = dirs[at].path().to_owned();
        let access = Access::new(Some(dir), Settings::default(), ListenScope::LOOPBACK, Clock::system());
        let line = Arc::new(Line(place.clone(), access.clone()));
        access.share(["a", "b"][at].to_owned(), Some(Secret::new(secret.to_owned())), line);
        access
    };
    assert!(dirs.iter().all(|dir| set(dir).unwrap()));
    let (a, b, stranger) = (server(0, "s"), server(1, "s"), server(1, "t"));
    let cookie = with_cookie(&a.by_password(&HeaderMap::new(), None, "ann", password()).await.unwrap().cookie(&a));
    assert_eq!((who(&b, &cookie).await, who(&stranger, &cookie).await), ("ann".into(), "anonymous".into()));
    drop(a);
    let a = server(0, "s");
    assert_eq!(who(&a, &cookie).await, "ann", "a restart alone ends nothing");
    drop(a);
    set(&dirs[0]).unwrap();
    let a = server(0, "s");
    assert_eq!(who(&a, &cookie).await, "anonymous");
    assert!(Line(place.clone(), a.clone()).exchange().await && Line(place.clone(), b.clone()).exchange().await);
    assert_eq!(who(&b, &cookie).await, "anonymous");
}

#[tokio::test]
async fn what_was_idle_elsewhere_is_not_taken_and_use_is_told_once_a_minute() {
    let dir = tempfile::tempdir().unwrap();
    let (_, token) = new_token(dir.path(), "ci", Grant::everywhere(Role::Viewer), 0, None).unwrap();
    let clock = Clock::manual(1_000_000);
    let at = |name: &str| {
        let dir = Some(dir.path().to_owned());
        let access = Access::new(dir, Settings::default(), ListenScope::LOOPBACK, clock.clone());
        access.share(name.to_owned(), None, Arc::new(Line(Arc::default(), access.clone())));
        access
    };
    let (a, b) = (at("a"), at("b"));
    let cookie = with_cookie(&a.by_token(&HeaderMap::new(), None, &token, None).await.unwrap().cookie(&a));
    let principal = a.resolve(&cookie, None).await.unwrap();
    assert!(a.outgoing().is_empty());
    clock.set_ms(1_000_000 + TOUCH_MS - 1);
    a.touch(&principal);
    assert!(a.outgoing().is_empty());
    clock.set_ms(1_000_000 + TOUCH_MS);
    a.touch(&principal);
    let told = a.outgoing();
    assert_eq!(told[0].stamp, 1_000_000 + TOUCH_MS);
    b.take(told.clone(), false).await;
    assert_eq!(who(&b, &cookie).await, "ci");
    clock.set_ms(1_000_000 + TOUCH_MS + IDLE_MS_MAX);
    b.take(told, true).await;
    b.tend().await;
    assert!(b.state().sessions.open.is_empty() && b.outgoing().is_empty());
}
