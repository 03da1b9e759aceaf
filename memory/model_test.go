package memory_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/cowtest"
	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/value"
	"github.com/cowstore/cowstore/memory/vector"
)

// A modelEntry is an entry of the slow model. It is immutable once it is stored.
type modelEntry struct {
	value            memory.Value
	words            []string
	vector           []float32
	metadata         memory.Value
	n                int // of the metadata
	created, updated time.Time
	expires          time.Time
	kept             bool
	by               *string // the key of what has superseded it
}

func (e *modelEntry) expired(now time.Time) bool { return !e.expires.IsZero() && !e.expires.After(now) }

// set sets the value, and drops the vector of another one.
func (e *modelEntry) set(v memory.Value) {
	if e.value.Exists() && !memory.Equal(e.value, v) {
		e.vector = nil
	}
	e.value, e.by = v, nil
}

// A slot is where an entry is stored. A merge copies the id; all else makes
// another.
type slot struct {
	*modelEntry
	id   *byte
	rev  uint64
	used *uint64 // in ticks; forks share it
}

// A model is what a Memory has to hold, with what has expired but is not swept.
type model map[string]map[string]slot // by path, in modelPaths, and key

// modelPaths are nested, the root, and some that an encoding may mix up.
var modelPaths = map[string][]string{}

var modelSpaces = []string{}

func init() {
	for _, p := range [][]string{{}, {"a"}, {"a", "b"}, {"a\x00b"}, {"a", "b", "c"}, {"a\x01"}, {""}} {
		name := fmt.Sprintf("%q", p)
		modelPaths[name] = p
		modelSpaces = append(modelSpaces, name)
	}
	slices.SortFunc(modelSpaces, func(a, b string) int { return slices.Compare(modelPaths[a], modelPaths[b]) })
}

var (
	modelKeys  = []string{"", "\x00", "\x01k", "\x02", "k", "kk", "l", "\xff"}
	modelWords = []string{"alpha", "beta", "gamma", "delta", "epsilon"}
)

func (m model) clone() model {
	c := make(model)
	for path, keys := range m {
		c[path] = maps.Clone(keys)
	}
	return c
}

// at is the model as one sees it at an instant.
func (m model) at(now time.Time) model {
	c := make(model)
	for path, keys := range m {
		for k, s := range keys {
			if !s.expired(now) {
				if c[path] == nil {
					c[path] = make(map[string]slot)
				}
				c[path][k] = s
			}
		}
	}
	return c
}

func (m model) len() int {
	n := 0
	for _, keys := range m {
		n += len(keys)
	}
	return n
}

// verbs are what a Space and an Editor both have.
type verbs interface {
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
	Keep(key string, keep bool) error
	Supersede(old, key string, it memory.Item) error
	AppendTo(key string, elements ...any) error
	PutUnlessSimilar(key string, it memory.Item, q memory.Query) (memory.Hit, error)
	PutVector(key string, v []float32, metadata any) error
	DeleteVector(key string) bool
}

// A modelTest is a Memory and its model.
type modelTest struct {
	t     *testing.T
	r     *rand.Rand
	m     *memory.Memory
	model model

	options map[string]memory.SpaceOptions // of spaces
	limit   int                            // of entries in all of them
	tick    *uint64                        // of uses
	embed   *embedding                     // what Options.Embed returns
	written map[string]bool                // spaces in which the update has stored something, for evict

	history []past // a version each, of the last ones
}

// An embedding is the vector of a text, or why there is none.
type embedding struct {
	vector []float32
	err    error
}

// used returns a use now.
func (x *modelTest) used() *uint64 {
	*x.tick++
	tick := *x.tick
	return &tick
}

// A past is the model as it was at a version.
type past struct {
	version uint64
	at      time.Time
	model   model
	options map[string]memory.SpaceOptions
}

// published remembers the current version.
func (x *modelTest) published() {
	v := x.m.Load().Version()
	if n := len(x.history); n > 0 && v > x.history[n-1].version {
		require.Equal(x.t, x.history[n-1].version+1, v)
		x.history = append(x.history, past{v, time.Now(), x.model.clone(), maps.Clone(x.options)})
		if len(x.history) > 200 {
			x.history = slices.Clone(x.history[100:])
		}
	}
}

func (x *modelTest) randomValue() (any, memory.Value, []string) {
	var words []string
	for range x.r.IntN(4) {
		words = append(words, modelWords[x.r.IntN(len(modelWords))])
	}
	text := strings.Join(words, " ")
	var v any
	switch x.r.IntN(5) {
	case 0:
		v, words = x.r.IntN(100), nil
	case 1:
		v = text
	case 2:
		v = map[string]any{"text": text, "n": x.r.IntN(5), "zeta": nil}
	case 3:
		v = []any{strings.ToUpper(text), 1.5, []string{"eta"}}
		words = append(words, "eta")
	case 4:
		v, words = nil, nil
	}
	return v, freeze(x.t, v), words
}

