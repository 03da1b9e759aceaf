package etcd

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A timeout that is meant to be none does not become a short one.
func TestTimeouts(t *testing.T) {
	for d, want := range map[time.Duration]time.Duration{
		0: time.Second, -1: time.Second, time.Minute: time.Minute, math.MaxInt64: time.Hour,
	} {
		r := replica(Options{Timeout: d})
		for attempt := range 100 {
			require.GreaterOrEqual(t, r.patience(attempt), want)
		}
		require.Equal(t, want, r.patience(0))
	}
}
