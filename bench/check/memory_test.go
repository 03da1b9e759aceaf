package check

import (
	"errors"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory"
)

// spacePaths are the spaces of the machine, in order: the root, nested ones, and
// one that must not be taken for another.
var spacePaths = [][]string{{}, {"a"}, {"a", "b"}, {"ab"}}

// A place is where an entry is.
type place struct {
	space int // of spacePaths
	key   string
}

// An item is what the model has for an entry. It is immutable.
type item struct {
	value    any // nil: none
	vector   []float32
	metadata map[string]any
}

// entries are the plain map that a Memory has to agree with.
type entries = table[place, item]

// A memoryVersion is what a Memory has to be at one version, and its snapshot.
type memoryVersion struct {
	version uint64
	entries entries
	held    memory.Snapshot
}

// A memoryLine is a Memory or a fork, and all its versions, the current one last.
type memoryLine struct {
	m        *memory.Memory
	versions []*memoryVersion
	oldest   uint64 // that At finds

	parent *memoryLine       // nil: not a fork
	base   [2]*memoryVersion // that the fork and the parent agree on: as either has it
}

func (l *memoryLine) current() *memoryVersion { return l.versions[len(l.versions)-1] }

// A memoryMachine is a Memory with its forks, and what they have to be.
type memoryMachine struct {
	lines  []*memoryLine
	writes int
}

// memoryKeeps is how many versions before the current one a line keeps.
const memoryKeeps = 6

func newMemoryMachine() *memoryMachine {
	m := memory.New(memory.Options{})
	m.Retain(cow.Retention{Versions: memoryKeeps})
	return &memoryMachine{lines: []*memoryLine{{m: m, versions: []*memoryVersion{{entries: make(entries), held: m.Load()}}}}}
}

// published is to be called when next may be the version of a line; it is if it
// holds anything else than the one before.
func (m *memoryMachine) published(t *rapid.T, l *memoryLine, next entries) {
	now := l.current()
	if next.same(now.entries) {
		require.True(t, now.held == l.m.Load())
		return
	}
	v := &memoryVersion{now.version + 1, next, l.m.Load()}
	l.versions = append(l.versions, v)
	if v.version > memoryKeeps {
		l.oldest = max(l.oldest, v.version-memoryKeeps)
	}
}

// spaceWrites are the verbs that a Space and its Editor both have.
type spaceWrites interface {
	Get(key string) (memory.Value, bool)
	Entry(key string) (memory.Entry, bool)
	Put(key string, v any) error
	PutItem(key string, it memory.Item) error
	Insert(key string, v any) error
	Modify(key string, f func(v memory.Value) (any, error)) error
	Upsert(key string, f func(v memory.Value) (any, error)) error
	SetIf(key string, rev uint64, v any) error
	Delete(key string) bool
	DeleteIf(key string, rev uint64) error
	Take(key string) (memory.Value, bool)
	Clear() int
	ClearAll() int
	PutVector(key string, v []float32, metadata map[string]any) error
	DeleteVector(key string) bool
}

// A spaceEditor is a Space with the verbs as its Editor has them.
type spaceEditor struct{ memory.Space }

func errOf(_ uint64, err error) error { return err }

func (s spaceEditor) Put(key string, v any) error { return errOf(s.Space.Put(key, v)) }
func (s spaceEditor) PutItem(key string, it memory.Item) error {
	return errOf(s.Space.PutItem(key, it))
}
func (s spaceEditor) Insert(key string, v any) error { return errOf(s.Space.Insert(key, v)) }
func (s spaceEditor) Modify(key string, f func(v memory.Value) (any, error)) error {
	return errOf(s.Space.Modify(key, f))
}
func (s spaceEditor) Upsert(key string, f func(v memory.Value) (any, error)) error {
	return errOf(s.Space.Upsert(key, f))
}
func (s spaceEditor) SetIf(key string, rev uint64, v any) error {
	return errOf(s.Space.SetIf(key, rev, v))
}
func (s spaceEditor) DeleteIf(key string, rev uint64) error {
	return errOf(s.Space.DeleteIf(key, rev))
}
func (s spaceEditor) PutVector(key string, v []float32, metadata map[string]any) error {
	return errOf(s.Space.PutVector(key, v, metadata))
}
func (s spaceEditor) Delete(key string) bool {
	rev, err := s.Space.Delete(key)
	return rev > 0 && err == nil
}
func (s spaceEditor) DeleteVector(key string) bool {
	rev, err := s.Space.DeleteVector(key)
	return rev > 0 && err == nil
}
func (s spaceEditor) Take(key string) (memory.Value, bool) {
	v, ok, err := s.Space.Take(key)
	return v, ok && err == nil
}
func (s spaceEditor) Clear() int {
	n, _ := s.Space.Clear()
	return n
}
func (s spaceEditor) ClearAll() int {
	n, _ := s.Space.ClearAll()
	return n
}

