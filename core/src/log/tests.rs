//! The tree compared with the recursive definitions of RFC 6962, and the checks against everything that is not a proof.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::convert::Infallible;

use proptest::prelude::*;
use sha2::{Digest, Sha256};

use super::*;

/// The rows in memory; counts the reads.
#[derive(Default)]
struct Memory {
    rows: BTreeMap<(u8, u64), Vec<u8>>,
    size: u64,
    reads: Cell<usize>,
}

impl Tiles for Memory {
    type Error = Infallible;

    fn tile(&self, level: u8, index: u64) -> Result<Option<Vec<u8>>, Infallible> {
        self.reads.set(self.reads.get() + 1);
        Ok(self.rows.get(&(level, index)).cloned())
    }
}

impl Memory {
    fn append(&mut self, leaves: &[[u8; 32]]) {
        let appended = append(self, self.size, leaves).unwrap();
        self.size = appended.size;
        self.rows.extend(appended.rows.into_iter().map(|row| ((row.level, row.index), row.bytes)));
    }

    fn of(leaves: &[[u8; 32]]) -> Self {
        let mut memory = Self::default();
        memory.append(leaves);
        memory
    }
}

fn leaf(n: u64) -> [u8; 32] {
    Sha256::digest(n.to_be_bytes()).into()
}

fn leaves(count: u64) -> Vec<[u8; 32]> {
    (0..count).map(leaf).collect()
}

/// RFC 6962, section 2.1, taken literally, over the hashes of the leaves.
mod rfc {
    use super::{Hash, empty_root, node_hash};

    fn k(n: usize) -> usize {
        (0..).map(|power| 1 << power).take_while(|k| *k < n).last().unwrap()
    }

    pub(super) fn mth(d: &[Hash]) -> Hash {
        match d {
            [] => empty_root(),
            [leaf] => *leaf,
            _ => node_hash(&mth(&d[..k(d.len())]), &mth(&d[k(d.len())..])),
        }
    }

    pub(super) fn path(m: usize, d: &[Hash]) -> Vec<Hash> {
        if d.len() == 1 {
            return vec![];
        }
        let (left, right) = d.split_at(k(d.len()));
        let (mut path, other) = if m < left.len() { (path(m, left), right) } else { (path(m - left.len(), right), left) };
        path.push(mth(other));
        path
    }

    pub(super) fn proof(m: usize, d: &[Hash], whole: bool) -> Vec<Hash> {
        if m == d.len() {
            return if whole { vec![] } else { vec![mth(d)] };
        }
        let (left, right) = d.split_at(k(d.len()));
        let (mut proof, other) = if m <= left.len() { (proof(m, left, whole), right) } else { (proof(m - left.len(), right, false), left) };
        proof.push(mth(other));
        proof
    }

    /// The side of each other hash, from the leaf upwards: all that a path reveals about the size.
    pub(super) fn sides(m: u64, n: u64) -> Vec<bool> {
        if n == 1 {
            return vec![];
        }
        let k = 1 << (n - 1).ilog2();
        let (mut sides, left) = if m < k { (sides(m, k), false) } else { (sides(m - k, n - k), true) };
        sides.push(left);
        sides
    }
}

fn hashes(leaves: &[[u8; 32]]) -> Vec<Hash> {
    leaves.iter().map(|leaf| leaf_hash(leaf)).collect()
}

