package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/cowstore/cowstore/cow"
)

// resume shows a consumer of commits that stops, goes on where it was, and notices when that is
// too long ago.
func resume() error {
	jobs := cow.New[string](cow.Options[string]{})
	db := jobs.DB()
	db.Retain(cow.Retention{Versions: 3}) // how far a consumer may fall behind
	set := func(key string, states ...string) error {
		for _, state := range states {
			if _, err := jobs.Set(key, state); err != nil {
				return err
			}
		}
		return nil
	}

	// consume shows all commits after a cursor, and returns that of the last one. It would wait
	// for more, if it did not stop at the current version.
	consume := func(cursor string) (string, error) {
		now := db.Load().Version()
		for commit, err := range db.Resume(context.Background(), cursor) {
			if err != nil {
				return cursor, err
			}
			for c := range jobs.Rows(commit) {
				state, _ := c.New()
				fmt.Println(" ", commit.Version(), c.Key, state)
			}
			cursor = commit.Cursor() // a text: keep it wherever the consumer keeps its own state
			if commit.Version() == now {
				break
			}
		}
		return cursor, nil
	}

	cursor := db.Cursor(0)
	if err := set("build", "queued", "running"); err != nil {
		return err
	}
	fmt.Println("from the beginning:")
	cursor, err := consume(cursor)
	if err != nil {
		return err
	}
	if err := set("build", "done"); err != nil {
		return err
	}
	fmt.Println("after a pause:")
	if cursor, err = consume(cursor); err != nil {
		return err
	}

	if err := set("test", "queued", "running", "failed", "running", "done"); err != nil {
		return err
	}
	fmt.Println("after a long pause:")
	if _, err = consume(cursor); !errors.Is(err, cow.ErrCompacted) {
		return fmt.Errorf("it should be too late: %w", err)
	}
	fmt.Println("  the commits are gone: begin again with all rows")
	all := jobs.Load()
	for _, key := range []string{"build", "test"} {
		state, _ := all.Get(key)
		fmt.Println(" ", all.Version(), key, state)
	}
	if err := set("build", "archived"); err != nil {
		return err
	}
	fmt.Println("and from there:")
	_, err = consume(db.Cursor(all.Version()))
	return err
}
