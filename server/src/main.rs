//! The binary: parse, run, exit code. No logic.

use std::process::ExitCode;

use clap::error::ErrorKind;
use lockscope::cli::Cli;
use lockscope::error::EXIT_CONFIG;
use lockscope::{cli, commands, telemetry};
use tikv_jemallocator::Jemalloc;

#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

fn main() -> ExitCode {
    let args = match cli::parse() {
        Ok(args) => args,
        Err(error) => {
            let is_requested = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            // A closed standard output or error is no failure.
            let _ = error.print();
            return if is_requested { ExitCode::SUCCESS } else { ExitCode::from(EXIT_CONFIG) };
        }
    };
    telemetry::start();
    match run(args) {
        Ok(code) => code,
        Err(error) => {
            tracing::error!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: Cli) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let done = runtime.block_on(commands::run(args.command));
    // Blocking work that is left is not waited for.
    runtime.shutdown_background();
    Ok(match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            if error.has_message() {
                // Not the log: this is for the person who started us.
                let _ = std::io::Write::write_all(&mut std::io::stderr(), format!("lockscope: {error}\n").as_bytes());
            }
            ExitCode::from(error.exit_code())
        }
    })
}
