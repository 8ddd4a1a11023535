//! What each command of the command line does.

pub(crate) mod accounts;
mod audit;
mod autopsy;
mod check;
#[cfg(feature = "demo")]
mod demo;
#[cfg(feature = "demo")]
pub mod demo_past;
mod healthcheck;
#[cfg(feature = "lab")]
mod lab;
mod man_pages;
mod query;
mod serve;
mod watch;

use crate::cli::{Command, ConfigDocument};
use crate::error::RunError;
use crate::{config, stdout};
use lockscope_runtime::clock::Clock;

/// Runs a command.
///
/// # Errors
/// See [`RunError`]; its exit code is the process's.
pub async fn run(command: Command) -> Result<(), RunError> {
    match command {
        Command::Serve(args) => serve::run(args).await,
        #[cfg(feature = "demo")]
        Command::Demo(args) => demo::run(&args).await,
        Command::Autopsy(args) => autopsy::run(&args).await,
        Command::CheckConfig(args) => check::run(&args).await,
        Command::Config(args) => {
            let text = match args.document {
                ConfigDocument::Reference => config::reference::markdown(),
                ConfigDocument::Example => config::reference::example(),
            };
            stdout::print(text.trim_end());
            Ok(())
        }
        Command::Healthcheck(args) => healthcheck::run(&args).await,
        #[cfg(feature = "lab")]
        Command::Lab(args) => lab::run(&args).await,
        Command::Audit(args) => audit::run(&args.command, &args.data).await,
        Command::Token(args) => accounts::token(&args, &Clock::system()),
        Command::User(args) => accounts::user(&args, &Clock::system()),
        Command::Locks(args) => query::locks(&args, &Clock::system()).await,
        Command::Lock(args) => query::lock(&args).await,
        Command::Who(args) => query::who(&args, &Clock::system()).await,
        Command::Watch(args) => watch::run(&args).await,
        Command::Alerts(args) => query::alerts(&args, &Clock::system()).await,
        Command::History(args) => query::history(&args, &Clock::system()).await,
        Command::Completions(args) => man_pages::completions(args.shell),
        Command::Man(args) => man_pages::man(&args.command),
    }
}
