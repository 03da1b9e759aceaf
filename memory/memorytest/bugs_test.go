package memorytest

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// These are backends with one bug each, all of them found in published ones. The
// suite must tell each of them, every time, by the test that is named for it.

// A bug is a backend and the names of tests that it fails.
type bug struct {
	name  string
	open  func() Backend
	fails []string
}

func same(v any) any { return v }

// shallowCopy copies the top level only.
func shallowCopy(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return maps.Clone(v)
	case []any:
		return append([]any(nil), v...)
	}
	return v
}

// jsonShapeCopy copies what is decoded from JSON deeply, and nothing else.
func jsonShapeCopy(v any) any {
	switch v := v.(type) {
	case map[string]any:
		c := map[string]any{}
		for k, e := range v {
			c[k] = jsonShapeCopy(e)
		}
		return c
	case []any:
		c := make([]any, len(v))
		for i, e := range v {
			c[i] = jsonShapeCopy(e)
		}
		return c
	}
	return v
}

func jsonCopy(v any) any {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	var c any
	if _, ok := v.([]float32); ok {
		at := []float32{}
		_ = json.Unmarshal(text, &at)
		return at
	}
	if _, ok := v.(map[string]any); ok {
		m := map[string]any{}
		_ = json.Unmarshal(text, &m)
		return m
	}
	_ = json.Unmarshal(text, &c)
	return c
}

// with returns a model that copies and joins spaces in another way, where that is not
// nil.
func with(in, out func(any) any, join func([]string) string) func() Backend {
	return func() Backend {
		m := newModel()
		if in != nil {
			m.in = in
		}
		if out != nil {
			m.out = out
		}
		if join != nil {
			m.join = join
		}
		return m
	}
}

// lockUpgrade reads, and then takes the lock to write.
type lockUpgrade struct{ *model }

func (b lockUpgrade) Modify(space []string, key string, f func(any) (any, error)) error {
	v, ok, _ := b.Get(space, key)
	if !ok {
		return errAbsent
	}
	v, err := f(v)
	if err != nil {
		return err
	}
	return b.Put(space, key, v)
}

// insertsUnlocked checks, copies, and then takes the lock to insert.
type insertsUnlocked struct{ *model }

func (b insertsUnlocked) Insert(space []string, key string, v any) (bool, error) {
	if _, ok, _ := b.Get(space, key); ok {
		return false, nil
	}
	v = b.in(v)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.set(space, key, v)
	return true, nil
}

// insertsSoonAfter checks, and then at once takes the lock to copy and insert:
// nothing of the caller's runs in between.
type insertsSoonAfter struct{ *model }

func (b insertsSoonAfter) Insert(space []string, key string, v any) (bool, error) {
	if _, ok, _ := b.Get(space, key); ok {
		return false, nil
	}
	return true, b.Put(space, key, v)
}

// setsUnlocked checks the revision, copies, and then takes the lock to write.
type setsUnlocked struct{ *model }

func (b setsUnlocked) SetIf(space []string, key string, revision uint64, v any) (bool, error) {
	if r, _ := b.Revision(space, key); r != revision {
		return false, nil
	}
	v = b.in(v)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.set(space, key, v)
	return true, nil
}

// takesUnlocked reads, and then takes the lock to delete.
type takesUnlocked struct{ *model }

func (b takesUnlocked) Take(space []string, key string) (any, bool, error) {
	v, ok, _ := b.Get(space, key)
	return v, ok, b.Delete(space, key)
}

// modifiesInPlace has the stored value modified.
type modifiesInPlace struct{ *model }

func (b modifiesInPlace) Modify(space []string, key string, f func(any) (any, error)) error {
	b.mu.RLock()
	r, ok := b.row(space, key)
	b.mu.RUnlock()
	if !ok {
		return errAbsent
	}
	v, err := f(r.value)
	if err != nil {
		return err
	}
	return b.Put(space, key, v)
}

// modifiesTheCopyItKeeps locks properly, but stores what f returned.
type modifiesTheCopyItKeeps struct{ *model }

