package records_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/bench/records"
)

func TestRecall(t *testing.T) {
	list := func(keys ...string) []string { return keys }
	for _, c := range []struct {
		found, relevant []string
		want            float64
	}{
		{nil, list("a"), 0},
		{list("b", "c"), list("a"), 0},
		{list("b", "a"), list("a"), 1},
		{list("a", "x", "y", "b"), list("b", "a"), 1},
		{list("a", "x"), list("a", "b"), 0.5},
		{list("a", "a", "a"), list("a", "b", "c", "d"), 0.25},
		{list("a"), list("a", "a", "b"), 0.5},
		{list("b", "a"), list("a", "a", "b", "b"), 1},
		{list(""), list("", "a"), 0.5},
		{list("a"), nil, 0},
		{nil, nil, 0},
	} {
		found, relevant := append([]string{}, c.found...), append([]string{}, c.relevant...)
		require.InDelta(t, c.want, records.Recall(c.found, c.relevant), 0, "%q of %q", c.found, c.relevant)
		require.Equal(t, [][]string{found, relevant}, [][]string{append([]string{}, c.found...), append([]string{}, c.relevant...)})
	}
}
