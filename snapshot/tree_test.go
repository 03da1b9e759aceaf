package snapshot

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// checkTree fails unless the tree of m is as tree.go, directory.go and page.go
// promise. It looks at every object, and finds every key as a reader would.
// Keys must be equal to themselves.
func checkTree[K comparable, V any](t testing.TB, m *Map[K, V]) {
	t.Helper()
	if m == nil || m.cfg == nil {
		require.Zero(t, m.Len())
		return
	}
	c := treeChecker[K, V]{m: m, keys: make(map[K]bool, m.len), kids: map[unsafe.Pointer]bool{}}
	total := c.directory(m.root.node(), 0, 0)
	if c.err == nil && total != m.len {
		c.fail("Len is %d, the tree holds %d entries", m.len, total)
	}
	if c.err != nil {
		t.Fatalf("broken tree: %v", c.err)
	}
}

type treeChecker[K comparable, V any] struct {
	m    *Map[K, V]
	keys map[K]bool
	kids map[unsafe.Pointer]bool
	err  error
}

func (c *treeChecker[K, V]) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// directory checks d, to which the depth highest bits of a hash lead if they
// are prefix, and returns how many entries are below it.
func (c *treeChecker[K, V]) directory(d node, depth uint, prefix uint64) int {
	isWide := len(d.kid) == wideFan
	if depth >= pathBits || isWide && depth+wideBits >= pathBits {
		c.fail("a directory of %d slots at depth %d", len(d.kid), depth)
		return 0
	}
	if isWide && (d.groups() < fewGroups || !d.onlyPages()) {
		c.fail("depth %d: a wide directory that need not be, or has others below", depth)
	}
	total := 0
	for i := uint64(0); i < uint64(len(d.kid)) && c.err == nil; {
		kid := d.kid[i]
		from, n := d.run(i)
		if from != i {
			c.fail("depth %d, slot %d: not the first of its run, %d+%d", depth, i, from, n)
		}
		if kid != nil {
			if c.kids[kid] {
				c.fail("depth %d, slot %d: its kid is elsewhere too", depth, i)
			}
			c.kids[kid] = true
			if uintptr(target(kid))&kidMask != 0 {
				c.fail("depth %d, slot %d: target not aligned", depth, i)
			}
		}
		// The path to a run is as long as its slots have bits in common.
		path := depth + d.bits() - uint(bits.TrailingZeros64(n))
		at := (prefix<<d.bits() | i) >> (depth + d.bits() - path)
		b := bucketsOf(kid)
		switch {
		case kid == nil:
		case isDirectory(kid):
			if n != 1 {
				c.fail("depth %d, slot %d: a directory in %d slots", depth, i, n)
			}
			below := c.directory(nodeAt[V](kid), depth+fanBits, prefix<<fanBits|i)
			if below <= maxJoin {
				c.fail("depth %d, slot %d: a directory for %d entries", depth, i, below)
			}
			total += below
		case b == bagBuckets:
			entries := (*bag[V])(target(kid)).entries
			if n != 1 || depth+fanBits != pathBits {
				c.fail("a bag at depth %d in %d slots", depth, n)
			}
			if len(entries) <= maxJoin {
				c.fail("a bag of %d entries", len(entries))
			}
			for _, e := range entries {
				c.entry(e, path, at)
			}
			total += len(entries)
		default:
			total += c.page(target(kid), b, path, at)
			buddy := i ^ n
			if n < uint64(len(d.kid)) && d.uniform(buddy, n, d.kid[buddy]) {
				if both := size[V](kid) + size[V](d.kid[buddy]); both <= maxJoin {
					c.fail("depth %d, slots %d and %d: buddies of %d entries together", depth, i, buddy, both)
				}
			}
		}
		i += n
	}
	return total
}

