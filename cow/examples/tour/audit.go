package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/cowstore/cowstore/cow"
)

// audit shows who changed what, and what it was before: the reason of an update is a row that
// the same update writes.
func audit() error {
	var db cow.DB
	settings := cow.NewTable[string](&db, "settings", cow.Options[string]{})
	reasons := cow.NewTable[string](&db, "reasons", cow.Options[string]{})
	db.Retain(cow.Retention{Versions: 1000})

	change := func(who, why string, rows ...[2]string) error {
		return db.Update(func(tx *cow.Tx) error {
			for _, r := range rows {
				settings.Edit(tx).Set(r[0], r[1])
			}
			reasons.Edit(tx).Set("last", who+": "+why)
			return nil
		})
	}
	if err := change("ada", "first day", [2]string{"mail", "ada@example.com"}, [2]string{"limit", "10"}); err != nil {
		return err
	}
	if err := change("bob", "too many complaints", [2]string{"limit", "100"}); err != nil {
		return err
	}

	show := func() error {
		for commit, err := range db.Commits(0) {
			if err != nil {
				return err
			}
			for c := range reasons.Rows(commit) {
				why, _ := c.New()
				fmt.Printf("version %d, %s\n", commit.Version(), why)
			}
			var lines []string
			for c := range settings.Rows(commit) {
				was, _ := c.Old()
				is, _ := c.New()
				lines = append(lines, fmt.Sprintf("  %s %s: %q, was %q", c.Kind, c.Key, is, was))
			}
			for _, line := range slices.Sorted(slices.Values(lines)) {
				fmt.Println(line)
			}
		}
		return nil
	}
	if err := show(); err != nil {
		return err
	}

	first, err := db.At(1) // AsOf takes a time
	if err != nil {
		return err
	}
	limit, _ := settings.In(first).Get("limit")
	fmt.Println("the limit of version 1:", limit)

	// An address must be forgotten: its row leaves every version, and all others stay.
	_, err = db.Erase(context.Background(), func(tx *cow.Tx) error {
		settings.Erase(tx, "mail")
		reasons.Edit(tx).Set("last", "eve: she asked for it")
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Println("without the address:")
	return show()
}
