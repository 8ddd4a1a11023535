//! Signing in without credentials: what it may cost.

use futures_util::future::join_all;

use super::{alone, good_client, memory_mib};
use crate::access::House;

/// More than this must not stay of any number of failed sign-ins.
const KEPT_MIB_MAX: u64 = 64;
/// Failures of an address are forgotten after this time.
const FORGOTTEN_MS: i64 = 60 * 60 * 1_000;

#[test]
fn failed_sign_ins_keep_no_memory() {
    alone("budgets::sign_ins::failed_sign_ins_keep_no_memory", || async {
        let house = House::plain().await;
        assert_eq!(house.get("/healthz", &[]).await.status, 200);
        let before_mib = memory_mib("VmRSS");
        let abuse = async {
            for round in 0..13 {
                let names: Vec<String> = (0..8).map(|at| format!("u{round}-{at}")).collect();
                let answers = join_all(names.iter().map(|name| house.sign_in(name, "wrong guess"))).await;
                assert!(answers.iter().all(|answer| answer.status == 401));
                house.clock.set_ms(house.clock.now_ms() + FORGOTTEN_MS);
            }
        };
        let longest = good_client(&house.served, "/healthz", abuse).await;
        let kept_mib = memory_mib("VmRSS").saturating_sub(before_mib);
        eprintln!("figure: 104 failed sign-ins kept {kept_mib} MiB; /healthz answered within {longest:?}");
        assert!(kept_mib <= KEPT_MIB_MAX, "104 failed sign-ins kept {kept_mib} MiB");
    });
}
