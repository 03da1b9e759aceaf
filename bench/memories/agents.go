package memories

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cowstore/cowstore/bench/load"
)

// Loads returns the workloads of users' memories, with at most so many users.
func Loads(most int) (all []*load.Load[Memory]) {
	for _, users := range []int{100, 1_000} {
		all = append(all, agentsLoad("agent-turn", load.Count(users), has[VectorSpace], min(users, most), 494, 384, turn))
	}
	return append(all, agentsLoad("preload", "all", has[WholeSpace], min(1_000, most), 50, 0, preload))
}

// has reports whether the spaces of m are S too.
func has[S Space](m Memory) bool { _, ok := m.Space("probe").(S); return ok }

// agents are users, each with a space of what an agent knows of them.
type agents struct {
	users   int
	each    int         // notes of a user
	vectors [][]float32 // of which notes have copies
	zipf    *load.Zipf  // of users
	act     action
}

// An action prepares a turn of a with a user. What it returns is the turn, and all
// that is measured; it says whether as much was found as there is.
type action func(a *actor, space Space, user int) (turn func() (whole bool))

// The vectors: how many there are that differ, and how many subjects they are about.
const (
	noteVectors  = 20_000
	noteSubjects = 50
)

// agentsLoad returns a load of agents whose notes have vectors of dim dimensions; 0: none.
func agentsLoad(workload, size string, able func(m Memory) bool, users, each, dim int, act action) *load.Load[Memory] {
	made := sync.OnceValue(func() *agents {
		x := &agents{users: users, each: each, zipf: load.NewZipf(users), act: act}
		if dim > 0 {
			x.vectors = Take(min(noteVectors, users*each), UnitVectors(1, dim, noteSubjects))
		}
		return x
	})
	return &load.Load[Memory]{Workload: workload, Size: size, Can: able, Start: func(m Memory) func(b *testing.B) { return made().start(m) }}
}

// Take returns n of a source.
func Take(n int, next func() []float32) [][]float32 {
	all := make([][]float32, n)
	for i := range all {
		all[i] = next()
	}
	return all
}

// UnitVectors returns a source of random vectors of length one, the same for the
// same seed: in any direction, or, if there are centers, each near one of so
// many, as the embeddings of texts on a few subjects are. There the cosine of two
// of one center is about 0.7.
func UnitVectors(seed uint64, dim, centers int) func() []float32 {
	r := rand.New(rand.NewPCG(seed, uint64(dim)))
	anywhere := func() []float32 {
		v := make([]float32, dim)
		for i := range v {
			v[i] = float32(r.NormFloat64())
		}
		return unit(v)
	}
	if centers == 0 {
		return anywhere
	}
	center := Take(centers, anywhere)
	return func() []float32 {
		v := anywhere()
		for i, x := range center[r.IntN(centers)] {
			v[i] = 0.65*v[i] + x
		}
		return unit(v)
	}
}

// unit scales v to length one.
func unit(v []float32) []float32 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	for i, x := range v {
		v[i] = float32(float64(x) / math.Sqrt(sum))
	}
	return v
}

// vocabulary is what notes are made of.
var vocabulary = strings.Fields(`prefers likes avoids asked about the project in Lyon on Monday deadline moved train
	tickets vegetarian dinner budget review meeting with Ada works at night answers short French notes tests
	deploy failed retry later keyboard layout dark theme runs marathon plays chess garden piano`)

// note returns note i of a user in a generation, in memory of its own.
func (x *agents) note(user, i int, generation uint32) Note {
	r := rand.New(rand.NewPCG(1, 1<<40+uint64(user*x.each+i)))
	stamp := fmt.Sprintf("%08x", generation)
	var text strings.Builder
	text.WriteString(stamp)
	for range 10 + r.IntN(10) {
		text.WriteByte(' ')
		text.WriteString(vocabulary[r.IntN(len(vocabulary))])
	}
	n := Note{Key: noteKey(i), Value: map[string]any{
		"text": text.String(), "stamp": stamp, "kind": "fact", "source": "chat",
		"score": r.Float64(), "turn": float64(i), "tags": []any{"user", vocabulary[r.IntN(len(vocabulary))]},
	}}
	if x.vectors != nil {
		n.Vector = slices.Clone(x.vectors[(user*x.each+i+int(generation))%len(x.vectors)])
	}
	return n
}

