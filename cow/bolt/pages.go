package bolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
)

// This reads the pages of a bbolt file, without bbolt and without mapping it: whatever
// the bytes are, and wherever the disk fails, there is an error that says where. bbolt
// gets a file only to write to it.

const (
	bboltMagic   = 0xED0CDAED
	bboltVersion = 2

	branchPage   = 0x01
	leafPage     = 0x02
	metaPage     = 0x04
	freelistPage = 0x10

	pageHeader  = 16 // id, flags, count, overflow
	elementSize = 16
	metaSize    = 64
	maxDepth    = 64      // of branches: each has two children at least
	maxPage     = 6 << 30 // bytes: offsets have 32 bits, and a value 31
)

// bbolt writes structs as they are in memory.
var native = binary.NativeEndian

// A meta is one of the two pages that say where everything is.
type meta struct {
	pageSize       int
	root, freelist uint64
	high           uint64 // there are pages below
	txid           uint64
}

// pages are the pages of a file as of its last transaction. They are not safe for
// concurrent use.
type pages struct {
	meta
	file io.ReaderAt
	torn bool     // the other meta page is not valid
	lost bool     // the transaction after this one was there, see mark
	used []uint64 // a bit for each page that was seen
}

func openPages(file io.ReaderAt, size int64) (*pages, error) {
	p := &pages{file: file}
	found, ours, of := 0, false, int64(0)
	at := func(offset int64) {
		b := make([]byte, pageHeader+metaSize)
		if _, err := file.ReadAt(b, offset); err != nil {
			return
		}
		ours = ours || native.Uint32(b[pageHeader:]) == bboltMagic
		if m, ok := decodeMeta(b[pageHeader:]); ok && (offset == 0 || int64(m.pageSize) == offset) {
			found++
			if found == 1 || m.txid > p.txid {
				p.meta, of = m, offset
			}
		}
	}
	at(0)
	if found == 1 {
		at(int64(p.pageSize))
	} else {
		for offset := int64(1 << 10); offset <= 64<<10 && found == 0; offset *= 2 {
			at(offset)
		}
	}
	switch {
	case found == 0 && !ours:
		return nil, ErrFormat
	case found == 0:
		return nil, damage("", nil, errors.New("neither meta page is valid"))
	case p.high > uint64(size)/uint64(p.pageSize):
		return nil, damage("", nil, fmt.Errorf("it is cut off: %d bytes, where there are %d pages of %d", size, p.high, p.pageSize))
	}
	p.torn = found == 1
	b := make([]byte, markSize)
	if _, err := file.ReadAt(b, of+int64(p.pageSize)-markSize); err == nil {
		p.lost = marked(b) > p.txid
	}
	p.forget()
	return p, nil
}

func decodeMeta(b []byte) (m meta, ok bool) {
	sum := fnv.New64a()
	sum.Write(b[:metaSize-8])
	m = meta{
		pageSize: int(native.Uint32(b[8:])),
		root:     native.Uint64(b[16:]),
		freelist: native.Uint64(b[32:]),
		high:     native.Uint64(b[40:]),
		txid:     native.Uint64(b[48:]),
	}
	ok = native.Uint32(b) == bboltMagic && native.Uint32(b[4:]) == bboltVersion &&
		native.Uint64(b[metaSize-8:]) == sum.Sum64()
	return m, ok && m.pageSize >= 512 && m.pageSize <= 1<<20 && m.high >= 2
}

// A mark says that a transaction is on disk, and may be acknowledged. It is at the end of
// the meta page of the transaction before it, where bbolt has nothing. So the meta page of
// the last transaction is not all that tells of it: if that page is damaged, or is as it was
// earlier, then the transaction before opens, and has the mark of one that is lost. In a
// crash in the middle of a transaction there is no such mark, nor in what the transaction
// after it leaves of that page.
//
// A mark is not synced by itself. It outlives the process, and a loss of power once
// another transaction has begun to be synced.
func mark(txid uint64) []byte {
	b := native.AppendUint64(append(make([]byte, 0, markSize), "cow mark"...), txid)
	sum := fnv.New64a()
	sum.Write(b)
	return native.AppendUint64(b, sum.Sum64())
}

