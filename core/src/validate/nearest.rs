//! Which of some names was probably meant.

/// Sorts `names` by how similar they are to `text`, the most similar first: the fewest edits, less what both begin with, since who
/// mistypes the end of a name wants one that begins the same.
pub(crate) fn nearest(text: &str, names: &mut [String]) {
    names.sort_by_cached_key(|name| {
        let common = text.bytes().zip(name.bytes()).take_while(|(a, b)| a == b).count();
        (edits(text.as_bytes(), name.as_bytes()).saturating_add(text.len()).saturating_sub(common), name.len())
    });
}

/// The Levenshtein distance of two texts, in bytes.
fn edits(from: &[u8], to: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (done, a) in from.iter().enumerate() {
        // The value above and to the left of the next one.
        let mut corner = done;
        let mut left = done + 1;
        for (cell, b) in row.iter_mut().skip(1).zip(to) {
            let replaced = corner + usize::from(a != b);
            corner = *cell;
            left = replaced.min(corner + 1).min(left + 1);
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = done + 1;
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
}
