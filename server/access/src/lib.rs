//! Who may do what: identities, roles, scopes, and how somebody shows who they are. Knows no route and no ZooKeeper.

mod account_files;
mod authenticator;
mod cookie_session;
mod current_rights;
mod device;
mod error;
mod file;
mod file_watch;
mod grant;
mod limits;
mod one_time_links;
mod openid;
mod password;
mod preferences;
mod proxy;
mod replica;
mod request_credentials;
mod revocation;
mod secret;
mod sessions;
mod settings;
mod shared_sessions;
mod sign_in;
mod state;
mod tokens;
mod users;

pub use authenticator::{Access, Principal};
pub use device::DEVICE_MS_MAX;
pub use error::AccessError;
pub use grant::{Grant, check_name};
pub use limits::{ACCOUNT_FREE, ADDRESS_FREE, WAIT_MS_MAX};
pub use one_time_links::LINK_MS_MAX;
pub use openid::OpenId;
#[cfg(feature = "oidc")]
pub use openid::{AuthorizationRedirect, AuthorizationResponse, OpenIdFault};
pub use password::{PASSWORD_BYTES_MAX, PASSWORD_CHARS_MIN};
pub use preferences::PreferencesError;
pub use proxy::{Net, Proxy};
pub use request_credentials::Denied;
pub use revocation::{Revocation, RevocationReason};
pub use secret::Secret;
pub use sessions::{AGE_MS_MAX, IDLE_MS_MAX, SESSIONS_A_NAME_MAX, SESSIONS_MAX};
pub use settings::{ListenScope, Settings};
pub use sign_in::{NewSession, SignInError};
pub use tokens::{TOKENS_FILE, TokenRecord, list_tokens, new_token, revoke_token};
pub use users::{USERS_FILE, UserRecord, is_set_so, list_users, remove_user, set_user};
