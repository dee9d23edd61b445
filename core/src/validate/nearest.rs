//! Which of some names was probably meant.

/// How many similar names a message has.
const MOST: usize = 3;

/// Finds the names that are most similar to a text: those with the fewest edits, less what both begin with, since who mistypes the end
/// of a name wants one that begins the same.
pub(crate) struct Nearest<'a> {
    text: &'a str,
    /// The best so far, with their distances, the nearest first.
    found: [(usize, String); MOST],
}

impl<'a> Nearest<'a> {
    /// Of this text.
    pub(crate) fn to(text: &'a str) -> Self {
        Self { text, found: [const { (usize::MAX, String::new()) }; MOST] }
    }

    /// A name that may have been meant, in two parts.
    pub(crate) fn offer(&mut self, prefix: &str, name: &str) {
        let mut name = [prefix, name].concat();
        let common = self.text.bytes().zip(name.bytes()).take_while(|(a, b)| a == b).count();
        // Of two names, the shorter one.
        let mut distance = (edits(self.text.as_bytes(), name.as_bytes()) + self.text.len() - common) * 256 + name.len();
        for (known, place) in &mut self.found {
            if distance < *known {
                std::mem::swap(known, &mut distance);
                std::mem::swap(place, &mut name);
            }
        }
    }

    /// The nearest, the most similar first.
    pub(crate) fn found(self) -> [String; MOST] {
        self.found.map(|(_, name)| name)
    }
}

/// The Levenshtein distance of two texts, in bytes.
fn edits(from: &[u8], to: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (done, a) in from.iter().enumerate() {
        // The value above and to the left of the next one.
        let (mut corner, mut left) = (done, done + 1);
        for (at, cell) in row.iter_mut().enumerate() {
            let replaced = corner + usize::from(at == 0 || to.get(at - 1) != Some(a));
            corner = *cell;
            left = replaced.min(corner + 1).min(left + 1);
            *cell = left;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted() {
        for (a, b, expected) in
            [("", "", 0), ("", "abc", 3), ("abc", "", 3), ("kitten", "sitting", 3), ("flaw", "lawn", 2), ("ok", "ok", 0)]
        {
            assert_eq!(edits(a.as_bytes(), b.as_bytes()), expected, "{a} {b}");
        }
    }

    #[test]
    fn the_nearest_come_first() {
        let mut nearest = Nearest::to("decline-account_close");
        for name in ["ok", "decline-over_limit", "decline-account_closed", "decline-account_blocked", "decline-other"] {
            nearest.offer("", name);
        }
        assert_eq!(nearest.found(), ["decline-account_closed", "decline-account_blocked", "decline-other"]);
    }
}