var words = []string{"alpha", "beta", "gamma"}

// with returns the item with another value, without the vector of the one it had.
func (i item) with(v any) item {
	if i.value != nil && !reflect.DeepEqual(i.value, v) {
		i.vector = nil
	}
	i.value = v
	return i
}

// drawValue draws a number, a text or a map with both.
func drawValue(t *rapid.T) any {
	n := rapid.IntRange(0, 9).Draw(t, "number")
	text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 2).Draw(t, "text"), " ")
	switch rapid.IntRange(0, 2).Draw(t, "shape") {
	case 0:
		return n
	case 1:
		return text
	}
	return map[string]any{"n": n, "text": text}
}

// textOf returns the text in a value.
func textOf(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case map[string]any:
		return v["text"].(string)
	}
	return ""
}

// drawVector draws a vector of three dimensions that is not zero.
func drawVector(t *rapid.T) []float32 {
	v := rapid.SliceOfN(rapid.Int8Range(-3, 3), 3, 3).Draw(t, "vector")
	return []float32{float32(v[0]) + 0.5, float32(v[1]), float32(v[2])}
}

func drawMetadata(t *rapid.T) map[string]any {
	if n := rapid.IntRange(0, 3).Draw(t, "metadata"); n > 0 {
		return map[string]any{"n": n}
	}
	return nil
}

// step does one random thing to a space, as version, and to the model, which it
// changes.
func (m *memoryMachine) step(t *rapid.T, of func(space int) spaceWrites, model entries, version uint64) {
	at := place{rapid.IntRange(0, len(spacePaths)-1).Draw(t, "space"), rapid.SampledFrom([]string{"", "j", "k"}).Draw(t, "key")}
	s, k := of(at.space), at.key
	old, found := model[at]
	hasValue := old.value.value != nil
	next := old.value
	put := func() {
		m.writes++
		model[at] = row[item]{next, version, m.writes}
	}
	do := rapid.SampledFrom([]string{"put", "put", "put item", "put item", "insert", "setIf", "modify", "modify badly", "upsert", "delete",
		"deleteIf", "take", "clear", "clear all", "put vector", "put vector", "put wrong vector", "delete vector"}).Draw(t, "do")
	switch do {
	case "put":
		next = next.with(drawValue(t))
		require.NoError(t, s.Put(k, next.value))
		put()
	case "put item":
		next = item{value: drawValue(t), metadata: drawMetadata(t)}
		if rapid.Bool().Draw(t, "with vector") {
			next.vector = drawVector(t)
		}
		given := slices.Clone(next.vector)
		require.NoError(t, s.PutItem(k, memory.Item{Value: next.value, Vector: given, Metadata: next.metadata}))
		clear(given) // was copied
		put()
	case "insert":
		next = next.with(drawValue(t))
		if err := s.Insert(k, next.value); hasValue {
			require.ErrorIs(t, err, memory.ErrExists)
		} else {
			require.NoError(t, err)
			put()
		}
	case "setIf":
		rev := rapid.SampledFrom([]uint64{old.rev, 0, old.rev + 1}).Draw(t, "rev")
		next = next.with(drawValue(t))
		if err := s.SetIf(k, rev, next.value); rev != old.rev || rev == version { // what this batch wrote is pending
			require.ErrorIs(t, err, memory.ErrRevision)
		} else {
			require.NoError(t, err)
			put()
		}
	case "modify", "upsert", "modify badly":
		f := func(is memory.Value) (any, error) {
			require.Equal(t, hasValue, is.Exists())
			require.Equal(t, old.value.value, is.Any())
			if do == "modify badly" {
				return nil, errModify
			}
			next = next.with(drawValue(t))
			return next.value, nil
		}
		verb := s.Modify
		if do == "upsert" {
			verb = s.Upsert
		}
		switch err := verb(k, f); {
		case do != "upsert" && !hasValue:
			require.ErrorIs(t, err, memory.ErrNotFound)
		case do == "modify badly":
			require.ErrorIs(t, err, errModify)
		default:
			require.NoError(t, err)
			put()
		}
	case "delete":
		require.Equal(t, found, s.Delete(k))
		delete(model, at)
	case "deleteIf":
		rev := rapid.SampledFrom([]uint64{old.rev, 0, old.rev + 1}).Draw(t, "rev")
		if err := s.DeleteIf(k, rev); rev != old.rev || rev == version {
			require.ErrorIs(t, err, memory.ErrRevision)
		} else {
			require.NoError(t, err)
			delete(model, at)
		}
	case "take":
		v, ok := s.Take(k)
		require.Equal(t, hasValue, ok)
		require.Equal(t, old.value.value, v.Any())
		if ok {
			delete(model, at)
		}
	case "clear", "clear all":
		below := func(p place) bool { return p.space == at.space }
		verb := s.Clear
		if do == "clear all" {
			verb = s.ClearAll
			path := spacePaths[at.space]
			below = func(p place) bool {
				q := spacePaths[p.space]
				return len(q) >= len(path) && slices.Equal(q[:len(path)], path)
			}
		}
		n := len(model)
		maps.DeleteFunc(model, func(p place, _ row[item]) bool { return below(p) })
		require.Equal(t, n-len(model), verb())
	case "put vector":
		next.vector, next.metadata = drawVector(t), drawMetadata(t)
		require.NoError(t, s.PutVector(k, next.vector, next.metadata))
		put()
	case "put wrong vector":
		require.ErrorIs(t, s.PutVector(k, []float32{}, nil), memory.ErrEmpty)
		require.ErrorIs(t, s.PutVector(k, []float32{1, 2, float32(math.NaN())}, nil), memory.ErrNotFinite)
	case "delete vector":
		require.Equal(t, next.vector != nil, s.DeleteVector(k))
		if next.vector == nil {
			break
		}
		if next.vector, next.metadata = nil, nil; hasValue {
			put()
		} else {
			delete(model, at)
		}
	}
	e, ok := s.Entry(k)
	if is := model[at]; ok && is.rev == version && e.Revision == memory.Pending {
		e.Revision = version // in a batch that wrote it
	}
	requireEntry(t, model[at], at.key, e, ok)
}

