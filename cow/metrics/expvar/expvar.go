// Package expvar publishes figures about DBs through package expvar of the standard library, which
// shows them under /debug/vars.
package expvar

import (
	"expvar"

	"github.com/cowstore/cowstore/cow"
)

// A Figures is what Publish shows of a DB.
type Figures struct {
	Lineage string // the ID of the lineage
	Version uint64 // the current version
	Rows    int    // the rows of all tables
	cow.Stats
}

// Publish publishes the figures of db as the variable name, for good: expvar keeps db alive. It
// panics if there is a variable of that name, as expvar does, or if db is nil. Each read of the
// variable takes as long as db.Stats.
func Publish(name string, db *cow.DB) {
	if db == nil {
		panic("cow/metrics/expvar: Publish of a nil *cow.DB: pass a pointer to the DB")
	}
	expvar.Publish(name, expvar.Func(func() any { return Of(db) }))
}

// Of returns the current figures of db. It publishes nothing.
func Of(db *cow.DB) Figures {
	s := db.Load()
	return Figures{db.Lineage().ID, s.Version(), s.Len(), db.Stats()}
}
