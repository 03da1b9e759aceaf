package text

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// tokenize returns the plain words of one text.
func tokenize(text string) Words { return Plain().Tokenize(slices.Values([]string{text})) }

func TestPlain(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{" \t\n.,;!?-–— '\"", nil},
		{"The quick (\"brown\") fox can't jump 32.3 feet, right?",
			[]string{"the", "quick", "brown", "fox", "can't", "jump", "32.3", "feet", "right"}},
		{"go.mod snake_case kebab-case CamelCase", []string{"go.mod", "snake_case", "kebab", "case", "camelcase"}},
		{"ÀÉÎ ΣΊΣΥΦΟΣ ДОМ", []string{"àéî", "σίσυφοσ", "дом"}},
		{"e\u0301te\u0301 \u0301", []string{"été"}},
		{"世界 カタカナ ひら", []string{"世", "界", "カタカナ", "ひ", "ら"}},
		{"안녕하세요 สวัสดี", []string{"안녕하세요", "ส", "วั", "ส", "ดี"}},
		{"👩‍👩‍👧 🇩🇪 ok👍", []string{"ok"}},
		{"½ ٣ Ⅷ", []string{"½", "٣", "ⅷ"}},
		{"a\xffb \xc3 c\xe2\x82", []string{"a", "b", "c"}},
		{"x\x00y", []string{"x", "y"}},
	} {
		var got []string
		for _, w := range tokenize(c.text).terms {
			for range w.count {
				got = append(got, w.term)
			}
		}
		slices.Sort(got)
		slices.Sort(c.want)
		require.Equal(t, c.want, got, "%q", c.text)
	}
}

func TestTokenizeCounts(t *testing.T) {
	w := Plain().Tokenize(slices.Values([]string{"b A b", "a", "", "c b"}))
	require.Equal(t, Words{[]wordCount{{"b", 3, false}, {"a", 2, false}, {"c", 1, false}}, 6, plain}, w)
	// Strings do not run into one another.
	require.Equal(t, []wordCount{{"foo", 1, false}, {"bar", 1, false}}, Plain().Tokenize(slices.Values([]string{"foo", "bar"})).terms)
	// What was counted before leaves no trace.
	require.Equal(t, Words{[]wordCount{{"z", 1, false}}, 1, plain}, tokenize("z"))
}

func TestTokenizeLong(t *testing.T) {
	long := strings.Repeat("a", 63)
	for in, want := range map[string]string{
		long:                          long,
		long + "b":                    long + "b",
		long + "bc":                   long + "b",
		long + "é":                    long, // two bytes, of which one would fit
		strings.Repeat("É", 500):      strings.Repeat("é", 32),
		"x" + strings.Repeat("Ⱥ", 50): "x" + strings.Repeat("ⱥ", 21), // longer in lower case
	} {
		require.Equal(t, []wordCount{{want, 1, false}}, tokenize(in).terms)
		require.True(t, utf8.ValidString(want))
	}
	// Nothing here takes time of the square of its length.
	n := 1 << 18
	if testing.Short() {
		n = 1 << 15
	}
	for _, s := range []string{"a'", "a.", "1,", "א\"", "\u0301", "a\u0301", "\u200d", "\xff", "🇩", "👩\u200d", "a'\u0301"} {
		tokenize(strings.Repeat(s, n))
	}
	tokenize("a'" + strings.Repeat("\u0301", n))
}

func TestTokenizeWeighted(t *testing.T) {
	w := Plain().TokenizeWeighted(func(yield func(string, int) bool) {
		_ = yield("a b", 3) && yield("b c", 1) && yield("d", 0) && yield("e", -1) && yield("f", 1<<30)
	})
	require.Equal(t, Words{[]wordCount{{"a", 3, false}, {"b", 4, false}, {"c", 1, false}, {"f", maxWeight, false}}, 8 + maxWeight, plain}, w)
	require.Equal(t, Words{[]wordCount{{"z", 1, false}}, 1, plain}, tokenize("z"), "no weight is left behind")
}
