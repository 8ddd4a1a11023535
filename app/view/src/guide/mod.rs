//! What every verdict, finding and term means, why it may be so, and what to do: one table an area. The page's advice,
//! the built-in help and the tables in `docs/` are made of them. A sentence is a template: its names are filled in, or
//! stand for whoever it is.

/// Guides by name; a severity and a cause stand at findings alone.
macro_rules! guides {
    ($($name:literal $($severity:literal)? says $says:literal $(cause $cause:literal)? steps $($step:expr),+;)+) => {
        &[$(Guide {
            name: $name,
            severity: concat!($($severity)?),
            says: $says,
            cause: concat!($($cause)?),
            steps: &[$($step),+],
        },)+]
    };
}

mod findings;
mod numbers;
mod terms;
mod verdicts;

pub use findings::FINDINGS;
pub use terms::{Term, TermArea};

pub use verdicts::VERDICTS;

use serde::{Deserialize, Serialize};

use super::Verdict;
use numbers::NUMBERS;
use terms::TERMS;

/// What is said of a verdict or of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guide {
    /// Its name in the API and in the configuration.
    pub name: &'static str,
    /// How serious it is; empty for a verdict.
    pub severity: &'static str,
    /// When it is said.
    pub says: &'static str,
    /// Why that may be; empty for a verdict.
    pub cause: &'static str,
    /// What to do, in order: one to three.
    pub steps: &'static [StepTemplate],
}

/// One thing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepTemplate {
    /// The sentence, with names in braces: see [`Names`].
    pub text: &'static str,
    /// What helps with it.
    pub act: ActTemplate,
}

/// What helps with a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActTemplate {
    /// Nothing.
    None,
    /// A command that finds the holder's process by its connection.
    FindProcess,
    /// The holder's session.
    HolderSession,
    /// The drawing of who waits for whom.
    Waits,
    /// The release of the first holder.
    ReleaseHolder,
    /// The release of the hold in a circle that costs least.
    ReleaseVictim,
    /// A command that prints the holder's znode.
    PrintZnode,
}

/// A sentence without anything that helps.
const fn say(text: &'static str) -> StepTemplate {
    StepTemplate { text, act: ActTemplate::None }
}

/// A sentence with something that helps.
const fn act(text: &'static str, act: ActTemplate) -> StepTemplate {
    StepTemplate { text, act }
}

/// What a word on the page means: the answer of `GET /help/explain`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explanation {
    /// The word.
    pub title: String,
    /// `verdict` or `finding`; empty for a term.
    pub kind: String,
    /// What it says.
    pub says: String,
    /// Why that may be; empty where nothing is to be said.
    pub cause: String,
    /// What to do; none for a term.
    pub steps: Vec<String>,
}

/// The names that templates may use: `{holder}`, `{holders}`, `{host}`, `{lock}`, `{locks}`, `{znode}`, `{victim}`,
/// `{victim_lock}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// Who holds, the first.
    pub holder: String,
    /// Everybody who holds.
    pub holders: String,
    /// The machine of the first holder, where it is known.
    pub host: String,
    /// The lock.
    pub lock: String,
    /// All locks that it is about.
    pub locks: String,
    /// The holder's znode.
    pub znode: String,
    /// The session whose release costs least.
    pub victim: String,
    /// The lock in which it holds.
    pub victim_lock: String,
}

impl Names {
    /// Nobody's names: what stands in the documentation.
    pub fn generic() -> Self {
        let name = str::to_owned;
        Self {
            holder: name("the holder"),
            holders: name("those that hold"),
            host: name("its host"),
            lock: name("the lock"),
            locks: name("these locks"),
            znode: name("its znode"),
            victim: name("the session that the sentence names"),
            victim_lock: name("the lock that it names"),
        }
    }

    /// A template with these names. A brace that names nothing stays: a test finds it.
    pub fn fill(&self, template: &str) -> String {
        let mut out = String::with_capacity(template.len() + 32);
        let mut rest = template;
        while let Some((before, behind)) = rest.split_once('{') {
            let (name, after) = behind.split_once('}').unwrap_or((behind, ""));
            out.push_str(before);
            match self.named(name) {
                Some(value) => out.push_str(value),
                None => out.push_str(&format!("{{{name}}}")),
            }
            rest = after;
        }
        out.push_str(rest);
        capitalized(out)
    }

    fn named(&self, name: &str) -> Option<&str> {
        Some(match name {
            "holder" => &self.holder,
            "holders" => &self.holders,
            "host" => &self.host,
            "lock" => &self.lock,
            "locks" => &self.locks,
            "znode" => &self.znode,
            "victim" => &self.victim,
            "victim_lock" => &self.victim_lock,
            _ => return None,
        })
    }
}

/// A sentence that begins with somebody's name keeps it as it is; one of ours begins with a capital letter.
fn capitalized(text: String) -> String {
    match text.strip_prefix("the ") {
        Some(rest) => format!("The {rest}"),
        None => text,
    }
}