func dimOf(path string) int { return 2 + len(modelPaths[path]) }

func (x *modelTest) randomVector(path string) []float32 {
	v := make([]float32, dimOf(path))
	for i := range v {
		v[i] = float32(x.r.IntN(7) - 3)
	}
	v[0] += 0.5 // never zero
	return v
}

func (x *modelTest) randomMetadata() (map[string]any, int) {
	if n := x.r.IntN(4); n > 0 {
		return map[string]any{"n": n, "tag": "omega"}, n
	}
	return nil, 0
}

var errModel = errors.New("model")

// step does one random thing to both.
func (x *modelTest) step(v verbs, path string, rev uint64) {
	t, now := x.t, time.Now()
	if x.model[path] == nil {
		x.model[path] = make(map[string]slot)
	}
	entries := x.model[path]
	key := modelKeys[x.r.IntN(len(modelKeys))]
	old := entries[key]
	if old.modelEntry != nil && old.expired(now) {
		old = slot{}
	}
	hasValue := old.modelEntry != nil && old.value.Exists()
	next := modelEntry{created: now}
	if old.modelEntry != nil {
		next = *old.modelEntry
	}
	next.updated = now
	store := func() {
		entries[key] = slot{&next, new(byte), rev, x.used()}
		x.written[path] = true
	}
	expire := func() {
		next.expires = time.Time{}
		if ttl := x.behaves(path).TTL; ttl > 0 {
			next.expires = now.Add(ttl)
		}
	}
	given, frozen, words := x.randomValue()
	set := func() { next.set(frozen); next.words = words }
	put := func() { expire(); set(); store() }

	item := func() memory.Item {
		it := memory.Item{Value: given, Keep: x.r.IntN(6) == 0}
		created := next.created
		next = modelEntry{created: created, updated: now, kept: it.Keep}
		if x.r.IntN(2) == 0 {
			it.Vector = x.randomVector(path)
			next.vector = slices.Clone(it.Vector)
		}
		metadata, n := x.randomMetadata()
		it.Metadata, next.n = metadata, n
		if metadata != nil {
			next.metadata = freeze(t, metadata)
		}
		switch x.r.IntN(5) {
		case 0, 1:
			it.TTL = time.Duration(1+x.r.IntN(20)) * time.Second
		case 2:
			it.TTL = memory.Never
		}
		if expire(); it.TTL > 0 {
			next.expires = now.Add(it.TTL)
		} else if it.TTL == memory.Never {
			next.expires = time.Time{}
		}
		set()
		return it
	}

	switch op := x.r.IntN(46); op {
	case 0, 1, 2, 3:
		require.NoError(t, v.Put(key, given))
		put()
	case 4, 5, 6, 7:
		it := item()
		require.NoError(t, v.PutItem(key, it))
		clear(it.Vector) // was copied
		store()
	case 8, 9:
		err := v.Insert(key, given)
		if hasValue {
			require.ErrorIs(t, err, memory.ErrExists)
			break
		}
		require.NoError(t, err)
		put()
	case 10, 11, 12:
		fails := x.r.IntN(3) == 0
		err := v.Modify(key, func(v memory.Value) (any, error) {
			require.True(t, memory.Equal(v, old.value))
			if fails {
				return nil, errModel
			}
			return given, nil
		})
		switch {
		case !hasValue:
			require.ErrorIs(t, err, memory.ErrNotFound)
		case fails:
			require.ErrorIs(t, err, errModel)
		default:
			require.NoError(t, err)
			set()
			store()
		}
	case 13, 14:
		require.NoError(t, v.Upsert(key, func(v memory.Value) (any, error) {
			require.Equal(t, hasValue, v.Exists())
			return given, nil
		}))
		if !hasValue {
			expire()
		}
		set()
		store()
	case 15, 16:
		is := old.rev
		if x.r.IntN(2) == 0 {
			is = uint64(x.r.IntN(int(rev)))
		}
		err := v.SetIf(key, is, given)
		if is != old.rev || is == rev { // what this batch wrote is pending
			require.ErrorIs(t, err, memory.ErrRevision)
			break
		}
		require.NoError(t, err)
		put()
	case 17, 18:
		require.Equal(t, old.modelEntry != nil, v.Delete(key))
		if old.modelEntry != nil {
			delete(entries, key)
		}
	case 19, 20:
		is := old.rev
		if x.r.IntN(2) == 0 {
			is = uint64(x.r.IntN(int(rev)))
		}
		err := v.DeleteIf(key, is)
		if is != old.rev || is == rev { // what this batch wrote is pending
			require.ErrorIs(t, err, memory.ErrRevision)
			break
		}
		require.NoError(t, err)
		if old.modelEntry != nil {
			delete(entries, key)
		}
	case 21, 22:
		got, ok := v.Take(key)
		require.Equal(t, hasValue, ok)
		if ok {
			require.True(t, memory.Equal(old.value, got))
			delete(entries, key)
		}
	case 23:
		// Of many those count too that have expired.
		require.Contains(t, []int{len(x.model.at(now)[path]), len(entries)}, v.Clear())
		clear(entries)
	case 24:
		n, all, visible := 0, 0, x.model.at(now)
		for p, below := range modelPaths {
			of := modelPaths[path]
			if len(below) >= len(of) && slices.Equal(below[:len(of)], of) {
				n += len(visible[p])
				all += len(x.model[p])
				clear(x.model[p])
			}
		}
		require.Contains(t, []int{n, all}, v.ClearAll())
	case 25, 26, 27, 28, 29:
		vector := x.randomVector(path)
		metadata, n := x.randomMetadata()
		require.NoError(t, v.PutVector(key, vector, metadata))
		next.vector, next.by = slices.Clone(vector), nil
		clear(vector)
		next.metadata, next.n = memory.Value{}, n
		if metadata != nil {
			next.metadata = freeze(t, metadata)
		}
		if old.modelEntry == nil {
			expire()
		}
		store()
	case 30, 31, 32:
		had := old.modelEntry != nil && old.vector != nil
		require.Equal(t, had, v.DeleteVector(key))
		if had && hasValue {
			next.vector, next.metadata, next.n = nil, memory.Value{}, 0
			store()
		} else if had {
			delete(entries, key)
		}
	case 33:
		for _, s := range x.model.at(now)[path] {
			if s.vector != nil && s.by == nil { // and none that is not swept says so, too
				wrong := make([]float32, dimOf(path)+1)
				require.ErrorIs(t, v.PutVector(key, wrong, nil), memory.ErrDimension)
				require.ErrorIs(t, v.PutItem(key, memory.Item{Vector: wrong}), memory.ErrDimension)
				if _, alone := v.(*counting); !alone { // that has swept what might have been in the way
					x.model[path] = x.model.at(now)[path]
				}
				break
			}
		}
	case 35, 36:
		keep := x.r.IntN(3) > 0
		err := v.Keep(key, keep)
		if old.modelEntry == nil {
			require.ErrorIs(t, err, memory.ErrNotFound)
			break
		}
		require.NoError(t, err)
		if old.kept != keep {
			next.kept, next.updated = keep, old.updated
			store()
		}
	case 37, 38, 39:
		if key == "\xff" {
			break // which no export takes
		}
		from := modelKeys[x.r.IntN(len(modelKeys))]
		was := entries[from]
		it := item()
		err := v.Supersede(from, key, it)
		clear(it.Vector)
		switch {
		case was.modelEntry == nil || was.expired(now) || !was.value.Exists():
			require.ErrorIs(t, err, memory.ErrNotFound)
		case from == key:
			require.ErrorIs(t, err, memory.ErrExists)
		default:
			require.NoError(t, err)
			store()
			gone := *was.modelEntry
			gone.by, gone.updated, gone.vector = &key, now, nil
			entries[from] = slot{&gone, new(byte), rev, x.used()}
		}
	case 40, 41:
		err := v.AppendTo(key, op)
		list := []any{op}
		if hasValue {
			if old.value.Kind() != value.List {
				require.ErrorIs(t, err, value.ErrUnsupported)
				break
			}
			list = append(old.value.Any().([]any), op)
		}
		require.NoError(t, err)
		if !hasValue {
			expire()
			next.words = nil
		}
		next.set(freeze(t, list))
		store()
	case 42, 43:
		visible := x.model.at(now)
		if e, ok := v.(*memory.Editor); ok {
			x.checkSearch(e, path, visible)
			x.checkSearchText(e, visible[path])
		} else {
			x.checkRecall(v.(*counting).Space, path, visible[path])
		}
	case 44, 45:
		word := modelWords[x.r.IntN(len(modelWords))]
		q := memory.Query{Text: word}
		similar := func(e slot) bool { return slices.Contains(e.words, word) }
		if x.r.IntN(2) == 0 {
			q = memory.Query{Vector: x.randomVector(path), MinScore: 0.87654321}
			similar = func(e slot) bool {
				return e.vector != nil && score(memory.Cosine, q.Vector, e.vector) >= q.MinScore
			}
		}
		visible := x.model.at(now)[path]
		maps.DeleteFunc(visible, func(k string, e slot) bool { return k == key || e.by != nil || !similar(e) })
		it := item()
		like, err := v.PutUnlessSimilar(key, it, q)
		clear(it.Vector)
		require.NoError(t, err)
		if len(visible) == 0 {
			require.Zero(t, like)
			store()
			break
		}
		require.Contains(t, visible, like.Key)
		x.checkEntry(like.Key, visible[like.Key], like.Entry)
	case 34:
		require.ErrorIs(t, v.Put(key, make(chan int)), value.ErrUnsupported)
		require.ErrorIs(t, v.PutVector(key, []float32{float32(math.NaN())}, nil), vector.ErrNotFinite)
	}
	if s, ok := v.(*counting); ok && s.full {
		return
	}
	// What a batch has written it reads.
	is, ok := v.Entry(key)
	want := x.model.at(now)[path][key]
	require.Equal(t, want.modelEntry != nil, ok)
	if ok {
		if batch := want.rev == rev && is.Revision == memory.Pending; !batch {
			require.Equal(t, want.rev, is.Revision)
		}
		got, ok := v.Get(key)
		require.Equal(t, want.value.Exists(), ok)
		require.True(t, memory.Equal(want.value, got))
		if _, reads := v.(*counting); reads {
			*want.used = *x.used()
		}
	}
}

