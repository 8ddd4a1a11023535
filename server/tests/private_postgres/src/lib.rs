//! A real PostgreSQL server of our own: loopback only, a free port, a temporary folder, nothing synced to disk; gone when
//! dropped. PostgreSQL refuses to run as root, so as root it runs as the user that its package brings.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use lockscope_demo::{DemoError, GuardedChild, free_port};

/// How long it may take until it can be asked.
const START_MAX: Duration = Duration::from_secs(60);
const START_STEP: Duration = Duration::from_millis(25);
/// Starts that are tried while processes of the one before end, or a port turns out to be taken.
const START_TRIES: u32 = 5;
/// Where packages put its programs; a folder of this variable comes first.
const PROGRAMS: &str = "POSTGRES_BIN";
const FOLDERS: [&str; 2] = ["/usr/lib/postgresql", "/usr"];
/// Users it may run as where we are root.
const USERS: [&str; 2] = ["postgres", "nobody"];
/// The user of the database, and the database.
const NAME: &str = "lockscope";
/// The password of this user: it is asked for, so that what asks for it is tried, and guards nothing.
const PASSWORD: &str = "private";
/// Lines of its log that an error shows.
const LOG_LINES_MAX: usize = 12;

/// Why a private server can't be had.
#[derive(Debug, thiserror::Error)]
pub enum PostgresError {
    /// It is not installed.
    #[error("PostgreSQL is missing: install Debian's postgresql, or name the folder of initdb in POSTGRES_BIN")]
    Missing,
    /// No port is free.
    #[error(transparent)]
    Port(#[from] DemoError),
    /// A file, folder or process could not be had.
    #[error("could not {doing}: {source}")]
    System {
        /// What was being done.
        doing: &'static str,
        /// What went wrong.
        source: std::io::Error,
    },
    /// It does not answer.
    #[error("the private PostgreSQL at 127.0.0.1:{port} does not start; the end of its log:\n{log}")]
    Silent {
        /// Its port.
        port: u16,
        /// The last lines it logged.
        log: String,
    },
}

fn system(doing: &'static str) -> impl FnOnce(std::io::Error) -> PostgresError {
    move |source| PostgresError::System { doing, source }
}

/// One real server process with its data.
#[derive(Debug)]
pub struct PrivatePostgres {
    programs: PathBuf,
    /// What runs a program as another user; empty where that is not needed.
    as_user: Vec<OsString>,
    port: u16,
    /// Declared before the folder: the process ends first when this value is dropped.
    process: Option<GuardedChild>,
    folder: tempfile::TempDir,
}

impl PrivatePostgres {
    /// Makes a server, starts it and waits until it answers.
    ///
    /// # Errors
    /// PostgreSQL is not installed, or does not start.
    pub async fn start() -> Result<Self, PostgresError> {
        let mut server = Self::prepare()?;
        server.make().await?;
        server.launch().await?;
        server.run("createdb", &[NAME]).await?;
        Ok(server)
    }

    fn prepare() -> Result<Self, PostgresError> {
        let programs = programs().ok_or(PostgresError::Missing)?;
        let folder = tempfile::Builder::new()
            .prefix("lockscope-postgres-")
            .tempdir()
            .map_err(system("make a temporary folder"))?;
        let owner = fs::metadata(folder.path()).map_err(system("look at a temporary folder"))?.uid();
        let as_user = if owner == 0 { other_user(folder.path())? } else { Vec::new() };
        Ok(Self { programs, as_user, port: free_port()?, process: None, folder })
    }

    async fn make(&self) -> Result<(), PostgresError> {
        let password = self.folder.path().join("password");
        fs::write(&password, PASSWORD).map_err(system("write a password"))?;
        let data = self.data();
        let arguments = [
            OsStr::new("--pgdata"),
            data.as_os_str(),
            OsStr::new("--pwfile"),
            password.as_os_str(),
            OsStr::new("--username=lockscope"),
            OsStr::new("--auth=scram-sha-256"),
            OsStr::new("--encoding=UTF8"),
            OsStr::new("--locale=C"),
            OsStr::new("--no-sync"),
        ];
        self.finished("initdb", &arguments).await?;
        let settings = format!(
            "fsync = off\nlisten_addresses = '127.0.0.1'\nport = {}\nunix_socket_directories = '{}'\n\
             shared_buffers = 16MB\nmax_connections = 60\nmax_wal_size = 256MB\n",
            self.port,
            self.folder.path().display()
        );
        // It is read by the user that owns it: what is appended leaves the owner as it is.
        let mut file = fs::OpenOptions::new()
            .append(true)
            .open(data.join("postgresql.conf"))
            .map_err(system("write postgresql.conf"))?;
        std::io::Write::write_all(&mut file, settings.as_bytes()).map_err(system("write postgresql.conf"))
    }

