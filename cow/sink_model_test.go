package cow_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/cowtest"
	"github.com/cowstore/cowstore/cow/internal/sink"
)

// This is a random model of a DB with a sink. Writers make updates that end in
// every way; a driver decides what became of them, and lets the updates of another
// line happen in between; readers, a feed and a watch look on. What really happened
// is a list of commits, of which plain Go maps are made in the end: they say what
// each version must be, and what each update must have returned.

// A ledger is a DB of which each version has one operation more: from any snapshot
// one sees whether it is one version, and of which operations.
type ledger struct {
	db    cow.DB
	ops   *cow.Table[string, int]      // by the name of an operation: the run of its function
	items *cow.Table[string, int]      // come and go
	sums  *cow.Table[string, int]      // derived from both
	byMod *cow.Index[string, int, int] // of items
	sink  *cowtest.Sink
}

func newLedger(t testing.TB) *ledger {
	l := new(ledger)
	l.ops = cow.NewTable[string](&l.db, "ops", cow.Options[int]{Codec: jsonCodec[int]{}})
	l.items = cow.NewTable[string](&l.db, "items", cow.Options[int]{Codec: jsonCodec[int]{}})
	l.sums, _ = cow.NewDerived(&l.db, "sums", cow.Options[int]{}, func(tx *cow.Tx, _ *cow.Editor[string, int]) error {
		ops, items := l.ops.Edit(tx), l.items.Edit(tx)
		sum := 0
		for c := range items.Map().Diff(l.items.In(tx.Base())) {
			was, _ := c.Old()
			is, _ := c.New()
			sum += is - was
		}
		sums := l.sums.Edit(tx)
		if n, _ := sums.Get("ops"); n == ops.Len() {
			return nil
		}
		sums.Set("ops", ops.Len())
		return sums.Upsert("items", func(v *int, _ bool) error { *v += sum; return nil })
	})
	var err error
	l.byMod, err = cow.NewMultiIndex(l.items, "mod", func(r cow.Row[string, int], add func(int)) { add(r.Value() % 4) }, cow.IndexOptions[string]{})
	require.NoError(t, err)
	l.db.Retain(cow.Retention{Versions: 1 << 20})
	return l
}

// check reports whether a snapshot is one whole version.
func (l *ledger) check(s *cow.Snapshot) error {
	sum := 0
	for _, v := range l.items.In(s).All() {
		sum += v
	}
	ops, _ := l.sums.In(s).Get("ops")
	items, _ := l.sums.In(s).Get("items")
	entries := 0
	for mod := range 4 {
		for _, r := range l.byMod.In(l.items.In(s)).Equal(mod).All() {
			if v := r.Value(); v%4 != mod {
				return fmt.Errorf("%d lies under %d in the index", v, mod)
			}
			entries++
		}
	}
	if n := l.ops.In(s).Len(); uint64(n) != s.Version() || ops != n || items != sum || entries != l.items.In(s).Len() {
		return fmt.Errorf("version %d has %d operations, a sum of %d of them, a sum of %d items for %d and %d in the index for %d",
			s.Version(), n, ops, items, sum, entries, l.items.In(s).Len())
	}
	return nil
}

// contents are the rows of the stored tables.
type contents [2]map[string]int

func (l *ledger) contents(s *cow.Snapshot) contents {
	return contents{collect(l.ops.In(s)), collect(l.items.In(s))}
}

// do makes the changes of operation op.
func (l *ledger) do(tx *cow.Tx, op string, run, choice int) {
	l.ops.Edit(tx).Set(op, run)
	key := string(rune('a' + choice%7))
	if choice%3 == 0 {
		l.items.Edit(tx).Delete(key)
	} else {
		l.items.Edit(tx).Set(key, choice)
	}
}

// An elsewhere is the line of the truth: what happens happens there, in that order.
type elsewhere struct {
	*ledger
	commits []*sink.Commit
}

// happen makes one operation happen there, and returns its commit.
func (e *elsewhere) happen(t *testing.T, choice int) *sink.Commit {
	op := fmt.Sprint("elsewhere ", len(e.commits))
	err := outcome(func() error {
		return e.db.Update(func(tx *cow.Tx) error { e.do(tx, op, 1, choice); return nil })
	})
	_, waited := e.sink.Await(t.Context(), 1)
	require.NoError(t, waited)
	c := e.sink.Ack(1)[0]
	require.NoError(t, <-err)
	e.commits = append(e.commits, c)
	return c
}

