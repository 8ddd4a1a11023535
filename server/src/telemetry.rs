//! Where log lines go: standard error, so that standard output stays for what scripts read. Owns the subscriber only. A
//! line is one line whatever is in it: names from ZooKeeper can neither begin another nor hide or steer what is read.

use std::io::{self, IsTerminal as _, Write};

use lockscope_view::visible;
use tracing_subscriber::EnvFilter;

/// The environment variable with the filter, in the form of `tracing_subscriber::EnvFilter`.
pub const FILTER_VAR: &str = "LOCKSCOPE_LOG";
/// What is logged when nothing is said.
/// Each crate of ours begins with `lockscope`.
/// The client crate warns of every attempt to connect; we say once what that means. Likewise of certificates that are
/// not taken.
const FILTER_DEFAULT: &str = "warn,zookeeper_client=error,rustls_platform_verifier=off,lockscope=info";
/// Begins a colour; what is logged has none of its own left by then.
const ESCAPE: char = '\u{1b}';

/// Starts logging, of panics too. A second call changes nothing, and a filter that can't be read is replaced by the
/// default.
pub fn start() {
    let filter = EnvFilter::try_from_env(FILTER_VAR).unwrap_or_else(|_| EnvFilter::new(FILTER_DEFAULT));
    let is_terminal = std::io::stderr().is_terminal();
    let writer = || VisibleText(io::stderr());
    let lines =
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer).with_ansi(is_terminal).with_target(false);
    // An error only says that logging runs already.
    let _ = lines.log_internal_errors(false).try_init();
    lockscope_runtime::panics::watch();
}

/// Writes lines with nothing hidden in them. It is given one line at a time. What can't be written is lost: a full disk
/// under the log, or a reader that left, ends nothing.
struct VisibleText<W>(W);

impl<W: Write> Write for VisibleText<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let _ = self.0.write_all(plain(&String::from_utf8_lossy(line)).as_bytes());
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let _ = self.0.flush();
        Ok(())
    }
}

fn plain(line: &str) -> String {
    let (text, end) = line.strip_suffix('\n').map_or((line, ""), |text| (text, "\n"));
    let mut out: Vec<String> = text.split(ESCAPE).map(visible).collect();
    if let Some(last) = out.last_mut() {
        last.push_str(end);
    }
    out.join(&ESCAPE.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_stays_one_line_and_shows_all_that_is_in_it() {
        let mut out = VisibleText(Vec::new());
        out.write_all("WARN /a\nINFO forged \u{202e}\u{200b}\r\u{1b}[33mours\u{1b}[0m\n".as_bytes()).unwrap();
        let text = String::from_utf8(out.0).unwrap();
        assert_eq!(text, "WARN /a\u{240a}INFO forged \u{2425}\u{2425}\u{240d}\u{1b}[33mours\u{1b}[0m\n");
    }

    #[test]
    fn every_crate_is_logged_at_info_by_default() {
        use tracing::{Level, event_enabled};
        let lines = tracing_subscriber::fmt().with_env_filter(EnvFilter::new(FILTER_DEFAULT)).finish();
        tracing::subscriber::with_default(lines, || {
            assert!(event_enabled!(target: "lockscope::serve", Level::INFO));
            assert!(event_enabled!(target: "lockscope_history::historian", Level::INFO));
            assert!(!event_enabled!(target: "lockscope_history::historian", Level::DEBUG));
            assert!(!event_enabled!(target: "hyper", Level::INFO));
        });
    }
}