func (b modifiesTheCopyItKeeps) Modify(space []string, key string, f func(any) (any, error)) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	r, ok := b.row(space, key)
	if !ok {
		return errAbsent
	}
	v, err := f(b.out(r.value))
	if err == nil {
		b.set(space, key, v)
	}
	return err
}

// appliesHalf does what a Batch does as it goes.
type appliesHalf struct{ *model }

func (b appliesHalf) Batch(f func(tx Backend) error) error { return f(b.model) }

// appliesHalfLocked does so under the lock: nobody sees it unless f fails.
type appliesHalfLocked struct{ *model }

func (b appliesHalfLocked) Batch(f func(tx Backend) error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return f(&model{in: b.in, out: b.out, join: b.join, tables: b.tables})
}

// overwrites has a Batch work on a copy of what there was at first.
type overwrites struct{ *model }

func (b overwrites) Batch(f func(tx Backend) error) error {
	tx := b.copy()
	if err := f(tx); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tables = tx.tables
	return nil
}

// keepsTheLock does not unlock after a panic.
type keepsTheLock struct{ *model }

func (b keepsTheLock) Modify(space []string, key string, f func(any) (any, error)) error {
	b.mu.Lock()
	r, ok := b.row(space, key)
	err := errAbsent
	if ok {
		var v any
		if v, err = f(b.out(r.value)); err == nil {
			b.set(space, key, b.in(v))
		}
	}
	b.mu.Unlock()
	return err
}

// insertsInModify makes what is absent.
type insertsInModify struct{ *model }

func (b insertsInModify) Modify(space []string, key string, f func(any) (any, error)) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	r, _ := b.row(space, key)
	v, err := f(b.out(r.value))
	if err == nil {
		b.set(space, key, b.in(v))
	}
	return err
}

// liveSnapshot is its own snapshot.
type liveSnapshot struct{ *model }

func (b liveSnapshot) Snapshot() (Snapshot, error) { return b.model, nil }

// shallowSnapshot copies the outer map, and shares those of the spaces.
type shallowSnapshot struct{ *model }

func (b shallowSnapshot) Snapshot() (Snapshot, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return &model{in: b.in, out: b.out, join: b.join, tables: tables{maps.Clone(b.tables.rows), maps.Clone(b.tables.vectors), 0}}, nil
}

// searchesLive has snapshots that search what is stored now.
type searchesLive struct{ *model }

type liveSearch struct{ *model }

func (v liveSearch) GetVector(space []string, key string) ([]float32, map[string]any, bool, error) {
	return v.model.GetVector(space, key)
}

func (b searchesLive) Snapshot() (Snapshot, error) {
	return struct {
		Snapshot
		VectorReader
	}{b.copy(), liveSearch(b)}, nil
}

// searchesTwice searches one version, and reads the metadata that it returns from
// another.
type searchesTwice struct{ *model }

func (b searchesTwice) SearchVector(space []string, query []float32, k int) ([]Neighbor, error) {
	hits, _ := b.copy().SearchVector(space, query, k)
	for i := range hits {
		_, hits[i].Metadata, _, _ = b.GetVector(space, hits[i].Key)
	}
	return hits, nil
}

// aliasesVectors stores the vectors and metadata of callers, or hands out its own.
type aliasesVectors struct {
	*model
	in, out func(any) any
}

func (b aliasesVectors) PutVector(space []string, key string, at []float32, metadata map[string]any) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	alias := &model{in: b.in, join: b.join, tables: b.tables}
	return alias.PutVector(space, key, at, metadata)
}

func (b aliasesVectors) GetVector(space []string, key string) ([]float32, map[string]any, bool, error) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	alias := &model{out: b.out, join: b.join, tables: b.tables}
	return alias.GetVector(space, key)
}

func (b aliasesVectors) SearchVector(space []string, query []float32, k int) ([]Neighbor, error) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	alias := &model{out: b.out, join: b.join, tables: b.tables}
	return alias.SearchVector(space, query, k)
}

