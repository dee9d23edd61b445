//! Lays out bodies for people. They may come from anybody, so nothing invisible in them reaches the terminal.

use serde::de::IgnoredAny;

use crate::cli::terminal::printable;

/// Larger bodies are not laid out.
const LAID_OUT: usize = 64 << 10;

/// A body with each line indented. JSON keeps its order and its numbers as written: viewing an amount must not change it.
/// Its keys are written as `key` returns them.
pub(super) fn body(bytes: &[u8], key: impl Fn(&str) -> String) -> String {
    let Some(text) = std::str::from_utf8(bytes).ok().filter(|text| text.len() <= LAID_OUT) else {
        return format!("  ({} bytes)", bytes.len());
    };
    // This also limits the nesting depth.
    if serde_json::from_str::<IgnoredAny>(text).is_ok() {
        return json(text, key);
    }
    text.lines().map(|line| format!("  {}", printable(line))).collect::<Vec<_>>().join("\n")
}

/// Lays out a document that is known to be JSON.
fn json(text: &str, key: impl Fn(&str) -> String) -> String {
    let mut out = String::from("  ");
    let mut depth = 1;
    let mut rest = text.trim_start();
    while let Some(c) = rest.chars().next() {
        let (token, behind) = rest.split_at(if c == '"' { string(rest) } else { c.len_utf8() });
        let behind = behind.trim_start();
        match c {
            '{' | '[' if behind.starts_with(['}', ']']) => {
                out.push(c);
                out.push_str(&behind[..1]);
                rest = behind[1..].trim_start();
                continue;
            }
            '{' | '[' => {
                depth += 1;
                out.push(c);
                line(&mut out, depth);
            }
            '}' | ']' => {
                depth -= 1;
                line(&mut out, depth);
                out.push(c);
            }
            ',' => {
                out.push(c);
                line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            '"' if behind.starts_with(':') => out.push_str(&key(&printable(token))),
            _ => out.push_str(&printable(token)),
        }
        rest = behind;
    }
    out
}

fn line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}

/// The length of the string at the start of the text, quotes included.
fn string(text: &str) -> usize {
    let mut escaped = false;
    let end = text.bytes().skip(1).position(|b| {
        let ends = b == b'"' && !escaped;
        escaped = b == b'\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_laid_out_in_its_own_words() {
        let text = r#" {"b":{"amount":10.50,"e":[],"o":{ }},"a":[1,"x\"]{,: \\",null ,1E5]} "#;
        let laid_out = body(text.as_bytes(), str::to_owned);
        let plain = "  {\n    \"b\": {\n      \"amount\": 10.50,\n      \"e\": [],\n      \"o\": {}\n    },\n    \"a\": [\n      1,\n      \"x\\\"]{,: \\\\\",\n      null,\n      1E5\n    ]\n  }";
        assert_eq!(laid_out, plain);
        let same: serde_json::Value = serde_json::from_str(&laid_out).unwrap();
        assert_eq!(same, serde_json::from_str::<serde_json::Value>(text).unwrap());
    }

    #[test]
    fn nothing_of_it_reaches_the_terminal_unseen() {
        let hostile = "{\"a\":\"\u{9b}31m\u{202e}\"}";
        assert_eq!(body(hostile.as_bytes(), str::to_owned), "  {\n    \"a\": \"\u{fffd}31m\u{fffd}\"\n  }");
        assert_eq!(body(b"\x1b]0;title\x07\nno json", str::to_owned), "  \u{fffd}]0;title\u{fffd}\n  no json");
        assert_eq!(body(b"\xff\xfe", str::to_owned), "  (2 bytes)");
        let deep = "[".repeat(60_000);
        assert!(body(deep.as_bytes(), str::to_owned).len() < 61_000);
        assert_eq!(body(&vec![b'1'; LAID_OUT + 1], str::to_owned), format!("  ({} bytes)", LAID_OUT + 1));
    }
}