// page checks a page of n buckets at the end of the path at.
func (c *treeChecker[K, V]) page(page unsafe.Pointer, n uint64, path uint, at uint64) int {
	if n > maxBuckets {
		c.fail("a page of %d buckets", n)
		return 0
	}
	total := 0
	for i := range n {
		b := bucketAt[V](page, i)
		if b.meta>>56 > 1 {
			c.fail("bucket %d: mark %#x", i, b.meta>>56)
		}
		for s, e := range b.entry {
			tag := b.meta >> (8 * s) & 0xff
			if e == nil {
				if tag != 0 {
					c.fail("bucket %d, slot %d: free with tag %#x", i, s, tag)
				}
				continue
			}
			total++
			h := c.entry(e, path, at)
			if tag != tagOf(h) {
				c.fail("bucket %d, slot %d: tag %#x, want %#x", i, s, tag, tagOf(h))
			}
			for home := bucketOf(h, n); home != i; home = (home + 1) % n {
				if bucketAt[V](page, home).meta < mark {
					c.fail("bucket %d, slot %d: bucket %d on the way from home has no mark", i, s, home)
				}
			}
		}
	}
	if total == 0 || total > capacity(n) || total != count[V](page, n) {
		c.fail("a page of %d buckets with %d entries, of which it counts %d", n, total, count[V](page, n))
	}
	if n > bucketsFor(total)+1 {
		c.fail("a page of %d buckets for %d entries", n, total)
	}
	return total
}

// entry checks that e belongs at the end of the path at, and that it is found
// there, and returns its hash.
func (c *treeChecker[K, V]) entry(e *entry[V], path uint, at uint64) uint64 {
	key := c.m.cfg.key(e)
	h := c.m.cfg.hashOf(key)
	if h>>(hashBits-path) != at {
		c.fail("key %v: hash %#x at path %#x of %d bits", key, h, at, path)
	}
	if c.keys[key] {
		c.fail("key %v: twice", key)
	}
	c.keys[key] = true
	if c.m.find(h, key) != e {
		c.fail("key %v: not found by find", key)
	}
	if c.m.lookup(key) != e {
		c.fail("key %v: not found by lookup", key)
	}
	if r := e.revision(); r == 0 || r > c.m.version {
		c.fail("key %v: revision %d in version %d", key, r, c.m.version)
	}
	return h
}

// A footprint is what one map has that another has not.
type footprint struct {
	directories, pages, bags int
	moved                    int // entries in those pages and bags
	bytes                    int // of all, and of the new entries and the Map
}

// growth returns what newer has that older has not. Where both have the same
// pointer at the same place nothing below is looked at.
func growth[K comparable, V any](older, newer *Map[K, V]) footprint {
	f := footprint{bytes: int(unsafe.Sizeof(*newer))}
	shareTrees[V](&f, older.root.node(), newer.root.node())
	return f
}

func shareTrees[V any](f *footprint, older, newer node) {
	for i, kid := range newer.kid {
		was := older.kid[i]
		if kid == was || kid == nil || i > 0 && kid == newer.kid[i-1] {
			continue
		}
		if isDirectory(kid) && isDirectory(was) && bucketsOf(kid) == bucketsOf(was) {
			f.directory(kid)
			shareTrees[V](f, nodeAt[V](was), nodeAt[V](kid))
			continue
		}
		// What was here may have moved a level up or down.
		from, n := newer.run(uint64(i))
		old := map[unsafe.Pointer]bool{}
		for j := from; j < from+n; j++ {
			eachObject[V](older.kid[j], func(p unsafe.Pointer) { old[p] = true })
			walkKid(older.kid[j], func(e *entry[V]) bool { old[unsafe.Pointer(e)] = true; return true })
		}
		eachObject[V](kid, func(p unsafe.Pointer) {
			if old[p] {
				return
			}
			switch b := bucketsOf(p); b {
			case 0, wideKid:
				f.directory(p)
			case bagBuckets:
				f.bags++
				entries := (*bag[V])(target(p)).entries
				f.moved += len(entries)
				f.bytes += int(unsafe.Sizeof(bag[V]{})) + cap(entries)*int(unsafe.Sizeof(p))
			default:
				f.pages++
				f.moved += count[V](target(p), b)
				f.bytes += int(b) * int(unsafe.Sizeof(bucket[V]{}))
			}
		})
		walkKid(kid, func(e *entry[V]) bool {
			if !old[unsafe.Pointer(e)] {
				f.bytes += int(unsafe.Sizeof(*e)) + e.inlineLen()
			}
			return true
		})
	}
}

