package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/btree"

	"github.com/cowstore/cowstore/bench/result"
	"github.com/cowstore/cowstore/cow"
)

// bars measures, and calls emit with each bar as it is known, until ctx ends.
type bars struct {
	ctx    context.Context
	rounds int
	group  string // what is measured now
	emit   func(result.Bar)
}

// add reports the ratio of ours to peers, medians of both, and whether it is at
// most limit; 0: for information.
func (b *bars) add(name, unit string, ours, peers []float64, limit float64) {
	r := ratio(ours, peers)
	b.report(name, median(ours), median(peers), unit, r, limit, limit == 0 || r <= limit)
}

// report reports a bar whose verdict is not by its ratio alone.
func (b *bars) report(name string, ours, peer float64, unit string, ratio, limit float64, pass bool) {
	r := result.Bar{Group: b.group, Ours: ours, Peer: peer, Unit: unit, Ratio: ratio, Bar: limit, Pass: pass}
	r.Name, r.At = splitSize(name)
	b.emit(r)
}

// splitSize splits the size at which a bar is measured from its name: "Get at 1M".
// Of a bar that compares two sizes both belong to the name.
func splitSize(name string) (rest, size string) {
	i := strings.LastIndex(name, " at ")
	if i < 0 || strings.HasSuffix(name[:i], " vs") || strings.Trim(name[i+4:], "0123456789kM") != "" {
		return name, ""
	}
	return name[:i], name[i+4:]
}

// groups are the bars by what they are about, in the order of the report.
var groups = []struct {
	name    string
	measure func(b *bars)
}{
	{"reads", func(b *bars) { b.reads(1_000, 1.4, 4) }},
	{"reads", func(b *bars) { b.reads(100_000, 1.5, 1.6) }},
	{"reads", func(b *bars) { b.reads(1_000_000, 1.6, 1.1) }},
	{"commits", func(b *bars) { b.commits(100_000) }},
	{"commits", func(b *bars) { b.commits(1_000_000) }},
	{"commits", (*bars).tail},
	{"commits", (*bars).growth},
	{"commits", (*bars).batch},
	{"scans", func(b *bars) { b.scan(100_000) }},
	{"scans", func(b *bars) { b.scan(1_000_000) }},
	{"memory", (*bars).memory},
	{"memory", (*bars).version},
	{"diff", (*bars).diff},
	{"clone", (*bars).clone},
	{"views", (*bars).viewed},
	{"views", (*bars).listed},
	{"history", (*bars).history},
	{"fork", (*bars).fork},
	{"indexes", (*bars).indexed},
	{"watches", (*bars).watches},
	{"values", func(b *bars) { b.values(1_000) }},
	{"values", func(b *bars) { b.values(100_000) }},
	{"values", func(b *bars) { b.rewrites(1_000) }},
	{"vectors", func(b *bars) { b.nearest(1_000, 1536) }},
	{"vectors", func(b *bars) { b.nearest(10_000, 768) }},
	{"vectors", func(b *bars) { b.nearest(100_000, 384) }},
	{"vectors", func(b *bars) { b.vectorWrite(1_000, 100_000) }},
	{"vectors", func(b *bars) { b.vectorHeap(100_000) }},
	{"pauses", func(b *bars) { b.pauses(100_000, 2*time.Second) }},
	{"texts", func(b *bars) { b.texts(50_000) }},
	{"texts", func(b *bars) { b.recalls(1_000) }},
	{"durable", (*bars).durableCommits},
	{"durable", (*bars).durableLoad},
	{"durable", (*bars).durableReads},
}

// groupNames returns the names of the groups, in their order.
func groupNames() (names []string) {
	for _, g := range groups {
		if !slices.Contains(names, g.name) {
			names = append(names, g.name)
		}
	}
	return names
}

// all measures the bars of the group only, or of all if that is empty. It returns
// early when ctx ends.
func (b *bars) all(only string) {
	for _, g := range groups {
		if b.ctx.Err() != nil {
			return
		}
		if only == "" || g.name == only {
			b.group = g.name
			g.measure(b)
		}
	}
}

// fill sets n keys in p, each from a copy of its own.
func fill(p peer, n int) {
	for i := range n {
		p.set(barKey(i), number{ID: uint64(i)})
	}
}

// fillStore loads the keys from to to in one update.
func fillStore(s *cow.Store[string, number], from, to int) {
	_ = s.Update(func(e *cow.Editor[string, number]) error {
		e.SetAll(func(yield func(string, number) bool) {
			for i := from; i < to; i++ {
				if !yield(barKey(i), number{ID: uint64(i)}) {
					return
				}
			}
		})
		return nil
	})
}

