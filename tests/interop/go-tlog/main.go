// go-tlog audits a railgate log with third-party code: the notes and the tree of Go's checksum database.
//
//	go-tlog -log FOLDER|URL -key VKEY [-old CHECKPOINT [-consistency HASHES]] [-proof PROOF -event HEX]
//
// Below FOLDER or URL it expects `checkpoint` and `tile/...` as specified by c2sp.org/tlog-tiles. It opens the checkpoint,
// recomputes its root from all entries, and compares every tile with the recomputed one. With -old it checks that the log
// continues the history of an earlier checkpoint, by a proof that it makes itself and, with -consistency, by one
// from the log (base64, one hash per line). With -proof it checks that the event with this hash is in the log, according
// to a c2sp.org/tlog-proof.
//
// Every successful step is printed as one line of JSON. The first failed one is printed with the reason, and the
// exit status is 1.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type line struct {
	Step  string `json:"step"`
	Size  int64  `json:"size"`
	Root  string `json:"root,omitempty"`
	Index *int64 `json:"index,omitempty"`
	Error string `json:"error,omitempty"`
}

func main() {
	where := flag.String("log", "", "the log's folder or URL")
	key := flag.String("key", "", "its verifier key")
	old := flag.String("old", "", "the file of an earlier checkpoint")
	consistency := flag.String("consistency", "", "the file of a consistency proof from -old")
	proof := flag.String("proof", "", "the file of a proof")
	event := flag.String("event", "", "the hash of the proof's event, in hex")
	flag.Parse()
	step, err := audit(*where, *key, *old, *consistency, *proof, *event)
	if err != nil {
		step.Error = err.Error()
		say(step)
		os.Exit(1)
	}
}

func say(step line) {
	// Encoding these fields cannot fail; only writing can, and then nobody reads the output.
	_ = json.NewEncoder(os.Stdout).Encode(step)
}

// audit runs all steps and prints each successful one; it returns the one that failed.
func audit(where, key, old, consistency, proof, event string) (line, error) {
	verifier, err := note.NewVerifier(key)
	if err != nil {
		return line{Step: "key"}, err
	}
	files := newFiles(where)
	step := line{Step: "checkpoint"}
	text, err := files.read("checkpoint")
	if err != nil {
		return step, err
	}
	tree, err := openCheckpoint(text, verifier)
	if err != nil {
		return step, err
	}
	step.Size, step.Root = tree.N, tree.Hash.String()
	say(step)

	step = line{Step: "leaves", Size: tree.N}
	own, err := readLeaves(files, tree.N)
	if err != nil {
		return step, err
	}
	root, err := tlog.TreeHash(tree.N, own)
	if err != nil {
		return step, err
	}
	if root != tree.Hash {
		return step, errors.New("the leaves make another root than the checkpoint's")
	}
	step.Root = root.String()
	say(step)

	// From here on every hash of the tree is known and verified against the root.
	step = line{Step: "tiles", Size: tree.N}
	if err := checkTiles(files, tree.N, own); err != nil {
		return step, err
	}
	say(step)

	if old != "" {
		if step, err = continues(own, tree, verifier, old, consistency); err != nil {
			return step, err
		}
		say(step)
	}
	if proof != "" {
		if step, err = includes(own, tree, verifier, proof, event); err != nil {
			return step, err
		}
		say(step)
	}
	return line{}, nil
}

// readLeaves computes all hashes of the tree from the log's entries.
func readLeaves(files files, size int64) (hashes, error) {
	var tree hashes
	for start := int64(0); start < size; start += width {
		entries, err := readBundle(files, start, size)
		if err != nil {
			return nil, err
		}
		for i, entry := range entries {
			more, err := tlog.StoredHashes(start+int64(i), entry, tree)
			if err != nil {
				return nil, err
			}
			tree = append(tree, more...)
		}
	}
	return tree, nil
}

// checkTiles compares every tile of a log of this size with the one computed from its entries.
//
// tlog.TileHashReader is for clients that have not read the whole log, and checks less: before x/mod 0.40 it accepts some
// tiles unchecked (CVE-2026-56865), and later versions need a newer Go than that of Debian 12.
func checkTiles(files files, size int64, own hashes) error {
	for _, tile := range tlog.NewTiles(height, 0, size) {
		served, err := files.read(tilePath(tile))
		if err != nil {
			return err
		}
		made, err := tlog.ReadTileData(tile, own)
		if err != nil {
			return err
		}
		if !bytes.Equal(served, made) {
			return fmt.Errorf("%s is not what the entries make it", tilePath(tile))
		}
	}
	return nil
}

// continues checks that the log continues the history of an earlier checkpoint.
func continues(own hashes, tree tlog.Tree, verifier note.Verifier, old, consistency string) (line, error) {
	step := line{Step: "consistency"}
	text, err := os.ReadFile(old)
	if err != nil {
		return step, err
	}
	earlier, err := openCheckpoint(text, verifier)
	if err != nil {
		return step, err
	}
	step.Size, step.Root = earlier.N, earlier.Hash.String()
	if err := checkContinues(own, tree, earlier); err != nil {
		return step, err
	}
	// From the empty tree there is nothing to prove.
	if consistency == "" || earlier.N == 0 {
		return step, nil
	}
	path, err := readHashes(consistency)
	if err != nil {
		return step, err
	}
	return step, tlog.CheckTree(path, tree.N, tree.Hash, earlier.N, earlier.Hash)
}

func checkContinues(own hashes, tree, earlier tlog.Tree) error {
	// The empty tree is a prefix of every tree, and has one root.
	if earlier.N == 0 {
		empty, err := tlog.TreeHash(0, own)
		if err == nil && earlier.Hash != empty {
			err = errors.New("a checkpoint of no leaves has another root than that of none")
		}
		return err
	}
	if earlier.N > tree.N {
		return fmt.Errorf("a checkpoint is of %d leaves, and the log has %d", earlier.N, tree.N)
	}
	path, err := tlog.ProveTree(tree.N, earlier.N, own)
	if err != nil {
		return err
	}
	return tlog.CheckTree(path, tree.N, tree.Hash, earlier.N, earlier.Hash)
}

// includes checks a proof, and that the log continues the history of the proof's checkpoint.
func includes(own hashes, tree tlog.Tree, verifier note.Verifier, file, event string) (line, error) {
	step := line{Step: "inclusion"}
	text, err := os.ReadFile(file)
	if err != nil {
		return step, err
	}
	proof, err := parseProof(text)
	if err != nil {
		return step, err
	}
	then, err := openCheckpoint(proof.checkpoint, verifier)
	if err != nil {
		return step, err
	}
	step.Size, step.Index = then.N, &proof.index
	leaf, err := proof.leaf(event)
	if err != nil {
		return step, err
	}
	if err := tlog.CheckRecord(proof.path, then.N, then.Hash, proof.index, leaf); err != nil {
		return step, err
	}
	return step, checkContinues(own, tree, then)
}
