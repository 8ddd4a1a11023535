//! `lockscope token …` and `lockscope user …`: what they do and what they say. Words go to standard error; standard
//! output has only what scripts take.

use std::fs::File;
use std::io::{IsTerminal as _, Read, Write as _};
use std::path::Path;
use std::time::Duration;

use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

use crate::cli::{GrantArgs, TokenArgs, TokenCommand, UserArgs, UserCommand};
use crate::config::{ConfigError, ProcessEnvironment, data_dir, lifetime};
use crate::error::RunError;
use crate::stdout;
use lockscope_access::{
    AccessError, Grant, PASSWORD_BYTES_MAX, Secret, TokenRecord, is_set_so, list_tokens, list_users, new_token,
    remove_user, revoke_token, set_user,
};
use lockscope_runtime::clock::Clock;

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

impl From<AccessError> for RunError {
    fn from(error: AccessError) -> Self {
        Self::Config(ConfigError(error.0))
    }
}

/// Carries out `token`.
pub(super) fn token(args: &TokenArgs, clock: &Clock) -> Result<(), RunError> {
    let dir = data_dir(args.data.data_dir.as_deref(), args.data.config.as_deref(), &ProcessEnvironment)?;
    match &args.command {
        TokenCommand::New { grant, expires } => make(&dir, grant, expires.as_deref(), clock),
        TokenCommand::List => {
            for record in list_tokens(&dir)? {
                stdout::print(&format!(
                    "{}  {}  {}  {}  {}",
                    record.id,
                    record.name,
                    record.grant.role,
                    record.grant.reach(),
                    until(&record, clock.now_ms())
                ));
            }
            Ok(())
        }
        TokenCommand::Revoke { name, id } => {
            let record = revoke_token(&dir, name.as_deref().or(id.as_deref()).unwrap_or_default())?;
            tell(&format!(
                "revoked the token {} ({}); a running server rejects it within a second",
                record.name, record.id
            ));
            Ok(())
        }
    }
}

fn make(dir: &Path, args: &GrantArgs, expires: Option<&str>, clock: &Clock) -> Result<(), RunError> {
    let lives_ms = expires.map(|text| lifetime("--expires", text)).transpose()?.map(millis);
    let grant = Grant::new(args.role, &args.ensemble, &args.path)?;
    let (record, token) = new_token(dir, &args.name, grant, clock.now_ms(), lives_ms)?;
    tell(&format!(
        "the token {} has the role {} ({}); {}",
        record.name,
        record.grant.role,
        record.grant.reach(),
        until(&record, clock.now_ms())
    ));
    tell(&format!(
        "its hash is kept in {}; the token is shown only once, keep it where only its user can read it:",
        dir.display()
    ));
    stdout::print(token.expose());
    Ok(())
}

fn until(record: &TokenRecord, now_ms: i64) -> String {
    match record.expires_at_ms {
        None => "never expires".to_owned(),
        Some(at) if at <= now_ms => "expired".to_owned(),
        Some(at) if at - now_ms < 2 * DAY_MS => format!("expires in {} minutes", (at - now_ms + 59_999) / 60_000),
        Some(at) => format!("expires in {} days", (at - now_ms + DAY_MS - 1) / DAY_MS),
    }
}

fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

/// Carries out `user`.
pub(super) fn user(args: &UserArgs, clock: &Clock) -> Result<(), RunError> {
    let dir = data_dir(args.data.data_dir.as_deref(), args.data.config.as_deref(), &ProcessEnvironment)?;
    match &args.command {
        UserCommand::Set { grant: args, password_file } => {
            let grant = Grant::new(args.role, &args.ensemble, &args.path)?;
            lockscope_access::check_name(&args.name)?;
            let password = match password_file {
                Some(file) => read_file(file)?,
                None => ask_password(&args.name)?,
            };
            // What starts a server may say this each time: nobody is signed out by it.
            if password_file.is_some() && is_set_so(&dir, &args.name, &grant, &password)? {
                tell(&format!("the user {} is set so already, in {}", args.name, dir.display()));
                return Ok(());
            }
            let is_new = set_user(&dir, &args.name, grant.clone(), &password, clock.now_ms())?;
            let done = if is_new { "added" } else { "changed (existing sessions end)" };
            tell(&format!("{done} the user {}, {} ({}), in {}", args.name, grant.role, grant.reach(), dir.display()));
        }
        UserCommand::List => {
            for record in list_users(&dir)? {
                stdout::print(&format!("{}  {}  {}", record.name, record.grant.role, record.grant.reach()));
            }
        }
        UserCommand::Remove { name } => {
            remove_user(&dir, name)?;
            tell(&format!("removed the user {name}; their sessions end within a second"));
        }
    }
    Ok(())
}

/// The password: one line of standard input, or typed twice without being shown.
fn ask_password(name: &str) -> Result<Secret, RunError> {
    if !std::io::stdin().is_terminal() {
        return read_line();
    }
    let hidden = EchoOff::begin()?;
    prompt(&format!("password of {name}: "));
    let first = read_line();
    prompt("\nrepeat it: ");
    let second = read_line();
    prompt("\n");
    drop(hidden);
    let (first, second) = (first?, second?);
    if first == second {
        Ok(first)
    } else {
        Err(AccessError("the two passwords differ; nothing was changed, try again".to_owned()).into())
    }
}

fn read_line() -> Result<Secret, RunError> {
    first_line(std::io::stdin().lock(), "standard input")
}

fn read_file(file: &Path) -> Result<Secret, RunError> {
    let place = file.display().to_string();
    let opened =
        File::open(file).map_err(|error| AccessError(format!("--password-file {place} can't be opened: {error}")))?;
    first_line(opened, &place)
}

fn first_line(mut input: impl Read, place: &str) -> Result<Secret, RunError> {
    let failed = |error: std::io::Error| {
        AccessError(format!("the password can't be read from {place} ({error}); give it as one line"))
    };
    let mut line = Vec::new();
    let mut byte = [0];
    // Byte by byte: a buffer would take the second line with the first.
    while line.len() <= PASSWORD_BYTES_MAX + 1 && input.read(&mut byte).map_err(failed)? == 1 && byte != [b'\n'] {
        line.extend(byte);
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    let text = String::from_utf8(line)
        .map_err(|_| AccessError("the password is not UTF-8 text; send it as such".to_owned()))?;
    Ok(Secret::new(text))
}

/// The terminal without echo, until dropped.
struct EchoOff(rustix::termios::Termios);

impl EchoOff {
    fn begin() -> Result<Self, RunError> {
        let failed = |error: rustix::io::Errno| {
            AccessError(format!("the terminal can't hide what is typed ({error}); send the password to standard input"))
        };
        let before = tcgetattr(std::io::stdin()).map_err(failed)?;
        let mut quiet = before.clone();
        quiet.local_modes.remove(LocalModes::ECHO);
        tcsetattr(std::io::stdin(), OptionalActions::Flush, &quiet).map_err(failed)?;
        Ok(Self(before))
    }
}

impl Drop for EchoOff {
    fn drop(&mut self) {
        // If it fails, the terminal is gone.
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Flush, &self.0);
    }
}

fn prompt(text: &str) {
    let mut err = std::io::stderr().lock();
    // A closed standard error is nobody reading.
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}

fn tell(text: &str) {
    prompt(&format!("lockscope: {text}\n"));
}
