package rooms

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The jobs of the weekly workflow are the parts of make full.
func TestTheWeeklyWorkflowIsMakeFull(t *testing.T) {
	full := regexp.MustCompile(`(?m)^full: (.+)$`).FindStringSubmatch(read(t, "Makefile"))
	require.NotNil(t, full)
	_, list, ok := strings.Cut(read(t, ".github/workflows/full.yml"), "parts:\n")
	require.True(t, ok)
	list, _, _ = strings.Cut(list, "steps:")
	parts := slices.DeleteFunc(strings.Fields(list), func(s string) bool { return s == "-" })
	require.ElementsMatch(t, strings.Fields(full[1]), parts)
}

// The workflow of each change runs both supported releases of Go: that of go.mod, and the other of
// the Makefile.
func TestTheWorkflowHasBothReleasesOfGo(t *testing.T) {
	is := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(read(t, "go.mod"))
	other := regexp.MustCompile(`(?m)^OTHER_GO \?= go(\d+\.\d+)`).FindStringSubmatch(read(t, "Makefile"))
	require.NotNil(t, is)
	require.NotNil(t, other)
	workflow := read(t, ".github/workflows/ci.yml")
	for _, pair := range [][2]string{{is[1], other[1]}, {other[1], is[1]}} {
		require.Regexp(t, `go: "`+pair[0]+`", other: go`+pair[1]+`\.\d`, workflow)
	}
}
