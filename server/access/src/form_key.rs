//! Tokens of forms that act. Markup that finds its way into a page can name an address and fill in fields; only a page
//! that was drawn for a sign-in has its tokens, and each is good for one address: a form put around another gains nothing.

use lockscope_runtime::mac::{hmac_hex, is_hmac_hex};

use super::secret::Secret;

const NONCE_BYTES: usize = 16;

/// Makes and checks the tokens of one sign-in's forms. Empty for callers whose browser signs nobody in by itself:
/// their forms need no token.
#[derive(Clone, Debug, Default)]
pub struct FormKey(Secret);

impl FormKey {
    /// The key of a sign-in, made of a secret that no page has.
    pub(super) fn of(secret: &Secret, name: &str) -> Self {
        Self(Secret::new(sign(secret, &format!("lockscope forms\n{name}"))))
    }

    /// Names the key and does not disclose it.
    pub fn id(&self) -> String {
        sign(&self.0, "id")
    }

    /// A token for the form of an address, another one each time: what is constant and stands beside text of others
    /// could be guessed from the length of compressed answers (BREACH).
    pub fn token(&self, action: &str) -> String {
        if self.0.is_empty() {
            return String::new();
        }
        let nonce = hex::encode(rand::random::<[u8; NONCE_BYTES]>());
        let signature = sign(&self.0, &format!("{nonce}\n{action}"));
        format!("{nonce}.{signature}")
    }

    pub fn allows(&self, action: &str, token: &str) -> bool {
        let is_signed =
            |(nonce, signature): (&str, &str)| is_hmac_hex(self.0.expose(), &format!("{nonce}\n{action}"), signature);
        self.0.is_empty() || token.split_once('.').is_some_and(is_signed)
    }
}

/// Empty without a key.
fn sign(key: &Secret, text: &str) -> String {
    if key.is_empty() { String::new() } else { hmac_hex(key.expose(), text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_fits_its_sign_in_and_address() {
        let (ann, bob) = (FormKey::of(&Secret::random(), ""), FormKey::of(&Secret::random(), ""));
        let token = ann.token("/alerts/ack");
        assert!(ann.allows("/alerts/ack", &token));
        assert!(!ann.allows("/release/approve", &token) && !bob.allows("/alerts/ack", &token));
        assert_ne!(token, ann.token("/alerts/ack"), "what is constant could be guessed from compressed lengths");
        for wrong in ["", ".", &token[1..], &ann.id(), &format!(".{}", ann.id()), "é.é"] {
            assert!(!ann.allows("/alerts/ack", wrong), "{wrong}");
        }
    }

    #[test]
    fn without_a_sign_in_no_token_is_needed() {
        let nobody = FormKey::default();
        assert!(nobody.token("/a").is_empty() && nobody.allows("/a", ""));
    }
}
