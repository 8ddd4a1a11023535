//! What each command of the command line does, put together from the parts.

use std::sync::Arc;

use app::domain::observation::Observation;
use app::ports::Source;
use axum::Router;
use tokio::sync::{mpsc, watch};

use crate::cli::{Command, Demo, Settings};
use crate::config::{Config, Process};
use crate::error::RunError;
use crate::serve::{self, Observer, say};

/// Does what was asked.
///
/// # Errors
/// See [`RunError`]; its exit code is the process's.
pub async fn run(command: Command) -> Result<(), RunError> {
    match command {
        Command::Serve(settings) => serve(&settings).await,
        Command::Demo(demo) => run_demo(&demo).await,
        Command::CheckConfig(settings) => check_config(&settings),
    }
}

async fn serve(settings: &Settings) -> Result<(), RunError> {
    let config = Config::load(settings, &Process)?;
    serve::run(&config, Ensemble, pages).await
}

fn check_config(settings: &Settings) -> Result<(), RunError> {
    let config = Config::load(settings, &Process)?;
    say("the configuration is good");
    say(&format!("  zk                 {}", config.zk));
    say(&format!("  root               {}", config.roots.join(", ")));
    say(&format!("  listen             {}", config.listen));
    say(&format!("  data-dir           {}", config.data_dir.map_or_else(|| "none".to_owned(), |dir| dir.display().to_string())));
    say(&format!("  connect-timeout    {}", config.connect_timeout.map_or_else(|| "none: keep trying".to_owned(), |time| format!("{time:?}"))));
    say(&format!("  session-timeout-ms {}", config.session_timeout.as_millis()));
    Ok(())
}

async fn run_demo(demo: &Demo) -> Result<(), RunError> {
    let _listen = Config::listen_only(demo.listen.as_deref(), &Process)?;
    Err(RunError::Unavailable("the demo is not part of this build".to_owned()))
}

/// Stand-in until the observer is merged.
struct Ensemble;

impl Observer for Ensemble {
    async fn observe(self, sink: mpsc::Sender<Vec<Observation>>, mut stop: watch::Receiver<bool>) {
        let _ = stop.wait_for(|stop| *stop).await;
        drop(sink);
    }
}

/// Stand-in until the page is merged.
fn pages(_source: Arc<dyn Source>) -> Router {
    Router::new()
}
