package line

import (
	"time"
	"weak"
)

// early is how long before the first row expires the time begins to be asked for: timers are
// late.
const early = int64(20 * time.Millisecond)

// expect makes next ready to be published after older, nil if it is the first: its rows expire
// as those of older do, but for the table that differs.
func (l *Line) expect(next, older *Root, table int) {
	soonest := next.owner.Tables.Soonest(next, table)
	if older != nil && table != Several {
		soonest = sooner(soonest, older.soonest.Load())
	}
	if soonest != 0 || next.soonest.Load() != 0 {
		l.judge(next, soonest, table == Several)
	}
}

// sooner returns the earlier of two times, 0 for none.
func sooner(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// judge notes that no row of r expires before soonest; exact says that one does then. The
// caller holds mu, or nobody else knows l.
func (l *Line) judge(r *Root, soonest int64, exact bool) {
	now := time.Now().UnixNano()
	if soonest != 0 && soonest <= now+early && !exact {
		soonest = r.owner.Tables.Soonest(r, Several) // that row may be gone
	}
	r.soonest.Store(soonest)
	r.due.Store(soonest != 0 && soonest <= now+early)
	if soonest > now+early {
		l.setAlarm(r.owner, soonest-early, now)
	}
}

// setAlarm has judge called again at a time, or before. The clock may be set, or the machine
// sleep, which no timer knows: so it is called from time to time.
func (l *Line) setAlarm(owner *Owner, at, now int64) {
	if l.alarmAt != 0 && l.alarmAt <= at {
		return
	}
	l.alarmAt = at
	wait := min(time.Duration(at-now), max(time.Minute, time.Duration(at-now)/64))
	if l.alarm != nil {
		l.alarm.Reset(wait)
		return
	}
	self := weak.Make(l) // which a timer does not keep alive
	l.alarm = time.AfterFunc(wait, func() {
		if l := self.Value(); l != nil {
			l.ring()
		} else {
			owner.orphans.Store(true)
		}
	})
}

func (l *Line) ring() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.alarmAt = 0
	if r := l.published.Load(); !r.due.Load() && r.soonest.Load() != 0 {
		l.judge(r, r.soonest.Load(), false)
	}
}