// An operation is one update, and what became of it.
type operation struct {
	name    string
	kind    string
	runs    int // of its function
	err     error
	version uint64 // one at which it was over
}

// A sinkModel is a ledger between its writers and the truth.
type sinkModel struct {
	*ledger
	truth    elsewhere
	happened atomic.Uint64 // versions of the truth that the ledger was told of, or is about to
	done     atomic.Bool   // the writers have ended
	jumps    atomic.Int64  // resets that dropped the past
}

var (
	errRefused = errors.New("refused")
	errNoRoom  = errors.New("no room")
	errDone    = errors.New("it was cancelled")
	errLost    = errors.New("the log is lost")
	errTaken   = errors.New("the log did not take it")
)

// The opKinds of operations, in the order of a random choice: the first is the most
// likely.
var opKinds = []string{"commits", "commits", "commits", "commits", "changes nothing", "fails", "panics", "exits",
	"is refused", "finds no room", "is cancelled before", "is cancelled in its function", "is cancelled when proposed",
	"is cancelled at some time"}

type opContext struct{}

// attach attaches a Sink whose answers depend on the kind of an operation.
func (m *sinkModel) attach(t *testing.T, closing func() error) {
	m.sink = cowtest.Attach(t, &m.db, cowtest.SinkOptions{
		Of: m.truth.sink,
		Room: func(ctx context.Context, attempt int) error {
			runtime.Gosched()
			if ctx.Value(opContext{}) == "finds no room" {
				return errNoRoom
			}
			return nil
		},
		Propose: func(c *sink.Commit) error {
			for _, r := range c.Rows {
				if r.Table == 0 && strings.Contains(string(r.Key), "is refused") {
					return errRefused
				}
			}
			return nil
		},
		Close: closing,
	})
}

// run runs one operation.
func (m *sinkModel) run(t *testing.T, op *operation, choice int) {
	ctx, cancel := context.WithCancelCause(context.WithValue(t.Context(), opContext{}, op.kind))
	defer cancel(nil)
	var late sync.WaitGroup
	defer late.Wait()
	switch op.kind {
	case "is cancelled before":
		cancel(errDone)
	case "is cancelled at some time":
		late.Go(func() {
			for range choice % 50 {
				runtime.Gosched()
			}
			cancel(errDone)
		})
	}
	update := func() error {
		return m.db.UpdateContext(ctx, func(tx *cow.Tx) error {
			op.runs++
			if err := m.check(tx.Base()); err != nil {
				t.Errorf("in an update: %v", err)
			}
			if op.kind != "changes nothing" {
				m.do(tx, op.name, op.runs, choice)
			}
			switch op.kind {
			case "fails":
				return errTest
			case "panics":
				panic(errTest)
			case "exits":
				runtime.Goexit()
			case "is cancelled in its function":
				cancel(errDone)
			}
			return nil
		})
	}
	switch op.kind {
	case "panics":
		func() {
			defer func() {
				if r := recover(); r != nil {
					op.err = r.(error)
				}
			}()
			op.err = update()
		}()
	case "exits":
		ended := make(chan error, 1)
		go func() {
			err := errTest
			defer func() { ended <- err }()
			err = update()
		}()
		op.err = <-ended
	case "is cancelled when proposed":
		ended := outcome(update)
		if !m.done.Load() {
			late.Go(func() {
				if _, err := m.sink.Await(ctx, 1); err == nil {
					cancel(errDone)
				}
			})
		}
		op.err = <-ended
		cancel(nil)
	default:
		op.err = update()
	}
	op.version = m.db.Load().Version()
}

