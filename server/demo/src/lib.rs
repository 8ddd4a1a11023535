//! Real ZooKeeper servers of our own and sample workloads on them: for `lockscope demo`, the lab and the tests.
//! Owns processes, ports and temporary folders; must not know the observer, the wire or the page.

mod ensemble;
mod java;
mod private;
mod process;
pub mod workload;

pub use ensemble::{Detour, PrivateEnsemble};
pub use java::JavaError;
pub use private::{DemoError, PrivateZooKeeper, ServerOptions, free_port};
pub use process::GuardedChild;
