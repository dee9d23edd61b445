//! How a kind of record is declared, and all that follows from it. The declarations are in [`tables`](super::tables).

use super::column::Kind;

/// What is said of a kind as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flag {
    /// Only a server writes it: no sandbox has such a record, and none loads what reads it.
    Server,
    /// It is replaced by its `version`, which is a field.
    Versioned,
    /// It changes only by posts.
    Posted,
    /// Its type is declared elsewhere.
    Elsewhere,
}

/// What is said of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// It is of the primary key.
    Key,
    /// It is of the further unique key, and never changes. A row that has NULL there has no such key.
    Unique,
    /// It never changes.
    Fixed,
    /// What does not fit it is refused beforehand.
    Checked,
    /// Nothing.
    Plain,
}

/// One line of a declaration: the columns of one value.
pub(crate) struct Line {
    pub(crate) names: &'static [&'static str],
    pub(crate) kinds: &'static [Kind],
    pub(crate) nullable: bool,
    pub(crate) role: Role,
}

/// A table, for who writes SQL.
pub(crate) struct Spec {
    /// Its name.
    pub(crate) name: &'static str,
    pub(crate) lines: &'static [Line],
    pub(crate) flags: &'static [Flag],
}

/// What is to be known of a table's rows without a name: where in them what stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    /// The number of the kind in a journal. Never used for another.
    pub(crate) code: u8,
    /// How many columns the primary key has: the first ones.
    pub(crate) key: u8,
    /// The columns of the further unique key, one bit each.
    pub(crate) unique: u32,
    /// The columns that never change.
    pub(crate) fixed: u32,
    /// It changes only by posts.
    pub(crate) posted: bool,
}

/// Whether it is among them.
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
    /// Of a table with these lines.
    pub(crate) const fn of(code: u8, lines: &[Line], flags: &[Flag]) -> Self {
        let mut layout = Self { code, key: 0, unique: 0, fixed: 0, posted: has(flags, Flag::Posted) };
        let (mut line, mut column) = (0, 0u8);
        while line < lines.len() {
            let width = lines[line].names.len() as u8;
            let set = ((1 << width) - 1) << column;
            match lines[line].role {
                Role::Key => layout.key += width,
                Role::Unique => (layout.unique, layout.fixed) = (layout.unique | set, layout.fixed | set),
                Role::Fixed => layout.fixed |= set,
                Role::Checked | Role::Plain => {}
            }
            column += width;
            line += 1;
        }
        layout
    }
}

/// The place of the column of this name among all. Asked for what is not there, it does not compile.
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

