package hook_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime/trace"
	"time"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/hook"
)

// counter counts updates. It implements hook.UpdateEnd, and need not
// implement anything else.
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
	_ = users.DB().Update(func(*cow.Tx) error {
		return errors.New("not today")
	})
	fmt.Println(c.published, "published,", c.failed, "failed")
	// Output:
	// 1 published, 1 failed
}

// A line for each update that fails, or is slow: here all are, as they take a nanosecond.
func ExampleLog() {
	users := cow.New[string](cow.Options[int]{})
	log := slog.New(slog.NewTextHandler(os.Stdout,
		&slog.HandlerOptions{ReplaceAttr: withoutTimes})) // for the example
	remove := users.DB().AddHook(hook.Log(log, time.Nanosecond))
	defer remove()

	_, _ = users.Set("ada", 36)
	_ = users.DB().Update(func(*cow.Tx) error {
		return errors.New("not today")
	})
	// Output:
	// level=WARN msg=update sink=0s version=1 "table .rows"=1
	// level=WARN msg=update sink=0s err="not today"
}

// A trace of the last seconds, written when something was slow, has a region for each update.
func ExampleTrace() {
	users := cow.New[string](cow.Options[int]{})
	remove := users.DB().AddHook(hook.Trace())
	defer remove()

	last := trace.NewFlightRecorder(trace.FlightRecorderConfig{})
	if err := last.Start(); err != nil {
		fmt.Println(err)
		return
	}
	defer last.Stop()
	_, _ = users.Set("ada", 36)

	var written bytes.Buffer // to be read by go tool trace
	_, err := last.WriteTo(&written)
	fmt.Println(bytes.Contains(written.Bytes(), []byte("cow.Update")), err)
	// Output: true <nil>
}