func (f *footprint) directory(kid unsafe.Pointer) {
	f.directories++
	if bucketsOf(kid) == wideKid {
		f.bytes += int(unsafe.Sizeof(wide[int]{}))
	} else {
		f.bytes += int(unsafe.Sizeof(directory[int]{}))
	}
}

// eachObject calls f with every kid at or below kid.
func eachObject[V any](kid unsafe.Pointer, f func(unsafe.Pointer)) {
	if kid == nil {
		return
	}
	f(kid)
	if isDirectory(kid) {
		d := nodeAt[V](kid)
		for i, k := range d.kid {
			if i == 0 || k != d.kid[i-1] {
				eachObject[V](k, f)
			}
		}
	}
}

// shapeOf returns what there is below the root of m, as growth would count it.
func shapeOf[K comparable, V any](m *Map[K, V]) footprint {
	f := footprint{}
	shareTrees[V](&f, new(directory[V]).node(), m.root.node())
	return f
}

// One commit moves a bounded number of entries and bytes, whatever the size of
// the map. This counts, in the trees before and after:
//
//   - an insertion copies one page, or splits a full one in two: no more than
//     capacity(maxBuckets)+1 entries, in pages of as many buckets as those need,
//     at most one more each than perBucket goes into their entries. That all
//     entries of a split have the same next bit, which makes a third page, has
//     the probability of 1 in 2^capacity(maxBuckets);
//   - a removal copies one page, or joins two of maxJoin entries;
//   - each copies the directories above, of which there is one for every
//     fanBits bits of the path. A page has on average more than maxJoin
//     entries, so that size/maxJoin is how many pages there are, at most; one
//     level more is allowed for, as hashes are not spread evenly. One of them may be
//     wide;
//   - now and then one makes a wide directory of another, or of a wide one a directory
//     with up to fan below it.
func TestACommitMovesABoundedNumberOfEntriesAndBytesAtEverySize(t *testing.T) {
	most := func(size int) footprint {
		levels := (bits.Len(uint(size/maxJoin))+fanBits-1)/fanBits + 1
		f := footprint{
			directories: min(levels, pathBits/fanBits) - 1,
			pages:       2,
			moved:       capacity(maxBuckets) + 1,
		}
		f.bytes = int(unsafe.Sizeof(Map[int, int]{})) + int(unsafe.Sizeof(keyed[int, int]{})) +
			f.directories*int(unsafe.Sizeof(directory[int]{})) + int(unsafe.Sizeof(wide[int]{})) +
			(f.moved/perBucket+f.pages)*int(unsafe.Sizeof(bucket[int]{}))
		return f
	}
	commits, narrowed := 0, 0
	check := func(what string, older, newer *Map[int, int]) footprint {
		got, limit := growth(older, newer), most(max(older.Len(), newer.Len()))
		commits++
		if got.directories > limit.directories {
			narrowed++
			limit.directories += fan
			limit.bytes += fan * int(unsafe.Sizeof(directory[int]{}))
		}
		if got.directories > limit.directories || got.pages > limit.pages || got.moved > limit.moved ||
			got.bytes > limit.bytes || got.bags > 0 {
			t.Fatalf("%s at %d keys: %+v, more than %+v", what, older.Len(), got, limit)
		}
		return got
	}
	worst := func(f *footprint, g footprint) {
		f.directories, f.pages = max(f.directories, g.directories), max(f.pages, g.pages)
		f.moved, f.bytes = max(f.moved, g.moved), max(f.bytes, g.bytes)
	}

	sizes := []int{10, 1_000, 10_000, 100_000, 1_000_000, 2_000_000}
	if raceEnabled {
		sizes = sizes[:4]
	}
	if testing.Short() {
		sizes = sizes[:3]
	}
	m, next := New[int](Options[int]{}), 0
	for _, size := range sizes {
		// A quarter of the way, at most 20,000 keys, by one-key commits.
		alone := min(size/4, 20_000)
		e := m.Edit()
		for next < size-alone {
			e.Set(next, next)
			next++
		}
		m = e.Seal()
		var f footprint
		for next < size {
			e := m.Edit()
			e.Set(next, next)
			n := e.Seal()
			worst(&f, check("insert", m, n))
			m = n
			next++
		}
		require.Equal(t, size, m.Len())
		for i := range 200 {
			key := i * 7919 % size
			e := m.Edit()
			e.Set(key, -1)
			worst(&f, check("replace", m, e.Seal()))
			e = m.Edit()
			e.Delete(key)
			worst(&f, check("delete", m, e.Seal()))
		}
		t.Logf("%7d keys: at most %d directories, %d pages, %d entries, %d bytes a commit; limit %+v",
			size, f.directories, f.pages, f.moved, f.bytes, most(size))
	}

	// And on the way down, in a map of its own, which joins pages.
	for m.Len() > 30_000 {
		e := m.Edit()
		for range m.Len() / 2 {
			next--
			e.Delete(next)
		}
		m = e.Seal()
	}
	checkTree(t, m)
	var f footprint
	for m.Len() > 0 {
		next--
		e := m.Edit()
		require.True(t, e.Delete(next))
		n := e.Seal()
		worst(&f, check("delete", m, n))
		m = n
	}
	t.Logf("going down: at most %d directories, %d pages, %d entries, %d bytes a commit",
		f.directories, f.pages, f.moved, f.bytes)
	t.Logf("%d of %d commits made several directories of one", narrowed, commits)
	require.Less(t, narrowed, commits/100)
}

