//! The wallboard: for a screen that nobody touches, read from four metres. Left one tile that says how things are, right
//! the worst problems, below the time and how old the picture is. A picture that may be old is never green.

mod words;

use leptos::prelude::*;

use super::document_title::TitleSigns;
use super::erase::{dynamic, effect, view};
use super::format::{age, count, middle, visible};
use super::initial_view::initial_view;
use super::live::Live;
use super::parts::{Chip, Instant, Tag, current, finding_word, headline, looked_after, rows};
use lockscope_view::{BoardHead, BoardQuery, LockProblem, RootState, Verdict};

const PATH_CHARS: usize = 48;
/// How long each of several ensembles is named while nothing needs anybody.
const ENSEMBLE_MS: i64 = 15_000;
/// Where a token for the wall is taken, and under which name this tab keeps it.
const SIGN_IN: &str = "/sign-in/wall";
const TOKEN_KEY: &str = "lockscope.wall";

#[component]
pub(crate) fn WallPage() -> AnyView {
    let live = Live::of_app();
    let query = BoardQuery { limit: 1, ..BoardQuery::default() };
    let first = initial_view(|source| source.board(&query));
    live.open(query, first);
    let is_live = Memo::new(move |_| current(live).is_live());
    let problems = Memo::new(move |_| live.board(|board| board.head.problems.clone()).unwrap_or_default());
    let state = Memo::new(move |_| live.board(|board| Tile::of(&board.head)));
    let mood = move || match (is_live.get(), state.with(|tile| tile.as_ref().map(Tile::mood))) {
        (false, _) | (_, None) => "old",
        (true, Some(mood)) => mood,
    };
    let turn = Memo::new(move |_| live.now_ms().div_euclid(ENSEMBLE_MS));
    keep_awake();
    keep_signed_in(live);
    view! {
        <TitleSigns page="Wallboard".to_owned() />
        <main class="wall" id="main" data-mood=mood data-testid="wall">
            <h1 class="sr-only">"Wallboard"</h1>
            <section class="wall-tile" aria-live="polite">
                {dynamic(move || state.get().map(|tile| tile.draw(is_live.get(), turn.get())))}
            </section>
            <ol class="wall-list">{rows(problems, |problem| &problem.key, problem)}</ol>
            <footer class="wall-foot">
                <span class="wall-clock">{dynamic(move || now(live))}</span>
                <span>{move || freshness(live, is_live.get())}</span>
                <a class="wall-way" href="/">"Board"</a>
            </footer>
        </main>
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Tile {
    problems: u32,
    worst: Option<Verdict>,
    locks: u32,
    waiters: u32,
    is_all_known: bool,
    ensembles: Vec<EnsembleLine>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct EnsembleLine {
    name: String,
    locks: u32,
    /// Every root of it is read.
    is_read: bool,
}

impl EnsembleLine {
    /// Each ensemble that has a name, in order.
    fn all(head: &BoardHead) -> Vec<Self> {
        let mut lines: Vec<Self> = Vec::new();
        for root in &head.roots {
            let Some(tag) = &root.tag else { continue };
            let is_read = matches!(root.state, RootState::Live | RootState::Reduced);
            match lines.iter_mut().find(|line| line.name == tag.name) {
                Some(line) => {
                    line.locks += root.locks;
                    line.is_read &= is_read;
                }
                None => lines.push(Self { name: tag.name.clone(), locks: root.locks, is_read }),
            }
        }
        lines
    }
}

impl Tile {
    fn of(head: &BoardHead) -> Self {
        Self {
            problems: head.problem_count,
            worst: head.problems.first().map(|problem| problem.verdict),
            locks: head.totals.locks,
            waiters: head.totals.waiters,
            is_all_known: head.is_all_known(),
            ensembles: EnsembleLine::all(head),
        }
    }

    /// Its colour.
    fn mood(&self) -> &'static str {
        match self.worst {
            None if self.is_all_known => "good",
            None => "old",
            Some(Verdict::Slow | Verdict::Expiring | Verdict::MaybeDeadlocked) => "warn",
            Some(Verdict::Orphan | Verdict::NobodyHome) => "odd",
            // Of a calm verdict only a critical finding makes a problem.
            Some(_) => "bad",
        }
    }

    /// `turn`: whose turn it is to be named.
    fn draw(&self, is_live: bool, turn: i64) -> AnyView {
        let large = match (is_live, self.problems) {
            (false, _) => "?".to_owned(),
            (true, 0) if self.is_all_known => "✓".to_owned(),
            (true, many) => count(many),
        };
        let small = words::tile(is_live, self.problems, self.is_all_known);
        let rest = words::rest(self.locks, self.waiters);
        view! {
            <p class="wall-large">{large}</p>
            <p class="wall-small">{small}</p>
            <p class="wall-rest">{rest}</p>
            {self.ensemble(turn).map(|line| view! { <p class="wall-rest" data-testid="wall-ensemble">{line}</p> })}
        }
    }

    /// Of several ensembles one after the other; none while something needs somebody: then the list says where.
    fn ensemble(&self, turn: i64) -> Option<String> {
        if self.ensembles.len() < 2 || self.problems > 0 {
            return None;
        }
        let at = usize::try_from(turn).unwrap_or_default() % self.ensembles.len();
        let EnsembleLine { name, locks, is_read } = self.ensembles.get(at)?;
        Some(words::ensemble(name, *locks, *is_read))
    }
}

fn problem(problem: LockProblem) -> AnyView {
    let first = problem.locks.first().map(|path| middle(&visible(path), PATH_CHARS)).unwrap_or_default();
    let more = problem.lock_count.saturating_sub(1);
    let more = (more > 0).then(|| format!(" +{}", count(more)));
    // Where a finding makes the problem, the verdict may be a calm one.
    let sign = match &problem.finding {
        Some(code) => view! { <span class="chip" data-severity="critical">{finding_word(code)}</span> },
        None => view! { <Chip verdict=problem.verdict /> },
    };
    let severity = problem.finding.as_ref().map(|_| "critical");
    view! {
        <li class="wall-row" data-verdict=problem.verdict.name() data-severity=severity>
            <p>{sign}" "<Tag of=problem.tag.clone() />" "<bdi class="wall-lock">{first}</bdi>{more}</p>
            <p class="wall-headline">{headline(&problem.headline)}{looked_after(&problem)}</p>
        </li>
    }
}

/// The time of day, as of the last look.
fn now(live: Live) -> Option<AnyView> {
    // By the second; nothing is read between two of them.
    let at_ms = live.now_ms().div_euclid(1_000) * 1_000;
    (at_ms > 0).then(|| view! { <Instant at_ms=at_ms /> })
}

fn freshness(live: Live, is_live: bool) -> String {
    let known = live.known_at_ms().map_or_else(|| "…".to_owned(), |at_ms| age(at_ms, live.now_ms()));
    if is_live { words::as_of(&known) } else { words::doubted(current(live).word, &known) }
}

/// Signs in by the token in the address, and again when that ended: a server that was restarted knows nobody any more.
fn keep_signed_in(live: Live) {
    effect(move || {
        let location = window().location();
        let hash = location.hash().unwrap_or_default();
        let has_ended = live.sign_in_ended_ms().is_some();
        let keeps_token = || {
            let storage = window().session_storage().ok().flatten();
            storage.is_some_and(|storage| storage.get_item(TOKEN_KEY).is_ok_and(|token| token.is_some()))
        };
        if hash.starts_with("#token=") || (has_ended && keeps_token()) {
            // Fails only where the page is going elsewhere already.
            let _ = location.replace(&format!("{SIGN_IN}{hash}"));
        }
    });
}

/// Asks the browser to leave the screen on, again whenever the page comes to the front. Where it won't, nothing is lost.
fn keep_awake() {
    effect(move || {
        let ask = || {
            let lock = js_sys::Reflect::get(&window().navigator(), &"wakeLock".into()).ok();
            let request = lock.as_ref().and_then(|lock| js_sys::Reflect::get(lock, &"request".into()).ok());
            let request = request.and_then(|request| wasm_bindgen::JsCast::dyn_into::<js_sys::Function>(request).ok());
            let asked = request.zip(lock).and_then(|(request, lock)| request.call1(&lock, &"screen".into()).ok());
            let promise = asked.and_then(|asked| wasm_bindgen::JsCast::dyn_into::<js_sys::Promise>(asked).ok());
            if let Some(promise) = promise {
                // Refused while it is not in front, or on battery.
                leptos::task::spawn_local(async move { drop(wasm_bindgen_futures::JsFuture::from(promise).await) });
            }
        };
        ask();
        let front = window_event_listener(leptos::ev::visibilitychange, move |_| ask());
        on_cleanup(move || front.remove());
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_known_to_be_fine_is_green() {
        let mut head = BoardHead::default();
        head.totals.locks = 17;
        let text = |tile: &Tile, is_live| Owner::new_root(None).with(|| tile.draw(is_live, 0).to_html());
        let calm = Tile::of(&head);
        assert_eq!(calm.mood(), "good");
        assert!(text(&calm, true).contains("All fine"));
        assert!(!text(&calm, false).contains("fine"), "what may be old says nothing good");
        let unread = Tile { is_all_known: false, ..calm.clone() };
        assert_eq!(unread.mood(), "old");
        assert!(!text(&unread, true).contains("fine"), "what was not read may be anything");
        assert_eq!(calm.ensemble(0), None, "the only one has no turn");
        let line = |name: &str, is_read| EnsembleLine { name: name.to_owned(), locks: 7, is_read };
        let several = Tile { ensembles: vec![line("eu", true), line("us", false)], ..calm.clone() };
        let turns = [0, 1, 2].map(|turn| several.ensemble(turn).unwrap());
        assert_eq!(turns, ["eu: 7 locks", "us: 7 locks, not all read", "eu: 7 locks"]);
        assert_eq!(Tile { problems: 1, ..several }.ensemble(0), None, "what needs somebody stays");
        assert_eq!(Tile { worst: Some(Verdict::Healthy), problems: 1, ..calm }.mood(), "bad", "a critical finding");
    }
}
