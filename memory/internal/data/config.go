package data

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/cowstore/cowstore/memory/internal/tuple"
)

// Limits say how much there may be; 0: no limit.
type Limits struct {
	MaxEntries int
	MaxBytes   int64 // on the heap, indexes included
}

// Defaults are how a space behaves that is not configured to behave otherwise.
type Defaults struct {
	MaxEntries int
	MaxBytes   int64
	TTL        time.Duration
}

// A Config is how a space is configured: a memory.SpaceOptions. It is immutable, once it is
// stored.
type Config struct {
	MaxEntries int
	MaxBytes   int64
	TTL        time.Duration

	All  Limits   `json:",omitzero"`
	Each Defaults `json:",omitzero"`
}

// Valid reports whether no limit is negative.
func Valid(o Config) bool {
	entries := min(o.MaxEntries, o.All.MaxEntries, o.Each.MaxEntries)
	bytes := min(o.MaxBytes, o.All.MaxBytes, o.Each.MaxBytes)
	return entries >= 0 && bytes >= 0 && ValidTTL(o.TTL) == nil && ValidTTL(o.Each.TTL) == nil
}

// configs has what spaces are configured to, in a version or in an update.
type configs interface {
	Get(path string) (*Config, bool)
	Len() int
}

// DefaultsOf returns how a space behaves, defaults included. It takes a look at each
// space above, where any space is configured.
func DefaultsOf(all configs, path string) (o Defaults) {
	if all.Len() == 0 {
		return o
	}
	if own, ok := all.Get(path); ok {
		o = Defaults{own.MaxEntries, own.MaxBytes, own.TTL}
	}
	for path := range tuple.Above(path) {
		if own, ok := all.Get(path); ok {
			o.MaxEntries = cmp.Or(o.MaxEntries, own.Each.MaxEntries)
			o.MaxBytes = cmp.Or(o.MaxBytes, own.Each.MaxBytes)
			o.TTL = cmp.Or(o.TTL, own.Each.TTL)
		}
	}
	return o
}

// LimitsOf returns the limits on what a key stands for, which is as that of a mark: a
// space, or, with AboveBelow behind its path, a space and those below it.
func LimitsOf(all configs, key string, whole Limits) Limits {
	path, below := tuple.CutBelow(key)
	if !below {
		o := DefaultsOf(all, path)
		return Limits{o.MaxEntries, o.MaxBytes}
	}
	var l Limits
	if o, ok := all.Get(path); ok {
		l = o.All
	}
	if path == "" {
		l.MaxEntries = lower(l.MaxEntries, whole.MaxEntries)
		l.MaxBytes = lower(l.MaxBytes, whole.MaxBytes)
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

// IsOver reports whether there is more than the limits allow.
func IsOver(l Limits, n Total) bool {
	return Over(n.Count, l.MaxEntries) > 0 || Over(n.Bytes, l.MaxBytes) > 0
}

// Over returns by how much a limit is exceeded.
func Over[N int | int64](n, most N) N {
	if most == 0 {
		return 0
	}
	return max(0, n-most)
}

// Never is the TTL of what does not expire, whatever its space or the Memory says.
const Never time.Duration = math.MinInt64

// ValidTTL returns an error for a TTL that makes no sense.
func ValidTTL(ttl time.Duration) error {
	if ttl < 0 && ttl != Never {
		return fmt.Errorf("a TTL of %v has ended already: 0 is that of the space, and Never is none", ttl)
	}
	return nil
}