// want returns whether the operation must be part of the versions, may be, or must
// not, by what it returned. It fails the test if it must not have returned that.
func (op *operation) want(t *testing.T, failed bool) (must, may bool) {
	ended := failed && (errors.Is(op.err, errLost) || errors.Is(op.err, cow.ErrClosed))
	switch {
	case ended:
		return false, false
	case errors.Is(op.err, cow.ErrUnknownOutcome):
		require.Contains(t, []string{"is cancelled when proposed", "is cancelled at some time"}, op.kind)
		require.ErrorIs(t, op.err, errDone)
		return false, true
	case errors.Is(op.err, errTaken):
		require.Contains(t, []string{"commits", "is cancelled when proposed", "is cancelled at some time"}, op.kind)
		return false, false
	}
	switch op.kind {
	case "commits":
		require.NoError(t, op.err)
		return true, true
	case "changes nothing":
		require.NoError(t, op.err)
	case "fails", "panics", "exits":
		require.Equal(t, errTest, op.err)
	case "is refused":
		require.Equal(t, errRefused, op.err)
	case "finds no room":
		require.Equal(t, errNoRoom, op.err)
		require.Zero(t, op.runs)
	case "is cancelled before":
		require.Equal(t, errDone, op.err)
		require.Zero(t, op.runs)
	case "is cancelled in its function":
		require.Equal(t, errDone, op.err)
		require.NotZero(t, op.runs)
	default:
		if op.err == nil {
			return true, true
		}
		require.Equal(t, errDone, op.err)
	}
	return false, false
}

// drive decides what becomes of the operations until the writers have ended or
// steps are over.
func (m *sinkModel) drive(t *testing.T, rng *rand.Rand, steps int) {
	for range steps {
		if m.done.Load() {
			return
		}
		foreign := func() (commits []*sink.Commit) {
			for range 1 + rng.IntN(3) {
				commits = append(commits, m.truth.happen(t, rng.IntN(1000)))
			}
			m.happened.Store(uint64(len(m.truth.commits)))
			return commits
		}
		switch choice := rng.IntN(20); {
		case choice < 5:
			runtime.Gosched()
		case choice < 6:
			m.sink.Refuse(1+rng.IntN(4), errTaken)
		case choice < 14:
			m.ack(t, 1+rng.IntN(4))
		case choice < 16:
			require.NoError(t, m.sink.Rebase(foreign()...))
		case choice < 17:
			require.NoError(t, m.sink.Rebase())
		case choice < 18:
			require.NoError(t, m.sink.Reset(m.sink.Contents(), foreign()...))
		case choice < 19:
			require.NoError(t, m.sink.Reset(m.sink.Contents()))
		case rng.IntN(3) == 0:
			m.jumps.Add(1)
			foreign()
			require.NoError(t, m.sink.Reset(m.truth.sink.Contents()))
		}
	}
}

// ack lets up to n proposals happen.
func (m *sinkModel) ack(t *testing.T, n int) {
	pending := m.sink.Pending()
	if n = min(n, len(pending)); n == 0 {
		return // what Ack returns of none may be nil or not
	}
	for _, c := range pending[:n] {
		require.EqualValues(t, len(m.truth.commits)+1, c.Version)
		require.NoError(t, m.truth.sink.Rebase(c))
		m.truth.commits = append(m.truth.commits, c)
	}
	m.happened.Store(uint64(len(m.truth.commits)))
	require.Equal(t, pending[:n], m.sink.Ack(n))
}

// read looks at what is published until ctx ends, and returns what it saw.
func (m *sinkModel) read(ctx context.Context, t *testing.T) map[uint64]contents {
	held := map[uint64]contents{}
	var last uint64
	for {
		s := m.db.Load()
		if now := m.happened.Load(); s.Version() > now || s.Version() < last {
			t.Errorf("version %d is seen after %d, when %d have happened", s.Version(), last, now)
		}
		last = s.Version()
		if _, ok := held[last]; !ok {
			held[last] = m.contents(s)
			if err := m.check(s); err != nil {
				t.Error(err)
			}
		}
		if ctx.Err() != nil {
			return held
		}
		runtime.Gosched()
	}
}

