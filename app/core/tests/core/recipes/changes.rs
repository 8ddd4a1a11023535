//! Changes over time: parts that turn out to be one lock, writers that read on, clients that do not see each other.

use super::tree;

fn check(lines: &str, show: &str, path: &str, edges: &str) {
    let story = tree(lines);
    assert_eq!(story.show(), show);
    assert_eq!(story.edges(path), edges);
}

const U: [&str; 5] = [
    "_c_00000000-0000-4a4a-8b8b-000000000000-",
    "_c_11111111-0000-4a4a-8b8b-000000000000-",
    "_c_22222222-0000-4a4a-8b8b-000000000000-",
    "_c_33333333-0000-4a4a-8b8b-000000000000-",
    "_c_44444444-0000-4a4a-8b8b-000000000000-",
];

#[test]
fn curators_readers_hold_together_and_wait_for_the_first_writer() {
    let [a, b, c, d, e] = U;
    check(
        &format!(
            "/rw
            /rw/{a}__READ__0000000000 owner=a
            /rw/{b}__READ__0000000001 owner=b
            /rw/{c}__WRIT__0000000002 owner=c
            /rw/{d}__READ__0000000003 owner=d
            /rw/{e}__WRIT__0000000004 owner=e"
        ),
        &format!(
            "/rw ReadWrite Healthy [{a}__READ__0000000000 {b}__READ__0000000001] <- {c}__WRIT__0000000002 {d}__READ__0000000003 {e}__WRIT__0000000004"
        ),
        "/rw",
        &format!(
            "{c}__WRIT__0000000002 -> {b}__READ__0000000001\n{d}__READ__0000000003 -> {c}__WRIT__0000000002\n{e}__WRIT__0000000004 -> {d}__READ__0000000003"
        ),
    );
}

#[test]
fn curators_writer_may_read_and_keeps_reading_when_it_stops_to_write() {
    let [a, b, c, ..] = U;
    let mut story = tree(&format!(
        "/rw
        /rw/{a}__WRIT__0000000000 owner=a
        /rw/{b}__READ__0000000001 owner=a
        /rw/{c}__READ__0000000002 owner=c"
    ));
    assert_eq!(
        story.show(),
        format!("/rw ReadWrite Healthy [{a}__WRIT__0000000000 {b}__READ__0000000001] <- {c}__READ__0000000002")
    );
    story.tell(&format!("20 - /rw/{a}__WRIT__0000000000"));
    assert_eq!(story.show(), format!("/rw ReadWrite Healthy [{b}__READ__0000000001 {c}__READ__0000000002] <-"));
}

#[test]
fn a_lease_is_pending_while_its_session_heads_the_queue() {
    let [a, b, c, d, ..] = U;
    let mut story = tree(&format!(
        "/s
        /s/leases
        /s/locks
        /s/leases/{a}lease-0000000000 owner=a
        /s/leases/{b}lease-0000000001 owner=b
        /s/locks/{c}lock-0000000002 owner=c
        /s/leases/{c}lease-0000000002 owner=c
        /s/locks/{d}lock-0000000003 owner=d"
    ));
    assert_eq!(
        story.show(),
        format!(
            "/s Semaphore Healthy [{a}lease-0000000000 {b}lease-0000000001] <- {c}lock-0000000002 {d}lock-0000000003"
        )
    );
    assert_eq!(
        story.edges("/s"),
        format!(
            "{c}lock-0000000002 -> {a}lease-0000000000 {b}lease-0000000001\n{d}lock-0000000003 -> {c}lock-0000000002"
        )
    );
    assert_eq!(story.sentence("/s"), "2 of 2 leases are held, the first by session 0xa. 2 wait.");
    story.tell(&format!("20 - /s/leases/{a}lease-0000000000\n21 - /s/locks/{c}lock-0000000002"));
    assert_eq!(
        story.show(),
        format!("/s Semaphore Healthy [{b}lease-0000000001 {c}lease-0000000002] <- {d}lock-0000000003")
    );
}

#[test]
fn a_mutex_turns_out_to_be_the_queue_of_a_semaphore() {
    let [a, ..] = U;
    let mut story = tree("/s");
    story.tell(&format!(
        "20 + /s/locks\n20 = /s/locks\n21 + /s/locks/{a}lock-0000000000\n22 = /s/locks/{a}lock-0000000000 owner=a"
    ));
    assert_eq!(story.show(), format!("/s/locks SequentialMutex Healthy [{a}lock-0000000000] <-"));
    story.tell(&format!(
        "23 + /s/leases\n24 = /s/leases\n25 + /s/leases/{a}lease-0000000000\n26 = /s/leases/{a}lease-0000000000 owner=a"
    ));
    story.tell(&format!("27 - /s/locks/{a}lock-0000000000"));
    assert_eq!(story.show(), format!("/s Semaphore Healthy [{a}lease-0000000000] <-"));
}

#[test]
fn kazoos_semaphore_is_found_with_its_sibling() {
    let (x, y, z) =
        ("0f1e2d3c00004a4a8b8b0123456789ab", "1f1e2d3c00004a4a8b8b0123456789ab", "2f1e2d3c00004a4a8b8b0123456789ab");
    let story = tree(&format!(
        "/sem data=2
        /sem-__lock__
        /sem/{x} owner=a
        /sem/{y} owner=b
        /sem-__lock__/{z}__lock__0000000002 owner=c"
    ));
    assert_eq!(story.show(), format!("/sem Semaphore Healthy [{x} {y}] <- {z}__lock__0000000002"));
    assert_eq!(story.sentence("/sem"), "2 of 2 leases are held, the first by session 0xa. 1 waits.");
}

#[test]
fn who_only_tries_for_a_lease_does_not_make_it_a_mutex() {
    let tries = "0f1e2d3c00004a4a8b8b0123456789ab__lock__0000000000";
    let mut story = tree("/lease");
    let held = "/lease SingleNodeMutex Healthy [lease_holder] <-";
    story.tell(&format!("20 + /lease/{tries}\n20 = /lease/{tries} owner=a\n21 + /lease/lease_holder"));
    story.tell(&format!("22 = /lease/lease_holder data={{\"end\":\"1970-01-01T00:01:00\"}}\n22 - /lease/{tries}"));
    assert_eq!(story.show(), held);
    story.tell(&format!("30 + /lease/{tries}\n30 = /lease/{tries} owner=b"));
    assert_eq!(story.show(), held);
    story.tell("60000 tick");
    assert_eq!(story.show(), "/lease SingleNodeMutex Free [] <-");
}

#[test]
fn clients_that_do_not_see_each_other_hold_at_once() {
    let [a, b, ..] = U;
    let (x, y) = ("0f1e2d3c00004a4a8b8b0123456789ab", "1f1e2d3c00004a4a8b8b0123456789ab");
    let story = tree(&format!(
        "/m
        /m/{a}lock-0000000000 owner=a
        /m/{x}__lock__0000000001 owner=b
        /m/{b}lock-0000000002 owner=c
        /m/{y}__lock__0000000003 owner=d"
    ));
    assert_eq!(
        story.show(),
        format!(
            "/m SequentialMutex DoubleOwner [{a}lock-0000000000 {x}__lock__0000000001] <- {b}lock-0000000002 {y}__lock__0000000003"
        )
    );
    assert_eq!(
        story.edges("/m"),
        format!("{b}lock-0000000002 -> {a}lock-0000000000\n{y}__lock__0000000003 -> {x}__lock__0000000001")
    );
}
