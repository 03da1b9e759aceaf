package records

import (
	"bytes"
	_ "embed" // the example
)

var (
	//go:embed testdata/assistant.jsonl
	exampleRecords []byte
	//go:embed testdata/assistant.queries.jsonl
	exampleQueries []byte
)

// Example returns the records and queries of a small example: what an assistant
// knows of a few people.
func Example() ([]Record, []Query, error) {
	all, err := Load(bytes.NewReader(exampleRecords))
	if err != nil {
		return nil, nil, err
	}
	queries, err := Queries(bytes.NewReader(exampleQueries), all)
	return all, queries, err
}