// sweep removes what has expired, as each batch does.
func (x *modelTest) sweep() { x.model = x.model.at(time.Now()) }

// write does something random as one version.
func (x *modelTest) write() {
	time.Sleep(time.Nanosecond) // no two versions at one instant
	defer x.published()
	rev := x.m.Load().Version() + 1
	one := func() string { return modelSpaces[x.r.IntN(len(modelSpaces))] }
	before := x.model.clone()
	x.written = make(map[string]bool)
	defer func() { x.written = nil }()
	if x.r.IntN(2) == 0 {
		err := x.m.Batch(func(b *memory.Batch) error {
			require.Equal(x.t, rev, b.Version())
			for range 1 + x.r.IntN(8) {
				p := one()
				x.step(b.Space(modelPaths[p]...), p, rev)
			}
			if x.r.IntN(3) == 0 {
				return errModel
			}
			return nil
		})
		full := false
		if err == nil || errors.Is(err, memory.ErrFull) {
			x.sweep()
			full = !x.evict(rev, before)
			require.Equal(x.t, full, err != nil, "%v", err)
		} else {
			require.Equal(x.t, errModel, err)
		}
		if err != nil {
			require.Equal(x.t, rev-1, x.m.Load().Version())
			x.model = before
		}
		return
	}
	// A verb of a Space that fails before the writer's place is taken, or in it,
	// sweeps nothing; the others do.
	p := one()
	s := &counting{Space: x.m.Space(modelPaths[p]...)}
	x.step(s, p, rev)
	if s.rev != 0 {
		require.Equal(x.t, rev, s.rev)
		require.Equal(x.t, rev, x.m.Load().Version())
	}
	switch {
	case s.full:
		x.sweep()
		require.False(x.t, x.evict(rev, before))
		require.Equal(x.t, rev-1, x.m.Load().Version())
		x.model = before
	case s.swept:
		x.sweep()
		require.True(x.t, x.evict(rev, before))
	}
}

