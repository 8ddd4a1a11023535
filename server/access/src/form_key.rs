//! Tokens of forms that act. Markup that finds its way into a page can name an address and fill in fields; only a page
//! that was drawn for a sign-in has its tokens, and each is good for one address: a form put around another gains nothing.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use super::secret::Secret;

const NONCE_BYTES: usize = 16;

/// Makes and checks the tokens of one sign-in's forms. Empty for callers whose browser signs nobody in by itself:
/// their forms need no token.
#[derive(Clone, Debug, Default)]
pub struct FormKey(Secret);

impl FormKey {
    /// The key of a sign-in, made of a secret that no page has.
    pub(super) fn of(secret: &Secret, name: &str) -> Self {
        Self(Secret::new(sign(secret, &format!("lockscope forms\n{name}")).map(finished).unwrap_or_default()))
    }

    /// Names the key and does not disclose it.
    pub fn id(&self) -> String {
        sign(&self.0, "id").map(finished).unwrap_or_default()
    }

    /// A token for the form of an address, another one each time: what is constant and stands beside text of others
    /// could be guessed from the length of compressed answers (BREACH).
    pub fn token(&self, action: &str) -> String {
        let nonce = hex::encode(rand::random::<[u8; NONCE_BYTES]>());
        let signature = sign(&self.0, &format!("{nonce}\n{action}")).map(finished);
        signature.map_or_else(String::new, |signature| format!("{nonce}.{signature}"))
    }

    pub fn allows(&self, action: &str, token: &str) -> bool {
        let is_signed = |(nonce, signature): (&str, &str)| {
            sign(&self.0, &format!("{nonce}\n{action}"))?.verify_slice(&hex::decode(signature).ok()?).ok()
        };
        self.0.is_empty() || token.split_once('.').and_then(is_signed).is_some()
    }
}

/// None without a key.
fn sign(key: &Secret, text: &str) -> Option<Hmac<Sha256>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(Some(key.expose()).filter(|key| !key.is_empty())?.as_bytes()).ok()?;
    mac.update(text.as_bytes());
    Some(mac)
}

fn finished(mac: Hmac<Sha256>) -> String {
    hex::encode(mac.finalize().into_bytes())
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