// The page before an edit and the page after are all the edit allocates of
// pages: what a transaction wrote first it then edits in place.
func TestAnEditorCopiesEachPageOnce(t *testing.T) {
	m := must(Collect(Options[int]{}, numbers(20_000)))
	pages := shapeOf(m).pages
	e := m.Edit()
	e.Set(0, -1)
	first := e.cur
	root := first.root
	for i := range 20_000 {
		e.Set(i, -i)
	}
	require.Same(t, first, e.cur)
	require.NotEqual(t, root, first.root)
	f := growth(m, e.cur)
	require.Equal(t, pages, f.pages)
	before := first.root
	for i := range 20_000 {
		e.Set(i, i+1)
		e.Delete(i)
		e.Set(i, i+1)
	}
	require.Equal(t, pages, growth(m, e.cur).pages)
	require.Equal(t, before.kid, first.root.kid, "owned directories are edited in place")
	checkTree(t, m)
	checkTree(t, e.Seal())
	for k, v := range m.All() {
		require.Equal(t, k, v)
	}
}

// numbers returns the pairs i, i for i below n.
func numbers(n int) func(yield func(int, int) bool) {
	return func(yield func(int, int) bool) {
		for i := range n {
			if !yield(i, i) {
				return
			}
		}
	}
}

// badHashes are the hash functions that maps must survive. Each gets a good
// hash and spoils it.
var badHashes = map[string]func(uint64) uint64{
	"constant":  func(uint64) uint64 { return 0x5555_5555_5555_5555 },
	"zero":      func(uint64) uint64 { return 0 },
	"ones":      func(uint64) uint64 { return 1<<64 - 1 },
	"top6":      func(h uint64) uint64 { return h &^ (1<<58 - 1) },
	"path":      func(h uint64) uint64 { return h &^ (1<<(hashBits-pathBits) - 1) },
	"low32":     func(h uint64) uint64 { return h & (1<<32 - 1) },
	"8bits":     func(h uint64) uint64 { return h & 0xff * 0x0101_0101_0101_0101 },
	"two":       func(h uint64) uint64 { return -(h & 1) },
	"neighbors": func(h uint64) uint64 { return h & (7<<32 | 1<<63) }, // tags that differ in low bits
	"lastbit":   func(h uint64) uint64 { return h & (1 << (hashBits - pathBits)) },
}

// spoilHash gives m, a new map, a bad hash.
func spoilHash[K comparable, V any](m *Map[K, V], bad func(uint64) uint64) {
	good := *m.cfg
	m.cfg.hash = func(key K) uint64 { return bad(good.hashOf(key)) }
}