// counting is a Space with the verbs of an Editor that notices whether a batch of it
// succeeded, and the version that it returned.
type counting struct {
	memory.Space
	swept bool
	full  bool // where there is no room, it behaves as if there were, to the end
	rev   uint64
}

func (s *counting) did(rev uint64, err error) error {
	if errors.Is(err, memory.ErrFull) {
		s.full, err = true, nil
	}
	s.swept, s.rev = s.swept || err == nil, rev
	return err
}
func (s *counting) removed(rev uint64, err error) bool { return s.did(rev, err) == nil && rev > 0 }
func (s *counting) count(n int, err error) int {
	s.swept = s.swept || err == nil
	return n
}
func (s *counting) Put(k string, v any) error { return s.did(s.Space.Put(k, v)) }
func (s *counting) PutItem(k string, it memory.Item) error {
	return s.did(s.Space.PutItem(k, it))
}
func (s *counting) Insert(k string, v any) error          { return s.did(s.Space.Insert(k, v)) }
func (s *counting) SetIf(k string, r uint64, v any) error { return s.did(s.Space.SetIf(k, r, v)) }
func (s *counting) DeleteIf(k string, r uint64) error     { return s.did(s.Space.DeleteIf(k, r)) }
func (s *counting) Delete(k string) bool                  { return s.removed(s.Space.Delete(k)) }
func (s *counting) DeleteVector(k string) bool            { return s.removed(s.Space.DeleteVector(k)) }
func (s *counting) Clear() int                            { return s.count(s.Space.Clear()) }
func (s *counting) ClearAll() int                         { return s.count(s.Space.ClearAll()) }
func (s *counting) Take(k string) (memory.Value, bool) {
	v, ok, err := s.Space.Take(k)
	s.swept = s.swept || err == nil
	return v, ok
}
func (s *counting) Modify(k string, f func(v memory.Value) (any, error)) error {
	return s.did(s.Space.Modify(k, f))
}
func (s *counting) Upsert(k string, f func(v memory.Value) (any, error)) error {
	return s.did(s.Space.Upsert(k, f))
}
func (s *counting) Keep(k string, keep bool) error { return s.did(s.Space.Keep(k, keep)) }
func (s *counting) Supersede(old, k string, it memory.Item) error {
	return s.did(s.Space.Supersede(old, k, it))
}
func (s *counting) AppendTo(k string, elements ...any) error {
	return s.did(s.Space.AppendTo(k, elements...))
}
func (s *counting) PutUnlessSimilar(k string, it memory.Item, q memory.Query) (memory.Hit, error) {
	like, rev, err := s.Space.PutUnlessSimilar(k, it, q)
	return like, s.did(rev, err)
}
func (s *counting) PutVector(k string, v []float32, metadata any) error {
	return s.did(s.Space.PutVector(k, v, metadata))
}

