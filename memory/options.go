package memory

import (
	"cmp"
	"time"

	"github.com/cowstore/cowstore/snapshot"
)

// Limits say how much there may be; 0: no limit.
type Limits struct {
	MaxEntries int
	MaxBytes   int64 // on the heap, indexes included
}

// SpaceDefaults are how a space behaves that is not configured to behave otherwise.
type SpaceDefaults struct {
	MaxEntries int
	MaxBytes   int64
	TTL        time.Duration
}

// SpaceOptions say how one space behaves, and the spaces below it. They are part of its
// versions.
//
// Each of the first three, where it is 0, is that of Each of the nearest space above that
// has one there, or else, for the TTL, that of the Memory. So what a space is
// configured to goes before all defaults, and a default before those farther up. Where there
// is a default, Never is no TTL, and math.MaxInt no limit.
//
// Limits on the sum of several spaces replace nothing: those of All in each space above,
// of the space itself and of the Memory hold at once.
type SpaceOptions struct {
	MaxEntries int           // in this space; 0: no limit
	MaxBytes   int64         // that the space takes on the heap, indexes included; 0: no limit
	TTL        time.Duration // for entries put from now on without one; 0: that of the Memory; Never: none

	All  Limits        `json:",omitzero"` // on what this space and all spaces below it have together
	Each SpaceDefaults `json:",omitzero"` // for each space below it by itself, whatever its depth, but not for this one
}

// valid reports whether no limit is negative.
func (o SpaceOptions) valid() bool {
	entries := min(o.MaxEntries, o.All.MaxEntries, o.Each.MaxEntries)
	bytes := min(o.MaxBytes, o.All.MaxBytes, o.Each.MaxBytes)
	return entries >= 0 && bytes >= 0 && validTTL(o.TTL) == nil && validTTL(o.Each.TTL) == nil
}

// Configure sets how the space behaves, for what is in it too, and replaces all of what
// it was configured to. What is too much is evicted in steps, by this write and later ones;
// in the spaces below, for which Each is, by writes there and by Memory.Sweep. If the path has
// more than 128 elements the Batch returns ErrTooDeep, and nothing happens.
func (e *Editor) Configure(o SpaceOptions) {
	e.b.live()
	if !o.valid() {
		panic("memory: Configure with a negative limit: 0 is none, and Never a TTL that is none")
	}
	if err := checkDepth(e.space); err != nil {
		e.b.err = cmp.Or(e.b.err, err)
		return
	}
	options := e.b.m.tables.options.Edit(e.b.tx)
	if was, ok := options.Get(e.space); ok && o == *was || !ok && o == (SpaceOptions{}) {
		return
	}
	e.b.wrote = true
	e.b.limit(e.space)
	e.b.limit(e.space + aboveBelow)
	if o == (SpaceOptions{}) {
		options.Delete(e.space)
		return
	}
	options.Set(e.space, &o)
}

// optionsTable has what spaces are configured to, in a version or in an update.
type optionsTable interface {
	Get(path string) (*SpaceOptions, bool)
	Len() int
}

// optionsOf returns how a space behaves, defaults included. It takes a look at each
// space above, where any space is configured.
func optionsOf(all optionsTable, path string) (o SpaceDefaults) {
	if all.Len() == 0 {
		return o
	}
	if own, ok := all.Get(path); ok {
		o = SpaceDefaults{own.MaxEntries, own.MaxBytes, own.TTL}
	}
	for path := range above(path) {
		if own, ok := all.Get(path); ok {
			o.MaxEntries = cmp.Or(o.MaxEntries, own.Each.MaxEntries)
			o.MaxBytes = cmp.Or(o.MaxBytes, own.Each.MaxBytes)
			o.TTL = cmp.Or(o.TTL, own.Each.TTL)
		}
	}
	return o
}

// limitsOf returns the limits on what a key stands for, which is as that of a mark: a
// space, or, with aboveBelow behind its path, a space and those below it.
func (t *tables) limitsOf(all optionsTable, key string) Limits {
	path, below := cutBelow(key)
	if !below {
		o := optionsOf(all, path)
		return Limits{o.MaxEntries, o.MaxBytes}
	}
	var l Limits
	if o, ok := all.Get(path); ok {
		l = o.All
	}
	if path == "" {
		l.MaxEntries = lower(l.MaxEntries, t.limits.MaxEntries)
		l.MaxBytes = lower(l.MaxBytes, t.limits.MaxBytes)
	}
	return l
}

// lower returns the lower of two limits, of which 0 is none.
func lower[N int | int64](a, b N) N {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// over reports whether there is more than the limits allow.
func (l Limits) over(n total) bool {
	return over(n.count, l.MaxEntries) > 0 || over(n.bytes, l.MaxBytes) > 0
}

// over returns by how much a limit is exceeded.
func over[N int | int64](n, most N) N {
	if most == 0 {
		return 0
	}
	return max(0, n-most)
}

// exactLimit is up to how many entries of what is limited the one that was used least
// recently is known exactly. It is the entry that is evicted. Of more, only some
// are compared.
const exactLimit = 256

// note sees to it that reads are stamped as limits need it.
func (t *tables) note(all ...Limits) {
	for _, l := range all {
		if l != (Limits{}) {
			t.stamps.Store(true)
		}
		if 0 < l.MaxEntries && l.MaxEntries <= exactLimit || 0 < l.MaxBytes && l.MaxBytes <= exactLimit<<10 {
			t.exact.Store(true)
		}
	}
}

// noteOptions notes what spaces were configured to, by whomever.
func (t *tables) noteOptions(now, before *snapshot.Map[string, *SpaceOptions]) {
	for c := range now.Diff(before) {
		if o, ok := c.New(); ok {
			t.note(Limits{o.MaxEntries, o.MaxBytes}, o.All, Limits{o.Each.MaxEntries, o.Each.MaxBytes})
		}
	}
}
