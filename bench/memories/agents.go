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

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/cowstore/cowstore/bench/load"
)

// Load is a workload of memories at one size.
type Load struct {
	Workload, Size string

	able func(s Space) bool

	// start loads m and returns the benchmark.
	start func(m Memory) func(b *testing.B)
}

// Able reports whether a memory of kind k can do it.
func (l *Load) Able(k Kind) bool {
	m := k.New()
	defer load.Release(m)
	return l.able(m.Space("probe"))
}

// Bench returns a benchmark of a new memory of kind k, and what lets go of the memory.
func (l *Load) Bench(k Kind) (bench func(b *testing.B), done func()) {
	return load.Bench(k.New, l.start)
}

// Loads returns the workloads of users' memories, with at most so many users.
func Loads(most int) (all []*Load) {
	for _, users := range []int{100, 1_000} {
		if users <= most || users == 100 {
			x := sync.OnceValue(func() *agents { return newAgents(min(users, most), 494, 384, turn) })
			all = append(all, &Load{Workload: "agent-turn", Size: load.Count(users), able: is[VectorSpace],
				start: func(m Memory) func(b *testing.B) { return x().start(m) }})
		}
	}
	x := sync.OnceValue(func() *agents { return newAgents(min(1_000, most), 50, 0, preload) })
	return append(all, &Load{Workload: "preload", Size: "all", able: is[WholeSpace],
		start: func(m Memory) func(b *testing.B) { return x().start(m) }})
}

func is[S Space](s Space) bool { _, ok := s.(S); return ok }

// agents are users, each with a space of what an agent knows of them.
type agents struct {
	users   int
	each    int // notes of a user
	vectors [][]float32
	zipf    *load.Zipf // of users

	// act prepares a turn of a with a user. What it returns is the turn, and all
	// that is measured; it says whether everything was found.
	act func(a *actor, space Space, user int) func() (whole bool)
}

// The vectors: how many there are that differ, of which notes have copies, and how
// many subjects they are about.
const (
	noteVectors  = 20_000
	noteSubjects = 50
)

// newAgents returns agents whose notes have vectors of dim dimensions; 0: none.
func newAgents(users, each, dim int, act func(a *actor, space Space, user int) func() bool) *agents {
	x := &agents{users: users, each: each, zipf: load.NewZipf(users), act: act}
	if dim > 0 {
		x.vectors = make([][]float32, min(noteVectors, users*each))
		next := UnitVectors(1, dim, noteSubjects)
		for i := range x.vectors {
			x.vectors[i] = next()
		}
	}
	return x
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
	center := make([][]float32, centers)
	for i := range center {
		center[i] = anywhere()
	}
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

// intact reports whether f is of one generation.
func intact(f Found) bool {
	return len(f.Stamp) == 8 && strings.HasPrefix(f.Text, f.Stamp)
}

// start loads a memory with all notes. The benchmark lets the agents act.
func (x *agents) start(m Memory) func(b *testing.B) {
	spaces := make([]Space, x.users)
	before := load.Live()
	notes := make([]Note, x.each)
	for u := range spaces {
		spaces[u] = m.Space("user", fmt.Sprint(u), "memories")
		for i := range notes {
			notes[i] = x.note(u, i, 0)
		}
		spaces[u].Put(notes...)
	}
	clear(notes)
	heap := max(0, (load.Live()-before)/float64(x.users*x.each))
	runtime.KeepAlive(m)

	var all []*actor
	return func(b *testing.B) {
		clients := runtime.GOMAXPROCS(0)
		for i := len(all); i < clients; i++ {
			a := newActor(x, i)
			for _, user := range a.chosen[:warmUpTurns] {
				a.act(a, spaces[user], int(user))()
			}
			all = append(all, a)
		}
		for _, a := range all {
			a.turns, a.spent, a.latency = 0, 0, load.NewHistogram()
		}
		b.ResetTimer()
		used := load.UsageNow()
		load.Together(b, clients, func(i int, next func() int) { all[i].run(spaces, next) })
		took := used.Report(b)
		latency, turns, each := load.NewHistogram(), 0, 0.0
		for _, a := range all[:clients] {
			if a.torn {
				b.Fatal("a note is not there, or not whole")
			}
			latency.Merge(a.latency)
			turns += a.turns
			each += load.Rate(a.turns, a.spent)
		}
		if load.Crowded(clients) {
			each = load.Rate(turns, took)
		}
		b.ReportMetric(each, "op/s")
		load.Quantiles(b, latency)
		b.ReportMetric(heap, "B/entry")
	}
}

// An actor is an agent that takes one turn after the other, each with another
// user.
type actor struct {
	*agents
	chosen     []uint32
	at         int
	random     *rand.Rand
	zipf       *rand.Zipf // of a user's notes
	generation uint32
	found      []Found // in this turn
	turns      int
	spent      time.Duration
	torn       bool
	latency    *hdrhistogram.Histogram
}

func newActor(x *agents, i int) *actor {
	r := rand.New(rand.NewPCG(1, 1<<20+uint64(i)))
	return &actor{agents: x, chosen: x.zipf.Draw(i), random: r, zipf: rand.NewZipf(r, load.Skew, 1, uint64(x.each-1))}
}

func (a *actor) run(spaces []Space, next func() int) {
	for n := next(); n > 0; n = next() {
		for range n {
			user := int(a.chosen[a.at])
			a.at = (a.at + 1) % len(a.chosen)
			turn := a.act(a, spaces[user], user)
			a.found = a.found[:0]
			start := time.Now()
			whole := turn()
			took := time.Since(start)
			a.spent += took
			a.turns++
			load.Record(a.latency, took)
			a.torn = a.torn || !whole
			for _, f := range a.found {
				a.torn = a.torn || !intact(f)
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
