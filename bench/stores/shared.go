package stores

import (
	"iter"

	"github.com/cowstore/cowstore/cow"
)

// shared is this project read without cloning. Records are still cloned on the
// way in.
type shared struct{ cowstore }

func newShared() Store { return shared{cowstore{cow.New[string](cow.Options[Record]{})}} }

func (c shared) Get(key string) (Record, bool)  { return c.s.Load().Shared().Get(key) }
func (c shared) All() iter.Seq2[string, Record] { return c.s.Load().Shared().All() }
func (c shared) Snapshot() Snapshot             { return c.s.Load().Shared() }
func (c shared) Fork() Store                    { return shared{cowstore{c.s.Fork(c.s.Load())}} }
