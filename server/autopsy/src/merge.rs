//! The transactions of an ensemble out of the logs of its members: each once, in order, with what one has and others lack.

use std::collections::VecDeque;
use std::path::PathBuf;

use lockscope_txn_log::Transaction;
use serde::Serialize;

use crate::source::{Damage, LogFile, LogStream, MemberFiles};

/// Damages that are kept. Overflow policy: further ones are counted.
pub const DAMAGED_MAX: usize = 1_000;
/// Differences between members that are kept. Overflow policy: the same.
pub const DIFFERENCES_MAX: usize = 1_000;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MemberDifference {
    pub directory: PathBuf,
    pub from_zxid: String,
    pub to_zxid: String,
    pub why: String,
}

/// The epoch of a transaction: which leader numbered it.
pub(crate) fn epoch(zxid: i64) -> i64 {
    zxid >> 32
}

/// Its number in that epoch.
pub(crate) fn counter(zxid: i64) -> i64 {
    zxid & 0xffff_ffff
}

/// Whether something is missing between two transactions: in an epoch they are numbered without a hole, from 1 on.
pub(crate) fn is_hole(before: i64, after: i64) -> bool {
    if epoch(before) == epoch(after) { after != before + 1 } else { counter(after) > 1 }
}

#[derive(Debug)]
struct MemberStream {
    directory: PathBuf,
    logs: VecDeque<LogFile>,
    current: Option<LogStream>,
    /// The transaction that is next.
    head: Option<Transaction>,
    /// The last one before it.
    last_zxid: i64,
    /// The last one of all; known where there are several members.
    end_zxid: i64,
    read: u64,
    files: u64,
}

impl MemberStream {
    /// Of all files that have something behind a transaction.
    fn open(files: &MemberFiles, after: i64, damaged: &mut Damages) -> Self {
        let ends = files.logs.iter().skip(1).map(|next| next.first_zxid).chain([i64::MAX]);
        let wanted = files.logs.iter().zip(ends).filter(|(_, end)| *end > after.saturating_add(1));
        let logs = wanted.map(|(log, _)| log.clone()).collect();
        let mut stream = Self {
            directory: files.directory.clone(),
            logs,
            current: None,
            head: None,
            last_zxid: after,
            end_zxid: 0,
            read: 0,
            files: 0,
        };
        stream.go_on(damaged);
        stream
    }

    /// Makes the next transaction the head.
    fn go_on(&mut self, damaged: &mut Damages) {
        loop {
            let Some(current) = &mut self.current else {
                let Some(log) = self.logs.pop_front() else {
                    self.head = None;
                    return;
                };
                self.files += 1;
                match LogStream::open(&log.path, self.logs.is_empty()) {
                    Ok(stream) => self.current = Some(stream),
                    Err(damage) => damaged.note(damage),
                }
                continue;
            };
            match current.next_transaction() {
                // Where a server began anew, a file may repeat the end of the one before.
                Ok(Some(transaction)) if transaction.zxid <= self.last_zxid => {}
                Ok(Some(transaction)) => {
                    self.read += 1;
                    self.last_zxid = transaction.zxid;
                    self.head = Some(transaction);
                    return;
                }
                Ok(None) => self.current = None,
                Err(damage) => damaged.note(damage),
            }
        }
    }

    /// The last transaction of all that can be read.
    fn end_of(files: &MemberFiles) -> i64 {
        let (mut damaged, mut end) = (Damages::default(), 0);
        // The last file may have nothing.
        for log in files.logs.iter().rev() {
            let one = MemberFiles { logs: vec![log.clone()], ..files.clone() };
            let mut stream = Self::open(&one, 0, &mut damaged);
            while let Some(head) = stream.head.take() {
                end = head.zxid;
                stream.go_on(&mut damaged);
            }
            if end > 0 {
                break;
            }
        }
        end
    }
}

#[derive(Debug, Default)]
pub(crate) struct Damages {
    pub(crate) all: Vec<Damage>,
    pub(crate) left_out: u64,
}

impl Damages {
    pub(crate) fn note(&mut self, damage: Damage) {
        if self.all.len() < DAMAGED_MAX {
            self.all.push(damage);
        } else {
            self.left_out += 1;
        }
    }
}

#[derive(Debug)]
pub(crate) struct Merged {
    members: Vec<MemberStream>,
    pub(crate) damaged: Damages,
    differences: Vec<(usize, Difference)>,
    differences_left_out: u64,
}

#[derive(Debug)]
struct Difference {
    from: i64,
    to: i64,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// It has other ones.
    Other,
    /// It lacks them.
    Lacks,
    /// It alone has them, and a later leader did not.
    NeverCommitted,
}

impl Merged {
    pub(crate) fn open(members: &[MemberFiles], after: i64) -> Self {
        let mut damaged = Damages::default();
        let is_one = members.len() == 1;
        let open = |files: &MemberFiles| {
            let stream = MemberStream::open(files, after, &mut damaged);
            let end_zxid = if is_one { 0 } else { MemberStream::end_of(files) };
            MemberStream { end_zxid, ..stream }
        };
        let members = members.iter().map(open).collect();
        Self { members, damaged, differences: Vec::new(), differences_left_out: 0 }
    }

