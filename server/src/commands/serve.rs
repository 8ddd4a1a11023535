//! `lockscope serve`: every configured ensemble with its observer.

use std::sync::Arc;

use lockscope_core::observation::Observation;
use tokio::sync::mpsc;

use crate::cli::ServeArgs;
use crate::config::{self, Config, ConfigError, ProcessEnvironment};
use crate::error::RunError;
use crate::serve::{self, Observer, ObserverContext, ServedEnsemble};
use lockscope_access::Access;
use lockscope_live::project::{EnsembleInfo, ExcludedPaths};
use lockscope_runtime::shutdown::CancellationToken;
use lockscope_web::{is_loopback, pages};
use lockscope_zookeeper::{Exclusions, ObserverConfig, ReleaseClient, RequestCounts, members, observe};

pub(super) async fn run(args: ServeArgs) -> Result<(), RunError> {
    let config = Config::load(&args, &ProcessEnvironment)?;
    let ensembles = ensembles(&config)?;
    let access = serve::access(&config);
    check_exposure(&config, &access)?;
    serve::run(&config, Some(args), ensembles, Some(served_ensemble), pages, access, "").await
}

/// Beyond this machine, serving needs authentication and encryption.
pub(super) fn check_exposure(config: &Config, access: &Access) -> Result<(), ConfigError> {
    if config.web.origins.is_empty() && !is_loopback(config.listen.ip()) {
        tracing::warn!(
            "no `origin` is set: pages are answered at {} only, by number; set --origin https://NAME for a name",
            config.listen
        );
    }
    config::exposure::check(
        config.listen,
        access.has_credentials(),
        config.web.tls.is_some(),
        config.web.behind_tls_proxy,
    )
}

pub(crate) struct EnsembleObserver {
    observer: ObserverConfig,
    evidence: Option<members::Config>,
}

pub(crate) fn ensembles(config: &Config) -> Result<Vec<ServedEnsemble<EnsembleObserver>>, ConfigError> {
    config.ensembles.iter().map(|ensemble| served_ensemble(config, ensemble)).collect()
}

fn served_ensemble(
    config: &Config,
    ensemble: &config::Ensemble,
) -> Result<ServedEnsemble<EnsembleObserver>, ConfigError> {
    let exclusions = Exclusions::new(ensemble.exclude.clone());
    let observer = ObserverConfig::new(&ensemble.zk, ensemble.roots.clone(), config.session_timeout);
    let credentials = &ensemble.identity.watching;
    let observer = observer
        .map_err(|error| ConfigError(error.to_string()))?
        .with_credentials(credentials.clone())
        .with_znodes_max(ensemble.znodes_max)
        .without(exclusions)
        .with_scratch(ensemble.clock_scratch.clone());
    let (connect, session_timeout) = (&ensemble.zk, config.session_timeout);
    let asked = || members::Config {
        connect: connect.clone(),
        admin_urls: ensemble.admin_urls.clone(),
        credentials: credentials.clone(),
        session_timeout,
    };
    let has_others = config.ensembles.len() > 1 || config.ensembles_dir.is_some();
    let counts = Arc::<RequestCounts>::default();
    Ok(ServedEnsemble {
        info: EnsembleInfo {
            name: ensemble.name.clone(),
            connect: ensemble.zk.clone(),
            color: ensemble.color,
            has_others,
            labels: Arc::new(ensemble.labels.clone()),
            excluded: excluded(&ensemble.exclude, &counts),
            proof: Arc::clone(&counts.proof),
        },
        roots: ensemble.roots.clone(),
        release_client: release_client(ensemble),
        counts,
        filling: None,
        observer: EnsembleObserver { observer, evidence: ensemble.evidence.then(asked) },
    })
}

fn excluded(patterns: &[String], counts: &Arc<RequestCounts>) -> Option<ExcludedPaths> {
    let counts = Arc::clone(counts);
    let count = move || (counts.excluded(), counts.excluded_events());
    (!patterns.is_empty()).then(|| ExcludedPaths { patterns: patterns.into(), count: Arc::new(count) })
}

/// A session of its own for each act, with the credentials for that.
fn release_client(ensemble: &config::Ensemble) -> ReleaseClient {
    ReleaseClient::identified(&ensemble.zk, ensemble.identity.acting.clone())
}

impl Observer for EnsembleObserver {
    async fn observe(self, context: ObserverContext, sink: mpsc::Sender<Vec<Observation>>, stop: CancellationToken) {
        let asked = self.evidence.map(|config| {
            let told = (sink.clone(), context.counts.clone());
            context.rounds.collect(config, context.clock.clone(), context.demand, told, stop.clone())
        });
        let asks = async {
            if let Some(asked) = asked {
                asked.await;
            }
        };
        let observed = context.thread.spawn(observe(self.observer, context.clock, context.counts, sink, stop));
        let (observed, ()) = tokio::join!(observed, asks);
        if let Err(error) = observed {
            tracing::error!(%error, "the observer failed");
        }
    }
}
