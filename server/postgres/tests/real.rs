//! Against a real PostgreSQL: who is let in, who writes, what hangs, what is lost.
#![expect(clippy::unwrap_used, reason = "tests take what they made themselves for granted")]

use std::time::{Duration, Instant};

use lockscope_postgres::{Database, DatabaseError, Tables, Target};
use lockscope_private_postgres::PrivatePostgres;

const TABLES: Tables = Tables {
    part: "test",
    steps: &[
        "CREATE TABLE lockscope.thing (id bigint PRIMARY KEY)",
        "ALTER TABLE lockscope.thing ADD COLUMN name text",
    ],
};

fn database(url: &str) -> Database {
    Database::new(Target::parse(url).unwrap()).unwrap()
}

fn soon(ms: u64) -> Option<Instant> {
    Some(lockscope_runtime::clock::instant() + Duration::from_millis(ms))
}

async fn one(database: &Database) -> Result<i32, DatabaseError> {
    database
        .look(soon(3_000), |client| Box::pin(async move { Ok(client.query_one("SELECT 1", &[]).await?.try_get(0)?) }))
        .await
}

async fn migrate(database: &Database, tables: Tables) -> Result<(), DatabaseError> {
    let lane = database.lane();
    lane.run(move |session| Box::pin(async move { tables.migrate(session.client()).await })).await
}

