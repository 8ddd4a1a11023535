//! One child process behind a guard that outlives us: whatever ends our process, a panic, Ctrl-C or SIGKILL, the guard
//! ends the child and removes its folder. Knows nothing of ZooKeeper.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

const TERMINATE_MAX: Duration = Duration::from_secs(30);
/// How often the end of a child is looked for.
const WAIT_STEP: Duration = Duration::from_millis(5);

/// The guard: holds our pipe on its standard input. A word on it is an order; its end means that we are gone.
const GUARD: &str = r#"
dir=$1; log=$2; shift 2
"$@" >>"$log" 2>&1 </dev/null &
pid=$!
while read -r word; do
  case $word in
    pause) kill -STOP "$pid" ;;
    resume) kill -CONT "$pid" ;;
    terminate) kill -CONT "$pid"; kill -TERM "$pid"; wait "$pid"; exit 0 ;;
    kill) kill -KILL "$pid"; wait "$pid"; exit 0 ;;
  esac
done
kill -KILL "$pid" 2>/dev/null
wait "$pid" 2>/dev/null
rm -rf -- "$dir"
"#;

#[derive(Debug)]
pub struct GuardedChild {
    guard: Child,
    orders: Option<ChildStdin>,
}

impl GuardedChild {
    /// Starts `program`, writing its output to `log`; `folder` is removed if we end without [`GuardedChild::end`].
    pub fn start(folder: &Path, log: &Path, program: &Path, arguments: &[&OsStr]) -> io::Result<Self> {
        let mut guard = Command::new("/bin/sh")
            .arg("-c")
            .arg(GUARD)
            .arg("guard")
            .arg(folder)
            .arg(log)
            .arg(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Its own process group: Ctrl-C at the terminal must reach us, not the guard.
            .process_group(0)
            .spawn()?;
        let orders = guard.stdin.take();
        Ok(Self { guard, orders })
    }

    /// Stops or continues the child without ending it.
    pub fn pause(&mut self, paused: bool) -> io::Result<()> {
        self.order(if paused { "pause" } else { "resume" })
    }

    /// Ends the child, kindly or not, and waits until it is gone. Its folder stays.
    pub async fn end(mut self, kindly: bool) -> io::Result<()> {
        self.order(if kindly { "terminate" } else { "kill" })?;
        let deadline = Instant::now() + TERMINATE_MAX;
        while self.guard.try_wait()?.is_none() {
            if Instant::now() >= deadline {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "the child did not end"));
            }
            tokio::time::sleep(WAIT_STEP).await;
        }
        self.orders = None;
        Ok(())
    }

    fn order(&mut self, word: &str) -> io::Result<()> {
        let orders = self.orders.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        orders.write_all(format!("{word}\n").as_bytes())
    }
}

impl Drop for GuardedChild {
    fn drop(&mut self) {
        // Closing the pipe is the order to kill and clean up; waiting for it keeps "nothing is left" true.
        self.orders = None;
        if let Err(error) = self.guard.wait() {
            tracing::warn!(%error, "could not wait for the guard of a child process");
        }
    }
}
