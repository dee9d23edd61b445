//! The output of commands: plain when piped, coloured on a terminal, never more than `NO_COLOR` allows.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, IsTerminal, Write};

use anstyle::{AnsiColor, Style};
use comfy_table::{Attribute, Cell, CellAlignment, Color, ContentArrangement, LineStyle, Table, TableStyle};

use super::failure::{Done, Failure};

/// The width of lines if the terminal does not report its own.
const DEFAULT_WIDTH: u16 = 100;
/// Wider lines are hard to read.
const MAX_WIDTH: u16 = 132;

/// Only the headings are underlined: easy to read, easy to cut.
const LOOK: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─'));

/// Replaces each character that moves a cursor, changes the direction of a line or is invisible by a mark.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|c| if is_unseen(c) { '\u{fffd}' } else { c }).collect()
}

fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// What may be written to a terminal: lines with our own colours. A text of a server, a provider or another client that forgot to be
/// [`printable`] moves no cursor, sets no title and hides nothing.
fn tame(text: &str, is_colored: bool) -> Cow<'_, str> {
    let is_harmless = |c: char| matches!(c, '\n' | '\t') || !is_unseen(c);
    if text.chars().all(is_harmless) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let style = if is_colored { style_at(rest) } else { "" };
        if style.is_empty() {
            out.push(if is_harmless(c) { c } else { '\u{fffd}' });
            rest = &rest[c.len_utf8()..];
        } else {
            out.push_str(style);
            rest = &rest[style.len()..];
        }
    }
    Cow::Owned(out)
}

/// The sequence at the beginning of a text that sets a colour or a weight, as tables and [`Terminal::paint`] write it; empty if there is none.
fn style_at(text: &str) -> &str {
    let Some((codes, _)) = text.strip_prefix("\u{1b}[").and_then(|rest| rest.split_once('m')) else { return "" };
    let Ok(numbers) = codes.split(';').map(|code| if code.is_empty() { Ok(0) } else { code.parse::<u8>() }).collect::<Result<Vec<_>, _>>()
    else {
        return "";
    };
    let is_ours = matches!(numbers[..], [38, 5, _]) || numbers.iter().all(|code| matches!(code, 0..=4 | 22..=24 | 30..=37 | 39 | 90..=97));
    if is_ours { &text[..codes.len() + 3] } else { "" }
}

/// The meaning of a piece of text. Its colour follows from that, so that one meaning looks the same everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Nothing special.
    Plain,
    /// Done, agreed.
    Good,
    /// Refused, wrong.
    Bad,
    /// Unknown, or needs attention.
    Warn,
    /// In progress.
    Moving,
    /// Reversed.
    Back,
    /// The subject of the line.
    Strong,
    /// Less important.
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

    /// A table cell in this tone. (`Dark…` is what comfy-table calls the eight basic colours.)
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

/// A cell with a number, aligned right so that decimals are below each other.
pub(crate) fn number(text: impl Display) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
}

/// Aligns the headings of these columns with their numbers.
pub(crate) fn align_right(table: &mut Table, columns: impl IntoIterator<Item = usize>) {
    for column in columns {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

/// Standard output, and what it can display.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terminal {
    colored: bool,
    /// `None` if no person reads it: in a pipe or a file a row stays one line.
    columns: Option<u16>,
}

impl Terminal {
    /// Examines standard output and the environment.
    pub(crate) fn detect() -> Self {
        let is_terminal = io::stdout().is_terminal();
        let columns = is_terminal.then(|| Table::new().width().unwrap_or(DEFAULT_WIDTH).clamp(60, MAX_WIDTH));
        Self { colored: is_terminal && colors_wanted(), columns }
    }

    /// A copy that lays its output out for people, wherever it goes.
    pub(crate) fn laid_out(&self) -> Self {
        Self { columns: Some(self.width()), ..*self }
    }

    /// The greatest width of a line.
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
        // `detect` has decided whether there are colours; the table must not decide again.
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
        writeln!(io::stdout().lock(), "{}", tame(&text.to_string(), self.colored)).map_err(Failure::from)
    }

    /// Writes a table, without blanks at the ends of lines.
    pub(crate) fn show(&self, table: &Table) -> Done {
        self.line(table.trim_fmt())
    }

    /// Writes bytes unchanged.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Done {
        let mut out = io::stdout().lock();
        out.write_all(bytes)?;
        out.flush()?;
        Ok(())
    }

    /// Writes a JSON document unchanged, and ends its line.
    pub(crate) fn json(&self, document: &[u8]) -> Done {
        let mut out = io::stdout().lock();
        out.write_all(document.trim_ascii_end())?;
        out.write_all(b"\n")?;
        out.flush()?;
        Ok(())
    }
}

/// Writes a remark to standard error. A closed standard error is no reason to stop.
pub(crate) fn note(text: impl Display) {
    let is_colored = io::stderr().is_terminal() && colors_wanted();
    let _ = writeln!(io::stderr().lock(), "{}", tame(&text.to_string(), is_colored));
}

/// Reports why the command stops.
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

/// Respects <https://no-color.org>, and terminals without colours.
fn colors_wanted() -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_lines_and_our_colours_reaches_a_terminal() {
        let painted = Terminal { columns: None, colored: true }.paint(Tone::Bad, "declined");
        assert_eq!(tame(&painted, true), painted);
        assert_eq!(tame("two\nlines\tand a tab – ünïcode", false), "two\nlines\tand a tab – ünïcode");
        for hostile in ["\u{1b}]0;title\u{7}", "\u{1b}[2J", "\u{1b}[8mhidden", "\u{9b}31m", "over\rwritten", "\u{202e}desrever", "a\u{8}b"]
        {
            for is_colored in [false, true] {
                let shown = tame(hostile, is_colored);
                assert!(!shown.contains(is_unseen), "{hostile:?} is shown as {shown:?}");
            }
        }
        assert!(!tame(&painted, false).contains('\u{1b}'), "colours are for terminals that have them");
        for odd in ["\u{1b}", "\u{1b}[", "\u{1b}[31", "m\u{1b}[m", ""] {
            let _ = tame(odd, true);
        }
    }
}
