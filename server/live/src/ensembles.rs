//! The ensembles that are shown, which may come and go while the server runs. Every change of any model counts here, so
//! that whoever waits for changes waits for one number, however many ensembles there are.

use std::collections::HashSet;
use std::sync::Arc;

use lockscope_core::observatory::Observatory;
use tokio::sync::watch;

use super::engine::{Changes, Reader};
use super::project::EnsembleInfo;
use lockscope_runtime::shared_list::SharedList;

pub struct Ensemble {
    pub info: EnsembleInfo,
    pub reader: Reader<Observatory>,
}

impl Ensemble {
    /// One whose model stays as it is; nothing proves it now.
    pub fn still(info: EnsembleInfo, model: &StillModel) -> Self {
        Self { info: EnsembleInfo { proof: Arc::default(), ..info }, reader: model.0.clone() }
    }
}

/// A model that never changes; clones share it.
#[derive(Clone)]
pub struct StillModel(Reader<Observatory>);

impl From<Observatory> for StillModel {
    fn from(model: Observatory) -> Self {
        Self(Reader::still(model))
    }
}

/// All of them, in the order in which they are shown; clones share it.
#[derive(Clone, Default)]
pub struct Ensembles {
    list: SharedList<Arc<Ensemble>>,
    changes: Changes,
}

impl From<Vec<Ensemble>> for Ensembles {
    fn from(ensembles: Vec<Ensemble>) -> Self {
        let all = Self::default();
        ensembles.into_iter().for_each(|ensemble| all.add(ensemble));
        all
    }
}

impl Ensembles {
    pub fn add(&self, ensemble: Ensemble) {
        ensemble.reader.tell(self.changes.clone());
        self.list.push(Arc::new(ensemble));
        self.changes.count();
    }

    pub fn remove(&self, name: &str) {
        self.list.take(|ensemble| ensemble.info.name == name);
        self.changes.count();
    }

    /// Shows another name, colour or label of one that goes on.
    pub fn describe(&self, info: &EnsembleInfo) {
        self.list.change_each(|ensemble| {
            if ensemble.info.name == info.name {
                let info = EnsembleInfo { proof: ensemble.info.proof.clone(), ..info.clone() };
                *ensemble = Arc::new(Ensemble { info, reader: ensemble.reader.clone() });
            }
        });
        self.changes.count();
    }

    pub fn names(&self) -> HashSet<String> {
        self.list.now().iter().map(|ensemble| ensemble.info.name.clone()).collect()
    }

    pub(crate) fn now(&self) -> Arc<Vec<Arc<Ensemble>>> {
        self.list.now()
    }

    /// Changes so far, of all models and of what is shown.
    pub(crate) fn revision(&self) -> u64 {
        self.changes.latest()
    }

    pub(crate) fn revisions(&self) -> watch::Receiver<u64> {
        self.changes.0.subscribe()
    }
}
