//! A contender that may not be read is noticed some milliseconds after it came. A past moment of these milliseconds lacks
//! it beside one that came after it, and says that it may lack somebody.

use zookeeper_client::{Acl, Acls, AuthId, CreateMode, Permission};

use super::{Recorded, now_ms};
use crate::harness::open;
use crate::served::until;

/// Tries, until one has a moment at which only the later contender was seen.
const TRIES: usize = 20;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_moment_that_lacks_who_may_not_be_read_does_not_claim_to_be_whole() {
    let recorded = Recorded::start("").await;
    let client = open(&recorded.zookeeper.address()).await;
    client.auth("digest", b"app:secret").await.unwrap();
    let secret = [Acl::new(Permission::ALL, AuthId::authed())];
    let unreadable = CreateMode::EphemeralSequential.with_acls(Acls::new(&secret));
    let readable = CreateMode::EphemeralSequential.with_acls(Acls::anyone_all());
    let (mut lacking, mut whole) = (0, Vec::new());
    for number in 0..TRIES {
        let lock = format!("/a/order-{number}");
        recorded.truth.make(&lock).await;
        let path = |sequence: &str| format!("{lock}/lock-{sequence}");
        let first = path(&client.create(&path(""), b"", &readable).await.unwrap().1.to_string());
        recorded.until_holds(&lock, &first).await;
        let begun = now_ms();
        client.create(&path(""), b"", &unreadable).await.unwrap();
        let last = path(&client.create(&path(""), b"", &readable).await.unwrap().1.to_string());
        until(async || recorded.lock(&lock, "").await["complete"] == false).await;
        let noticed = now_ms();
        recorded.until_kept(noticed + 1_000).await;
        for at in begun..noticed {
            let then = recorded.lock(&lock, &at.to_string()).await;
            let rows = then["contenders"].as_array().unwrap_or_else(|| panic!("{then:#}"));
            if rows.len() == 2 && rows[1]["path"] == *last {
                lacking += 1;
                if then["complete"] != false {
                    whole.push(then);
                }
            }
        }
        if lacking > 0 {
            break;
        }
    }
    assert!(lacking > 0, "in none of {TRIES} tries was the later contender seen before the other one");
    assert!(
        whole.is_empty(),
        "{} of {lacking} moments that lack somebody claim to be whole: {:#}",
        whole.len(),
        whole[0]
    );
}
