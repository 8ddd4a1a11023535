//! Pages and exports, over several files and while somebody writes.

use futures_util::StreamExt as _;

use super::*;
use crate::{PageQuery, Records as _, verify_dir};

const ACTS: u64 = 60;

async fn ids(log: &Log, query: PageQuery) -> Vec<u64> {
    log.page(query).await.unwrap().records.iter().map(|record| record.id).collect()
}

#[tokio::test]
async fn pages_go_from_the_newest_to_the_oldest() {
    let place = dir();
    filled(place.path(), ACTS).await;
    let log = open(place.path()).await;
    let total = ACTS + 2;
    assert!(verify_dir(place.path(), None).unwrap().segments.len() > 4);
    let all = ids(&log, PageQuery::default()).await;
    assert_eq!(all, (1..=total).rev().collect::<Vec<_>>());
    for limit in [1, 7, 61, 62, 63] {
        let (mut found, mut before) = (Vec::new(), None);
        loop {
            let page = log.page(PageQuery { before, limit, ..PageQuery::default() }).await.unwrap();
            assert_eq!(page.total, total);
            assert!(page.records.len() <= limit);
            found.extend(page.records.iter().map(|record| record.id));
            before = page.next_before;
            if before.is_none() {
                break;
            }
        }
        assert_eq!(found, all, "limit {limit}");
    }
    for before in 0..=total + 2 {
        let expected: Vec<u64> = (1..before.min(total + 1)).rev().take(5).collect();
        assert_eq!(ids(&log, PageQuery { before: Some(before), limit: 5, ..PageQuery::default() }).await, expected);
    }
    assert_eq!(ids(&log, PageQuery { after: Some(total - 2), ..PageQuery::default() }).await, [total, total - 1]);
    assert!(ids(&log, PageQuery { after: Some(total), ..PageQuery::default() }).await.is_empty());
}

#[tokio::test]
async fn pages_are_filtered() {
    let place = dir();
    filled(place.path(), ACTS).await;
    let log = open(place.path()).await;
    let acts = |keep: fn(&u64) -> bool| (0..ACTS).filter(keep).map(|number| number + 2).rev().collect::<Vec<_>>();
    let by = PageQuery { actor: Some("ann".to_owned()), ..PageQuery::default() };
    assert_eq!(ids(&log, by).await, acts(|number| number.is_multiple_of(3)));
    let of = PageQuery { kind: Some(AuditKind::ReleaseIntent), ..PageQuery::default() };
    assert_eq!(ids(&log, of).await, acts(|number| number.is_multiple_of(2)));
    let at = PageQuery { lock: Some("/locks/3".to_owned()), ..PageQuery::default() };
    assert_eq!(ids(&log, at).await, acts(|number| number % 5 == 3));
    let nobody = PageQuery { actor: Some("an".to_owned()), ..PageQuery::default() };
    assert!(ids(&log, nobody).await.is_empty());
}

#[tokio::test]
async fn an_export_is_the_bytes_of_the_files() {
    let place = dir();
    filled(place.path(), ACTS).await;
    let log = open(place.path()).await;
    let export = log.export().await.unwrap();
    let expected: Vec<u8> = verify_dir(place.path(), None)
        .unwrap()
        .segments
        .iter()
        .flat_map(|segment| std::fs::read(&segment.path).unwrap())
        .collect();
    // What is written after it was asked for is not in it, even over a change of files.
    for number in 0..30 {
        log.append(act(number)).await.unwrap();
    }
    let chunks: Vec<_> = export.chunks.map(Result::unwrap).collect().await;
    assert_eq!(chunks.concat(), expected);
    assert_eq!(export.bytes, expected.len() as u64);
}

#[tokio::test]
async fn exports_at_once_are_limited() {
    let place = dir();
    let log = open(place.path()).await;
    log.append(act(1)).await.unwrap();
    let permits = log.shared().exports.clone().try_acquire_many_owned(4).unwrap();
    let error = log.export().await.unwrap_err().to_string();
    assert!(error.contains("exports run already"), "{error}");
    drop(permits);
    assert!(log.export().await.is_ok());
}
