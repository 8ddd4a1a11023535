//! The files of tokens and users. A thread of its own looks at them when asked, and publishes what is in them: no
//! request waits for the disk to know who somebody is, and a volume that hangs holds up this thread alone. Many who ask
//! at once share one look.

use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::Duration;

use tokio::sync::{oneshot, watch};

use super::file_watch::FileWatch;
use super::tokens::{TOKENS_FILE, TokenRecord};
use super::users::{USERS_FILE, UserRecord};
use lockscope_runtime::clock;

/// Pause between two looks, however many ask.
const PAUSE: Duration = Duration::from_millis(20);
/// Longest wait for a look; then what was read before counts.
const LOOK_MAX: Duration = Duration::from_secs(1);
/// Questions that wait for a look; one more is answered with what was read before.
const ASKS_MAX: usize = 1_024;

#[derive(Clone, Debug, Default)]
pub(super) struct Accounts {
    pub(super) tokens: Vec<TokenRecord>,
    pub(super) users: Vec<UserRecord>,
}

/// Asks for looks.
#[derive(Debug)]
pub(super) struct AccountFiles {
    /// None: there is no directory, and nobody in it.
    asks: Option<SyncSender<oneshot::Sender<()>>>,
}

struct Files {
    tokens: FileWatch,
    users: FileWatch,
}

impl Files {
    fn new(dir: &Path) -> Self {
        Self { tokens: FileWatch::new(dir.join(TOKENS_FILE)), users: FileWatch::new(dir.join(USERS_FILE)) }
    }

    /// Takes in what changed; false when nothing did.
    fn look(&mut self, accounts: &mut Accounts) -> bool {
        let (tokens, users) = (self.tokens.changed(), self.users.changed());
        let is_changed = tokens.is_some() || users.is_some();
        if let Some(tokens) = tokens {
            accounts.tokens = tokens;
        }
        if let Some(users) = users {
            accounts.users = users;
        }
        is_changed
    }
}

impl AccountFiles {
    /// Looks once, here and now, and then whenever asked, elsewhere; with where it is published.
    pub(super) fn open(dir: Option<&Path>) -> (Self, watch::Receiver<Accounts>) {
        let mut accounts = Accounts::default();
        let Some(mut files) = dir.map(Files::new) else { return (Self { asks: None }, watch::channel(accounts).1) };
        files.look(&mut accounts);
        let (publish, published) = watch::channel(accounts);
        let (asks, asked) = sync_channel(ASKS_MAX);
        let look = move || {
            let mut accounts = publish.borrow().clone();
            if files.look(&mut accounts) {
                publish.send_replace(accounts);
            }
        };
        let thread = thread::Builder::new().name("accounts".to_owned()).spawn(move || run(&asked, look));
        if let Err(error) = thread {
            tracing::error!(%error, "changes of tokens and users are not noticed until a restart: no thread could be started for their files");
        }
        (Self { asks: Some(asks) }, published)
    }

    /// Has the files looked at now; what changed was published when this ends. False: it took too long, or too many
    /// ask.
    pub(super) async fn look(&self) -> bool {
        let Some(asks) = &self.asks else { return true };
        let (done, looked) = oneshot::channel();
        match asks.try_send(done) {
            Ok(()) => tokio::time::timeout(LOOK_MAX, looked).await.is_ok_and(|looked| looked.is_ok()),
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => false,
        }
    }
}

/// Looks for whoever asks, until nobody can ask any more.
fn run(asked: &Receiver<oneshot::Sender<()>>, mut look: impl FnMut()) {
    while let Ok(first) = asked.recv() {
        // A look that began before the question is no answer to it: all questions are taken first.
        let waiting: Vec<_> = std::iter::once(first).chain(asked.try_iter().take(ASKS_MAX)).collect();
        // Nobody waits any more: they gave up while the last read took so long.
        if waiting.iter().all(oneshot::Sender::is_closed) {
            continue;
        }
        look();
        let ended = clock::instant();
        for done in waiting {
            // A receiver that gave up waiting is gone.
            let _ = done.send(());
        }
        thread::sleep(PAUSE.saturating_sub(ended.elapsed()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_who_ask_share_a_look() {
        let (asks, asked) = sync_channel(ASKS_MAX);
        let waiting: Vec<_> = (0..100)
            .map(|_| {
                let (done, looked) = oneshot::channel();
                asks.try_send(done).unwrap();
                looked
            })
            .collect();
        drop(asks);
        let mut looks = 0;
        run(&asked, || looks += 1);
        assert_eq!(looks, 1);
        assert!(waiting.into_iter().all(|mut looked| looked.try_recv().is_ok()));
    }

    #[tokio::test]
    async fn a_look_shows_what_was_written_before_it() {
        let dir = tempfile::tempdir().unwrap();
        let (files, published) = AccountFiles::open(Some(dir.path()));
        assert!(published.borrow().tokens.is_empty());
        std::fs::write(dir.path().join(TOKENS_FILE), "[]").unwrap();
        super::super::new_token(
            dir.path(),
            "ci",
            super::super::Grant::everywhere(lockscope_view::Role::Viewer),
            0,
            None,
        )
        .unwrap();
        assert!(files.look().await);
        assert_eq!(published.borrow().tokens.len(), 1);
        assert!(AccountFiles::open(None).0.look().await, "nothing to look at is no fault");
    }
}
