package inspect

import (
	"github.com/cowstore/cowstore/cow/inspect"
	"github.com/cowstore/cowstore/memory"
)

// revisionsShown is how many revisions of an entry a page shows at most.
const revisionsShown = 10

// entry shows one entry, and what it was before.
func (w *shower) entry(path []string, key string) error {
	e, ok := w.s.Space(path...).Entry(key)
	if !ok {
		return w.Missing("there is no entry of that key at version %d", w.s.Version())
	}
	w.Title(w.Key(key), append(w.above(path), w.spaceLink(path))...)
	w.Fact("space", inspect.Link{Text: w.pathText(path), To: w.spaceLink(path).To})
	w.Fact("at version", w.Version(w.s.Version()))
	w.Fact("written by version", w.Version(e.Revision))
	w.Fact("created", e.Created)
	w.Fact("updated", e.Updated)
	if at := expires(e); at != "" {
		w.Fact("expires", at)
	}
	w.Fact("bytes of the value", uint64(e.Value.Size()))
	if is := state(e); is != "" {
		w.Fact("with", is)
	}
	if e.Superseded {
		w.Fact("superseded by", w.entryLink(path, e.SupersededBy))
	}
	w.Text(w.value(path, e))
	now := w.m.Load()
	switch is, ok := now.Space(path...).Entry(key); {
	case now.Version() <= w.s.Version():
	case !ok:
		w.Note("The current version no longer has this entry.")
	case is.Revision != e.Revision:
		w.Note("The entry was written again since.")
		w.Link(inspect.Link{Text: "as it is now", To: w.At(now.Version())})
	}
	w.history(path, key, e)
	return nil
}

// history shows the revisions of an entry, the newest first.
func (w *shower) history(path []string, key string, e memory.Entry) {
	w.Section("History")
	w.Columns("version", "updated", "expires", "bytes", "value")
	for n := 1; ; n++ {
		w.Row(inspect.Link{Text: w.Version(e.Revision).Text, To: w.At(e.Revision)}, e.Updated, expires(e), uint64(e.Value.Size()), w.value(path, e))
		if e.Revision == 0 {
			return
		}
		if n == revisionsShown {
			w.Note("The last %d are shown.", revisionsShown)
			w.Link(inspect.Link{Text: "older ones", To: w.At(e.Revision)})
			return
		}
		was, err := w.at(e.Revision - 1)
		if err != nil {
			w.Note("What was before version %d is no longer retained.", e.Revision)
			return
		}
		older, ok := was.Space(path...).Entry(key)
		if !ok {
			w.Note("Before version %d it was not there.", e.Revision)
			return
		}
		e = older
	}
}
