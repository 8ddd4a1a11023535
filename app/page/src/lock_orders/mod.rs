//! In which order locks are taken: a section of the page of waits (see `sections`), fetched anew each minute.

mod script;
mod section;
#[cfg(test)]
mod tests;
mod words;

pub(crate) use script::script;
pub(crate) use section::initial;
pub use section::lock_orders_markup;
