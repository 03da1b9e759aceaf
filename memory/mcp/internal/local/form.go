package local

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/cowstore/cowstore/memory/mcp/internal/store"
)

// A form is what an import takes: JSON Lines of one kind or the other.
type form int

const (
	unknown    form = iota
	graphForm       // of the reference server: entities and relations
	memoryForm      // of memory.Snapshot.Export and Memory.Backup: everything
)

// What is said of a file of the other form.
var (
	errMemoryForm = store.Errorf(store.Invalid, "this is what `cowmemory export -all` writes: import it with -all")
	errGraphForm  = store.Errorf(store.Invalid, "this is a file of the reference server, as `cowmemory export` writes it: import it without -all")
	errNothing    = store.Errorf(store.Invalid, "there is nothing to import in it")
)

// CheckForm returns an error if a file that begins with head is none that Import takes, or,
// for all, ImportAll: as far as can be told before anything is done.
func CheckForm(head []byte, all bool) error {
	if bytes.IndexByte(head, 0) >= 0 {
		return store.Errorf(store.Invalid, "this is not text; a file of cowmemory itself is not imported, but used by -file")
	}
	head = bytes.TrimSpace(head)
	line, _, _ := bytes.Cut(head, []byte("\n"))
	is, space := formOf(line)
	switch {
	case len(head) == 0:
		return errNothing
	case is == memoryForm && !all:
		return errMemoryForm
	case is == graphForm && all:
		return errGraphForm
	case all && space != nil && (len(space) < 2 || !slices.Contains([]string{entities, out, in, notes}, space[1])):
		return store.Errorf(store.Invalid, "this is a memory of another program: %.200q is no space of cowmemory", space)
	}
	return nil
}

// formOf returns the form of a line, which may be cut off, by the first member that tells it,
// and the space that a line of everything is of, if it tells that.
func formOf(line []byte) (is form, space []string) {
	d := json.NewDecoder(bytes.NewReader(line))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return unknown, nil
	}
	for {
		t, err := d.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			return unknown, nil
		}
		switch name {
		case "type", "name", "entityType", "observations", "from", "to", "relationType":
			return graphForm, nil
		case "key", "value", "options", "cursor", "revision":
			return memoryForm, nil
		case "space":
			_ = d.Decode(&space)
			return memoryForm, space
		}
		var other json.RawMessage
		if d.Decode(&other) != nil {
			return unknown, nil
		}
	}
}
