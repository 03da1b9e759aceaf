package local

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/mcp/internal/store"
	"github.com/cowstore/cowstore/memory/mcp/internal/tool"
	"github.com/cowstore/cowstore/memory/value"
	"github.com/cowstore/cowstore/memory/vector"
)

// A call is one request under way.
type call struct {
	*Store
	store.Request
	ctx  context.Context
	tool *tool.Tool
}

// ops are what tools do, by their names.
var ops map[string]func(c *call) (any, error)

func init() { // they reach Do themselves
	ops = map[string]func(c *call) (any, error){
		"create_entities":     (*call).createEntities,
		"create_relations":    (*call).createRelations,
		"add_observations":    (*call).addObservations,
		"delete_entities":     (*call).deleteEntities,
		"delete_observations": (*call).deleteObservations,
		"delete_relations":    (*call).deleteRelations,
		"read_graph":          (*call).readGraph,
		"search_nodes":        (*call).searchNodes,
		"open_nodes":          (*call).openNodes,
		"remember":            (*call).remember,
		"recall":              (*call).recall,
		"forget":              (*call).forget,
		tool.Erase:            (*call).erase,
		"history":             (*call).history,
		"changes":             (*call).changes,
		"undo":                (*call).undo,
		"fork":                (*call).fork,
	}
}

// Do answers one request; see store.Store.
func (s *Store) Do(ctx context.Context, r store.Request) (json.RawMessage, error) {
	if s.closed.Load() {
		return nil, store.ErrClosed
	}
	t, ok := tool.Get(r.Op)
	if !ok {
		return nil, store.Errorf(store.Invalid, "there is no tool %.100q", r.Op)
	}
	if err := checkName("the namespace", r.Namespace, maxNamespace); err != nil {
		return nil, err
	}
	if err := checkName("the id of the request", r.ID, maxName); err != nil {
		return nil, err
	}
	if t.Writes() {
		n := int64(1)
		if r.Op == tool.Erase {
			n = alone
		}
		if s.writing.Acquire(ctx, n) != nil {
			return nil, context.Cause(ctx)
		}
		defer s.writing.Release(n)
	}
	result, err := ops[r.Op](&call{s, r, ctx, t})
	if err != nil {
		return nil, translate(err)
	}
	return marshal(result)
}

// translate returns an error that the store knows: one for the client where it is about
// what the client asked for.
func translate(err error) error {
	var known *store.Error
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, cow.ErrClosed):
		return fmt.Errorf("%w: %w", store.ErrClosed, err)
	case errors.Is(err, memory.ErrDimension), errors.Is(err, vector.ErrEmpty), errors.Is(err, vector.ErrNotFinite), errors.Is(err, vector.ErrZero):
		return store.Errorf(store.Invalid, "the vector cannot be used: %s", reason(err))
	case errors.Is(err, value.ErrUnsupported), errors.Is(err, value.ErrTooDeep):
		return store.Errorf(store.Invalid, "this cannot be stored: %s", reason(err))
	case errors.Is(err, cow.ErrCompacted):
		return store.Errorf(store.Gone, "the past that this needs is no longer kept")
	}
	return err
}

// reason returns the text of an error of package memory, without the space and the key: the
// spaces are this package's own.
func reason(err error) string {
	text := err.Error()
	if key, ok := errors.AsType[*memory.KeyError](err); ok {
		text = key.Err.Error()
	}
	for _, known := range []error{memory.ErrDimension, vector.ErrEmpty, vector.ErrNotFinite, vector.ErrZero} {
		if i := strings.Index(text, strings.TrimPrefix(known.Error(), "vector: ")); i >= 0 {
			return text[i:]
		}
	}
	return strings.TrimPrefix(text, "memory: ")
}

// decode decodes the arguments of a call.
func decode[T any](c *call) (args T, err error) {
	if err := c.tool.Decode(c.Args, &args); err != nil {
		return args, store.Errorf(store.Invalid, "%s: %v", c.Op, err)
	}
	return args, nil
}

func marshal(result any) (json.RawMessage, error) {
	if raw, ok := result.(json.RawMessage); ok {
		return raw, nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(result); err != nil {
		return nil, fmt.Errorf("the result is not JSON: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// last is the latest time that now has given out.
var last atomic.Int64

// now returns the time in nanoseconds, above all that it has returned before, so that it
// orders what is made.
func now() int64 {
	for {
		was := last.Load()
		is := max(time.Now().UnixNano(), was+1)
		if last.CompareAndSwap(was, is) {
			return is
		}
	}
}
