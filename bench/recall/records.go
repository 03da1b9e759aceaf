package recall

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/cowstore/cowstore/memory"
)

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
func Example() (memory.Snapshot, []Query, error) {
	return read(example.ReadFile, "testdata/assistant.jsonl", "testdata/assistant.queries.jsonl")
}

// Read returns the records of a file of JSON Lines as memory exports them, and the queries
// of another:
//
//	{"space":["user","42"],"key":"name"}
//	{"space":["user","42"],"text":"train to Lyon","relevant":["trip","seat"]}
//
// A query for what is not among the records is an error. Errors name the file, and the line.
func Read(records, queries string) (memory.Snapshot, []Query, error) {
	return read(os.ReadFile, records, queries)
}

func read(file func(name string) ([]byte, error), records, queries string) (s memory.Snapshot, all []Query, err error) {
	data, err := file(records)
	if err != nil {
		return s, nil, err
	}
	m := memory.New(memory.Options{NoText: true})
	if _, err := m.Import(context.Background(), bytes.NewReader(data)); err != nil {
		return s, nil, fmt.Errorf("%s: %w", records, err)
	}
	if data, err = file(queries); err != nil {
		return s, nil, err
	}
	s = m.Load()
	for i, line := range bytes.Split(data, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		q, err := parse(line, s)
		if err != nil {
			return s, nil, fmt.Errorf("%s: line %d: %w", queries, i+1, err)
		}
		all = append(all, q)
	}
	if len(all) == 0 {
		return s, nil, fmt.Errorf("%s: no queries", queries)
	}
	return s, all, nil
}

func parse(line []byte, s memory.Snapshot) (q Query, err error) {
	var has struct {
		Space     *[]string
		Key, Text *string
		Relevant  []string
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&has); err != nil {
		return q, err
	}
	var wanted []string
	switch {
	case d.More():
		return q, errors.New("more than one value")
	case has.Space == nil:
		return q, errors.New("no space")
	case has.Key != nil && has.Text == nil && has.Relevant == nil:
		q, wanted = Query{Space: *has.Space, Key: *has.Key}, []string{*has.Key}
	case has.Key == nil && has.Text != nil && strings.TrimSpace(*has.Text) != "" && len(has.Relevant) > 0:
		q, wanted = Query{Space: *has.Space, Text: *has.Text, Relevant: has.Relevant}, has.Relevant
	default:
		return q, errors.New("a query has a key, or else a text and what is relevant to it")
	}
	for _, key := range wanted {
		if _, ok := s.Space(q.Space...).Get(key); !ok {
			return q, fmt.Errorf("no record of space %q has key %q", q.Space, key)
		}
	}
	return q, nil
}

// Recall returns which part of the relevant keys is among those found, from 0 to 1.
// There must be some.
func (q Query) Recall(found []string) float64 {
	n := 0
	for _, key := range q.Relevant {
		if slices.Contains(found, key) {
			n++
		}
	}
	return float64(n) / float64(len(q.Relevant))
}