// rewrite sets one in twenty of the n keys again, one by one, and returns copies
// of those keys.
func rewrite(n int, peers ...peer) []string {
	var keys []string
	for i := 0; i < n; i += 20 {
		keys = append(keys, barKey(i))
		for _, p := range peers {
			p.set(barKey(i), number{ID: uint64(i)})
		}
	}
	return keys
}

func (b *bars) reads(n int, plainBar, lockedTimes float64) {
	m, locked, big, rad := goMap{}, &lockedMap{m: map[string]number{}}, newOneBigMap(), newRadix()
	get := cowGet{cow.New[string](cow.Options[number]{})}
	again := cowGet{cow.New[string](cow.Options[number]{})}
	shared := cowShared{get}
	fillStore(get.Store, 0, n)
	fillStore(again.Store, 0, n)
	for _, p := range []peer{m, locked, big, rad} {
		fill(p, n)
	}
	written := rewrite(n, m, locked, big, rad, get, again)
	keys := barKeys(0, n)

	at := fmt.Sprintf(" at %s", count(n))
	s := interleave(b.rounds,
		func() float64 { return perGet(get, keys) },
		func() float64 { return perGet(again, keys) },
		func() float64 { return perGet(shared, keys) },
		func() float64 { return perGet(m, keys) },
		func() float64 { return perGet(big, keys) },
		func() float64 { return perGet(rad, keys) },
		func() float64 { return perGet(get, written) },
		func() float64 { return perGet(m, written) },
	)
	b.add("noise: Get, the same store twice"+at, "ns", s[0], s[1], 0)
	b.add("Get vs Go map"+at, "ns", s[0], s[3], plainBar)
	b.add("Shared().Get vs Go map"+at, "ns", s[2], s[3], plainBar)
	b.add("Get vs one immutable.Map"+at, "ns", s[0], s[4], 1.0/2)
	b.add("Get vs go-immutable-radix"+at, "ns", s[0], s[5], 1.0/4)
	// Of few keys the caches hold more: the Go map says how much that is worth.
	fresh := make([]float64, len(s[6]))
	for i := range fresh {
		fresh[i] = s[6][i] * s[3][i] / s[7][i]
	}
	b.add("Get of keys just written vs of all"+at, "ns", fresh, s[0], 1.1)
	_, objects := allocated(func() {
		sink += get.gets(written)
		sink += shared.gets(written)
	})
	perLookup := objects / float64(2*len(written))
	b.report("allocations of a Get"+at, perLookup, 0, "", perLookup, 0, perLookup < 0.01)

	s = interleave(b.rounds,
		func() float64 { return perGetOnAll(get, keys) },
		func() float64 { return perGetOnAll(locked, keys) },
	)
	b.add("Get vs RWMutex + map, all cores"+at, "ns", s[0], s[1], 1/lockedTimes)
}

// commits compares one-key commits that rewrite keys.
func (b *bars) commits(n int) {
	get, big := cowGet{cow.New[string](cow.Options[number]{})}, newOneBigMap()
	fillStore(get.Store, 0, n)
	fill(big, n)
	rewrite(n, get, big)
	const each = 100_000
	keys := barKeys(0, n)
	next := 0
	var ourBytes, peerBytes []float64
	measure := func(p peer, bytes *[]float64) func() float64 {
		return func() float64 {
			var d time.Duration
			total, _ := allocated(func() {
				d = timed(func() {
					for range each {
						p.set(keys[next%n], number{})
						next++
					}
				})
			})
			*bytes = append(*bytes, total/each)
			return float64(d) / each
		}
	}
	s := interleave(b.rounds, measure(get, &ourBytes), measure(big, &peerBytes))
	at := fmt.Sprintf(" at %s", count(n))
	b.add("one-key commit vs one immutable.Map"+at, "ns", s[0], s[1], 0.65)
	b.add("bytes of a one-key commit vs one immutable.Map"+at, "B", ourBytes, peerBytes, 0.75)
}

// tail compares the slowest of a million one-key commits at a million keys.
func (b *bars) tail() {
	const n = 1_000_000
	get, big := cowGet{cow.New[string](cow.Options[number]{})}, newOneBigMap()
	fillStore(get.Store, 0, n)
	fill(big, n)
	keys := barKeys(0, n)
	slow := func(p peer) func() float64 {
		return func() float64 {
			return quantile(latencies(n, func(i int) { p.set(keys[i], number{}) }), 0.9999)
		}
	}
	s := interleave(max(3, b.rounds/3), slow(get), slow(big))
	b.add("p99.99 of one-key commits vs one immutable.Map at 1M", "ns", s[0], s[1], 1)
}

