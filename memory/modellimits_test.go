package memory_test

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory"
)

// Limits and defaults of the model, by brute force.

// behaves returns how a space behaves, with the defaults of those above it.
func (x *modelTest) behaves(path string) memory.SpaceOptions {
	o := x.options[path]
	for of := modelPaths[path]; len(of) > 0; {
		of = of[:len(of)-1]
		for name, above := range modelPaths {
			if slices.Equal(above, of) {
				each := x.options[name].Each
				o.MaxEntries, o.TTL = cmp.Or(o.MaxEntries, each.MaxEntries), cmp.Or(o.TTL, each.TTL)
			}
		}
	}
	return o
}

// evict keeps the limits on the spaces that the update which makes version rev wrote to, and on
// those above them, and on all of them where rev is 0, and reports whether it can. Before is what
// there was before that update.
func (x *modelTest) evict(rev uint64, before model) bool {
	written := func(path string) bool {
		return rev == 0 || x.written[path] || !maps.Equal(before[path], x.model[path])
	}
	var own, all []string // evicting from one may make the model differ in others
	for _, path := range modelSpaces {
		if written(path) {
			own = append(own, path)
		}
		if slices.ContainsFunc(below(path), written) || len(modelPaths[path]) == 0 {
			all = append(all, path)
		}
	}
	for _, path := range own {
		if !x.evictFrom([]string{path}, x.behaves(path).MaxEntries, rev, before) {
			return false
		}
	}
	for _, path := range slices.Backward(all) { // what is below comes after it
		if !x.evictAll(path, rev, before) {
			return false
		}
	}
	return true
}

// evictAll keeps the limit on a space and all below it.
func (x *modelTest) evictAll(path string, rev uint64, before model) bool {
	most := x.options[path].All.MaxEntries
	if len(modelPaths[path]) == 0 && (most == 0 || most > x.limit) {
		most = x.limit
	}
	return x.evictFrom(below(path), most, rev, before)
}

// overfull reports whether a space, or one with all below it, has more entries than its limit: they
// are kept, and were before the limit was there.
func (x *modelTest) overfull() bool {
	over := func(paths []string, most int) bool {
		n := 0
		for _, path := range paths {
			n += len(x.model[path])
		}
		return most > 0 && n > most
	}
	return slices.ContainsFunc(modelSpaces, func(path string) bool {
		return over([]string{path}, x.behaves(path).MaxEntries) || over(below(path), x.options[path].All.MaxEntries)
	})
}

// below returns a space and those below it.
func below(path string) (all []string) {
	of := modelPaths[path]
	for _, name := range modelSpaces {
		if p := modelPaths[name]; len(p) >= len(of) && slices.Equal(p[:len(of)], of) {
			all = append(all, name)
		}
	}
	return all
}

func (x *modelTest) evictFrom(paths []string, most int, rev uint64, before model) bool {
	type place struct {
		path, key string
		used      uint64
	}
	var old []place
	n, own, were := 0, 0, 0
	for _, path := range paths {
		n += len(x.model[path])
		were += len(before[path])
		for key, s := range x.model[path] {
			if s.rev == rev {
				own++
			} else if !s.kept {
				old = append(old, place{path, key, *s.used})
			}
		}
	}
	if most == 0 || n <= most {
		return true
	}
	if own > most || n-len(old) > most && n-len(old) > were {
		return false
	}
	slices.SortFunc(old, func(a, b place) int { return cmp.Compare(a.used, b.used) })
	for _, p := range old[:min(n-most, len(old))] {
		delete(x.model[p.path], p.key)
	}
	return true
}

// configure configures a space.
func (x *modelTest) configure() {
	x.sweepAll()
	time.Sleep(time.Nanosecond)
	path := modelSpaces[x.r.IntN(len(modelSpaces))]
	ttl := func() time.Duration {
		return []time.Duration{0, 0, 10 * time.Second, 20 * time.Second, memory.Never}[x.r.IntN(5)]
	}
	most := func(n int) int {
		return x.r.IntN(2) * (1 + x.r.IntN(n))
	}
	var o memory.SpaceOptions
	if x.r.IntN(4) > 0 {
		o.MaxEntries, o.TTL = most(6), ttl()
		o.All.MaxEntries = most(15)
		o.Each.MaxEntries, o.Each.TTL = most(6), ttl()
	}
	was, rev := x.options[path], x.m.Load().Version()+1
	is, err := x.m.Space(modelPaths[path]...).Configure(o)
	require.NoError(x.t, err)
	if was == o {
		rev = 0
	}
	require.Equal(x.t, rev, is)
	x.options[path] = o
	before := x.model.clone()
	require.True(x.t, x.evictFrom([]string{path}, x.behaves(path).MaxEntries, rev, before))
	require.True(x.t, x.evictAll(path, rev, before))
	x.published()
	x.sweepAll()
}

