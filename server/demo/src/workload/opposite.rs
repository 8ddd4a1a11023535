//! Two services that take the same two locks in opposite orders, and have never met: a deadlock that may come. What keeps
//! them apart is their timetable, which no ZooKeeper knows of.

use lockscope_core::znode::join_path;
use tokio::sync::Mutex;
use zookeeper_client::Error;

use super::mutex::acquire;
use super::names::Style;
use super::sample_client::SampleClient;
use super::scenes::Leg;

const STYLE: Style = Style::Curator;
/// What a service does between its first lock and the second.
const BETWEEN_MS: std::ops::Range<u64> = 150..300;
/// From the end of one service's round to the next of the other.
const APART_MS: std::ops::Range<u64> = 400..900;

/// Whose time it is. One for all samples of a process: they are never more than a few.
static TIMETABLE: Mutex<()> = Mutex::const_new(());

/// The two locks under `root`, in the order of a service.
pub(super) fn locks(root: &str, leg: Leg) -> [String; 2] {
    let names = match leg {
        Leg::Out => ["stock", "dispatch"],
        Leg::Back => ["dispatch", "stock"],
    };
    names.map(|name| join_path(root, name))
}

pub(super) async fn round(sample: SampleClient<'_>, leg: Leg) -> Result<(), Error> {
    let SampleClient { client, scene, pace } = sample;
    let _time = TIMETABLE.lock().await;
    let [one, other] = locks(scene.directory, leg);
    let first = acquire(client, &one, STYLE, &scene.label).await?;
    pace.pause(&BETWEEN_MS).await;
    let second = acquire(client, &other, STYLE, &scene.label).await?;
    sample.hold().await;
    second.leave(client).await?;
    first.leave(client).await?;
    pace.pause(&APART_MS).await;
    Ok(())
}
