package memory

import (
	"time"

	"github.com/cowstore/cowstore/memory/internal/data"
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
// Where MaxEntries, MaxBytes or TTL is 0, a default holds: that in the Each of the nearest space
// above which has one there. Where none has, there is no limit, and the TTL is that of the Memory.
// To have no limit in spite of a default say math.MaxInt, and for no TTL Never.
//
// Limits on the sum of several spaces replace nothing: those of All in each space above,
// of the space itself and of the Memory hold at once.
type SpaceOptions struct {
	MaxEntries int           // in this space; 0: no limit
	MaxBytes   int64         // that the space takes on the heap, indexes included; 0: no limit
	TTL        time.Duration // for entries put from now on without one; 0: that of the Memory; Never: none

	All  Limits        `json:",omitzero"` // on this space and all spaces below it together
	Each SpaceDefaults `json:",omitzero"` // for each space below it, at any depth, but not for this one
}

// config returns o as it is stored.
func (o SpaceOptions) config() data.Config {
	return data.Config{
		MaxEntries: o.MaxEntries, MaxBytes: o.MaxBytes, TTL: o.TTL,
		All:  data.Limits(o.All),
		Each: data.Defaults(o.Each),
	}
}

// spaceOptions returns what was stored.
func spaceOptions(c data.Config) SpaceOptions {
	return SpaceOptions{
		MaxEntries: c.MaxEntries, MaxBytes: c.MaxBytes, TTL: c.TTL,
		All:  Limits(c.All),
		Each: SpaceDefaults(c.Each),
	}
}
