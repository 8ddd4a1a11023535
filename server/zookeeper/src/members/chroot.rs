//! Members report full paths; clients with a chroot use paths below it. Pure.

use lockscope_core::evidence::{MemberAnswer, Report};
use lockscope_core::znode::is_under;

use super::super::connect_string::split_chroot;

/// The chroot of a connect string; empty without one.
pub(super) fn chroot_of(connect: &str) -> &str {
    split_chroot(connect).1.trim_end_matches('/')
}

/// Names paths as clients with this chroot do, and leaves out what they can't name.
pub(super) fn strip(report: &mut Report, chroot: &str) {
    if chroot.is_empty() {
        return;
    }
    let within = |path: &str| {
        let rest = path.strip_prefix(chroot).filter(|_| is_under(path, chroot))?;
        Some(Box::<str>::from(if rest.is_empty() { "/" } else { rest }))
    };
    if let MemberAnswer::Ok { value, .. } = &mut report.sessions {
        for paths in value.ephemerals.values_mut() {
            *paths = paths.iter().filter_map(|path| within(path)).collect();
        }
    }
    if let MemberAnswer::Ok { value, .. } = &mut report.watches {
        value.by_path = std::mem::take(&mut value.by_path)
            .into_iter()
            .filter_map(|(path, by)| Some((within(&path)?, by)))
            .collect();
    }
}

#[cfg(test)]
mod tests {
    use lockscope_core::evidence::{SessionTable, WatchTable};
    use lockscope_core::time::TimeMs;
    use lockscope_core::znode::SessionId;

    use super::*;

    #[test]
    fn paths_are_named_as_clients_name_them() {
        let session = SessionId(7);
        let ephemerals = [(session, vec!["/app/x".into(), "/apple".into(), "/app".into()])].into_iter().collect();
        let by_path = [("/app/x".into(), vec![session]), ("/other".into(), vec![session])].into_iter().collect();
        let mut report = Report {
            member: "a:1".into(),
            number: None,
            by: "".into(),
            is_down: false,
            connections: MemberAnswer::NotAsked,
            sessions: MemberAnswer::Ok {
                asked_at: TimeMs(1),
                value: SessionTable { ephemerals, ..SessionTable::default() },
            },
            watches: MemberAnswer::Ok { asked_at: TimeMs(1), value: WatchTable { by_path } },
            health: MemberAnswer::NotAsked,
        };
        strip(&mut report, chroot_of("a:1,b:2/app"));
        assert_eq!(*report.sessions.value().unwrap().1.ephemerals[&session], ["/x".into(), "/".into()]);
        assert_eq!(report.watches.value().unwrap().1.by_path.keys().map(|path| &**path).collect::<Vec<_>>(), ["/x"]);
        assert_eq!((chroot_of("a:1"), chroot_of("a:1/")), ("", ""));
    }
}
