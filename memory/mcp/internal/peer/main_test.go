package peer

import (
	"flag"
	"os"
	"testing"
)

var long = flag.Bool("long", false, "kill processes for minutes")

// times returns how often to do something.
func times(short, inLong int) int {
	if *long {
		return inLong
	}
	return short
}

func TestMain(m *testing.M) { os.Exit(m.Run()) }
