package expvar_test

import (
	"encoding/json"
	stdlib "expvar"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/metrics/expvar"
)

// What is published is JSON.
func TestTheVariableIsJSON(t *testing.T) {
	var db cow.DB
	rows := cow.NewTable[string](&db, "rows", cow.Options[int]{})
	db.Retain(cow.Retention{Versions: 2})
	for i := range 5 {
		_, err := rows.Set("a", i)
		require.NoError(t, err)
	}
	require.NoError(t, db.Pin("p", 3))
	expvar.Publish("json", &db)
	var is map[string]any
	require.NoError(t, json.Unmarshal([]byte(stdlib.Get("json").String()), &is))
	require.Equal(t, db.Lineage().ID, is["Lineage"])
	require.EqualValues(t, 5, is["Version"])
	require.EqualValues(t, 1, is["Rows"])
	require.EqualValues(t, 2, is["Retained"])
	require.EqualValues(t, 1, is["Pins"])
	require.Equal(t, "", is["Sink"].(map[string]any)["State"], "it has none")

	require.Panics(t, func() { expvar.Publish("nil", nil) })
}
