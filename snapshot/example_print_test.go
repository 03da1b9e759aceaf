package snapshot_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"

	"github.com/cowstore/cowstore/snapshot"
)

// A map marshals as a Go map does, its keys in the order of texts. To load one, decode a Go map.
func ExampleMap_MarshalJSON() {
	m, _ := snapshot.Collect(snapshot.Options[[]string]{},
		maps.All(map[int][]string{10: {"ten"}, 9: nil}))
	text, err := json.Marshal(m)
	fmt.Println(string(text), err)

	var rows map[int][]string
	err = json.Unmarshal(text, &rows)
	again, _ := snapshot.Collect(snapshot.Options[[]string]{}, maps.All(rows))
	fmt.Println(again, err)
	// Output:
	// {"10":["ten"],"9":null} <nil>
	// snapshot@1 (2 rows) <nil>
}

// A change prints as its kind and key; JSON has its values too.
func ExampleChange_MarshalJSON() {
	old, _ := snapshot.Collect(snapshot.Options[int]{},
		maps.All(map[string]int{"ada": 1}))
	e := old.Edit()
	e.Set("ada", 2)
	for c := range e.Seal().Diff(old) {
		fmt.Println(c)
		_ = json.NewEncoder(os.Stdout).Encode(c)
	}
	// Output:
	// changed "ada"
	// {"key":"ada","kind":"changed","old":1,"new":2}
}
