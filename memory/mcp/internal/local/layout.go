package local

import (
	"iter"
	"slices"
	"strings"

	"github.com/cowstore/cowstore/memory"
)

// Where things are, below the namespace, which is any string:
//
//	ns, "entities"          by name: an entity
//	ns, "out"               by from, to and type: a relation
//	ns, "in"                by to, from and type: the same, put in the same batch
//	ns, "notes", folder…    by key: a note
//
// The parts of a relation's key are joined by a zero byte, which no name has: so all
// relations of one entity have a prefix in common.
const (
	entities = "entities"
	out      = "out"
	in       = "in"
	notes    = "notes"
)

// A value is a map with these members, as far as it has them. Created and updated are
// nanoseconds; created grows with each thing that is made, so that it orders them.
const (
	nameField     = "name"
	typeField     = "entityType"
	observedField = "observations"
	fromField     = "from"
	toField       = "to"
	relationField = "relationType"
	textField     = "text"
	tagsField     = "tags" // a map, whose keys are the tags
	metadataField = "metadata"
	createdField  = "created"
	updatedField  = "updated"
)

func entitySpace(ns string) []string { return []string{ns, entities} }

func noteSpace(ns string, folder []string) []string {
	return append([]string{ns, notes}, folder...)
}

func relationKey(a, b, relation string) string { return relationPrefix(a) + b + "\x00" + relation }

// relationPrefix is what the keys of all relations from an entity begin with, or to it.
func relationPrefix(a string) string { return a + "\x00" }

// textOf says what is searched: names before the rest, and nothing of relations.
func textOf(space []string, v memory.Value) iter.Seq2[string, int] {
	if len(space) < 2 || space[1] != entities && space[1] != notes {
		return nil
	}
	return func(yield func(string, int) bool) {
		if name := v.Key(nameField); name.Exists() && !yield(name.String(), 3) {
			return
		}
		for _, field := range []string{typeField, textField} {
			if t := v.Key(field); t.Exists() && !yield(t.String(), 1) {
				return
			}
		}
		for _, o := range v.Key(observedField).Values() {
			if !yield(o.String(), 1) {
				return
			}
		}
		for tag := range v.Key(tagsField).All() {
			if !yield(tag, 1) {
				return
			}
		}
	}
}

// An entity is one of the knowledge graph.
type entity struct {
	Name         string   `json:"name"`
	Type         string   `json:"entityType"`
	Observations []string `json:"observations"`

	created, updated int64
}

func entityOf(v memory.Value) entity {
	e := entity{
		Name: v.Key(nameField).String(), Type: v.Key(typeField).String(), Observations: []string{},
		created: v.Key(createdField).Int(), updated: v.Key(updatedField).Int(),
	}
	for _, o := range v.Key(observedField).Values() {
		e.Observations = append(e.Observations, o.String())
	}
	return e
}

func (e entity) value() any {
	return map[string]any{nameField: e.Name, typeField: e.Type, observedField: e.Observations,
		createdField: e.created, updatedField: e.updated}
}

// text is all of an entity, for people.
func (e entity) text() string {
	return strings.Join(append([]string{e.Name + " (" + e.Type + ")"}, e.Observations...), "\n")
}

// A relation is one of the knowledge graph.
type relation struct {
	From string `json:"from"`
	To   string `json:"to"`
	Type string `json:"relationType"`

	created int64
}

func relationOf(v memory.Value) relation {
	return relation{v.Key(fromField).String(), v.Key(toField).String(), v.Key(relationField).String(), v.Key(createdField).Int()}
}

// relationOfKey returns the relation that has that key in the space of those that go out.
func relationOfKey(key string) (r relation) {
	r.From, key, _ = strings.Cut(key, "\x00")
	r.To, r.Type, _ = strings.Cut(key, "\x00")
	return r
}

func (r relation) value() any {
	return map[string]any{fromField: r.From, toField: r.To, relationField: r.Type, createdField: r.created}
}

func (r relation) outKey() string { return relationKey(r.From, r.To, r.Type) }
func (r relation) inKey() string  { return relationKey(r.To, r.From, r.Type) }

// A note is what remember stores.
type note struct {
	text             string
	tags             []string
	metadata         map[string]any
	created, updated int64
}

func noteOf(v memory.Value) note {
	n := note{text: v.Key(textField).String(), created: v.Key(createdField).Int(), updated: v.Key(updatedField).Int()}
	for tag := range v.Key(tagsField).All() {
		n.tags = append(n.tags, tag)
	}
	slices.Sort(n.tags)
	n.metadata, _ = v.Key(metadataField).Any().(map[string]any)
	return n
}

func (n note) value() any {
	v := map[string]any{textField: n.text, createdField: n.created, updatedField: n.updated}
	if len(n.tags) > 0 {
		tags := make(map[string]any)
		for _, tag := range n.tags {
			tags[tag] = true
		}
		v[tagsField] = tags
	}
	if len(n.metadata) > 0 {
		v[metadataField] = n.metadata
	}
	return v
}
