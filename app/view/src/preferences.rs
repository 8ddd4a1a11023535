//! What somebody keeps of how the board is shown: pins and saved views. The same in a browser and on the server.

use serde::{Deserialize, Serialize};

use super::PINS_MAX;

/// Views kept; the oldest goes first.
pub const SAVED_VIEWS_MAX: usize = 20;
/// Longest name of a view.
pub const VIEW_NAME_CHARS_MAX: usize = 40;
/// All pins and views together; what has more is refused.
pub const PREFERENCES_BYTES_MAX: usize = 32 * 1024;

/// What somebody keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Preferences {
    /// Rises with each change. Whoever changes something sends the one it was read with; 0 where nothing is kept.
    pub revision: u64,
    /// Keys of the board's rows that stand before all others, at most 20.
    #[cfg_attr(feature = "schema", schemars(length(max = 20)))]
    pub pins: Vec<String>,
    /// Saved views of the board, at most 20.
    #[cfg_attr(feature = "schema", schemars(length(max = 20)))]
    pub views: Vec<SavedView>,
}

/// A name for what the board shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SavedView {
    /// Its name: 1 to 40 characters in one line.
    #[cfg_attr(
        feature = "schema",
        schemars(length(min = 1, max = 40), regex(pattern = r"^\S[^\x00-\x1f\x7f-\x9f]*$"))
    )]
    pub name: String,
    /// The query of the board's address with its `?`; empty for the bare board.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = r"^(\?.*)?$")))]
    pub query: String,
}

impl SavedView {
    /// One of this name, written in one line and cut; None without a name.
    pub fn named(name: &str, query: String) -> Option<Self> {
        let line = name.split_whitespace().collect::<Vec<_>>().join(" ");
        let name: String = line.chars().take(VIEW_NAME_CHARS_MAX).collect();
        (!name.is_empty() && is_query(&query)).then_some(Self { name, query })
    }
}

/// Whether a text can only be the query of an address here.
fn is_query(text: &str) -> bool {
    text.is_empty() || text.starts_with('?')
}

impl Preferences {
    /// One more view; one of the same name gives way, and beyond the maximum the oldest.
    pub fn save(&mut self, view: SavedView) {
        self.views.retain(|other| other.name != view.name);
        self.views.push(view);
        let extra = self.views.len().saturating_sub(SAVED_VIEWS_MAX);
        self.views.drain(..extra);
    }

    /// Pins a row, or lets it go; beyond the maximum the first pin goes.
    pub fn pin(&mut self, key: &str, is_pinned: bool) {
        self.pins.retain(|pin| pin != key);
        if is_pinned {
            self.pins.push(key.to_owned());
        }
        let extra = self.pins.len().saturating_sub(PINS_MAX);
        self.pins.drain(..extra);
    }

    /// Takes in what was kept elsewhere: nothing of either goes, as far as there is room. Of two views with one name and
    /// different queries the one from elsewhere gets another name. Gives what found no place.
    #[must_use]
    pub fn take_in(&mut self, other: Self) -> Self {
        let mut rest = Self::default();
        for view in other.views {
            if self.views.contains(&view) {
                continue;
            }
            if self.views.len() >= SAVED_VIEWS_MAX {
                rest.views.push(view);
                continue;
            }
            let is_taken = |name: &str, of: &Self| of.views.iter().any(|kept| kept.name == name);
            let numbered = |at: usize| {
                let mark = format!(" ({at})");
                let stem: String = view.name.chars().take(VIEW_NAME_CHARS_MAX - mark.len()).collect();
                if at == 1 { view.name.clone() } else { format!("{stem}{mark}") }
            };
            let free = (1..=SAVED_VIEWS_MAX + 1).map(numbered).find(|name| !is_taken(name, self));
            self.views.extend(free.map(|name| SavedView { name, query: view.query }));
        }
        for pin in other.pins {
            match self.pins.contains(&pin) {
                true => {}
                false if self.pins.len() < PINS_MAX => self.pins.push(pin),
                false => rest.pins.push(pin),
            }
        }
        rest
    }

