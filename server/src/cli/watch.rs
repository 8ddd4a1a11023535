//! The command line of whoever watches in a terminal.

use clap::Args;
use clap::builder::PossibleValuesParser;
use lockscope_view::Sort;

use super::help_page::HelpPage;
use super::{ColorChoice, ServerArgs};
use crate::error::EXIT_UNSURE;

/// The live board, or one lock, in the terminal.
#[derive(Clone, Debug, Args)]
pub struct WatchArgs {
    /// A lock's path, or that of a znode in it [default: the board].
    #[arg(value_name = "PATH")]
    pub path: Option<String>,
    /// Only locks of this ensemble; with a PATH, the ensemble of the lock, if several have one.
    #[arg(long, value_name = "NAME")]
    pub ensemble: Option<String>,
    /// Only locks with this text in their path, recipe, verdict, or a holder's name or session; `!TEXT` excludes.
    #[arg(long, value_name = "TEXT", conflicts_with = "path")]
    pub filter: Option<String>,
    /// Sort order of the board.
    #[arg(long, value_name = "ORDER", default_value = "worst", value_parser = PossibleValuesParser::new(Sort::ALL.map(Sort::name)))]
    pub sort: String,
    /// Print what is there now, and exit.
    #[arg(long, help_heading = "Output")]
    pub once: bool,
    /// When to use colours; auto: on terminals, unless NO_COLOR is set.
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = ColorChoice::Auto, help_heading = "Output")]
    pub color: ColorChoice,
    /// No colours, like --color never.
    #[arg(long, conflicts_with = "color", help_heading = "Output")]
    pub no_color: bool,
    /// Who is asked.
    #[command(flatten)]
    pub server: ServerArgs,
}

impl WatchArgs {
    /// When colours are used.
    pub fn color(&self) -> ColorChoice {
        if self.no_color { ColorChoice::Never } else { self.color }
    }
}

/// What its page has beside its options.
pub(super) const PAGE: HelpPage = HelpPage {
    command: "watch",
    examples: &[
        ("lockscope watch", "The live board: what needs you first, with the next step. ? shows the keys."),
        ("lockscope watch /shop/order", "One lock: holders and the queue, what to do."),
        ("lockscope watch --filter order --sort depth", "Only locks that match, most waiters first."),
        ("lockscope watch --once --no-color", "What is there now, as text; for tickets and scripts."),
    ],
    exits: &[
        (0, "somebody quit, or with --once: shown as of now"),
        (EXIT_UNSURE, "with --once: what is shown may be old, which its first line says"),
    ],
    asks: true,
};