    async fn launch(&mut self) -> Result<(), PostgresError> {
        let (deadline, mut tries_left) = (Instant::now() + START_MAX, START_TRIES);
        while tries_left > 0 {
            let postgres = self.programs.join("postgres");
            let mut command = self.as_user.clone();
            command.extend([postgres.into_os_string(), "-D".into(), self.data().into_os_string()]);
            let program = PathBuf::from(command.remove(0));
            let arguments: Vec<&OsStr> = command.iter().map(OsString::as_os_str).collect();
            let _ = fs::remove_file(self.log_file());
            let process = GuardedChild::start(self.folder.path(), &self.log_file(), &program, &arguments)
                .map_err(system("start PostgreSQL"))?;
            self.process = Some(process);
            if self.answers().await {
                return Ok(());
            }
            self.end(false).await?;
            // Processes of a server that was killed hold its memory until they notice.
            if self.log().contains("pre-existing shared memory block") && Instant::now() < deadline {
                tokio::time::sleep(START_STEP).await;
            } else {
                tries_left -= 1;
            }
        }
        let text = self.log();
        let lines: Vec<&str> = text.lines().collect();
        let log = lines[lines.len().saturating_sub(LOG_LINES_MAX)..].join("\n");
        Err(PostgresError::Silent { port: self.port, log })
    }

    /// Waits until it answers; false when it ended, or takes too long.
    async fn answers(&self) -> bool {
        let deadline = Instant::now() + START_MAX;
        while Instant::now() < deadline {
            let log = self.log();
            if log.contains("database system is ready to accept connections") {
                return true;
            }
            if log.contains("FATAL:") && !log.contains("starting up") {
                return false;
            }
            tokio::time::sleep(START_STEP).await;
        }
        false
    }

    /// Its address with user and password: `postgres://…`.
    pub fn url(&self) -> String {
        self.url_with(PASSWORD)
    }

    /// The same with another password.
    pub fn url_with(&self, password: &str) -> String {
        format!("postgres://{NAME}:{password}@127.0.0.1:{}/{NAME}", self.port)
    }

    /// Its port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Where its data lies; gone when this value is.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Ends it as `kill -9` does; its data stays.
    ///
    /// # Errors
    /// The process can't be ended.
    pub async fn kill_minus_9(&mut self) -> Result<(), PostgresError> {
        self.end(false).await
    }

    /// Ends it gracefully; its data stays.
    ///
    /// # Errors
    /// The process can't be ended.
    pub async fn stop(&mut self) -> Result<(), PostgresError> {
        self.end(true).await
    }

    /// Starts it again on the same data and port, ending it first if it runs.
    ///
    /// # Errors
    /// It does not start.
    pub async fn restart(&mut self) -> Result<(), PostgresError> {
        self.end(false).await?;
        self.launch().await
    }

    /// Freezes all its processes (SIGSTOP): sockets stay open, nothing answers.
    ///
    /// # Errors
    /// They can't be found.
    pub fn pause(&self) -> Result<(), PostgresError> {
        self.signal("STOP")
    }

    /// Thaws them.
    ///
    /// # Errors
    /// They can't be found.
    pub fn resume(&self) -> Result<(), PostgresError> {
        self.signal("CONT")
    }

