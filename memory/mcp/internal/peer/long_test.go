package peer

import (
	"flag"
)

var long = flag.Bool("long", false, "kill processes for minutes")

// times returns how often to do something.
func times(short, inLong int) int {
	if *long {
		return inLong
	}
	return short
}
