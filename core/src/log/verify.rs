//! Verifies proofs (RFC 9162, sections 2.1.3.2 and 2.1.4.2). Every input has a result, however malformed.

use super::{Hash, empty_root, node_hash};

/// Whether `path` proves that the leaf with this hash is at `index` in the tree of `size` leaves with the root `root`.
///
/// The path confirms only the shape of the tree, which several sizes share: `size` must come together with the root from a source
/// that vouches for both, such as a signed checkpoint.
#[must_use]
pub fn verify_inclusion(leaf_hash: &Hash, index: u64, size: u64, path: &[Hash], root: &Hash) -> bool {
    if index >= size {
        return false;
    }
    // The position within the level, and the level's last position.
    let (mut at, mut last) = (index, size - 1);
    let mut node = *leaf_hash;
    for other in path {
        if last == 0 {
            return false;
        }
        if at & 1 == 1 || at == last {
            node = node_hash(other, &node);
            // At the right edge, a node without a sibling takes the place of its parent.
            up(&mut at, &mut last);
        } else {
            node = node_hash(&node, other);
        }
        (at, last) = (at >> 1, last >> 1);
    }
    last == 0 && node == *root
}

/// Whether `path` proves that the tree of `new` leaves with the root `new_root` starts with the tree of `old` leaves with the root
/// `old_root`. Every tree starts with the empty tree, whose root is [`empty_root`].
///
/// As with [`verify_inclusion`], the sizes must come with the roots from a source that vouches for them.
#[must_use]
pub fn verify_consistency(old: u64, new: u64, old_root: &Hash, new_root: &Hash, path: &[Hash]) -> bool {
    if old >= new {
        return old == new && path.is_empty() && old_root == new_root;
    }
    if old == 0 {
        return path.is_empty() && *old_root == empty_root();
    }
    let (mut at, mut last) = (old - 1, new - 1);
    let skipped = at.trailing_ones();
    (at, last) = (at >> skipped, last >> skipped);
    // A complete old tree is a node of the new one, and the verifier already has it.
    let (first, rest) = match path.split_first() {
        _ if old.is_power_of_two() => (old_root, path),
        Some(parts) => parts,
        None => return false,
    };
    let (mut old_node, mut new_node) = (*first, *first);
    for other in rest {
        if last == 0 {
            return false;
        }
        if at & 1 == 1 || at == last {
            old_node = node_hash(other, &old_node);
            new_node = node_hash(other, &new_node);
            up(&mut at, &mut last);
        } else {
            new_node = node_hash(&new_node, other);
        }
        (at, last) = (at >> 1, last >> 1);
    }
    last == 0 && old_node == *old_root && new_node == *new_root
}

/// Moves up to the level at which the node is a right child.
fn up(at: &mut u64, last: &mut u64) {
    // Zero is not a right child on any level.
    let levels = if *at == 0 { 0 } else { at.trailing_zeros() };
    (*at, *last) = (*at >> levels, *last >> levels);
}
