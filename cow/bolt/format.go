package bolt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"

	"github.com/cowstore/cowstore/cow/internal/door"
)

// The file is one of bbolt. At the top it has
//
//	meta                  one key, "state": a state
//	log                   version, 8 bytes → commit: the retained past
//	t, id, 4 bytes, name  'k', key → row: a table, as it was before the commits of log
//
// Each value ends with a CRC32C of the bucket's name, its key and itself. The state has
// a count and a hash of the rows of each bucket, so that a part that is missing, or as it
// was earlier, is found too. Numbers within values are varints; those in keys have
// their highest byte first. One transaction writes all that belongs to a commit.

// format is the version of all this.
const format = 1

var (
	metaBucket = []byte("meta")
	logBucket  = []byte("log")
	stateKey   = []byte("state")
)

const (
	maxKey    = 32 << 10 // bbolt's limit for keys and names of buckets
	maxCommit = 1 << 30  // bytes of one commit
	maxName   = maxKey - 5
)

var errTooShort = errors.New("too short")

// tableBucket returns the name of the bucket of a table.
func tableBucket(id int, name string) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{'t'}, uint32(id)), name...)
}

// ofTable is the reverse of tableBucket.
func ofTable(bucket []byte) (id int, name string, ok bool) {
	if len(bucket) < 5 || bucket[0] != 't' {
		return 0, "", false
	}
	n := binary.BigEndian.Uint32(bucket[1:5])
	return int(n & math.MaxInt32), string(bucket[5:]), n <= math.MaxInt32
}

func rowKey(key []byte) []byte { return append([]byte{'k'}, key...) }

func logKey(version uint64) []byte { return binary.BigEndian.AppendUint64(nil, version) }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A seal makes the checksums of a bucket.
type seal uint32

func sealOf(bucket []byte) seal { return seal(crc32.Checksum(bucket, castagnoli)) }

func (s seal) sum(key, value []byte) uint32 {
	return crc32.Update(crc32.Update(uint32(s), castagnoli, key), castagnoli, value)
}

// close appends the checksum to a value.
func (s seal) close(key, value []byte) []byte {
	return binary.LittleEndian.AppendUint32(value, s.sum(key, value))
}

// open returns a value without its checksum, and that.
func (s seal) open(key, value []byte) ([]byte, uint32, error) {
	n := len(value) - 4
	if n < 0 {
		return nil, 0, errTooShort
	}
	sum := binary.LittleEndian.Uint32(value[n:])
	if s.sum(key, value[:n]) != sum {
		return nil, 0, errors.New("its checksum is wrong")
	}
	return value[:n], sum, nil
}

// A tally is how many rows there are and a hash of them all, whatever their order.
type tally struct{ count, hash uint64 }

func (t *tally) add(sum uint32, version uint64) {
	t.count++
	t.hash += mix(uint64(sum)<<32 ^ version)
}

func (t *tally) remove(sum uint32, version uint64) {
	t.count--
	t.hash -= mix(uint64(sum)<<32 ^ version)
}

// mix is a finalizer of MurmurHash3: a bijection that spreads every bit.
func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// A moment is a version and when it was published, in ns since 1970.
type moment struct {
	version uint64
	at      int64
}

// A state is what a file says of itself.
type state struct {
	lineage   string
	base, tip moment // of the tables, and after the log
	early     bool   // versions above tip may have been seen
	log       tally
	tables    []tableState // by id
}

type tableState struct {
	name string
	tally
}

func (s *state) clone() *state {
	c := *s
	c.tables = slices.Clone(s.tables)
	return &c
}

func (s *state) encode() []byte {
	b := binary.AppendUvarint(nil, format)
	b = appendBytes(b, []byte(s.lineage))
	for _, m := range []moment{s.base, s.tip} {
		b = binary.AppendUvarint(b, m.version)
		b = binary.AppendVarint(b, m.at)
	}
	early := uint64(0)
	if s.early {
		early = 1
	}
	b = binary.AppendUvarint(b, early)
	b = s.log.append(b)
	b = binary.AppendUvarint(b, uint64(len(s.tables)))
	for _, t := range s.tables {
		b = t.append(appendBytes(b, []byte(t.name)))
	}
	return sealOf(metaBucket).close(stateKey, b)
}

func (t tally) append(b []byte) []byte {
	return binary.LittleEndian.AppendUint64(binary.AppendUvarint(b, t.count), t.hash)
}

