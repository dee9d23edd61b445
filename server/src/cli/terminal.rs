//! What a command writes, and how it looks: plain when piped, coloured on a terminal, never more than `NO_COLOR` allows.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};

use anstyle::{AnsiColor, Style};
use comfy_table::{Attribute, Cell, CellAlignment, Color, ContentArrangement, LineStyle, Table, TableStyle};

use super::failure::{Done, Failure};

/// Lines are laid out for this width where the terminal does not tell its own.
const DEFAULT_WIDTH: u16 = 100;
/// Wider lines are hard to read.
const MAX_WIDTH: u16 = 132;

/// Headings underlined, nothing else: easy to read, easy to cut.
const LOOK: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─'));

/// Text without what moves a cursor, turns a line's direction or cannot be seen; each such character becomes a mark.
pub(crate) fn printable(text: &str) -> String {
    let unseen = |c: char| {
        c.is_control()
            || matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    text.chars().map(|c| if unseen(c) { '\u{fffd}' } else { c }).collect()
}

/// What a piece of text means. The colours follow from it, so that one meaning looks the same everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Nothing special.
    Plain,
    /// Done, agreed.
    Good,
    /// Refused, wrong.
    Bad,
    /// Not known, look here.
    Warn,
    /// On its way.
    Moving,
    /// Given back.
    Back,
    /// What the line is about.
    Strong,
    /// There when needed.
    Dim,
}

impl Tone {
    /// The tone of a settlement's, reversal's or attempt's state, by its wire name. Unknown names stay plain: a newer
    /// server may have more.
    pub(crate) fn of_state(name: &str) -> Self {
        match name {
            "completed" => Self::Good,
            "failed" | "declined" | "not_sent" => Self::Bad,
            "unknown" => Self::Warn,
            "accepted" | "submitted" | "started" => Self::Moving,
            "reversed" | "partially_reversed" | "returned" | "cancelled" => Self::Back,
            _ => Self::Plain,
        }
    }

    fn style(self) -> Style {
        let color = |color: AnsiColor| color.on_default();
        match self {
            Self::Plain => Style::new(),
            Self::Good => color(AnsiColor::Green),
            Self::Bad => color(AnsiColor::Red).bold(),
            Self::Warn => color(AnsiColor::Yellow),
            Self::Moving => color(AnsiColor::Cyan),
            Self::Back => color(AnsiColor::Magenta),
            Self::Strong => Style::new().bold(),
            Self::Dim => Style::new().dimmed(),
        }
    }

    /// The same look for a table's cell. (`Dark…` is what comfy-table calls the eight basic colours.)
    pub(crate) fn cell(self, text: impl Display) -> Cell {
        let cell = Cell::new(text);
        match self {
            Self::Plain => cell,
            Self::Good => cell.fg(Color::DarkGreen),
            Self::Bad => cell.fg(Color::DarkRed).add_attribute(Attribute::Bold),
            Self::Warn => cell.fg(Color::DarkYellow),
            Self::Moving => cell.fg(Color::DarkCyan),
            Self::Back => cell.fg(Color::DarkMagenta),
            Self::Strong => cell.add_attribute(Attribute::Bold),
            Self::Dim => cell.add_attribute(Attribute::Dim),
        }
    }
}

/// A cell with a number: decimals stand under each other.
pub(crate) fn number(text: impl Display) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
}

/// Puts these columns' headings over their numbers.
pub(crate) fn align_right(table: &mut Table, columns: impl IntoIterator<Item = usize>) {
    for column in columns {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

/// Standard output as it was found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terminal {
    colored: bool,
    /// `None` where no person reads: in a pipe or a file a row stays one line.
    columns: Option<u16>,
}

impl Terminal {
    /// Looks at standard output and the environment.
    pub(crate) fn detect() -> Self {
        let is_terminal = io::stdout().is_terminal();
        let columns = is_terminal.then(|| Table::new().width().unwrap_or(DEFAULT_WIDTH).clamp(60, MAX_WIDTH));
        Self { colored: is_terminal && colors_wanted(), columns }
    }

    /// The same, where what is written is laid out for people wherever it goes.
    pub(crate) fn laid_out(&self) -> Self {
        Self { columns: Some(self.width()), ..*self }
    }

    /// How wide a line may be.
    pub(crate) fn width(&self) -> u16 {
        self.columns.unwrap_or(DEFAULT_WIDTH)
    }

    /// `text` in its tone.
    pub(crate) fn paint(&self, tone: Tone, text: impl Display) -> String {
        if !self.colored || tone == Tone::Plain {
            return text.to_string();
        }
        let style = tone.style();
        format!("{style}{text}{style:#}")
    }

    /// An empty table in the house style, with these headings.
    pub(crate) fn table(&self, headings: &[&str]) -> Table {
        let mut table = self.bare_table();
        table.set_header(headings.iter().map(|heading| Tone::Dim.cell(heading)).collect::<Vec<_>>());
        self.pad(&mut table);
        table
    }

    /// A table of two columns, names and values, without headings.
    pub(crate) fn card(&self, rows: Vec<(&str, Cell)>) -> Table {
        let mut table = self.bare_table();
        for (name, value) in rows {
            table.add_row(vec![Tone::Dim.cell(name), value]);
        }
        self.pad(&mut table);
        table
    }

    fn bare_table(&self) -> Table {
        let mut table = Table::new();
        table.load_style(LOOK);
        match self.columns {
            Some(columns) => table.set_content_arrangement(ContentArrangement::Dynamic).set_width(columns),
            None => table.set_content_arrangement(ContentArrangement::Disabled),
        };
        // Whether there are colours was decided once, in `detect`; the table is not to ask again.
        table.force_no_tty();
        if self.colored {
            table.enforce_styling();
        }
        table.style_text_only();
        table
    }

    fn pad(&self, table: &mut Table) {
        for column in table.column_iter_mut() {
            column.set_padding((0, 2));
        }
    }

    /// Writes a line to standard output.
    pub(crate) fn line(&self, text: impl Display) -> Done {
        writeln!(io::stdout().lock(), "{text}").map_err(Failure::from)
    }

    /// Writes a table, without blanks at the lines' ends.
    pub(crate) fn show(&self, table: &Table) -> Done {
        self.line(table.trim_fmt())
    }

    /// Writes bytes as they are.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Done {
        let mut out = io::stdout().lock();
        out.write_all(bytes)?;
        out.flush()?;
        Ok(())
    }

    /// Writes a JSON document as it came, and ends its line.
    pub(crate) fn json(&self, document: &[u8]) -> Done {
        let mut out = io::stdout().lock();
        out.write_all(document.trim_ascii_end())?;
        out.write_all(b"\n")?;
        out.flush()?;
        Ok(())
    }
}

/// Tells something beside the output, on standard error. A closed standard error is no reason to stop.
pub(crate) fn note(text: impl Display) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Tells why the command stops.
pub(crate) fn complain(failure: &super::failure::Reason) {
    let label = "error:";
    if io::stderr().is_terminal() && colors_wanted() {
        let style = Tone::Bad.style();
        note(format_args!("{style}{label}{style:#} {}", failure.message()));
    } else {
        note(format_args!("{label} {}", failure.message()));
    }
    for line in failure.below() {
        note(line);
    }
}

/// <https://no-color.org>, and terminals that cannot.
fn colors_wanted() -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}
