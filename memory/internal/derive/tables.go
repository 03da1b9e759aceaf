// Package derive has the tables of a Memory, a version of them, and what follows from the
// entries: counts, sums and indexes. Nothing is decided here, and there is no clock: a replica
// derives the same.
//
// From the ground up: tables.go and view.go; words.go, what the text of an entry is; derive.go,
// how an update brings all of it up to the entries, with sums.go.
package derive

import (
	"strings"
	"sync/atomic"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory/internal/data"
	"github.com/cowstore/cowstore/memory/internal/tuple"
	"github.com/cowstore/cowstore/snapshot"
)

// Tables are where everything is, in a DB and its forks. They have no content
// themselves. The first five are the truth, and stored where the DB is; the others
// follow from them, see derive.go.
type Tables struct {
	Entries *cow.Table[string, *data.Entry]    // by the name of the entry, see package tuple
	Options *cow.Table[string, *data.Config]   // by the encoded path; where configured
	Cleared *cow.Table[string, *data.Clearing] // by the encoded path; see package keep
	Heads   *cow.Table[string, *data.Head]     // what the last batch decided
	Epochs  *cow.Table[string, *data.Epoch]    // of text indexes, by the encoded path and when; see package keep
	Spaces  *cow.Table[string, *data.Space]    // by the encoded path; those that have entries
	Below   *cow.Table[string, *data.Total]    // by the encoded path; those that have entries below, see sums.go

	Order      *cow.Index[string, *data.Entry, string]
	ByPath     *cow.Index[string, *data.Space, string]
	ByExpiry   *cow.Index[string, *data.Entry, int64] // those that expire
	EpochOrder *cow.Index[string, *data.Epoch, string]
	Missing    *cow.Index[string, *data.Entry, int64] // those with a text and no vector, by when they were updated; nil: texts are not embedded

	made   atomic.Bool // all of these are
	Texts  Words
	before func(t *Tables, tx *cow.Tx) // called before a version is derived

	// Clears says that a space was cleared in steps, so that a read does more. It is set before
	// a version that needs it is published, and stays: whoever finds such a version finds it.
	Clears atomic.Bool
}

// New makes the tables of a Memory in a DB.
func New(db *cow.DB, name string, how Words, before func(t *Tables, tx *cow.Tx)) *Tables {
	t := &Tables{Texts: how, before: before}
	t.Entries = cow.NewTable[string](db, name+".entries", cow.Options[*data.Entry]{Immutable: true, Codec: data.EntryCodec{}, Accept: data.EntryCodec{}.Accepts(), Expires: (*data.Entry).Expiry})
	t.Options = cow.NewTable[string](db, name+".options", cow.Options[*data.Config]{Immutable: true, Codec: data.ConfigCodec})
	t.Cleared = cow.NewTable[string](db, name+".cleared", cow.Options[*data.Clearing]{Immutable: true, Codec: data.ClearingCodec})
	t.Heads = cow.NewTable[string](db, name+".heads", cow.Options[*data.Head]{Immutable: true, Codec: data.HeadCodec})
	t.Epochs = cow.NewTable[string](db, name+".epochs", cow.Options[*data.Epoch]{Immutable: true, Codec: data.EpochCodec})
	t.Below, _ = cow.NewDerived(db, name+".below", cow.Options[*data.Total]{Immutable: true}, func(*cow.Tx, *cow.Editor[string, *data.Total]) error { return nil }) // it follows with the spaces
	t.Spaces, _ = cow.NewDerived(db, name+".spaces", cow.Options[*data.Space]{Immutable: true}, t.derive)
	t.Order = cow.NewOrder(t.Entries, "order")
	t.ByPath = cow.NewOrder(t.Spaces, "path")
	t.EpochOrder = cow.NewOrder(t.Epochs, "order")
	t.ByExpiry = t.Entries.Expiry()
	if how.Embedded {
		t.Missing, _ = cow.NewMultiIndex(t.Entries, "missing", t.missing, cow.IndexOptions[string]{})
	}
	t.made.Store(true)
	return t
}

// missing adds an entry that has a text and no vector.
func (t *Tables) missing(r cow.Row[string, *data.Entry], add func(int64)) {
	e := r.Shared()
	if of := e.Searched(); of.Vector != nil || !of.Value.Exists() {
		return
	}
	path, _ := tuple.Split(r.Key())
	for text := range t.Texts.Of(path, e.Value) {
		if strings.TrimSpace(text) != "" {
			add(e.Updated)
			return
		}
	}
}

// Within narrows a range to a space and all that is below it.
func Within[V any](r cow.Range[string, V, string], path string) cow.Range[string, V, string] {
	if path == "" {
		return r
	}
	return r.From(path).To(path + tuple.AboveBelow)
}

// Marked narrows a range to the entries that a mark with that key is for.
func Marked(r cow.Range[string, *data.Entry, string], key string) cow.Range[string, *data.Entry, string] {
	if all, below := tuple.CutBelow(key); below {
		return Within(r, all)
	}
	return r.Prefix(tuple.Name(key, ""))
}

// within returns the paths of a space and those below it that have entries in a map, in order.
func (t *Tables) within(spaces *snapshot.Map[string, *data.Space], cleared data.Marks, path string) (paths []string) {
	for r := Within(t.ByPath.In(spaces), path); ; {
		at, row, ok := r.First()
		if !ok {
			return paths
		}
		r = r.After(at, at)
		if cleared.Alive(at, row.Revision()) {
			paths = append(paths, at)
		}
	}
}
