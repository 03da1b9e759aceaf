package inspect

import (
	"net/url"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Each text has one segment, which a browser and a mux leave as it is, and each segment one text.
func FuzzSegments(f *testing.F) {
	for _, text := range []string{"", "a", ".", "..", "~", "~~", "~2E", "/", "%2e", "ä", "\xff", "a.b", "A-Z_9"} {
		f.Add(text)
	}
	sealer := newSealer([]byte("secret"))
	f.Fuzz(func(t *testing.T, text string) {
		s := escape(text)
		require.NotEmpty(t, s)
		require.NotContains(t, s, "/")
		is, ok := unescape(s)
		require.True(t, ok)
		require.Equal(t, text, is)
		u, err := url.Parse("http://h/x/" + s + "/y")
		require.NoError(t, err)
		require.Equal(t, "/x/"+s+"/y", u.EscapedPath())
		require.Equal(t, "/x/"+s+"/y", path.Clean(u.Path))

		if other, ok := unescape(text); ok {
			require.Equal(t, text, escape(other), "there is no second one")
		}
		sealed := sealer.seal(text)
		is, ok = sealer.open(sealed)
		require.True(t, ok)
		require.Equal(t, text, is)
		require.Equal(t, sealed, sealer.seal(text))
		if len(text) > 3 {
			require.NotContains(t, sealed, text)
		}
		_, ok = sealer.open(text)
		require.False(t, ok)
		_, ok = sealer.open(strings.ToUpper(sealed) + "x")
		require.False(t, ok)
		_, ok = newSealer([]byte("other")).open(sealed)
		require.False(t, ok)
	})
}

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"a": "a", "": `""`, " a": `" a"`, "a\nb": `"a\nb"`, "\u202eb": `"\u202eb"`, "\xff": `"\xff"`, `"`: `"\""`, "ä 😀": "ä 😀",
		"äääääääääää": "äääää… (22 bytes)",
	} {
		require.Equal(t, want, printable(text, 10))
	}
	require.Equal(t, "a\n\tb\\u0000\\u202e", block("a\n\tb\x00\u202e", 100))
	require.Equal(t, "ab… (4 bytes)", block("abcd", 2))
	require.Equal(t, "-1\u202f234\u202f567", number(-1234567).Text)
	require.Equal(t, "123", number(123).Text)
	require.Equal(t, "1.5 KiB", size(1536).Text)
	require.Equal(t, "not known", moment(time.Time{}).Text)
}