// Verb does one thing by a verb of a Space, in a version of its own.
func (m *memoryMachine) Verb(t *rapid.T) {
	l := draw(t, m.lines, "line")
	next := maps.Clone(l.current().entries)
	m.step(t, func(space int) spaceWrites { return spaceEditor{l.m.Space(spacePaths[space]...)} }, next, l.current().version+1)
	m.published(t, l, next)
}

// Batch does a few things in one version, and fails now and then.
func (m *memoryMachine) Batch(t *rapid.T) {
	l := draw(t, m.lines, "line")
	now := l.current()
	next := maps.Clone(now.entries)
	fails := rapid.IntRange(0, 4).Draw(t, "fails") == 0
	err := l.m.Batch(func(b *memory.Batch) error {
		require.Equal(t, now.version+1, b.Version())
		for range rapid.IntRange(1, 4).Draw(t, "steps") {
			m.step(t, func(space int) spaceWrites { return b.Space(spacePaths[space]...) }, next, b.Version())
		}
		if fails {
			return errAbort
		}
		return nil
	})
	if fails {
		require.ErrorIs(t, err, errAbort)
		require.True(t, now.held == l.m.Load())
		return
	}
	require.NoError(t, err)
	m.published(t, l, next)
}

// At reads a past version, whether or not it is kept, and one to come.
func (m *memoryMachine) At(t *rapid.T) {
	l := draw(t, m.lines, "line")
	v := draw(t, l.versions, "version")
	s, err := l.m.At(v.version)
	if v.version < l.oldest {
		require.ErrorIs(t, err, memory.ErrCompacted)
	} else {
		require.NoError(t, err)
		v.require(t, s)
	}
	_, err = l.m.At(l.current().version + 1)
	require.ErrorIs(t, err, memory.ErrUnpublished)
}

// Fork forks from any version of any line.
func (m *memoryMachine) Fork(t *rapid.T) {
	if len(m.lines) == 4 {
		t.Skip("forks enough")
	}
	l := draw(t, m.lines, "line")
	v := draw(t, l.versions, "version")
	f := &memoryLine{m: l.m.Fork(v.held), parent: l, oldest: v.version}
	f.m.Retain(cow.Retention{Versions: memoryKeeps})
	begin := &memoryVersion{v.version, v.entries, f.m.Load()}
	f.versions = []*memoryVersion{begin}
	f.base = [2]*memoryVersion{begin, v}
	m.lines = append(m.lines, f)
}

// Merge merges a fork into its parent, or the other way round.
func (m *memoryMachine) Merge(t *rapid.T) {
	f := draw(t, m.lines, "line")
	if f.parent == nil {
		t.Skip("no fork")
	}
	into, from := f.parent, f
	if rapid.Bool().Draw(t, "back") {
		into, from = from, into
	}
	base := draw(t, f.base[:], "base")
	ours, theirs := into.current(), from.current()
	merged, n := merge(ours.entries, base.entries, theirs.entries, ours.version+1)
	next, err := into.m.Merge(base.held, theirs.held, nil)
	if n > 0 {
		var conflicts *memory.MergeError
		require.True(t, errors.As(err, &conflicts))
		require.Len(t, conflicts.Conflicts, n)
		require.True(t, ours.held == into.m.Load())
		return
	}
	require.NoError(t, err)
	require.True(t, theirs.held == next)
	m.published(t, into, merged)
	f.base = [2]*memoryVersion{theirs, theirs}
}

