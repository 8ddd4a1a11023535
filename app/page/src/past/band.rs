//! The band: which moment is shown, how long ago that is, the ways to other moments, and a strip of all that is kept.

use leptos::prelude::*;

use super::super::erase::{erase, view};
use super::super::format::age;
use super::super::parts::stamp;
use super::super::ports::{Neighbours, PRESENT, PastView};
use super::words::{
    AS_FAR_AS_KNOWN, AS_IT_WAS, CHANGE_AFTER, CHANGE_BEFORE, EVENT_AFTER, EVENT_BEFORE, FIRST_AFTER, GENERATED,
    LAST_BEFORE, not_shown, not_sure, present, released, since, way,
};

/// Of the bars in the strip's drawing, which is 20 high: below them is whether something was wrong.
const BARS_HEIGHT: u64 = 16;
/// Parts of the strip; each is a link to its middle.
const PARTS: i64 = 96;
const STEPS_MS: [(i64, &str); 6] = [
    (-3_600_000, "−1 h"),
    (-600_000, "−10 min"),
    (-60_000, "−1 min"),
    (60_000, "+1 min"),
    (600_000, "+10 min"),
    (3_600_000, "+1 h"),
];

/// What the keys do: each follows the link that names it.
pub(crate) const SCRIPT: &str = "document.addEventListener('keydown',e=>{if(e.ctrlKey||e.metaKey||e.altKey||/^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName))return;\
    const a=[...document.querySelectorAll('a[data-key]')].find(a=>a.dataset.key===e.key||a.dataset.key===e.key.toUpperCase());if(a){e.preventDefault();location.replace(a.href)}});";

/// The band of a moment, with why what is shown is not all that was true then, once that is known.
pub(crate) fn band(past: &PastView, why: impl Fn() -> Option<String> + Send + 'static) -> AnyView {
    let since = since(&age(past.at_ms, past.now_ms), past.is_over);
    let present = present(past.is_over);
    let generated =
        past.is_generated.then(|| view! { <span class="banner-since" data-testid="past-generated">{GENERATED}</span> });
    let doubt = move || {
        let why = why().filter(|why| !why.is_empty())?;
        Some(
            view! { <div class="banner-line"><p class="notice" role="status" data-testid="past-doubt">{not_sure(&why)}</p></div> },
        )
    };
    let not_shown = (!past.not_shown.is_empty()).then(|| {
        view! { <div class="banner-line"><p class="notice" role="status" data-testid="past-not-shown">{not_shown(&past.not_shown)}</p></div> }
    });
    let steps = STEPS_MS.iter().map(|(by, name)| time_step(past, *by, name)).collect_view();
    view! {
        <section class="banner past" aria-label="Moment" data-testid="past-band" data-state="past" data-at=past.at_ms>
            <div class="banner-line">
                <strong class="banner-word">{AS_IT_WAS}</strong>
                <span class="past-at">{stamp(past.at_ms)}</span>
                <span class="banner-since">{since}</span>
                {generated}
                <nav class="past-steps" aria-label="Other moments">
                    {neighbour(past, past.changes_ms.before, "«", "<", CHANGE_BEFORE)}
                    {neighbour(past, past.events_ms.before, "‹", ",", EVENT_BEFORE)}
                    {neighbour(past, past.events_ms.after, "›", ".", EVENT_AFTER)}
                    {neighbour(past, past.changes_ms.after, "»", ">", CHANGE_AFTER)}
                    {steps}
                    <a class="tool past-now" href=format!("{}{PRESENT}", past.address) rel="external" data-key="L" data-testid="past-now">{present}" "<kbd class="kbd">"L"</kbd></a>
                </nav>
            </div>
            {not_shown}
            {doubt}
            {strip(past)}
        </section>
    }
}

pub(crate) fn no_moment(past: &PastView, why: &str, nearest: Neighbours) -> AnyView {
    let link = |at_ms: Option<i64>, words: &'static str| {
        at_ms.map(|at_ms| view! { <li><a href=past.url(at_ms) rel="external">{words}</a>" "{stamp(at_ms)}</li> })
    };
    view! {
        <h1>"Nothing to show of that moment"</h1>
        <p data-testid="no-moment">{why.to_owned()}"."</p>
        <ul>
            {link(nearest.before, LAST_BEFORE)}
            {link(nearest.after, FIRST_AFTER)}
        </ul>
        <p><a href=past.address.clone() rel="external">{present(past.is_over)}</a></p>
    }
}

