//! What several roots ask for at once goes in one request: a thousand roots are read in a few dozen round trips, and not
//! in several for each.

use std::sync::Arc;

use zookeeper_client::Client;

use super::request::{Epoch, Reply, Request, send};
use super::request_counts::RequestCounts;

/// Requests of one kind that are sent as one.
#[derive(Debug)]
pub(super) struct Batch {
    request: Request,
    parts: Vec<Part>,
}

/// What of it one root asked for.
#[derive(Clone, Copy, Debug)]
struct Part {
    root: usize,
    epoch: Epoch,
    length: usize,
}

pub(super) struct Answers {
    pub(super) of_roots: Vec<Answer>,
    /// It was a question as well: whether that was answered.
    pub(super) question: Option<bool>,
}

pub(super) struct Answer {
    pub(super) root: usize,
    pub(super) epoch: Epoch,
    pub(super) reply: Reply,
}

impl Batch {
    /// Adds what a root asks for to the open batches; gives a batch that is full with it.
    pub(super) fn gather(open: &mut Vec<Self>, root: usize, epoch: Epoch, request: Request) -> Option<Self> {
        let part = Part { root, epoch, length: request.len() };
        let at = open.iter().position(|batch| batch.request.is_like(&request));
        let batch = match at.map(|at| open.swap_remove(at)) {
            Some(mut batch) => {
                batch.request.append(request);
                batch.parts.push(part);
                batch
            }
            None => Self { request, parts: vec![part] },
        };
        if batch.request.is_full() {
            return Some(batch);
        }
        open.push(batch);
        None
    }

    /// Sends it; gives each root its part of the reply. Where the whole failed, each part is sent alone: what one root
    /// asks for must not keep another from its own.
    pub(super) async fn send(self, client: Client, counts: Arc<RequestCounts>, is_question: bool) -> Answers {
        let Self { request, parts } = self;
        let mut again = (parts.len() > 1).then(|| request.clone());
        let mut reply = send_counted(&client, request, &counts).await;
        let has_failed = matches!(reply, Reply::Failed);
        let mut answers = Vec::with_capacity(parts.len());
        for Part { root, epoch, length } in parts.into_iter().rev() {
            let reply = match again.as_mut().map(|again| again.take_back(length)) {
                Some(own) if has_failed => send_counted(&client, own, &counts).await,
                _ => reply.take_back(length),
            };
            answers.push(Answer { root, epoch, reply });
        }
        answers.reverse();
        Answers { of_roots: answers, question: is_question.then_some(!has_failed) }
    }
}

async fn send_counted(client: &Client, request: Request, counts: &RequestCounts) -> Reply {
    let (kind, requests) = request.cost();
    counts.asked(kind, requests);
    let reply = send(client, request).await;
    if reply.has_failed() {
        counts.failed(kind);
    }
    reply
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(root: &str, count: usize) -> Request {
        Request::Read((0..count).map(|at| format!("{root}/{at}").into()).collect())
    }

    #[test]
    fn what_roots_ask_for_is_gathered_by_kind_until_it_is_much() {
        let mut open = Vec::new();
        let epoch = Epoch::default();
        assert!(Batch::gather(&mut open, 0, epoch, read("/a", 40)).is_none());
        assert!(Batch::gather(&mut open, 1, epoch, Request::Stat(vec!["/b".into()])).is_none());
        assert!(Batch::gather(&mut open, 2, epoch, read("/c", 59)).is_none());
        let full = Batch::gather(&mut open, 3, epoch, read("/d", 1)).unwrap();
        assert_eq!((full.request.len(), full.parts.len(), open.len()), (100, 3, 1));
        // Paths as long as a request may be.
        let long = Request::Read(vec!["x".repeat(300 * 1024).into()]);
        assert!(Batch::gather(&mut open, 0, epoch, long).is_some());
        // A watch takes a request of its own.
        assert!(Batch::gather(&mut open, 0, epoch, Request::Watch("/a".into())).is_some());
    }

    #[test]
    fn each_root_gets_what_it_asked_for() {
        let mut request = read("/a", 2);
        request.append(read("/b", 3));
        let Request::Read(last) = request.take_back(3) else { panic!("another kind") };
        assert_eq!(last, ["/b/0".into(), "/b/1".into(), "/b/2".into()]);
        assert_eq!(request.len(), 2);
        // Each part of a failed reply is failed.
        assert!(matches!(Reply::Failed.take_back(1), Reply::Failed));
    }
}