// normalizes has the caller's vector scaled to the length 1.
type normalizes struct{ *model }

func (b normalizes) PutVector(space []string, key string, at []float32, metadata map[string]any) error {
	for i := range at {
		at[i] /= 5
	}
	return b.model.PutVector(space, key, at, metadata)
}

// countsFromOne has revisions that are counted for each key, from its creation.
type countsFromOne struct{ *model }

func (b countsFromOne) Put(space []string, key string, v any) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	r, _ := b.row(space, key)
	b.tables.last = r.revision
	b.set(space, key, b.in(v))
	return nil
}

// replacesUnseen has revisions that Put does not change.
type replacesUnseen struct{ *model }

func (b replacesUnseen) Put(space []string, key string, v any) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	r, ok := b.row(space, key)
	b.set(space, key, b.in(v))
	if ok {
		b.tables.rows[b.join(space)][key] = row{b.in(v), r.revision}
	}
	return nil
}

// setsWhatIsGone takes what is absent for what has any revision.
type setsWhatIsGone struct{ *model }

func (b setsWhatIsGone) SetIf(space []string, key string, revision uint64, v any) (bool, error) {
	if r, _ := b.Revision(space, key); r == 0 {
		revision = 0
	}
	return b.model.SetIf(space, key, revision, v)
}

// joinsOnce remembers the names of spaces by the paths that callers gave it.
func joinsOnce() Backend {
	m := newModel()
	var names sync.Map
	m.join = func(s []string) string {
		if len(s) == 0 {
			return ""
		}
		name, _ := names.LoadOrStore(&s[0], fmt.Sprintf("%q", s))
		return name.(string)
	}
	return m
}

// listsBelow lists the keys of spaces below too.
type listsBelow struct{ *model }

func (b listsBelow) List(space []string) ([]string, error) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	var keys []string
	for s, rows := range b.tables.rows {
		if strings.HasPrefix(s, strings.TrimSuffix(b.join(space), "]")) {
			for key := range rows {
				keys = append(keys, key)
			}
		}
	}
	return keys, nil
}

// handsOutItsList gives out the list of keys that it keeps.
type handsOutItsList struct {
	*model
	lists map[string][]string
}

func (b handsOutItsList) List(space []string) ([]string, error) {
	s := b.join(space)
	keys, _ := b.model.List(space)
	if len(b.lists[s]) != len(keys) {
		b.lists[s] = keys
	}
	return b.lists[s], nil
}

