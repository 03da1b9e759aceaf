package snapshot

import (
	"hash/maphash"
	"reflect"
	"unsafe"

	"github.com/cowstore/cowstore/snapshot/clone"
	"github.com/cowstore/cowstore/snapshot/depth"
)

// seed is random and one a process: nobody outside can prepare keys that
// collide, and every map of one type agrees on where a key belongs, so that
// any two can be compared page by page.
var seed = maphash.MakeSeed()

// The bits of a hash, from the highest: the path through the directories,
// fanBits a level; then the tag a bucket keeps of each entry; the low 32 choose
// the bucket within a page. A path reads into the tag only beyond 25 bits, in
// a map of a billion entries.
const (
	hashBits = 64
	pathBits = 10 * fanBits // the longest path; keys still together there share a bag
	tagShift = 32
)

// A config is what all versions and forks of one map have in common. It is
// never modified.
type config[K comparable, V any] struct {
	hash   func(K) uint64 // nil: K is a string and maphash.String serves
	clone  func(V) V      // nil: values need no clone
	inline bool           // K is a string: short keys lie in their entries
	noscan bool           // V holds no pointers
	handle bool           // what V leads to may change: Options.Immutable or Options.Clone

	deepKeys bool // keys may be nested without a bound

	name string // for errors

	// pending is a copy of this config for rows whose revision does not count
	// yet; nil in the copy itself. See Row.asPending.
	pending *config[K, V]

	// What Builder.Annotate added, in a copy of plain. It is not part of what maps
	// must have in common.
	plain      *config[K, V]
	annotation any
	to         *Map[K, V]
}

func newConfig[K comparable, V any](o Options[V]) *config[K, V] {
	c := &config[K, V]{
		clone:  newCloner(o),
		inline: reflect.TypeFor[K]().Kind() == reflect.String,
		noscan: !clone.HasPointers(reflect.TypeFor[V]()),
		handle: o.Immutable || o.Clone != nil,
		name:   o.Name,

		deepKeys: !depth.Key.Shallow(reflect.TypeFor[K]()),
	}
	if !c.inline {
		c.hash = hasher[K]()
	}
	c.plain = c
	p := *c
	c.pending = &p
	return c
}

// hashOf returns the hash of key. It panics for a key whose dynamic type is
// not comparable, as a Go map does.
func (c *config[K, V]) hashOf(key K) uint64 {
	if c.hash != nil {
		return c.hash(key)
	}
	return maphash.String(seed, *(*string)(unsafe.Pointer(&key)))
}

// hasher returns the hash function for a K that is not a string. Integers are
// hashed as what they are in memory, by code that knows the type: from generic
// code maphash.Comparable costs several times as much.
func hasher[K comparable]() func(K) uint64 {
	switch reflect.TypeFor[K]().Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		switch unsafe.Sizeof(*new(K)) {
		case 8:
			return func(key K) uint64 { return maphash.Comparable(seed, *(*uint64)(unsafe.Pointer(&key))) }
		case 4:
			return func(key K) uint64 { return maphash.Comparable(seed, *(*uint32)(unsafe.Pointer(&key))) }
		}
	}
	if depth.Key.Shallow(reflect.TypeFor[K]()) {
		return func(key K) uint64 { return maphash.Comparable(seed, key) }
	}
	return func(key K) uint64 {
		if depth.Key.Check(key) != nil {
			return 0 // it is not stored anywhere, see checkKey
		}
		return maphash.Comparable(seed, key)
	}
}

// checkKey returns an error if key cannot be stored.
func (c *config[K, V]) checkKey(key K) error {
	if c.deepKeys {
		if err := depth.Key.Check(key); err != nil {
			return c.keyError(key, err)
		}
	}
	if key != key {
		return c.keyError(key, ErrKey)
	}
	return nil
}

func (c *config[K, V]) keyError(key K, err error) error { return &KeyError[K]{c.name, key, err} }

// A Map is an immutable map from K to V.
//
// The nil *Map and the zero Map are empty and usable. A Map must not be
// copied; copy the pointer. All methods may be called from any number of
// goroutines at once, and never wait.
//
// A Map owns its values. What Get, All, Diff and an Editor hand out is isolated:
// cloned as [Options] say, so that the caller may do anything to it. [Map.Shared]
// gives the same reads without cloning. Keys are not cloned: where K holds
// pointers they are compared as pointers. A key that is not equal to itself, such as
// a NaN, cannot be stored: [ErrKey]. Nor can one that is nested too deeply to be compared:
// [ErrTooDeep]. Both are never found.
type Map[K comparable, V any] struct {
	noCopy noCopy
	tree[K, V]
	version uint64
}

