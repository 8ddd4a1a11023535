//! Lockscope's pure core (`domain`), the data that crosses a wire (`wire`), what the page needs from its
//! host (`ports`), how times and counts are put (`words`), and the page itself (`ui`, only with the feature `ssr` or `hydrate`).
#![recursion_limit = "512"]

pub mod domain;
pub mod ports;
#[cfg(feature = "ui")]
pub mod ui;
pub mod wire;
pub mod words;
