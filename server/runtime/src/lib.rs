//! What every part of the server stands on: the clock, the word to stop, supervised tasks, cancelled work, quotas, rate
//! limits and the limit of open files.

pub mod backoff;
pub mod cancel;
pub mod clock;
pub mod file_descriptors;
pub mod mac;
pub mod panics;
pub mod quota;
pub mod rate;
pub mod shared_list;
pub mod shared_rows;
pub mod shutdown;
pub mod task_thread;
mod task_threads;
pub mod tasks;
pub mod webhook_client;

pub use task_threads::{THREADS_MAX, TaskThreads};