    /// Runs one of its programs as its user, such as `psql`, against the database.
    ///
    /// # Errors
    /// It fails; what it said is in the error.
    pub async fn run(&self, program: &str, arguments: &[&str]) -> Result<String, PostgresError> {
        let arguments: Vec<&OsStr> = arguments.iter().map(OsStr::new).collect();
        let output = self.finished(program, &arguments).await?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Runs SQL and returns what it prints, unaligned.
    ///
    /// # Errors
    /// It fails; what it said is in the error.
    pub async fn sql(&self, sql: &str) -> Result<String, PostgresError> {
        self.run("psql", &["--no-psqlrc", "-qAt", "-v", "ON_ERROR_STOP=1", "-d", NAME, "-c", sql]).await
    }

    async fn finished(&self, program: &str, arguments: &[&OsStr]) -> Result<Output, PostgresError> {
        let mut all = self.as_user.clone();
        all.push(self.programs.join(program).into_os_string());
        let mut command = Command::new(&all[0]);
        command.args(&all[1..]).args(arguments).current_dir(self.folder.path());
        command.env("PGHOST", "127.0.0.1").env("PGPORT", self.port.to_string()).env("PGUSER", NAME);
        command.env("PGPASSWORD", PASSWORD);
        let output = tokio::task::spawn_blocking(move || command.output()).await;
        let output = output.map_err(std::io::Error::other).and_then(|output| output);
        let output = output.map_err(system("run a program of PostgreSQL's"))?;
        if output.status.success() {
            return Ok(output);
        }
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        Err(system("run a program of PostgreSQL's")(std::io::Error::other(format!("{program}: {}", told.trim()))))
    }

    async fn end(&mut self, kindly: bool) -> Result<(), PostgresError> {
        match self.process.take() {
            // SIGTERM waits until all clients have left.
            Some(process) if kindly => {
                self.signal("INT")?;
                process.end(true).await.map_err(system("end PostgreSQL"))
            }
            Some(process) => process.end(false).await.map_err(system("end PostgreSQL")),
            None => Ok(()),
        }
    }

    /// Sends a signal to the server and, where it is to stand still or go on, to each of its processes.
    fn signal(&self, name: &str) -> Result<(), PostgresError> {
        let file = self.data().join("postmaster.pid");
        let text = fs::read_to_string(file).map_err(system("find the process of PostgreSQL"))?;
        let server = text.lines().next().unwrap_or_default().trim().to_owned();
        let mut all = vec![server.clone()];
        if name != "INT" {
            all.extend(children_of(&server));
        }
        let sent = Command::new("/bin/sh").args(["-c", &format!("kill -{name} {}", all.join(" "))]).output();
        sent.map(drop).map_err(system("send PostgreSQL a signal"))
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn log(&self) -> String {
        fs::read_to_string(self.log_file()).unwrap_or_default()
    }

    fn log_file(&self) -> PathBuf {
        self.folder.path().join("server.log")
    }
}

/// The folder with the newest `initdb`.
fn programs() -> Option<PathBuf> {
    let has_it = |folder: &PathBuf| folder.join("initdb").exists() && folder.join("postgres").exists();
    if let Some(folder) = std::env::var_os(PROGRAMS).map(PathBuf::from) {
        return Some(folder).filter(has_it);
    }
    let versions = FOLDERS.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    let number = |folder: &Path| {
        let name = folder.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
        name.and_then(|name| name.trim_start_matches("pgsql-").parse::<u32>().ok()).unwrap_or(0)
    };
    let packaged = versions.map(|version| version.path().join("bin")).filter(has_it);
    packaged.max_by_key(|folder| number(folder)).or_else(|| {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path).find(has_it)
    })
}

/// What runs a program as a user that is not root, to whom the folder is given.
fn other_user(folder: &Path) -> Result<Vec<OsString>, PostgresError> {
    let accounts = fs::read_to_string("/etc/passwd").map_err(system("read /etc/passwd"))?;
    let of = |user: &str| {
        let line = accounts.lines().find(|line| line.split(':').next() == Some(user))?;
        let mut ids = line.split(':').skip(2).map(|id| id.parse::<u32>().ok());
        Some((ids.next()??, ids.next()??))
    };
    let (user, group) = USERS.iter().find_map(|user| of(user)).ok_or(PostgresError::Missing)?;
    chown(folder, Some(user), Some(group)).map_err(system("give a folder to PostgreSQL's user"))?;
    let words =
        ["setpriv".to_owned(), format!("--reuid={user}"), format!("--regid={group}"), "--clear-groups".to_owned()];
    Ok(words.into_iter().map(OsString::from).collect())
}

fn children_of(process: &str) -> Vec<String> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let parent = |id: &str| {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        // Behind the name, which may hold anything: state and parent.
        stat.rsplit_once(") ")?.1.split(' ').nth(1).map(str::to_owned)
    };
    let ids = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    ids.filter(|id| id.starts_with(|c: char| c.is_ascii_digit()) && parent(id).as_deref() == Some(process)).collect()
}