/// Declares kinds of records. Of each: its name as a variant, its type, the name of its table and its number in a journal,
/// flags, the look-up by its further unique key if there is one, and its fields in the order of their columns, those of the
/// primary key first. A field has the column of its name, or that behind `=>`; several fields of one line are one column
/// together. In brackets is what its [`Role`] is.
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

        /// Look-ups by a unique key that is not the primary one.
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub enum Unique { $($(
            #[doc = concat!("A [`", stringify!($record), "`] by", $(" ", $("`", stringify!($uf), "` "),+),+, "(unique).")]
            $unique($($($ut),+),+),
        )?)* }

        /// Each table's lines.
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
                        role: Role::Key,
                    },)+
                    $(Line {
                        names: tables!(@names [$($($col)+)?] $($f)+),
                        kinds: <($($t),+) as Column>::KINDS,
                        nullable: <($($t),+) as Column>::NULLABLE,
                        role: tables!(@role $($role)?),
                    },)*
                ];
            )*
        }

        impl RecordKind {
            /// Every one, in order.
            pub const ALL: &'static [RecordKind] = &[$(RecordKind::$variant,)*];
            /// Its name, which is that of its table.
            pub const fn as_str(self) -> &'static str { match self { $(Self::$variant => $name,)* } }
            /// The kind of a name.
            pub fn from_name(name: &str) -> Option<Self> { match name { $($name => Some(Self::$variant),)* _ => None } }

            /// The columns of its table.
            pub(crate) const fn lines(self) -> &'static [Line] { match self { $(Self::$variant => lines::$variant,)* } }

            /// Its table.
            pub(crate) const fn spec(self) -> Spec {
                match self { $(Self::$variant => Spec { name: $name, lines: lines::$variant, flags: &[$(Flag::$flag),*] },)* }
            }

            /// How its rows are laid out.
            pub(crate) fn layout(self) -> &'static Layout {
                static LAYOUTS: &[Layout] = &[$(Layout::of($code, lines::$variant, &[$(Flag::$flag),*])),*];
                &LAYOUTS[self as usize]
            }
        }

        impl Record {
            /// Its primary key.
            #[allow(clippy::clone_on_copy, unused_parens, reason = "a key of one field is no tuple, and some are not copied")]
            pub fn key(&self) -> Key { match self { $(Record::$variant(r) => Key::$variant(($($(r.$kf.clone()),+),+)),)* } }
            /// Its kind.
            pub const fn kind(&self) -> RecordKind { match self { $(Record::$variant(_) => RecordKind::$variant,)* } }
            /// The version by which it is replaced, of the kinds that have one.
            pub fn version(&self) -> Option<u32> { match self { $(Record::$variant(r) => tables!(@version r $($flag)*),)* } }

            /// Gives its columns to a sink, its key first. A program without a `SERVER` has only what a sandbox writes.
            pub(crate) fn bind<const SERVER: bool, S: Sink>(&self, sink: &mut S) -> Bound<S> {
                match self {
                    $(Record::$variant(r) if SERVER || !const { has(&[$(Flag::$flag),*], Flag::Server) } => r.bind(sink),)*
                    $(Record::$variant(_))|* => Err(S::failed(serde::ser::Error::custom("no sandbox has such a record"))),
                }
            }

            /// Reads a row, all its columns in order.
            pub(crate) fn read<const SERVER: bool, C: Source>(kind: RecordKind, source: &mut C) -> Read<Record> {
                match kind {
                    $(RecordKind::$variant if SERVER || !const { has(&[$(Flag::$flag),*], Flag::Server) } => $record::read(source).map(Record::$variant),)*
                    $(RecordKind::$variant)|* => source.bad("what a sandbox has"),
                }
            }

            /// Why no store takes it as it is.
            pub(crate) fn refusal(&self) -> Option<&'static str> { match self { $(Record::$variant(r) => r.refusal(),)* } }
        }

        impl Key {
            /// The kind of what it is the key of.
            pub const fn kind(&self) -> RecordKind { match self { $(Key::$variant(_) => RecordKind::$variant,)* } }

            /// Gives its columns to a sink.
            #[allow(unused_parens, reason = "a key of one field is no tuple")]
            pub(crate) fn bind<S: Sink>(&self, sink: &mut S) -> Bound<S> {
                match self { $(Key::$variant(($($($kf),+),+)) => { $(tables!(@put sink $($kf)+);)+ Ok(()) })* }
            }

            /// Reads it, its columns in order.
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
            /// The kind of what it looks up.
            pub(crate) const fn kind(&self) -> RecordKind {
                match self { $($(Unique::$unique(..) => tables!(@kind $variant $($($uf)+)+),)?)* }
            }

            /// Gives its columns to a sink.
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
                /// Gives its columns to a sink, its key first.
                pub(crate) fn bind<S: Sink>(&self, sink: &mut S) -> Bound<S> {
                    let $record { $($($kf,)+)+ $($($f,)+)* } = self;
                    $(tables!(@put sink $($kf)+);)+
                    $(tables!(@put sink $($f)+);)*
                    Ok(())
                }

                /// Reads a row, all its columns in order.
                pub(crate) fn read<C: Source>(source: &mut C) -> Read<Self> {
                    $(let ($($kf),+) = <($($kt),+) as Column>::read(source)?;)+
                    $(let ($($f),+) = <($($t),+) as Column>::read(source)?;)*
                    Ok($record { $($($kf,)+)+ $($($f,)+)* })
                }

                /// Why no store takes it as it is.
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

    (@version $r:ident Versioned $($rest:ident)*) => { Some($r.version) };
    (@version $r:ident $flag:ident $($rest:ident)*) => { tables!(@version $r $($rest)*) };
    (@version $r:ident) => {{ let _ = $r; None }};

    (@names [] $f:ident) => { &[stringify!($f)] };
    (@names [$($col:ident)+] $($f:ident)+) => { &[$(stringify!($col)),+] };

    (@role) => { Role::Plain };
    (@role unique) => { Role::Unique };
    (@role fixed) => { Role::Fixed };
    (@role checked) => { Role::Checked };

    (@kind $variant:ident $($f:ident)+) => { RecordKind::$variant };

    (@put $sink:ident $f:ident) => { Column::put($f, $sink)? };
    (@put $sink:ident $($f:ident)+) => { Column::put(&($(*$f),+), $sink)? };

    (@refusal $f:ident) => { Column::refusal($f) };
    (@refusal $($f:ident)+) => { Column::refusal(&($(*$f),+)) };

    (@checked [] $($f:ident)+) => { None };
    (@checked [$role:ident] $($f:ident)+) => { tables!(@refusal $($f)+) };
}
pub(crate) use tables;
