package check

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anishathalye/porcupine"
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
	id      int
	t       *target
	r       *rand.Rand
	values  int64         // the last that it wrote
	version uint64        // the last that it has seen
	seen    [cells]uint64 // revisions that it has seen
	whole   bool          // it does updates and reads of snapshots alone
	own     []porcupine.Operation
}

// newClient returns a client of a target. Values are unique: modify adds to the low bits, and
// what it makes of a value it makes once.
func (r *recorder) newClient(id int, t *target, seed uint64) *client {
	return &client{recorder: r, id: id, t: t, r: rand.New(rand.NewPCG(seed, uint64(id))), values: int64(id+1) << 48}
}

// do does these operations and adds them to the history.
func (c *client) do(n int, next func() input) {
	for range n {
		in, out := next(), new(output)
		call := c.clock.Add(1)
		c.run(&in, out)
		c.own = append(c.own, porcupine.Operation{ClientId: c.id, Input: &in, Output: out, Call: call, Return: c.clock.Add(1)})
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.history = append(c.history, c.own...)
	c.own = nil
}

// weights say how often each kind comes, in 100.
var weights = [kinds]int{get: 10, read: 12, wait: 4, set: 14, insert: 8, setIf: 12, remove: 6, take: 8, modify: 10, batch: 8, abort: 4, merge: 4}

// random returns a random operation.
func (c *client) random() input {
	c.values += 1 << 24
	in := input{cell: c.r.IntN(cells), value: c.values, direct: !c.whole && c.r.IntN(2) == 0}
	in.other = (in.cell + half) % cells
	in.gone = (in.cell + 1 + c.r.IntN(half-1)) % cells
	for n := c.r.IntN(100); n >= weights[in.kind]; in.kind++ {
		n -= weights[in.kind]
	}
	if c.whole && (in.kind == get || in.kind == wait || in.kind == merge) {
		in.kind = read
	}
	switch in.kind {
	case wait:
		if in.rev = c.version; in.rev > 0 && c.r.IntN(2) == 0 {
			in.rev-- // there is one already
		}
	case setIf:
		in.rev = c.seen[in.cell] // which may still be that
	case batch, abort:
		in.direct = false
	}
	return in
}

// reading returns the operation that reads a snapshot.
func reading() input { return input{kind: read} }

// yield lets others run in the middle of an operation, now and then.
func (c *client) yield() {
	if c.r.IntN(4) == 0 {
		runtime.Gosched()
	}
}

// run does one operation.
func (c *client) run(in *input, out *output) {
	switch {
	case in.kind == get:
		out.value, out.ok = c.t.verbs(in.cell).Get(names[in.cell])
	case in.kind == read:
		c.see(c.t.load(), out)
	case in.kind == wait:
		soon, stop := context.WithTimeout(context.Background(), 2*time.Millisecond)
		defer stop()
		r, err := c.t.wait(soon, in.rev)
		if out.err = sentinel(err); err == nil {
			c.see(r, out)
		}
	case in.kind == merge:
		base := c.t.load()
		in.rev, in.rev2 = base.read(in.cell).revision, base.read(in.other).revision
		fork := c.t.fork(base)
		_, err := fork.verbs(in.cell).Set(names[in.cell], in.value)
		_, err2 := fork.verbs(in.other).Set(names[in.other], in.value+second)
		c.yield()
		out.err = sentinel(errors.Join(err, err2, c.t.merge(base, fork.load())))
	case in.direct:
		version, err := c.write(c.t.verbs, in, out)
		out.version, out.err = version, sentinel(err)
	default:
		err := c.t.update(func(version uint64, verbs func(int) verbs) error {
			*out = output{version: version} // whatever a run did that was superseded
			c.yield()
			changed, err := c.write(verbs, in, out)
			if out.err = sentinel(err); err != nil || changed == 0 && !out.ok {
				out.version-- // it publishes nothing: it saw the one before
			}
			c.yield()
			// An update that ends without an error and without a change publishes nothing
			// either.
			if errors.Is(err, errAbort) || err != nil && c.r.IntN(2) == 0 {
				return err
			}
			return nil
		})
		if err != nil {
			out.err = sentinel(err)
		}
	}
}

// see reads all cells of a snapshot.
func (c *client) see(r reader, out *output) {
	c.yield()
	out.version, out.all = r.version, new([cells]cell)
	for i := range out.all {
		out.all[i] = r.read(i)
		c.seen[i] = out.all[i].revision
	}
	c.version = max(c.version, r.version)
}

// write does what in says by the verbs of the cells. It returns the version that the last
// verb returned; Take returns none.
func (c *client) write(of func(int) verbs, in *input, out *output) (version uint64, err error) {
	v, name := of(in.cell), names[in.cell]
	switch in.kind {
	case set:
		return v.Set(name, in.value)
	case insert:
		return v.Insert(name, in.value)
	case setIf:
		return v.SetIf(name, in.rev, in.value)
	case remove:
		version, err = v.Delete(name)
		out.ok = version > 0
		return version, err
	case take:
		out.value, out.ok, err = v.Take(name)
		return 0, err
	case modify:
		version, err = v.Modify(name, func(n *int64) error {
			c.yield()
			*n++
			out.value = *n
			return nil
		})
		if err != nil {
			out.value = 0 // of a run that was superseded
		}
		return version, err
	}
	version, err = v.Set(name, in.value)
	c.yield()
	_, err2 := of(in.other).Set(names[in.other], in.value+second)
	_, err3 := of(in.gone).Delete(names[in.gone])
	if in.kind == abort {
		err = errAbort
	}
	return version, errors.Join(err, err2, err3)
}

// clients is how many there are at once.
const clients = 6

// A round is how many operations each client does until it waits for the others. An operation
// whose goroutine does not get a processor for long overlaps no more than those of its round;
// if it overlapped all, to find an order would take for ever.
const round = 20

// record returns a history of about so many operations on a store, with a read by each
// client, and one of all of them, at the end. What a client sees of the store is session's to
// say.
func record(ops int, seed uint64, session func(c *client) *target) []porcupine.Operation {
	r := new(recorder)
	var all []*client
	for id := range clients {
		c := r.newClient(id, nil, seed)
		c.t = session(c)
		all = append(all, c)
	}
	together := func(n int, next func(c *client) input) {
		var wg sync.WaitGroup
		for _, c := range all {
			wg.Go(func() { c.do(n, func() input { return next(c) }) })
		}
		wg.Wait()
	}
	for left := ops / clients; left > 0; left -= round {
		together(min(round, left), (*client).random)
	}
	together(2, func(*client) input { return reading() })
	all[0].do(1, reading)
	return r.history
}
