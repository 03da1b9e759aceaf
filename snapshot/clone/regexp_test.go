package clone

import (
	"reflect"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRegexpsAreCloned(t *testing.T) {
	spoil := func(re *regexp.Regexp) {
		re.SubexpNames()[1] = "modified"
		re.Longest()
		require.NoError(t, re.UnmarshalText([]byte("z")))
	}
	show := func(re *regexp.Regexp) []any {
		return []any{re.String(), re.FindString("xabab"), re.FindStringSubmatch("ab"), re.NumSubexp(), append([]string(nil), re.SubexpNames()...), re.SubexpIndex("x")}
	}
	for _, expr := range []string{"a(?P<x>|b)", "^(ab?)$|(?P<x>a)+?", "(?i)(?P<x>[[:alpha:]]*)b", "(?P<x>)"} {
		re := regexp.MustCompile(expr)
		want := show(re)
		c, value := cloneOf(re), cloneOf(*re)
		boxed, field := cloneOf(any(re)).(*regexp.Regexp), cloneOf(struct{ any }{*re}).any.(regexp.Regexp)
		spoil(re)
		for _, c := range []*regexp.Regexp{c, &value, boxed, &field} {
			require.Equal(t, want, show(c), expr)
			d := cloneOf(c)
			spoil(d)
			require.Equal(t, want, show(c), expr)
		}
	}
	var none *regexp.Regexp
	require.Nil(t, cloneOf(none))
	require.Equal(t, regexp.Regexp{}, cloneOf(regexp.Regexp{}))

	re := regexp.MustCompile("(?P<x>a)")
	type holder struct {
		re    *regexp.Regexp
		names []string
		any   any
	}
	for range 2 {
		h := cloneOf(holder{re, re.SubexpNames(), re})
		require.NotSame(t, re, h.re)
		require.Same(t, h.re, h.any)
		require.Same(t, &h.names[0], &h.re.SubexpNames()[0], "its slice is one with the one that it gave out")
	}
}

// A clone shares the program: it copies the struct and the names.
func TestRegexpsShareTheirProgram(t *testing.T) {
	if !raceEnabled {
		re, clone := regexp.MustCompile("a(?P<x>b*)c"), Of[*regexp.Regexp]()
		require.LessOrEqual(t, testing.AllocsPerRun(100, func() { clone(re) }), 2.0)
	}
	for _, f := range shared["regexp.Regexp"] {
		_, ok := reflect.TypeFor[regexp.Regexp]().FieldByName(f)
		require.True(t, ok, "package regexp has no field %s any more: find out anew what its methods write to", f)
	}
	require.Equal(t, []string{
		"expr string", "prog *syntax.Prog", "onepass *regexp.onePassProg", "numSubexp int", "maxBitStateLen int",
		"subexpNames []string", "prefix string", "prefixBytes []uint8", "prefixRune int32", "prefixEnd uint32", "mpool int",
		"matchcap int", "prefixComplete bool", "cond syntax.EmptyOp", "minInputLen int", "longest bool",
	}, fieldsOf(reflect.TypeFor[regexp.Regexp]()), "find out anew what the methods of package regexp write to")
}

func fieldsOf(t reflect.Type) []string {
	var all []string
	for i := range t.NumField() {
		all = append(all, t.Field(i).Name+" "+t.Field(i).Type.String())
	}
	return all
}