func TestBadHashes(t *testing.T) {
	for name, bad := range badHashes {
		t.Run(name, func(t *testing.T) {
			m := New[string](Options[int]{})
			spoilHash(m, bad)
			n := inShort(200, 700)
			for i := range n {
				e := m.Edit()
				e.Set(fmt.Sprint("key", i), i)
				m = e.Seal()
				if i%50 == 0 || i < 60 {
					checkTree(t, m)
				}
			}
			full := m
			for i := range n {
				e := m.Edit()
				require.False(t, e.Delete("absent"))
				require.True(t, e.Delete(fmt.Sprint("key", i)))
				m = e.Seal()
				require.False(t, m.Has(fmt.Sprint("key", i)))
				if i%50 == 0 || i > n-60 {
					checkTree(t, m)
				}
			}
			require.Equal(t, directory[int]{}.kid, m.root.kid)
			checkTree(t, full)
			require.Len(t, maps.Collect(full.All()), n)
			require.Len(t, slices.Collect(full.Diff(m)), n)
			require.Len(t, slices.Collect(m.Diff(full)), n)
		})
	}
}

// Where hashes do not separate keys nothing recurses without bound and the
// cost of one more key is that of the keys there: one bag, at the end of the
// longest path.
func TestAConstantHashMakesOneBag(t *testing.T) {
	m := New[int](Options[int]{})
	hashed := 0
	m.cfg.hash = func(int) uint64 { hashed++; return 1 << 63 }
	e := m.Edit()
	const n = 3000
	for i := range n {
		e.Set(i, i)
	}
	m = e.Seal()
	require.Equal(t, footprint{directories: pathBits/fanBits - 1, bags: 1, moved: n}, func() footprint {
		f := shapeOf(m)
		f.bytes = 0
		return f
	}())
	require.Less(t, hashed, n+5*pathBits*capacity(maxBuckets), "one call a key, and for what was split on the way")

	older := m
	hashed = 0
	e = m.Edit()
	e.Set(n/2, -1)
	m = e.Seal()
	require.Equal(t, 1, hashed)
	f := growth(older, m)
	require.Equal(t, n, f.moved)
	require.Equal(t, 1, f.bags)

	hashed = 0
	e = m.Edit()
	for i := range n - 1 {
		require.True(t, e.Delete(i))
	}
	m = e.Seal()
	f = shapeOf(m)
	require.Equal(t, 1, f.pages)
	require.Zero(t, f.directories+f.bags)
	require.Less(t, hashed, n+2*pathBits*maxJoin+1)
	checkTree(t, m)
	checkTree(t, older)
}

// levels returns the levels of directories in m, and how many of them are wide.
func levels[K comparable, V any](m *Map[K, V]) (deep, wide int) {
	var look func(d node, level int)
	look = func(d node, level int) {
		deep = max(deep, level)
		for i, kid := range d.kid {
			if isDirectory(kid) && (i == 0 || kid != d.kid[i-1]) {
				if bucketsOf(kid) == wideKid {
					wide++
				}
				look(nodeAt[V](kid), level+1)
			}
		}
	}
	look(m.root.node(), 1)
	return deep, wide
}

// splitmix is a hash by which shapes are the same each time: splitmix64 (Steele et al. 2014).
func splitmix(key int) uint64 {
	h := uint64(key+1) * 0x9e37_79b9_7f4a_7c15
	h = (h ^ h>>30) * 0xbf58_476d_1ce4_e5b9
	h = (h ^ h>>27) * 0x94d0_49bb_1331_11eb
	return h ^ h>>31
}

// A wide directory spares a level from about 500 entries to 1,200 of one that is not; and a map is
// of the same shape whether it was built at once or key by key.
func TestDirectoriesAreWideWhereThatSparesALevel(t *testing.T) {
	for _, step := range []struct{ keys, deep, wide int }{
		{250, 1, 0}, {3_000, 2, 0}, {6_400, 3, 0}, {10_000, 2, fan}, {50_000, 3, 0}, {160_000, 3, fan * fan},
	} {
		if step.keys > inShort(50_000, 160_000) {
			continue
		}
		one := New[int](Options[int]{})
		one.cfg.hash = splitmix
		e := one.Edit()
		for i := range step.keys {
			e.Set(i, i)
		}
		one = e.Seal()
		deep, wide := levels(one)
		require.Equal(t, []int{step.deep, step.wide}, []int{deep, wide}, "%d keys", step.keys)
		checkTree(t, one)
		built := one.empty().Edit()
		built.SetAll(numbers(step.keys))
		all := built.Seal()
		checkTree(t, all)
		var same func(a, b node)
		same = func(a, b node) {
			require.Equal(t, len(a.kid), len(b.kid))
			for i := range a.kid {
				require.Equal(t, isDirectory(a.kid[i]), isDirectory(b.kid[i]))
				if isDirectory(a.kid[i]) {
					same(nodeAt[int](a.kid[i]), nodeAt[int](b.kid[i]))
				} else {
					from, n := a.run(uint64(i))
					gotFrom, gotN := b.run(uint64(i))
					require.Equal(t, [2]uint64{from, n}, [2]uint64{gotFrom, gotN})
				}
			}
		}
		same(one.root.node(), all.root.node())
	}
}