// follow follows the commits until ctx ends, and returns what they made of what it
// began with.
func (m *sinkModel) follow(ctx context.Context, t *testing.T, at *atomic.Uint64) (is contents) {
	var version uint64
	begin := func() {
		s := m.db.Load()
		is, version = m.contents(s), s.Version()
		at.Store(version)
	}
	begin()
	for jumps := int64(0); ; {
		for c, err := range m.db.Changes(ctx, version) {
			if errors.Is(err, cow.ErrCompacted) {
				break
			}
			if err != nil {
				return is
			}
			if c.Version() != version+1 {
				t.Errorf("the feed has %d after %d", c.Version(), version)
			}
			version = c.Version()
			for i, table := range []*cow.Table[string, int]{m.ops, m.items} {
				for r := range table.Rows(c) {
					if v, ok := r.New(); ok {
						is[i][r.Key] = v
					} else {
						delete(is[i], r.Key)
					}
				}
			}
			at.Store(version)
		}
		if jumps++; jumps > m.jumps.Load() {
			t.Errorf("the feed was cut %d times, by %d resets", jumps, m.jumps.Load())
			return is
		}
		begin()
	}
}

// watch watches a key that each version writes, until ctx ends.
func (m *sinkModel) watch(ctx context.Context, at *atomic.Uint64) {
	for s := m.db.Load(); ; {
		at.Store(s.Version())
		next, err := m.db.Watch(ctx, s, m.sums.OnKeys("ops"))
		if err != nil {
			return
		}
		s = next
	}
}

// states returns what each version must be.
func states(t *testing.T, commits []*sink.Commit) []contents {
	is := contents{{}, {}}
	all := []contents{{{}, {}}}
	for i, c := range commits {
		require.EqualValues(t, i+1, c.Version)
		for _, r := range c.Rows {
			if r.Removed {
				delete(is[r.Table], string(r.Key))
				continue
			}
			var v int
			require.NoError(t, json.Unmarshal(r.Value, &v))
			is[r.Table][string(r.Key)] = v
		}
		all = append(all, contents{maps.Clone(is[0]), maps.Clone(is[1])})
	}
	return all
}

// A reach is how often runs of the model came to what is worth looking at.
type reach struct {
	runs       atomic.Int64 // that came to their end
	committed  atomic.Int64 // operations that are part of the versions
	superseded atomic.Int64 // operations whose function ran more than once
	unknown    atomic.Int64 // operations that ended with ErrUnknownOutcome
	happened   atomic.Int64 // those of them that are part of the versions all the same
	jumps      atomic.Int64 // resets that dropped the past
}

// count adds an operation that is over.
func (r *reach) count(op *operation, happened bool) {
	unknown := errors.Is(op.err, cow.ErrUnknownOutcome)
	for n, is := range map[*atomic.Int64]bool{
		&r.committed:  happened,
		&r.superseded: op.runs > 1,
		&r.unknown:    unknown,
		&r.happened:   unknown && happened,
	} {
		if is {
			n.Add(1)
		}
	}
}

func TestTheLineWithASinkAgainstAModel(t *testing.T) {
	runs, writers, each := 60, 5, 60
	if testing.Short() {
		runs = 6
	}
	var reached reach
	for seed := range runs {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { testSinkModel(t, uint64(seed), writers, each, &reached) })
	}
	t.Logf("%d runs: %d operations committed, %d were superseded, %d had an unknown outcome and %d of those happened; %d resets dropped the past",
		reached.runs.Load(), reached.committed.Load(), reached.superseded.Load(), reached.unknown.Load(), reached.happened.Load(), reached.jumps.Load())
	if int(reached.runs.Load()) < runs {
		return // of some seeds only, or they have failed
	}
	require.NotZero(t, reached.committed.Load(), "operations that committed")
	require.NotZero(t, reached.superseded.Load(), "operations that were superseded")
	require.NotZero(t, reached.unknown.Load(), "operations with an unknown outcome")
	require.NotZero(t, reached.happened.Load(), "operations with an unknown outcome that happened")
	require.NotZero(t, reached.jumps.Load(), "resets that dropped the past")
}