fn neighbour(past: &PastView, at_ms: Option<i64>, sign: &'static str, key: &'static str, to: &str) -> AnyView {
    match at_ms {
        Some(at_ms) => {
            let title = way(to, (at_ms - past.at_ms).abs(), key);
            view! { <a class="tool" href=past.url(at_ms) rel="external" data-key=key title=title.clone() aria-label=title>{sign}</a> }
        }
        None => view! { <span class="tool past-none" aria-hidden="true">{sign}</span> },
    }
}

/// A way by so much time; none beyond what is kept.
fn time_step(past: &PastView, by_ms: i64, name: &'static str) -> AnyView {
    let to = past.step(by_ms);
    erase(to.map(|at_ms| {
        let title = (at_ms != past.at_ms + by_ms).then_some(AS_FAR_AS_KNOWN);
        view! { <a class="tool past-by" href=past.url(at_ms) rel="external" title=title>{name}</a> }
    }))
}

/// The height of a bar: four times as many are twice as high, so that little is seen beside much.
fn height(events: u64, most: u64) -> u64 {
    (BARS_HEIGHT.pow(2).saturating_mul(events) / most.max(1)).isqrt()
}

/// All that is kept, from the oldest moment to the newest; what is missing is hatched.
fn strip(past: &PastView) -> AnyView {
    let (from, to) = past.kept_ms;
    let span = (to - from).max(1);
    let along = |at_ms: i64| ((at_ms - from).clamp(0, span) * 1_000 / span).to_string();
    let width = |from_ms: i64, to_ms: i64| (((to_ms - from_ms).max(0) * 1_000 / span).max(1)).to_string();
    let gaps = past.gaps_ms.iter().filter(|(_, end)| *end > from).map(|(begin, end)| {
        view! { <rect class="past-gap" x=along(*begin) y="0" width=width((*begin).max(from), *end) height="20" /> }
    });
    let most = past.pieces.iter().map(|piece| piece.events).max().unwrap_or(0);
    let pieces = past.pieces.iter().map(|piece| {
        let height = height(piece.events, most);
        let (x, wide) = (along(piece.from_ms), width(piece.from_ms.max(from), piece.to_ms.min(to)));
        let trouble = (piece.severity > 0).then(|| view! { <rect class="past-trouble" data-severity=piece.severity x=x.clone() width=wide.clone() y=BARS_HEIGHT.to_string() height="4" /> });
        view! {
            <rect class="past-density" x=x width=wide y=(BARS_HEIGHT - height).to_string() height=height.to_string() />
            {trouble}
        }
    });
    let parts = (0..PARTS).map(|at| {
        let middle = from + span * (2 * at + 1) / (2 * PARTS);
        let x = (at * 1_000 / PARTS).to_string();
        // A picture for the pointer: the links above lead everywhere by the keyboard.
        view! { <a href=past.url(middle) tabindex="-1" rel="external"><rect class="past-part" x=x y="0" width="10.5" height="20" /></a> }
    });
    // Each leads to the moment before it: what is released then is still there.
    let releases = past.releases_ms.iter().filter(|at_ms| (from..=to).contains(*at_ms)).map(|at_ms| {
        view! { <a href=past.url(at_ms - 1) tabindex="-1" rel="external"><title>{released(*at_ms)}</title><rect class="past-release" x=along(*at_ms) y="0" width="4" height="20" /></a> }
    });
    view! {
        <div class="past-strip">
            <span class="past-end">{stamp(from)}</span>
            <svg viewBox="0 0 1000 20" preserveAspectRatio="none" aria-hidden="true" data-testid="past-strip">
                {gaps.collect_view()}
                {pieces.collect_view()}
                {parts.collect_view()}
                {releases.collect_view()}
                <rect class="past-cursor" x=along(past.at_ms) y="0" width="3" height="20" />
            </svg>
            <span class="past-end">{stamp(to)}</span>
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::ports::PastPiece;
    use super::*;

    fn past() -> PastView {
        PastView {
            at_ms: 50_000,
            is_over: false,
            now_ms: 110_000,
            address: "/lock?path=/a".to_owned(),
            is_generated: false,
            not_shown: String::new(),
            kept_ms: (0, 100_000),
            gaps_ms: vec![(10_000, 20_000)],
            pieces: vec![PastPiece { from_ms: 60_000, to_ms: 120_000, events: 9, severity: 2 }],
            events_ms: Neighbours { before: Some(49_000), after: None },
            releases_ms: vec![70_000],
            changes_ms: Neighbours::default(),
        }
    }

    #[test]
    fn it_leads_to_other_moments_and_back() {
        let html = Owner::new_root(None).with(|| band(&past(), || None).to_html()).replace("<!>", "");
        assert!(html.contains("href=\"/lock?path=/a&amp;at=49000\"") && html.contains("data-key=\",\""), "{html}");
        assert!(html.contains("href=\"/lock?path=/a#present\" rel=\"external\" data-key=\"L\""), "{html}");
        assert!(!html.contains("+1 h"), "nothing is kept there");
        assert!(html.contains("Back to live") && html.contains("1 min 00 s ago"), "{html}");
        assert!(!html.contains("generated for the demo"), "{html}");
        assert!(html.contains("data-severity=\"2\" x=\"600\" width=\"400\" y=\"16\" height=\"4\""), "{html}");
        assert!(html.contains("<rect x=\"100\" y=\"0\" width=\"100\" height=\"20\" class=\"past-gap\""), "{html}");
    }

    #[test]
    fn no_step_by_time_ends_in_a_gap() {
        let gap = |at_ms, by_ms| PastView { at_ms, gaps_ms: vec![(10_000, 80_000)], ..past() }.step(by_ms);
        assert_eq!(gap(85_000, -60_000), Some(80_000), "to the end of the gap");
        assert_eq!(gap(80_000, -60_000), Some(10_000), "from its end to where it begins");
        assert_eq!(gap(5_000, 60_000), Some(10_000));
        assert_eq!(gap(10_000, 60_000), Some(80_000));
        assert_eq!(gap(95_000, -60_000), Some(80_000));
        assert_eq!(gap(90_000, -85_000), Some(5_000), "across it");
        assert_eq!(gap(90_000, -95_000), None, "nothing is kept there");
        let several = PastView { at_ms: 90_000, gaps_ms: vec![(10_000, 60_000), (50_000, 80_000)], ..past() };
        assert_eq!((several.step(-40_000), several.step(-15_000)), (Some(80_000), Some(80_000)));
        let beside = PastView { at_ms: 80_000, gaps_ms: vec![(10_000, 40_000)], ..past() };
        let html = Owner::new_root(None).with(|| band(&beside, || None).to_html());
        assert!(html.contains("at=40000") && html.contains(AS_FAR_AS_KNOWN), "{html}");
    }

    #[test]
    fn a_release_leads_to_the_moment_before_it() {
        let html = Owner::new_root(None).with(|| band(&past(), || None).to_html()).replace("<!>", "");
        assert!(html.contains("href=\"/lock?path=/a&amp;at=69999\""), "{html}");
        assert!(html.contains("<title>Released by Lockscope, 1970-01-01 00:01:10"), "{html}");
        let elsewhere = PastView { releases_ms: vec![100_001], ..past() };
        let html = Owner::new_root(None).with(|| band(&elsewhere, || None).to_html());
        assert!(!html.contains("past-release"), "{html}");
    }

    #[test]
    fn where_nothing_is_live_it_leads_to_the_end() {
        let over = PastView { is_over: true, ..past() };
        let html = Owner::new_root(None).with(|| band(&over, || None).to_html()).replace("<!>", "");
        assert!(html.contains("To the end") && html.contains("1 min 00 s before the end"), "{html}");
    }

    #[test]
    fn what_was_generated_says_so() {
        let generated = PastView { is_generated: true, ..past() };
        let html = Owner::new_root(None).with(|| band(&generated, || None).to_html()).replace("<!>", "");
        assert!(html.contains(">generated for the demo</span>"), "{html}");
    }

    #[test]
    fn missing_ensembles_are_named() {
        let band = |not_shown: &str| {
            let past = PastView { not_shown: not_shown.to_owned(), ..past() };
            Owner::new_root(None).with(|| band(&past, || None).to_html()).replace("<!>", "")
        };
        assert!(!band("").contains("past-not-shown"));
        let html = band("test (nothing is kept of that moment)");
        assert!(html.contains(">Not shown: test (nothing is kept of that moment)</p>"), "{html}");
    }

    #[test]
    fn what_was_not_live_then_says_why() {
        let band = |why: &'static str| {
            let owner = Owner::new_root(None);
            owner.with(|| band(&past(), move || Some(why.to_owned())).to_html())
        };
        assert!(!band("").contains("past-doubt"));
        let html = band("it was stale then: no answer\u{202e}").replace("<!>", "");
        assert!(html.contains("Not known to be all that was true then: it was stale then: no answer"), "{html}");
        assert!(!html.contains('\u{202e}'));
    }
}