func bugs() []bug {
	joined := func(separator string) func([]string) string {
		return func(s []string) string { return strings.Join(s, separator) }
	}
	spacesLookTheSame := []string{
		"scope collision/spaces that look the same when joined", "scope collision/List", "scope collision/Delete", "scope collision/vectors",
	}
	return []bug{
		{"aliasing in", with(same, nil, nil), []string{
			"caller mutation/Put/map[string]any", "caller mutation/Put/[]any", "caller mutation/Put/nested", "caller mutation/Put/[]string", "caller mutation/Put/[]byte",
			"caller mutation/Put/map[string]string", "caller mutation/Put/struct", "caller mutation/Put/pointer", "caller mutation/Put/unexported fields",
			"caller mutation/Insert/map[string]any", "caller mutation/SetIf/[]string", "caller mutation/Batch/pointer", "caller mutation/Modify/struct",
			"reader mutation/Modify/map[string]any", "caller mutation/PutVector/vector", "caller mutation/PutVector/metadata/nested",
		}},
		{"aliasing out", with(nil, same, nil), []string{
			"reader mutation/Get/map[string]any", "reader mutation/Get/[]any", "reader mutation/Get/nested", "reader mutation/Get/[]string", "reader mutation/Get/[]byte",
			"reader mutation/Get/map[string]string", "reader mutation/Get/struct", "reader mutation/Get/pointer", "reader mutation/Get/unexported fields",
			"reader mutation/Modify that fails/[]string", "reader mutation/Batch/map[string]any", "reader mutation/Snapshot/nested", "reader mutation/Take/pointer",
			"reader mutation/GetVector/vector", "reader mutation/GetVector/metadata/nested", "reader mutation/SearchVector/metadata/[]string", "half an update/Modify that ends with an error",
			"snapshot/stays after Modify",
		}},
		{"aliasing in and out", with(same, same, nil), []string{
			"caller mutation/Put/nested", "reader mutation/Get/nested", "reader mutation/Take/[]any", "reader mutation/SearchVector/hits",
		}},
		{"shallow copy", with(shallowCopy, shallowCopy, nil), []string{
			"caller mutation/Put/nested", "caller mutation/Insert/nested", "reader mutation/Get/nested", "reader mutation/Get/typed in untyped", "reader mutation/Take/nested",
			"caller mutation/PutVector/metadata/nested", "half an update/Modify that ends with an error", "snapshot/stays after Modify",
		}},
		{"copies JSON shapes only", with(jsonShapeCopy, jsonShapeCopy, nil), []string{
			"caller mutation/Put/[]string", "caller mutation/Put/[]byte", "caller mutation/Put/struct", "caller mutation/Put/pointer", "caller mutation/Put/map[string]string",
			"reader mutation/Get/[]string", "reader mutation/Get/typed in untyped", "caller mutation/PutVector/vector", "reader mutation/GetVector/vector",
		}},
		{"JSON round trip", with(jsonCopy, jsonCopy, nil), []string{
			"types/int", "types/large int64", "types/[]string", "types/[]byte", "types/struct", "types/pointer", "types/time", "types/numbers in any", "types/unexported fields",
		}},
		{"spaces joined by :", with(nil, nil, joined(":")), append(spacesLookTheSame, "scope collision/a space and a key that look the same when joined")},
		{"spaces joined by NUL", with(nil, nil, joined("\x00")), spacesLookTheSame},
		{"spaces joined by /", with(nil, nil, joined("/")), spacesLookTheSame},
		{"spaces printed", with(nil, nil, func(s []string) string { return fmt.Sprint(s) }), spacesLookTheSame},
		{"lock upgrade", func() Backend { return lockUpgrade{newModel()} }, []string{
			"lost update/Modify during Modify", "lost update/Put during Modify", "resurrection/Delete during Modify", "resurrection/Take during Modify", "resurrection/DeleteIf during Modify",
		}},
		{"check outside of the lock in Insert", func() Backend { return insertsUnlocked{newModel()} }, []string{
			"check then insert/of many Insert of a value that takes time to copy one wins", "check then insert/of many Insert that waited for a lock one wins",
		}},
		{"check just outside of the lock in Insert", func() Backend { return insertsSoonAfter{newModel()} }, []string{
			"check then insert/of many Insert that waited for a lock one wins",
		}},
		{"check outside of the lock in SetIf", func() Backend { return setsUnlocked{newModel()} }, []string{
			"conditional write/of many SetIf of a value that takes time to copy one wins", "conditional write/of many SetIf that waited for a lock one wins",
		}},
		{"check outside of the lock in Take", func() Backend { return takesUnlocked{newModel()} }, []string{"take/of many that take a value that takes time to copy one wins", "take/of many that waited for a lock one wins"}},
		{"modifies in place", func() Backend { return modifiesInPlace{newModel()} }, []string{
			"torn read/during Modify", "half an update/Modify that ends with an error", "half an update/Modify that ends with a panic",
			"half an update/Modify that ends with runtime.Goexit", "reader mutation/Modify that fails/[]string", "snapshot/stays after Modify",
		}},
		{"stores what Modify's function keeps", func() Backend { return modifiesTheCopyItKeeps{newModel()} }, []string{
			"caller mutation/Modify/[]string", "reader mutation/Modify/nested",
		}},
		{"half a Batch", func() Backend { return appliesHalf{newModel()} }, []string{
			"half an update/Batch that ends with an error", "half an update/Batch that ends with a panic", "half an update/Batch that ends with runtime.Goexit",
			"torn read/during Batch", "torn read/search during Batch", "lost update/Batch during Batch", "check then insert/of many Batch one wins", "resurrection/Delete during Batch",
		}},
		{"half a Batch under the lock", func() Backend { return appliesHalfLocked{newModel()} }, []string{
			"half an update/Batch that ends with an error", "half an update/Batch that ends with a panic", "half an update/Batch that ends with runtime.Goexit",
		}},
		{"a Batch that overwrites", func() Backend { return overwrites{newModel()} }, []string{
			"lost update/Batch during Batch", "resurrection/Delete during Batch", "check then insert/of many Batch one wins",
		}},
		{"locked after a panic", func() Backend { return keepsTheLock{newModel()} }, []string{
			"half an update/Modify that ends with a panic", "half an update/Modify that ends with runtime.Goexit",
		}},
		{"Modify inserts", func() Backend { return insertsInModify{newModel()} }, []string{
			"basic/Modify", "resurrection/Modify after Delete", "resurrection/Modify after Take",
		}},
		{"a live snapshot", func() Backend { return liveSnapshot{newModel()} }, []string{
			"snapshot/stays after Put", "snapshot/stays after Insert", "snapshot/stays after Modify", "snapshot/stays after Delete", "snapshot/stays after Take",
			"snapshot/stays after SetIf and DeleteIf", "snapshot/stays after Batch", "snapshot/every one of many stays", "snapshot/vectors stay",
		}},
		{"a shallow snapshot", func() Backend { return shallowSnapshot{newModel()} }, []string{
			"snapshot/stays after Put", "snapshot/stays after Delete", "snapshot/every one of many stays", "snapshot/vectors stay",
		}},
		{"vectors and metadata aliased in", func() Backend { return aliasesVectors{newModel(), same, deepCopy} }, []string{
			"caller mutation/PutVector/vector", "caller mutation/PutVector/metadata/map[string]any", "caller mutation/PutVector/metadata/[]string",
		}},
		{"vectors and metadata aliased out", func() Backend { return aliasesVectors{newModel(), deepCopy, same} }, []string{
			"reader mutation/GetVector/vector", "reader mutation/SearchVector/hits", "reader mutation/GetVector/metadata/[]string", "reader mutation/SearchVector/metadata/nested",
		}},
		{"metadata copied shallowly", func() Backend {
			copied := func(v any) any {
				if at, ok := v.([]float32); ok {
					return deepCopy(at)
				}
				return shallowCopy(v)
			}
			return aliasesVectors{newModel(), copied, copied}
		}, []string{"caller mutation/PutVector/metadata/nested", "reader mutation/SearchVector/metadata/[]string"}},
		{"normalizes in place", func() Backend { return normalizes{newModel()} }, []string{"caller mutation/PutVector/vector"}},
		{"a snapshot that searches what is live", func() Backend { return searchesLive{newModel()} }, []string{"snapshot/vectors stay"}},
		{"a search that reads another version", func() Backend { return searchesTwice{newModel()} }, []string{"torn read/search while a row is replaced"}},
		{"revisions that come back", func() Backend { return countsFromOne{newModel()} }, []string{"resurrection/SetIf after Delete and Put"}},
		{"revisions that Put does not change", func() Backend { return replacesUnseen{newModel()} }, []string{"conditional write/revisions"}},
		{"SetIf of what is gone", func() Backend { return setsWhatIsGone{newModel()} }, []string{"conditional write/revisions", "resurrection/SetIf after Delete"}},
		{"the path of the caller", joinsOnce, []string{"caller mutation/the path of a space"}},
		{"List of spaces below", func() Backend { return listsBelow{newModel()} }, []string{"scope collision/List"}},
		{"List that is kept", func() Backend { return handsOutItsList{newModel(), map[string][]string{}} }, []string{"reader mutation/List"}},
	}
}

