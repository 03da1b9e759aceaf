package main

import (
	"fmt"

	"github.com/cowstore/cowstore/cow"
)

// A pageCache keeps pages that take long to make, until their user changes. Each has a path,
// such as "ada/profile".
type pageCache struct {
	db      cow.DB
	pages   *cow.Table[string, string]
	byPath  *cow.Index[string, string, string]
	changes *cow.Table[string, string] // the last change of each user
}

func newPageCache() *pageCache {
	c := new(pageCache)
	c.pages = cow.NewTable[string](&c.db, "pages", cow.Options[string]{})
	c.byPath = cow.NewOrder(c.pages, "path")
	c.changes = cow.NewTable[string](&c.db, "changes", cow.Options[string]{})
	return c
}

// get returns a page of a user, and calls render if there is none. The update that stores the
// page looks whether the user has changed since the page was begun. If so, it stores nothing.
func (c *pageCache) get(user, page string, render func() string) (string, error) {
	path, before := user+"/"+page, c.db.Load()
	if text, ok := c.pages.In(before).Get(path); ok {
		return text, nil
	}
	text := render() // slow, and outside of the update: no writer waits for it
	return text, c.db.Update(func(tx *cow.Tx) error {
		// A table's During takes the transaction, and has the map as it is in the update.
		if c.changes.During(tx).Revision(user) == c.changes.In(before).Revision(user) {
			c.pages.Edit(tx).Set(path, text)
		}
		return nil
	})
}

// invalidate drops all pages of a user in one update.
func (c *pageCache) invalidate(user, why string) (n int, err error) {
	err = c.db.Update(func(tx *cow.Tx) error {
		// An index's During takes the editor of its table, through which Delete deletes.
		n = c.byPath.During(c.pages.Edit(tx)).Prefix(user + "/").Delete()
		c.changes.Edit(tx).Set(user, why)
		return nil
	})
	return n, err
}

// cache shows a cache that never keeps a page that is out of date.
func cache() error {
	c, name := newPageCache(), "Ada"
	show := func(page string) error {
		how := "from the cache"
		text, err := c.get("ada", page, func() string { how = "made"; return page + " of " + name })
		fmt.Printf("%s: %q, %s\n", page, text, how)
		return err
	}
	for _, page := range []string{"profile", "profile", "orders"} {
		if err := show(page); err != nil {
			return err
		}
	}

	name = "Lady Lovelace"
	n, err := c.invalidate("ada", "has another name")
	if err != nil {
		return err
	}
	fmt.Println(n, "pages dropped")

	// The user changes while a page is made: it is out of date when it is done.
	var failed error
	text, err := c.get("ada", "orders", func() string {
		was := name
		name = "Countess Lovelace"
		_, failed = c.invalidate("ada", "has another name again")
		return "orders of " + was
	})
	if err != nil || failed != nil {
		return fmt.Errorf("orders: %w, %w", err, failed)
	}
	fmt.Printf("orders: %q, made too late, and not kept\n", text)
	return show("orders")
}
