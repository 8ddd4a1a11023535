//! Finds Java and ZooKeeper's jars on this machine and says clearly what is missing. Knows file names, starts nothing.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

const DEBIAN_JARS: &str = "/usr/share/java";

/// Debian's jars in class path order. `zookeeper.jar` names the rest in its manifest, except the last ones:
/// without servlet-api the AdminServer dies with only a warning in the log, without the rest of Netty its connections
/// (which TLS needs) fail one by one.
const DEBIAN_CLASS_PATH: [&str; 6] = [
    "zookeeper.jar",
    "servlet-api.jar",
    "jetty9-util-ajax.jar",
    "slf4j-simple.jar",
    "netty-codec.jar",
    "netty-resolver.jar",
];

/// What is missing to start a ZooKeeper server, and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum JavaError {
    #[error(
        "no Java found (looked in JAVA_HOME and PATH): install one, e.g. `apt-get install default-jre-headless`, or set JAVA_HOME"
    )]
    NoJava,
    #[error(
        "no ZooKeeper jars found ({missing} is missing): run `apt-get install zookeeper libservlet-api-java libjetty9-java`, \
         or set ZOOKEEPER_HOME to an unpacked Apache ZooKeeper distribution (the folder that has lib/)"
    )]
    NoJars { missing: String },
    #[error(
        "ZOOKEEPER_HOME={home} has no lib/zookeeper-*.jar: set it to an unpacked Apache ZooKeeper distribution, or unset it to use installed jars"
    )]
    BadHome { home: String },
}

/// Java and the class path that starts a ZooKeeper server.
#[derive(Clone, Debug)]
pub(super) struct Java {
    pub(super) program: PathBuf,
    pub(super) class_path: OsString,
}

impl Java {
    /// Looks around: `ZOOKEEPER_HOME` first, then the system's jars.
    pub(super) fn find() -> Result<Self, JavaError> {
        let program = find_program().ok_or(JavaError::NoJava)?;
        let class_path = match env::var_os("ZOOKEEPER_HOME") {
            Some(home) if !home.is_empty() => home_class_path(Path::new(&home))?,
            _ => debian_class_path(Path::new(DEBIAN_JARS))?,
        };
        Ok(Self { program, class_path })
    }
}

fn find_program() -> Option<PathBuf> {
    let home = env::var_os("JAVA_HOME").map(|home| Path::new(&home).join("bin"));
    let path = env::var_os("PATH").unwrap_or_default();
    home.into_iter().chain(env::split_paths(&path)).map(|folder| folder.join("java")).find(|file| file.is_file())
}

fn home_class_path(home: &Path) -> Result<OsString, JavaError> {
    let lib = home.join("lib");
    let has_server = std::fs::read_dir(&lib).is_ok_and(|entries| {
        entries.flatten().any(|entry| {
            entry.file_name().to_str().is_some_and(|name| name.starts_with("zookeeper-") && name.ends_with(".jar"))
        })
    });
    if !has_server {
        return Err(JavaError::BadHome { home: home.display().to_string() });
    }
    // Java itself expands the star to every jar of the folder.
    Ok(lib.join("*").into_os_string())
}

fn debian_class_path(folder: &Path) -> Result<OsString, JavaError> {
    let jars: Vec<PathBuf> = DEBIAN_CLASS_PATH.iter().map(|name| folder.join(name)).collect();
    if let Some(missing) = jars.iter().find(|jar| !jar.exists()) {
        return Err(JavaError::NoJars { missing: missing.display().to_string() });
    }
    env::join_paths(&jars).map_err(|_| JavaError::NoJars { missing: folder.display().to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_jar_is_named_with_its_remedy() {
        let Err(error) = debian_class_path(Path::new("/nowhere")) else { panic!("found jars nowhere") };
        let text = error.to_string();
        assert!(
            text.contains("/nowhere/zookeeper.jar")
                && text.contains("apt-get install zookeeper")
                && text.contains("ZOOKEEPER_HOME"),
            "{text}"
        );
    }

    #[test]
    fn a_wrong_home_is_named() {
        let Err(error) = home_class_path(Path::new("/nowhere")) else { panic!("found a distribution nowhere") };
        assert!(error.to_string().contains("/nowhere"), "{error}");
    }
}
