//! Where a setting comes from, and what is said when it is wrong.

use std::fmt;
use std::path::{Path, PathBuf};

/// Where a setting came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The command line.
    Flag,
    /// This environment variable.
    Environment(String),
    /// This file.
    File(PathBuf),
    /// Nobody gave it.
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => f.write_str("command line"),
            Self::Environment(name) => write!(f, "environment variable {name}"),
            Self::File(path) => write!(f, "file {}", path.display()),
            Self::Default => f.write_str("default"),
        }
    }
}

/// One setting that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The setting, by the name of its flag.
    pub setting: String,
    /// Where it came from.
    pub origin: Origin,
    /// What it is, if it was text.
    pub value: Option<String>,
    /// What would be right.
    pub right: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.setting, self.origin)?;
        if let Some(value) = &self.value {
            write!(f, " is {value:?}")?;
        }
        write!(f, ": {}", self.right)
    }
}

/// Every setting that is wrong.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConfigError {
    /// In the order of the settings. Never empty.
    pub problems: Vec<Problem>,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, problem) in self.problems.iter().enumerate() {
            let separator = if n == 0 { "" } else { "\n" };
            write!(f, "{separator}{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigError {}

/// Flags aside, all that settings are read from.
pub(super) struct Sources<'e> {
    env: &'e dyn Fn(&str) -> Option<String>,
    file: Option<(PathBuf, toml::Table)>,
    problems: Vec<Problem>,
    shown: Vec<(&'static str, String, Origin)>,
}

impl<'e> Sources<'e> {
    /// Reads the file, if one is named by flag or environment. Its keys must be among `names`.
    pub(super) fn open(flag: Option<&Path>, env: &'e dyn Fn(&str) -> Option<String>, names: &[&str]) -> Result<Self, ConfigError> {
        let named = flag.map(|path| (path.to_owned(), Origin::Flag)).or_else(|| {
            let name = variable("config");
            let path = env(&name).filter(|value| !value.is_empty())?;
            Some((PathBuf::from(path), Origin::Environment(name)))
        });
        let mut sources = Self { env, file: None, problems: Vec::new(), shown: Vec::new() };
        let Some((path, origin)) = named else { return Ok(sources) };
        let unreadable = |right: String| {
            let value = Some(path.display().to_string());
            ConfigError { problems: vec![Problem { setting: "config".to_owned(), origin: origin.clone(), value, right }] }
        };
        let text = std::fs::read_to_string(&path).map_err(|cause| unreadable(format!("must be a file that can be read: {cause}")))?;
        let table: toml::Table = text.parse().map_err(|cause: toml::de::Error| unreadable(format!("must be TOML: {cause}")))?;
        for key in table.keys().filter(|key| !names.contains(&key.as_str())) {
            let right = format!("there is no such setting; there are {}", names.join(", "));
            sources.problems.push(Problem { setting: key.clone(), origin: Origin::File(path.clone()), value: None, right });
        }
        sources.file = Some((path, table));
        Ok(sources)
    }

    /// The setting `name` from the strongest source that has it. `None` if it is wrong, which is noted.
    pub(super) fn read<T>(
        &mut self,
        name: &'static str,
        flag: Option<String>,
        default: impl FnOnce() -> Result<String, String>,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<T> {
        let (text, origin) = match self.find(name, flag, default) {
            Ok(found) => found,
            Err((origin, right)) => return self.note(name, origin, None, right),
        };
        match parse(&text) {
            Ok(value) => {
                self.shown.push((name, text, origin));
                Some(value)
            }
            Err(right) => self.note(name, origin, Some(text), right),
        }
    }

    /// What was read, or everything that is wrong.
    pub(super) fn finish(self) -> Result<Vec<(&'static str, String, Origin)>, ConfigError> {
        if self.problems.is_empty() { Ok(self.shown) } else { Err(ConfigError { problems: self.problems }) }
    }

    fn find(
        &self,
        name: &'static str,
        flag: Option<String>,
        default: impl FnOnce() -> Result<String, String>,
    ) -> Result<(String, Origin), (Origin, String)> {
        if let Some(text) = flag {
            return Ok((text, Origin::Flag));
        }
        let variable = variable(name);
        // An empty variable counts as none: that is how a shell takes one back.
        if let Some(text) = (self.env)(&variable).filter(|text| !text.is_empty()) {
            return Ok((text, Origin::Environment(variable)));
        }
        if let Some((path, table)) = &self.file
            && let Some(value) = table.get(name)
        {
            let origin = Origin::File(path.clone());
            return match value {
                toml::Value::String(text) => Ok((text.clone(), origin)),
                toml::Value::Integer(number) => Ok((number.to_string(), origin)),
                toml::Value::Float(_)
                | toml::Value::Boolean(_)
                | toml::Value::Datetime(_)
                | toml::Value::Array(_)
                | toml::Value::Table(_) => Err((origin, format!("must be text or a whole number, not {}", value.type_str()))),
            };
        }
        default().map(|text| (text, Origin::Default)).map_err(|right| (Origin::Default, right))
    }

    fn note<T>(&mut self, setting: &'static str, origin: Origin, value: Option<String>, right: String) -> Option<T> {
        self.problems.push(Problem { setting: setting.to_owned(), origin, value, right });
        None
    }
}

/// The environment variable of a setting.
fn variable(name: &str) -> String {
    format!("RAILGATE_{}", name.replace('-', "_").to_uppercase())
}