// check compares everything that can be read of a snapshot. The model must be as
// one sees it at the snapshot's instant.
func (x *modelTest) check(s memory.Snapshot, want model, thorough bool) {
	t, r := x.t, x.r
	t.Helper()
	require.Equal(t, want.len(), s.Len())
	x.checkSpaces(s, want)
	for _, path := range modelSpaces {
		v, entries := s.Space(modelPaths[path]...), want[path]
		require.Equal(t, append([]string{}, modelPaths[path]...), v.Path())
		require.Equal(t, len(entries), v.Len(), path)
		all := 0
		for other, entries := range want {
			if is := modelPaths[other]; len(is) >= len(v.Path()) && slices.Equal(is[:len(v.Path())], v.Path()) {
				all += len(entries)
			}
		}
		require.Equal(t, all, v.LenAll(), path)
		for _, key := range modelKeys {
			want, there := entries[key]
			is, ok := v.Entry(key)
			require.Equal(t, there, ok, "%s %q", path, key)
			value, ok := v.Get(key)
			require.Equal(t, there && want.value.Exists(), ok)
			vector, ok := v.Vector(key)
			require.Equal(t, there && want.vector != nil, ok)
			if !there {
				require.Zero(t, is)
				continue
			}
			x.checkEntry(key, want, is)
			require.True(t, memory.Equal(want.value, value))
			require.Equal(t, want.vector, vector)
		}
		x.checkList(v, entries, memory.ListOptions{}, func(slot) bool { return true })
		if !thorough {
			continue
		}
		only, accepts := x.randomFilter()
		x.checkList(v, entries, memory.ListOptions{
			Filter:  only,
			Prefix:  []string{"", "", "k", "\x00", "\xff", "none"}[r.IntN(6)],
			After:   modelKeys[r.IntN(len(modelKeys))],
			Limit:   r.IntN(5),
			Reverse: r.IntN(2) == 0,
		}, accepts)
		x.checkSearch(v, path, want)
		x.checkSearchText(v, entries)
		x.checkSearchBoth(v, path)
	}
}

func (x *modelTest) checkEntry(key string, want slot, is memory.Entry) {
	t := x.t
	t.Helper()
	require.Equal(t, key, is.Key)
	require.True(t, memory.Equal(want.value, is.Value))
	require.True(t, memory.Equal(want.metadata, is.Metadata))
	require.Equal(t, len(want.vector), is.Dim)
	require.True(t, want.created.Equal(is.Created), "%q: created %v, not %v", key, is.Created, want.created)
	require.True(t, want.updated.Equal(is.Updated), "%q: updated %v, not %v", key, is.Updated, want.updated)
	require.True(t, want.expires.Equal(is.Expires), "%q: expires %v, not %v", key, is.Expires, want.expires)
	if is.Revision != memory.Pending {
		require.Equal(t, want.rev, is.Revision)
	}
	require.Equal(t, want.kept, is.Kept)
	require.Equal(t, want.by != nil, is.Superseded)
	if is.Superseded {
		require.Equal(t, *want.by, is.SupersededBy)
	}
}

func (x *modelTest) checkList(v memory.SpaceSnapshot, entries map[string]slot, o memory.ListOptions, accepts func(slot) bool) {
	want, is := []string{}, []string{}
	for k, e := range entries {
		if accepts(e) && strings.HasPrefix(k, o.Prefix) {
			want = append(want, k)
		}
	}
	slices.Sort(want)
	if o.Reverse {
		slices.Reverse(want)
	}
	if o.After != "" {
		want = slices.DeleteFunc(want, func(k string) bool {
			return k == o.After || (k > o.After) == o.Reverse
		})
	}
	if o.Limit > 0 && len(want) > o.Limit {
		want = want[:o.Limit]
	}
	for e := range v.List(o) {
		is = append(is, e.Key)
		x.checkEntry(e.Key, entries[e.Key], e)
	}
	require.Equal(x.t, want, is, "%+v", o)
}

