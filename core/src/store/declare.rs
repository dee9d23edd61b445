//! How a kind of record is declared, and everything derived from the declaration. The declarations are in
//! [`tables`](super::tables).

use super::column::Kind;

/// A property of a kind of record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flag {
    /// Only a server writes it: no sandbox has such a record, and no sandbox loads the code that reads it.
    Server,
    /// It has a `version` field, which guards its replacement.
    Versioned,
    /// Only posts change it.
    Posted,
    /// Its type is declared elsewhere.
    Elsewhere,
    /// It is about the processes that use the store, and not about the gateway: a copy leaves it out.
    Local,
}

/// The role of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Part of the primary key.
    Key,
    /// Part of the further unique key, which never changes. A row with NULL there has no such key.
    Unique,
    /// It never changes.
    Fixed,
    /// Values that do not fit are refused before they are written.
    Checked,
    /// It came after the first release, and may be NULL: rows of a journal end before it where it is, as they did before.
    Later,
    /// No special role.
    Plain,
}

/// One line of a declaration: the columns of one value.
pub(crate) struct Line {
    pub(crate) names: &'static [&'static str],
    pub(crate) kinds: &'static [Kind],
    pub(crate) nullable: bool,
    /// Whether a journal leaves it out where it is NULL, at the end of a row.
    pub(crate) later: bool,
    pub(crate) role: Role,
}

/// A table, as the code that writes SQL needs it.
pub(crate) struct Spec {
    /// The table's name.
    pub(crate) name: &'static str,
    pub(crate) lines: &'static [Line],
    pub(crate) flags: &'static [Flag],
}

/// The positions of special columns in a table's rows, without names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    /// The number of the kind in a journal. Never reused.
    pub(crate) code: u8,
    /// The number of columns in the primary key, which come first.
    pub(crate) key: u8,
    /// The number of all columns.
    pub(crate) columns: u8,
    /// How many of them, at the end, a journal leaves out where they are NULL.
    pub(crate) later: u8,
    /// The columns of the further unique key, one bit per column.
    pub(crate) unique: u32,
    /// The columns that never change, one bit per column.
    pub(crate) fixed: u32,
    /// Only posts change it.
    pub(crate) posted: bool,
}

/// Whether `flags` contains `wanted`.
pub(crate) const fn has(flags: &[Flag], wanted: Flag) -> bool {
    let mut at = 0;
    while at < flags.len() {
        if flags[at] as u8 == wanted as u8 {
            return true;
        }
        at += 1;
    }
    false
}

impl Layout {
    /// The layout of a table with these lines.
    pub(crate) const fn of(code: u8, lines: &[Line], flags: &[Flag]) -> Self {
        let mut layout = Self { code, key: 0, columns: 0, later: 0, unique: 0, fixed: 0, posted: has(flags, Flag::Posted) };
        let (mut line, mut column) = (0, 0u8);
        while line < lines.len() {
            let width = lines[line].names.len() as u8;
            let set = ((1 << width) - 1) << column;
            match lines[line].role {
                Role::Key => layout.key += width,
                Role::Unique => (layout.unique, layout.fixed) = (layout.unique | set, layout.fixed | set),
                Role::Fixed => layout.fixed |= set,
                Role::Checked | Role::Later | Role::Plain => {}
            }
            layout.later = if lines[line].later || matches!(lines[line].role, Role::Later) { layout.later + width } else { 0 };
            column += width;
            line += 1;
        }
        layout.columns = column;
        layout
    }
}

/// The index of the column with this name. Does not compile if there is none.
pub(crate) const fn place(lines: &[Line], name: &str) -> u8 {
    let (mut line, mut column) = (0, 0);
    while line < lines.len() {
        let mut at = 0;
        while at < lines[line].names.len() {
            if same(lines[line].names[at].as_bytes(), name.as_bytes()) {
                return column;
            }
            column += 1;
            at += 1;
        }
        line += 1;
    }
    panic!("there is no such column")
}