// noCopy makes go vet report copies.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// An entry is one key, its value and the version that wrote them. No entry is
// modified once it is in a map: versions, forks and diffs share it, and tell
// a changed value by the identity of its entry.
//
// The key lies behind the value in the same allocation, where a lookup finds
// it on the cache line it loads anyway:
//
//   - a string of 1 to maxInline bytes as those bytes, its length in meta. It
//     is one object instead of two, and where V holds no pointers the
//     collector has nothing to scan in it;
//   - any other key, longer strings included, as a K.
//
// Only this file knows, and what spells out its method is, or key: lookup,
// lookupTogether and keyOf.
type entry[V any] struct {
	meta  uint64 // copied | revision<<8 | length of the inline key
	value V
}

// keyed is the whole of an entry whose key lies there as a K.
type keyed[K comparable, V any] struct {
	entry[V]
	key K
}

const maxInline = 128

// inlines reports whether a string of n bytes is stored inline.
func inlines(n int) bool { return uint(n-1) < maxInline }

// copied marks the entry that a merge made of one of another map. Right in front
// of it lies a pointer to the entry that was written.
const copied = 1 << 63

func (e *entry[V]) revision() uint64 { return e.meta &^ copied >> 8 }
func (e *entry[V]) inlineLen() int   { return int(e.meta & 0xff) }

// tail returns where the key of e begins.
func (e *entry[V]) tail() unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(e), unsafe.Sizeof(*e))
}

// A *RowRef is a Row for those who keep many: half as large, it becomes a Row again with the
// help of a map. Two are equal (==) if they are the same write. Nil is of no row. It has
// no type parameters, so that what keeps some is the same code for all kinds of rows.
type RowRef struct{ _ byte }

// touch reads the two ends of each row, which takes size bytes without its key. Rows are all over
// the heap, and with nothing in between the processor fetches those that are not in its caches at
// the same time. What it returns says nothing.
//
//go:noinline
func touch(rows []*RowRef, size uintptr) (read byte) {
	for _, r := range rows {
		read |= *(*byte)(unsafe.Pointer(r)) | *(*byte)(unsafe.Add(unsafe.Pointer(r), size-1))
	}
	return read
}

// inline returns the inline key of e; the string shares the memory of e.
func (e *entry[V]) inline() string { return unsafe.String((*byte)(e.tail()), e.inlineLen()) }

// key returns the key of e.
func (c *config[K, V]) key(e *entry[V]) K {
	if c.inline && e.inlineLen() > 0 {
		s := e.inline()
		return *(*K)(unsafe.Pointer(&s))
	}
	return (*keyed[K, V])(unsafe.Pointer(e)).key
}

// is reports whether e is the entry of key.
func (c *config[K, V]) is(e *entry[V], key K) bool {
	if c.inline {
		if s := *(*string)(unsafe.Pointer(&key)); inlines(len(s)) {
			return e.inlineLen() == len(s) && e.inline() == s
		}
		if e.inlineLen() > 0 {
			return false
		}
	}
	return (*keyed[K, V])(unsafe.Pointer(e)).key == key
}

func (c *config[K, V]) newEntry(key K, value V, revision uint64) *entry[V] {
	if c.inline {
		if s := *(*string)(unsafe.Pointer(&key)); inlines(len(s)) {
			e := c.alloc(len(s))
			e.meta = revision<<8 | uint64(len(s))
			e.value = value
			copy(unsafe.Slice((*byte)(e.tail()), len(s)), s)
			return e
		}
	}
	return &(&keyed[K, V]{entry[V]{revision << 8, value}, key}).entry
}

// write returns the entry that e is a copy of, over however many merges, or e
// itself: the same for two entries if they are the same write, made here or
// there. It returns nil for nil, which is no row.
func (e *entry[V]) write() *entry[V] {
	if e == nil || e.meta&copied == 0 {
		return e
	}
	return *(**entry[V])(unsafe.Add(unsafe.Pointer(e), -int(unsafe.Sizeof(e))))
}

