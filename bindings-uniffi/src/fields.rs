//! Reads the members of a JSON object, with one piece of code for all records: what serde derives for each would make up a tenth of the
//! library.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members of an object, each as its text.
pub(crate) struct Fields<'de>(Vec<(Name<'de>, &'de RawValue)>);

#[derive(serde::Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

struct AsFields;

impl<'de> Visitor<'de> for AsFields {
    type Value = Fields<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(Fields(fields))
    }
}

impl<'de> Fields<'de> {
    /// Reads an object. Only text can be read, which is all that this library reads.
    #[inline(never)]
    pub(crate) fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(AsFields)
    }

    fn text(&self, name: &str) -> Option<&'de str> {
        self.0.iter().find(|(known, _)| known.0 == name).map(|(_, value)| value.get())
    }

    /// The member of this name. One that is absent is read as null, which only an option can be.
    #[inline(never)]
    pub(crate) fn get<T: Deserialize<'de>>(&self, name: &str) -> Result<T, Unread> {
        serde_json::from_str(self.text(name).unwrap_or("null")).map_err(|error| Unread(format!("{name}: {error}")))
    }

    /// The member of this name, or the default if it is absent.
    #[inline(never)]
    pub(crate) fn get_or_default<T: Deserialize<'de> + Default>(&self, name: &str) -> Result<T, Unread> {
        self.text(name).map_or_else(|| Ok(T::default()), |_| self.get(name))
    }
}

/// Why a member could not be read.
pub(crate) struct Unread(String);

impl Unread {
    /// As the error of whoever reads the object.
    #[inline(never)]
    pub(crate) fn of<E: Error>(self) -> E {
        E::custom(self.0)
    }
}
