//! Panics of this process: counted and logged with their place. Owns the panic hook and the count; what a panic ends
//! is up to whoever runs the task.

use std::any::Any;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::panic::{self, PanicHookInfo};
use std::sync::atomic::{AtomicU64, Ordering};

static COUNT: AtomicU64 = AtomicU64::new(0);

/// Panics since the process started.
pub fn count() -> u64 {
    COUNT.load(Ordering::Relaxed)
}

/// From now on each panic is counted and logged.
pub fn watch() {
    panic::set_hook(Box::new(report));
}

fn report(info: &PanicHookInfo<'_>) {
    COUNT.fetch_add(1, Ordering::Relaxed);
    let thread = std::thread::current();
    let place = info.location().map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
    let (name, message) = (thread.name().unwrap_or("without a name"), text(info.payload()));
    let trace = Backtrace::capture();
    match trace.status() {
        BacktraceStatus::Captured => {
            tracing::error!("panic in thread {name} at {place}: {message}; please report it\n{trace}")
        }
        _ => tracing::error!(
            "panic in thread {name} at {place}: {message}; please report it, with RUST_BACKTRACE=1 where it comes again"
        ),
    }
}

fn text(payload: &(dyn Any + Send)) -> &str {
    match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (_, Some(text)) => text,
        _ => "no message",
    }
}
