package memory_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/filter"
	"github.com/cowstore/cowstore/memory/value"
	"github.com/cowstore/cowstore/snapshot"
	"github.com/cowstore/cowstore/snapshot/view"
)

// The zero value of each exported type can be used, or says what makes one that can.
func TestNoZeroValueFailsWithoutAWord(t *testing.T) {
	for _, zero := range []any{
		new(memory.Memory), memory.Space{}, memory.Snapshot{}, memory.SpaceSnapshot{}, memory.Typed[int]{}, new(memory.Batch),
		new(memory.Editor), memory.Change{}, memory.Conflict{}, memory.Entry{}, memory.Hit{}, filter.Filter{}, memory.Value{},
		filter.Field{}, memory.Item{}, memory.Match{}, memory.TypedEntry[int]{}, memory.TypedHit[int]{},
		value.Kind(0), memory.ChangeKind(0), memory.Metric(0), new(memory.MergeError),
		new(cow.DB), new(cow.Table[int, int]), new(cow.Index[int, int, int]), new(cow.Tx),
		new(cow.Snapshot), cow.Range[int, int, int]{}, cow.Views[int, int, view.Cloned[int]]{}, new(cow.Commit),
		cow.Lineage{}, cow.Stats{}, cow.Retention{}, new(cow.IndexError), snapshot.Kind(0),
	} {
		v := reflect.ValueOf(zero)
		for i := range v.NumMethod() {
			if name := v.Type().Method(i).Name; name != "Format" { // which package fmt calls
				callZero(t, fmt.Sprintf("%v.%s", v.Type(), name), v.Method(i))
			}
		}
	}
}

// callZero calls a method, and iterates over what it returns.
func callZero(t *testing.T, name string, f reflect.Value) {
	defer func() {
		if r := recover(); r != nil {
			require.Regexp(t, "^(memory|cow): ", fmt.Sprint(r), name)
		}
	}()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	var args []reflect.Value
	for i := range f.Type().NumIn() {
		if !f.Type().IsVariadic() || i < f.Type().NumIn()-1 {
			args = append(args, argument(f.Type().In(i), ctx))
		}
	}
	for _, out := range f.Call(args) {
		if out.Kind() == reflect.Func && !out.IsNil() {
			var args []reflect.Value
			for i := range out.Type().NumIn() {
				args = append(args, argument(out.Type().In(i), ctx))
			}
			out.Call(args)
		}
	}
}

// argument returns one that a method may have: a zero value that is not nil.
func argument(t reflect.Type, ctx context.Context) reflect.Value {
	switch {
	case t == reflect.TypeFor[context.Context]():
		return reflect.ValueOf(ctx)
	case t == reflect.TypeFor[*cow.Editor[int, int]]():
		return reflect.ValueOf(cow.New[int](cow.Options[int]{}).Load().Edit())
	case t == reflect.TypeFor[*cow.Snapshot]():
		return reflect.Zero(t) // which is a snapshot
	case t.Kind() == reflect.Pointer:
		return reflect.New(t.Elem())
	case t.Kind() == reflect.Interface && reflect.TypeFor[*strings.Builder]().Implements(t) && t.NumMethod() > 0:
		return reflect.ValueOf(new(strings.Builder))
	case t.Kind() == reflect.Interface && reflect.TypeFor[*strings.Reader]().Implements(t) && t.NumMethod() > 0:
		return reflect.ValueOf(strings.NewReader(""))
	case t.Kind() == reflect.Interface && reflect.TypeFor[*cow.Table[int, int]]().Implements(t):
		return reflect.ValueOf(cow.New[int](cow.Options[int]{}))
	case t.Kind() == reflect.Func:
		return reflect.MakeFunc(t, func([]reflect.Value) (out []reflect.Value) {
			for i := range t.NumOut() {
				out = append(out, reflect.Zero(t.Out(i)))
			}
			return out
		})
	}
	return reflect.Zero(t)
}
