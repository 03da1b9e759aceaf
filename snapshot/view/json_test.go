package view_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/snapshot/view"
)

type ring struct{ Next *ring }

func TestErrorsOfJSONDoNotLeadToTheValue(t *testing.T) {
	r := &ring{}
	r.Next = r
	_, err := view.JSONOf(view.To(r))
	require.ErrorContains(t, err, "cycle")
	_, found := errors.AsType[*json.UnsupportedValueError](err)
	require.False(t, found)
}

func TestTheZeroClonedIsTheZeroValue(t *testing.T) {
	require.Nil(t, view.Cloned[any]{}.Get())
	require.Zero(t, view.Cloned[[2]int]{}.Get())
}