    /// Whether it can be kept.
    ///
    /// # Errors
    /// What is wrong, and what may be sent.
    pub fn check(&self) -> Result<(), String> {
        if self.pins.len() > PINS_MAX {
            return Err(format!("there are {} pins; send at most {PINS_MAX}", self.pins.len()));
        }
        if self.views.len() > SAVED_VIEWS_MAX {
            return Err(format!("there are {} views; send at most {SAVED_VIEWS_MAX}", self.views.len()));
        }
        let bytes = self.pins.iter().map(String::len).sum::<usize>()
            + self.views.iter().map(|view| view.name.len() + view.query.len()).sum::<usize>();
        if bytes > PREFERENCES_BYTES_MAX {
            return Err(format!("pins and views have {bytes} bytes; send at most {PREFERENCES_BYTES_MAX}"));
        }
        let mut names: Vec<&str> = self.views.iter().map(|view| view.name.as_str()).collect();
        names.sort_unstable();
        if names.windows(2).any(|pair| pair.first() == pair.last()) {
            return Err("two views have the same name; send each once".to_owned());
        }
        let is_name = |name: &str| {
            !name.trim().is_empty()
                && name.chars().count() <= VIEW_NAME_CHARS_MAX
                && !name.chars().any(char::is_control)
        };
        if !self.views.iter().all(|view| is_name(&view.name)) {
            return Err(format!("a view has no name; write 1 to {VIEW_NAME_CHARS_MAX} characters in one line"));
        }
        if !self.views.iter().all(|view| is_query(&view.query)) {
            return Err("the query of a view does not begin with ?; send the query of the board's address".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(name: &str, query: &str) -> SavedView {
        SavedView { name: name.to_owned(), query: query.to_owned() }
    }

    #[test]
    fn views_are_kept_by_name_and_pins_in_order() {
        let mut kept = Preferences::default();
        kept.save(SavedView::named("  mine \t of\nall ", "?q=/a".to_owned()).unwrap());
        assert_eq!(kept.views, [view("mine of all", "?q=/a")]);
        kept.save(view("mine of all", "?q=/b"));
        assert_eq!(kept.views, [view("mine of all", "?q=/b")]);
        assert_eq!(
            (SavedView::named(" ", String::new()), SavedView::named("a", "javascript:1".to_owned())),
            (None, None)
        );
        (0..30).for_each(|at| kept.save(view(&format!("v{at}"), "")));
        assert_eq!((kept.views.len(), &*kept.views[0].name), (SAVED_VIEWS_MAX, "v10"));
        (0..25).for_each(|at| kept.pin(&format!("/{at}"), true));
        kept.pin("/24", false);
        kept.pin("/5", true);
        assert_eq!((kept.pins.len(), &*kept.pins[0], &*kept.pins[18]), (19, "/6", "/5"));
        assert_eq!(kept.check(), Ok(()));
    }

    #[test]
    fn nothing_is_lost_when_two_are_put_together() {
        let mut server = Preferences { revision: 4, pins: vec!["/a".into()], views: vec![view("all", "?sort=path")] };
        let browser = Preferences {
            revision: 0,
            pins: vec!["/b".into(), "/a".into()],
            views: vec![view("all", "?sort=depth"), view("mine", "?q=x"), view("all", "?sort=path")],
        };
        assert_eq!(server.take_in(browser.clone()), Preferences::default());
        assert_eq!(server.pins, ["/a", "/b"]);
        let expected = [view("all", "?sort=path"), view("all (2)", "?sort=depth"), view("mine", "?q=x")];
        assert_eq!((server.revision, &server.views[..]), (4, &expected[..]));
        (0..SAVED_VIEWS_MAX).for_each(|at| server.save(view(&at.to_string(), "")));
        (0..PINS_MAX).for_each(|at| server.pin(&at.to_string(), true));
        let rest = server.take_in(browser.clone());
        assert_eq!(rest, browser, "what finds no place is given back");
        assert_eq!(server.check(), Ok(()));
    }

    #[test]
    fn what_can_not_be_kept_is_said() {
        let told = |views: Vec<SavedView>| Preferences { views, ..Preferences::default() }.check().unwrap_err();
        assert!(told(vec![view("a", "//evil.example")]).contains("does not begin with ?"));
        assert!(told(vec![view("a", ""), view("a", "?x")]).contains("the same name"));
        for name in ["", " ", "a\nb", &"x".repeat(41)] {
            assert!(told(vec![view(name, "")]).contains("1 to 40 characters"), "{name:?}");
        }
        assert!(told((0..21).map(|at| view(&at.to_string(), "")).collect()).contains("at most 20"));
        assert!(
            told(vec![view("a", &format!("?{}", "x".repeat(PREFERENCES_BYTES_MAX)))]).ends_with("send at most 32768")
        );
    }
}