// A recorder is a tb that a check fails or skips without the test.
type recorder struct {
	mu      sync.Mutex
	failed  bool
	skipped bool
	log     strings.Builder
}

func (r *recorder) Helper() {}

func (r *recorder) note(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(&r.log, format+"\n", args...)
}

func (r *recorder) Errorf(format string, args ...any) {
	r.note(format, args...)
	r.failed = true
}

func (r *recorder) FailNow() {
	r.failed = true
	runtime.Goexit()
}

func (r *recorder) Skipf(format string, args ...any) {
	r.note(format, args...)
	r.skipped = true
	runtime.Goexit()
}

// record runs a check and returns what it found.
func record(c check, o Options, b Backend, grace, patience time.Duration) *recorder {
	r := &recorder{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				r.Errorf("panic: %v", p)
			}
		}()
		c.run(&probe{tb: r, b: b, o: o, grace: grace, patience: patience})
	}()
	<-done
	return r
}

func named(t *testing.T, name string) check {
	t.Helper()
	for _, c := range checks() {
		if c.name == name {
			return c
		}
	}
	require.Fail(t, "no test has this name", name)
	return check{}
}

func TestEveryBugIsFoundEveryTime(t *testing.T) {
	t.Parallel() // it waits
	times := 20
	if testing.Short() {
		times = 1
	}
	for _, b := range bugs() {
		t.Run(b.name, func(t *testing.T) {
			for _, name := range b.fails {
				c := named(t, name)
				n := times
				wait := patience
				if b.name == "locked after a panic" {
					n, wait = 1, time.Second
				}
				for range n {
					r := record(c, Options{}, b.open(), grace, wait)
					// A busy machine may not get to the other operation in that time.
					for longer := 4 * grace; !r.failed && longer < time.Minute; longer *= 4 {
						r = record(c, Options{}, b.open(), longer, wait)
					}
					require.True(t, r.failed && !r.skipped, "%s: not found by %q: %s", b.name, name, r.log.String())
				}
			}
		})
	}
}

