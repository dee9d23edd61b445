//! Every input that is kept, and many that differ from one in some bytes, through what reads input of strangers.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use railgate_tests::fuzz::TARGETS;

/// How many variations of each kept input are tried.
const VARIATIONS: u64 = 400;

/// The next of a fixed sequence of numbers (SplitMix64).
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A copy with some bytes changed, removed, added or repeated.
fn varied(input: &[u8], seed: u64) -> Vec<u8> {
    let (mut bytes, mut state) = (input.to_vec(), seed);
    for _ in 0..=next(&mut state) % 4 {
        let at = usize::try_from(next(&mut state)).unwrap() % (bytes.len() + 1);
        match next(&mut state) % 5 {
            0 if at < bytes.len() => bytes[at] = next(&mut state).to_le_bytes()[0],
            1 if at < bytes.len() => bytes[at] ^= 1 << (next(&mut state) % 8),
            2 if at < bytes.len() => drop(bytes.remove(at)),
            3 => bytes.truncate(at),
            _ => bytes.insert(at, b"0\"{}[],:.-\n\xff"[usize::try_from(next(&mut state) % 12).unwrap()]),
        }
    }
    bytes
}

#[test]
fn what_strangers_send_is_read_or_refused() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    for (name, target) in TARGETS {
        let mut kept: Vec<_> = fs::read_dir(corpus.join(name)).unwrap().map(|entry| entry.unwrap().path()).collect();
        kept.sort();
        assert!(!kept.is_empty(), "{name} has no corpus");
        for (n, path) in (0..).zip(&kept) {
            let input = fs::read(path).unwrap();
            target(&input);
            (0..VARIATIONS).for_each(|m| target(&varied(&input, n * VARIATIONS + m)));
        }
        println!("{name}: {} inputs, {VARIATIONS} variations of each", kept.len());
    }
}
