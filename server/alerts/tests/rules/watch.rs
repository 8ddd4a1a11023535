//! A model that is told a story, and looked at as the server does it.

use std::collections::BTreeMap;
use std::sync::Arc;

use lockscope_alerts::evaluator::{ActiveAlert, AlertEnd, AlertNews, Evaluator};
use lockscope_alerts::rule::Rule;
use lockscope_core::observation::Observation;
use lockscope_core::time::TimeMs;

use crate::language::Story;

/// Time between two ticks.
pub(crate) const TICK_MS: i64 = 250;

/// A story whose model is looked at after every line.
pub(crate) struct Watch {
    pub(crate) story: Story,
    pub(crate) evaluator: Evaluator,
    /// What was found since this was emptied.
    pub(crate) news: Vec<AlertNews>,
    known: BTreeMap<(Arc<str>, Arc<str>), ActiveAlert>,
    /// The same with the instants of the observations that showed it, for who compares.
    pub(crate) found_at: Vec<(TimeMs, AlertNews)>,
    /// What was observed.
    pub(crate) told: Vec<(TimeMs, Observation)>,
    /// Our member answers: what is shown is confirmed at each tick.
    pub(crate) is_answering: bool,
}

impl Watch {
    /// Of the root `/locks` of the ensemble `prod`, which is there and empty at 10.
    pub(crate) fn new(rules: &[Rule]) -> Self {
        let mut watch = Self::over(Story::new(&["/locks"]), rules, Vec::new());
        watch.tell("10 sync /locks\n10 node /locks\n10 end /locks");
        watch
    }

    /// Goes on with a model and with alerts that were active before.
    pub(crate) fn over(story: Story, rules: &[Rule], known: Vec<ActiveAlert>) -> Self {
        let mut evaluator = Evaluator::new("prod", rules, known, TimeMs(story.now));
        let news = evaluator.take_news();
        let known = news.iter().map(|one| (place(one), plain(one))).collect();
        let found_at = news.iter().map(|one| (TimeMs(story.now), one.clone())).collect();
        Self { story, evaluator, news, known, found_at, told: Vec::new(), is_answering: true }
    }

    /// What happens, in the language of the core's tests; time passes in between.
    pub(crate) fn tell(&mut self, text: &str) -> &mut Self {
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let at_ms = line.split(' ').next().unwrap().parse().unwrap();
            self.pass_to(at_ms).tell_alone(line);
        }
        self
    }

    /// The same, and time stands still but for what is told.
    pub(crate) fn tell_alone(&mut self, text: &str) -> &mut Self {
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let observation = self.story.parse(line);
            let is_end = matches!(observation, Observation::SyncEnded { .. } | Observation::ComparisonEnded { .. });
            self.observe(observation);
            if is_end {
                self.observe(Observation::Synced { sent_at: TimeMs(self.story.now) });
            }
        }
        self
    }

    /// Time passes up to an instant, and nothing else happens.
    pub(crate) fn pass_to(&mut self, to_ms: i64) -> &mut Self {
        while self.story.now < to_ms {
            self.story.now = (self.story.now + TICK_MS).min(to_ms);
            if self.is_answering {
                self.observe(Observation::Synced { sent_at: TimeMs(self.story.now) });
            }
            self.observe(Observation::Tick);
        }
        self
    }

    /// One more is observed now.
    pub(crate) fn observe(&mut self, observation: Observation) {
        let now = TimeMs(self.story.now);
        self.told.push((now, observation.clone()));
        let model = &mut self.story.observatory;
        let changes = model.begin(now, observation);
        self.evaluator.look(model, now, &changes);
        while model.has_backlog() {
            let changes = model.go_on();
            self.evaluator.look(model, now, &changes);
        }
        let mut news = self.evaluator.take_news();
        // That it will be over unless something happens is noted for the next process, and no news here.
        news.retain(|one| self.known.insert(place(one), plain(one)) != Some(plain(one)) || one.end.is_some());
        self.found_at.extend(news.iter().map(|one| (now, one.clone())));
        self.news.extend(news);
    }

    /// The one alert that has not ended.
    pub(crate) fn only(&self) -> ActiveAlert {
        let active = self.evaluator.active();
        assert_eq!(active.len(), 1, "{active:?}");
        active.into_iter().next().unwrap()
    }

    /// What was found, one line each: `rule lock: pending SINCE`, `… fired AT`, `… unknown AT`, `… never`, `… over AT`.
    /// Forgets it.
    pub(crate) fn said(&mut self) -> Vec<String> {
        std::mem::take(&mut self.news).iter().map(said).collect()
    }
}

fn place(one: &AlertNews) -> (Arc<str>, Arc<str>) {
    (Arc::clone(&one.alert.rule), Arc::clone(&one.alert.lock))
}

fn plain(one: &AlertNews) -> ActiveAlert {
    ActiveAlert { over_since: None, ..one.alert.clone() }
}

fn said(AlertNews { alert, end }: &AlertNews) -> String {
    let state = match (end, alert.unknown_since, alert.fired_at) {
        (Some(AlertEnd::NeverFired), ..) => "never".to_owned(),
        (Some(AlertEnd::Resolved(at)), ..) => format!("over {}", at.0),
        (None, Some(at), _) => format!("unknown {}", at.0),
        (None, None, Some(at)) => format!("fired {}", at.0),
        (None, None, None) => format!("pending {}", alert.since.0),
    };
    format!("{} {}: {state}", alert.rule, alert.lock)
}