func testSinkModel(t *testing.T, seed uint64, writers, each int, reached *reach) {
	noDeadlock(t)
	rng := rand.New(rand.NewPCG(seed, 1))
	m := &sinkModel{ledger: newLedger(t)}
	m.truth.ledger = newLedger(t)
	m.truth.sink = cowtest.Attach(t, &m.truth.db, cowtest.SinkOptions{})
	for range rng.IntN(3) {
		m.truth.happen(t, rng.IntN(1000))
	}
	m.happened.Store(uint64(len(m.truth.commits)))
	m.attach(t, func() error { m.ack(t, rng.IntN(4)); return nil })

	ctx, stop := context.WithCancel(t.Context())
	var lookers, writing sync.WaitGroup
	defer func() { // if the test has failed meanwhile
		m.sink.Fail(errLost)
		writing.Wait()
		stop()
		lookers.Wait()
	}()
	held := make([]map[uint64]contents, 2)
	for i := range held {
		lookers.Go(func() { held[i] = m.read(ctx, t) })
	}
	var fed contents
	var fedTo, watchedTo atomic.Uint64
	lookers.Go(func() { fed = m.follow(ctx, t, &fedTo) })
	lookers.Go(func() { m.watch(ctx, &watchedTo) })

	ops := make([][]*operation, writers)
	for w := range writers {
		rng := rand.New(rand.NewPCG(seed, uint64(2+w)))
		writing.Go(func() {
			for i := range each {
				kind := opKinds[rng.IntN(len(opKinds))]
				op := &operation{kind: kind, name: fmt.Sprintf("%d.%d %s", w, i, kind)}
				ops[w] = append(ops[w], op)
				m.run(t, op, rng.IntN(1000))
			}
		})
	}
	wrote := make(chan struct{})
	go func() { writing.Wait(); m.done.Store(true); close(wrote) }()

	// A log that lives to the end, one that is lost, and one that is closed: what
	// it did not acknowledge then has not happened.
	failed := true
	switch rng.IntN(3) {
	case 0:
		failed = false
		for !m.done.Load() {
			m.drive(t, rng, 1000)
		}
		m.ack(t, 1<<20)
	case 1:
		m.drive(t, rng, 20*each)
		m.sink.Fail(errLost)
	case 2:
		m.drive(t, rng, 20*each)
		require.NoError(t, m.db.Close())
		require.ErrorIs(t, m.db.Update(func(*cow.Tx) error { return nil }), cow.ErrClosed)
	}
	<-wrote
	require.Empty(t, m.sink.Pending())

	// The published version is the last that happened, each is what the commits make
	// of nothing, and so is a line that begins with them.
	all := states(t, m.truth.commits)
	last := uint64(len(all) - 1)
	require.Equal(t, last, m.db.Load().Version())
	require.NoError(t, m.check(m.db.Load()))
	require.Equal(t, all[last], m.contents(m.db.Load()))
	for version := range m.db.Versions() {
		s, err := m.db.At(version)
		require.NoError(t, err)
		require.Equal(t, all[version], m.contents(s))
		require.NoError(t, m.check(s))
	}
	fresh := newLedger(t)
	cowtest.Attach(t, &fresh.db, cowtest.SinkOptions{
		Contents: sink.Contents{Lineage: m.db.Lineage().ID},
		Past:     m.truth.commits,
	})
	require.Equal(t, all[last], fresh.contents(fresh.db.Load()))
	require.NoError(t, fresh.check(fresh.db.Load()))
	for r := range m.ops.In(m.db.Load()).Rows() {
		require.Equal(t, fresh.ops.In(fresh.db.Load()).Revision(r.Key()), r.Revision(), r.Key())
	}

	// The feed and the watch come to it, since nothing else is to come.
	for !t.Failed() && (fedTo.Load() != last || watchedTo.Load() != last) {
		runtime.Gosched()
	}
	stop()
	lookers.Wait()
	require.Equal(t, all[last], fed)
	for _, held := range held {
		for version, is := range held {
			require.Equal(t, all[version], is)
		}
	}

	// Each update is part of the versions as it was told, once, by its last run
	// alone, and those of one goroutine are in their order.
	now := m.ops.In(m.db.Load())
	for _, of := range ops {
		after := uint64(0)
		for _, op := range of {
			must, may := op.want(t, failed)
			run, is := now.Get(op.name)
			require.True(t, is || !must, "%s is lost: %v", op.name, op.err)
			require.True(t, !is || may, "%s returned %v and is there", op.name, op.err)
			reached.count(op, is)
			if !is {
				continue
			}
			require.Equal(t, op.runs, run, op.name)
			version := now.Revision(op.name)
			require.Greater(t, version, after, op.name)
			after = version
			if must {
				require.GreaterOrEqual(t, op.version, version, "%s did not see what it wrote", op.name)
			}
		}
	}
	reached.jumps.Add(m.jumps.Load())
	reached.runs.Add(1)
}
