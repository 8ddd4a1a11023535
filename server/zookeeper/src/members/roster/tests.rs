//! Who is who, from real configurations.

use super::*;

const CONFIG: &str = "server.1=10.0.0.1:2888:3888:participant;0.0.0.0:2181\nserver.2=zk2:2888:3888:participant;10.0.0.2:2181\nserver.3=[::3]:2888:3888:observer;[::3]:2181\nversion=0";

fn resolved(pairs: &[(&str, &[&str])]) -> Resolved {
    pairs
        .iter()
        .map(|(name, addresses)| ((*name).to_owned(), addresses.iter().map(|one| one.parse().unwrap()).collect()))
        .collect()
}

fn told(places: &[MemberAddress]) -> Vec<(&str, Option<i64>)> {
    places.iter().map(|place| (&*place.name, place.number)).collect()
}

#[test]
fn lines_of_a_configuration() {
    let one = |number, host: &str, client: Option<&str>| Listed {
        number,
        host: host.to_owned(),
        client: client.map(str::to_owned),
    };
    let expected = [
        one(1, "10.0.0.1", Some("10.0.0.1:2181")),
        one(2, "zk2", Some("10.0.0.2:2181")),
        one(3, "[::3]", Some("[::3]:2181")),
    ];
    assert_eq!(listed(CONFIG), expected);
    assert_eq!(
        listed("server.7=a:1:2:participant\nserver.8=b:1:2|c:1:2;2181"),
        [one(7, "a", None), one(8, "b", Some("b:2181"))]
    );
    assert_eq!(listed("server.x=a:1:2;1\nserver.1=\nserver.2=a:1:2;0\nnonsense"), [one(2, "a", None)]);
    let many: String = (0..40).map(|n| format!("server.{n}=h{n}:1:2:participant;2181\n")).collect();
    assert_eq!(listed(&many).len(), MEMBERS_MAX);
}

#[test]
fn one_member_by_two_names_is_one() {
    let resolved = resolved(&[
        ("zk1:2181", &["10.0.0.1:2181"]),
        ("10.0.0.1:2181", &["10.0.0.1:2181"]),
        ("10.0.0.2:2181", &["10.0.0.2:2181"]),
    ]);
    let places = places("zk1:2181,10.0.0.1:2181/app", &listed(CONFIG), &[], &resolved);
    assert_eq!(told(&places), [("zk1:2181", Some(1)), ("10.0.0.2:2181", Some(2)), ("[::3]:2181", Some(3))]);
}

#[test]
fn one_name_for_all_is_no_member() {
    let resolved = resolved(&[
        ("zk:2181", &["10.0.0.1:2181", "10.0.0.2:2181"]),
        ("10.0.0.1:2181", &["10.0.0.1:2181"]),
        ("10.0.0.2:2181", &["10.0.0.2:2181"]),
    ]);
    let places = places("zk:2181", &listed(CONFIG), &[], &resolved);
    assert_eq!(told(&places), [("10.0.0.1:2181", Some(1)), ("10.0.0.2:2181", Some(2)), ("[::3]:2181", Some(3))]);
}

#[test]
fn what_is_not_told_or_not_matched_stays() {
    assert_eq!(told(&places("a:1,b:2/x", &[], &[], &Resolved::new())), [("a:1", None), ("b:2", None)]);
    // Old configurations name no client address.
    let old = listed("server.1=a:1:2:participant\nserver.2=b:1:2:participant");
    assert_eq!(told(&places("a:2181", &old, &[], &Resolved::new())), [("a:2181", Some(1)), ("b:2181", Some(2))]);
    let one_host = listed("server.1=h:1:2:participant\nserver.2=h:3:4:participant");
    assert_eq!(told(&places("h:1,h:2", &one_host, &[], &Resolved::new())), [("h:1", None), ("h:2", None)]);
}

