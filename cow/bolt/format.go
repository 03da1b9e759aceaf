package bolt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"time"

	"github.com/cowstore/cowstore/cow/internal/layout"
	"github.com/cowstore/cowstore/cow/internal/sink"
	"github.com/cowstore/cowstore/cow/internal/wire"
)

// The file is one of bbolt. At the top it has
//
//	meta                  "state": a state; "schema": what is recorded of the tables
//	log                   version, 8 bytes → commit: the retained past
//	t, id, 4 bytes, name  'k', key → row: a table, as it was before the commits of log
//
// Each value ends with a CRC32C of the bucket's name, its key and itself. The state has
// a count and a hash of the rows of each bucket, so that a part that is missing, or as it
// was earlier, is found too. Numbers within values are varints; those in keys have
// their highest byte first. One transaction writes all that belongs to a commit. For pins
// see pin.go.

// format is the version of all this. Format 1 had no schema: a file of it becomes one of
// this format when it is opened.
const format = 2

var (
	metaBucket = []byte("meta")
	logBucket  = []byte("log")
	stateKey   = []byte("state")
	schemaKey  = []byte("schema")
)

const (
	maxKey    = 32 << 10 // bbolt's limit for keys and names of buckets
	maxCommit = 1 << 30  // bytes of one commit
	maxName   = maxKey - 5

	maxVersion = 1 << 54 // of cow, and far above what a DB gets to
)

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
		return nil, 0, wire.ErrTooShort
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

// time returns when it was published; nanos is the reverse.
func (m moment) time() time.Time {
	if m.at == 0 {
		return time.Time{}
	}
	return time.Unix(0, m.at)
}

// A state is what a file says of itself.
type state struct {
	lineage   string
	base, tip moment // of the tables, and after the log
	early     bool   // versions above tip may have been seen
	marks     bool   // who wrote it marks what is acknowledged; encode says so
	erased    bool   // pages that are free may have what was erased
	log       tally
	tables    []tableState // by id
	schema    uint64       // the checksum of what schemaKey has, and 1 more; 0: there is nothing

	format uint64        // as it was read
	record layout.Record // what schemaKey has
	pins   []*pin        // by version; not part of what is encoded
	ofPins tally
}

const (
	flagEarly = 1 << iota
	flagMarks
	flagErased
)

type tableState struct {
	name string
	tally
}

// setRecord sets what is recorded of the tables, and returns what schemaKey is to have.
func (s *state) setRecord(r layout.Record) []byte {
	b := r.Encode()
	seal := sealOf(metaBucket)
	s.record, s.schema = r, uint64(seal.sum(schemaKey, b))+1
	return seal.close(schemaKey, b)
}

// readRecord reads what schemaKey has.
func readRecord(b []byte) (r layout.Record, schema uint64, err error) {
	b, sum, err := sealOf(metaBucket).open(schemaKey, b)
	if err == nil {
		r, err = layout.Decode(b)
	}
	return r, uint64(sum) + 1, err
}

func (s *state) clone() *state {
	c := *s
	c.tables = slices.Clone(s.tables)
	c.pins = slices.Clone(s.pins)
	return &c
}

func (s *state) encode() []byte {
	b := binary.AppendUvarint(nil, format)
	b = wire.Append(b, s.lineage)
	for _, m := range []moment{s.base, s.tip} {
		b = binary.AppendUvarint(b, m.version)
		b = binary.AppendVarint(b, m.at)
	}
	flags := uint64(flagMarks)
	if s.early {
		flags |= flagEarly
	}
	if s.erased {
		flags |= flagErased
	}
	b = binary.AppendUvarint(b, flags)
	b = s.log.append(b)
	b = binary.AppendUvarint(b, uint64(len(s.tables)))
	for _, t := range s.tables {
		b = t.append(wire.Append(b, t.name))
	}
	b = binary.AppendUvarint(b, s.schema)
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
	r := wire.NewReader(b)
	v := r.Uvarint()
	if v == 0 || v > format {
		return nil, fmt.Errorf("%w: it has format %d", ErrFormat, v)
	}
	s := &state{format: v, lineage: r.Text()}
	for _, m := range []*moment{&s.base, &s.tip} {
		m.version, m.at = r.Uvarint(), r.Varint()
	}
	if r.Err() == nil && (s.base.version > s.tip.version || s.tip.version > maxVersion) {
		return nil, fmt.Errorf("versions %d to %d cannot be", s.base.version, s.tip.version)
	}
	flags := r.Uvarint()
	s.early, s.marks, s.erased = flags&flagEarly != 0, flags&flagMarks != 0, flags&flagErased != 0
	s.log = readTally(r)
	for n := r.Uvarint(); n > 0 && r.Err() == nil; n-- {
		s.tables = append(s.tables, tableState{r.Text(), readTally(r)})
	}
	if s.format > 1 {
		s.schema = r.Uvarint()
	}
	return s, r.End()
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
		return r, 0, wire.ErrTooShort
	}
	return row{revision, value[n:]}, sum, nil
}

// A record is a commit in the log. The tables of its rows are ids.
type record struct {
	moment
	rows  []sink.Row
	bytes int // about, of the rows; 0: not known
}

// erasedRow is set in the number of the table of a row that is Erased. Programs that do not know it
// pass over it.
const erasedRow = 1 << 33

func (c record) append(b []byte) []byte {
	b = binary.AppendVarint(b, c.at)
	b = binary.AppendUvarint(b, uint64(len(c.rows)))
	for _, r := range c.rows {
		id := uint64(r.Table) << 1
		if r.Erased {
			id |= erasedRow
		}
		if r.Removed {
			b = wire.Append(binary.AppendUvarint(b, id|1), r.Key)
		} else {
			b = wire.Append(wire.Append(binary.AppendUvarint(b, id), r.Key), r.Value)
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
	r := wire.NewReader(value)
	c.at = r.Varint()
	n := r.Uvarint()
	if n <= uint64(len(value)) { // or r finds it too short
		c.rows = make([]sink.Row, 0, n)
	}
	for ; n > 0 && r.Err() == nil; n-- {
		id := r.Uvarint()
		row := sink.Row{Table: int(id >> 1 & math.MaxInt32), Removed: id&1 != 0, Erased: id&erasedRow != 0, Key: r.Bytes(), Revision: c.version}
		if !row.Removed {
			row.Value = r.Bytes()
		}
		c.rows = append(c.rows, row)
	}
	return c, sum, r.End()
}

func readTally(r *wire.Reader) tally { return tally{r.Uvarint(), r.Uint64()} }
