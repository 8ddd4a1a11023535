//! Facts as they are written: a plain row each where a file has such, else what recurs as a number.

use lockscope_core::keyed_hash::KeyedMap;
use rusqlite::{Connection, OptionalExtension as _, Statement, params};

use super::schema::{FACTS_A_MS, Lives};
use crate::store::rows::{Fact, FactKind};

/// Longest sentence that may recur, in bytes. Longer ones name znodes and times.
const RECURRING_BYTES_MAX: usize = 80;
/// Sentences of a file that are kept once. Of further ones each is kept with its fact.
const SENTENCES_MAX: usize = 1_024;

pub(super) enum FactWriter<'a> {
    Plain(Statement<'a>),
    /// Sentences as numbers.
    Packed(Box<Packed<'a>>),
}

/// What is run for each packed fact of a transaction, and the sentences that are known in it.
pub(super) struct Packed<'a> {
    add: Statement<'a>,
    find: Statement<'a>,
    add_sentence: Statement<'a>,
    sentences: usize,
    known: KeyedMap<Sentence, Option<i64>>,
}

/// What facts have in common. The text is empty where each has its own.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Sentence {
    kind: i64,
    code: Box<str>,
    severity: u8,
    text: Box<str>,
}

impl<'a> FactWriter<'a> {
    pub(super) fn of(connection: &'a Connection) -> rusqlite::Result<Self> {
        let prepare = |sql| connection.prepare(sql);
        if Lives::of(connection)? != Lives::Packed {
            return Ok(Self::Plain(prepare("INSERT OR REPLACE INTO fact VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?));
        }
        let count = "SELECT count(*) FROM sentence WHERE text <> ''";
        let sentences: i64 = connection.query_row(count, [], |row| row.get(0))?;
        Ok(Self::Packed(Box::new(Packed {
            add: prepare("INSERT OR REPLACE INTO happening VALUES (?1, ?2, ?3, ?4, ?5)")?,
            find: prepare("SELECT id FROM sentence WHERE text = ?4 AND code = ?2 AND kind = ?1 AND severity = ?3")?,
            add_sentence: prepare("INSERT INTO sentence (kind, code, severity, text) VALUES (?1, ?2, ?3, ?4)")?,
            sentences: usize::try_from(sentences).unwrap_or(usize::MAX),
            known: KeyedMap::default(),
        })))
    }

    /// Writes one; its lock by its number.
    pub(super) fn write(&mut self, fact: &Fact, lock: Option<i64>) -> rusqlite::Result<()> {
        let Fact { number, at, lock: _, kind, code, severity, text } = fact;
        let number = i64::try_from(*number).unwrap_or(i64::MAX);
        match self {
            Self::Plain(add) => add.execute(params![number, at.0, lock, *kind as i64, code, severity, text]).map(drop),
            Self::Packed(packed) => {
                let (sentence, own) = packed.sentence(*kind, code, *severity, text)?;
                let extra = number.wrapping_sub(at.0.wrapping_mul(FACTS_A_MS));
                packed.add.execute(params![at.0, extra, lock, sentence, own]).map(drop)
            }
        }
    }
}

impl Packed<'_> {
    /// The number of what a fact has in common with others, and the text that is its own.
    fn sentence<'t>(
        &mut self,
        kind: FactKind,
        code: &str,
        severity: u8,
        text: &'t str,
    ) -> rusqlite::Result<(i64, Option<&'t str>)> {
        let sentence = |text: &str| Sentence { kind: kind as i64, code: code.into(), severity, text: text.into() };
        if text.len() <= RECURRING_BYTES_MAX
            && let Some(id) = self.number(sentence(text), !text.is_empty())?
        {
            return Ok((id, None));
        }
        // Kinds, codes and severities are the core's: there are few.
        let id = self.number(sentence(""), false)?;
        id.map(|id| (id, Some(text))).ok_or(rusqlite::Error::QueryReturnedNoRows)
    }

    /// The number of a sentence; None where there are too many and it is one that counts.
    fn number(&mut self, sentence: Sentence, counts: bool) -> rusqlite::Result<Option<i64>> {
        if let Some(id) = self.known.get(&sentence) {
            return Ok(*id);
        }
        let columns = params![sentence.kind, sentence.code, sentence.severity, sentence.text];
        let id = match self.find.query_row(columns, |row| row.get(0)).optional()? {
            None if !counts || self.sentences < SENTENCES_MAX => {
                self.sentences += usize::from(counts);
                Some(self.add_sentence.insert(columns)?)
            }
            known => known,
        };
        self.known.insert(sentence, id);
        Ok(id)
    }
}
