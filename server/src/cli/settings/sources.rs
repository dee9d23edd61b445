//! The sources of settings, and the error if one is wrong.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::config::presentable;

/// The source of a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The command line.
    Flag,
    /// This environment variable.
    Environment(String),
    /// This file.
    File(PathBuf),
    /// The default.
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

/// A setting that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingError {
    /// The setting, by the name of its flag.
    pub setting: String,
    /// The source of its value.
    pub origin: Origin,
    /// Its value, if it was text.
    pub value: Option<String>,
    /// What would be valid.
    pub right: String,
}

impl fmt::Display for SettingError {
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
    /// The problems in the order of the settings. Never empty.
    pub problems: Vec<SettingError>,
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

/// The sources of settings other than flags.
pub(super) struct Sources<'e> {
    env: &'e dyn Fn(&str) -> Option<String>,
    file: Option<(PathBuf, toml::Table)>,
    problems: Vec<SettingError>,
    shown: Vec<(&'static str, String, Origin)>,
}

impl<'e> Sources<'e> {
    /// Reads the file, if a flag or the environment names one. Its keys must be among `names`.
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
            ConfigError { problems: vec![SettingError { setting: "config".to_owned(), origin: origin.clone(), value, right }] }
        };
        let text = std::fs::read_to_string(&path).map_err(|cause| unreadable(format!("must be a file that can be read: {cause}")))?;
        let table: toml::Table = text.parse().map_err(|cause: toml::de::Error| unreadable(format!("must be TOML: {cause}")))?;
        for key in table.keys().filter(|key| !names.contains(&key.as_str())) {
            let right = format!("unknown setting; the settings are {}", names.join(", "));
            sources.problems.push(SettingError { setting: key.clone(), origin: Origin::File(path.clone()), value: None, right });
        }
        sources.file = Some((path, table));
        Ok(sources)
    }

    /// The setting `name` from the source with the highest precedence. `None` if it is wrong, which is noted.
    pub(super) fn read<T>(
        &mut self,
        name: &'static str,
        flag: Option<String>,
        default: impl FnOnce() -> Result<String, String>,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<T> {
        match self.find(name, flag, default) {
            Ok((text, origin)) => self.keep(name, text, origin, parse),
            Err((origin, right)) => self.note(name, origin, None, right),
        }
    }

    /// Like [`Sources::read`], for a setting of many values: a repeated flag, a list in the file, or one text with commas.
    pub(super) fn read_list<T>(
        &mut self,
        name: &'static str,
        flags: Vec<String>,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Option<Vec<T>> {
        let flag = (!flags.is_empty()).then(|| flags.join(","));
        let each = |text: &str| text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(&parse).collect();
        match self.find_list(name).filter(|_| flag.is_none()) {
            Some(Ok((text, origin))) => self.keep(name, text, origin, each),
            Some(Err((origin, right))) => self.note(name, origin, None, right),
            None => self.read(name, flag, || Ok(String::new()), each),
        }
    }

    /// Whether a setting was read and is not empty.
    pub(super) fn is_given(&self, name: &str) -> bool {
        self.shown.iter().any(|row| row.0 == name && !row.1.is_empty())
    }

    /// Whether a setting is known to be wrong.
    pub(super) fn is_wrong(&self, name: &str) -> bool {
        self.problems.iter().any(|problem| problem.setting == name)
    }

    /// Notes that a setting, valid in itself, conflicts with others.
    pub(super) fn object(&mut self, name: &'static str, right: &str) {
        let found = self.shown.iter().find(|row| row.0 == name).map(|(_, value, origin)| (value.clone(), origin.clone()));
        if let Some((value, origin)) = found {
            let value = (origin != Origin::Default).then_some(value);
            self.problems.push(SettingError { setting: name.to_owned(), origin, value, right: right.to_owned() });
        }
    }

    fn keep<T>(&mut self, name: &'static str, text: String, origin: Origin, parse: impl FnOnce(&str) -> Result<T, String>) -> Option<T> {
        let parsed = parse(&text);
        let shown = presentable(&text).into_owned();
        match parsed {
            Ok(value) => {
                self.shown.push((name, shown, origin));
                Some(value)
            }
            Err(right) => self.note(name, origin, Some(shown), right),
        }
    }

    /// The settings that were read, or all that are wrong.
    pub(super) fn finish(self) -> Result<Vec<(&'static str, String, Origin)>, ConfigError> {
        if self.problems.is_empty() { Ok(self.shown) } else { Err(ConfigError { problems: self.problems }) }
    }

    /// The list that the file has under `name`, unless another source has precedence or the file has no list there.
    fn find_list(&self, name: &str) -> Option<Result<(String, Origin), (Origin, String)>> {
        if (self.env)(&variable(name)).is_some_and(|text| !text.is_empty()) {
            return None;
        }
        let (path, table) = self.file.as_ref()?;
        let toml::Value::Array(values) = table.get(name)? else { return None };
        let texts: Option<Vec<&str>> = values.iter().map(toml::Value::as_str).collect();
        let origin = Origin::File(path.clone());
        Some(match texts {
            Some(texts) => Ok((texts.join(","), origin)),
            None => Err((origin, "must be a list of texts, or one text with commas".to_owned())),
        })
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
        // An empty variable counts as absent: in a shell, that is how to unset one for a command.
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
        self.problems.push(SettingError { setting: setting.to_owned(), origin, value, right });
        None
    }
}

/// The environment variable of a setting.
fn variable(name: &str) -> String {
    format!("RAILGATE_{}", name.replace('-', "_").to_uppercase())
}
