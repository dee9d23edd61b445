//! The values in a problem's message.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap as _, Serializer};

/// Values by name: a JSON object of texts. A list, since there are two or three at most, and pages load this.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Params(Vec<(Cow<'static, str>, String)>);

impl Params {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value of that name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// One value.
    pub(crate) fn one(name: &'static str, value: String) -> Self {
        Self(vec![(Cow::Borrowed(name), value)])
    }

    /// Adds a value under a new name.
    pub(crate) fn and(mut self, name: &'static str, value: String) -> Self {
        self.0.push((Cow::Borrowed(name), value));
        self
    }
}

impl FromIterator<(String, String)> for Params {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(values: I) -> Self {
        Self(values.into_iter().map(|(name, value)| (Cow::Owned(name), value)).collect())
    }
}

impl IntoIterator for Params {
    type Item = (String, String);
    type IntoIter = std::iter::Map<std::vec::IntoIter<(Cow<'static, str>, String)>, fn((Cow<'static, str>, String)) -> (String, String)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter().map(|(name, value)| (name.into_owned(), value))
    }
}

impl Serialize for Params {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Params {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Values;
        impl<'de> Visitor<'de> for Values {
            type Value = Params;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of texts")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Params, A::Error> {
                let mut values = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, String>()? {
                    values.push((Cow::Owned(name), value));
                }
                Ok(Params(values))
            }
        }
        deserializer.deserialize_map(Values)
    }
}
