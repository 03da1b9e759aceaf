package chaos_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/etcd"
)

const (
	accounts = 8
	cells    = 8
	erasable = cells / 2 // the first of them
)

// A ledger is a replica whose updates do each of these: they move money between two
// tables, of which the sum stays 0; add one to a number of their own, so that it shows if
// one happens twice; and swap a cell, or erase it, so that it shows in which order they were.
type ledger struct {
	db       cow.DB
	from, to *cow.Table[int, int]
	ops      *cow.Table[string, int]
	cells    *cow.Table[string, string] // by cellKey
	replica  *etcd.Replica

	mu      sync.Mutex
	digests map[uint64]uint64 // by version: what its commit did, but to cells that are erased
}

func openLedger(t testing.TB, client *clientv3.Client, o etcd.Options) *ledger {
	t.Helper()
	l := &ledger{digests: make(map[uint64]uint64)}
	number := cow.Options[int]{Codec: cow.Versioned[int]{}}
	l.from = cow.NewTable[int](&l.db, "from", number)
	l.to = cow.NewTable[int](&l.db, "to", number)
	l.ops = cow.NewTable[string](&l.db, "ops", number)
	l.cells = cow.NewTable[string](&l.db, "cells", cow.Options[string]{Codec: raw{}})
	l.db.Retain(cow.Retention{Versions: 10_000})
	var err error
	l.replica, err = etcd.Open(t.Context(), client, "ledger", &l.db, o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.db.Close() })
	return l
}

// An op is one operation of a history: it swaps a cell, erases it, or reads it.
type op struct {
	name  string // "": it reads
	cell  int
	erase bool
	value string // that it writes; "": none
}

func cellKey(cell int) string { return fmt.Sprintf("%02d", cell) }

// do does an operation, and returns what was in the cell before.
func (l *ledger) do(ctx context.Context, o op, r *rand.Rand) (was string, err error) {
	add := func(n int) func(v *int, _ bool) error { return func(v *int, _ bool) error { *v += n; return nil } }
	from, to, amount := r.IntN(accounts), r.IntN(accounts), r.IntN(100)
	key := cellKey(o.cell)
	do := func(tx *cow.Tx) error {
		was, _ = l.cells.Edit(tx).Get(key)
		if o.erase {
			l.cells.Erase(tx, key)
		}
		if o.value != "" {
			l.cells.Edit(tx).Set(key, o.value)
		}
		return errors.Join(
			l.from.Edit(tx).Upsert(from, add(-amount)),
			l.to.Edit(tx).Upsert(to, add(amount)),
			l.ops.Edit(tx).Upsert(o.name, add(1)))
	}
	if o.erase {
		_, err = l.db.Erase(ctx, do)
	} else {
		err = l.db.UpdateContext(ctx, do)
	}
	return was, err
}

// oldest returns the oldest version that is retained.
func (l *ledger) oldest() (version uint64) {
	for version = range l.db.Versions() {
		break
	}
	return version
}

// forgot returns an error if anything is still to be had of what an operation that l has published
// has erased.
func (l *ledger) forgot(o op) error {
	key := cellKey(o.cell)
	erased, oldest := l.ops.In(l.db.Load()).Revision(o.name), l.oldest()
	if s, err := l.db.At(oldest); err == nil && oldest < erased && l.cells.In(s).Has(key) {
		return fmt.Errorf("version %d erased cell %d, and version %d has it", erased, o.cell, oldest)
	}
	for c, err := range l.db.Commits(oldest) {
		if err != nil || c.Version() > erased {
			break // an error says that it was forgotten meanwhile
		}
		for ch := range l.cells.Rows(c) {
			_, had := ch.Old()
			if _, has := ch.New(); ch.Key == key && (had || has && c.Version() < erased) {
				return fmt.Errorf("version %d erased cell %d, and version %d has it: %v", erased, o.cell, c.Version(), ch)
			}
		}
	}
	return nil
}

// check returns an error if a snapshot is torn.
func (l *ledger) check(s *cow.Snapshot) error {
	n := 0
	for _, v := range l.from.In(s).All() {
		n += v
	}
	for _, v := range l.to.In(s).All() {
		n += v
	}
	if n != 0 {
		return fmt.Errorf("version %d is torn: the sum is %d", s.Version(), n)
	}
	return nil
}

