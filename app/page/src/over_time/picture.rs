//! The picture of a lock over time: one drawing as wide as there is room, a lane a question. It is for the eye and the
//! pointer; all it says is in the table and the list beside it.

use leptos::prelude::*;

use super::view::{Bar, OverTimeView, PieceShares, Strip};
use super::words;
use crate::charts::over_time::{Axis, HEIGHT, Scale, WIDTH, area, edge, hue_name, percent, rows, stack};
use crate::erase::{erase, view};
use crate::format::{date, middle, visible};
use crate::parts::definition;
use lockscope_view::past::Point;

/// Instants, in ms since the epoch, and what was measured there.
type Points = Vec<(i64, i64)>;

/// A lane: its name, what stands at its right end, its height in pixels, and what is drawn in it.
type Lane = (&'static str, String, i64, AnyView);

const CAPTION: i64 = 20;
/// Heights of lanes, in pixels.
const VERDICT: i64 = 10;
const STRIP: i64 = 30;
const STRIP_ROW: i64 = 18;
const DEPTH: i64 = 52;
const TIMES: i64 = 56;
const ACQUIRED: i64 = 40;
const AXIS: i64 = 20;
/// Links for the pointer, at least: a piece may be much of a short range.
const CELLS: i64 = 48;
/// A bar has its client's name inside from this width on.
const NAMED_WIDTH: i64 = 500;
const NAME_CHARS: usize = 28;

/// What lanes share.
pub(super) struct Picture<'a> {
    view: &'a OverTimeView,
    axis: Axis,
    hues: &'a [Option<u8>],
}

impl<'a> Picture<'a> {
    pub(super) fn new(view: &'a OverTimeView, hues: &'a [Option<u8>]) -> Self {
        let (from_ms, to_ms) = view.range_ms;
        Self { view, axis: Axis { from_ms, to_ms }, hues }
    }

    pub(super) fn draw(&self) -> AnyView {
        let lanes: [Lane; 6] = [
            (words::VERDICT, String::new(), VERDICT, self.verdicts()),
            self.strip(),
            self.depth(),
            self.times(words::WAIT, |piece| piece.wait_ms.all()),
            self.times(words::HOLD, |piece| piece.hold_ms.all()),
            self.acquired(),
        ];
        let mut top = 0;
        let (mut names, mut backs, mut drawn) = (Vec::new(), Vec::new(), Vec::new());
        for (name, right, height, inner) in lanes {
            let text = (top + 14).to_string();
            top += CAPTION;
            names.push(view! {
                {marked_text(name, text.clone())}
                <text class="ot-most" x="100%" y=text>{right}</text>
            });
            backs.push(
                view! { <rect class="ot-lane" x="0" y=top.to_string() width="100%" height=height.to_string() /> },
            );
            drawn.push(view! { <svg class="ot-inner" x="0" y=top.to_string() width="100%" height=height.to_string()>{inner}</svg> });
            top += height;
        }
        let height = (top + AXIS).to_string();
        let (from_ms, to_ms) = self.view.range_ms;
        view! {
            <svg class="ot-plot" data-testid="ot-plot" width="100%" height=height aria-hidden="true" data-from=from_ms data-to=to_ms>
                <defs>
                    <pattern id="ot-hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
                        <line class="ot-hatch" x1="0" y1="0" x2="0" y2="6" />
                    </pattern>
                </defs>
                {backs}
                {self.grid(top)}
                {self.cells(top)}
                {drawn}
                {self.gaps(top)}
                {names}
                {self.cursor(top)}
                <rect class="ot-brush" x="0" y="0" width="0" height=top.to_string() />
            </svg>
        }
    }

