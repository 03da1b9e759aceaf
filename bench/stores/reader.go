package stores

// A Viewer is a Store whose records can be read through views.
type Viewer interface {
	Store
	View(key string) (RecordView, bool)
}

// A Reader looks up records as a user of its store would: through views where the store
// has them. A lookup includes what a user does with a record at the least: it looks at
// a few fields of it.
type Reader struct {
	store  Store
	viewer Viewer // nil: the store has no views
}

// NewReader returns a Reader of s.
func NewReader(s Store) Reader {
	v, _ := s.(Viewer)
	return Reader{s, v}
}

// A Lookup is what was found under a key. The zero Lookup is nothing.
type Lookup struct {
	record Record
	view   RecordView
	ok     bool
	length int // of what was looked at
}

// Get looks up a key.
func (r Reader) Get(key string, f *Lookup) {
	if r.viewer != nil {
		if f.view, f.ok = r.viewer.View(key); f.ok {
			f.length = f.view.Look()
		}
		return
	}
	f.view = RecordView{}
	if f.record, f.ok = r.store.Get(key); f.ok {
		f.length = f.record.Look()
	}
}

// Intact reports whether there was a record, and it is, in every field, one that was
// stored under key.
func (f *Lookup) Intact(key string) bool {
	switch {
	case !f.ok:
		return false
	case f.view.Valid():
		return f.view.Look() == f.length && f.view.Intact(key)
	}
	return f.record.Look() == f.length && f.record.Intact(key)
}
