//! What a provider says of somebody, once its signature was checked: a name and groups. Pure.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use lockscope_view::{Role, visible};
use serde_json::{Map, Value};

use super::fault::{OpenIdFault, said};
use crate::OpenId;
use crate::grant::{NAME_CHARS_MAX, is_reserved};
use lockscope_audit::highest;

/// Claims that usually hold a name, best first.
const NAME_CLAIMS: [&str; 3] = ["preferred_username", "email", "sub"];

#[derive(Debug)]
pub(super) struct Claims(Map<String, Value>);

/// Somebody who may come in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OpenIdUser {
    pub(super) name: String,
    pub(super) role: Role,
}

impl Claims {
    /// Of a token that was checked already.
    pub(super) fn of(token: &str) -> Result<Self, OpenIdFault> {
        let payload = token.split('.').nth(1).and_then(|payload| URL_SAFE_NO_PAD.decode(payload).ok());
        let claims = payload.and_then(|payload| serde_json::from_slice(&payload).ok());
        claims.map(Self).ok_or_else(|| OpenIdFault::provider("its ID token can't be read"))
    }

    pub(super) fn who(&self, settings: &OpenId) -> Result<OpenIdUser, OpenIdFault> {
        let usual = NAME_CLAIMS.iter().find_map(|claim| self.name(claim).map(|name| (*claim, name)));
        let named = settings.name_claim.as_deref().map_or(usual, |claim| self.name(claim).map(|name| (claim, name)));
        let wanted = settings.name_claim.as_deref().unwrap_or("preferred_username");
        let (claim, name) = named.ok_or_else(|| {
            OpenIdFault::refused(
                &format!("the provider sends no name in the claim {wanted}"),
                "have it send one, or name another claim in `oidc_name_claim`",
            )
        })?;
        let is_name = name.chars().count() <= NAME_CHARS_MAX
            && !is_reserved(name)
            && visible(name) == name
            && name.trim() == name
            && !name.contains(',');
        if !is_name {
            return Err(OpenIdFault::refused(
                &format!("the claim {claim} holds no name that can be shown"),
                "have the provider send one of at most 64 characters, or name another claim in `oidc_name_claim`",
            ));
        }
        let mapped = self.groups(&settings.groups_claim).filter_map(|group| settings.roles.get(group).copied());
        let role = highest(mapped).or(settings.role);
        let role = role.ok_or_else(|| {
            OpenIdFault::refused(
                &format!("{} has no role here", said(name)),
                "add one of their groups to [oidc_roles], or set `oidc_role`",
            )
        })?;
        Ok(OpenIdUser { name: name.to_owned(), role })
    }

    /// The text of a claim. An address that the provider itself did not check may be somebody else's.
    fn name(&self, claim: &str) -> Option<&str> {
        let is_checked =
            self.0.get("email_verified").is_none_or(|checked| checked == &Value::Bool(true) || checked == "true");
        let text = self.0.get(claim)?.as_str().filter(|text| !text.is_empty())?;
        (claim != "email" || is_checked).then_some(text)
    }

    fn groups(&self, claim: &str) -> impl Iterator<Item = &str> {
        let value = self.0.get(claim);
        let one = value.and_then(Value::as_str);
        let many = value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        one.into_iter().chain(many)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;

    fn settings() -> OpenId {
        OpenId {
            issuer: "https://id.example".to_owned(),
            client_id: "lockscope".to_owned(),
            client_secret: None,
            redirect: None,
            name_claim: None,
            groups_claim: "groups".to_owned(),
            roles: BTreeMap::from([("ops".to_owned(), Role::Operator), ("books".to_owned(), Role::Auditor)]),
            role: None,
        }
    }

    fn who(claims: Value, settings: &OpenId) -> Result<(String, Role), String> {
        let Value::Object(claims) = claims else { panic!("no object") };
        Claims(claims).who(settings).map(|who| (who.name, who.role)).map_err(|fault| fault.to_string())
    }

    #[test]
    fn the_best_name_and_the_highest_role_count() {
        let all = json!({"sub": "7", "email": "a@b", "preferred_username": "ann", "groups": ["books", "ops", 5, "x"]});
        assert_eq!(who(all, &settings()), Ok(("ann".to_owned(), Role::Operator)));
        let unchecked = json!({"sub": "7", "email": "a@b", "email_verified": false, "groups": "books"});
        assert_eq!(who(unchecked, &settings()), Ok(("7".to_owned(), Role::Auditor)));
        let other = OpenId { name_claim: Some("upn".to_owned()), role: Some(Role::Viewer), ..settings() };
        assert_eq!(
            who(json!({"sub": "7", "upn": "ann@corp", "groups": ["none"]}), &other),
            Ok(("ann@corp".to_owned(), Role::Viewer))
        );
    }

    #[test]
    fn no_role_and_no_name_let_nobody_in() {
        for groups in [json!(["x"]), json!([]), json!(null), json!({"ops": "ops"}), json!("Ops")] {
            assert!(
                who(json!({"sub": "7", "groups": groups}), &settings()).unwrap_err().contains("7 has no role here")
            );
        }
        for name in ["", "anonymous", "a\u{202e}b", "a\nb", " a", "a,b", &"x".repeat(65)] {
            assert!(who(json!({"preferred_username": name, "groups": "ops"}), &settings()).is_err(), "{name:?}");
        }
    }
}
