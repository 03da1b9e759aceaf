package hook

import "errors"

// The errors of an Update whose caller gets none.
var (
	// ErrPanicked says that the function of the update, one that it deferred, or a hook at its
	// start panicked, or called runtime.Goexit.
	ErrPanicked = errors.New("a function of the update has not returned")

	// ErrAborted says that the transaction ended by Abort, or was dropped.
	ErrAborted = errors.New("the transaction was aborted")
)
