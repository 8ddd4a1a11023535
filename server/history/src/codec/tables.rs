//! What a chunk says once and refers to afterwards: paths, sessions, texts, kinds of names. Writer and reader keep the
//! same tables in the same order, each chunk its own.

use lockscope_core::keyed_hash::KeyedMap;
use lockscope_core::znode::{SessionId, join_path, split_path};

use super::bytes::{Bytes, put_u64, zigzag};
use super::names::{Form, Own, SEQUENCE_MAX, Uuid, put_together, take_apart};
use super::{CHUNK_BYTES_MAX, CodecError};

/// Texts and paths that are longer are written out each time: a reference of one byte must not become much.
pub(super) const INTERNED_BYTES_MAX: usize = 512;
/// What one observation may become when it is read, as `size` counts it; a larger one is not kept.
pub const OBSERVATION_BYTES_MAX: usize = 512 << 20;
/// What an element of a list counts for, beside its texts.
pub(super) const ELEMENT_BYTES: usize = 64;

/// What numbers are differences to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Last {
    pub(super) now: i64,
    pub(super) zxid: i64,
    pub(super) ctime_ms: i64,
    pub(super) root: u32,
    /// By how much the end of a session moved.
    pub(super) moved_ms: i64,
    session: i64,
    number: i64,
}

#[derive(Debug, Default)]
pub(super) struct Writer {
    pub(super) out: Vec<u8>,
    pub(super) last: Last,
    texts: KeyedMap<Box<[u8]>, usize>,
    sessions: KeyedMap<SessionId, usize>,
    paths: KeyedMap<Box<str>, usize>,
    /// The last sequence number under each path.
    numbers: Vec<i64>,
    forms: KeyedMap<Form, usize>,
}

impl Writer {
    /// As one that is new, with the room that it has; what a huge observation took is given back.
    pub(super) fn emptied(mut self) -> Self {
        if self.out.capacity() > 4 * CHUNK_BYTES_MAX {
            return Self::default();
        }
        let Self { out, last, texts, sessions, paths, numbers, forms } = &mut self;
        *last = Last::default();
        out.clear();
        texts.clear();
        sessions.clear();
        paths.clear();
        numbers.clear();
        forms.clear();
        self
    }

    pub(super) fn byte(&mut self, byte: u8) {
        self.out.push(byte);
    }

    pub(super) fn u64(&mut self, value: u64) {
        put_u64(&mut self.out, value);
    }

    pub(super) fn i64(&mut self, value: i64) {
        put_u64(&mut self.out, zigzag(value));
    }

    pub(super) fn len(&mut self, len: usize) {
        self.u64(len as u64);
    }

    fn plain(&mut self, bytes: &[u8]) {
        self.len(bytes.len());
        self.out.extend_from_slice(bytes);
    }

    /// A text, or a payload: 0 and itself, or how many texts ago it was new.
    pub(super) fn text(&mut self, bytes: &[u8]) {
        if let Some(at) = self.texts.get(bytes) {
            return self.len(self.texts.len() - at);
        }
        self.byte(0);
        self.plain(bytes);
        if bytes.len() <= INTERNED_BYTES_MAX {
            self.texts.insert(bytes.into(), self.texts.len());
        }
    }

    pub(super) fn session(&mut self, session: SessionId) {
        if let Some(at) = self.sessions.get(&session) {
            return self.len(self.sessions.len() - at);
        }
        self.byte(0);
        self.i64(session.0.wrapping_sub(self.last.session));
        self.last.session = session.0;
        self.sessions.insert(session, self.sessions.len());
    }

    /// How long ago a path was new, if it was.
    pub(super) fn known_path(&self, path: &str) -> Option<usize> {
        self.paths.get(path).map(|at| self.paths.len() - 1 - at)
    }

    /// A path: 0 and a new one, or how long ago it was new.
    pub(super) fn path(&mut self, path: &str) {
        match self.known_path(path) {
            Some(ago) => self.len(ago + 1),
            None => {
                self.byte(0);
                self.new_path(path);
            }
        }
    }

    /// A path that is not known: 0 and all of it; 1, its parent and its name; or how long ago its parent was new, and
    /// its name.
    pub(super) fn new_path(&mut self, path: &str) {
        let parts = split_path(path).filter(|(parent, name)| is_joined(parent, name, path));
        // The parent of a path that is not kept need not be known either.
        let Some((parent, name)) = parts.filter(|(parent, _)| parent.len() <= INTERNED_BYTES_MAX) else {
            self.byte(0);
            self.plain(path.as_bytes());
            self.keep_path(path);
            return;
        };
        let place = if let Some(at) = self.paths.get(parent) {
            let at = *at;
            self.len(self.paths.len() - at + 1);
            at
        } else {
            self.byte(1);
            self.plain(parent.as_bytes());
            let at = self.paths.len();
            self.keep_path(parent);
            at
        };
        let mut before = self.numbers.get(place).copied().unwrap_or(0);
        self.name(name, &mut before);
        self.numbers.iter_mut().skip(place).take(1).for_each(|number| *number = before);
        self.keep_path(path);
    }

