package filter

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/memory/value"
	"github.com/cowstore/cowstore/snapshot/snapshottest/deeptest"
)

// A constant of more than a thousand levels is refused, and makes erroneous what it is in.
func TestDeepValues(t *testing.T) {
	deeptest.RequireAll(t, strings.Fields("Field.Contains Field.Eq Field.Gt Field.Gte Field.In Field.Lt Field.Lte Field.Ne Filter.Err Not"), map[string]string{
		"it takes a value, which has no more levels": "Filter.Match",
		"it is of filters, or texts":                 "And Created Expires Field.Exists Field.String Meta Or Updated Val ValidAt",
	})
	var deep any
	for range 2000 {
		deep = []any{deep}
	}
	at := Val("a")
	for _, f := range []Filter{at.Eq(deep), at.Ne(deep), at.Gt(deep), at.Gte(deep), at.Lt(deep), at.Lte(deep), at.Contains(deep), Meta("a").In(1, deep), Not(at.In(deep))} {
		require.ErrorIs(t, f.Err(), value.ErrTooDeep)
		require.ErrorIs(t, f.Err(), ErrInvalid)
	}
}
