// Package expvar publishes the figures of DBs by package expvar of the standard library, which
// shows them under /debug/vars.
package expvar

import (
	"expvar"

	"github.com/cowstore/cowstore/cow"
)

// A Figures is what is published of a DB.
type Figures struct {
	Lineage string
	Version uint64
	Rows    int
	cow.Stats
}

// Publish publishes the figures of db as the variable of that name, for good: expvar keeps db alive.
// It panics if there is a variable of that name, as expvar does. Each look takes as long as db.Stats.
func Publish(name string, db *cow.DB) {
	if db == nil {
		panic("cow/metrics/expvar: Publish of a nil *cow.DB: pass a pointer to the DB")
	}
	expvar.Publish(name, expvar.Func(func() any { return Of(db) }))
}

// Of returns the figures of db as they are.
func Of(db *cow.DB) Figures {
	s := db.Load()
	return Figures{db.Lineage().ID, s.Version(), s.Len(), db.Stats()}
}
