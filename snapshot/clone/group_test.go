package clone

import (
	"context"
	"log/slog"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func newGroup() (slog.Value, map[string]int) {
	tags := map[string]int{"n": 1}
	return slog.GroupValue(
		slog.Int("a", 1),
		slog.Any("tags", tags),
		slog.Group("inner", slog.String("b", "text"), slog.Any("list", []int{1, 2})),
		slog.Time("at", time.Unix(1, 2).In(time.Local)),
	), tags
}

// spoilGroup writes to all that v gives out.
func spoilGroup(v slog.Value) {
	switch x := v.Any().(type) {
	case map[string]int:
		x["n"]++
	case []int:
		x[0]++
	case []slog.Attr:
		for i := range x {
			spoilGroup(x[i].Value)
			x[i] = slog.String("x", "modified")
		}
	}
}

func TestGroupsAreCloned(t *testing.T) {
	record := func(n int) slog.Record {
		r := slog.NewRecord(time.Unix(1, 2), slog.LevelInfo, "message", 0)
		for range n {
			g, tags := newGroup()
			r.AddAttrs(slog.Attr{Key: "g", Value: g}, slog.Any("tags", tags))
		}
		return r
	}
	attrs := func(r slog.Record) []slog.Attr {
		var all []slog.Attr
		r.Attrs(func(a slog.Attr) bool { all = append(all, a); return true })
		return all
	}
	group := func() slog.Value { v, _ := newGroup(); return v }
	for name, k := range map[string]kind{
		"a value":  kindOf("", group, spoilGroup),
		"a string": kindOf("", func() slog.Value { return slog.StringValue("text") }, spoilGroup),
		"a time":   kindOf("", func() slog.Value { return slog.TimeValue(time.Unix(1, 2)) }, spoilGroup),
		"a map":    kindOf("", func() slog.Value { return slog.AnyValue(map[string]int{"n": 1}) }, spoilGroup),
		"empty":    kindOf("", func() slog.Value { return slog.GroupValue() }, spoilGroup),
		"an attribute": kindOf("", func() slog.Attr { return slog.Attr{Key: "g", Value: group()} },
			func(a slog.Attr) { spoilGroup(a.Value) }),
		"behind any": kindOf("", func() any { return group() }, func(v any) { spoilGroup(v.(slog.Value)) }),
		"behind a pointer": kindOf("", func() *slog.Value { v := group(); return &v },
			func(v *slog.Value) { spoilGroup(*v); *v = slog.IntValue(1) }),
		"attributes": kindOf("", func() []slog.Attr { return group().Group() },
			func(a []slog.Attr) { spoilGroup(slog.GroupValue(a...)) }),
		"a map of values": kindOf("", func() map[string]slog.Value { return map[string]slog.Value{"a": group(), "b": slog.IntValue(2)} },
			func(m map[string]slog.Value) { spoilGroup(m["a"]); delete(m, "b") }),
		"a short record": kindOf("", func() slog.Record { return record(1) },
			func(r slog.Record) { spoilGroup(slog.GroupValue(attrs(r)...)) }),
		"a long record": kindOf("", func() slog.Record { return record(9) },
			func(r slog.Record) { spoilGroup(slog.GroupValue(attrs(r)...)) }),
	} {
		t.Run(name, func(t *testing.T) {
			show := func(v any) string {
				if r, ok := v.(slog.Record); ok {
					v = attrs(r)
				}
				if p, ok := v.(*slog.Value); ok {
					v = *p
				}
				return slog.AnyValue(v).String()
			}
			v := k.make()
			want := show(v)
			c := k.clone(v)
			require.Equal(t, want, show(c))
			k.spoil(v)
			require.Equal(t, want, show(c), "what was cloned was modified")
			d := k.clone(c)
			k.spoil(d)
			require.Equal(t, want, show(c), "a clone was modified")
		})
	}
	require.True(t, cloneOf(slog.TimeValue(time.Unix(1, 2).In(time.Local))).Time() == time.Unix(1, 2), "the zone stays itself")
}

// The slice of a group is one with that of whoever made it.
func TestGroupsKeepTheirSharing(t *testing.T) {
	type holder struct {
		all   []slog.Attr
		group slog.Value
		other slog.Attr
		first *slog.Attr
		part  slog.Value
	}
	all := []slog.Attr{slog.Int("a", 1), slog.Int("b", 2), slog.Int("c", 3)}
	v := holder{all, slog.GroupValue(all...), slog.Attr{Key: "g", Value: slog.GroupValue(all...)}, nil, slog.Value{}}
	for range 2 {
		for range 2 {
			c := cloneOf(v)
			require.NotSame(t, &v.all[0], &c.all[0])
			require.Same(t, &c.all[0], &c.group.Group()[0])
			require.Same(t, &c.all[0], &c.other.Value.Group()[0])
			if v.first != nil {
				require.Same(t, &c.all[1], c.first)
				require.Same(t, &c.all[1], &c.part.Group()[0])
				require.Len(t, c.part.Group(), 2)
			}
		}
		v.first, v.part = &all[1], slog.GroupValue(all[1:]...)
	}
	round := []slog.Attr{slog.Int("a", 1), {}}
	round[1] = slog.Attr{Key: "round", Value: slog.GroupValue(round...)}
	round[1].Value.Group()[1] = round[1]
	c := cloneOf(round)
	require.NotSame(t, &round[0], &c[0])
	require.Same(t, &c[0], &c[1].Value.Group()[0], "a cycle")
}

type valuer struct{ tags []string }

func (v *valuer) LogValue() slog.Value { return slog.AnyValue(v.tags) }

func TestWhatAGroupHoldsIsFound(t *testing.T) {
	v := slog.GroupValue(slog.Int("a", 1), slog.Any("ctx", func() context.Context {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		return ctx
	}()))
	err := cloneError(func() { cloneOf([]slog.Value{v}) })
	require.ErrorContains(t, err, "[0].Group()[1].Value")
	l := &valuer{[]string{"a"}}
	c := cloneOf([]slog.Value{slog.AnyValue(l), slog.AnyValue(l)})
	require.NotSame(t, l, c[0].Any())
	require.Same(t, c[0].Any(), c[1].Any())
	l.tags[0] = "b"
	require.Equal(t, []string{"a"}, c[0].Any().(slog.LogValuer).LogValue().Any())

	long := slog.GroupValue(slices.Repeat([]slog.Attr{slog.String("key", "text")}, 100)...)
	require.Greater(t, Size(reflect.ValueOf(long), false), 100*len("keytext"))
	parts := func(v any) (lens []int) {
		for _, p := range Parts(reflect.ValueOf(v).Field(0)) {
			n := -1
			if p.Kind() == reflect.Slice {
				n = p.Len()
			}
			lens = append(lens, n)
		}
		return lens
	}
	require.Equal(t, []int{100}, parts(struct{ v slog.Value }{long}), "of an unexported field too")
	require.Equal(t, []int{-1, -1, -1}, parts(struct{ v slog.Value }{slog.IntValue(1)}))
	require.Equal(t, []int{-1, -1}, parts(struct{ v slog.Attr }{slog.Int("a", 1)}))
}