const markSize = 24

// marked returns which transaction a mark is of, or 0 for what is no mark.
func marked(b []byte) (txid uint64) {
	if txid = native.Uint64(b[8:]); bytes.Equal(b, mark(txid)) {
		return txid
	}
	return 0
}

// forget makes all pages unseen.
func (p *pages) forget() { p.used = make([]uint64, p.high/64+1) }

// use marks pages as seen.
func (p *pages) use(id, n uint64) error {
	for ; n > 0; id, n = id+1, n-1 {
		if p.used[id/64]&(1<<(id%64)) != 0 {
			return fmt.Errorf("page %d is part of two things", id)
		}
		p.used[id/64] |= 1 << (id % 64)
	}
	return nil
}

// A page is one page with what it overflows into.
type page struct {
	id           uint64
	flags, count uint16
	bytes        []byte
}

func pageOf(b []byte) page {
	return page{native.Uint64(b), native.Uint16(b[8:]), native.Uint16(b[10:]), b}
}

// read reads the page id, which nothing else may be a part of.
func (p *pages) read(id uint64) (page, error) {
	if id < 2 || id >= p.high {
		return page{}, fmt.Errorf("page %d: there is none", id)
	}
	b := make([]byte, p.pageSize)
	if _, err := p.file.ReadAt(b, int64(id)*int64(p.pageSize)); err != nil {
		return page{}, fmt.Errorf("page %d: %w", id, err)
	}
	is, overflow := pageOf(b), uint64(native.Uint32(b[12:]))
	switch {
	case is.id != id:
		return page{}, fmt.Errorf("page %d: it says that it is page %d", id, is.id)
	case overflow >= p.high-id:
		return page{}, fmt.Errorf("page %d: it ends after the file", id)
	case (1+overflow)*uint64(p.pageSize) > maxPage:
		return page{}, fmt.Errorf("page %d: it is longer than a page can be", id)
	}
	if err := p.use(id, 1+overflow); err != nil {
		return page{}, err
	}
	if overflow > 0 {
		is.bytes = append(make([]byte, 0, (1+int(overflow))*p.pageSize), b...)
		is.bytes = is.bytes[:cap(is.bytes)]
		if _, err := p.file.ReadAt(is.bytes[p.pageSize:], int64(id+1)*int64(p.pageSize)); err != nil {
			return page{}, fmt.Errorf("page %d: %w", id+1, err)
		}
	}
	return is, nil
}

// An element is one of a leaf page: a key and a value, or a bucket within a bucket.
type element struct {
	key, value []byte
	bucket     bool
}

// A walk visits the elements of a bucket in the order of their keys.
type walk struct {
	*pages
	visit func(e element) error
	bad   func(err error) error // what is wrong with a page or element; nil: go on without

	last   []byte // the last key; nil: none yet
	before []byte // the one before that
}

// skip has the keys that follow compared with the one before the key that is visited, which is
// damaged: a larger one than it was would put all of them out of order.
func (w *walk) skip() { w.last = w.before }

// bucket visits the elements of the bucket that a value is of.
func (w *walk) bucket(value []byte) error {
	if len(value) < 16 {
		return w.bad(errors.New("a bucket without a header"))
	}
	if root := native.Uint64(value); root != 0 {
		return w.from(root, nil, 0)
	}
	if len(value) < 16+pageHeader {
		return w.bad(errors.New("a bucket without a page"))
	}
	is := pageOf(value[16:])
	if is.id != 0 || is.flags != leafPage {
		return w.bad(errors.New("a bucket without a leaf page"))
	}
	return w.leaf(is, nil)
}

