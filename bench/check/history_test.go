package check

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
)

// A recorder records the operations of many clients, by one clock.
type recorder struct {
	clock   atomic.Int64
	mu      sync.Mutex
	history []porcupine.Operation
}

// A client does operations, one after the other.
type client struct {
	*recorder
	id     int
	t      target
	r      *rand.Rand
	values int64                 // the last that it wrote
	seen   [cells]uint64         // revisions that it has seen
	only   bool                  // updates and reads of snapshots, no verbs of the store
	own    []porcupine.Operation // not in the history yet
}

// newClient returns a client of a target. Values are unique: modify adds to the
// low bits, and what it makes of a value it makes once.
func (r *recorder) newClient(id int, t target, seed uint64) *client {
	return &client{recorder: r, id: id, t: t, r: rand.New(rand.NewPCG(seed, uint64(id))), values: int64(id+1) << 48}
}

// random does n random operations.
func (c *client) random(n int) {
	for range n {
		c.record(c.next())
	}
}

// reads does n reads.
func (c *client) reads(n int) {
	for range n {
		c.record(input{kind: read})
	}
}

// join adds what c has recorded to the history.
func (c *client) join() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.history = append(c.history, c.own...)
	c.own = nil
}

// weights say how often each kind comes, in 100.
var weights = [kinds]int{get: 10, read: 15, set: 15, insert: 8, setIf: 12, remove: 6, take: 8, modify: 12, batch: 10, abort: 4}

// next returns a random operation.
func (c *client) next() input {
	c.values += 1 << 24
	in := input{cell: c.r.IntN(cells), value: c.values, direct: !c.only && c.r.IntN(2) == 0}
	n := c.r.IntN(100)
	for n >= weights[in.kind] {
		n -= weights[in.kind]
		in.kind++
	}
	if c.only && in.kind == get {
		in.kind = read
	}
	switch in.kind {
	case setIf:
		in.rev = c.seen[in.cell] // which may still be that
	case batch, abort:
		in.direct = false
		in.others[0] = (in.cell + half) % cells
		in.others[1] = (in.cell + 1 + c.r.IntN(half-1)) % cells
	}
	return in
}

// record does an operation and records it.
func (c *client) record(in input) {
	out := new(output)
	call := c.clock.Add(1)
	c.do(&in, out)
	c.own = append(c.own, porcupine.Operation{ClientId: c.id, Input: &in, Output: out, Call: call, Return: c.clock.Add(1)})
}

// yield lets others run in the middle of an operation, now and then.
func (c *client) yield() {
	if c.r.IntN(4) == 0 {
		runtime.Gosched()
	}
}

func (c *client) do(in *input, out *output) {
	switch {
	case in.kind == get:
		out.value, out.ok = c.t.verbs(in.cell).Get(names[in.cell])
	case in.kind == read:
		snapshot := c.t.load()
		c.yield()
		out.version, out.all = snapshot.version, new([cells]cell)
		for i := range out.all {
			out.all[i] = snapshot.read(i)
			c.seen[i] = out.all[i].revision
		}
	case in.direct:
		out.err = sentinel(c.write(c.t.verbs, in, out))
	default:
		var changed bool
		err := c.t.update(func(x tx) error {
			c.yield()
			err := c.write(x.verbs, in, out)
			if out.version, changed = x.version, err == nil && in.changes(out); !changed {
				out.version-- // there is none that it published: it saw the one before
			}
			c.yield()
			// An update that ends without an error and without a change publishes
			// nothing either.
			if errors.Is(err, errAbort) || err != nil && c.r.IntN(2) == 0 {
				return err
			}
			out.err = err
			return nil
		})
		if err != nil {
			out.err = err
		}
		out.err = sentinel(out.err)
		if changed {
			c.seen[in.cell] = out.version
		}
	}
}

// changes reports whether an operation that did not fail has changed anything.
func (in *input) changes(out *output) bool {
	return in.kind != remove && in.kind != take || out.ok
}

// write does what in says by the verbs of the cells.
func (c *client) write(of func(int) verbs, in *input, out *output) (err error) {
	v, name := of(in.cell), names[in.cell]
	switch in.kind {
	case set:
		v.Set(name, in.value)
	case insert:
		return v.Insert(name, in.value)
	case setIf:
		return v.SetIf(name, in.rev, in.value)
	case remove:
		out.ok = v.Delete(name)
	case take:
		out.value, out.ok = v.Take(name)
	case modify:
		return v.Modify(name, func(n *int64) error {
			c.yield()
			*n++
			out.value = *n
			return nil
		})
	case batch, abort:
		v.Set(name, in.value)
		c.yield()
		of(in.others[0]).Set(names[in.others[0]], in.value+second)
		of(in.others[1]).Delete(names[in.others[1]])
		if in.kind == abort {
			return errAbort
		}
	}
	return nil
}