    /// Transactions that were read of all members, and files.
    pub(crate) fn read(&self) -> (u64, u64) {
        self.members.iter().fold((0, 0), |(read, files), member| (read + member.read, files + member.files))
    }

    pub(crate) fn next_transaction(&mut self) -> Option<Transaction> {
        if let [only] = self.members.as_mut_slice() {
            let next = only.head.take();
            only.go_on(&mut self.damaged);
            return next;
        }
        loop {
            let zxid = self.heads().map(|(_, zxid)| zxid).min()?;
            let having: Vec<usize> = self.heads().filter(|(_, head)| *head == zxid).map(|(at, _)| at).collect();
            let lacking: Vec<usize> = (0..self.members.len()).filter(|at| self.lacks(*at, zxid)).collect();
            let is_dropped = self.was_never_committed(zxid, &having, &lacking);
            let mut found: Vec<(usize, Transaction)> = Vec::new();
            for at in having {
                if let Some(member) = self.members.get_mut(at) {
                    found.extend(member.head.take().map(|transaction| (at, transaction)));
                    member.go_on(&mut self.damaged);
                }
            }
            if is_dropped {
                found.iter().for_each(|(at, _)| self.differs(*at, zxid, Kind::NeverCommitted));
                continue;
            }
            lacking.into_iter().for_each(|at| self.differs(at, zxid, Kind::Lacks));
            return self.most_common(zxid, found);
        }
    }

    fn heads(&self) -> impl Iterator<Item = (usize, i64)> {
        self.members.iter().enumerate().filter_map(|(at, member)| Some((at, member.head.as_ref()?.zxid)))
    }

    /// It has the one before and a later one, and not this. (What a member was sent as a snapshot it lacks as well.)
    fn lacks(&self, at: usize, zxid: i64) -> bool {
        self.members.get(at).is_some_and(|member| {
            // `last_zxid` is that of the head.
            member.head.as_ref().is_some_and(|head| head.zxid > zxid) && member.read > 1
        })
    }

    /// Members that went on with a later leader were there and do not have it: one, where those that have it never saw a
    /// later leader, else more than half. (A leader that was deposed may be sent a snapshot and keep what it wrote alone.)
    fn was_never_committed(&self, zxid: i64, having: &[usize], lacking: &[usize]) -> bool {
        let member = |at: &usize| self.members.get(*at);
        let ends = having.iter().filter_map(member).all(|one| epoch(one.end_zxid) == epoch(zxid));
        let is_later = |head: &Transaction| epoch(head.zxid) > epoch(zxid) && counter(head.zxid) <= 1;
        let went_on = lacking.iter().filter_map(member).filter(|one| one.head.as_ref().is_some_and(is_later)).count();
        (ends && went_on > 0) || 2 * went_on > self.members.len()
    }

    fn most_common(&mut self, zxid: i64, found: Vec<(usize, Transaction)>) -> Option<Transaction> {
        let alike = |one: &Transaction| found.iter().filter(|(_, other)| other == one).count();
        let best = found.iter().max_by_key(|(at, one)| (alike(one), std::cmp::Reverse(*at)))?.1.clone();
        let others: Vec<usize> = found.iter().filter(|(_, one)| *one != best).map(|(at, _)| *at).collect();
        others.into_iter().for_each(|at| self.differs(at, zxid, Kind::Other));
        Some(best)
    }

    /// Notes a difference, as a part of the one before where it goes on.
    fn differs(&mut self, member: usize, zxid: i64, kind: Kind) {
        let last = self.differences.iter_mut().rev().find(|(at, _)| *at == member);
        if let Some((_, last)) = last.filter(|(_, last)| last.kind == kind && !is_hole(last.to, zxid)) {
            last.to = zxid;
        } else if self.differences.len() < DIFFERENCES_MAX {
            self.differences.push((member, Difference { from: zxid, to: zxid, kind }));
        } else {
            self.differences_left_out += 1;
        }
    }

    /// How members differ, and how many differences were left out.
    pub(crate) fn differences(&self) -> (Vec<MemberDifference>, u64) {
        let told = self.differences.iter().filter_map(|(at, Difference { from, to, kind })| {
            let why = match kind {
                Kind::Other => "it has other transactions under these numbers than the other members",
                Kind::Lacks => "it lacks these transactions: it was away, was sent a snapshot in place of them, or they are damaged",
                Kind::NeverCommitted => {
                    "it alone has these transactions, and a later leader did not: they were never committed, and are left out"
                }
            };
            let directory = self.members.get(*at)?.directory.clone();
            let (from_zxid, to_zxid) = (format!("{from:#x}"), format!("{to:#x}"));
            Some(MemberDifference { directory, from_zxid, to_zxid, why: why.to_owned() })
        });
        (told.collect(), self.differences_left_out)
    }
}
