//! The sentence on a circle of sessions in English.

use crate::sentence::Circle;

/// Who waits for whom, and whose hold costs least to release.
pub(crate) fn sentence(circle: &Circle) -> String {
    let step = |(from, lock, to): &(String, String, String)| format!("{from} waits for {lock}, held by {to}");
    let mut steps: Vec<String> = circle.steps.iter().map(step).collect();
    if circle.more > 0 {
        steps.push(format!("and so on over {} more", circle.more));
    }
    let cheapest = |(who, lock): &(String, String)| format!(" Releasing {who}'s hold on {lock} costs least.");
    let victim = circle.victim.as_ref().map_or_else(String::new, cheapest);
    let verdict = if circle.is_certain { "Deadlock" } else { "Looks like a deadlock, if one thread does both" };
    format!("{verdict}: {}.{victim}", steps.join("; "))
}
