//! Where alerts are sent: what each kind of receiver wants, and what it takes to be heard there.

mod address;
mod alertmanager;
mod answer;
mod chat_markdown;
mod dingtalk;
mod feishu;
mod link;
mod outgoing;
mod pagerduty;
mod request;
mod row;
mod sender;
mod sign;
mod slack;
mod teams;
mod time;
mod webhook;
mod wecom;

use std::fmt;

use lockscope_runtime::webhook_client;
use reqwest::Url;

pub use answer::{SendError, SendErrorKind};
pub use outgoing::outgoing;
pub use request::Outgoing;
pub use sender::{Sender, SenderError};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RouteKind {
    /// Prometheus Alertmanager, API v2.
    Alertmanager,
    /// PagerDuty, Events API v2.
    PagerDuty,
    /// An incoming webhook of Slack.
    Slack,
    /// A workflow's webhook of Microsoft Teams.
    Teams,
    /// A custom bot of Feishu or Lark.
    Feishu,
    /// A custom robot of DingTalk.
    DingTalk,
    /// A group bot of WeCom.
    WeCom,
    /// Anything that takes signed JSON.
    Webhook,
}

impl RouteKind {
    pub const ALL: [Self; 8] = [
        Self::Alertmanager,
        Self::PagerDuty,
        Self::Slack,
        Self::Teams,
        Self::Feishu,
        Self::DingTalk,
        Self::WeCom,
        Self::Webhook,
    ];

    /// Whether the same alert told twice, by two servers, is one there: then each server tells it.
    pub fn is_idempotent(self) -> bool {
        match self {
            Self::Alertmanager | Self::PagerDuty => true,
            Self::Slack | Self::Teams | Self::Feishu | Self::DingTalk | Self::WeCom | Self::Webhook => false,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Alertmanager => "alertmanager",
            Self::PagerDuty => "pagerduty",
            Self::Slack => "slack",
            Self::Teams => "teams",
            Self::Feishu => "feishu",
            Self::DingTalk => "dingtalk",
            Self::WeCom => "wecom",
            Self::Webhook => "webhook",
        }
    }
}

/// A receiver. Neither address nor secret is ever shown whole: addresses of chats are secrets too.
#[derive(Clone, PartialEq, Eq)]
pub struct Route {
    pub name: String,
    pub kind: RouteKind,
    pub url: Url,
    /// What signs, or is the key of the service (`PagerDuty`) or the bearer token (Alertmanager); None where there
    /// is none.
    pub secret: Option<Vec<u8>>,
}

impl Route {
    /// Where it goes, without the part that may be secret.
    pub fn shown(&self) -> String {
        webhook_client::shown(&self.url)
    }
}

impl fmt::Debug for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, kind, url) = (&self.name, self.kind, self.shown());
        f.debug_struct("Route").field("name", name).field("kind", &kind).field("url", &url).finish_non_exhaustive()
    }
}