// Up and down again, a key at a time: each version is whole, and those before stay as they are.
func TestDirectoriesOfBothKindsComeAndGo(t *testing.T) {
	base := New[int](Options[int]{})
	base.cfg.hash = func(key int) uint64 { return uint64(key) * 0x9e37_79b9_7f4a_7c15 >> fanBits }
	m := base
	var versions []*Map[int, int]
	turn := func(i int, edit func(e *Editor[int, int])) {
		e := m.Edit()
		edit(e)
		m = e.Seal()
		if i%100 == 0 {
			checkTree(t, m)
			versions = append(versions, m)
		}
	}
	const n = 2500
	kinds := map[uint64]int{}
	for i := range n {
		turn(i, func(e *Editor[int, int]) { e.Set(i, i) })
		kinds[bucketsOf(m.root.kid[0])]++
	}
	require.Greater(t, kinds[wideKid], 300)
	require.Zero(t, bucketsOf(m.root.kid[0]))
	for i := range n {
		// Not in the order of the hashes, nor of the keys.
		turn(i, func(e *Editor[int, int]) { require.True(t, e.Delete(i*7%n)) })
	}
	require.Equal(t, base.root.kid, m.root.kid)
	for _, v := range versions {
		checkTree(t, v)
	}
	// Several keys at a time, after which the directory is another.
	m, versions = New[int](Options[int]{}), nil
	m.cfg.hash = func(key int) uint64 { return splitmix(key) >> fanBits }
	for from := 0; from < n; from += 20 {
		turn(0, func(e *Editor[int, int]) {
			for i := range 20 {
				e.Set(from+i, from+i)
			}
		})
	}
	for i, v := range versions {
		require.Equal(t, (i+1)*20, v.Len())
		checkTree(t, v)
	}
	// From a wide directory down.
	m = base
	e := m.Edit()
	e.SetAll(numbers(600))
	m = e.Seal()
	require.Equal(t, uint64(wideKid), bucketsOf(m.root.kid[0]))
	for i := range 600 {
		turn(i, func(e *Editor[int, int]) { require.True(t, e.Delete(i)) })
		checkTree(t, m)
	}
	require.Equal(t, base.root.kid, m.root.kid)
}

// A key that is set and deleted over and over where a page just split must
// not make it join and split each time.
func TestSplitAndJoinAreApart(t *testing.T) {
	m := must(Collect(Options[int]{}, numbers(capacity(maxBuckets)+1)))
	require.Equal(t, 2, shapeOf(m).pages)
	for i := range 100 {
		e := m.Edit()
		e.Delete(i % m.Len())
		n := e.Seal()
		require.Equal(t, 2, shapeOf(n).pages)
		require.LessOrEqual(t, growth(m, n).pages, 1)
	}
}

func TestRuns(t *testing.T) {
	a, b := asKid(newPage[int](1), 1), asKid(newPage[int](1), 1)
	type run struct{ from, n uint64 }
	runOf := func(d node, i uint64) run {
		from, n := d.run(i)
		return run{from, n}
	}
	d := new(directory[int]).node()
	for i := range uint64(fan) {
		require.Equal(t, run{0, fan}, runOf(d, i))
	}
	d.fill(2, 2, a)
	d.fill(4, 1, b)
	require.Equal(t, uint64(0x1c), *d.owned)
	for i := range uint64(fan) {
		want := run{fan / 2, fan / 2}
		if i < 8 {
			want = []run{{0, 2}, {0, 2}, {2, 2}, {2, 2}, {4, 1}, {5, 1}, {6, 2}, {6, 2}}[i]
		}
		require.Equal(t, want, runOf(d, i), i)
		require.Equal(t, 2 <= i && i <= 4, d.owns(i))
	}
	require.True(t, d.uniform(2, 2, a))
	require.False(t, d.uniform(2, 4, a))
	d.fill(0, fan, a)
	require.Equal(t, run{0, fan}, runOf(d, fan-1))
	require.Equal(t, uint64(1<<fan-1), *d.owned)
}