    fn grid(&self, height: i64) -> AnyView {
        let (step_ms, ticks) = self.axis.ticks();
        // Of `2026-11-21 14:03:22`: the day as well, where a step is one; seconds, where a step is less than a minute.
        let (from, to) = match step_ms {
            ..60_000 => (11, 19),
            60_000..43_200_000 => (11, 16),
            _ => (5, 16),
        };
        let tick = |at_ms: i64| {
            let x = self.axis.x(at_ms);
            let anchor = match x {
                ..400 => "start",
                9_600.. => "end",
                _ => "middle",
            };
            let text = date(at_ms).get(from..to).unwrap_or_default().to_owned();
            view! {
                <line class="ot-grid" x1=percent(x) x2=percent(x) y1=CAPTION.to_string() y2=height.to_string() />
                <text class="ot-tick" x=percent(x) y=(height + 15).to_string() text-anchor=anchor data-ms=at_ms data-cut=format!("{from},{to}")>{text}</text>
            }
        };
        erase(ticks.into_iter().map(tick).collect_view())
    }

    fn verdicts(&self) -> AnyView {
        // Neighbours of one verdict are one.
        let mut runs: Vec<(i64, i64, &'static str)> = Vec::new();
        for piece in &self.view.pieces {
            let (verdict, end) = (piece.worst, piece.at_ms + self.view.grain_ms);
            match runs.last_mut() {
                Some((_, until, name)) if *until == piece.at_ms && *name == verdict.name() => *until = end,
                _ => runs.push((piece.at_ms, end, verdict.name())),
            }
        }
        let run = |(from_ms, to_ms, name): (i64, i64, &'static str)| {
            self.axis.bar(from_ms, to_ms).map(|(x, width)| view! { <rect class="ot-verdict" data-verdict=name x=percent(x) y="0" width=percent(width) height="100%" /> })
        };
        erase(runs.into_iter().map(run).collect_view())
    }

    /// Who held.
    fn strip(&self) -> Lane {
        match &self.view.strip {
            Strip::Holds(bars) => {
                let spans: Vec<(i64, i64)> = bars.iter().map(|bar| (bar.from_ms, bar.to_ms)).collect();
                let (of, count) = rows(&spans);
                let row = if count == 1 { STRIP } else { STRIP_ROW };
                let drawn = bars.iter().zip(of).map(|(bar, at)| self.bar(bar, at as i64 * row, row - 2)).collect_view();
                (words::HOLDERS, String::new(), row * count as i64, erase(drawn))
            }
            Strip::Shares(pieces) => (words::SHARES, String::new(), STRIP, self.shares(pieces)),
        }
    }

    fn hue(&self, client: Option<usize>) -> String {
        hue_name(client.and_then(|client| self.hues.get(client).copied().flatten()))
    }

    fn name(&self, client: Option<usize>) -> &str {
        let client = client.and_then(|client| self.view.clients.get(client));
        client.map_or(words::NOBODY_KNOWN, |client| client.name.as_str())
    }

    fn bar(&self, bar: &Bar, top: i64, height: i64) -> AnyView {
        let Some((x, width)) = self.axis.bar(bar.from_ms, bar.to_ms) else { return erase(()) };
        let name = self.name(bar.client);
        let says = words::bar(name, bar.to_ms - bar.from_ms, bar.is_going_on);
        let label = (width >= NAMED_WIDTH).then(|| {
            view! { <text class="ot-label" x="5" y=(height / 2 + 4).to_string()>{middle(&visible(name), NAME_CHARS)}</text> }
        });
        let drawn = view! {
            <svg x=percent(x) y=(top + 1).to_string() width=percent(width) height=height.to_string()>
                <title>{says}</title>
                <rect class="ot-bar" data-hue=self.hue(bar.client) data-going-on=bar.is_going_on.then_some("true") width="100%" height="100%" />
                {label}
            </svg>
        };
        match self.moment(bar.from_ms.max(self.axis.from_ms)) {
            Some(href) => {
                view! { <a href=href rel="external" tabindex="-1" class="ot-hold" data-client=visible(name)>{drawn}</a> }
            }
            None => drawn,
        }
    }

    fn shares(&self, pieces: &[PieceShares]) -> AnyView {
        let piece = |PieceShares { at_ms, held_ms: held }: &PieceShares| {
            let (x, width) = self.axis.bar(*at_ms, at_ms + self.view.grain_ms)?;
            let parts: Vec<i64> = held.iter().map(|(_, ms)| *ms).collect();
            let drawn = held.iter().zip(stack(&parts, self.view.grain_ms)).filter(|(_, (_, height))| *height > 0);
            let part = |((client, _), (y, height)): (&(Option<usize>, i64), (i64, i64))| {
                view! { <rect class="ot-share" data-hue=self.hue(*client) x=x.to_string() y=y.to_string() width=width.to_string() height=height.to_string() /> }
            };
            Some(drawn.map(part).collect_view())
        };
        self.stretched(erase(pieces.iter().filter_map(piece).collect_view()))
    }

    /// Whatever is drawn in ten-thousandths and hundredths.
    fn stretched(&self, inner: AnyView) -> AnyView {
        view! { <svg viewBox=format!("0 0 {WIDTH} {HEIGHT}") preserveAspectRatio="none" width="100%" height="100%">{inner}</svg> }
    }

    /// Values of pieces, and of those before.
    fn values(&self, of: impl Fn(&Point) -> Option<i64>) -> (Points, Points) {
        let values = |pieces: &[Point]| pieces.iter().filter_map(|piece| Some((piece.at_ms, of(piece)?))).collect();
        (values(&self.view.pieces), values(self.view.former.as_deref().unwrap_or_default()))
    }

    fn depth(&self) -> Lane {
        self.counts(words::DEPTH, DEPTH, |piece| i64::from(piece.depth_max), 1)
    }

    fn acquired(&self) -> Lane {
        let minutes = (self.view.grain_ms / 60_000).max(1);
        self.counts(words::ACQUIRED, ACQUIRED, |piece| i64::from(piece.acquired), minutes)
    }

    /// An area of numbers. They are drawn as they are, and the largest is said by the unit.
    fn counts(&self, name: &'static str, height: i64, of: impl Fn(&Point) -> i64, unit: i64) -> Lane {
        let (now, former) = self.values(|piece| Some(of(piece)));
        let both = || now.iter().chain(&former).map(|(_, value)| *value);
        let (scale, most) = (Scale::linear(both()), both().max().unwrap_or(0));
        let inner = view! {
            <path class="ot-area" d=area(self.axis, self.view.grain_ms, &now, scale) />
            <path class="ot-former" d=edge(self.axis, self.view.grain_ms, &former, scale) />
        };
        (name, words::at_most((most + unit - 1) / unit), height, self.stretched(inner))
    }

    /// Three areas, one in the other.
    fn times(&self, name: &'static str, of: fn(&Point) -> [Option<i64>; 3]) -> Lane {
        let bands = [2, 1, 0].map(|at: usize| (at, self.values(|piece| of(piece).get(at).copied().flatten())));
        let all = bands.iter().flat_map(|(_, (now, former))| now.iter().chain(former)).map(|(_, value)| *value);
        let scale = Scale::powers(all);
        let band = |(at, (now, former)): &(usize, (Points, Points))| {
            let scale = scale?;
            // One line of those before is enough: it lies among three areas.
            let line = (*at == 1)
                .then(|| view! { <path class="ot-former" d=edge(self.axis, self.view.grain_ms, former, scale) /> });
            Some(view! {
                <path class="ot-band" data-band=at.to_string() d=area(self.axis, self.view.grain_ms, now, scale) />
                {line}
            })
        };
        (name, words::scale(scale), TIMES, self.stretched(erase(bands.iter().filter_map(band).collect_view())))
    }

    /// Where a click leads: to moments that are kept and over.
    fn moment(&self, at_ms: i64) -> Option<String> {
        let is_hidden = |gap: &super::view::Missing| gap.from_ms < at_ms && at_ms < gap.to_ms;
        let is_kept = self.view.kept_from_ms.is_some_and(|from_ms| from_ms <= at_ms) && at_ms < self.view.now_ms;
        let is_known = is_kept && !self.view.gaps.iter().any(is_hidden);
        is_known.then(|| self.view.choice.at(at_ms, self.view.range_ms).url())
    }

    /// One link a piece, below what is drawn.
    fn cells(&self, height: i64) -> AnyView {
        let (from_ms, to_ms) = self.view.range_ms;
        let grain_ms = self.view.grain_ms;
        let is_coarse = (to_ms - from_ms) / grain_ms < CELLS / 2;
        let cell_ms = if is_coarse { ((to_ms - from_ms) / CELLS).max(1) } else { grain_ms };
        let first = from_ms.div_euclid(cell_ms) * cell_ms;
        let cell = |at_ms: i64| {
            let (x, width) = self.axis.bar(at_ms, at_ms + cell_ms)?;
            let middle_ms = (at_ms + cell_ms / 2).clamp(from_ms, to_ms);
            let href = self.moment(middle_ms.min(self.view.now_ms - 1_000))?;
            let piece = self.view.pieces.iter().find(|piece| piece.at_ms == at_ms - at_ms.rem_euclid(grain_ms));
            let says = piece.map(|piece| view! { <title>{words::piece(&date(piece.at_ms), piece)}</title> });
            Some(
                view! { <a href=href rel="external" tabindex="-1" class="ot-at">{says}<rect class="ot-cell" x=percent(x) y=CAPTION.to_string() width=percent(width) height=(height - CAPTION).to_string() /></a> },
            )
        };
        let cells = (0..=300).map(|at| first + at * cell_ms).take_while(|at_ms| *at_ms < to_ms);
        erase(cells.filter_map(cell).collect_view())
    }

    fn gaps(&self, height: i64) -> AnyView {
        let gap = |gap: &super::view::Missing| {
            let (x, width) = self.axis.bar(gap.from_ms, gap.to_ms)?;
            let says = words::gap(gap.to_ms - gap.from_ms, &visible(&gap.why));
            // Within the holders' lane: above it are the captions of the first two.
            let base = VERDICT + CAPTION + STRIP / 2 + 4;
            let label = (width >= 3 * NAMED_WIDTH)
                .then(|| view! { <text class="ot-gap-name" x="6" y=base.to_string()>{visible(&gap.why)}</text> });
            Some(view! {
                <svg data-testid="ot-gap" x=percent(x) y=CAPTION.to_string() width=percent(width) height=(height - CAPTION).to_string()>
                    <title>{says}</title>
                    <rect class="ot-gap-back" width="100%" height="100%" />
                    <rect fill="url(#ot-hatch)" width="100%" height="100%" />
                    {label}
                </svg>
            })
        };
        erase(self.view.gaps.iter().filter_map(gap).collect_view())
    }

    /// The moment of the page.
    fn cursor(&self, height: i64) -> AnyView {
        let at_ms = self.view.choice.at_ms.filter(|at_ms| (self.axis.from_ms..=self.axis.to_ms).contains(at_ms));
        erase(at_ms.map(|at_ms| {
            let x = percent(self.axis.x(at_ms));
            view! { <line class="ot-cursor" data-testid="ot-cursor" x1=x.clone() x2=x y1="0" y2=height.to_string() /> }
        }))
    }
}

/// The name of a lane, which leads to what its numbers are. The keyboard finds it in the table.
fn marked_text(name: &'static str, y: String) -> AnyView {
    let text = view! { <text x="0" y=y>{name}</text> };
    match definition(name) {
        Some(of) => {
            let href = format!("/help#{of}");
            view! { <a class="explain" href=href rel="external" tabindex="-1" data-explain=of>{text}</a> }
        }
        None => text,
    }
}
