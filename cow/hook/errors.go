package hook

import "errors"

// The Err of an Update whose caller gets no error.
var (
	// ErrPanicked says that a function which the update calls has panicked, or has called
	// runtime.Goexit: its own, one that it deferred, a method of its context, or another hook. If
	// the Update has a Version, it is published nonetheless.
	ErrPanicked = errors.New("a function of the update has not returned")

	// ErrAborted says that the transaction ended by Abort, or was dropped.
	ErrAborted = errors.New("the transaction was aborted")
)