func TestSplitBitIsTheNextOfThePath(t *testing.T) {
	for depth := uint(0); depth < pathBits; depth += fanBits {
		for _, b := range []uint{fanBits, wideBits} {
			for log := uint(1); log <= b; log++ {
				// A run of 1<<log slots is reached by that many bits less.
				used := depth + b - log
				require.Equal(t, hashBits-1-used, splitBit(depth, b, 1<<log))
			}
		}
	}
}

func TestSlotAt(t *testing.T) {
	for level := range pathBits / fanBits {
		h := uint64(5) << (hashBits - fanBits*(level+1))
		for other := range pathBits / fanBits {
			want := uint64(0)
			if other == level {
				want = 5
			}
			require.Equal(t, want, new(directory[int]).node().slotAt(h, other))
			if other == level {
				require.Equal(t, want<<(wideBits-fanBits), new(wide[int]).node().slotAt(h, other))
			}
		}
	}
}

func TestTags(t *testing.T) {
	for tag := uint64(0x80); tag <= 0xff; tag++ {
		require.Equal(t, tag, tagOf(tag<<tagShift))
		require.Equal(t, tag, tagOf((tag&0x7f)<<tagShift|0xffffff80_ffffffff), "nothing but its seven bits")
		require.Zero(t, match(0, tag), "a free slot has no tag")
		require.Zero(t, match(mark, tag))
		for s := range uint(slots) {
			// Alone, and first among others.
			require.Equal(t, uint64(0x80)<<(8*s), match(tag<<(8*s), tag))
			require.Equal(t, uint64(0x80)<<(8*s), match(tag<<(8*s)|mark, tag))
			require.Zero(t, match((tag^2)<<(8*s), tag))
			all := uint64(0)
			for i := range uint(slots) {
				other := tag ^ 3
				if i >= s {
					other = tag
				}
				all |= other << (8 * i)
			}
			require.Equal(t, s, slotOf(match(all, tag)))
			require.Equal(t, slots-int(s), bits.OnesCount64(match(all, tag)))
		}
		// It may claim more than there is, never a free slot, and only above one.
		require.Equal(t, uint64(0x8080), match(tag|(tag^1)<<8, tag))
		require.Equal(t, uint64(0x80), match(tag|(tag^1)<<16, tag))
	}
	require.Equal(t, uint64(highs), free(0))
	require.Equal(t, uint64(highs), free(mark))
	require.Equal(t, uint64(highs)&^0x80, free(mark|0x80))
}

func TestBucketOfCoversAllBucketsEvenly(t *testing.T) {
	for n := uint64(1); n <= maxBuckets; n++ {
		require.Equal(t, uint64(0), bucketOf(0, n))
		require.Equal(t, n-1, bucketOf(1<<32-1, n))
		require.Equal(t, n-1, bucketOf(1<<64-1, n))
		require.Equal(t, uint64(0), bucketOf(1<<64-1<<32, n), "the high bits are of no account")
		hits := make([]int, n)
		for i := range uint64(840) {
			hits[bucketOf(i*(1<<32)/840+1, n)]++
		}
		for _, h := range hits {
			require.InDelta(t, 840/int(n), h, 1)
		}
	}
}

func TestPagesHaveRoomForOneMore(t *testing.T) {
	require.Equal(t, uint64(1), bucketsFor(0))
	for n := 1; n <= capacity(maxBuckets); n++ {
		b := bucketsFor(n)
		require.LessOrEqual(t, n, capacity(b))
		require.True(t, n < capacity(b) || b == maxBuckets, n)
		require.True(t, b == 1 || n >= capacity(b-1), "and no more than they need: %d", n)
	}
	require.LessOrEqual(t, maxBuckets*unsafe.Sizeof(bucket[int]{}), uintptr(512))
	require.Less(t, uint64(wideKid), uint64(bagBuckets))
}

