package cow

import "time"

// Stats are figures about a Store or DB at one moment.
type Stats struct {
	Commits uint64 // updates published, which is the current version
	Rows    int    // in the current version, over all tables

	Retained  int // versions before the current one that At and AsOf reach
	Pins      int // versions kept by name
	HeldRows  int // old rows that both keep alive
	HeldBytes int // about how many bytes these rows and the records of them take

	Waiting int // calls blocked in Wait, in a watch or in Changes
}

// Stats returns the figures as they are. It takes time proportional to the rows
// that each pin holds, and to the commits that were retained since the last call;
// what several hold back is counted for each.
func (l *line[P]) Stats() Stats {
	current := l.published.Load()
	st := Stats{Commits: current.Version(), Rows: current.Len(), Waiting: int(l.waiting.Load())}
	for _, s := range l.pinned() {
		rows, bytes := s.Exclusive(current)
		st.Pins++
		st.HeldRows += rows
		st.HeldBytes += bytes
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if h := l.history; h != nil {
		h.trim(time.Now().UnixNano(), 0)
		h.weigh()
		st.Retained = len(h.commits)
		st.HeldRows += h.sum.rows
		st.HeldBytes += h.sum.bytes
	}
	return st
}
