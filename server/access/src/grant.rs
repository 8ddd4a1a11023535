//! What a token or a user is given: a role and how far it reaches; and what names they may have.

use std::net::IpAddr;

use lockscope_audit::Actor;
use lockscope_view::{Role, SignedBy, Within};
use serde::{Deserialize, Serialize};

use super::AccessError;

pub(super) const NAME_CHARS_MAX: usize = 64;
/// Ensembles or paths of one grant.
const REACH_MAX: usize = 100;
pub(super) const ANONYMOUS: &str = "anonymous";
/// The actor in the audit log when nobody is known.
const SERVER: &str = "lockscope";

/// A role and how far it reaches. Empty lists reach everywhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    pub role: Role,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ensembles: Vec<String>,
    /// At and below which paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
}

impl Grant {
    pub fn everywhere(role: Role) -> Self {
        Self { role, ensembles: Vec::new(), paths: Vec::new() }
    }

    /// What was written on the command line.
    ///
    /// # Errors
    /// A path that is none, or too many.
    pub fn new(role: Role, ensembles: &[String], paths: &[String]) -> Result<Self, AccessError> {
        for path in paths {
            let is_clean = path.starts_with('/')
                && (path == "/" || !path.ends_with('/'))
                && !path.contains("//")
                && !path.contains(char::is_control);
            if !is_clean {
                return Err(AccessError(format!(
                    "--path {path:?} is no path; write it like /shop, without a slash at the end"
                )));
            }
        }
        if let Some(name) = ensembles.iter().find(|name| name.is_empty() || name.contains(char::is_control)) {
            return Err(AccessError(format!(
                "--ensemble {name:?} is no name; write it as it stands in the configuration, like prod-eu"
            )));
        }
        if ensembles.len().max(paths.len()) > REACH_MAX {
            return Err(AccessError(format!(
                "more than {REACH_MAX} ensembles or paths were named; name what is above them"
            )));
        }
        Ok(Self { role, ensembles: ensembles.to_vec(), paths: paths.to_vec() })
    }

    pub fn scope(&self) -> Within {
        Within::new(&self.ensembles, &self.paths)
    }

    /// Somebody who has it.
    pub(super) fn actor(&self, name: String, by: SignedBy, address: Option<IpAddr>) -> Actor {
        Actor { name, role: self.role, scope: self.scope(), by, address }
    }

    /// In words, for lists.
    pub fn reach(&self) -> String {
        let all = self.ensembles.iter().chain(&self.paths).map(String::as_str).collect::<Vec<_>>().join(" ");
        if all.is_empty() { "everywhere".to_owned() } else { all }
    }
}

/// Whether somebody may be called so.
pub fn check_name(name: &str) -> Result<(), AccessError> {
    let is_one = !name.is_empty()
        && name.len() <= NAME_CHARS_MAX
        && name.chars().all(|char| char.is_ascii_alphanumeric() || "._@+-".contains(char));
    if is_one && !is_reserved(name) && !name.starts_with('-') {
        return Ok(());
    }
    Err(AccessError(format!(
        "--name {name:?} is no name; write 1 to {NAME_CHARS_MAX} letters, digits, dots, dashes, underscores, @ or +, like ci-release, other than \
         {ANONYMOUS} and {SERVER}"
    )))
}

/// Whether a name is nobody's: who bears it would be taken for nobody, or for the server itself.
pub(super) fn is_reserved(name: &str) -> bool {
    name.eq_ignore_ascii_case(ANONYMOUS) || name.eq_ignore_ascii_case(SERVER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_paths_are_checked() {
        for name in ["ci", "a.b@c+d", "0"] {
            assert_eq!(check_name(name), Ok(()), "{name}");
        }
        for name in ["", "a b", "anonymous", "lockscope", "LockScope", "-x", "ä", "a\n", &"a".repeat(65)] {
            assert!(check_name(name).is_err(), "{name:?}");
        }
        let paths = |path: &str| Grant::new(Role::Operator, &[], &[path.to_owned()]);
        assert!(paths("/").is_ok() && paths("/a/b").is_ok());
        for path in ["", "a", "/a/", "//a", "/a\u{0}"] {
            assert!(paths(path).is_err(), "{path:?}");
        }
    }
}
