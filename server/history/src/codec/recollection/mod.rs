//! The parts of a checkpoint. What always follows from the rest is not stored: where a lock's znodes are, and the naming
//! rule of most znodes.

mod events;
mod locks;
mod members;
mod model;
mod orders;
mod trees;

use std::sync::Arc;

use lockscope_core::lock_order::OrderSnooze;
use lockscope_core::observation::Recollection;

use super::CodecError;
use super::coded::Coded;
use super::tables::{ELEMENT_BYTES, Reader, Writer};

const OPENING: u8 = 0;
const ROOT: u8 = 1;
const DIRECTORY: u8 = 2;
const CHILDREN: u8 = 3;
const LOCK: u8 = 4;
const MEMBERS: u8 = 5;
const SESSIONS: u8 = 6;
const WATCHES: u8 = 7;
const SESSION_EVENTS: u8 = 8;
const EVENT_RECORDS: u8 = 9;
const MODEL: u8 = 10;
const LOCK_ORDERS: u8 = 11;
const ORDER_SNOOZES: u8 = 12;

impl Coded for Recollection {
    fn put(&self, out: &mut Writer) {
        match self {
            Self::Opening(part) => tagged(out, OPENING, part),
            Self::Root(part) => tagged(out, ROOT, part),
            Self::Directory(part) => tagged(out, DIRECTORY, part),
            Self::Children(part) => tagged(out, CHILDREN, part),
            Self::Lock(part) => tagged(out, LOCK, &**part),
            Self::Members(part) => tagged(out, MEMBERS, part),
            Self::Sessions(part) => tagged(out, SESSIONS, part),
            Self::Watches(part) => tagged(out, WATCHES, part),
            Self::SessionEvents(part) => tagged(out, SESSION_EVENTS, part),
            Self::EventRecords(part) => tagged(out, EVENT_RECORDS, part),
            Self::Model(part) => tagged(out, MODEL, &**part),
            Self::LockOrders(part) => tagged(out, LOCK_ORDERS, &**part),
            Self::OrderSnoozes(part) => tagged(out, ORDER_SNOOZES, part),
        }
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        Ok(match from.bytes.byte()? {
            OPENING => Self::Opening(Coded::take(from)?),
            ROOT => Self::Root(Coded::take(from)?),
            DIRECTORY => Self::Directory(Coded::take(from)?),
            CHILDREN => Self::Children(Coded::take(from)?),
            LOCK => Self::Lock(Box::new(Coded::take(from)?)),
            MEMBERS => Self::Members(Coded::take(from)?),
            SESSIONS => Self::Sessions(Coded::take(from)?),
            WATCHES => Self::Watches(Coded::take(from)?),
            SESSION_EVENTS => Self::SessionEvents(Coded::take(from)?),
            EVENT_RECORDS => Self::EventRecords(Coded::take(from)?),
            MODEL => Self::Model(Box::new(Coded::take(from)?)),
            LOCK_ORDERS => Self::LockOrders(Box::new(Coded::take(from)?)),
            ORDER_SNOOZES => Self::OrderSnoozes(Coded::take(from)?),
            _ => return Err(CodecError::Malformed("unknown Recollection")),
        })
    }
}

fn tagged(out: &mut Writer, tag: u8, part: &impl Coded) {
    out.byte(tag);
    part.put(out);
}

/// About the bytes of snoozes in memory.
pub(super) fn bytes_of_snoozes(snoozes: &[OrderSnooze]) -> usize {
    let of_classes = |classes: &[Arc<str>]| classes.iter().map(|class| 2 * class.len() + ELEMENT_BYTES).sum::<usize>();
    let of_one =
        |one: &OrderSnooze| 2 * ELEMENT_BYTES + 2 * (one.by.len() + one.reason.len()) + of_classes(&one.classes);
    snoozes.iter().map(of_one).sum()
}

/// About the bytes of a part in memory. Lists come in pieces, so only the texts of znodes can make one large.
pub(super) fn bytes_of(part: &Recollection) -> usize {
    let children = match part {
        Recollection::Directory(directory) => &directory.children[..],
        Recollection::Children(more) => &more.children[..],
        Recollection::OrderSnoozes(snoozes) => return bytes_of_snoozes(snoozes),
        Recollection::Opening(_)
        | Recollection::Root(_)
        | Recollection::Lock(_)
        | Recollection::Members(_)
        | Recollection::Sessions(_)
        | Recollection::Watches(_)
        | Recollection::SessionEvents(_)
        | Recollection::EventRecords(_)
        | Recollection::LockOrders(_)
        | Recollection::Model(_) => return size_of::<Recollection>(),
    };
    children.iter().map(|child| child.name.len() + 4 * ELEMENT_BYTES).sum()
}