func (x *modelTest) checkSpaces(s memory.Snapshot, want model) {
	o := memory.SpacesOptions{Depth: x.r.IntN(4), Limit: x.r.IntN(4)}
	if x.r.IntN(2) == 0 {
		o.Prefix = modelPaths[modelSpaces[x.r.IntN(len(modelSpaces))]]
	}
	if x.r.IntN(2) == 0 {
		o.After = modelPaths[modelSpaces[x.r.IntN(len(modelSpaces))]]
		if o.Depth > 0 && len(o.After) > o.Depth {
			o.After = o.After[:o.Depth] // as it would be in the list
		}
	}
	for _, o := range []memory.SpacesOptions{{}, o} {
		paths := [][]string{}
		for _, name := range modelSpaces {
			p := modelPaths[name]
			if len(want[name]) == 0 || len(p) < len(o.Prefix) || !slices.Equal(p[:len(o.Prefix)], o.Prefix) {
				continue
			}
			if o.Depth > 0 && len(p) > o.Depth {
				p = p[:o.Depth]
			}
			if o.After != nil && slices.Compare(p, o.After) <= 0 || slices.ContainsFunc(paths, func(q []string) bool { return slices.Equal(p, q) }) {
				continue
			}
			paths = append(paths, p)
		}
		if o.Limit > 0 && len(paths) > o.Limit {
			paths = paths[:o.Limit]
		}
		require.Equal(x.t, paths, spaces(s, o), "%+v", o)
	}
}

// checkHistory compares what is told of an entry with what it was in the versions that are kept.
func (x *modelTest) checkHistory() {
	t := x.t
	path, key := modelSpaces[x.r.IntN(len(modelSpaces))], modelKeys[x.r.IntN(len(modelKeys))]
	told := make(map[uint64]memory.Change)
	for c, err := range x.m.Space(modelPaths[path]...).History(key) {
		if err != nil {
			require.ErrorIs(t, err, cow.ErrCompacted)
			break
		}
		if _, written := told[c.Version]; !written { // after it was cleared
			told[c.Version] = c
		}
	}
	latest := x.m.Load().Version()
	isKept := func(version uint64) bool { return version+modelKept > latest }
	for i, h := range x.history[1:] {
		if !isKept(h.version) {
			continue
		}
		was, is := x.history[i].model.at(h.at)[path][key], h.model.at(h.at)[path][key]
		c, ok := told[h.version]
		switch {
		case is.modelEntry != nil && is.rev == h.version:
			require.True(t, ok, "version %d", h.version)
			x.checkEntry(key, is, c.New)
		case is.modelEntry != nil:
			require.False(t, ok, "version %d: %v", h.version, c)
		default: // what is cleared has a mark alone: that it was there is known of its write
			require.True(t, ok || was.modelEntry == nil || !isKept(was.rev), "version %d", h.version)
			require.Zero(t, c.New)
		}
	}
}

// modelKept is how many versions of the past are kept.
const modelKept = 40

// A kept snapshot must never change.
type kept struct {
	s    memory.Snapshot
	want model
}

// modelSteps is how many steps TestModel takes with each seed.
var modelSteps = flag.Int("steps", 0, "of TestModel, with each seed; 0: a few hundred")

// Seeds differ in how large the Memory may be, in whether spaces are cleared in
// steps, and in whether it has a replica, to which all is replayed.
func TestModel(t *testing.T) {
	steps := quicker(350)
	if *modelSteps > 0 {
		steps = *modelSteps
	}
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if seed%2 == 1 {
					t.Cleanup(memory.ClearInSmallSteps())
				}
				o := memory.Options{MaxEntries: []int{200, 45, 20, 30}[seed]} // so that all uses are stamped
				is := new(embedding)
				o.Embed = func(context.Context, []string) ([][]float32, error) { return [][]float32{is.vector}, is.err }
				x := &modelTest{
					t: t, r: rand.New(rand.NewPCG(seed, 9)), m: memory.New(o), model: model{},
					options: map[string]memory.SpaceOptions{}, limit: o.MaxEntries, tick: new(uint64), embed: is,
				}
				var replica *memory.Memory
				if seed >= 2 {
					replica = memory.New(o)
					cowtest.Follow(t, replica.DB(), x.m.DB())
				}
				x.run(steps, replica)
			})
		})
	}
}

