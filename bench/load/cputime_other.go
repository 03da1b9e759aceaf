//go:build !unix

package load

import "time"

// cpuTime returns the processor time that this process has had, 0 if that
// cannot be told.
func cpuTime() time.Duration { return 0 }
