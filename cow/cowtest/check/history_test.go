package check

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/cowstore/cowstore/cow"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long porcupine may take for a history. It takes a tenth of a second where
// there is an order, many times that on a machine that does much else, and longer to find
// that there is none.
const patience = 2 * time.Minute

// verdict says whether a history agrees with the model.
func verdict(history []porcupine.Operation) porcupine.CheckResult {
	return porcupine.CheckOperationsTimeout(model, history, patience)
}

// explain says where the order of a history that does not agree with the model ends: after
// which state, and which operations do not go on from there.
func explain(history []porcupine.Operation) string {
	_, info := porcupine.CheckOperationsVerbose(model, history, patience)
	var longest []porcupine.Operation
	for _, ops := range slices.Concat(info.PartialLinearizationsOperations()...) {
		if len(ops) > len(longest) {
			longest = ops
		}
	}
	s, done := new(state), make(map[any]bool)
	for _, op := range longest {
		_, s = s.step(op.Input.(*input), op.Output.(*output))
		done[op.Input] = true
	}
	text := fmt.Sprintf("after %d operations, at %v, none of these is next:", len(longest), *s)
	left := slices.DeleteFunc(byCall(history), func(op porcupine.Operation) bool { return done[op.Input] })
	for _, op := range left[:min(len(left), clients)] {
		text += "\n" + model.DescribeOperation(op.Input, op.Output)
	}
	return text
}

// byCall returns the operations in the order in which they began.
func byCall(history []porcupine.Operation) []porcupine.Operation {
	return slices.SortedFunc(slices.Values(history), func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
}

// overlapping returns how many operations began before an earlier one had ended.
func overlapping(history []porcupine.Operation) (n int) {
	end := int64(0)
	for _, op := range byCall(history) {
		if op.Call < end {
			n++
		}
		end = max(end, op.Return)
	}
	return n
}

// Whatever six goroutines do to a store at once, there is an order in which it is what the
// model does.
func TestHistories(t *testing.T) {
	histories, ops := 34, 10_000
	if testing.Short() {
		histories, ops = 4, 1500
	}
	for name, newTarget := range targets {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			type end struct {
				kind kind
				err  error
			}
			ends := map[end]int{}
			for seed := range histories {
				var kept cow.Retention
				if seed%2 == 0 { // a store publishes in another way where there is a history
					kept.Versions = 1000
				}
				store := newTarget(t, kept)
				history := record(ops, uint64(seed), func(*client) *target { return store })
				require.GreaterOrEqual(t, len(history), ops-clients)
				require.Greater(t, overlapping(history), ops/20, "operations at the same time")
				if v := verdict(history); v != porcupine.Ok {
					require.Failf(t, string(v), "history %d: %s", seed, explain(history))
				}
				for _, op := range history {
					ends[end{op.Input.(*input).kind, op.Output.(*output).err}]++
				}
			}
			for _, e := range []end{{wait, nil}, {insert, nil}, {insert, cow.ErrExists}, {setIf, nil}, {setIf, cow.ErrRevision},
				{modify, cow.ErrNotFound}, {abort, errAbort}, {merge, nil}, {merge, cow.ErrConflict}} {
				require.NotZero(t, ends[e], "%s that returned %v", kindNames[e.kind], e.err)
			}
			require.Equal(t, name == "Sink", ends[end{set, errRefused}] > 0)
		})
	}
}