/// Waits until something is so.
async fn until<T, F: Future<Output = Option<T>>>(mut look: impl FnMut() -> F) -> T {
    let deadline = lockscope_runtime::clock::instant() + Duration::from_secs(60);
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(lockscope_runtime::clock::instant() < deadline, "it never came to be");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_not_let_in_learns_why() {
    let server = PrivatePostgres::start().await.unwrap();
    assert_eq!(one(&database(&server.url())).await, Ok(1));
    let error = one(&database(&server.url_with("wrong"))).await.unwrap_err();
    assert!(matches!(&error, DatabaseError::Refused(why) if why.contains("password authentication failed")), "{error}");
    assert!(!error.to_string().contains("wrong"));
    let without = server.url().replace(":private@", "@");
    assert!(matches!(one(&database(&without)).await, Err(DatabaseError::Refused(why)) if why.contains("password")));
    let to = |name: &str| format!("{}/{name}", server.url().rsplit_once('/').unwrap().0);
    let elsewhere = to("nowhere");
    assert!(
        matches!(one(&database(&elsewhere)).await, Err(DatabaseError::Refused(why)) if why.contains("create the database"))
    );
    let with_tls = format!("{}?sslmode=require", server.url());
    assert!(matches!(one(&database(&with_tls)).await, Err(DatabaseError::Tls(why)) if why.contains("sslmode=disable")));
    let closed = server.url().replace(&server.port().to_string(), "1");
    assert!(
        matches!(one(&database(&closed)).await, Err(DatabaseError::Unreachable(why)) if why.contains("127.0.0.1:1"))
    );
    // The second of two servers is the one that answers.
    let two = server.url().replace("@127.0.0.1", "@127.0.0.1:1,127.0.0.1");
    assert_eq!(one(&database(&two)).await, Ok(1));
    let latin = to("latin");
    server.sql("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0").await.unwrap();
    assert!(matches!(one(&database(&latin)).await, Err(DatabaseError::Unfit(why)) if why.contains("LATIN1")));
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_are_made_once_and_never_go_back() {
    let server = PrivatePostgres::start().await.unwrap();
    let databases: Vec<Database> = (0..4).map(|_| database(&server.url())).collect();
    let first = Tables { steps: &TABLES.steps[..1], ..TABLES };
    migrate(&databases[0], first).await.unwrap();
    server.sql("INSERT INTO lockscope.thing VALUES (7)").await.unwrap();
    let all = databases.iter().map(|database| migrate(database, TABLES));
    futures_util::future::join_all(all).await.into_iter().for_each(|done| done.unwrap());
    assert_eq!(server.sql("SELECT id, name IS NULL FROM lockscope.thing").await.unwrap().trim(), "7|t");
    let newer = migrate(&databases[0], first).await;
    assert_eq!(newer, Err(DatabaseError::Newer { found: 2, known: 1 }));
    // A step that fails leaves nothing behind.
    let broken = Tables { steps: &["CREATE TABLE lockscope.other (id int)", "CREATE NONSENSE"], part: "broken" };
    assert!(matches!(migrate(&databases[1], broken).await, Err(DatabaseError::Failed(_))));
    assert_eq!(server.sql("SELECT to_regclass('lockscope.other') IS NULL").await.unwrap().trim(), "t");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lock_is_held_by_one_and_lost_with_the_connection() {
    let mut server = PrivatePostgres::start().await.unwrap();
    let (first, second) = (database(&server.url()).lane(), database(&server.url()).lane());
    let lock = |lane: &lockscope_postgres::Lane, whose| {
        let lane = lane.clone();
        async move {
            lane.run(move |session| Box::pin(async move { Ok((session.lock(5, whose).await?, session.number())) }))
                .await
        }
    };
    assert_eq!(lock(&first, 1).await, Ok((true, 1)));
    assert_eq!(lock(&first, 1).await, Ok((true, 1)));
    assert_eq!(lock(&first, 2).await, Ok((false, 1)), "another one of the same process");
    assert_eq!(lock(&second, 1).await, Ok((false, 1)));
    first.run(|session| Box::pin(async move { session.unlock(5, 1).await })).await.unwrap();
    assert_eq!(lock(&second, 1).await, Ok((true, 1)));
    server.kill_minus_9().await.unwrap();
    // What it holds is not asked for again; what is written by it fails.
    until(|| async { lock(&second, 1).await.is_err().then_some(()) }).await;
    server.restart().await.unwrap();
    let again = until(|| async { lock(&first, 1).await.ok() }).await;
    assert_eq!(again, (true, 2));
    assert_eq!(lock(&second, 1).await, Ok((false, 2)));
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_writes_nothing_for_long_keeps_its_lock() {
    let server = PrivatePostgres::start().await.unwrap();
    let target = Target::parse(&server.url()).unwrap().with_silence(Duration::from_secs(2));
    let lane = Database::new(target).unwrap().lane();
    let lock = || lane.run(|session| Box::pin(async move { Ok((session.lock(5, 1).await?, session.number())) }));
    assert_eq!(lock().await, Ok((true, 1)));
    // The server ends a session that says nothing for 2 s.
    let old = "SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid)
        WHERE locktype = 'advisory' AND clock_timestamp() - backend_start > interval '5 s'";
    until(|| async { (server.sql(old).await.unwrap().trim() == "1").then_some(()) }).await;
    assert_eq!(lock().await, Ok((true, 1)), "by the same session");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hung_server_fails_looks_within_their_bound_and_then_at_once() {
    let server = PrivatePostgres::start().await.unwrap();
    let database = database(&server.url());
    assert_eq!(one(&database).await, Ok(1));
    server.pause().unwrap();
    let hung = |within| {
        let database = database.clone();
        async move {
            let began = lockscope_runtime::clock::instant();
            let asked = database
                .look(soon(within), |client| Box::pin(async move { Ok(client.simple_query("SELECT 1").await?.len()) }))
                .await;
            (asked.is_err(), began.elapsed())
        }
    };
    let (has_failed, took) = hung(300).await;
    assert!(has_failed && took < Duration::from_secs(2), "{took:?}");
    // Once it is known to be down, looks fail at once; one in a while tries.
    until(|| async { (hung(3_000).await.1 < Duration::from_millis(100)).then_some(()) }).await;
    let (has_failed, took) = hung(3_000).await;
    assert!(has_failed && took < Duration::from_secs(3), "{took:?}");
    server.resume().unwrap();
    until(|| async { one(&database).await.ok() }).await;
    // A look that is too large is no sign of a server that hangs.
    let large = database
        .look(soon(200), |client| Box::pin(async move { Ok(client.simple_query("SELECT pg_sleep(60)").await?.len()) }))
        .await;
    assert_eq!(large, Err(DatabaseError::TooLong));
    assert_eq!(one(&database).await, Ok(1));
    let running = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)%' AND state = 'active'
        AND pid <> pg_backend_pid()";
    until(|| async { (server.sql(running).await.unwrap().trim() == "0").then_some(()) }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hung_first_server_is_skipped() {
    let (first, second) = (PrivatePostgres::start().await.unwrap(), PrivatePostgres::start().await.unwrap());
    let port = second.port();
    let url = first.url().replace("@127.0.0.1", &format!("@127.0.0.1:{},127.0.0.1", first.port()));
    let url = url.replace(&format!(",127.0.0.1:{}", first.port()), &format!(",127.0.0.1:{port}"));
    first.pause().unwrap();
    let database = database(&url);
    let answered = database
        .look(soon(4_500), |client| {
            Box::pin(async move { Ok(client.query_one("SELECT inet_server_port()", &[]).await?.try_get(0)?) })
        })
        .await;
    assert_eq!(answered, Ok(i32::from(port)));
    first.resume().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn full_server_and_changed_password_are_reported() {
    let server = PrivatePostgres::start().await.unwrap();
    server.sql("CREATE ROLE plain LOGIN PASSWORD 'plain' CONNECTION LIMIT 1").await.unwrap();
    let url = server.url().replace("lockscope:private", "plain:plain");
    let (first, second) = (database(&url), database(&url));
    assert_eq!(one(&first).await, Ok(1));
    let error = one(&second).await.unwrap_err();
    assert!(matches!(&error, DatabaseError::Refused(why) if why.contains("raise max_connections")), "{error}");
    drop(first);
    until(|| async { one(&second).await.ok() }).await;
    // What is open goes on with the old password; new connections are refused until the new one is given.
    server.sql("ALTER ROLE plain PASSWORD 'other'").await.unwrap();
    assert_eq!(one(&second).await, Ok(1));
    server.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'plain'").await.unwrap();
    until(|| async {
        one(&second)
            .await
            .is_err_and(|error| error.to_string().contains("password authentication failed"))
            .then_some(())
    })
    .await;
    let failed = second.stats().connects_failed;
    until(|| async { (one(&second).await.is_err() && second.stats().connects_failed > failed).then_some(()) }).await;
    server.sql("ALTER ROLE plain PASSWORD 'plain'").await.unwrap();
    until(|| async { one(&second).await.ok() }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_more_connections_are_made_than_may_be() {
    let server = PrivatePostgres::start().await.unwrap();
    let database = database(&server.url());
    let looks = (0..40).map(|_| {
        database.look(soon(20_000), |client| {
            Box::pin(async move { Ok(client.simple_query("SELECT pg_sleep(0.02)").await?.len()) })
        })
    });
    futures_util::future::join_all(looks).await.into_iter().for_each(|look| assert!(look.is_ok(), "{look:?}"));
    assert_eq!(database.stats().connects, lockscope_postgres::READERS_MAX as u64);
}