// Check compares versions of all lines with what they were: the current one, and
// another one each time.
func (m *memoryMachine) Check(t *rapid.T) {
	for _, l := range m.lines {
		require.True(t, l.current().held == l.m.Load())
		l.current().require(t, l.m.Load())
		v := l.versions[m.writes%len(l.versions)]
		v.require(t, v.held)
	}
}

// all compares all versions of all lines with what they were.
func (m *memoryMachine) all(t *rapid.T) {
	for _, l := range m.lines {
		for _, v := range l.versions {
			v.require(t, v.held)
		}
	}
}

// require requires that a snapshot is as the version has to be.
func (v *memoryVersion) require(t *rapid.T, s memory.Snapshot) {
	require.Equal(t, v.version, s.Version())
	require.Equal(t, len(v.entries), s.Len())
	var paths [][]string
	for i, path := range spacePaths {
		view := s.Space(path...)
		var keys []string
		for p := range v.entries {
			if p.space == i {
				keys = append(keys, p.key)
			}
		}
		slices.Sort(keys)
		if len(keys) > 0 {
			paths = append(paths, path)
		}
		require.Equal(t, len(keys), view.Len())
		n := 0
		for e := range view.List(memory.ListOptions{}) {
			require.Less(t, n, len(keys))
			want := v.entries[place{i, keys[n]}]
			requireEntry(t, want, keys[n], e, true)
			is, ok := view.Vector(keys[n])
			require.Equal(t, want.value.vector, is)
			require.Equal(t, is != nil, ok)
			n++
		}
		require.Equal(t, len(keys), n)
		for _, k := range []string{"", "j", "k"} {
			e, ok := view.Entry(k)
			requireEntry(t, v.entries[place{i, k}], k, e, ok)
		}
		v.requireSearch(t, i, view)
	}
	var is [][]string
	for path := range s.Spaces(memory.SpacesOptions{}) {
		is = append(is, append([]string{}, path...))
	}
	require.Equal(t, paths, is)
}

// requireEntry requires that an entry is as the model says; the zero row is none.
func requireEntry(t *rapid.T, want row[item], key string, e memory.Entry, ok bool) {
	require.Equal(t, want.write != 0, ok)
	if !ok {
		return
	}
	require.Equal(t, key, e.Key)
	require.Equal(t, want.rev, e.Revision)
	require.Equal(t, want.value.value, e.Value.Any())
	require.Equal(t, len(want.value.vector), e.Dim)
	if want.value.metadata == nil {
		require.False(t, e.Metadata.Exists())
	} else {
		require.Equal(t, any(want.value.metadata), e.Metadata.Any())
	}
}

// requireSearch requires that both searches find what a scan of the model finds.
func (v *memoryVersion) requireSearch(t *rapid.T, space int, view memory.SpaceSnapshot) {
	query := []float32{1, -2, 0.5}
	scores := make(map[string]float64)
	texts := make(map[string]bool)
	for p, r := range v.entries {
		if p.space != space {
			continue
		}
		if r.value.vector != nil {
			scores[p.key] = cosine(query, r.value.vector)
		}
		if strings.Contains(textOf(r.value.value), words[0]) {
			texts[p.key] = true
		}
	}
	hits, err := view.Search(query, memory.SearchOptions{K: 100})
	require.NoError(t, err)
	require.Len(t, hits, len(scores))
	last := math.Inf(1)
	for _, h := range hits {
		require.Contains(t, scores, h.Key)
		require.InDelta(t, scores[h.Key], h.Score, 1e-5)
		require.LessOrEqual(t, h.Score, last)
		last = h.Score
		delete(scores, h.Key)
	}
	hits, err = view.SearchText(words[0], memory.SearchOptions{K: 100})
	require.NoError(t, err)
	require.Len(t, hits, len(texts))
	for _, h := range hits {
		require.True(t, texts[h.Key])
		delete(texts, h.Key)
	}
}

func cosine(a, b []float32) float64 {
	var dot, aa, bb float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		dot, aa, bb = dot+x*y, aa+x*x, bb+y*y
	}
	return dot / math.Sqrt(aa*bb)
}

// A Memory, its spaces, searches, history, forks and what they merge are what
// plain maps are.
func TestMemoryMachine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMemoryMachine()
		t.Repeat(rapid.StateMachineActions(m))
		m.all(t)
	})
}