// follow takes down what each commit did, and checks each version, until ctx ends.
func (l *ledger) follow(ctx context.Context) error {
	since := l.db.Load()
	for {
		for c, err := range l.db.Changes(ctx, since.Version()) {
			switch {
			case ctx.Err() != nil:
				return nil
			case errors.Is(err, cow.ErrCompacted): // it was loaded anew
				now := l.db.Load()
				if now.Version() < since.Version() {
					return fmt.Errorf("version %d after %d", now.Version(), since.Version())
				}
				since = now
			case err != nil:
				return err
			default:
				l.take(c)
				if s, err := l.db.At(c.Version()); err == nil {
					since = s
				}
			}
			if err != nil {
				break
			}
			if err := l.check(since); err != nil {
				return err
			}
		}
	}
}

func (l *ledger) take(c *cow.Commit) {
	sum := l.digest(c, erasable)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.digests[c.Version()] = sum
}

// digest returns a number for what a commit did, to cells from one on.
func (l *ledger) digest(c *cow.Commit, from int) uint64 {
	sum := uint64(c.Time().UnixNano())
	add := func(table string, key, value any, ok bool) {
		h := fnv.New64a()
		fmt.Fprint(h, table, key, value, ok)
		sum += h.Sum64() // in any order
	}
	for ch := range l.from.Rows(c) {
		v, ok := ch.New()
		add("from", ch.Key, v, ok)
	}
	for ch := range l.to.Rows(c) {
		v, ok := ch.New()
		add("to", ch.Key, v, ok)
	}
	for ch := range l.ops.Rows(c) {
		v, ok := ch.New()
		add("ops", ch.Key, v, ok)
	}
	for ch := range l.cells.Rows(c) {
		if v, ok := ch.New(); ch.Key >= cellKey(from) {
			add("cells", ch.Key, v, ok)
		}
	}
	return sum
}

// A history is what was done on all ledgers, and what was said to come of it. No error but that of
// an update itself says whether it happened: what is in etcd in the end does.
type history struct {
	clock   atomic.Int64
	ledgers []*ledger

	mu      sync.Mutex
	ops     []porcupine.Operation
	unknown []porcupine.Operation
	acked   map[string]bool
	failed  map[string]error
	erased  []op
	wrong   []error
	runs    int
}

// A value is the output of an operation: what was in the cell.
type value struct {
	was     string
	unknown bool
}

// write does operations of a writer until stop is closed.
func (h *history) write(l *ledger, writer int, stop <-chan struct{}) {
	r := rand.New(rand.NewPCG(uint64(writer), 0))
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		default:
		}
		o := op{name: fmt.Sprintf("w%d.%d", writer, n), cell: r.IntN(cells)}
		o.erase = o.cell < erasable && r.IntN(16) == 0
		if !o.erase || r.IntN(4) == 0 {
			o.value = o.name
		}
		ctx, cancel := context.WithCancel(context.Background())
		if r.IntN(4) == 0 { // some have little patience
			ctx, cancel = context.WithTimeout(context.Background(), time.Duration(r.IntN(50))*time.Millisecond)
		}
		call := h.clock.Add(1)
		was, err := l.do(ctx, o, r)
		cancel()
		is := porcupine.Operation{ClientId: writer, Input: o, Output: value{was: was}, Call: call, Return: h.clock.Add(1)}
		h.mu.Lock()
		h.runs++
		switch {
		case err == nil:
			if h.acked[o.name] = true; o.erase {
				h.erased = append(h.erased, o)
			}
			h.ops = append(h.ops, is)
		case errors.Is(err, cow.ErrUnknownOutcome):
			is.Output = value{unknown: true}
			h.unknown = append(h.unknown, is)
		default:
			h.failed[o.name] = err
		}
		h.mu.Unlock()
		if err == nil && o.erase {
			h.look(o, l)
			h.look(o, h.ledgers[r.IntN(len(h.ledgers))])
		}
	}
}

// look looks whether a ledger has anything of what was erased, once it has the version.
func (h *history) look(o op, l *ledger) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if _, err := l.replica.Fresh(ctx); err != nil && !l.ops.In(l.db.Load()).Has(o.name) {
		return // etcd cannot be reached
	}
	if err := l.forgot(o); err != nil {
		h.mu.Lock()
		h.wrong = append(h.wrong, err)
		h.mu.Unlock()
	}
}

