package cow_test

import (
	"iter"
	"math"
	"runtime"
	"testing"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
)

// A written is a One or a DB, as far as Commits goes, and how to write to it.
type written struct {
	line interface {
		Commits(since uint64) iter.Seq2[*cow.Commit, error]
		Retain(r cow.Retention)
		Compact(version uint64) error
	}
	write  func()
	inside func(f func()) // calls f in an update
}

func forPasts(t *testing.T, f func(t *testing.T, p written)) {
	t.Run("alone", func(t *testing.T) {
		s := cow.NewOne[string](cow.Options[*int]{})
		f(t, written{s, func() { s.Set("a", new(int)) }, func(f func()) {
			require.NoError(t, s.Update(func(e *cow.Editor[string, *int]) error { f(); return nil }))
		}})
	})
	t.Run("DB", func(t *testing.T) {
		db := new(cow.DB)
		s := cow.NewTable[string](db, "t", cow.Options[*int]{})
		f(t, written{db, func() { s.Set("a", new(int)) }, func(f func()) {
			require.NoError(t, db.Update(func(*cow.Tx) error { f(); return nil }))
		}})
	})
}

// seen returns the versions that an iteration shows, and the error it ends with.
func seen(commits iter.Seq2[*cow.Commit, error]) (versions []uint64, err error) {
	for c, e := range commits {
		if e == nil {
			versions = append(versions, c.Version())
			continue
		}
		if err != nil || c != nil {
			panic("it goes on after an error")
		}
		err = e
	}
	return versions, err
}

// Commits shows what has happened so far and ends, wherever it begins.
func TestCommitsEnd(t *testing.T) {
	forPasts(t, func(t *testing.T, p written) {
		all := p.line.Commits(0)
		versions, err := seen(all)
		require.NoError(t, err, "nothing has happened")
		require.Empty(t, versions)
		_, err = seen(p.line.Commits(1))
		require.ErrorIs(t, err, cow.ErrUnpublished)

		p.write()
		_, err = seen(all)
		require.ErrorIs(t, err, cow.ErrCompacted, "nothing is retained")
		require.ErrorContains(t, err, "begin with a snapshot, of Load, and go on from its version, or call Retain before")
		versions, err = seen(p.line.Commits(1))
		require.NoError(t, err)
		require.Empty(t, versions)

		p.line.Retain(cow.Retention{Versions: 100})
		for range 5 {
			p.write()
		}
		for since := range uint64(7) {
			versions, err := seen(p.line.Commits(since))
			if since == 0 {
				require.ErrorIs(t, err, cow.ErrCompacted, "from before Retain")
				require.Empty(t, versions)
				continue
			}
			require.NoError(t, err)
			require.Equal(t, []uint64{2, 3, 4, 5, 6}[since-1:], append([]uint64{}, versions...))
		}
		for _, future := range []uint64{7, 1000, math.MaxUint64} {
			versions, err := seen(p.line.Commits(future))
			require.ErrorIs(t, err, cow.ErrUnpublished)
			require.Empty(t, versions)
		}
		for range p.line.Commits(1) { // and may be left
			break
		}
		p.inside(func() {
			versions, err := seen(p.line.Commits(3))
			require.NoError(t, err)
			require.Equal(t, []uint64{4, 5, 6}, versions, "an update may use it")
		})
	})
}

// It ends at the version that was published when it began, however many come meanwhile, and
// each iteration over it begins anew.
func TestCommitsEndWhereTheyBegan(t *testing.T) {
	forPasts(t, func(t *testing.T, p written) {
		p.line.Retain(cow.Retention{Versions: 1000})
		p.write()
		p.write()
		all := p.line.Commits(0)
		var versions []uint64
		for c, err := range all {
			require.NoError(t, err)
			versions = append(versions, c.Version())
			p.write()
		}
		require.Equal(t, []uint64{1, 2}, versions)
		versions, err := seen(all)
		require.NoError(t, err)
		require.Equal(t, []uint64{1, 2, 3, 4}, versions)

		stop := make(chan struct{})
		go func() {
			defer close(stop)
			for range 300 {
				p.write()
			}
		}()
		for running := true; running; {
			select {
			case <-stop:
				running = false
			default:
			}
			last := uint64(2)
			for c, err := range p.line.Commits(last) {
				require.NoError(t, err)
				last++
				require.Equal(t, last, c.Version())
			}
			require.GreaterOrEqual(t, last, uint64(4))
		}
	})
}

// What is forgotten while an iteration is under way ends it, and nothing is kept for it.
func TestCommitsHoldNothing(t *testing.T) {
	forPasts(t, func(t *testing.T, p written) {
		p.line.Retain(cow.Retention{Versions: 1000})
		for range 10 {
			p.write()
		}
		var held []weak.Pointer[cow.Commit]
		for c, err := range p.line.Commits(0) {
			require.NoError(t, err)
			held = append(held, weak.Make(c))
		}
		next, stop := iter.Pull2(p.line.Commits(0))
		defer stop()
		_, err, _ := next()
		require.NoError(t, err)
		require.NoError(t, p.line.Compact(10))
		runtime.GC()
		runtime.GC()
		kept := 0
		for _, c := range held {
			if c.Value() != nil {
				kept++
			}
		}
		require.LessOrEqual(t, kept, 1, "but for the one that the iteration is at")
		c, err, ok := next()
		require.True(t, ok)
		require.Nil(t, c)
		require.ErrorIs(t, err, cow.ErrCompacted)
		_, _, ok = next()
		require.False(t, ok)

		p.line.Retain(cow.Retention{})
		p.write()
		p.write()
		_, err = seen(p.line.Commits(11))
		require.ErrorIs(t, err, cow.ErrCompacted)
	})
}
