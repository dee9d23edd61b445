package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/sumdb/tlog"
)

const (
	// The tiles of c2sp.org/tlog-tiles are eight levels of the tree high, and 256 hashes wide.
	height = 8
	width  = 1 << height
	// The longest file of a log: 256 entries with their lengths.
	longest = width * (2 + 65535)
)

// files is the location of the log's files: a folder or a URL.
type files struct {
	where  string
	remote bool
}

func newFiles(where string) files {
	remote := strings.HasPrefix(where, "http://") || strings.HasPrefix(where, "https://")
	return files{strings.TrimSuffix(where, "/"), remote}
}

func (f files) read(path string) ([]byte, error) {
	if !f.remote {
		return os.ReadFile(filepath.Join(f.where, filepath.FromSlash(path)))
	}
	answer, err := http.Get(f.where + "/" + path)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", path, answer.Status)
	}
	return io.ReadAll(io.LimitReader(answer.Body, longest+1))
}

// tilePath is the path of a tile. Go's own paths also contain the height, which is always eight here.
func tilePath(tile tlog.Tile) string {
	return strings.Replace(tile.Path(), fmt.Sprintf("tile/%d/", height), "tile/", 1)
}

// bundlePath is the path of the entries whose leaf hashes are in a tile of level 0.
func bundlePath(tile tlog.Tile) string {
	return strings.Replace(tile.Path(), fmt.Sprintf("tile/%d/%d/", height, 0), "tile/entries/", 1)
}

// hashes are the hashes of a tree, in tlog's storage order.
type hashes []tlog.Hash

func (h hashes) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	read := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		if index >= int64(len(h)) {
			return nil, fmt.Errorf("the tree has no hash %d", index)
		}
		read[i] = h[index]
	}
	return read, nil
}

// readBundle reads the entries from start to the end of their bundle in a log of this size.
func readBundle(files files, start, size int64) ([][]byte, error) {
	count := size - start
	if count > width {
		count = width
	}
	path := bundlePath(tlog.Tile{H: height, L: 0, N: start / width, W: int(count)})
	rest, err := files.read(path)
	if err != nil {
		return nil, err
	}
	var entries [][]byte
	for len(rest) > 0 {
		if len(rest) < 2 || len(rest)-2 < int(binary.BigEndian.Uint16(rest)) {
			return nil, fmt.Errorf("%s: the last entry is cut off", path)
		}
		end := 2 + int(binary.BigEndian.Uint16(rest))
		entries, rest = append(entries, rest[2:end]), rest[end:]
	}
	if int64(len(entries)) != count {
		return nil, fmt.Errorf("%s: %d entries and not %d", path, len(entries), count)
	}
	return entries, nil
}
