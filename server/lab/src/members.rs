//! Where the lab's sessions connect to: the members and the chroot of a connect string. Text only.

use std::sync::Arc;

use super::LabEnsemble;
use lockscope_zookeeper::split_chroot;

/// Members of an ensemble, and the chroot below which the lab works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Members {
    /// `host:port` of each, in their order; never empty for a connect string that was checked.
    pub addresses: Arc<[String]>,
    /// Like `/app`; empty: none.
    pub chroot: String,
}

impl Members {
    pub fn of(place: &LabEnsemble) -> Self {
        let (servers, chroot) = split_chroot(&place.connect);
        let addresses =
            servers.split(',').map(str::trim).filter(|server| !server.is_empty()).map(str::to_owned).collect();
        Self { addresses, chroot: chroot.to_owned() }
    }

    /// The connect string of a client that goes through another address, a relay's, and sees the same tree.
    pub fn through(&self, address: &str) -> String {
        format!("{address}{}", self.chroot)
    }
}

/// Why a lab root can't be used beside these configured lock roots, in one sentence with the remedy; None: it can. It
/// may lie below a lock root, so that the board shows it, but must not be one or hold one: what is below it is removed.
pub fn root_fault(lab_root: &str, roots: &[String]) -> Option<String> {
    const REMEDY: &str = "name a directory of its own for the lab, like /lockscope-lab";
    let is_path = lab_root.len() > 1 && lab_root.starts_with('/') && !lab_root.ends_with('/');
    if !is_path
        || lab_root.split('/').skip(1).any(|part| matches!(part, "" | "." | ".."))
        || lab_root.contains(char::is_control)
    {
        return Some(format!("the lab's root {lab_root:?} is no path of a directory; {REMEDY}"));
    }
    if lab_root == "/zookeeper" || lab_root.starts_with("/zookeeper/") {
        return Some(format!("the lab's root {lab_root:?} is ZooKeeper's own; {REMEDY}"));
    }
    let inside =
        |root: &&String| root.strip_prefix(lab_root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    roots.iter().find(inside).map(|root| match root == lab_root {
        true => format!("the lab's root {lab_root:?} is a configured lock root, and the lab removes what is in its root; {REMEDY}"),
        false => format!("the lab's root {lab_root:?} holds the configured lock root {root:?}, and the lab removes what is in its root; {REMEDY}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(connect: &str) -> Members {
        Members::of(&LabEnsemble {
            ensemble: "a".to_owned(),
            connect: connect.to_owned(),
            credentials: Default::default(),
            root: "/lab".to_owned(),
        })
    }

    #[test]
    fn a_connect_string_is_taken_apart() {
        let plain = members("a:1");
        assert_eq!((&*plain.addresses, plain.chroot.as_str()), (&["a:1".to_owned()][..], ""));
        let long = members("a:1,[::1]:2/app/b");
        assert_eq!((&*long.addresses, long.chroot.as_str()), (&["a:1".to_owned(), "[::1]:2".to_owned()][..], "/app/b"));
        assert_eq!(
            (plain.through("127.0.0.1:9"), long.through("127.0.0.1:9")),
            ("127.0.0.1:9".to_owned(), "127.0.0.1:9/app/b".to_owned())
        );
    }

    #[test]
    fn a_lab_root_holds_no_lock_root() {
        let roots = ["/".to_owned(), "/locks/a".to_owned()];
        for good in ["/lockscope-lab", "/locks/b", "/locks/ab", "/locks/a/b", "/l"] {
            assert_eq!(root_fault(good, &roots), None, "{good}");
        }
        for bad in [
            "/locks",
            "/locks/a",
            "",
            "/",
            "lab",
            "/lab/",
            "//lab",
            "/a/../b",
            "/a\u{0}",
            "/zookeeper",
            "/zookeeper/lab",
        ] {
            let fault = root_fault(bad, &roots).unwrap_or_else(|| panic!("{bad}"));
            assert!(fault.contains(&format!("{bad:?}")) && fault.contains("/lockscope-lab"), "{fault}");
        }
    }
}