// copyEntry returns a copy of e, which shares its value.
func (c *config[K, V]) copyEntry(e *entry[V], revision uint64) *entry[V] {
	meta := copied | revision<<8 | uint64(e.inlineLen())
	if !c.inline || e.inlineLen() == 0 {
		return &(&copyOf[V, keyed[K, V]]{sourceOf(e), keyed[K, V]{entry[V]{meta, e.value}, c.key(e)}}).entry.entry
	}
	var n *entry[V]
	switch key := e.inlineLen(); {
	case key <= 16:
		n = &(&copyOf[V, roomy[V, [16]byte]]{source: sourceOf(e)}).entry.entry
	case key <= 32:
		n = &(&copyOf[V, roomy[V, [32]byte]]{source: sourceOf(e)}).entry.entry
	case key <= 64:
		n = &(&copyOf[V, roomy[V, [64]byte]]{source: sourceOf(e)}).entry.entry
	default:
		n = &(&copyOf[V, roomy[V, [maxInline]byte]]{source: sourceOf(e)}).entry.entry
	}
	n.meta, n.value = meta, e.value
	copy(unsafe.Slice((*byte)(n.tail()), e.inlineLen()), e.inline())
	return n
}

// copyOf is an entry of some form with its source in front of it.
type copyOf[V, E any] struct {
	source source[V]
	entry  E
}

// source is a pointer to an entry, the last of as many as fill eight bytes: no
// type is aligned to more, so that there is no gap behind it.
type source[V any] [8 / unsafe.Sizeof(uintptr(0))]*entry[V]

func sourceOf[V any](e *entry[V]) (s source[V]) {
	s[len(s)-1] = e.write()
	return s
}

// alloc returns a zero entry with room for an inline key of n bytes.
func (c *config[K, V]) alloc(n int) *entry[V] {
	if c.noscan {
		const word = unsafe.Sizeof(uint64(0))
		words := make([]uint64, (unsafe.Sizeof(entry[V]{})+uintptr(n)+word-1)/word)
		return (*entry[V])(unsafe.Pointer(unsafe.SliceData(words)))
	}
	// The collector must know where the pointers in V are, so each size is a
	// type.
	switch (n - 1) / 16 {
	case 0:
		return &new(roomy[V, [16]byte]).entry
	case 1:
		return &new(roomy[V, [32]byte]).entry
	case 2:
		return &new(roomy[V, [48]byte]).entry
	case 3:
		return &new(roomy[V, [64]byte]).entry
	case 4, 5:
		return &new(roomy[V, [96]byte]).entry
	}
	return &new(roomy[V, [maxInline]byte]).entry
}

// roomy is an entry with room behind it for an inline key.
type roomy[V, B any] struct {
	entry[V]
	_ B
}

// A tree is a persistent hash table: a root directory, more directories, and
// small pages of entries. Versions share all that no edit between them
// touched; one edit copies one page and the directories above it, a number
// that grows with the logarithm of the size and stops at pathBits/fanBits.
// There is never a rehash, a fold or any other work that waits.
//
// The design owes to hash array mapped tries (Bagwell 2001), to extendible
// hashing and to Swiss tables.
type tree[K comparable, V any] struct {
	cfg  *config[K, V]
	len  int
	root directory[V]
}

// A directory maps the next fanBits of a hash to its kids. A page that needs
// fewer bits fills a run of slots: all whose numbers begin with its bits, as in
// extendible hashing (Fagin et al. 1979). So when it is full it splits in two,
// each has half of the slots, and nothing else moves.
//
// Where half of the slots of a directory below the root would hold another for
// pages that need two bits more, a wide one of wideBits takes the place of them
// all. Where a page needs more bits still, directories of fanBits take the place
// of that. So a lookup takes one level less in half of all sizes, and no shape has
// many directories with few pages each.
//
// owned has a bit for each slot whose kid belongs to the Editor at work and
// may be edited in place. It means something only in a directory that itself
// belongs to that Editor, as the root does that an Editor begins with: a copy of
// the map's, owning nothing. Ownership flows down from there, and is gone when
// the Editor lets go of its root.
type directory[V any] struct {
	owned uint64
	kid   [fan]unsafe.Pointer
}

// A wide is a directory for wideBits, whose kids are pages.
type wide[V any] struct {
	owned uint64
	kid   [wideFan]unsafe.Pointer
}

const (
	fanBits  = 4
	fan      = 1 << fanBits
	wideBits = fanBits + 2
	wideFan  = 1 << wideBits
	group    = wideFan / fan // the slots of a wide directory for one of another

	manyBelow = fan / 2 // directories below another for which a wide one takes its place
	fewGroups = fan / 4 // groups with several pages that are too few for a wide one
)

// A node is the slots of a directory of either kind, and which of them are owned.
type node struct {
	owned *uint64
	kid   []unsafe.Pointer
}

func (d *directory[V]) node() node { return node{&d.owned, d.kid[:]} }
func (w *wide[V]) node() node      { return node{&w.owned, w.kid[:]} }
