package cow_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/snapshot"
	"github.com/stretchr/testify/require"
)

func Example_readme() {
	type Profile struct {
		Name string
		Tags []string
	}
	users := cow.New[string](cow.Options[Profile]{})
	tags := []string{"admin"}
	users.Set("ada", Profile{"Ada", tags})
	tags[0] = "spoiled" // the store has its own copy

	old := users.Load() // one atomic load; valid forever

	err := users.Update(func(e *cow.Editor[string, Profile]) error {
		if err := e.Modify("ada", func(p *Profile) error {
			p.Tags = append(p.Tags, "owner")
			return nil
		}); err != nil {
			return err // nothing happened
		}
		return e.Insert("bob", Profile{Name: "Bob"})
	}) // both, in one swap
	fmt.Println(err, users.Load().Len(), old.Len())

	before, _ := old.Get("ada")
	after, _ := users.Get("ada")
	fmt.Println(before.Tags, after.Tags)

	for c := range users.Load().Diff(old) {
		if c.Kind == snapshot.Added {
			fmt.Println("added", c.Key)
		}
	}
	// Output:
	// <nil> 2 1
	// [admin] [admin owner]
	// added bob
}

func Example_readmeTables() {
	var db cow.DB
	counts := cow.NewTable[string](&db, "counts", cow.Options[int]{})
	rows := cow.NewTable[int](&db, "rows", cow.Options[string]{})

	_ = db.Update(func(tx *cow.Tx) error {
		rows.Edit(tx).Set(1, "first")
		return counts.Edit(tx).Upsert("rows", func(n *int, _ bool) error { *n++; return nil })
	})

	now := db.Load() // both tables at one version
	n, _ := counts.In(now).Get("rows")
	fmt.Println(now.Version(), n, rows.In(now).Len())
	// Output: 1 1 1
}

// Every Go snippet of the README stands in this file, where it is compiled and
// its output checked.
func TestReadmeSnippetsAreCompiled(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	source, err := os.ReadFile("readme_test.go")
	require.NoError(t, err)
	flat := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	parts := strings.Split(string(readme), "```go\n")
	require.Greater(t, len(parts), 2, "README.md has lost its snippets")
	for _, part := range parts[1:] {
		snippet, _, found := strings.Cut(part, "```")
		require.True(t, found, "a snippet is not closed")
		require.Contains(t, flat(string(source)), flat(snippet))
	}
}
