//! Every input that is kept, and many that differ from one in some bytes, through what reads input of strangers.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use railgate::env::{Env as _, ManualEnv};
use railgate_tests::fuzz::TARGETS;

/// How many variations of each kept input are tried.
const VARIATIONS: usize = 400;

/// A number below `most`, from a fixed sequence.
fn chance(env: &ManualEnv, most: usize) -> usize {
    let mut bytes = [0; 4];
    env.random(&mut bytes);
    u32::from_le_bytes(bytes) as usize % most
}

/// A copy with some bytes changed, removed or added, or cut off.
fn varied(input: &[u8], env: &ManualEnv) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for _ in 0..=chance(env, 4) {
        let at = chance(env, bytes.len() + 1);
        match chance(env, 5) {
            0 if at < bytes.len() => bytes[at] = chance(env, 256) as u8,
            1 if at < bytes.len() => bytes[at] ^= 1 << chance(env, 8),
            2 if at < bytes.len() => drop(bytes.remove(at)),
            3 => bytes.truncate(at),
            _ => bytes.insert(at, b"0\"{}[],:.-\n\xff"[chance(env, 12)]),
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
        let (env, mut good) = (ManualEnv::new(0, 1), 0);
        for path in &kept {
            let input = fs::read(path).unwrap();
            let accepted = target(&input);
            let is_good = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("good"));
            assert!(accepted || !is_good, "{} is not read to its end", path.display());
            good += usize::from(is_good);
            for _ in 0..VARIATIONS {
                target(&varied(&input, &env));
            }
        }
        assert!(good > 0, "nothing shows that {name} reads anything to its end");
        println!("{name}: {} inputs, {VARIATIONS} variations of each", kept.len());
    }
}
