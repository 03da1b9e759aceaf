package hook

import "errors"

// The errors of an Update whose caller gets none.
var (
	// ErrPanicked says that a function which the update calls has panicked, or has called
	// runtime.Goexit: its own, one that it deferred, a context, or another hook. What has a
	// Version is published nonetheless.
	ErrPanicked = errors.New("a function of the update has not returned")

	// ErrAborted says that the transaction ended by Abort, or was dropped.
	ErrAborted = errors.New("the transaction was aborted")
)
