package local

import (
	"strings"
	"unicode/utf8"

	"github.com/cowstore/cowstore/memory/mcp/internal/store"
)

// What names and texts may be. The limits on arguments as a whole are those of package tool.
const (
	maxName      = 4 << 10   // bytes of a name, a type, a key
	maxText      = 256 << 10 // bytes of an observation, a text
	maxEntity    = 4 << 20   // bytes of all observations of an entity
	maxItems     = 10_000    // in one call
	maxNamespace = 256       // bytes
	maxFolders   = 16        // elements of a space
	maxFolder    = 256       // bytes of one
	maxMetadata  = 64 << 10  // bytes of it as JSON
	maxTags      = 64
	maxVector    = 8192 // dimensions
	maxTTL       = 100 * 365 * 24 * 60 * 60
)

func checkLen(what, s string, limit int) error {
	if len(s) > limit {
		return store.Errorf(store.TooLarge, "%s has %d bytes, and %d are allowed", what, len(s), limit)
	}
	return nil
}

// checkName returns an error for what cannot be a name, or part of a key.
func checkName(what, s string, limit int) error {
	if err := checkLen(what, s, limit); err != nil {
		return err
	}
	if !utf8.ValidString(s) {
		return store.Errorf(store.Invalid, "%s is not UTF-8", what)
	}
	control := func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' && r != '\r' || r >= 0x7f && r < 0xa0 }
	if i := strings.IndexFunc(s, control); i >= 0 {
		r, _ := utf8.DecodeRuneInString(s[i:])
		return store.Errorf(store.Invalid, "%s has the control character %U at byte %d, which no name may have", what, r, i)
	}
	return nil
}

func checkItems(n int) error {
	if n > maxItems {
		return store.Errorf(store.TooLarge, "%d items in one call, and %d are allowed: make several calls", n, maxItems)
	}
	return nil
}

func checkTexts(what string, texts []string) error {
	for _, t := range texts {
		if err := checkLen(what, t, maxText); err != nil {
			return err
		}
	}
	return nil
}

func checkFolder(folder []string) error {
	if len(folder) > maxFolders {
		return store.Errorf(store.TooLarge, "a space of %d elements, and %d are allowed", len(folder), maxFolders)
	}
	for _, f := range folder {
		if err := checkName("an element of the space", f, maxFolder); err != nil {
			return err
		}
	}
	return nil
}

// check returns an error for an entity that cannot be stored.
func (e entity) check() error {
	err := checkName("the name of an entity", e.Name, maxName)
	if err == nil {
		err = checkName("the type of an entity", e.Type, maxName)
	}
	if err == nil {
		err = checkTexts("an observation", e.Observations)
	}
	if err == nil {
		err = e.checkSize()
	}
	return err
}

func (e entity) checkSize() error {
	n := 0
	for _, o := range e.Observations {
		n += len(o)
	}
	if n > maxEntity {
		return store.Errorf(store.TooLarge, "the observations of %.100q would have %d bytes together, and %d are allowed", e.Name, n, maxEntity)
	}
	return nil
}

func (r relation) check() error {
	err := checkName("the start of a relation", r.From, maxName)
	if err == nil {
		err = checkName("the end of a relation", r.To, maxName)
	}
	if err == nil {
		err = checkName("the type of a relation", r.Type, maxName)
	}
	return err
}