    fn keep_path(&mut self, path: &str) {
        if path.len() <= INTERNED_BYTES_MAX {
            self.paths.insert(path.into(), self.paths.len());
            self.numbers.push(0);
        }
    }

    /// The name of a child in a list of all, which is in order: its number is the difference to the one before it in the
    /// chunk.
    pub(super) fn child_name(&mut self, name: &str) {
        let mut before = self.last.number;
        self.name(name, &mut before);
        self.last.number = before;
    }

    /// A name in a directory of which the last number is known: 0 and all of it; 1 and a new form with its own; or a form and its own.
    fn name(&mut self, name: &str, before: &mut i64) {
        let Some((form, own)) = take_apart(name).filter(|(form, _)| form_bytes(form) <= INTERNED_BYTES_MAX) else {
            self.byte(0);
            return self.plain(name.as_bytes());
        };
        let (uuid, is_numbered) = (form.uuid, form.is_numbered);
        if let Some(at) = self.forms.get(&form) {
            self.len(at + 2);
        } else {
            self.byte(1);
            self.byte(uuid as u8 | u8::from(is_numbered) << 2);
            self.plain(form.prefix.as_bytes());
            self.plain(form.middle.as_bytes());
            self.forms.insert(form, self.forms.len());
        }
        if uuid != Uuid::Absent {
            self.out.extend_from_slice(&own.uuid);
        }
        if is_numbered {
            self.i64(own.number - std::mem::replace(before, own.number));
        }
    }
}

/// A parent and a name are all of a path only if joining them gives it back: `//a` has the parent `/` as well.
fn is_joined(parent: &str, name: &str, path: &str) -> bool {
    let slash = usize::from(parent != "/");
    parent.len() + slash + name.len() == path.len()
}

fn form_bytes(form: &Form) -> usize {
    form.prefix.len() + form.middle.len()
}

