//! From what was typed into the lab's form to an order. Pure.

use lockscope_page::LabDraft;
use lockscope_view::{LabOrder, Strategy};

use super::problem::echo;

/// What was typed, as it came; what a preset leaves out is as usual.
pub(super) fn draft(pairs: &[(String, String)]) -> LabDraft {
    let mut draft = LabDraft { strategies: Vec::new(), ..LabDraft::default() };
    for (name, value) in pairs {
        let text = || value.trim().to_owned();
        match name.as_str() {
            "strategies" => {
                draft.strategies.extend(Strategy::ALL.into_iter().find(|strategy| strategy.name() == value))
            }
            "ensemble" => draft.ensemble = text(),
            "clients" => draft.clients = text(),
            "rounds" => draft.rounds = text(),
            "hold_ms" => draft.hold_ms = text(),
            "think_ms" => draft.think_ms = text(),
            "duration_s" => draft.duration_s = text(),
            "order" => draft.in_turn = value == "in_turn",
            "seed" => draft.seed = text(),
            _ => {}
        }
    }
    draft
}

pub(super) fn order(draft: &LabDraft) -> Result<LabOrder, String> {
    if draft.strategies.is_empty() {
        return Err("no way to wait is ticked; tick one at least".to_owned());
    }
    let duration_s = optional::<u32>("Ends after", &draft.duration_s)?;
    let duration_ms = duration_s.map(|s| {
        s.checked_mul(1_000).ok_or_else(|| format!("Ends after: {s} s is more than any run may take; give less"))
    });
    Ok(LabOrder {
        ensemble: Some(draft.ensemble.clone()).filter(|name| !name.is_empty()),
        strategies: draft.strategies.clone(),
        clients: number("Clients", &draft.clients)?,
        rounds: number("Rounds", &draft.rounds)?,
        hold_ms: number("Hold", &draft.hold_ms)?,
        think_ms: number("Pause between rounds", &draft.think_ms)?,
        duration_ms: duration_ms.transpose()?,
        in_turn: draft.in_turn,
        seed: optional("Seed", &draft.seed)?,
    })
}

fn number(name: &str, text: &str) -> Result<u32, String> {
    optional(name, text)?.ok_or_else(|| format!("{name} is empty; give a whole number"))
}

fn optional<T: std::str::FromStr>(name: &str, text: &str) -> Result<Option<T>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    text.parse()
        .map(Some)
        .map_err(|_| format!("{name} must be a whole number that is not too large; `{}` is none", echo(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_preset_is_an_order() {
        let typed = pairs(&[
            ("strategies", "predecessor"),
            ("strategies", "herd_lowest"),
            ("clients", "500"),
            ("hold_ms", "10"),
            ("order", "in_turn"),
            ("ensemble", ""),
        ]);
        let order = order(&draft(&typed)).unwrap();
        assert_eq!((order.clients, order.rounds, order.hold_ms, order.in_turn), (500, 1, 10, true));
        assert_eq!(order.strategies, [Strategy::Predecessor, Strategy::HerdLowest]);
        assert_eq!((order.ensemble, order.duration_ms, order.seed), (None, None, None));
    }

    #[test]
    fn each_wrong_field_is_named() {
        let wrong = |name: &str, value: &str| {
            order(&draft(&pairs(&[("strategies", "predecessor"), (name, value)]))).unwrap_err()
        };
        assert_eq!(wrong("clients", "fifty"), "Clients must be a whole number that is not too large; `fifty` is none");
        assert_eq!(wrong("rounds", ""), "Rounds is empty; give a whole number");
        assert!(wrong("seed", "-1").starts_with("Seed must be"));
        assert!(wrong("duration_s", "4294967295").contains("more than any run may take"));
        assert_eq!(order(&draft(&[])).unwrap_err(), "no way to wait is ticked; tick one at least");
    }

    #[test]
    fn seconds_become_milliseconds_and_spaces_are_no_error() {
        let typed = pairs(&[("strategies", "herd_exists"), ("duration_s", " 20 "), ("seed", "18446744073709551615")]);
        let order = order(&draft(&typed)).unwrap();
        assert_eq!((order.duration_ms, order.seed), (Some(20_000), Some(u64::MAX)));
    }
}
