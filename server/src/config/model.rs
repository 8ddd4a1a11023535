//! Values that are words of the model: recipes and severities.

use lockscope_core::diagnosis::Severity;
pub(super) use lockscope_core::evidence::MEMBERS_MAX;
use lockscope_core::recipe::Recipe as CoreRecipe;
use lockscope_zookeeper::Fault;

use super::ConfigError;
use super::given::{Given, Parse, Read, fault};

/// Names of recipes as the API has them; `none` says that a path is no lock.
const RECIPES: [(&str, CoreRecipe); 10] = [
    ("sequential_mutex", CoreRecipe::SequentialMutex),
    ("read_write", CoreRecipe::ReadWrite),
    ("semaphore", CoreRecipe::Semaphore),
    ("single_node_mutex", CoreRecipe::SingleNodeMutex),
    ("election", CoreRecipe::Election),
    ("barrier", CoreRecipe::Barrier),
    ("double_barrier", CoreRecipe::DoubleBarrier),
    ("queue", CoreRecipe::Queue),
    ("membership", CoreRecipe::Membership),
    ("none", CoreRecipe::Unknown),
];

/// The name of a recipe.
pub(super) enum Recipe {}

impl Read for Recipe {
    type Output = CoreRecipe;

    fn values() -> String {
        RECIPES.map(|(name, _)| name).join(", ")
    }

    fn read(given: &Given) -> Result<CoreRecipe, ConfigError> {
        match RECIPES.iter().find(|(name, _)| given.value.as_str() == Some(name)) {
            Some((_, recipe)) => Ok(*recipe),
            None => refuse!("{} is {}; use one of {}", given.from, given.shown(), Self::values()),
        }
    }
}

/// How bad it is that a rule fires.
pub(super) enum HowBad {}

impl Parse for HowBad {
    type Output = Severity;
    const VALUES: &'static str = "info, warning, critical";

    fn parse(text: &str) -> Result<Severity, Fault> {
        let all = [Severity::Info, Severity::Warning, Severity::Critical];
        let known = all.into_iter().find(|severity| severity_name(*severity) == text);
        known.map_or_else(|| fault("is no severity", "use info, warning or critical"), Ok)
    }
}

/// The name of a severity in the file.
pub(super) fn severity_name(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "info",
        Severity::Warning => "warning",
        Severity::Critical => "critical",
    }
}
