package main

import (
	"errors"
	"fmt"

	"github.com/cowstore/cowstore/cow"
)

// undo shows how to take one update back, and to keep what came later.
func undo() error {
	notes := cow.New[string](cow.Options[string]{})
	db := notes.DB()
	db.Retain(cow.Retention{Versions: 100}) // how far back it goes

	// takeBack undoes one version, by a merge backwards: base is the snapshot after it, theirs the
	// one before. That is itself a version, so that takeBack of the newest twice is undo and redo.
	// To go back several steps, keep the versions in a stack of your own, and pop it.
	takeBack := func(version uint64) error {
		if version == 0 {
			return errors.New("nothing to undo")
		}
		before, err := db.At(version - 1)
		if err != nil {
			return err
		}
		after, err := db.At(version)
		if err != nil {
			return err
		}
		_, err = db.Merge(after, before)
		return err
	}
	show := func(title string) {
		fmt.Println(title)
		for _, key := range []string{"milk", "tea"} {
			text, ok := notes.Get(key)
			fmt.Printf("  %s: %q %v\n", key, text, ok)
		}
	}

	if _, err := notes.Set("milk", "two bottles"); err != nil {
		return err
	}
	mistake, err := notes.Delete("milk")
	if err != nil {
		return err
	}
	if _, err := notes.Set("tea", "green"); err != nil { // comes later, and stays
		return err
	}
	show("after a mistake:")
	if err := takeBack(mistake); err != nil {
		return err
	}
	show("without it:")

	// To redo is to undo what undid it.
	if err := takeBack(db.Load().Version()); err != nil {
		return err
	}
	show("with it again:")

	// What has been written since is not lost: that is a conflict, and nothing happens.
	if _, err := notes.Set("milk", "one bottle"); err != nil {
		return err
	}
	err = takeBack(mistake)
	fmt.Println("a conflict:", errors.Is(err, cow.ErrConflict))
	fmt.Println(" ", err)
	show("and nothing happened:")
	return nil
}