// read reads cells of fresh snapshots until stop is closed.
func (h *history) read(l *ledger, reader int, stop <-chan struct{}) {
	r := rand.New(rand.NewPCG(uint64(reader), 1))
	for {
		select {
		case <-stop:
			return
		case <-time.After(time.Duration(r.IntN(20)) * time.Millisecond):
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		cell := r.IntN(cells)
		call := h.clock.Add(1)
		s, err := l.replica.Fresh(ctx)
		cancel()
		if err != nil {
			continue
		}
		was, _ := l.cells.In(s).Get(cellKey(cell))
		is := porcupine.Operation{ClientId: reader, Input: op{cell: cell}, Output: value{was: was}, Call: call, Return: h.clock.Add(1)}
		h.mu.Lock()
		h.ops = append(h.ops, is)
		h.mu.Unlock()
	}
}

// model is a cell that is swapped and read.
var model = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		of := make([][]porcupine.Operation, cells)
		for _, is := range history {
			c := is.Input.(op).cell
			of[c] = append(of[c], is)
		}
		return of
	},
	Init: func() any { return "" },
	Step: func(state, input, output any) (bool, any) {
		in, out := input.(op), output.(value)
		if !out.unknown && out.was != state.(string) {
			return false, state
		}
		if in.name == "" {
			return true, state
		}
		return true, in.value
	},
}

// verify demands that what updates returned is so in late, which was opened when all was over, and
// that all other ledgers have the same.
func (h *history) verify(t *testing.T, late *ledger, ledgers ...*ledger) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	text := func(s *cow.Snapshot) string {
		b, err := s.MarshalJSON()
		require.NoError(t, err)
		return string(b)
	}
	end := late.db.Load()
	require.NoError(t, late.check(end))
	for _, l := range ledgers {
		s, err := l.replica.Fresh(ctx)
		require.NoError(t, err)
		require.Equal(t, end.Version(), s.Version())
		require.True(t, text(end) == text(s), "replicas differ at version %d", s.Version())
	}
	ops := late.ops.In(end)
	happened := 0
	for name, n := range ops.All() {
		happened++
		require.Equal(t, 1, n, "%s happened %d times", name, n)
	}
	require.Equal(t, int(end.Version()), happened, "each version is one operation")
	for name := range h.acked {
		require.True(t, ops.Has(name), "%s was acknowledged, and is lost", name)
	}
	for name, err := range h.failed {
		is := func(known error) bool { return errors.Is(err, rpctypes.Error(known)) }
		require.True(t, errors.Is(err, context.DeadlineExceeded) || slices.ContainsFunc(refusals, is), "an outage is no failure: %v", err)
		require.False(t, ops.Has(name), "%s happened, and failed with: %v", name, err)
	}
	happenedLate := 0
	for _, is := range h.unknown {
		if o := is.Input.(op); ops.Has(o.name) {
			happenedLate++
			if o.erase {
				h.erased = append(h.erased, o)
			}
			is.Return = h.clock.Load() + 1
			h.ops = append(h.ops, is)
		}
	}
	require.Empty(t, h.wrong)
	slices.SortFunc(h.erased, func(a, b op) int { return cmp.Compare(ops.Revision(a.name), ops.Revision(b.name)) })
	last := make(map[int]op) // by cell: who erased it last, and all before that
	for _, o := range h.erased {
		last[o.cell] = o
	}
	retained := make(map[uint64]uint64)
	for _, l := range ledgers {
		for _, o := range last { // those that nobody waited for happen by themselves
			waitFor(t, func() bool { return l.forgot(o) == nil })
		}
		for c, err := range l.db.Commits(l.oldest()) {
			require.NoError(t, err)
			l.mu.Lock()
			told, ok := l.digests[c.Version()]
			l.mu.Unlock()
			if ok {
				require.Equal(t, told, l.digest(c, erasable), "version %d is not what it was", c.Version())
			}
			is, v := l.digest(c, 0), c.Version()
			if was, ok := retained[v]; ok {
				require.Equal(t, was, is, "replicas differ in version %d", v)
			}
			retained[v] = is
		}
	}
	missing := 0
	for v := uint64(1); v <= end.Version(); v++ {
		var want uint64
		for _, l := range ledgers {
			l.mu.Lock()
			is, ok := l.digests[v]
			l.mu.Unlock()
			if !ok {
				missing++
				continue
			}
			if want == 0 {
				want = is
			}
			require.Equal(t, want, is, "version %d", v)
		}
	}
	require.Positive(t, len(h.erased))
	t.Logf("%d operations, %d of them erased something: %d acknowledged, %d unknown of which %d happened, %d failed; %d versions, of which %d were skipped by a replica",
		h.runs, len(h.erased), len(h.acked), len(h.unknown), happenedLate, len(h.failed), end.Version(), missing)
	require.Equal(t, porcupine.Ok, porcupine.CheckOperationsTimeout(model, h.ops, time.Minute), "not linearizable")
}