// from visits the subtree at the page id, which must begin with the key first, unless that
// is nil: reading would not need that, but bbolt, when it writes, finds a page by that key
// in the branch above, and would take it for another one.
func (w *walk) from(id uint64, first []byte, depth int) error {
	is, err := w.read(id)
	switch {
	case err != nil:
		return w.bad(err)
	case is.flags == leafPage:
		return w.leaf(is, first)
	case is.flags == branchPage && depth < maxDepth && is.count > 0:
		return w.branch(is, first, depth)
	}
	return w.bad(fmt.Errorf("page %d: it is not of a tree", id))
}

// begins finds out whether a page begins as the branch above it says, which says nothing
// of what is in the page.
func (w *walk) begins(is page, key, first []byte) error {
	if first == nil || bytes.Equal(key, first) {
		return nil
	}
	return w.bad(fmt.Errorf("page %d: it does not begin where the page above says", is.id))
}

func (w *walk) branch(is page, first []byte, depth int) error {
	for i := range int(is.count) {
		at := pageHeader + i*elementSize
		if at+elementSize > len(is.bytes) {
			return w.bad(fmt.Errorf("page %d: element %d is outside of it", is.id, i))
		}
		e := is.bytes[at:]
		key, ok := part(is.bytes, uint64(at)+uint64(native.Uint32(e)), uint64(native.Uint32(e[4:])))
		if !ok {
			if err := w.bad(fmt.Errorf("page %d: element %d is outside of it", is.id, i)); err != nil {
				return err
			}
		} else if i == 0 {
			if err := w.begins(is, key, first); err != nil {
				return err
			}
		}
		if err := w.from(native.Uint64(e[8:]), key, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) leaf(is page, first []byte) error {
	if is.count == 0 && first != nil {
		return w.begins(is, nil, first)
	}
	for i := range int(is.count) {
		at := pageHeader + i*elementSize
		if at+elementSize > len(is.bytes) {
			return w.bad(fmt.Errorf("page %d: element %d is outside of it", is.id, i))
		}
		e := is.bytes[at:]
		flags, from := native.Uint32(e), uint64(at)+uint64(native.Uint32(e[4:]))
		n := uint64(native.Uint32(e[8:]))
		key, ok := part(is.bytes, from, n)
		value, also := part(is.bytes, from+n, uint64(native.Uint32(e[12:])))
		err := error(nil)
		switch {
		case !ok || !also || n == 0:
			err = fmt.Errorf("page %d: element %d is outside of it", is.id, i)
		case flags > 1:
			err = fmt.Errorf("page %d: element %d is of no known kind", is.id, i)
		case w.last != nil && bytes.Compare(key, w.last) <= 0:
			err = fmt.Errorf("page %d: element %d is out of order", is.id, i)
		case i == 0:
			if err := w.begins(is, key, first); err != nil {
				return err
			}
		}
		if err != nil {
			err = w.bad(err)
		} else {
			w.before, w.last = w.last, key
			err = w.visit(element{key, value, flags == 1})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func part(b []byte, from, n uint64) ([]byte, bool) {
	if from > uint64(len(b)) || n > uint64(len(b))-from {
		return nil, false
	}
	return b[from : from+n : from+n], true
}

// free visits the pages that the file does not use, in order. It refuses what bbolt
// would stumble over.
func (p *pages) free(visit func(id uint64) error) error {
	is, err := p.read(p.freelist)
	if err != nil {
		return err
	}
	n, ids := uint64(is.count), is.bytes[pageHeader:]
	if n == 0xFFFF {
		n, ids = native.Uint64(ids), ids[8:]
	}
	if is.flags != freelistPage || n > uint64(len(ids)/8) {
		return fmt.Errorf("page %d: it is not a list of free pages", is.id)
	}
	last := uint64(1) // the meta pages are never free
	for ; n > 0; n, ids = n-1, ids[8:] {
		id := native.Uint64(ids)
		if id <= last || id >= p.high {
			return fmt.Errorf("page %d: its free pages are out of order", is.id)
		}
		last = id
		if err := visit(id); err != nil {
			return err
		}
	}
	return nil
}
