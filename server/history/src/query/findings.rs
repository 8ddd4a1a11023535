//! The sentence of a recorded finding for whoever may not see everything: one of a deadlock, or of an order in which locks
//! are taken, names other locks, and which these are is in the sentence alone.

use lockscope_core::diagnosis::Code;
use lockscope_view::Scope;

/// The sentence, as far as it may be read.
pub fn readable<'a>(code: &str, text: &'a str, scope: &Scope) -> &'a str {
    if !scope.is_bounded() {
        return text;
    }
    match code {
        code if code == Code::Deadlock.name() => {
            "Sessions wait for each other in a circle that goes through this lock."
        }
        code if code == Code::LockOrder.name() => "Sessions take this lock and others in opposite orders.",
        _ => text,
    }
}
