package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/cowstore/cowstore/bench/stores"
)

// agents are users, each with a space of what an agent knows of them.
type agents struct {
	users   int
	each    int // notes of a user
	seed    uint64
	vectors [][]float32 // what notes are given, in turn; none: notes have none
	zipf    *zipf       // of users
	chosen  [][]uint32
	clients int
	turn    time.Duration

	// act prepares a turn of a with a user. What it returns is the turn, and all
	// that is measured; it says whether everything was found.
	act func(a *actor, space stores.Space, user int) func() (whole bool)
}

// The vectors: how many there are that differ, of which notes have copies, and how
// many subjects they are about.
const (
	noteVectors  = 20_000
	noteSubjects = 50
)

func (x agents) prepared(dim int) *agents {
	if dim > 0 {
		x.vectors = take(min(noteVectors, x.users*x.each), unitVectors(x.seed, dim, noteSubjects))
	}
	x.zipf = newZipf(x.users, x.seed)
	for i := range x.clients {
		x.chosen = append(x.chosen, x.zipf.draw(streamClients+uint64(i), draws))
	}
	return &x
}

// vocabulary is what notes are made of.
var vocabulary = strings.Fields(`prefers likes avoids asked about the project in Lyon on Monday deadline moved train
	tickets vegetarian dinner budget review meeting with Ada works at night answers short French notes tests
	deploy failed retry later keyboard layout dark theme runs marathon plays chess garden piano`)

// note returns note i of a user in a generation, in memory of its own.
func (x *agents) note(user, i int, generation uint32) stores.Note {
	r := rand.New(rand.NewPCG(x.seed, streamNotes+uint64(user*x.each+i)))
	stamp := fmt.Sprintf("%08x", generation)
	var text strings.Builder
	text.WriteString(stamp)
	for range 10 + r.IntN(10) {
		text.WriteByte(' ')
		text.WriteString(vocabulary[r.IntN(len(vocabulary))])
	}
	n := stores.Note{Key: noteKey(i), Value: map[string]any{
		"text": text.String(), "stamp": stamp, "kind": "fact", "source": "chat",
		"score": r.Float64(), "turn": float64(i), "tags": []any{"user", vocabulary[r.IntN(len(vocabulary))]},
	}}
	if x.vectors != nil {
		n.Vector = slices.Clone(x.vectors[(user*x.each+i+int(generation))%len(x.vectors)])
	}
	return n
}

func noteKey(i int) string { return fmt.Sprintf("memory-%04d", i) }

// intact reports whether f is of one generation.
func intact(f stores.Found) bool {
	return len(f.Stamp) == 8 && strings.HasPrefix(f.Text, f.Stamp)
}

// trial loads a new memory and lets the clients act for a turn.
func (x *agents) trial(ctx context.Context, k stores.Kind) sample {
	m := k.NewMemory()
	defer release(m)
	spaces := make([]stores.Space, x.users)
	before := live()
	notes := make([]stores.Note, x.each)
	for u := range spaces {
		if ctx.Err() != nil {
			return sample{}
		}
		spaces[u] = m.Space("user", fmt.Sprint(u), "memories")
		for i := range notes {
			notes[i] = x.note(u, i, 0)
		}
		spaces[u].Put(notes...)
	}
	clear(notes)
	f := figures{colHeap.ID: max(0, (live()-before)/float64(x.users*x.each))}
	runtime.KeepAlive(m)

	all := make([]*actor, x.clients)
	for i := range all {
		all[i] = newActor(x, i)
		for _, user := range x.chosen[i][:warmUpTurns] {
			all[i].act(all[i], spaces[user], int(user))()
		}
	}
	var wg sync.WaitGroup
	ctx, stop := context.WithTimeout(ctx, x.turn)
	defer stop()
	var stopped atomic.Bool
	context.AfterFunc(ctx, func() { stopped.Store(true) })
	used := usageNow()
	for i := range all {
		wg.Go(func() { all[i].run(spaces, x.chosen[i], &stopped) })
	}
	wg.Wait()
	used.until(f)
	took, turns := time.Since(used.at), 0
	s := sample{figures: f, latency: newHistogram()}
	for _, a := range all {
		s.checked += a.read
		s.torn += a.torn
		s.latency.Merge(a.latency)
		turns += a.turns
		f[colOps.ID] += rate(float64(a.turns), a.spent)
	}
	if crowded(x.clients) {
		f[colOps.ID] = rate(float64(turns), took)
	}
	f.quantiles(s.latency)
	return s
}

// An actor is an agent that takes one turn after the other, each with another
// user.
type actor struct {
	*agents
	random     *rand.Rand
	zipf       *rand.Zipf // of a user's notes
	generation uint32
	found      []stores.Found // in this turn
	turns      int
	spent      time.Duration
	read, torn int
	latency    *hdrhistogram.Histogram
}

func newActor(x *agents, i int) *actor {
	r := rand.New(rand.NewPCG(x.seed, streamKinds+uint64(i)))
	return &actor{agents: x, random: r, zipf: rand.NewZipf(r, skew, 1, uint64(x.each-1)), latency: newHistogram()}
}

func (a *actor) run(spaces []stores.Space, users []uint32, stopped *atomic.Bool) {
	for at := 0; !stopped.Load(); at = (at + 1) % len(users) {
		user := int(users[at])
		turn := a.act(a, spaces[user], user)
		a.found = a.found[:0]
		start := time.Now()
		whole := turn()
		took := time.Since(start)
		a.spent += took
		a.turns++
		record(a.latency, took)
		if !whole {
			a.torn++
		}
		for _, f := range a.found {
			a.read++
			if !intact(f) {
				a.torn++
			}
		}
	}
}

// warmUpTurns is how many turns of each client come before those that are measured.
const warmUpTurns = 50

// The turn of an agent.
const (
	turnGets    = 6
	turnNearest = 10
)

// turn is 6 lookups, a search in the user's space, and half of the time a note
// written anew.
func turn(a *actor, space stores.Space, user int) func() bool {
	vectors := space.(stores.VectorSpace)
	var keys [turnGets]string
	for i := range keys {
		keys[i] = noteKey(int(a.zipf.Uint64()))
	}
	query := a.vectors[a.random.IntN(len(a.vectors))]
	write := a.random.IntN(2) == 0
	var n stores.Note
	if write {
		a.generation++
		n = a.note(user, int(a.zipf.Uint64()), a.generation)
	}
	return func() bool {
		whole := true
		for _, key := range keys {
			f, ok := vectors.Get(key)
			whole = whole && ok
			a.found = append(a.found, f)
		}
		whole = whole && len(vectors.Nearest(query, turnNearest)) == min(turnNearest, a.each)
		if write {
			vectors.Put(n)
		}
		return whole
	}
}

// preload reads the whole of a user's space, or once in a hundred times writes one
// note of it anew.
func preload(a *actor, space stores.Space, user int) func() bool {
	whole := space.(stores.WholeSpace)
	if a.random.IntN(100) == 0 {
		a.generation++
		n := a.note(user, a.random.IntN(a.each), a.generation)
		return func() bool { whole.Put(n); return true }
	}
	return func() bool {
		for _, f := range whole.All() {
			a.found = append(a.found, f)
		}
		return len(a.found) == a.each
	}
}

// able reports whether a memory has spaces of type S.
func able[S stores.Space](k stores.Kind) bool {
	if k.NewMemory == nil {
		return false
	}
	m := k.NewMemory()
	defer release(m)
	_, ok := m.Space("probe").(S)
	return ok
}
