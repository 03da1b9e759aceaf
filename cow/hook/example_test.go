package hook_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/hook"
)

// counter counts updates. It implements hook.UpdateEnd, and need not implement anything else.
type counter struct{ published, failed int }

func (c *counter) OnUpdateEnd(_ context.Context, u hook.Update) {
	switch {
	case u.Err != nil:
		c.failed++
	case u.Version > 0:
		c.published++
	}
}

var _ hook.UpdateEnd = (*counter)(nil)

// A hook of your own implements the interfaces of what it wants to be told.
func Example() {
	users := cow.New[string](cow.Options[int]{})
	c := new(counter)
	remove := users.DB().AddHook(c)
	defer remove()

	_, _ = users.Set("ada", 36)
	_, _ = users.Delete("bob") // changes nothing
	_ = users.DB().Update(func(*cow.Tx) error { return errors.New("not today") })
	fmt.Println(c.published, "published,", c.failed, "failed")
	// Output:
	// 1 published, 1 failed
}
