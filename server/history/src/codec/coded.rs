//! How plain values are written and read. What a struct has is taken apart by its pattern, so that a new field does not
//! compile before it is written too.

use lockscope_core::time::TimeMs;
use lockscope_core::znode::{SessionId, Zxid};

use super::CodecError;
use super::tables::{ELEMENT_BYTES, Reader, Writer};

pub(super) trait Coded: Sized {
    fn put(&self, out: &mut Writer);
    fn take(from: &mut Reader<'_>) -> Result<Self, CodecError>;
}

/// Writes and reads a struct field by field, in this order.
macro_rules! coded_struct {
    ($type:ty { $($field:ident),+ $(,)? }) => {
        impl $crate::codec::coded::Coded for $type {
            fn put(&self, out: &mut $crate::codec::tables::Writer) {
                let Self { $($field),+ } = self;
                $($crate::codec::coded::Coded::put($field, out);)+
            }
            fn take(
                from: &mut $crate::codec::tables::Reader<'_>,
            ) -> Result<Self, $crate::codec::CodecError> {
                Ok(Self { $($field: $crate::codec::coded::Coded::take(from)?),+ })
            }
        }
    };
}

/// Writes and reads an enum without fields by the numbers that are written here; they stay as they are for ever.
macro_rules! coded_enum {
    ($type:ty { $($variant:ident = $number:literal),+ $(,)? }) => {
        impl $crate::codec::coded::Coded for $type {
            fn put(&self, out: &mut $crate::codec::tables::Writer) {
                out.byte(match self { $(Self::$variant => $number),+ });
            }
            fn take(
                from: &mut $crate::codec::tables::Reader<'_>,
            ) -> Result<Self, $crate::codec::CodecError> {
                match from.bytes.byte()? {
                    $($number => Ok(Self::$variant),)+
                    _ => Err($crate::codec::CodecError::Malformed(concat!("unknown ", stringify!($type)))),
                }
            }
        }
    };
}

pub(super) use {coded_enum, coded_struct};

impl Coded for bool {
    fn put(&self, out: &mut Writer) {
        out.byte(u8::from(*self));
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        match from.bytes.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(CodecError::Malformed("neither true nor false")),
        }
    }
}

impl Coded for u8 {
    fn put(&self, out: &mut Writer) {
        out.byte(*self);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        from.bytes.byte()
    }
}

impl Coded for u16 {
    fn put(&self, out: &mut Writer) {
        out.u64(u64::from(*self));
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        Self::try_from(from.bytes.u64()?).map_err(|_| CodecError::Malformed("a number has more than 16 bits"))
    }
}

impl Coded for u64 {
    fn put(&self, out: &mut Writer) {
        out.u64(*self);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        from.bytes.u64()
    }
}

impl Coded for u32 {
    fn put(&self, out: &mut Writer) {
        out.u64(u64::from(*self));
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        Self::try_from(from.bytes.u64()?).map_err(|_| CodecError::Malformed("a number has more than 32 bits"))
    }
}

impl Coded for usize {
    fn put(&self, out: &mut Writer) {
        out.len(*self);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        Self::try_from(from.bytes.u64()?).map_err(|_| CodecError::Malformed("a number is too large"))
    }
}

impl Coded for i64 {
    fn put(&self, out: &mut Writer) {
        out.i64(*self);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        from.bytes.i64()
    }
}

impl Coded for i32 {
    fn put(&self, out: &mut Writer) {
        out.i64(i64::from(*self));
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        Self::try_from(from.bytes.i64()?).map_err(|_| CodecError::Malformed("a number has more than 32 bits"))
    }
}

/// As the difference to the instant of the observation.
impl Coded for TimeMs {
    fn put(&self, out: &mut Writer) {
        out.i64(self.0.wrapping_sub(out.last.now));
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        Ok(Self(from.bytes.i64()?.wrapping_add(from.last.now)))
    }
}

/// As the difference to the last one of a znode.
impl Coded for Zxid {
    fn put(&self, out: &mut Writer) {
        out.i64(self.0.wrapping_sub(out.last.zxid));
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        Ok(Self(from.bytes.i64()?.wrapping_add(from.last.zxid)))
    }
}

impl Coded for SessionId {
    fn put(&self, out: &mut Writer) {
        out.session(*self);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        from.session()
    }
}

impl Coded for Box<str> {
    fn put(&self, out: &mut Writer) {
        out.text(self.as_bytes());
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        from.text().map(Into::into)
    }
}

impl Coded for String {
    fn put(&self, out: &mut Writer) {
        out.text(self.as_bytes());
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        from.text().map(Into::into)
    }
}

/// One of many, counted.
pub(super) fn element<T>(
    from: &mut Reader<'_>,
    take: impl FnOnce(&mut Reader<'_>) -> Result<T, CodecError>,
) -> Result<T, CodecError> {
    from.spend(ELEMENT_BYTES)?;
    take(from)
}
