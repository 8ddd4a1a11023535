//! A scrape of a model with very many locks.

use lockscope_core::observation::{Link, Observation, RootId};
use lockscope_core::observatory::{Observatory, Settings};
use lockscope_core::time::TimeMs;
use lockscope_core::znode::{Facts, SessionId, Zxid};

use super::text::Exposition;
use super::{OTHER, model};
use lockscope_live::project::{EnsembleInfo, MetricSelection, ProjectionContext, Snapshot, figures};
use lockscope_view::Scope;

const NOW: TimeMs = TimeMs(1_000_000);

fn facts(czxid: i64, owner: Option<i64>, ctime_ms: i64, children: u32) -> Box<Facts> {
    let zxid = Zxid(czxid);
    Box::new(Facts {
        czxid: zxid,
        mzxid: zxid,
        pzxid: zxid,
        ctime_ms,
        version: 0,
        cversion: children.cast_signed(),
        children,
        owner: owner.map(SessionId),
        payload: None,
        payload_bytes: 0,
    })
}

/// Locks with so many contenders each, all since half a minute or, the first of each, longer the higher its number.
fn observatory(locks: u32, contenders: u32) -> Observatory {
    let mut observatory = Observatory::new(Settings { roots: vec!["/l".to_owned()], ..Settings::default() }, TimeMs(0));
    let root = RootId(0);
    let mut seen = vec![
        Observation::Link { link: Link::Live, session: Some(SessionId(1)), why: "".into() },
        Observation::SyncBegan { root, why: "first sync".into() },
        Observation::SyncNode { root, path: "/l".into(), facts: facts(1, None, 0, 1), unreadable: false },
    ];
    let mut czxid = 1;
    for lock in 0..locks {
        let path = format!("/l/{lock:05}");
        czxid += 1;
        seen.push(Observation::SyncNode {
            root,
            path: path.clone().into(),
            facts: facts(czxid, None, 0, 1),
            unreadable: false,
        });
        for contender in 0..contenders {
            czxid += 1;
            let at = NOW.0 - 30_000 - i64::from(lock);
            let path =
                format!("{path}/_c_3f2504e0-4f89-41d3-9a0c-0305e82c33{:02x}-lock-{contender:010}", contender % 256);
            seen.push(Observation::SyncNode {
                root,
                path: path.into(),
                facts: facts(czxid, Some(czxid), at, 0),
                unreadable: false,
            });
        }
    }
    seen.push(Observation::SyncEnded { root });
    seen.push(Observation::Synced { sent_at: NOW });
    seen.into_iter().for_each(|observation| drop(observatory.apply(NOW, observation)));
    observatory
}

fn look(observatory: &Observatory, scope: &Scope, apart: &MetricSelection) -> Snapshot {
    let ensemble = EnsembleInfo {
        name: "prod".to_owned(),
        connect: "a:1".to_owned(),
        color: None,
        has_others: false,
        labels: Default::default(),
        excluded: None,
        proof: Default::default(),
    };
    let look = ProjectionContext { observatory, ensemble: &ensemble, scope, now: NOW };
    figures(&[look], apart).remove(0)
}

fn text(figures: &Snapshot) -> String {
    let mut out = Exposition::default();
    model::tell(figures, &mut out);
    out.finish()
}

fn paths(figures: &Snapshot) -> Vec<&str> {
    figures.apart.iter().map(|lock| lock.path.as_str()).collect()
}

#[test]
fn ten_thousand_locks_make_a_small_scrape() {
    let observatory = observatory(10_000, 3);
    let figures = look(&observatory, &Scope::ALL, &MetricSelection { top: 20, patterns: vec!["/l/0000*".to_owned()] });
    assert_eq!((figures.all.locks, figures.all.holders, figures.all.waiters), (10_000, 10_000, 20_000));
    assert_eq!((figures.apart.len(), figures.rest.locks, figures.rest.waiters), (30, 9_970, 19_940));
    // Those that were named, and those whose waiters waited longest.
    assert!(
        paths(&figures).contains(&"/l/00003")
            && paths(&figures).contains(&"/l/09999")
            && !paths(&figures).contains(&"/l/05000")
    );
    let text = text(&figures);
    assert_eq!(text.matches("\nlockscope_lock_waiters{").count(), 31);
    assert!(text.contains(&format!("lockscope_lock_waiters{{ensemble=\"prod\",path=\"{OTHER}\"}} 19940\n")), "{text}");
    assert!(text.contains("lockscope_oldest_wait_seconds{ensemble=\"prod\"} 39.999\n"), "{text}");
    assert!(text.len() < 64 * 1024, "{} bytes", text.len());
}

#[test]
fn none_is_told_apart_where_none_is_wanted() {
    let observatory = observatory(3, 2);
    let told = look(&observatory, &Scope::ALL, &MetricSelection::default());
    assert_eq!((paths(&told).len(), told.rest.waiters), (0, 3));
    let told = look(&observatory, &Scope::ALL, &MetricSelection { top: 5, patterns: Vec::new() });
    assert_eq!((paths(&told).len(), told.rest.locks), (3, 0));
}

#[test]
fn who_sees_a_part_is_told_of_that_part() {
    let observatory = observatory(10, 2);
    let scope = Scope::new(lockscope_view::Within::new(&[], &["/l/00007".to_owned()]), false);
    let figures = look(&observatory, &scope, &MetricSelection { top: 20, patterns: Vec::new() });
    assert_eq!((paths(&figures), figures.all.waiters, figures.counted.is_none()), (vec!["/l/00007"], 1, true));
    let text = text(&figures);
    assert!(!text.contains("/l/00001") && !text.contains("lockscope_events_total{"), "{text}");
}
