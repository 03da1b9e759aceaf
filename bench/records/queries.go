package records

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// A Query is a question to one space: for what is under a key, or which texts
// match.
type Query struct {
	Space    []string
	Key      string   // if Text is empty
	Text     string   // to be searched for; empty: a lookup of Key
	Relevant []string // the keys of what a search for Text has to find
}

// The errors of Queries, to be tested with errors.Is.
var (
	// ErrMalformed says that a line is no query. The error says which one and
	// why.
	ErrMalformed = errors.New("malformed query")

	// ErrNoQueries says that there is nothing but empty lines.
	ErrNoQueries = errors.New("no queries")
)

// maxLine is how long a line may be, without its end.
const maxLine = 1 << 20

// Queries returns the queries that r has, as JSON Lines, in their order:
//
//	{"space":["user","42"],"key":"name"}
//	{"space":["user","42"],"text":"train to Lyon","relevant":["trip","seat"]}
//
// Empty lines are skipped. A line that is not such a query, has other members or one
// twice, or is longer than 1 MiB, is an error that wraps ErrMalformed. So is a
// query for what is not among the records: a space, a key, or a relevant one.
// Queries also returns the errors of r, and ErrNoQueries.
func Queries(r io.Reader, records []Record) ([]Query, error) {
	known := make(keys)
	for i := range records {
		known.add(&records[i])
	}
	var all []Query
	in := bufio.NewReaderSize(r, maxLine+1)
	for n, last := 1, false; !last; n++ {
		line, err := in.ReadSlice('\n')
		last = err == io.EOF
		switch {
		case err == bufio.ErrBufferFull:
			return nil, fmt.Errorf("records: line %d: %w: longer than %d bytes", n, ErrMalformed, maxLine)
		case err != nil && !last:
			return nil, fmt.Errorf("records: line %d: %w", n, err)
		case len(bytes.TrimSpace(line)) == 0:
			continue
		}
		q, err := parse(line)
		if err == nil {
			err = known.check(&q)
		}
		if err != nil {
			return nil, fmt.Errorf("records: line %d: %w: %w", n, ErrMalformed, err)
		}
		all = append(all, q)
	}
	if len(all) == 0 {
		return nil, ErrNoQueries
	}
	return all, nil
}

// keys are the keys of records, by space.
type keys map[string]map[string]bool

func spaceName(path []string) string { return fmt.Sprintf("%q", path) }

func (k keys) add(r *Record) {
	name := spaceName(r.Space)
	if k[name] == nil {
		k[name] = make(map[string]bool)
	}
	k[name][r.Key] = true
}

// check returns an error if q is for what is not there.
func (k keys) check(q *Query) error {
	space, ok := k[spaceName(q.Space)]
	if !ok {
		return fmt.Errorf("no record is in space %q", q.Space)
	}
	wanted := q.Relevant
	if q.Text == "" {
		wanted = []string{q.Key}
	}
	for _, key := range wanted {
		if !space[key] {
			return fmt.Errorf("no record of space %q has key %q", q.Space, key)
		}
	}
	return nil
}
