//! Which moments are kept, and for how long.

use super::*;

#[test]
fn moments_are_kept_up_to_a_number_and_up_to_so_many_znodes() {
    let kept = |znodes: &[u64]| {
        let mut kept = Vec::new();
        for (number, znodes) in znodes.iter().enumerate() {
            kept.push((number, *znodes));
            make_room(&mut kept, |(_, znodes)| *znodes);
        }
        kept.into_iter().map(|(number, _)| number).collect::<Vec<_>>()
    };
    assert_eq!(kept(&[1; MOMENTS_MAX + 2]), (2..MOMENTS_MAX + 2).collect::<Vec<_>>());
    assert_eq!(kept(&[ZNODES_MAX / 2, ZNODES_MAX / 2, 1]), [1, 2]);
    assert_eq!(kept(&[1, ZNODES_MAX + 1]), [1], "the newest stays, however large");
}

#[test]
fn a_young_moment_is_made_anew_until_what_was_noticed_of_it_is_stored() {
    assert_eq!(expires_at(10_000, 10_100), Some(10_600));
    assert_eq!(expires_at(10_000, 14_000), Some(14_500));
    assert_eq!(expires_at(10_000, 14_001), None);
}
