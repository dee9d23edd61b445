//! Comma-separated values (RFC 4180), as spreadsheets open them.

/// A row of CSV (RFC 4180).
pub(crate) fn write_cells(out: &mut String, cells: &[&str]) {
    for (n, cell) in cells.iter().enumerate() {
        if n > 0 {
            out.push(',');
        }
        write_cell(out, cell);
    }
    out.push_str("\r\n");
}

/// A spreadsheet takes a cell for a formula if it begins like one; an apostrophe in front makes it a text. Numbers stay numbers. Many
/// take a semicolon or a tab for the end of a cell, and then a quotation mark within for an ordinary character: what follows one of these,
/// or the end of a line, is guarded like the beginning.
fn write_cell(out: &mut String, cell: &str) {
    let is_quoted = cell.contains([',', '"', '\n', '\r']);
    if is_quoted {
        out.push('"');
    }
    for part in cell.split_inclusive([';', '\t', '\n', '\r']) {
        if may_be_formula(part) {
            out.push('\'');
        }
        out.push_str(&part.replace('"', "\"\""));
    }
    if is_quoted {
        out.push('"');
    }
}

fn may_be_formula(part: &str) -> bool {
    part.starts_with(['=', '+', '-', '@', '\t', '\r']) && !is_number(part)
}

/// Whether it is a decimal number, with nothing around it.
fn is_number(cell: &str) -> bool {
    let digits = cell.strip_prefix(['-', '+']).unwrap_or(cell);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    [whole, fraction].iter().all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_where_they_must() {
        let mut out = String::new();
        for cell in ["plain", "a,b", "say \"hi\"", "two\nlines", ""] {
            write_cell(&mut out, cell);
            out.push('|');
        }
        assert_eq!(out, "plain|\"a,b\"|\"say \"\"hi\"\"\"|\"two\nlines\"||");
    }

    #[test]
    fn no_cell_is_a_formula() {
        let written = |cell: &str| {
            let mut out = String::new();
            write_cell(&mut out, cell);
            out
        };
        for cell in ["=1+1", "+1+1", "-1+1", "-", "+.5", "-1.", "@SUM(A1)", "=\u{301}"] {
            assert_eq!(written(cell), format!("'{cell}"));
        }
        assert_eq!(written("=HYPERLINK(\"x\",1)"), "\"'=HYPERLINK(\"\"x\"\",1)\"");
        assert_eq!(written("\t=1"), "'\t'=1");
        assert_eq!(written("\r=1"), "\"'\r'=1\"");
        // Where a semicolon or a tab ends a cell, too.
        assert_eq!(written("a;=1+1;b"), "a;'=1+1;b");
        assert_eq!(written("a\t@SUM(A1)"), "a\t'@SUM(A1)");
        assert_eq!(written("a,b;=\"x\"\r\n+1-1"), "\"a,b;'=\"\"x\"\"\r\n'+1-1\"");
        for cell in ["-12.50", "+254700000001", "-7", "12", "a=b", "'=1", " =1", "a; b", "a;-1"] {
            assert_eq!(written(cell), cell);
        }
    }
}