fn hex(text: &str) -> Vec<u8> {
    text.as_bytes().chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

/// The leaves and roots used to test the first implementations of RFC 6962.
const REFERENCE: [(&str, &str); 8] = [
    ("", "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"),
    ("00", "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"),
    ("10", "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77"),
    ("2021", "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7"),
    ("3031", "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4"),
    ("40414243", "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef"),
    ("5051525354555657", "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c"),
    ("606162636465666768696a6b6c6d6e6f", "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"),
];

#[test]
fn the_reference_tree_has_its_roots_and_its_proofs_verify() {
    assert_eq!(empty_root().to_vec(), hex("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"));
    let leaves: Vec<Hash> = REFERENCE.iter().map(|(data, _)| leaf_hash(&hex(data))).collect();
    let roots: Vec<Hash> = (1..=8).map(|size| rfc::mth(&leaves[..size])).collect();
    for (root, (_, expected)) in roots.iter().zip(REFERENCE) {
        assert_eq!(root.to_vec(), hex(expected));
    }
    for size in 1..=8 {
        for at in 0..size {
            let path = rfc::path(at, &leaves[..size]);
            assert!(verify_inclusion(&leaves[at], at as u64, size as u64, &path, &roots[size - 1]));
            let path = rfc::proof(at + 1, &leaves[..size], true);
            assert!(verify_consistency(at as u64 + 1, size as u64, &roots[at], &roots[size - 1], &path));
        }
    }
}

#[test]
fn proofs_up_to_300_leaves_are_those_of_the_rfc_and_verify() {
    let leaves = leaves(300);
    let (tiles, hashes) = (Memory::of(&leaves), hashes(&leaves));
    let roots: Vec<Hash> = (0..=300).map(|size| root(&tiles, size).unwrap()).collect();
    for size in 0..=300usize {
        assert_eq!(roots[size], rfc::mth(&hashes[..size]));
        let n = size as u64;
        // Every proof of the small trees and around the first full tile; one in thirty-seven for the others.
        let every = size <= 48 || (255..=257).contains(&size) || size == 300;
        for other in (0..size).filter(|other| every || (size + other).is_multiple_of(37)) {
            let (at, old) = (other as u64, other as u64);
            let path = inclusion(&tiles, at, n).unwrap();
            assert!(verify_inclusion(&hashes[other], at, n, &path, &roots[size]), "leaf {at} of {n}");
            let change = consistency(&tiles, old, n).unwrap();
            assert!(verify_consistency(old, n, &roots[other], &roots[size], &change), "{old} to {n}");
            assert_eq!(path, rfc::path(other, &hashes[..size]));
            assert_eq!(change, if other == 0 { vec![] } else { rfc::proof(other, &hashes[..size], true) });
        }
        assert_eq!(consistency(&tiles, n, n).unwrap(), Vec::<Hash>::new());
        assert!(verify_consistency(n, n, &roots[size], &roots[size], &[]));
    }
}

#[test]
fn a_tree_of_many_tiles_is_that_of_the_rfc() {
    let all = leaves(66_000);
    let hashes = hashes(&all);
    let mut tiles = Memory::default();
    for batch in all.chunks(7_001) {
        tiles.append(batch);
    }
    for size in [255, 256, 257, 511, 512, 65_279, 65_280, 65_535, 65_536, 65_537, 65_791, 65_792, 65_793, 66_000] {
        let (n, part) = (size as u64, &hashes[..size]);
        let now = rfc::mth(part);
        assert_eq!(root(&tiles, n).unwrap(), now);
        for at in [0, 200, 254, size - 1] {
            assert!(verify_inclusion(&hashes[at], at as u64, n, &inclusion(&tiles, at as u64, n).unwrap(), &now));
        }
        for old in [1, 255, size / 2, size - 1] {
            let path = consistency(&tiles, old as u64, n).unwrap();
            assert!(verify_consistency(old as u64, n, &rfc::mth(&hashes[..old]), &now, &path));
        }
    }
    // What the specification of tiles requires for a size: here 257 full tiles and one of 208 entries below.
    let mut rows: BTreeMap<u8, Vec<usize>> = BTreeMap::new();
    for ((level, _), bytes) in &tiles.rows {
        rows.entry(*level).or_default().push(bytes.len() / 32);
    }
    assert_eq!(rows[&0], [vec![256; 257], vec![208]].concat());
    assert_eq!(rows[&1], [256, 1]);
    assert_eq!(rows[&2], [1]);
    assert_eq!(rows.len(), 3);
}

#[test]
fn an_append_reads_the_right_edge_and_writes_what_is_new() {
    let mut tiles = Memory::of(&leaves(65_535));
    tiles.reads.set(0);
    let appended = append(&tiles, tiles.size, &leaves(1)).unwrap();
    assert_eq!(tiles.reads.get(), 3);
    let written: Vec<_> = appended.rows.iter().map(|row| (row.level, row.index, row.bytes.len() / 32)).collect();
    assert_eq!(written, [(0, 255, 256), (1, 0, 256), (2, 0, 1)]);
    tiles.append(&leaves(1));
    tiles.reads.set(0);
    let appended = append(&tiles, tiles.size, &leaves(1)).unwrap();
    assert_eq!((appended.rows.len(), tiles.reads.get()), (1, 1));
    assert_eq!(append(&tiles, tiles.size, &[]).unwrap(), Appended { size: 65_536, rows: vec![] });
    // The new root is known before anything is stored.
    let before = root(&appended.over(&tiles), appended.size).unwrap();
    tiles.append(&leaves(1));
    assert_eq!(root(&tiles, tiles.size).unwrap(), before);
}

#[test]
fn rows_that_are_not_those_of_the_size_are_named() {
    let mut tiles = Memory::of(&leaves(700));
    assert_eq!(root(&tiles, 701), Err(TreeError::Short { level: 0, index: 2, bytes: 188 * 32, needed: 189 * 32 }));
    assert_eq!(inclusion(&tiles, 700, 700), Err(TreeError::Beyond { asked: 700, size: 700 }));
    assert_eq!(consistency(&tiles, 701, 700), Err(TreeError::Beyond { asked: 701, size: 700 }));
    assert_eq!(append(&tiles, 699, &leaves(1)), Err(TreeError::Ahead { level: 0, index: 2, bytes: 188 * 32, expected: 187 * 32 }));
    assert_eq!(append(&tiles, 512, &leaves(1)), Err(TreeError::Ahead { level: 0, index: 2, bytes: 188 * 32, expected: 0 }));
    assert_eq!(append(&tiles, 701, &leaves(1)), Err(TreeError::Short { level: 0, index: 2, bytes: 188 * 32, needed: 189 * 32 }));
    assert_eq!(append(&tiles, u64::MAX, &leaves(1)), Err(TreeError::Beyond { asked: 1, size: u64::MAX }));
    assert_eq!(append(&tiles, (1 << 32) + 256, &leaves(256)), Err(TreeError::Missing { level: 1, index: 1 << 16 }));
    tiles.rows.remove(&(1, 0));
    assert_eq!(root(&tiles, 700), Err(TreeError::Missing { level: 1, index: 0 }));
    assert_eq!(inclusion(&tiles, 0, 256).map(|path| path.len()), Ok(8));
    assert!(root(&tiles, u64::MAX).is_err());
    assert!(inclusion(&tiles, u64::MAX - 1, u64::MAX).is_err());
    assert!(consistency(&tiles, u64::MAX - 1, u64::MAX).is_err());
    // A truncated last entry does not count as an entry.
    tiles.rows.get_mut(&(0, 2)).unwrap().pop();
    assert!(matches!(append(&tiles, 700, &leaves(1)), Err(TreeError::Short { level: 0, index: 2, .. })));
}

/// Each way to change one bit in some hashes.
fn tampered(path: &[Hash]) -> impl Iterator<Item = Vec<Hash>> {
    (0..path.len() * 256).map(|bit| {
        let mut path = path.to_vec();
        path[bit / 256][bit / 8 % 32] ^= 1 << (bit % 8);
        path
    })
}

#[test]
fn a_changed_proof_of_inclusion_fails() {
    let leaves = leaves(600);
    let (tiles, hashes) = (Memory::of(&leaves), hashes(&leaves));
    for (index, size) in [(0u64, 1u64), (0, 2), (2, 3), (4, 7), (6, 7), (0, 256), (255, 257), (256, 257), (300, 600), (599, 600)] {
        let (leaf, root) = (hashes[index as usize], root(&tiles, size).unwrap());
        let path = inclusion(&tiles, index, size).unwrap();
        assert!(verify_inclusion(&leaf, index, size, &path, &root));
        for path in tampered(&path) {
            assert!(!verify_inclusion(&leaf, index, size, &path, &root));
        }
        for changed in tampered(&[leaf, root]) {
            let [changed_leaf, changed_root] = changed[..] else { unreachable!() };
            assert!(!verify_inclusion(&changed_leaf, index, size, &path, &changed_root));
        }
        for bit in 0..64 {
            assert!(!verify_inclusion(&leaf, index ^ (1 << bit), size, &path, &root), "{index} of {size}, bit {bit}");
            // Only the checkpoint can refuse another size of the same shape; every other size fails here.
            let other = size ^ (1 << bit);
            let same = index < other && rfc::sides(index, other) == rfc::sides(index, size);
            assert_eq!(verify_inclusion(&leaf, index, other, &path, &root), same, "{index} of {size}, bit {bit}");
        }
        let (longer, shorter) = ([path.as_slice(), &[leaf]].concat(), path.split_last().map(|(_, path)| path));
        assert!(!verify_inclusion(&leaf, index, size, &longer, &root));
        assert!(shorter.is_none_or(|path| !verify_inclusion(&leaf, index, size, path, &root)));
    }
}

#[test]
fn a_changed_proof_of_consistency_fails() {
    let tiles = Memory::of(&leaves(600));
    for (old, new) in [(1u64, 2u64), (2, 3), (3, 7), (4, 7), (6, 8), (255, 256), (256, 257), (257, 600), (300, 512), (599, 600)] {
        let (old_root, new_root) = (root(&tiles, old).unwrap(), root(&tiles, new).unwrap());
        let path = consistency(&tiles, old, new).unwrap();
        assert!(verify_consistency(old, new, &old_root, &new_root, &path));
        for path in tampered(&path) {
            assert!(!verify_consistency(old, new, &old_root, &new_root, &path));
        }
        for changed in tampered(&[old_root, new_root]) {
            let [changed_old, changed_new] = changed[..] else { unreachable!() };
            assert!(!verify_consistency(old, new, &changed_old, &changed_new, &path));
        }
        for bit in 0..64 {
            // The sides seen from the last old leaf are all that the path reveals about the sizes.
            let shape = |old: u64, new: u64| {
                let last = (old - 1).trailing_ones() as usize;
                (old.is_power_of_two(), rfc::sides(old - 1, new).into_iter().skip(last).collect::<Vec<_>>())
            };
            let (other_old, other_new) = (old ^ (1 << bit), new ^ (1 << bit));
            if verify_consistency(other_old, new, &old_root, &new_root, &path) {
                assert_eq!(shape(other_old, new), shape(old, new), "{old} to {new}, bit {bit}");
            }
            if verify_consistency(old, other_new, &old_root, &new_root, &path) {
                assert_eq!(shape(old, other_new), shape(old, new), "{old} to {new}, bit {bit}");
            }
        }
        let longer = [path.as_slice(), &[old_root]].concat();
        assert!(!verify_consistency(old, new, &old_root, &new_root, &longer));
        let (_, shorter) = path.split_last().unwrap();
        assert!(!verify_consistency(old, new, &old_root, &new_root, shorter));
    }
    let (three, five) = (root(&tiles, 3).unwrap(), root(&tiles, 5).unwrap());
    assert!(!verify_consistency(5, 3, &five, &three, &consistency(&tiles, 3, 5).unwrap()));
    assert!(!verify_consistency(3, 3, &three, &five, &[]));
    assert!(!verify_consistency(3, 3, &three, &three, &[three]));
    assert!(verify_consistency(0, 3, &empty_root(), &three, &[]));
    assert!(!verify_consistency(0, 3, &five, &three, &[]));
    assert!(!verify_consistency(0, 3, &empty_root(), &three, &[three]));
}

#[test]
fn tiles_and_bundles_are_those_of_the_specification() {
    let leaves = leaves(70_000);
    let (tiles, hashes) = (Memory::of(&leaves), hashes(&leaves));
    let served = |path: &str| serve(&tiles, &TilePath::parse(path).unwrap()).unwrap();
    assert_eq!(served("tile/0/000"), hashes[..256].as_flattened());
    assert_eq!(served("tile/0/273.p/112"), hashes[69_888..].as_flattened());
    assert_eq!(served("tile/0/273.p/1"), hashes[69_888]);
    assert_eq!(served("tile/1/001.p/17")[16 * 32..], rfc::mth(&hashes[(256 + 16) * 256..][..256]));
    assert_eq!(served("tile/2/000.p/1"), rfc::mth(&hashes[..65_536]));
    let bundle: Vec<u8> = leaves[69_888..69_890].iter().flat_map(|leaf| [&[0, 32], leaf.as_slice()].concat()).collect();
    assert_eq!(served("tile/entries/273.p/2"), bundle);
    assert_eq!(served("tile/entries/272").len(), 256 * 34);
    let refused = |path: &str| serve(&tiles, &TilePath::parse(path).unwrap()).unwrap_err();
    assert_eq!(refused("tile/0/274.p/1"), TreeError::Missing { level: 0, index: 274 });
    assert_eq!(refused("tile/0/273"), TreeError::Short { level: 0, index: 273, bytes: 112 * 32, needed: 8192 });
    assert_eq!(refused("tile/63/000"), TreeError::Missing { level: 63, index: 0 });
}

#[test]
fn a_size_has_the_tiles_of_the_specification() {
    let within = |path: &str, size| TilePath::parse(path).unwrap().is_within(size);
    for path in ["tile/0/272", "tile/0/273.p/112", "tile/1/000", "tile/1/001.p/17", "tile/2/000.p/1", "tile/entries/273.p/112"] {
        assert!(within(path, 70_000), "{path}");
    }
    for path in ["tile/0/273", "tile/0/273.p/113", "tile/1/001.p/18", "tile/2/000.p/2", "tile/3/000.p/1", "tile/entries/274.p/1"] {
        assert!(!within(path, 70_000), "{path}");
    }
    assert!(within("tile/0/000", 256) && within("tile/1/000.p/1", 256) && !within("tile/1/000.p/1", 255));
    assert!(within("tile/7/000.p/255", u64::MAX) && !within("tile/8/000.p/1", u64::MAX));
    assert!(!within("tile/0/x018/x446/x744/x073/x709/x551/615", u64::MAX));
}

#[test]
fn a_path_has_one_spelling() {
    for (path, kind, index, width) in [
        ("tile/0/000", TileKind::Hashes(0), 0, 256),
        ("tile/1/x001/x234/067", TileKind::Hashes(1), 1_234_067, 256),
        ("tile/63/x018/x446/x744/x073/x709/x551/615.p/255", TileKind::Hashes(63), u64::MAX, 255),
        ("tile/entries/x001/000.p/1", TileKind::Entries, 1000, 1),
    ] {
        let read = TilePath::parse(path).unwrap();
        assert_eq!((read.kind(), read.index(), read.width(), read.is_full()), (kind, index, width, width == 256));
        assert_eq!(read.to_string(), path);
    }
    for path in [
        "",
        "tile/",
        "/tile/0/000",
        "tile/0",
        "tile/0/",
        "tile/0/0",
        "tile/0/00",
        "tile/0/0000",
        "tile/0/000/",
        "tile/0/x000/000",
        "tile/0/x001/0",
        "tile/0/x001",
        "tile/0/001/000",
        "tile/0/x1/000",
        "tile/0/+00",
        "tile/0/-01",
        "tile/0/00 ",
        "tile/0/0\u{661}0",
        "tile/00/000",
        "tile/01/000",
        "tile/+1/000",
        "tile/64/000",
        "tile/256/000",
        "tile/entry/000",
        "tile/Entries/000",
        "tile/0/000.p/0",
        "tile/0/000.p/01",
        "tile/0/000.p/+1",
        "tile/0/000.p/256",
        "tile/0/000.p/257",
        "tile/0/000.p/65537",
        "tile/0/000.p/",
        "tile/0/000.p/1.p/1",
        "tile/0/000.p/1/",
        "tile/0/x018/x446/x744/x073/x709/x551/616",
        "tile/0/x001/x018/x446/x744/x073/x709/x551/615",
        "tile/8/0/000",
    ] {
        assert_eq!(TilePath::parse(path), None, "{path:?}");
    }
    assert_eq!(TilePath::new(TileKind::Hashes(64), 0, 1), None);
    assert_eq!(TilePath::new(TileKind::Entries, 0, 0), None);
    assert_eq!(TilePath::new(TileKind::Entries, 0, 257), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn batches_make_no_difference(batches in prop::collection::vec(0u64..600, 0..8), at in any::<prop::sample::Index>()) {
        let total: u64 = batches.iter().sum();
        let leaves = leaves(total);
        let mut tiles = Memory::default();
        let mut rest = leaves.as_slice();
        for batch in batches {
            let (these, others) = rest.split_at(batch as usize);
            tiles.append(these);
            rest = others;
        }
        prop_assert_eq!(&tiles.rows, &Memory::of(&leaves).rows);
        let hashes = hashes(&leaves);
        let size = at.index(total as usize + 1);
        prop_assert_eq!(root(&tiles, size as u64).unwrap(), rfc::mth(&hashes[..size]));
        if size > 0 {
            let index = at.index(size);
            prop_assert_eq!(inclusion(&tiles, index as u64, size as u64).unwrap(), rfc::path(index, &hashes[..size]));
            prop_assert_eq!(consistency(&tiles, size as u64, total).unwrap(), rfc::proof(size, &hashes, true));
        }
    }

    #[test]
    fn the_checks_have_an_answer_to_anything(
        a in prop_oneof![any::<u64>(), 0u64..9, (u64::MAX - 9)..=u64::MAX],
        b in prop_oneof![any::<u64>(), 0u64..9, (u64::MAX - 9)..=u64::MAX],
        hashes in prop::collection::vec(any::<Hash>(), 0..70),
    ) {
        let made_up = [7; 32];
        prop_assert!(!verify_inclusion(&made_up, a, b, &hashes, &[8; 32]));
        prop_assert!(!verify_consistency(a, b, &made_up, &[8; 32], &hashes));
    }

    #[test]
    fn a_path_reads_back(level in 0u8..64, bundle: bool, index: u64, width in 1u16..=256) {
        let kind = if bundle { TileKind::Entries } else { TileKind::Hashes(level) };
        let path = TilePath::new(kind, index, width).unwrap();
        prop_assert_eq!(TilePath::parse(&path.to_string()), Some(path));
    }

    #[test]
    fn any_text_is_read_without_harm(text in "(tile/)?[0-9x/.pentris]{0,40}") {
        if let Some(path) = TilePath::parse(&text) {
            prop_assert_eq!(path.to_string(), text);
        }
    }
}