// sweepAll removes all that has expired, and what is too much in any space.
func (x *modelTest) sweepAll() {
	time.Sleep(time.Nanosecond)
	was := x.m.Load().Version()
	_, err := x.m.Sweep(context.Background())
	require.NoError(x.t, err)
	x.sweep()
	require.True(x.t, x.evict(0, x.model.clone()))
	if is := x.m.Load().Version(); is > was+1 { // what was between them is not known
		x.history = x.history[:0]
		x.history = append(x.history, past{is, time.Now(), x.model.clone(), maps.Clone(x.options)})
	} else {
		x.published()
	}
}

// undo makes one of the last versions undone.
func (x *modelTest) undo() {
	time.Sleep(time.Nanosecond)
	if len(x.history) < 2 {
		return
	}
	if x.m.Cleared() > 0 { // which an Undo would do
		x.sweepAll()
		time.Sleep(time.Nanosecond)
		if len(x.history) < 2 {
			return
		}
	}
	i := len(x.history) - 1 - x.r.IntN(min(5, len(x.history)-1))
	after, before := x.history[i], x.history[i-1]
	rev := x.m.Load().Version() + 1
	// What had expired by then was swept by the way, or gone before it was put again.
	theirs := before.model.clone()
	for path, entries := range theirs {
		for key, s := range entries {
			if s.expired(after.at) && after.model[path][key].id != s.id {
				delete(entries, key)
			}
		}
	}
	// And what it wrote that has expired since is not there to be undone.
	for path, entries := range after.model {
		for key, s := range entries {
			if s.expired(time.Now()) && before.model[path][key].id != s.id {
				delete(theirs[path], key)
			}
		}
	}
	merged, conflicts := x.merge(after.model, theirs, nil, rev)
	err := x.m.Undo(context.Background(), after.version)
	if conflicts > 0 {
		require.ErrorIs(x.t, err, cow.ErrConflict)
		require.Equal(x.t, rev-1, x.m.Load().Version())
		return
	}
	was := x.model
	x.model = merged
	x.sweep()
	if !x.evict(rev, was) {
		require.ErrorIs(x.t, err, memory.ErrFull)
		x.model = was
		return
	}
	if !differ(was, x.model, time.Now()) {
		require.ErrorIs(x.t, err, memory.ErrNothingToUndo)
		x.model = was
		require.Equal(x.t, rev-1, x.m.Load().Version())
		return
	}
	require.NoError(x.t, err)
	x.published()
}

// differ reports whether two models differ in an entry that has not expired.
func differ(a, b model, now time.Time) bool {
	for _, path := range modelSpaces {
		for _, key := range modelKeys {
			x, y := a[path][key], b[path][key]
			if x.id != y.id && (x.modelEntry != nil && !x.expired(now) || y.modelEntry != nil && !y.expired(now)) {
				return true
			}
		}
	}
	return false
}

// imports imports a few entries, as one version.
func (x *modelTest) imports() {
	t := x.t
	time.Sleep(time.Nanosecond)
	before, rev, now := x.model.clone(), x.m.Load().Version()+1, time.Now()
	var lines strings.Builder
	for range 1 + x.r.IntN(3) {
		path, key := modelSpaces[x.r.IntN(len(modelSpaces))], modelKeys[x.r.IntN(len(modelKeys)-1)] // the last is not UTF-8
		next := modelEntry{created: now, updated: now}
		value, frozen, words := x.randomValue()
		line := map[string]any{"space": modelPaths[path], "key": key, "value": value, "created": nil}
		next.value, next.words = frozen, words
		if x.r.IntN(2) == 0 {
			next.vector = x.randomVector(path)
			line["vector"] = next.vector
		}
		metadata, n := x.randomMetadata()
		if next.n = n; metadata != nil {
			line["metadata"], next.metadata = metadata, freeze(t, metadata)
		}
		if x.r.IntN(2) == 0 {
			next.updated = now.Add(-time.Hour)
			line["updated"] = next.updated
		}
		if x.r.IntN(2) == 0 {
			next.expires = now.Add(time.Duration(1+x.r.IntN(20)) * time.Second)
			line["expires"] = next.expires
		}
		if x.r.IntN(6) == 0 {
			next.kept = true
			line["kept"] = true
		}
		if next.vector == nil && x.r.IntN(2) == 0 {
			next.by = new(string)
			line["superseded_by"] = ""
		}
		text, err := json.Marshal(line)
		require.NoError(t, err)
		lines.Write(append(text, '\n'))
		if x.model[path] == nil {
			x.model[path] = make(map[string]slot)
		}
		x.model[path][key] = slot{&next, new(byte), rev, x.used()}
	}
	_, err := x.m.Import(context.Background(), strings.NewReader(lines.String()))
	x.sweep()
	if !x.evict(rev, before) {
		require.ErrorIs(t, err, memory.ErrFull)
		x.model = before
		return
	}
	require.NoError(t, err)
	x.published()
}
