package snapshot

import (
	"runtime"
	"unsafe"
)

// atOnce is how many lookups go on at the same time: more than a processor has loads
// under way.
const atOnce = 32

// rowsOf is Builder.RowsOf. Each step of a lookup needs what the one before has loaded,
// but nothing of another lookup: so all take one step, and then all the next.
func (m *Map[K, V]) rowsOf(keys []K, rows []Row[K, V]) {
	clear(rows[:len(keys)])
	if m == nil || m.cfg == nil {
		return
	}
	var hashes [atOnce]uint64
	var at [atOnce]unsafe.Pointer // a kid, and then an entry; nil if there is none
	for ; len(keys) > 0; keys, rows = keys[min(atOnce, len(keys)):], rows[min(atOnce, len(keys)):] {
		some := keys[:min(atOnce, len(keys))]
		for i, key := range some {
			h := m.cfg.hashOf(key)
			hashes[i], at[i] = h, m.kidOf(h)
		}
		for i := range some {
			kid, h := at[i], hashes[i]
			at[i] = nil
			if n := bucketsOf(kid); kid != nil && n != bagBuckets {
				b := bucketAt[V](target(kid), bucketOf(h, n))
				if hits := match(b.meta, tagOf(h)); hits != 0 {
					at[i] = unsafe.Pointer(b.entry[slotOf(hits)])
				}
			}
		}
		touched := uint64(0)
		for i := range some {
			if e := (*entry[V])(at[i]); e != nil {
				touched |= e.touch()
			}
		}
		runtime.KeepAlive(touched)
		for i, key := range some {
			e := (*entry[V])(at[i])
			if e == nil || !m.cfg.is(e, key) {
				e = m.find(hashes[i], key)
			}
			rows[i] = m.cfg.row(e)
		}
	}
}
