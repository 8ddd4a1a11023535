//! The lab on real servers: its relays, its sandbox, and the faults it throws, each judged by what the board tells.

mod crash;
mod drain;
mod faults;
mod lost;
mod relay;
mod runs;
mod sandbox;
mod scene;

use lockscope_demo::PrivateZooKeeper;
use lockscope_lab::LabEnsemble;
use lockscope_zookeeper::Credentials;

/// A place on a private server.
fn place(server: &PrivateZooKeeper) -> LabEnsemble {
    LabEnsemble {
        ensemble: "default".to_owned(),
        connect: server.address(),
        credentials: Credentials::default(),
        root: "/lockscope-lab".to_owned(),
    }
}
