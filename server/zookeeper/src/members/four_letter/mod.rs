//! Four-letter words: what the answers mean. Pure; how they are asked is in `tcp`. Unknown fields are passed over, but
//! an answer that was cut off is refused: half a list of connections would make living clients look gone.

use lockscope_core::znode::SessionId;

use super::fault::Malformed;

pub mod cons;
pub mod dump;
pub mod mntr;
pub mod srvr;
pub mod wchp;

/// Said instead of an answer by a server that has no quorum or is still starting.
const NOT_SERVING: &str = "This ZooKeeper instance is not currently serving requests";
/// Said instead of an answer when the word is not in `4lw.commands.whitelist`.
const NOT_LISTED: &str = "is not executed because it is not in the whitelist";
/// Where those can stand: no answer repeats them later.
const OPENING_BYTES_MAX: usize = 256;

/// Whether there is an answer at all.
fn opening(text: &str) -> Result<(), Malformed> {
    if text.is_empty() {
        return Err(Malformed::Empty);
    }
    let opening = text.get(..text.floor_char_boundary(OPENING_BYTES_MAX)).unwrap_or(text);
    if opening.contains(NOT_LISTED) {
        return Err(Malformed::Denied);
    }
    if opening.contains(NOT_SERVING) {
        return Err(Malformed::NotServing);
    }
    Ok(())
}

/// `cons` and `wchp` end in an empty line.
fn ending(text: &str) -> Result<(), Malformed> {
    if text.ends_with('\n') && text.lines().last().is_none_or(|line| line.trim().is_empty()) {
        Ok(())
    } else {
        Err(Malformed::CutOff)
    }
}

/// `0x…` as Java prints a long: unsigned.
fn session(text: &str) -> Option<SessionId> {
    let digits = text.strip_prefix("0x")?;
    u64::from_str_radix(digits, 16).ok().map(|id| SessionId(id.cast_signed()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_told_apart() {
        assert_eq!(opening("cons is not executed because it is not in the whitelist.\n"), Err(Malformed::Denied));
        assert_eq!(opening("This ZooKeeper instance is not currently serving requests\n"), Err(Malformed::NotServing));
        assert_eq!(opening(""), Err(Malformed::Empty));
        assert_eq!(opening("\n"), Ok(()));
    }

    #[test]
    fn session_ids_are_exact_and_may_be_negative() {
        assert_eq!(session("0x100016dbe330001"), Some(SessionId(72_059_164_892_004_353)));
        assert_eq!(session("0xff0016dbe3300001"), Some(SessionId(0xff00_16db_e330_0001_u64.cast_signed())));
        assert_eq!(session("72059164892004353"), None);
    }
}
