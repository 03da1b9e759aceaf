package rooms

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// The modules of metrics each list the states that a sink can be in: all that there are.
func TestMetricsHaveAllStatesOfASink(t *testing.T) {
	states := regexp.MustCompile(`(?m)^\t(\w+) +State = "`).FindAllStringSubmatch(read(t, "cow/hook/hook.go"), -1)
	require.NotEmpty(t, states)
	want := `var sinkStates = []hook.State{""`
	for _, s := range states {
		want += ", hook." + s[1]
	}
	for _, file := range []string{"otel/metrics.go", "prometheus/collector.go"} {
		require.Contains(t, read(t, "cow/metrics/"+file), want+"}\n", file)
	}
}
