// Package own has types that clone themselves.
package own

//go:generate go run github.com/cowstore/cowstore/cow/cowview -type Doc,Uses,Buffer

// A Doc clones itself.
type Doc struct {
	Name string
	Tags []string
}

// Clone returns a copy.
func (d Doc) Clone() Doc {
	d.Tags = copied(d.Tags)
	return d
}

// A Buffer is cloned through a pointer.
type Buffer struct {
	Data []byte
	Pos  int
}

// Clone returns a copy, nil of nil.
func (b *Buffer) Clone() *Buffer {
	if b == nil {
		return nil
	}
	return &Buffer{copied(b.Data), b.Pos}
}

// Set is a named map that clones itself.
type Set map[string]struct{}

// Clone returns a copy.
func (s Set) Clone() Set {
	if s == nil {
		return nil
	}
	c := make(Set, len(s))
	for k := range s {
		c[k] = struct{}{}
	}
	return c
}

// copied returns a copy of s that cannot grow.
func copied[T any](s []T) []T {
	if s == nil {
		return nil
	}
	c := make([]T, len(s))
	copy(c, s)
	return c
}

// Uses has fields of types that clone themselves.
type Uses struct {
	Doc     Doc
	DocP    *Doc
	Docs    []Doc
	Buffer  *Buffer
	Buffers []*Buffer
	By      map[string]Doc
	ByP     map[string]*Buffer
	Set     Set
	Sets    []Set
}