/// Every word, in the order in which areas have them.
pub fn all_terms() -> impl Iterator<Item = &'static Term> {
    TERMS.iter().chain(NUMBERS)
}

/// What is said of a verdict.
pub fn of_verdict(verdict: Verdict) -> Option<&'static Guide> {
    VERDICTS.iter().find(|guide| guide.name == verdict.name())
}

/// What is said of a finding.
pub fn of_finding(code: &str) -> Option<&'static Guide> {
    FINDINGS.iter().find(|guide| guide.name == code)
}

/// The anchor of a verdict, a finding or a term on the page `/help`: `verdict-stuck`, `finding-herd`, `term-zxid`.
pub fn anchor(kind: &str, name: &str) -> String {
    let mut out = format!("{kind}-");
    out.extend(name.chars().map(|char| if char.is_ascii_alphanumeric() { char.to_ascii_lowercase() } else { '-' }));
    out
}

/// What stands at an anchor of the page `/help`; None where nothing does.
pub fn explanation(of: &str) -> Option<Explanation> {
    let names = Names::generic();
    let guide = |kind: &str, guide: &Guide| Explanation {
        title: guide.name.replace('_', " "),
        kind: kind.to_owned(),
        says: plain(guide.says),
        cause: plain(guide.cause),
        steps: guide.steps.iter().map(|step| plain(&names.fill(step.text))).collect(),
    };
    let verdict = VERDICTS.iter().find(|one| anchor("verdict", one.name) == of).map(|one| guide("verdict", one));
    let finding = || FINDINGS.iter().find(|one| anchor("finding", one.name) == of).map(|one| guide("finding", one));
    let term = || {
        let term = all_terms().find(|one| anchor(one.area.kind(), one.word) == of)?;
        Some(Explanation { title: term.word.replace('_', " "), says: plain(term.meaning), ..Explanation::default() })
    };
    verdict.or_else(finding).or_else(term)
}

/// A text of the documentation without its marks: links leave their names, and code its text.
pub fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, link)) = rest.split_once('[') {
        let Some((name, after)) = link.split_once("](") else { break };
        let Some((_, behind)) = after.split_once(')') else { break };
        out.push_str(before);
        out.push_str(name);
        rest = behind;
    }
    out.push_str(rest);
    out.replace('`', "")
}

/// A guide's steps as one cell of a table: numbered, where there is more than one.
pub fn steps_text(guide: &Guide) -> String {
    let names = Names::generic();
    let text = |step: &StepTemplate| names.fill(step.text);
    match guide.steps {
        [only] => text(only),
        many => {
            let numbered = many.iter().enumerate().map(|(at, step)| format!("{}. {}", at + 1, text(step)));
            numbered.collect::<Vec<_>>().join(" ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verdict_has_a_guide_and_every_template_only_known_names() {
        for verdict in Verdict::ALL {
            assert!(of_verdict(verdict).is_some(), "{verdict}");
        }
        for guide in VERDICTS.iter().chain(FINDINGS) {
            assert!((1..=3).contains(&guide.steps.len()), "{}", guide.name);
            let text = steps_text(guide);
            assert!(!text.contains(['{', '}', '|', '\n']), "{}: {text}", guide.name);
            assert!(!guide.says.contains('|') && !guide.cause.contains('|'), "{}", guide.name);
        }
    }

    #[test]
    fn every_word_is_found_at_its_anchor() {
        assert_eq!(explanation("verdict-stuck").map(|found| found.steps.len()), Some(3));
        assert_eq!(explanation("finding-herd").map(|found| found.title), Some("herd".to_owned()));
        assert_eq!(explanation("term-zxid").map(|found| found.title), Some("zxid".to_owned()));
        assert_eq!(explanation("edge-confirmed").map(|found| found.title), Some("confirmed".to_owned()));
        assert_eq!(explanation("nothing"), None);
        let mut anchors: Vec<String> = all_terms().map(|term| anchor(term.area.kind(), term.word)).collect();
        anchors.extend(VERDICTS.iter().map(|guide| anchor("verdict", guide.name)));
        anchors.extend(FINDINGS.iter().map(|guide| anchor("finding", guide.name)));
        let all = anchors.len();
        anchors.sort();
        anchors.dedup();
        assert_eq!(anchors.len(), all, "an anchor leads to one word");
    }

    #[test]
    fn links_leave_their_names() {
        assert_eq!(plain("See [Recipes](recipes.md), and [more](x)."), "See Recipes, and more.");
        assert_eq!(plain("a [[lock]] entry"), "a [[lock]] entry");
    }

    #[test]
    fn names_are_filled_in_as_they_are() {
        let names = Names { holder: "{lock} a@b".to_owned(), lock: "/x".to_owned(), ..Names::generic() };
        assert_eq!(names.fill("{holder} holds {lock}. {nobody}"), "{lock} a@b holds /x. {nobody}");
        assert_eq!(Names::generic().fill("{holder} hangs."), "The holder hangs.");
    }
}
