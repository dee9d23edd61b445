package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// openCheckpoint parses a checkpoint (c2sp.org/tlog-checkpoint) and verifies the log's signature.
func openCheckpoint(text []byte, verifier note.Verifier) (tlog.Tree, error) {
	opened, err := note.Open(text, note.VerifierList(verifier))
	if err != nil {
		return tlog.Tree{}, err
	}
	lines := strings.Split(opened.Text, "\n")
	if len(lines) < 4 {
		return tlog.Tree{}, errors.New("the signed text is no checkpoint")
	}
	if lines[0] != verifier.Name() {
		return tlog.Tree{}, fmt.Errorf("the checkpoint is of the log %q", lines[0])
	}
	size, err := parseNumber(lines[1])
	if err != nil {
		return tlog.Tree{}, err
	}
	root, err := tlog.ParseHash(lines[2])
	return tlog.Tree{N: size, Hash: root}, err
}

// parseNumber parses a number in its canonical form.
func parseNumber(text string) (int64, error) {
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil || number < 0 || strconv.FormatInt(number, 10) != text {
		return 0, fmt.Errorf("%q is not a number", text)
	}
	return number, nil
}

// proof is a c2sp.org/tlog-proof whose extra data is the salt of the event's commitment.
type proof struct {
	salt       []byte
	index      int64
	path       []tlog.Hash
	checkpoint []byte
}

func parseProof(text []byte) (proof, error) {
	middle := bytes.Index(text, []byte("\n\n"))
	if middle < 0 {
		return proof{}, errors.New("the proof has no checkpoint")
	}
	read := proof{checkpoint: text[middle+2:]}
	lines := strings.Split(string(text[:middle]), "\n")
	if len(lines) < 3 || lines[0] != "c2sp.org/tlog-proof@v1" {
		return proof{}, errors.New("it is not a proof")
	}
	salt, found := cutPrefix(lines[1], "extra ")
	if !found {
		return proof{}, errors.New("the proof has no salt")
	}
	var err error
	if read.salt, err = base64.StdEncoding.Strict().DecodeString(salt); err != nil {
		return proof{}, err
	}
	index, found := cutPrefix(lines[2], "index ")
	if !found {
		return proof{}, errors.New("the proof has no index")
	}
	if read.index, err = parseNumber(index); err != nil {
		return proof{}, err
	}
	read.path, err = parseHashes(lines[3:])
	return read, err
}

func cutPrefix(text, prefix string) (string, bool) {
	return strings.TrimPrefix(text, prefix), strings.HasPrefix(text, prefix)
}

// leaf is the hash of the leaf for the event with this hash.
func (p proof) leaf(event string) (tlog.Hash, error) {
	hash, err := hex.DecodeString(event)
	if err != nil {
		return tlog.Hash{}, err
	}
	if len(hash) != 32 || len(p.salt) != 32 {
		return tlog.Hash{}, errors.New("the event's hash and the salt must be 32 bytes")
	}
	commitment := sha256.New()
	commitment.Write([]byte("railgate-event-v1\x00"))
	commitment.Write(p.salt)
	commitment.Write(hash)
	return tlog.RecordHash(commitment.Sum(nil)), nil
}

func readHashes(file string) ([]tlog.Hash, error) {
	text, err := os.ReadFile(file)
	if err != nil || len(text) == 0 {
		return nil, err
	}
	return parseHashes(strings.Split(strings.TrimSuffix(string(text), "\n"), "\n"))
}

func parseHashes(lines []string) ([]tlog.Hash, error) {
	hashes := make([]tlog.Hash, len(lines))
	for i, text := range lines {
		var err error
		if hashes[i], err = tlog.ParseHash(text); err != nil {
			return nil, err
		}
	}
	return hashes, nil
}
