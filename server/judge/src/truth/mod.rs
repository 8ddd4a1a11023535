//! What was true and when: every directory's children through all transactions.

mod rule;

pub use rule::Rule;
use txn_log::Transaction;

/// The tree through all transactions. Fed by [`Truth::apply`] in the order of the log, then asked.
#[derive(Clone, Debug, Default)]
pub struct Truth {
    last_zxid: i64,
}

impl Truth {
    /// Of a log that begins with an empty tree.
    pub fn new() -> Self {
        Self::default()
    }

    /// Of transactions in any order, as the files of several members have them: sorted, each taken once.
    pub fn from_transactions(transactions: impl IntoIterator<Item = Transaction>) -> Self {
        let mut sorted: Vec<Transaction> = transactions.into_iter().collect();
        sorted.sort_by_key(|transaction| transaction.zxid);
        let mut truth = Self::new();
        for transaction in &sorted {
            truth.apply(transaction);
        }
        truth
    }

    /// Takes the next transaction; one that was taken already is left out.
    pub fn apply(&mut self, transaction: &Transaction) {
        if transaction.zxid <= self.last_zxid {
            return;
        }
        self.last_zxid = transaction.zxid;
    }

    /// Says how a lock's children are to be read, where their names do not tell it.
    pub fn set_rule(&mut self, _lock: &str, _rule: Rule) {}

    /// The last transaction.
    pub fn last_zxid(&self) -> i64 {
        self.last_zxid
    }
}