const fn same(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let mut at = 0;
    while at < one.len() {
        if one[at] != other[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// Declares kinds of records. Each declaration consists of a variant name, a type, the name of the table and its number in a
/// journal, flags, the look-up by the further unique key if there is one, and the fields in column order, those of the primary key
/// first. A field uses the column with its name, or the one after `=>`; several fields on one line share one column. Square
/// brackets contain its [`Role`].
macro_rules! tables {
    ($(
        $(#[$meta:meta])*
        $variant:ident($record:ident) $name:literal = $code:literal $($flag:ident)*
        $(, find $unique:ident $(($($uf:ident: $ut:ty),+))+)?
        {
            key { $($($(#[$kdoc:meta])* $kf:ident: $kt:ty),+ $(=> $($kcol:ident)+)? ;)+ }
            $($($(#[$doc:meta])* $f:ident: $t:ty),+ $(=> $($col:ident)+)? $([$role:ident])? ;)*
        }
    )*) => {
        $(tables! { @record [$($flag)*]
            $(#[$meta])*
            #[derive(Debug, Clone, PartialEq, Eq)]
            pub struct $record {
                $($($(#[$kdoc])* pub $kf: $kt,)+)+
                $($($(#[$doc])* pub $f: $t,)+)*
            }
        })*

        /// A kind of record.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum RecordKind { $(#[doc = concat!("Of a [`", stringify!($record), "`].")] $variant,)* }

        /// Any record, with its primary key.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum Record { $(#[doc = concat!("See [`", stringify!($record), "`].")] $variant($record),)* }

        /// The primary key of a record.
        #[allow(unused_parens, reason = "a key of one field is no tuple")]
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Key { $(#[doc = concat!("Of a [`", stringify!($record), "`].")] $variant(($($($kt),+),+)),)* }

        /// A unique key other than the primary key, for look-ups.
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub enum Unique { $($(
            #[doc = concat!("A [`", stringify!($record), "`] by", $(" ", $("`", stringify!($uf), "` "),+),+, "(unique).")]
            $unique($($($ut),+),+),
        )?)* }

        /// The lines of each table.
        mod lines {
            #[allow(unused_imports, reason = "of what is declared")]
            use super::*;
            $(
                #[allow(non_upper_case_globals, unused_parens, reason = "named as the kind; a value of one field is no tuple")]
                pub(super) const $variant: &[Line] = &[
                    $(Line {
                        names: tables!(@names [$($($kcol)+)?] $($kf)+),
                        kinds: <($($kt),+) as Column>::KINDS,
                        nullable: <($($kt),+) as Column>::NULLABLE,
                        later: false,
                        role: Role::Key,
                    },)+
                    $(Line {
                        names: tables!(@names [$($($col)+)?] $($f)+),
                        kinds: <($($t),+) as Column>::KINDS,
                        nullable: <($($t),+) as Column>::NULLABLE,
                        later: <($($t),+) as Column>::LATER,
                        role: tables!(@role $($role)?),
                    },)*
                ];
            )*
        }

        impl RecordKind {
            /// Every kind, in order.
            pub const ALL: &'static [RecordKind] = &[$(RecordKind::$variant,)*];
            /// The name of the kind, which is also the name of its table.
            pub const fn as_str(self) -> &'static str { match self { $(Self::$variant => $name,)* } }
            /// The kind with this name; `None` if there is none.
            pub fn from_name(name: &str) -> Option<Self> { match name { $($name => Some(Self::$variant),)* _ => None } }

            /// The column declarations of its table.
            pub(crate) const fn lines(self) -> &'static [Line] { match self { $(Self::$variant => lines::$variant,)* } }

            /// The declaration of its table.
            pub(crate) const fn spec(self) -> Spec {
                match self { $(Self::$variant => Spec { name: $name, lines: lines::$variant, flags: &[$(Flag::$flag),*] },)* }
            }

            /// The layout of its rows.
            pub(crate) fn layout(self) -> &'static Layout {
                static LAYOUTS: &[Layout] = &[$(Layout::of($code, lines::$variant, &[$(Flag::$flag),*])),*];
                &LAYOUTS[self as usize]
            }
        }

        impl Record {
            /// The record's primary key.
            #[allow(clippy::clone_on_copy, unused_parens, reason = "a key of one field is no tuple, and some are not copied")]
            pub fn key(&self) -> Key { match self { $(Record::$variant(r) => Key::$variant(($($(r.$kf.clone()),+),+)),)* } }
            /// The record's kind.
            pub const fn kind(&self) -> RecordKind { match self { $(Record::$variant(_) => RecordKind::$variant,)* } }
            /// The version that guards its replacement; `None` for kinds without one.
            pub fn version(&self) -> Option<u32> { match self { $(Record::$variant(r) => tables!(@version r $($flag)*),)* } }

            /// Writes its columns to a sink, the key first. A program without `SERVER` supports only the kinds that a sandbox
            /// writes.
            pub(crate) fn bind<const SERVER: bool, S: Sink>(&self, sink: &mut S) -> Bound<S> {
                match self {
                    $(Record::$variant(r) if SERVER || !const { has(&[$(Flag::$flag),*], Flag::Server) } => r.bind(sink),)*
                    $(Record::$variant(_))|* => Err(S::failed(serde::ser::Error::custom("no sandbox has such a record"))),
                }
            }

            /// Reads a row with all its columns, in order.
            pub(crate) fn read<const SERVER: bool, C: Source>(kind: RecordKind, source: &mut C) -> Read<Record> {
                match kind {
                    $(RecordKind::$variant if SERVER || !const { has(&[$(Flag::$flag),*], Flag::Server) } => $record::read(source).map(Record::$variant),)*
                    $(RecordKind::$variant)|* => source.bad("a record that a sandbox has"),
                }
            }

            /// Why no store accepts this record.
            pub(crate) fn refusal(&self) -> Option<&'static str> { match self { $(Record::$variant(r) => r.refusal(),)* } }
        }

        impl Key {
            /// The kind of record that it is the key of.
            pub const fn kind(&self) -> RecordKind { match self { $(Key::$variant(_) => RecordKind::$variant,)* } }

            /// Writes its columns to a sink.
            #[allow(unused_parens, reason = "a key of one field is no tuple")]
            pub(crate) fn bind<S: Sink>(&self, sink: &mut S) -> Bound<S> {
                match self { $(Key::$variant(($($($kf),+),+)) => { $(tables!(@put sink $($kf)+);)+ Ok(()) })* }
            }

            /// Reads a key, its columns in order.
            #[allow(unused_parens, reason = "a key of one field is no tuple")]
            pub(crate) fn read<C: Source>(kind: RecordKind, source: &mut C) -> Read<Key> {
                match kind { $(RecordKind::$variant => {
                    $(let ($($kf),+) = <($($kt),+) as Column>::read(source)?;)+
                    Ok(Key::$variant(($($($kf),+),+)))
                })* }
            }

            /// Why no record can have it.
            #[allow(unused_parens, reason = "a key of one field is no tuple")]
            pub(crate) fn refusal(&self) -> Option<&'static str> {
                match self { $(Key::$variant(($($($kf),+),+)) => None$(.or_else(|| tables!(@refusal $($kf)+)))+,)* }
            }
        }

        impl Unique {
            /// The kind of record that it looks up.
            pub(crate) const fn kind(&self) -> RecordKind {
                match self { $($(Unique::$unique(..) => tables!(@kind $variant $($($uf)+)+),)?)* }
            }

            /// Writes its columns to a sink.
            pub(crate) fn bind<S: Sink>(&self, sink: &mut S) -> Bound<S> {
                match self { $($(Unique::$unique($($($uf),+),+) => { $(tables!(@put sink $($uf)+);)+ Ok(()) })?)* }
            }

            /// Why no record can have it.
            pub(crate) fn refusal(&self) -> Option<&'static str> {
                match self { $($(Unique::$unique($($($uf),+),+) => None$(.or_else(|| tables!(@refusal $($uf)+)))+,)?)* }
            }
        }

        $(
            impl From<$record> for Record { fn from(record: $record) -> Self { Record::$variant(record) } }

            impl TryFrom<Record> for $record {
                type Error = Record;
                fn try_from(record: Record) -> Result<Self, Record> {
                    if let Record::$variant(inner) = record { Ok(inner) } else { Err(record) }
                }
            }

            #[allow(unused_parens, reason = "a value of one field is no tuple")]
            impl $record {
                /// Writes its columns to a sink, the key first.
                pub(crate) fn bind<S: Sink>(&self, sink: &mut S) -> Bound<S> {
                    let $record { $($($kf,)+)+ $($($f,)+)* } = self;
                    $(tables!(@put sink $($kf)+);)+
                    $(tables!(@put sink $($f)+);)*
                    Ok(())
                }

                /// Reads a row with all its columns, in order.
                pub(crate) fn read<C: Source>(source: &mut C) -> Read<Self> {
                    $(let ($($kf),+) = <($($kt),+) as Column>::read(source)?;)+
                    $(let ($($f),+) = <($($t),+) as Column>::read(source)?;)*
                    Ok($record { $($($kf,)+)+ $($($f,)+)* })
                }

                /// Why no store accepts this record.
                #[allow(unused_variables, reason = "of what is not checked")]
                fn refusal(&self) -> Option<&'static str> {
                    let $record { $($($kf,)+)+ $($($f,)+)* } = self;
                    None$(.or_else(|| tables!(@refusal $($kf)+)))+$(.or_else(|| tables!(@checked [$($role)?] $($f)+)))*
                }
            }
        )*
    };

    (@record [Elsewhere $($rest:ident)*] $($item:tt)*) => {};
    (@record [$flag:ident $($rest:ident)*] $($item:tt)*) => { tables! { @record [$($rest)*] $($item)* } };
    (@record [] $($item:tt)*) => { $($item)* };

    (@version $r:ident Versioned $($rest:ident)*) => { Some(u32::from($r.version)) };
    (@version $r:ident $flag:ident $($rest:ident)*) => { tables!(@version $r $($rest)*) };
    (@version $r:ident) => {{ let _ = $r; None }};

    (@names [] $f:ident) => { &[stringify!($f)] };
    (@names [$($col:ident)+] $($f:ident)+) => { &[$(stringify!($col)),+] };

    (@role) => { Role::Plain };
    (@role unique) => { Role::Unique };
    (@role fixed) => { Role::Fixed };
    (@role checked) => { Role::Checked };
    (@role later) => { Role::Later };

    (@kind $variant:ident $($f:ident)+) => { RecordKind::$variant };

    (@put $sink:ident $f:ident) => { Column::put($f, $sink)? };
    (@put $sink:ident $($f:ident)+) => { Column::put(&($(*$f),+), $sink)? };

    (@refusal $f:ident) => { Column::refusal($f) };
    (@refusal $($f:ident)+) => { Column::refusal(&($(*$f),+)) };

    (@checked [] $($f:ident)+) => { None };
    (@checked [$role:ident] $($f:ident)+) => { tables!(@refusal $($f)+) };
}
pub(crate) use tables;
