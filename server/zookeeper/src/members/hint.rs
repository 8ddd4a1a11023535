//! The hint for a request without an answer: what was tried, what came back, and the configuration line that would
//! help. Pure.

use lockscope_core::evidence::{Question, Trouble};

use super::failure::{ANSWER_MAX, Failure};
use super::url;

/// The line of a member's configuration that lets every word in.
pub(super) const WHITELIST: &str = "4lw.commands.whitelist=srvr,cons,dump,wchp,mntr";

pub(super) struct Attempt<'a> {
    pub(super) member: &'a str,
    pub(super) question: Question,
    /// At which AdminServer, and what came back.
    pub(super) admin: Option<(&'a str, &'a Failure)>,
    /// Where an AdminServer would have been, had one been found.
    pub(super) guessed: &'a str,
    /// What came back to the four-letter word.
    pub(super) words: Option<&'a Failure>,
}

pub(super) fn hint(tried: &Attempt<'_>) -> (Trouble, Box<str>) {
    let (what, word) = match tried.question {
        Question::Connections => ("who is connected to it", "cons"),
        Question::Sessions => ("which sessions there are", "dump"),
        Question::Watches => ("who watches what", "wchp"),
        Question::Health => ("how it is", "srvr"),
    };
    let words = tried
        .words
        .map(|failure| format!("the four-letter word `{word}` was tried at {}: {}", tried.member, failure.said));
    let admin = match tried.admin {
        Some((url, failure)) => format!("its AdminServer was tried at {url}: {}", failure.said),
        None => format!("no AdminServer of it was found at {}", tried.guessed),
    };
    let troubles =
        || tried.words.into_iter().chain(tried.admin.map(|(_, failure)| failure)).map(|failure| failure.trouble);
    let trouble = [Trouble::Denied, Trouble::Broken]
        .into_iter()
        .find(|one| troubles().any(|trouble| trouble == *one))
        .unwrap_or(Trouble::Off);
    let unreached = tried.words.is_some_and(|failure| failure.whole_way);
    let check = if unreached { "check that it runs and can be reached from here, or " } else { "" };
    let port = tried.admin.map_or(tried.guessed, |(url, _)| url);
    let port = url::authority(port).rsplit(':').next().unwrap_or_default();
    let tries = words.into_iter().chain([admin]).collect::<Vec<_>>().join("; ");
    let sentence = format!(
        "{} does not report {what}: {tries}; {check}write `{WHITELIST}` into its configuration, or `admin.enableServer=true` and `admin.serverPort={port}` with --admin-url",
        tried.member
    );
    (trouble, sentence.into())
}

/// The sentence for a list of what sessions own that would be longer than is taken.
pub(super) fn spared_sessions(member: &str, ephemerals: u64, most: usize) -> Box<str> {
    format!("{member} knows {ephemerals} ephemerals and is not asked who owns them: above {most} the answer is longer than is taken").into()
}

/// The sentence for a table of watches that would cost too much.
pub(super) fn spared_watches(member: &str, watches: u64, most: u64) -> Box<str> {
    format!("{member} keeps {watches} watches and is not asked for the list of them: above {most} the question would hold it up for longer than the {} s an answer may take", ANSWER_MAX.as_secs()).into()
}

#[cfg(test)]
mod tests {
    use super::super::fault::Malformed;
    use super::*;

    #[test]
    fn a_word_that_is_not_listed() {
        let words = Failure::from(Malformed::Denied);
        let tried = Attempt {
            member: "zk1:2181",
            question: Question::Connections,
            admin: None,
            guessed: "http://zk1:8080",
            words: Some(&words),
        };
        let (trouble, sentence) = hint(&tried);
        assert_eq!(trouble, Trouble::Denied);
        assert_eq!(
            &*sentence,
            "zk1:2181 does not report who is connected to it: the four-letter word `cons` was tried at zk1:2181: the word is not in its whitelist; no AdminServer of it was found at http://zk1:8080; write `4lw.commands.whitelist=srvr,cons,dump,wchp,mntr` into its configuration, or `admin.enableServer=true` and `admin.serverPort=8080` with --admin-url"
        );
    }

    #[test]
    fn nobody_there() {
        let nobody = Failure::nobody();
        let tried = Attempt {
            member: "zk1:2181",
            question: Question::Watches,
            admin: Some(("http://zk1:9000", &nobody)),
            guessed: "http://zk1:8080",
            words: Some(&nobody),
        };
        let (trouble, sentence) = hint(&tried);
        assert_eq!(trouble, Trouble::Off);
        assert!(sentence.contains("AdminServer was tried at http://zk1:9000: nobody listens there"), "{sentence}");
        assert!(sentence.contains("check that it runs") && sentence.contains("admin.serverPort=9000"), "{sentence}");
    }
}
