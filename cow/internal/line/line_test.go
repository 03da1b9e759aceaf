package line

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow/hook"
)

// noTables are the tables of lines whose contents nobody looks into.
type noTables struct{}

func (noTables) Soonest(*Root, int) int64               { return 0 }
func (noTables) Weak(int, any) any                      { return nil }
func (noTables) Strong(int, any) any                    { return nil }
func (noTables) Rows(*Root) int                         { return 0 }
func (noTables) Structure(*Root) int                    { return 0 }
func (noTables) Exclusive(_, _ *Root) (rows, bytes int) { return 0, 0 }
func (noTables) Changed(_, _ *Root) []hook.Table        { return nil }

// commit publishes the next version of l, with a content of table 0.
func commit(t *testing.T, l *Line, content any) {
	t.Helper()
	owner := l.Owner(func() *Owner { return &Owner{Tables: noTables{}} })
	_, err := l.Update(context.Background(), func(base *Root, want Want) (Draft, error) {
		m := Make(base, owner, base.Version()+1)
		m.Set(0, content)
		d := Draft{Next: m.Root}
		if want.Commit {
			d.Commit = new(Commit)
		}
		return d, nil
	})
	require.NoError(t, err)
}

// Whoever is woken must find what it was woken for: the swap comes first.
func TestPublicationSwapsBeforeItWakes(t *testing.T) {
	for _, logged := range []bool{false, true} {
		var l Line
		if logged {
			l.Retain(Retention{Versions: 3})
		}
		woken := 0
		l.WakeBy(func(newer, older *Root, table int) {
			require.Same(t, newer, l.Load())
			require.Equal(t, newer.Version(), older.Version()+1)
			require.Zero(t, table)
			woken++
		})
		commit(t, &l, 1)
		commit(t, &l, 2)
		require.Equal(t, 2, woken)
	}
}

// A clock that steps back makes no version older than it is.
func TestAsOfAfterTheClockSteppedBack(t *testing.T) {
	var l Line
	l.Retain(Retention{Versions: 100})
	now := func() time.Time { // which is later than all that was, however coarse the clock is
		at := time.Now()
		for !time.Now().After(at) {
			runtime.Gosched()
		}
		return at
	}
	commit(t, &l, 1)
	before := now()
	l.last = time.Now().Add(time.Hour).UnixNano() // the clock was an hour ahead
	commit(t, &l, 2)
	between := now()
	commit(t, &l, 3)
	for version, at := range map[uint64]time.Time{1: before, 2: between, 3: now()} {
		r, err := l.AsOf(at)
		require.NoError(t, err)
		require.Equal(t, version, r.Version())
	}
	var last time.Time
	for version, at := range l.Versions() {
		if version > 0 {
			require.False(t, at.Before(last))
			last = at
		}
	}
	_, err := l.AsOf(before.Add(-time.Hour))
	require.NoError(t, err, "version 0 was there from the beginning")
	r, err := l.AsOf(time.Now().Add(2 * time.Hour))
	require.NoError(t, err)
	require.Equal(t, uint64(3), r.Version())
}

// Every table is where it was put, however many there are, and other versions keep theirs.
func TestTablesOfARoot(t *testing.T) {
	owner := &Owner{Tables: noTables{}}
	for _, n := range []int{1, 2, 5, fan, fan + 1, fan + 2, 300, 1000, 5000} {
		first := Make(nil, owner, 1)
		for i := range n {
			require.Nil(t, first.Root.Table(i))
			first.Set(i, i)
		}
		one := first.Root
		// Some again, in one version, and then one a version.
		next := Make(one, owner, 2)
		for i := 0; i < n; i += 7 {
			next.Set(i, -i)
		}
		two := next.Root
		three := two
		for _, i := range []int{0, n / 2, n - 1, n, n + 40} {
			m := Make(three, owner, 3)
			m.Set(i, "set")
			three = m.Root
		}
		for i := range n {
			require.Equal(t, i, one.Table(i))
			if i%7 == 0 {
				require.Equal(t, -i, two.Table(i))
			} else {
				require.Equal(t, i, two.Table(i))
			}
			if i != 0 && i != n/2 && i != n-1 {
				require.Equal(t, two.Table(i), three.Table(i))
			}
		}
		for _, i := range []int{0, n / 2, n - 1, n, n + 40} {
			require.Equal(t, "set", three.Table(i))
		}
		for _, i := range []int{n, n + 1, n + 39, 10 * n, 1 << 30} {
			require.Nil(t, one.Table(i))
			require.Nil(t, two.Table(i))
		}
		require.Equal(t, []uint64{1, 2, 3}, []uint64{one.Version(), two.Version(), three.Version()})
		// No version keeps a content of another alive.
		for _, r := range []*Root{one, two, three} {
			if latest := int(r.latest); latest > 0 {
				rest := Root{first: r.first, rest: r.rest, paged: r.paged}
				require.Nil(t, rest.Table(latest))
			}
		}
	}
	var none *Root
	require.Nil(t, none.Table(0))
	require.Nil(t, none.Owner())
	require.Zero(t, none.Version())
}

// Whether a row has expired is asked of the clock only of a Root that is due.
func TestTheClockIsReadOnlyOfWhatIsDue(t *testing.T) {
	asked := 0
	now = func() time.Time { asked++; return time.Unix(0, 100) }
	defer func() { now = time.Now }()
	for _, x := range []struct {
		soonest      int64
		due, orphans bool
		expired      bool
		asked        int
	}{
		{soonest: 0},
		{soonest: 0, due: true, orphans: true},
		{soonest: 99},
		{soonest: 101},
		{soonest: 100, due: true, expired: true, asked: 1},
		{soonest: 101, due: true, asked: 1},
		{soonest: 100, orphans: true, expired: true, asked: 1},
		{soonest: 101, orphans: true, asked: 1},
	} {
		r := &Root{owner: new(Owner)}
		r.soonest.Store(x.soonest)
		r.due.Store(x.due)
		r.owner.orphans.Store(x.orphans)
		asked = 0
		require.Equal(t, x.expired, r.Due(), "%+v", x)
		require.Equal(t, x.asked, asked, "%+v", x)
	}
}
