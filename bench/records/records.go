// Package records reads what a benchmark is to be run on: the memories of an
// agent, in the format of memory.Snapshot.Export, and queries for them, with what
// they have to find.
package records

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/cowstore/cowstore/memory"
)

// Record is an entry of a memory.
type Record struct {
	Space  []string
	Key    string
	Value  any       // as memory.Memory.Import has it; nil if there is none, too
	Vector []float32 // as it was written, of whatever length; nil: none
}

// Query is a question to one space: for what is under a key, or which texts match.
type Query struct {
	Space    []string
	Key      string   // if Text is empty
	Text     string   // to be searched for; empty: a lookup of Key
	Relevant []string // the keys of what a search for Text has to find
}

//go:embed testdata/assistant.jsonl testdata/assistant.queries.jsonl
var example embed.FS

// Example returns the records and queries of a small example: what an assistant
// knows of a few people.
func Example() ([]Record, []Query, error) {
	return read(example.ReadFile, "testdata/assistant.jsonl", "testdata/assistant.queries.jsonl")
}

// Read returns the records of a file of JSON Lines as memory exports them, ordered by space
// and key, and the queries of another:
//
//	{"space":["user","42"],"key":"name"}
//	{"space":["user","42"],"text":"train to Lyon","relevant":["trip","seat"]}
//
// Of several records with one key the last counts. What has expired is left out. A query for
// what is not among the records is an error. Errors name the file, and the line.
func Read(records, queries string) ([]Record, []Query, error) {
	return read(os.ReadFile, records, queries)
}

func read(file func(name string) ([]byte, error), records, queries string) ([]Record, []Query, error) {
	data, err := file(records)
	if err != nil {
		return nil, nil, err
	}
	all, err := load(data)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", records, err)
	}
	if data, err = file(queries); err != nil {
		return nil, nil, err
	}
	asked, err := parse(data, all)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", queries, err)
	}
	return all, asked, nil
}

func load(data []byte) (all []Record, err error) {
	m := memory.New(memory.Options{NoText: true})
	if _, err := m.Import(bytes.NewReader(data)); err != nil {
		return nil, err
	}
	s := m.Load()
	for path := range s.Spaces(memory.SpacesOptions{}) {
		view := s.Space(path...)
		for e := range view.List(memory.ListOptions{}) {
			v, _ := view.Vector(e.Key)
			all = append(all, Record{path, e.Key, e.Value.Any(), v})
		}
	}
	if len(all) == 0 {
		return nil, errors.New("no records")
	}
	return all, nil
}

func parse(data []byte, records []Record) (all []Query, err error) {
	known := map[string]bool{}
	for _, r := range records {
		known[id(r.Space, r.Key)] = true
	}
	for i, line := range bytes.Split(data, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		q, err := parseLine(line, known)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		all = append(all, q)
	}
	if len(all) == 0 {
		return nil, errors.New("no queries")
	}
	return all, nil
}

func id(space []string, key string) string { return fmt.Sprintf("%q %q", space, key) }

func parseLine(line []byte, known map[string]bool) (q Query, err error) {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&q); err != nil {
		return q, err
	}
	wanted := q.Relevant
	if q.Text == "" {
		wanted = []string{q.Key}
	}
	if len(wanted) == 0 || q.Text != "" && q.Key != "" || q.Text == "" && q.Relevant != nil {
		return q, errors.New("a query has a key, or else a text and what is relevant to it")
	}
	for _, key := range wanted {
		if !known[id(q.Space, key)] {
			return q, fmt.Errorf("no record of space %q has key %q", q.Space, key)
		}
	}
	return q, nil
}

// Recall returns which part of the relevant keys is among those found, from 0 to 1.
// There must be some.
func Recall(found, relevant []string) float64 {
	n := 0
	for _, key := range relevant {
		if slices.Contains(found, key) {
			n++
		}
	}
	return float64(n) / float64(len(relevant))
}
