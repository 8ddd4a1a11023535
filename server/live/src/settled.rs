//! What changes with every answer of a member, and says nothing as long as a client is connected: when it was last heard
//! from. Live views leave it out, so that a view of which nothing happens stays the same; a single answer has it. Pure.

use lockscope_view::{Body, ClientInfo, ContenderRole, Liveness};

/// A view as it is sent live: without when clients that are connected were last heard from.
pub(super) fn settled(mut body: Body) -> Body {
    match &mut body {
        Body::Board(board) => {
            let holders = board.window.rows.iter_mut().flat_map(|row| &mut row.holders);
            holders.for_each(|holder| settle(holder.liveness, holder.client.as_mut()));
        }
        Body::Lock(Some(page)) => {
            // Who holds is looked at for just that.
            let waiters = page.window.rows.iter_mut().filter(|row| row.role == ContenderRole::Waiter);
            waiters.for_each(|waiter| settle(waiter.liveness, waiter.client.as_mut()));
        }
        Body::Sessions(sessions) => {
            sessions.window.rows.iter_mut().for_each(|row| settle(row.liveness, row.client.as_mut()));
        }
        // One session is looked at for just that.
        Body::Session(_) => {}
        Body::Lock(None) | Body::Status(_) | Body::Waits(_) | Body::Lab(_) | Body::Events(_) | Body::QueueMap(_) => {}
    }
    body
}

fn settle(liveness: Liveness, client: Option<&mut ClientInfo>) {
    if liveness == Liveness::Connected
        && let Some(client) = client
    {
        client.last_heard_at_ms = None;
        client.last_operation = None;
    }
}