func TestABackendOfJSONPassesIfThatIsSaid(t *testing.T) {
	t.Parallel() // it waits
	TestWith(t, Options{JSON: true}, func(testing.TB) Backend { return with(jsonCopy, jsonCopy, nil)() })
}

func TestWhatABackendRefusesIsSkipped(t *testing.T) {
	t.Parallel() // it waits
	skipped, failed := 0, 0
	for _, c := range checks() {
		r := record(c, Options{}, refuses{newModel()}, grace, patience)
		require.False(t, r.failed, "%s: %s", c.name, r.log.String())
		if r.skipped {
			skipped++
		}
		r = record(c, Options{}, refusesAll{}, grace, patience)
		if r.failed {
			failed++
		}
	}
	require.NotZero(t, skipped)
	require.NotZero(t, failed, "a backend must not refuse everything")
}

// refuses accepts what is decoded from JSON, by plain names.
type refuses struct{ *model }

func (b refuses) Put(space []string, key string, v any) error {
	if len(space) > 0 {
		for _, s := range append(space[:len(space):len(space)], key) {
			if s == "" || strings.ContainsAny(s, "/:\\\x00") {
				return errRefused
			}
		}
	}
	if len(space) == 0 || !reflect.DeepEqual(jsonShapeCopy(deepCopy(v)), v) || typed(v) {
		return errRefused
	}
	return b.model.Put(space, key, v)
}

// typed reports whether v is anything that JSON is not decoded to, but for ints.
func typed(v any) bool {
	switch v := v.(type) {
	case nil, bool, string, int, float64:
		return false
	case map[string]any:
		for _, e := range v {
			if typed(e) {
				return true
			}
		}
		return false
	case []any:
		for _, e := range v {
			if typed(e) {
				return true
			}
		}
		return false
	}
	return true
}

type refusesAll struct{}

func (refusesAll) Put([]string, string, any) error         { return errRefused }
func (refusesAll) Get([]string, string) (any, bool, error) { return nil, false, nil }
