//! Variables that stand for no setting of the table.

use super::table::Variable;

/// Every variable that is no key.
pub(super) const VARIABLES: &[Variable] = &[
    Variable { name: "LOCKSCOPE_CONFIG", meaning: "the TOML file; also as the flag `--config`" },
    Variable {
        name: "LOCKSCOPE_LOG",
        meaning: "what is logged, like `warn,lockscope=debug`; a restart is needed to change it",
    },
    Variable { name: "LOCKSCOPE_ZK_AUTH", meaning: "USER:PASSWORD itself, instead of `auth_file`; for one ensemble" },
    Variable {
        name: "LOCKSCOPE_ZK_ACT_AUTH",
        meaning: "USER:PASSWORD itself, instead of `act_auth_file`; for one ensemble",
    },
    Variable { name: "LOCKSCOPE_WEBHOOK_SECRET", meaning: "the secret itself, instead of `webhook_secret_file`" },
    Variable {
        name: "LOCKSCOPE_OIDC_CLIENT_SECRET",
        meaning: "the secret itself, instead of `oidc_client_secret_file`",
    },
    Variable {
        name: "CREDENTIALS_DIRECTORY",
        meaning: "set by systemd for `LoadCredential=`; where `credential:NAME` is looked for",
    },
    Variable {
        name: "NOTIFY_SOCKET",
        meaning: "set by systemd for `Type=notify`; where readiness, reloads and shutdown are notified",
    },
    Variable {
        name: "WATCHDOG_USEC",
        meaning: "set by systemd for `WatchdogSec=`; how often the watchdog must be notified that the model still answers",
    },
];
