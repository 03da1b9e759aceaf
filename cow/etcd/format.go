package etcd

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"net/url"
	"strings"
	"time"

	"github.com/cowstore/cowstore/cow/internal/wire"
)

// Under its prefix, which ends with a slash, a store has
//
//	head              a head: which version is the latest
//	rows/TABLE/KEY    a row; TABLE is escaped as in a URL's path, KEY is as cow encodes it
//	schema            what is recorded of the tables
//	writers/REPLICA   a receipt: what the last group of that replica was
//
// A group of commits is one transaction, which writes its rows, the head and its
// receipt. It happens if both the head and the receipt are the ones that its replica knows, so
// that removing the receipt calls it off; before its first group a replica writes a receipt of
// none. Each value ends with a CRC32C of its key, without the prefix, and itself. Numbers are
// varints.

// format is the version of all this. Format 1 had no schema: the first replica that opens a
// store of it writes one, and the head as it was in this format. From then on a replica of
// format 1 has no turn, as its head is not there, and refuses what is.
const format = 2

const (
	headKey   = "head"
	rowsDir   = "rows/"
	schemaKey = "schema"
	writers   = "writers/"
)

var (
	errSum     = errors.New("its checksum is wrong")
	errForeign = errors.New("there is no such key")
)

// tableDir returns the directory of the rows of a table.
func tableDir(name string) string { return rowsDir + url.PathEscape(name) + "/" }

// splitRow splits the key of a row into the directory of its table and the encoded key.
func splitRow(key string) (dir, row string, err error) {
	name, row, ok := strings.Cut(strings.TrimPrefix(key, rowsDir), "/")
	dir = rowsDir + name + "/"
	if !ok || !strings.HasPrefix(key, rowsDir) {
		return "", "", errForeign
	}
	if name, err := url.PathUnescape(name); err != nil || tableDir(name) != dir {
		return "", "", errForeign
	}
	return dir, row, nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func sum(key string, value []byte) uint32 {
	return crc32.Update(crc32.Checksum([]byte(key), castagnoli), castagnoli, value)
}

// seal appends the checksum to the value of a key.
func seal(key string, value []byte) []byte {
	return binary.LittleEndian.AppendUint32(value, sum(key, value))
}

const sealed = 4 // bytes

// unseal returns a value without its checksum.
func unseal(key string, value []byte) ([]byte, error) {
	n := len(value) - sealed
	if n < 0 {
		return nil, wire.ErrTooShort
	}
	if sum(key, value[:n]) != binary.LittleEndian.Uint32(value[n:]) {
		return nil, errSum
	}
	return value[:n:n], nil
}

// A head is the latest version, and which group of which replica made it. No two are
// ever equal, so that a transaction that is guarded by one happens at most once.
type head struct {
	lineage string
	version uint64
	at      int64  // the time of the version, in ns since 1970
	writer  string // the replica; "": nobody yet
	group   uint64 // counts the groups of that replica, from 1
}

func (h head) encode() []byte {
	b := binary.AppendUvarint(nil, format)
	b = wire.Append(b, h.lineage)
	b = binary.AppendUvarint(b, h.version)
	b = binary.AppendVarint(b, h.at)
	b = wire.Append(b, h.writer)
	b = binary.AppendUvarint(b, h.group)
	return seal(headKey, b)
}

func decodeHead(b []byte) (h head, err error) {
	// The version first: another one may have its checksum elsewhere.
	if v, _ := binary.Uvarint(b); v > format && v < 1<<16 {
		return h, fmt.Errorf("%w: it has format %d, and this reads up to %d", ErrFormat, v, format)
	}
	if b, err = unseal(headKey, b); err != nil {
		return h, err
	}
	r := wire.NewReader(b)
	if v := r.Uvarint(); v == 0 || v > format {
		return h, fmt.Errorf("%w: it has format %d", ErrFormat, v)
	}
	h = head{lineage: r.Text(), version: r.Uvarint(), at: r.Varint(), writer: r.Text(), group: r.Uvarint()}
	return h, r.End()
}

// A receipt is what a group was: how many commits, and what belongs to which.
type receipt struct {
	group   uint64
	version uint64 // of the first commit
	commits []receiptCommit
}

type receiptCommit struct {
	at      int64
	set     uint64   // so many rows are written with its version
	removed []string // the keys of the rows that it removed, after rows/
	erased  []string // those that it erased, which may have been there or not, or be set
}

func (r receipt) encode(writer string) []byte {
	b := binary.AppendUvarint(nil, r.group)
	b = binary.AppendUvarint(b, r.version)
	b = binary.AppendUvarint(b, uint64(len(r.commits)))
	last := int64(0)
	for _, c := range r.commits {
		b = binary.AppendVarint(b, c.at-last)
		last = c.at
		b = binary.AppendUvarint(b, c.set)
		b = binary.AppendUvarint(b, uint64(len(c.removed)))
		for _, key := range c.removed {
			b = wire.Append(b, key)
		}
	}
	// At the end, so that a replica which does not know of it finds bytes too many, and stops.
	for i, c := range r.commits {
		for _, key := range c.erased {
			b = wire.Append(binary.AppendUvarint(b, uint64(i)), key)
		}
	}
	return seal(writers+writer, b)
}

func decodeReceipt(writer string, b []byte) (r receipt, err error) {
	if b, err = unseal(writers+writer, b); err != nil {
		return r, err
	}
	from := wire.NewReader(b)
	r.group, r.version = from.Uvarint(), from.Uvarint()
	last := int64(0)
	for n := from.Uvarint(); n > 0 && from.Err() == nil; n-- {
		last += from.Varint()
		c := receiptCommit{at: last, set: from.Uvarint()}
		for n := from.Uvarint(); n > 0 && from.Err() == nil; n-- {
			c.removed = append(c.removed, from.Text())
		}
		r.commits = append(r.commits, c)
	}
	for from.Err() == nil && from.More() {
		i, key := from.Uvarint(), from.Text()
		if i >= uint64(len(r.commits)) {
			return r, errors.New("it erases something in no commit")
		}
		r.commits[i].erased = append(r.commits[i].erased, key)
	}
	if n := uint64(len(r.commits)); from.Err() == nil && (n == 0 || r.version == 0 || r.version > math.MaxUint64-n) {
		return r, errors.New("it has no commits")
	}
	return r, from.End()
}

// firstReceipt returns what a replica writes before its first group, on top of a head: a receipt
// of no group, which others forget as they do any. It has a time, as they look at that.
func firstReceipt(at head) receipt {
	return receipt{version: max(at.version, 1), commits: []receiptCommit{{at: max(at.at, time.Now().UnixNano())}}}
}

// last returns the version of the last commit.
func (r receipt) last() uint64 { return r.version + uint64(len(r.commits)) - 1 }

// encodeRow returns the value of a row, which a version wrote.
func encodeRow(key string, version uint64, value []byte) []byte {
	b := make([]byte, 0, len(value)+binary.MaxVarintLen64+sealed)
	return seal(key, append(binary.AppendUvarint(b, version), value...))
}

func decodeRow(key string, b []byte) (version uint64, value []byte, err error) {
	if b, err = unseal(key, b); err != nil {
		return 0, nil, err
	}
	version, n := binary.Uvarint(b)
	if n <= 0 {
		return 0, nil, wire.ErrTooShort
	}
	return version, b[n:], nil
}
