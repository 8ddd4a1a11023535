//! What may be ordered. Pure: the seed of an order without one is an argument.

use lockscope_view::LabOrder;

use super::{LabEnsemble, LabRefusal, Limits};

/// Sessions a strategy, whatever the configuration says.
const CLIENTS_MAX: u32 = 500;
/// Fewer contend for nothing.
const CLIENTS_MIN: u32 = 2;

fn bad<T>(why: String) -> Result<T, LabRefusal> {
    Err(LabRefusal::Bad(why))
}

impl Limits {
    pub(super) fn clients_max(&self) -> u32 {
        self.clients_max.clamp(CLIENTS_MIN, CLIENTS_MAX)
    }
}

/// The order with everything chosen, and where it would be carried out.
pub(super) fn check(
    mut order: LabOrder,
    limits: &Limits,
    places: &[LabEnsemble],
    seed: u64,
) -> Result<(LabOrder, LabEnsemble), LabRefusal> {
    let place = place(&order, places)?;
    within("clients", order.clients.into(), CLIENTS_MIN.into(), limits.clients_max().into())?;
    within("rounds", order.rounds.into(), 1, limits.rounds_max.into())?;
    within("hold_ms", order.hold_ms.into(), 0, limits.hold_ms_max.into())?;
    within("think_ms", order.think_ms.into(), 0, limits.hold_ms_max.into())?;
    if let Some(duration_ms) = order.duration_ms {
        within("duration_ms", duration_ms.into(), 1, limits.duration_ms_max.into())?;
    }
    if order.strategies.is_empty() {
        return bad(
            "strategies is empty; name at least one of predecessor, herd_children, herd_exists, herd_lowest".to_owned()
        );
    }
    for (at, strategy) in order.strategies.iter().enumerate() {
        if order.strategies.iter().take(at).any(|before| before == strategy) {
            return bad(format!("strategies names {} twice; name each once", strategy.name()));
        }
    }
    let expected_ms = expected_ms(&order);
    if expected_ms > limits.duration_ms_max.into() {
        return bad(format!(
            "the order would take at least {expected_ms} ms (clients × rounds × hold_ms, and the strategies one after the other with in_turn), and the limit is {} ms; lower one of them, or set duration_ms",
            limits.duration_ms_max
        ));
    }
    order.ensemble = Some(place.ensemble.clone());
    order.seed = Some(order.seed.unwrap_or(seed));
    Ok((order, place))
}

fn place(order: &LabOrder, places: &[LabEnsemble]) -> Result<LabEnsemble, LabRefusal> {
    let names = || places.iter().map(|place| place.ensemble.as_str()).collect::<Vec<_>>().join(", ");
    match (&order.ensemble, places) {
        (_, []) => Err(LabRefusal::Off),
        (None, [only]) => Ok(only.clone()),
        (None, _) => bad(format!("ensemble is missing, and several allow the lab; name one of {}", names())),
        (Some(name), _) => match places.iter().find(|place| place.ensemble == *name) {
            Some(place) => Ok(place.clone()),
            None => bad(format!("ensemble {name:?} does not allow the lab; name one of {}", names())),
        },
    }
}

fn within(what: &str, value: u64, min: u64, max: u64) -> Result<(), LabRefusal> {
    if (min..=max).contains(&value) { Ok(()) } else { bad(format!("{what} is {value}; it must be {min} to {max}")) }
}

/// The least time that an order is counted.
fn expected_ms(order: &LabOrder) -> u64 {
    let each = u64::from(order.clients) * u64::from(order.rounds) * u64::from(order.hold_ms);
    let thinking = u64::from(order.rounds - 1) * u64::from(order.think_ms);
    let lane = each.max(thinking);
    let lane = order.duration_ms.map_or(lane, |duration_ms| lane.min(duration_ms.into()));
    if order.in_turn { lane * u64::try_from(order.strategies.len()).unwrap_or(u64::MAX) } else { lane }
}

#[cfg(test)]
mod tests {
    use lockscope_view::Strategy;

    use super::*;
    use lockscope_zookeeper::Credentials;

    fn places(names: &[&str]) -> Vec<LabEnsemble> {
        let place = |name: &&str| LabEnsemble {
            ensemble: (*name).to_owned(),
            connect: "a:1".to_owned(),
            credentials: Credentials::default(),
            root: "/l".to_owned(),
        };
        names.iter().map(place).collect()
    }

    fn order() -> LabOrder {
        LabOrder {
            ensemble: None,
            strategies: vec![Strategy::Predecessor, Strategy::HerdChildren],
            clients: 50,
            rounds: 1,
            hold_ms: 0,
            think_ms: 0,
            duration_ms: None,
            in_turn: true,
            seed: None,
        }
    }

    #[test]
    fn what_is_left_open_is_chosen() {
        let (chosen, place) = check(order(), &Limits::default(), &places(&["a"]), 7).unwrap();
        assert_eq!((chosen.ensemble.as_deref(), chosen.seed, place.ensemble.as_str()), (Some("a"), Some(7), "a"));
    }

    #[test]
    fn each_limit_is_named() {
        let refused = |change: &dyn Fn(&mut LabOrder), parts: &[&str]| {
            let mut order = order();
            change(&mut order);
            let why = check(order, &Limits::default(), &places(&["a", "b"]), 7).unwrap_err().to_string();
            assert!(parts.iter().all(|part| why.contains(part)), "{parts:?} in {why}");
        };
        refused(&|_| {}, &["ensemble is missing", "a, b"]);
        refused(&|order| order.ensemble = Some("c".to_owned()), &["\"c\"", "a, b"]);
        let here = |change: &dyn Fn(&mut LabOrder), parts: &[&str]| {
            refused(
                &|order| {
                    order.ensemble = Some("a".to_owned());
                    change(order);
                },
                parts,
            );
        };
        here(&|order| order.clients = 1, &["clients is 1", "2 to 500"]);
        here(&|order| order.clients = 501, &["clients is 501", "2 to 500"]);
        here(&|order| order.rounds = 0, &["rounds is 0", "1 to 1000"]);
        here(&|order| order.hold_ms = 60_001, &["hold_ms is 60001", "0 to 60000"]);
        here(&|order| order.think_ms = 60_001, &["think_ms is 60001"]);
        here(&|order| order.duration_ms = Some(0), &["duration_ms is 0", "1 to 600000"]);
        here(&|order| order.strategies.clear(), &["strategies is empty"]);
        here(&|order| order.strategies.push(Strategy::Predecessor), &["predecessor twice"]);
        here(&|order| order.hold_ms = 6_001, &["600100 ms", "600000 ms", "in_turn"]);
    }

    #[test]
    fn an_ordered_end_bounds_the_time() {
        let order = LabOrder { hold_ms: 60_000, duration_ms: Some(300_000), ..order() };
        assert!(check(order, &Limits::default(), &places(&["a"]), 7).is_ok());
    }

    #[test]
    fn nowhere_is_off() {
        assert_eq!(check(order(), &Limits::default(), &[], 7).unwrap_err(), LabRefusal::Off);
    }
}
