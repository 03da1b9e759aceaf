package cow

import (
	"context"
	"fmt"
	"time"

	"github.com/cowstore/cowstore/cow/hook"
	"github.com/cowstore/cowstore/cow/internal/line"
)

// Expiry returns the index of the rows that expire, by the time at which they do, in nanoseconds
// since 1970. Its name is "expiry", and the table has it from the beginning. Expiry panics if the
// table has no [Options].Expires.
func (t *Table[K, V]) Expiry() *Index[K, V, int64] {
	t.made()
	if t.def.expiry == nil {
		panic(fmt.Sprintf("cow: Expiry of %v, whose rows do not expire: make it with Options.Expires", t.def))
	}
	return &Index[K, V, int64]{t.def.expiry, t.def}
}

func (d *tableDef[K, V]) expires() bool { return d.expiry != nil }

func (d *tableDef[K, V]) soonest(content any) int64 {
	m := d.mapOf(content)
	if d.expiry == nil || m.Len() == 0 {
		return 0
	}
	switch at, some, known := d.expiry.First(m); {
	case !known:
		return line.Unlooked
	case !some:
		return 0
	case at == 0:
		return -1 // a moment before: 0 is never
	default:
		return at
	}
}

func (d *tableDef[K, V]) sweep(tx *Tx, now int64, n int) int {
	if d.expiry == nil || d.content(tx.base).Len() == 0 {
		return 0
	}
	e := d.edit(tx)
	return Range[K, V, int64]{d.expiry.During(e), e}.Through(now).Limit(n).Delete()
}

// Due reports whether rows in s may have expired. It is a cheap test, to be made before a look at
// the rows that [Table.Expiry] has through time.Now().UnixNano(). It reads the clock only if the
// time of a row has come, or nearly.
//
// True means that a row has expired, if s is the current snapshot. For any other snapshot, and in a
// fork of a past one, it only means that a row may have expired.
//
// False means that no row has expired, with two exceptions. Due may become true a few milliseconds
// late, as timers do. After the clock was set or the machine slept, it may be late by a minute or,
// if that is more, by a sixty-fourth of the time that remained. To be exact, compare times.
func (s *Snapshot) Due() bool { return (*line.Root)(s).Due() }

// sweptAtOnce is how many rows one update of Sweep deletes.
const sweptAtOnce = 1000

// Sweep deletes the rows of all tables that have expired when it is called, and returns how many it
// deleted. It makes an update for each thousand rows, so that others need not wait long, and no
// update if nothing has expired. A row that is written again before its turn, with a later time,
// stays. Sweep goes by time.Now: a test stores a time that has passed, and such a row is always
// swept. It returns the error of an update, or ctx's cause; what it had
// deleted before stays deleted.
func (db *DB) Sweep(ctx context.Context) (n int, err error) {
	line.Given(ctx, "a Sweep")
	begun := time.Now()
	err = hook.ErrPanicked // unless sweep returns
	defer func() {
		if n > 0 || err != nil {
			line.Tell(&db.line, func(h hook.Swept) {
				h.OnSwept(ctx, hook.Removal{Rows: n, Duration: time.Since(begun), Err: err})
			})
		}
	}()
	err = db.sweep(ctx, begun.UnixNano(), &n)
	return n, err
}

// sweep deletes the rows that have expired at a time, and counts them.
func (db *DB) sweep(ctx context.Context, now int64, n *int) error {
	for {
		if err := context.Cause(ctx); err != nil || !db.Load().Due() {
			return err
		}
		swept := 0
		err := db.UpdateContext(ctx, func(tx *Tx) error {
			swept = 0
			for _, t := range db.catalog().all() {
				swept += t.sweep(tx, now, sweptAtOnce-swept)
			}
			tx.Defer(func() { *n += swept }) // a hook may panic when they are gone
			return nil
		})
		if err != nil || swept < sweptAtOnce {
			return err
		}
	}
}

// SweepEvery calls Sweep every d, which must be positive, until ctx ends or Sweep fails. It returns
// ctx's cause or the error of Sweep. Run it in a goroutine: a DB starts none for it.
func (db *DB) SweepEvery(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		panic(fmt.Sprintf("cow: SweepEvery with a duration of %v, which is not positive: to sweep once, call Sweep", d))
	}
	line.Given(ctx, "SweepEvery")
	t := time.NewTicker(d)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-t.C:
			if _, err := db.Sweep(ctx); err != nil {
				return err
			}
		}
	}
}