func noteKey(i int) string { return fmt.Sprintf("memory-%04d", i) }

// start loads a memory with all notes. The benchmark lets the agents act.
func (x *agents) start(m Memory) func(b *testing.B) {
	spaces := make([]Space, x.users)
	heap := max(0, load.Held(x.users*x.each, func() any {
		notes := make([]Note, x.each)
		for u := range spaces {
			spaces[u] = m.Space("user", fmt.Sprint(u), "memories")
			for i := range notes {
				notes[i] = x.note(u, i, 0)
			}
			spaces[u].Put(notes...)
		}
		return m
	}))
	var actors []*actor // of all clients until now: their notes go on from generation to generation
	return func(b *testing.B) {
		for len(actors) < runtime.GOMAXPROCS(0) {
			actors = append(actors, newActor(x, spaces, len(actors)))
		}
		load.Clients(b, func(i int, c *load.Client, next func() int) { actors[i].run(c, next) })
		b.ReportMetric(heap, "B/entry")
	}
}

// An actor is an agent that takes one turn after the other, each with another
// user.
type actor struct {
	*agents
	spaces     []Space // by user
	chosen     []uint32
	at         int
	random     *rand.Rand
	zipf       *rand.Zipf // of a user's notes
	generation uint32
	found      []Found // in this turn
}

// newActor returns actor i, warmed up.
func newActor(x *agents, spaces []Space, i int) *actor {
	const warmUpTurns = 50
	r := rand.New(rand.NewPCG(1, 1<<20+uint64(i)))
	a := &actor{agents: x, spaces: spaces, chosen: x.zipf.Draw(i), random: r, zipf: rand.NewZipf(r, load.Skew, 1, uint64(x.each-1))}
	for _, user := range a.chosen[:warmUpTurns] {
		a.act(a, spaces[user], int(user))()
	}
	return a
}

func (a *actor) run(c *load.Client, next func() int) {
	for n := next(); n > 0; n = next() {
		for range n {
			user := int(a.chosen[a.at])
			a.at = (a.at + 1) % len(a.chosen)
			turn := a.act(a, a.spaces[user], user)
			a.found = a.found[:0]
			start := time.Now()
			whole := turn()
			took := time.Since(start)
			c.Spent += took
			c.N++
			load.Record(c.Latency, took)
			for _, f := range a.found { // of one generation, or else absent or torn
				whole = whole && len(f.Stamp) == 8 && strings.HasPrefix(f.Text, f.Stamp)
			}
			if !whole {
				c.Torn = fmt.Sprint("user ", user)
			}
		}
	}
}

// The turn of an agent.
const (
	turnGets    = 6
	turnNearest = 10
)

// turn is 6 lookups, a search in the user's space, and half of the time a note
// written anew.
func turn(a *actor, space Space, user int) func() bool {
	vectors := space.(VectorSpace)
	var keys [turnGets]string
	for i := range keys {
		keys[i] = noteKey(int(a.zipf.Uint64()))
	}
	query := a.vectors[a.random.IntN(len(a.vectors))]
	write := a.random.IntN(2) == 0
	var n Note
	if write {
		a.generation++
		n = a.note(user, int(a.zipf.Uint64()), a.generation)
	}
	return func() bool {
		for _, key := range keys {
			f, _ := vectors.Get(key)
			a.found = append(a.found, f)
		}
		near := vectors.Nearest(query, turnNearest)
		if write {
			vectors.Put(n)
		}
		return len(near) == min(turnNearest, a.each)
	}
}

// preload reads the whole of a user's space, or once in a hundred times writes one
// note of it anew.
func preload(a *actor, space Space, user int) func() bool {
	whole := space.(WholeSpace)
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