func (x *modelTest) run(steps int, replica *memory.Memory) {
	t := x.t
	x.m.DB().Retain(cow.Retention{Versions: modelKept})
	var keep []kept
	x.history = []past{{0, time.Now(), model{}, nil}}
	for i := range steps {
		if x.r.IntN(3) == 0 {
			time.Sleep(time.Duration(x.r.IntN(4000)) * time.Millisecond)
		}
		switch x.r.IntN(25) {
		case 24:
			x.erase()
		case 0, 1:
			x.forkAndMerge()
		case 2:
			x.configure()
		case 3:
			x.undo()
		case 4:
			x.sweepAll()
		case 5:
			x.imports()
		case 6:
			x.reindex()
		default:
			x.write()
		}
		now, s := time.Now(), x.m.Load()
		if steps > 10_000 && i%32 > 0 { // the long form
			require.Equal(t, x.model.at(now).len(), s.Len())
			continue
		}
		if replica != nil && i%8 == 0 {
			sameMemory(t, s, replica.Load(), modelWords[:2])
			require.NoError(t, replica.CheckDerived())
		}
		history := x.history
		require.Equal(t, s.Version(), history[len(history)-1].version)
		x.check(s, x.model.at(now), true)
		require.NoError(t, x.m.CheckDerived())
		if i%(steps/20+1) == 0 {
			keep = append(keep, kept{s, x.model.at(now)})
		}
		if i%5 == 0 {
			// The past, as it was at a version and at a time.
			p := x.r.IntN(min(len(history), modelKept))
			p = len(history) - 1 - p
			h := history[p]
			at := h.at
			if p == len(history)-1 {
				at = now
			}
			s, err := x.m.At(h.version)
			require.NoError(t, err)
			x.check(s, h.model.at(at), i%20 == 0)
			until := now
			if p < len(history)-1 {
				until = history[p+1].at.Add(-1)
			}
			at = h.at.Add(time.Duration(x.r.Int64N(int64(until.Sub(h.at)) + 1)))
			s, err = x.m.AsOf(at)
			require.NoError(t, err)
			require.Equal(t, h.version, s.Version())
			x.check(s, h.model.at(at), false)
			x.checkHistory()
		}
	}
	for _, k := range keep {
		x.check(k.s, k.want, true)
	}
	x.checkExport()
}

// reindex indexes the text of a space anew, which nobody sees but by the version.
func (x *modelTest) reindex() {
	time.Sleep(time.Nanosecond)
	rev, err := x.m.Space(modelPaths[modelSpaces[x.r.IntN(len(modelSpaces))]]...).Reindex(context.Background())
	require.NoError(x.t, err)
	if rev > 0 {
		require.Equal(x.t, rev, x.m.Load().Version())
	}
	x.published()
}

// erase erases an entry, which was never there then.
func (x *modelTest) erase() {
	x.sweepAll() // what has expired is swept in the update, and would be undone with it
	time.Sleep(time.Nanosecond)
	path, key := modelSpaces[x.r.IntN(len(modelSpaces))], modelKeys[x.r.IntN(len(modelKeys))]
	was := x.m.Load().Version()
	_, err := x.m.Space(modelPaths[path]...).Erase(context.Background(), key)
	if errors.Is(err, memory.ErrNotFound) {
		require.Equal(x.t, was, x.m.Load().Version())
		return
	}
	require.NoError(x.t, err)
	require.Equal(x.t, was+1, x.m.Load().Version())
	delete(x.model[path], key)
	for _, p := range x.history {
		delete(p.model[path], key)
	}
	x.published()
}