func TestEveryPageIsAlignedAndCopied(t *testing.T) {
	for n := uint64(1); n <= maxBuckets; n++ {
		for range 20 {
			page := newPage[string](n)
			for i := range n {
				*bucketAt[string](page, i) = bucket[string]{meta: mark + i, entry: [slots]*entry[string]{6: {meta: i}}}
			}
			c := keep(copyPage[string](page, n))
			require.NotEqual(t, page, c)
			for i := range n {
				require.Equal(t, *bucketAt[string](page, i), *bucketAt[string](c, i))
				require.Equal(t, i, indexOf(c, bucketAt[string](c, i)))
			}
			kid := asKid(c, n)
			require.Equal(t, n, bucketsOf(kid))
			require.Equal(t, c, target(kid))
			d := keep(&directory[string]{kid: [fan]unsafe.Pointer{kid}}).node()
			d.fill(1, 1, unsafe.Pointer(new(directory[string])))
			require.Zero(t, bucketsOf(d.kid[1]))
			d.fill(2, 1, asKid(unsafe.Pointer(keep(new(wide[string]))), wideKid))
			require.Equal(t, uint64(wideKid), bucketsOf(d.kid[2]))
		}
	}
	for range 20 {
		d := keep(new(directory[string])).node() // a bag on the stack would not be aligned
		d.fill(0, fan, bagKid([]*entry[string]{{meta: 1}}))
		kid := d.kid[0]
		require.Equal(t, uint64(bagBuckets), bucketsOf(kid))
		require.Len(t, (*bag[string])(target(kid)).entries, 1)
	}
	require.Panics(t, func() { asKid(unsafe.Add(newPage[int](1), 1), 1) })
}

var kept any

// keep makes v escape to the heap.
func keep[T any](v T) T {
	kept = v
	return v
}

// What overflowed from a full bucket is found behind it, also when the bucket
// has room again, and around the end of the page.
func TestOverflow(t *testing.T) {
	for home := uint64(0); home < 3; home++ {
		m := New[int](Options[int]{})
		// All on one path, with tags by key, at home in one bucket of three.
		m.cfg.hash = func(key int) uint64 { return uint64(key&0x7f)<<tagShift | home*0x5555_5556 }
		e := m.Edit()
		for i := range 17 {
			e.Set(i, i)
		}
		kid := e.cur.root.kid[0]
		require.Equal(t, uint64(3), bucketsOf(kid))
		checkTree(t, e.cur)
		for i := range 3 {
			b := bucketAt[int](target(kid), (home+uint64(i))%3)
			require.Equal(t, i < 2, b.meta >= mark, "the third bucket did not overflow")
		}
		for i := range 8 {
			require.True(t, e.Delete(i))
			checkTree(t, e.cur)
		}
		require.False(t, e.Has(0))
		require.False(t, e.Has(100))
		for i := 8; i < 17; i++ {
			require.True(t, e.Has(i))
		}
	}
}

// A tag with 1<<7 times 1<<32 is shared by many keys: their keys decide.
func TestEqualTagsAreToldApartByTheirKeys(t *testing.T) {
	m := New[string](Options[int]{})
	m.cfg.hash = func(string) uint64 { return 0 }
	e := m.Edit()
	// Of one length, so that nothing but their bytes tells them apart.
	for i := range 7 {
		e.Set(fmt.Sprint("key-", i), i)
	}
	m = e.Seal()
	require.Equal(t, 1, shapeOf(m).pages)
	for i := range 7 {
		v, ok := m.Get(fmt.Sprint("key-", i))
		require.True(t, ok)
		require.Equal(t, i, v)
	}
	ints := New[int](Options[int]{})
	ints.cfg.hash = func(int) uint64 { return 0 }
	f := ints.Edit()
	f.SetAll(numbers(7))
	ints = f.Seal()
	for i := range 7 {
		v, ok := ints.Get(i)
		require.True(t, ok)
		require.Equal(t, i, v)
	}
	require.False(t, ints.Has(7))
	require.False(t, m.Has("key-7"))
	require.False(t, m.Has("key"))
	require.False(t, m.Has(""))
}