// tell fills in the versions of what was done by verbs, as the feed has them.
func (r *recorder) tell(f feed) {
	for _, op := range r.history {
		in, out := op.Input.(*input), op.Output.(*output)
		if !in.direct || out.err != nil {
			continue
		}
		switch in.kind {
		case set, insert, setIf:
			out.version = f.wrote[in.value]
		case modify:
			out.version = f.wrote[out.value]
		case take:
			out.version = f.removed[out.value]
		}
	}
}

// clients is how many there are at once.
const clients = 6

// A plan says how a history comes about.
type plan struct {
	ops     int // about so many
	reads   int // of each client, at the end
	seed    uint64
	only    bool                   // updates and reads of snapshots, no verbs of the store
	feed    bool                   // the store has one, to ask for the versions of verbs
	session func(c *client) target // makes what the client sees of the store; nil: the store
}

// A round is how many operations each client does until it waits for the others. An
// operation whose goroutine does not get a processor for long overlaps no more than those
// of its round; if it overlapped all, to find an order would take for ever.
const round = 20

// record returns a history of a store.
func record(t *testing.T, store target, p plan) []porcupine.Operation {
	r := new(recorder)
	all := make([]*client, clients)
	for id := range all {
		c := r.newClient(id, store, p.seed)
		c.only = p.only
		if p.session != nil {
			c.t = p.session(c)
		}
		all[id] = c
	}
	together := func(f func(*client)) {
		var wg sync.WaitGroup
		for _, c := range all {
			wg.Go(func() { f(c) })
		}
		wg.Wait()
	}
	for left := p.ops / clients; left > 0; left -= round {
		together(func(c *client) { c.random(min(round, left)) })
	}
	together(func(c *client) { c.reads(p.reads) })
	for _, c := range all {
		c.join()
	}
	last := r.newClient(clients, store, p.seed)
	last.record(input{kind: read})
	last.join()
	if p.feed {
		f, err := store.feed()
		require.NoError(t, err, "the feed of all commits")
		r.tell(f)
	}
	return r.history
}

// patience is how long porcupine may take for a history. It takes a tenth of a
// second where there is an order, many times that on a machine that does much else, and
// longer to find that there is none.
const patience = 2 * time.Minute

// verdict says whether a history agrees with the model.
func verdict(history []porcupine.Operation) porcupine.CheckResult {
	return porcupine.CheckOperationsTimeout(model, history, patience)
}

// explain says where the order of a history that does not agree with the model
// ends: after which state, and which operations do not go on from there.
func explain(history []porcupine.Operation) string {
	_, info := porcupine.CheckOperationsVerbose(model, history, patience)
	var longest []porcupine.Operation
	for _, partition := range info.PartialLinearizationsOperations() {
		for _, ops := range partition {
			if len(ops) > len(longest) {
				longest = ops
			}
		}
	}
	s, done := new(state), make(map[any]bool)
	for _, op := range longest {
		_, s = s.step(op.Input.(*input), op.Output.(*output))
		done[op.Input] = true
	}
	left := slices.DeleteFunc(slices.Clone(history), func(op porcupine.Operation) bool { return done[op.Input] })
	slices.SortFunc(left, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
	text := fmt.Sprintf("after %d operations, at %v, none of these is next:", len(longest), *s)
	for _, op := range left[:min(len(left), clients)] {
		text += "\n" + model.DescribeOperation(op.Input, op.Output)
	}
	return text
}

// overlapping returns how many operations began before an earlier one had ended.
func overlapping(history []porcupine.Operation) (n int) {
	ops := slices.SortedFunc(slices.Values(history), func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
	end := int64(0)
	for _, op := range ops {
		if op.Call < end {
			n++
		}
		end = max(end, op.Return)
	}
	return n
}

// Whatever six goroutines do to a store at once, there is an order in which it
// is what the model does.
func TestHistories(t *testing.T) {
	histories, ops := 34, 10_000
	if testing.Short() {
		histories, ops = 1, 1_000
	}
	for _, of := range targets {
		t.Run(of.name, func(t *testing.T) {
			t.Parallel()
			for seed := range histories {
				p, kept := plan{ops: ops, seed: uint64(seed)}, cow.Retention{}
				if seed%2 == 0 { // a store publishes in another way where there is a history
					p.feed, kept = true, everything
				}
				history := record(t, of.make(kept), p)
				require.GreaterOrEqual(t, len(history), ops-clients)
				require.Greater(t, overlapping(history), ops/20, "operations at the same time")
				if v := verdict(history); v != porcupine.Ok {
					require.Failf(t, string(v), "history %d: %s", seed, explain(history))
				}
			}
		})
	}
}
