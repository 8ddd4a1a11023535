//! The requests that tell a receiver of alerts. Pure: nothing is sent here.

use super::request::Outgoing;
use super::{Route, RouteKind, alertmanager, dingtalk, feishu, pagerduty, slack, teams, webhook, wecom};
use crate::notification::Notification;

/// What tells a receiver of these, signed at `now_ms` since the epoch; nothing where there is nothing to tell.
pub fn outgoing(route: &Route, notifications: &[Notification], now_ms: i64) -> Vec<Outgoing> {
    if notifications.is_empty() {
        return Vec::new();
    }
    match route.kind {
        RouteKind::Alertmanager => alertmanager::outgoing(route, notifications, now_ms),
        RouteKind::PagerDuty => pagerduty::outgoing(route, notifications, now_ms),
        RouteKind::Slack => slack::outgoing(route, notifications, now_ms),
        RouteKind::Teams => teams::outgoing(route, notifications, now_ms),
        RouteKind::Feishu => feishu::outgoing(route, notifications, now_ms),
        RouteKind::DingTalk => dingtalk::outgoing(route, notifications, now_ms),
        RouteKind::WeCom => wecom::outgoing(route, notifications, now_ms),
        RouteKind::Webhook => webhook::outgoing(route, notifications, now_ms),
    }
}