#[test]
fn nobody_is_asked_twice() {
    let resolved = resolved(&[
        ("localhost:1", &["[::1]:1", "127.0.0.1:1"]),
        ("127.0.0.1:1", &["127.0.0.1:1"]),
        ("a:1", &["10.0.0.1:1"]),
        ("b:1", &["10.0.0.1:1"]),
    ]);
    let told_of = |connect: &str| {
        places(connect, &[], &[], &resolved).into_iter().map(|place| place.name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(told_of("x:1,y:1,x:1"), ["x:1", "y:1"]);
    assert_eq!(told_of("localhost:1,a:1,127.0.0.1:1,b:1"), ["localhost:1", "a:1"]);
    let many = (0..20).map(|n| format!("h{n}:1")).collect::<Vec<_>>().join(",");
    assert_eq!(told_of(&many).len(), MEMBERS_MAX);
}

#[test]
fn admin_servers_go_to_their_hosts_and_then_in_order() {
    let urls = |list: &[&str]| list.iter().map(|url| (*url).to_owned()).collect::<Vec<_>>();
    let given = |connect: &str, list: &[&str], resolved: &Resolved| -> Vec<Option<String>> {
        places(connect, &[], &urls(list), resolved).into_iter().map(|place| place.admin_url).collect()
    };
    let none = Resolved::new();
    assert_eq!(
        given("a:1,b:1", &["http://b:8080", "http://a:8080"], &none),
        [Some("http://a:8080".into()), Some("http://b:8080".into())]
    );
    assert_eq!(
        given("h:1,h:2", &["http://h:8", "http://h:9"], &none),
        [Some("http://h:8".into()), Some("http://h:9".into())]
    );
    assert_eq!(given("a:1,b:1", &["http://x:8"], &none), [Some("http://x:8".into()), None]);
    let resolved = resolved(&[("b:1", &["10.0.0.2:1"]), ("10.0.0.2:8", &["10.0.0.2:8"])]);
    assert_eq!(given("a:1,b:1", &["http://10.0.0.2:8"], &resolved), [None, Some("http://10.0.0.2:8".into())]);
}

const ADDRESSES: [(&str, &[&str]); 4] =
    [("a:1", &["10.0.0.1:1"]), ("b:1", &["10.0.0.2:1"]), ("c:1", &["10.0.0.3:1"]), ("127.0.0.1:1", &["127.0.0.1:1"])];

/// Who is asked, and which members that leaves out.
fn asked(connect: &str, config: &str) -> (Vec<String>, Vec<i64>) {
    let (listed, resolved) = (listed(config), resolved(&ADDRESSES));
    let places = places(connect, &listed, &[], &resolved);
    let unplaced = unplaced(&listed, &places, &resolved);
    (places.into_iter().map(|place| place.name.to_string()).collect(), unplaced)
}

fn these(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn who_left_is_no_member() {
    let two = "server.1=a:2:3:participant;1\nserver.2=b:2:3:participant;1";
    assert_eq!(asked("a:1,b:1,c:1", two), (these(&["a:1", "b:1"]), vec![]));
    assert_eq!(asked("a:1", two), (these(&["a:1", "b:1"]), vec![]));
    let old = "server.1=a:2:3:participant\nserver.2=b:2:3:participant";
    assert_eq!(asked("a:1,b:1,c:1", old), (these(&["a:1", "b:1"]), vec![]));
    // An address that nobody knows may be its.
    let unknown = "server.1=a:2:3:participant;1\nserver.2=x:2:3:participant;1";
    assert_eq!(asked("a:1,c:1", unknown), (these(&["a:1", "c:1", "x:1"]), vec![]));
    assert_eq!(asked("a:1,c:1", ""), (these(&["a:1", "c:1"]), vec![]));
}

#[test]
fn a_guess_leaves_a_member_out() {
    // No port, which is most often the same.
    let old = "server.1=a:2:3:participant\nserver.2=b:2:3:participant";
    assert_eq!(asked("a:1", old), (these(&["a:1", "b:1"]), vec![2]));
    // Two on one host, and one of them is named.
    let one_host = "server.1=a:2:3:participant\nserver.2=a:4:5:participant";
    assert_eq!(asked("a:1", one_host), (these(&["a:1"]), vec![1, 2]));
    assert_eq!(asked("a:1,a:2", one_host), (these(&["a:1", "a:2"]), vec![]));
    let mixed = "server.1=a:2:3:participant;1\nserver.2=a:4:5:participant";
    assert_eq!(asked("a:1", mixed), (these(&["a:1"]), vec![2]));
    // Its own machine, whichever that is, and one that is another for us.
    let any = "server.1=0.0.0.0:2:3:participant;1\nserver.2=b:2:3:participant;1";
    assert_eq!(asked("a:1,b:1", any), (these(&["a:1", "b:1"]), vec![1]));
    let here = "server.1=a:2:3:participant;1\nserver.2=127.0.0.1:2:3:participant;1";
    assert_eq!(asked("a:1", here), (these(&["a:1", "127.0.0.1:1"]), vec![2]));
}
