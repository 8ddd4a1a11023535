//! Who is told of alerts: a task for each `[[route]]`, and other rules and routes while everything goes on.

use std::collections::BTreeMap;
use std::sync::Arc;

use lockscope_alerts::deliver::Delivery;
use lockscope_alerts::duty::Duty;
use lockscope_alerts::service::{Alerts, RouteShown};
use lockscope_runtime::shutdown::CancellationToken;
use lockscope_runtime::tasks::{TaskTracker, restarted, supervised};
use tokio::task::JoinHandle;

use crate::config::{Alerting, Receiver};

/// The receivers that are told, by the names of their routes.
pub struct AlertReceivers {
    alerts: Alerts,
    /// Other servers that tell the same; None where there are none.
    duty: Option<Arc<dyn Duty>>,
    tasks: TaskTracker,
    stop: CancellationToken,
    running: BTreeMap<String, Running>,
}

/// One that is told until it is stopped, or the server is: whatever becomes of who reloads settings.
struct Running {
    receiver: Receiver,
    stop: CancellationToken,
    /// None where there is no way to send.
    task: Option<JoinHandle<()>>,
}

impl AlertReceivers {
    pub(super) fn start(
        alerts: Alerts,
        alerting: &Alerting,
        duty: Option<Arc<dyn Duty>>,
        tasks: &TaskTracker,
        stop: &CancellationToken,
    ) -> Self {
        let mut receivers = Self { alerts, duty, tasks: tasks.clone(), stop: stop.clone(), running: BTreeMap::new() };
        for receiver in &alerting.routes {
            receivers.tell(receiver.clone(), None);
        }
        receivers
    }

    /// Goes by other rules and routes from now on. A route that stayed as it is goes on undisturbed.
    pub fn take(&mut self, alerting: &Alerting) {
        self.alerts.take_rules(&alerting.rules, alerting.routes.iter().map(shown).collect());
        let is_there = |name: &str| alerting.routes.iter().any(|receiver| receiver.route.name == name);
        for (name, gone) in self.running.extract_if(.., |name, _| !is_there(name)) {
            gone.stop.cancel();
            // One of that name may come again, and be another.
            self.alerts.begin_anew(&name);
        }
        for receiver in &alerting.routes {
            let name = &receiver.route.name;
            if self.running.get(name).is_none_or(|running| running.receiver != *receiver) {
                let before = self.running.remove(name);
                self.tell(receiver.clone(), before);
            }
        }
    }

    /// Tells a receiver, once whoever told the route's receiver before has ended: none is told twice. Another place is told
    /// anew of all that fires.
    fn tell(&mut self, receiver: Receiver, before: Option<Running>) {
        let Receiver { route, repeat_ms } = receiver.clone();
        let (name, alerts) = (route.name.clone(), self.alerts.clone());
        let is_elsewhere = before.as_ref().is_some_and(|before| {
            let old = &before.receiver.route;
            (old.kind, &old.url) != (route.kind, &route.url)
        });
        let last = before.and_then(|Running { stop, task, .. }| {
            stop.cancel();
            task
        });
        let stop = self.stop.child_token();
        let task = match Delivery::new(alerts.clone(), route, repeat_ms) {
            Ok(delivery) => {
                let delivery = delivery.with_duty(self.duty.clone());
                let (name, own_stop) = (name.clone(), stop.clone());
                Some(self.tasks.spawn(supervised("alert delivery", async move {
                    if let Some(last) = last {
                        // It ends with the request that is under way. A panic in it was logged.
                        let _ = last.await;
                    }
                    if is_elsewhere {
                        alerts.begin_anew(&name);
                    }
                    restarted("alert delivery", own_stop.clone(), || delivery.clone().run(own_stop.clone())).await;
                })))
            }
            Err(why) => {
                tracing::error!("the route {name} is told of no alerts: {why}");
                self.alerts.cannot_tell(&name, why);
                None
            }
        };
        self.running.insert(name, Running { receiver, stop, task });
    }
}

pub(super) fn shown(receiver: &Receiver) -> RouteShown {
    let route = &receiver.route;
    RouteShown { name: route.name.clone(), kind: route.kind.name(), url: route.shown() }
}