#[derive(Clone, Debug)]
pub(super) struct Reader<'a> {
    pub(super) version: u8,
    pub(super) bytes: Bytes<'a>,
    pub(super) last: Last,
    texts: Vec<&'a [u8]>,
    sessions: Vec<SessionId>,
    paths: Vec<Box<str>>,
    numbers: Vec<i64>,
    forms: Vec<Form>,
    /// What is left for the observation under way.
    left: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(body: &'a [u8]) -> Self {
        Self {
            version: super::VERSION,
            bytes: Bytes::new(body),
            last: Last::default(),
            texts: Vec::new(),
            sessions: Vec::new(),
            paths: Vec::new(),
            numbers: Vec::new(),
            forms: Vec::new(),
            left: OBSERVATION_BYTES_MAX,
        }
    }

    pub(super) fn begin(&mut self) {
        self.left = OBSERVATION_BYTES_MAX;
    }

    /// Counts what is made of a few bytes.
    pub(super) fn spend(&mut self, bytes: usize) -> Result<(), CodecError> {
        self.left = self.left.checked_sub(bytes).ok_or(CodecError::TooLarge)?;
        Ok(())
    }

    fn plain(&mut self) -> Result<&'a [u8], CodecError> {
        let len = self.bytes.count()?;
        self.bytes.slice(len)
    }

    fn plain_text(&mut self) -> Result<&'a str, CodecError> {
        std::str::from_utf8(self.plain()?).map_err(|_| CodecError::Malformed("a text is not UTF-8"))
    }

    pub(super) fn bytes_text(&mut self) -> Result<&'a [u8], CodecError> {
        let text = match self.bytes.u64()? {
            0 => {
                let text = self.plain()?;
                if text.len() <= INTERNED_BYTES_MAX {
                    self.texts.push(text);
                }
                text
            }
            ago => ago_of(&self.texts, ago)?,
        };
        self.spend(text.len())?;
        Ok(text)
    }

    pub(super) fn text(&mut self) -> Result<&'a str, CodecError> {
        std::str::from_utf8(self.bytes_text()?).map_err(|_| CodecError::Malformed("a text is not UTF-8"))
    }

    pub(super) fn session(&mut self) -> Result<SessionId, CodecError> {
        match self.bytes.u64()? {
            0 => {
                self.last.session = self.last.session.wrapping_add(self.bytes.i64()?);
                let session = SessionId(self.last.session);
                self.sessions.push(session);
                Ok(session)
            }
            ago => ago_of(&self.sessions, ago).copied(),
        }
    }

    pub(super) fn known_path(&mut self) -> Result<Box<str>, CodecError> {
        let ago = self.bytes.u64()?;
        self.path_from(ago)
    }

    fn path_from(&mut self, ago: u64) -> Result<Box<str>, CodecError> {
        let path = ago_of(&self.paths, ago.saturating_add(1))?;
        let path = path.clone();
        self.spend(path.len())?;
        Ok(path)
    }

    pub(super) fn path(&mut self) -> Result<Box<str>, CodecError> {
        match self.bytes.u64()? {
            0 => self.new_path(),
            ago => self.path_from(ago - 1),
        }
    }

    pub(super) fn new_path(&mut self) -> Result<Box<str>, CodecError> {
        let place = match self.bytes.u64()? {
            0 => {
                let path: Box<str> = self.plain_text()?.into();
                return self.keep_path(path);
            }
            1 => {
                let parent: Box<str> = self.plain_text()?.into();
                if parent.len() > INTERNED_BYTES_MAX {
                    return Err(CodecError::Malformed("a directory's path is longer than is referred to"));
                }
                self.keep_path(parent)?;
                self.paths.len() - 1
            }
            ago => place_of(self.paths.len(), ago - 1)?,
        };
        let mut before = self.numbers.get(place).copied().ok_or(UNKNOWN)?;
        let name = self.name(&mut before)?;
        *self.numbers.get_mut(place).ok_or(UNKNOWN)? = before;
        let parent = self.paths.get(place).ok_or(UNKNOWN)?;
        let path = join_path(parent, &name).into_boxed_str();
        self.keep_path(path)
    }

    fn keep_path(&mut self, path: Box<str>) -> Result<Box<str>, CodecError> {
        self.spend(path.len())?;
        if path.len() <= INTERNED_BYTES_MAX {
            self.paths.push(path.clone());
            self.numbers.push(0);
        }
        Ok(path)
    }

    pub(super) fn child_name(&mut self) -> Result<Box<str>, CodecError> {
        let mut before = self.last.number;
        let name = self.name(&mut before)?;
        self.last.number = before;
        self.spend(name.len())?;
        Ok(name.into())
    }

    fn name(&mut self, before: &mut i64) -> Result<String, CodecError> {
        let at = match self.bytes.u64()? {
            0 => return Ok(self.plain_text()?.to_owned()),
            1 => {
                let form = self.form()?;
                self.forms.push(form);
                self.forms.len() - 1
            }
            at => usize::try_from(at - 2).map_err(|_| UNKNOWN)?,
        };
        let form = self.forms.get(at).ok_or(UNKNOWN)?;
        let mut own = Own::default();
        if form.uuid != Uuid::Absent {
            own.uuid = self.bytes.slice(16)?.try_into().map_err(|_| CodecError::CutOff)?;
        }
        if form.is_numbered {
            own.number = before.wrapping_add(self.bytes.i64()?);
            if !(0..=SEQUENCE_MAX).contains(&own.number) {
                return Err(CodecError::Malformed("a sequence number has more than ten digits"));
            }
            *before = own.number;
        }
        Ok(put_together(form, own))
    }

    fn form(&mut self) -> Result<Form, CodecError> {
        let kind = self.bytes.byte()?;
        let uuid = match kind & 3 {
            0 => Uuid::Absent,
            1 => Uuid::Plain,
            2 => Uuid::Dashed,
            _ => return Err(CodecError::Malformed("a uuid is written in an unknown way")),
        };
        let (prefix, middle) = (self.plain_text()?.into(), self.plain_text()?.into());
        let form = Form { uuid, is_numbered: kind & 4 != 0, prefix, middle };
        let is_known = kind < 8 && form_bytes(&form) <= INTERNED_BYTES_MAX;
        if is_known { Ok(form) } else { Err(CodecError::Malformed("a kind of names is not one")) }
    }
}

const UNKNOWN: CodecError = CodecError::Malformed("a reference leads nowhere");

fn place_of(len: usize, ago: u64) -> Result<usize, CodecError> {
    let ago = usize::try_from(ago).map_err(|_| UNKNOWN)?;
    len.checked_sub(ago).filter(|place| *place < len).ok_or(UNKNOWN)
}

/// What was new so long ago; 1 is the newest.
fn ago_of<T>(table: &[T], ago: u64) -> Result<&T, CodecError> {
    table.get(place_of(table.len(), ago)?).ok_or(UNKNOWN)
}
