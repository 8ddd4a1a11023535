//! The binary: parse, run, exit code. No logic.

use std::process::ExitCode;

use clap::error::ErrorKind;
use server::cli::Cli;
use server::error::EXIT_CONFIG;
use server::{cli, command, telemetry};

fn main() -> ExitCode {
    let asked = match cli::parse() {
        Ok(asked) => asked,
        Err(error) => {
            let is_wish = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            // A closed standard output or error is nobody listening.
            let _ = error.print();
            return if is_wish { ExitCode::SUCCESS } else { ExitCode::from(EXIT_CONFIG) };
        }
    };
    telemetry::start();
    match run(asked) {
        Ok(code) => code,
        Err(error) => {
            tracing::error!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(asked: Cli) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let done = runtime.block_on(command::run(asked.command));
    // Blocking work that is left is not waited for.
    runtime.shutdown_background();
    Ok(match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            if error.is_told() {
                // Not the log: this is for the person who started us.
                let _ = std::io::Write::write_all(&mut std::io::stderr(), format!("lockscope: {error}\n").as_bytes());
            }
            ExitCode::from(error.exit_code())
        }
    })
}