// forkAndMerge forks a snapshot of now or before, writes to both sides, and merges
// twice.
func (x *modelTest) forkAndMerge() {
	t := x.t
	from := x.history[len(x.history)-1-x.r.IntN(min(len(x.history), 6))]
	base, err := x.m.At(from.version)
	require.NoError(t, err)
	baseModel := from.model.clone()
	y := &modelTest{
		t: t, r: x.r, m: x.m.Fork(base), model: from.model.clone(),
		options: maps.Clone(from.options), limit: x.limit, tick: x.tick, embed: x.embed,
	}
	if y.options == nil {
		y.options = make(map[string]memory.SpaceOptions)
	}
	y.check(y.m.Load(), y.model.at(time.Now()), true)
	y.sweepAll() // it may have been configured, and not been shrunk yet
	for range 1 + x.r.IntN(2) {
		for range x.r.IntN(6) {
			y.write()
			y.check(y.m.Load(), y.model.at(time.Now()), false)
			require.NoError(t, y.m.CheckDerived())
		}
		for range x.r.IntN(4) {
			x.write()
		}
		if x.m.Cleared() > 0 { // which a Merge would do
			x.sweepAll()
		}
		theirs := y.m.Load()
		time.Sleep(time.Nanosecond)
		rev := x.m.Load().Version() + 1
		merged, conflicts := x.merge(baseModel, y.model, nil, rev)
		var full error
		if conflicts > 0 {
			_, err := x.m.Merge(context.Background(), base, theirs, nil)
			var e *memory.MergeError
			require.ErrorAs(t, err, &e)
			require.ErrorIs(t, err, cow.ErrConflict)
			require.Len(t, e.Conflicts, conflicts)
			_, err = x.m.Merge(context.Background(), base, theirs, func(memory.Conflict) (memory.Entry, error) { return memory.Entry{}, errModel })
			require.ErrorIs(t, err, errModel)
			require.Equal(t, rev-1, x.m.Load().Version())
			x.check(x.m.Load(), x.model.at(time.Now()), false)
			// Each conflict is resolved in its own way.
			how, when := make(map[string]int), make(map[string]*uint64)
			value := freeze(t, "gamma resolved")
			next, err := x.m.Merge(context.Background(), base, theirs, func(c memory.Conflict) (memory.Entry, error) {
				id := fmt.Sprintf("%q", c.Space) + c.Key
				how[id], when[id] = x.r.IntN(6), x.used()
				path := fmt.Sprintf("%q", c.Space)
				for i, e := range []memory.Entry{c.Ours, c.Theirs, c.Base} {
					want, ok := []model{x.model, y.model, baseModel}[i][path][c.Key]
					if !ok {
						require.Zero(t, e)
						continue
					}
					x.checkEntry(c.Key, want, e)
				}
				switch how[id] {
				case 0:
					return c.Ours, nil
				case 1:
					return c.Theirs, nil
				case 2:
					return c.Base, nil
				case 3:
					return memory.Entry{}, nil
				case 4:
					c.Theirs.Value = value
					return c.Theirs, nil
				default:
					return memory.Entry{Value: value}, nil
				}
			})
			if errors.Is(err, memory.ErrFull) {
				full = err
			} else {
				require.NoError(t, err)
			}
			require.Len(t, how, conflicts)
			merged, _ = x.merge(baseModel, y.model, func(path, key string, ours, theirs, base slot) slot {
				now := time.Now()
				with := func(e *modelEntry) slot {
					next := modelEntry{created: now}
					if e != nil {
						next = *e
					}
					next.set(value)
					next.words, next.updated = []string{"gamma", "resolved"}, now
					return slot{&next, new(byte), rev, when[path+key]}
				}
				again := func(s slot) slot { return slot{s.modelEntry, new(byte), rev, s.used} }
				switch how[path+key] {
				case 0:
					return again(ours)
				case 1:
					return again(theirs)
				case 2:
					return again(base)
				case 3:
					return slot{}
				case 4:
					return with(theirs.modelEntry)
				default:
					return with(nil)
				}
			}, rev)
			base = next
		} else {
			next, err := x.m.Merge(context.Background(), base, theirs, nil)
			if errors.Is(err, memory.ErrFull) {
				full = err
			} else {
				require.NoError(t, err)
			}
			base = next
		}
		before := x.model
		x.model = merged
		x.sweep()
		require.Equal(t, !x.evict(rev, before), full != nil)
		if full != nil {
			x.model = before
			require.Equal(t, rev-1, x.m.Load().Version())
			return
		}
		baseModel = y.model.clone()
		x.published()
		x.check(x.m.Load(), x.model.at(time.Now()), true)
		require.NoError(t, x.m.CheckDerived())
		y.check(y.m.Load(), y.model.at(time.Now()), false)
	}
}

// merge returns what a merge should make, and how many conflicts there are.
func (x *modelTest) merge(base, theirs model, resolve func(path, key string, ours, theirs, base slot) slot, rev uint64) (model, int) {
	merged, conflicts := x.model.clone(), 0
	for _, path := range modelSpaces {
		for _, key := range modelKeys {
			b, o, th := base[path][key], x.model[path][key], theirs[path][key]
			var next slot
			switch {
			case b.id == th.id || o.id == th.id:
				continue
			case o.id == b.id:
				if next = th; next.modelEntry != nil {
					next.rev = rev
				}
			default:
				conflicts++
				if resolve != nil {
					next = resolve(path, key, o, th, b)
				}
			}
			if merged[path] == nil {
				merged[path] = make(map[string]slot)
			}
			if next.modelEntry == nil {
				delete(merged[path], key)
			} else {
				merged[path][key] = next
			}
		}
	}
	return merged, conflicts
}

// checkExport brings all of it into another Memory, where JSON can have it.
func (x *modelTest) checkExport() {
	t := x.t
	for _, path := range modelSpaces {
		x.m.Space(modelPaths[path]...).Delete("\xff")
		delete(x.model[path], "\xff")
	}
	x.sweep()
	var b strings.Builder
	s := x.m.Load()
	require.NoError(t, s.Export(&b))
	n := memory.New(memory.Options{})
	count, err := n.Import(context.Background(), strings.NewReader(b.String()))
	if x.overfull() {
		require.ErrorIs(t, err, memory.ErrFull)
		return
	}
	require.NoError(t, err)
	require.Equal(t, x.model.at(time.Now()).len()+strings.Count(b.String(), `,"options":{`), count)
	want := x.model.at(time.Now())
	for i, line := range strings.Split(strings.TrimSpace(b.String()), "\n") {
		var is struct {
			Space []string `json:"space"`
			Key   *string  `json:"key"`
		}
		require.NoError(t, json.Unmarshal([]byte(line), &is))
		if is.Key != nil {
			path := fmt.Sprintf("%q", is.Space)
			slot := want[path][*is.Key]
			slot.rev = uint64(i)/16 + 1 // so many lines are one version
			want[path][*is.Key] = slot
		}
	}
	x.check(n.Load(), want, true)
	require.NoError(t, n.CheckDerived())
}
