package snapshottest

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/snapshot/depth"
)

// Printed returns v as the verbs %v, %+v, %#v, %s, %q, %d and %x of package fmt and as
// the text and JSON handlers of log/slog show it, and demands that each has no trace of a
// panic, and does not have the word "secret", and that all but %#v, %d and %x, which may look
// inside of v, are short.
func Printed(t testing.TB, v any) []string {
	t.Helper()
	require.NoError(t, depth.Text.Check(v))
	var all []string
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
		all = append(all, fmt.Sprintf(verb, v))
	}
	var b bytes.Buffer
	slog.New(slog.NewTextHandler(&b, nil)).Info("", "a", v)
	all = append(all, b.String())
	b.Reset()
	slog.New(slog.NewJSONHandler(&b, nil)).Info("", "a", v)
	all = append(all, b.String())
	for i, text := range all {
		if i < 5 && i != 2 || i > 6 {
			require.Less(t, len(text), 600, text)
		}
		require.NotContains(t, strings.ToLower(text), "panic")
		require.NotContains(t, text, "!ERROR")
		require.NotContains(t, text, "secret")
	}
	return all
}
