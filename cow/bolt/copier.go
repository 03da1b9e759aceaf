package bolt

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math/bits"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// A copier copies a file as of one transaction, while others are written. It is no
// transaction of bbolt: that would keep the mapping as it is, so that writes which need a
// larger one wait, and keep pages from being used again, so that the file grows.
//
// Instead it goes through the pages that the transaction uses, some at a time. A page of
// them is written over only after a later transaction has freed it: so each transaction
// copies what it has freed and the copier has not come to yet, before the next begins. That
// is no more than it has written itself. And it waits for the copier to copy copyAtOnce.
type copier struct {
	meta
	raw      [metaSize]byte // meta, as it is in the file
	from, to *os.File

	mu   sync.Mutex
	left []uint64 // a bit for each page that is yet to be copied
	err  error    // of what a transaction has copied
}

const (
	copyAtOnce = 256 << 10
	syncEvery  = 16 << 20 // so that a sync of the file never waits for much of its copy
)

// copyTo begins to copy the file as it is. The caller calls end.
func (f *file) copyTo(to *os.File) (*copier, error) {
	f.mu.Lock() // no transaction is under way
	defer f.mu.Unlock()
	p, err := f.pages()
	if err != nil {
		return nil, err
	}
	c := &copier{meta: p.meta, from: f.under, to: to, left: make([]uint64, p.high/64+1)}
	for id := uint64(2); id < p.high; id++ {
		c.left[id/64] |= 1 << (id % 64)
	}
	if err := p.free(func(id uint64) error { c.done(id); return nil }); err != nil {
		return nil, damage("", nil, err)
	}
	found := false
	for i := range int64(2) {
		if _, err := f.under.ReadAt(c.raw[:], i*int64(p.pageSize)+pageHeader); err != nil {
			return nil, err
		}
		if m, ok := decodeMeta(c.raw[:]); ok && m == c.meta {
			found = true
			break
		}
	}
	if !found {
		return nil, damage("", nil, errors.New("its meta pages change"))
	}
	if f.copiers == nil {
		f.copiers = make(map[*copier]struct{})
	}
	f.copiers[c] = struct{}{}
	return c, nil
}

// end makes the transactions that follow forget c.
func (f *file) end(c *copier) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.copiers, c)
}

// freed makes the copiers copy what the last transaction has freed. The caller holds mu.
func (f *file) freed() {
	for c := range f.copiers {
		c.mu.Lock()
		if c.err == nil {
			c.err = c.freed(f)
		}
		c.mu.Unlock()
	}
}

func (c *copier) freed(f *file) error {
	p, err := f.pages()
	if err != nil {
		return err
	}
	return p.free(func(id uint64) error {
		if id >= c.high || !c.wants(id) {
			return nil
		}
		return c.copy(id, 1)
	})
}

func (c *copier) wants(id uint64) bool { return c.left[id/64]&(1<<(id%64)) != 0 }

func (c *copier) done(id uint64) { c.left[id/64] &^= 1 << (id % 64) }

// copy copies n pages. The caller holds mu.
func (c *copier) copy(id, n uint64) error {
	b, at := make([]byte, n*uint64(c.pageSize)), int64(id)*int64(c.pageSize)
	if _, err := c.from.ReadAt(b, at); err != nil {
		return err
	}
	if _, err := c.to.WriteAt(b, at); err != nil {
		return err
	}
	for ; n > 0; id, n = id+1, n-1 {
		c.done(id)
	}
	return nil
}

// run copies everything. Enough is asked whether there is room for so many bytes.
func (c *copier) run(enough func(bytes uint64) error) error {
	size := uint64(c.pageSize)
	pages := uint64(0)
	for _, word := range c.left {
		pages += uint64(bits.OnesCount64(word))
	}
	if err := enough(pages * size); err != nil {
		return err
	}
	if err := c.to.Truncate(int64(c.high * size)); err != nil {
		return err
	}
	unsynced := uint64(0)
	for id := uint64(2); id < c.high; {
		next, err := c.some(id)
		if err == nil {
			err = enough(copyAtOnce)
		}
		if unsynced += (next - id) * size; err == nil && unsynced >= syncEvery {
			unsynced, err = 0, c.to.Sync()
		}
		if err != nil {
			return err
		}
		id = next
	}
	return c.metas()
}

// some copies the next pages from id on, and returns where it has come to.
func (c *copier) some(id uint64) (next uint64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id < c.high && !c.wants(id) {
		id++
	}
	next = id
	for most := id + max(copyAtOnce/uint64(c.pageSize), 1); next < min(most, c.high) && c.wants(next); {
		next++
	}
	if c.err == nil && next > id {
		c.err = c.copy(id, next-id)
	}
	return next, c.err
}

// metas writes both meta pages: the same, but for their numbers.
func (c *copier) metas() error {
	for _, txid := range []uint64{c.txid, c.txid - 1} {
		b := make([]byte, c.pageSize)
		native.PutUint64(b, txid%2)
		native.PutUint16(b[8:], metaPage)
		m := b[pageHeader:][:metaSize]
		copy(m, c.raw[:])
		native.PutUint64(m[48:], txid)
		sum := fnv.New64a()
		sum.Write(m[:metaSize-8])
		native.PutUint64(m[metaSize-8:], sum.Sum64())
		if _, err := c.to.WriteAt(b, int64(txid%2)*int64(c.pageSize)); err != nil {
			return err
		}
	}
	return nil
}

// reserve is how much a backup leaves of the disk that the file is on, for the next
// writes: a short file doubles, and a long one grows by 16 MiB at once.
func reserve(size int64) uint64 { return uint64(min(size, 64<<20)) }

// enough returns what finds out whether there is room at a path for so many bytes, and
// for what the writes to the file need if they go to the same disk.
func (f *file) enough(path string) func(bytes uint64) error {
	there, err := os.Stat(filepath.Dir(path))
	here, no := os.Stat(filepath.Dir(f.path))
	if err != nil || no != nil || !sameDisk(there, here) {
		return func(uint64) error { return nil } // the copy meets the end of the disk, and nothing else
	}
	return func(bytes uint64) error {
		left, ok := room(filepath.Dir(path))
		if keep := reserve(f.size.Load()); ok && left < bytes+keep {
			return fmt.Errorf("no room for a backup: it needs %d bytes, and of %d that are free %d are for writes: %w", bytes, left, keep, syscall.ENOSPC)
		}
		return nil
	}
}