// growth compares the slowest insert while a store grows from one million keys
// to two.
func (b *bars) growth() {
	const n = 1_000_000
	more := barKeys(n, 2*n)
	slowest := func(p peer) float64 {
		all := latencies(n, func(i int) { p.set(more[i], number{}) })
		return all[len(all)-1]
	}
	s := interleave(max(3, b.rounds/3),
		func() float64 {
			p := cowGet{cow.New[string](cow.Options[number]{})}
			fillStore(p.Store, 0, n)
			return slowest(p)
		},
		func() float64 { p := newOneBigMap(); fill(p, n); return slowest(p) },
	)
	b.add("slowest insert from 1M to 2M vs one immutable.Map", "ns", s[0], s[1], 1)
}

// batch compares one commit of 1,000 existing keys at 100,000.
func (b *bars) batch() {
	const n, each = 100_000, 1_000
	s := cow.New[string](cow.Options[number]{})
	fillStore(s, 0, n)
	var tree btree.Map[string, number]
	for i := range n {
		tree.Set(barKey(i), number{ID: uint64(i)})
	}
	keys := barKeys(0, n)
	samples := interleave(b.rounds,
		func() float64 {
			return float64(timed(func() {
				for at := 0; at < n; at += each {
					_ = s.Update(func(e *cow.Editor[string, number]) error {
						for _, k := range keys[at : at+each] {
							e.Set(k, number{})
						}
						return nil
					})
				}
			})) * each / n
		},
		func() float64 {
			return float64(timed(func() {
				for at := 0; at < n; at += each {
					next := tree.Copy()
					for _, k := range keys[at : at+each] {
						next.Set(k, number{})
					}
					tree = *next
				}
			})) * each / n
		},
	)
	b.add("commit of 1,000 keys at 100k vs btree Copy + Set", "ns", samples[0], samples[1], 0.6)
}

// scan compares whole iterations.
func (b *bars) scan(n int) {
	m, s := goMap{}, cow.New[string](cow.Options[number]{})
	fill(m, n)
	fillStore(s, 0, n)
	rewrite(n, m, cowGet{s})
	rounds := max(1, 1_000_000/n)
	per := func(f func()) func() float64 {
		return func() float64 {
			return float64(timed(func() {
				for range rounds {
					f()
				}
			})) / float64(rounds*n)
		}
	}
	samples := interleave(b.rounds,
		per(func() {
			for _, v := range s.Load().Shared().All() {
				sink += v.ID
			}
		}),
		per(func() {
			for _, v := range m {
				sink += v.ID
			}
		}),
	)
	b.add("Shared().All vs range over a Go map at "+count(n), "ns", samples[0], samples[1], 2)
}

// diff compares a diff of ten changes in a large map and in a small one.
func (b *bars) diff() {
	differ := func(n int) func() float64 {
		s := cow.New[string](cow.Options[number]{})
		fillStore(s, 0, n)
		rewrite(n, cowGet{s})
		older := s.Load()
		for i := range 10 {
			s.Set(barKey(i*n/10), number{})
		}
		newer := s.Load()
		return func() float64 {
			const each = 2_000
			return float64(timed(func() {
				for range each {
					for c := range newer.Diff(older) {
						sink += uint64(c.Kind)
					}
				}
			})) / each
		}
	}
	s := interleave(b.rounds, differ(1_000_000), differ(10_000))
	b.add("diff of 10 changes at 1M vs at 10k", "ns", s[0], s[1], 3)
}

// clone compares an isolated Get of a JSON-like value with a clone of it
// written by hand.
func (b *bars) clone() {
	value := map[string]any{
		"id": "m-1", "kind": "note", "text": "the user prefers short answers", "score": 0.75,
		"count": 12, "pinned": true, "source": "chat", "tags": []string{"style", "user"},
		"embedding_id": 991, "meta": map[string]any{"turn": 4, "model": "x"},
	}
	s := cow.New[string](cow.Options[map[string]any]{})
	s.Set("k", value)
	m := map[string]map[string]any{"k": value}
	const each = 200_000
	samples := interleave(b.rounds,
		func() float64 {
			return float64(timed(func() {
				for range each {
					v, _ := s.Get("k")
					sink += uint64(len(v))
				}
			})) / each
		},
		func() float64 {
			return float64(timed(func() {
				for range each {
					sink += uint64(len(cloneByHand(m["k"])))
				}
			})) / each
		},
	)
	b.add("isolated Get of a 10-field map vs a clone by hand", "ns", samples[0], samples[1], 1.5)
}

func cloneByHand(m map[string]any) map[string]any {
	c := make(map[string]any, len(m))
	for k, v := range m {
		switch v := v.(type) {
		case []string:
			c[k] = slices.Clone(v)
		case map[string]any:
			c[k] = cloneByHand(v)
		case map[string]string:
			c[k] = maps.Clone(v)
		default:
			c[k] = v
		}
	}
	return c
}