func decodeState(b []byte) (*state, error) {
	// The version first: another one may have its checksum elsewhere.
	if v, _ := binary.Uvarint(b); v > format && v < 1<<16 {
		return nil, fmt.Errorf("%w: it has format %d, and this reads up to %d", ErrFormat, v, format)
	}
	b, _, err := sealOf(metaBucket).open(stateKey, b)
	if err != nil {
		return nil, err
	}
	r := reader{b: b}
	if v := r.uvarint(); v != format {
		return nil, fmt.Errorf("%w: it has format %d", ErrFormat, v)
	}
	s := &state{lineage: string(r.bytes())}
	for _, m := range []*moment{&s.base, &s.tip} {
		m.version, m.at = r.uvarint(), r.varint()
	}
	s.early = r.uvarint() != 0
	s.log = r.tally()
	for n := r.uvarint(); n > 0 && r.err == nil; n-- {
		s.tables = append(s.tables, tableState{string(r.bytes()), r.tally()})
	}
	return s, r.end()
}

// A row is a value of a table.
type row struct {
	revision uint64
	value    []byte // as its codec wrote it, which may begin with a version
}

func (r row) append(b []byte) []byte {
	return append(binary.AppendUvarint(b, r.revision), r.value...)
}

func decodeRow(s seal, key, value []byte) (r row, sum uint32, err error) {
	value, sum, err = s.open(key, value)
	if err != nil {
		return r, 0, err
	}
	revision, n := binary.Uvarint(value)
	if n <= 0 {
		return r, 0, errTooShort
	}
	return row{revision, value[n:]}, sum, nil
}

// A record is a commit in the log. The tables of its rows are ids.
type record struct {
	moment
	rows []door.Row
}

func (c record) append(b []byte) []byte {
	b = binary.AppendVarint(b, c.at)
	b = binary.AppendUvarint(b, uint64(len(c.rows)))
	for _, r := range c.rows {
		id := uint64(r.Table) << 1
		if r.Removed {
			b = appendBytes(binary.AppendUvarint(b, id|1), r.Key)
		} else {
			b = appendBytes(appendBytes(binary.AppendUvarint(b, id), r.Key), r.Value)
		}
	}
	return b
}

func decodeRecord(s seal, key, value []byte) (c record, sum uint32, err error) {
	value, sum, err = s.open(key, value)
	if err != nil {
		return c, 0, err
	}
	if len(key) != 8 {
		return c, 0, errors.New("its key is not a version")
	}
	c.version = binary.BigEndian.Uint64(key)
	r := reader{b: value}
	c.at = r.varint()
	n := r.uvarint()
	if n <= uint64(len(value)) { // or r finds it too short
		c.rows = make([]door.Row, 0, n)
	}
	for ; n > 0 && r.err == nil; n-- {
		id := r.uvarint()
		row := door.Row{Table: int(id >> 1 & math.MaxInt32), Removed: id&1 != 0, Key: r.bytes(), Revision: c.version}
		if !row.Removed {
			row.Value = r.bytes()
		}
		c.rows = append(c.rows, row)
	}
	return c, sum, r.end()
}

func appendBytes(b, s []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// A reader decodes what was encoded so. After an error it returns zero values.
type reader struct {
	b   []byte
	err error
}

func (r *reader) skip(n int) {
	if n <= 0 || n > len(r.b) {
		r.b, r.err = nil, errTooShort
		return
	}
	r.b = r.b[n:]
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	r.skip(n)
	return v
}

func (r *reader) varint() int64 {
	v, n := binary.Varint(r.b)
	r.skip(n)
	return v
}

// bytes returns a part of what is decoded.
func (r *reader) bytes() []byte {
	n := r.uvarint()
	if n > uint64(len(r.b)) {
		r.b, r.err = nil, errTooShort
		return nil
	}
	b := r.b[:n:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) tally() tally {
	t := tally{count: r.uvarint()}
	if len(r.b) < 8 {
		r.b, r.err = nil, errTooShort
		return t
	}
	t.hash = binary.LittleEndian.Uint64(r.b)
	r.b = r.b[8:]
	return t
}

// end returns the error of reading all that there was.
func (r *reader) end() error {
	if r.err == nil && len(r.b) > 0 {
		return fmt.Errorf("%d bytes too many", len(r.b))
	}
	return r.err
}
