package sound_test

import (
	"fmt"
	"io"
	"iter"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow/cowview/internal/sound"
	"github.com/cowstore/cowstore/snapshot/view"
)

// A crew has something of all that can be leaked.
type crew struct {
	Name  string
	Tags  []string
	By    map[string]*member
	Lead  *member
	All   []member
	Any   any
	Err   error
	At    time.Time
	Zone  *time.Location
	Wake  func()
	Ready chan int
}

type member struct {
	Name  string
	Langs []string
	Next  *member
}

func newCrew() *crew {
	m := &member{Name: "ada", Langs: []string{"go", "c"}}
	m.Next = &member{Name: "bob", Langs: make([]string, 1, 4)}
	return &crew{
		Name: "x", Tags: []string{"a", "b"}, By: map[string]*member{"ada": m}, Lead: m,
		All: []member{{Name: "cy", Langs: []string{"d"}, Next: m}}, Any: []int{1}, Err: io.EOF,
		At: time.Now(), Zone: time.FixedZone("z", 1), Wake: func() {}, Ready: make(chan int),
	}
}

type memberView struct{ r view.Ref[member] }

func (memberView) ViewOf(r view.Ref[member]) memberView { return memberView{r} }
func (v memberView) Valid() bool                        { return v.r.Valid() }
func (v memberView) Name() string                       { return view.Shared(v.r).Name }
func (v memberView) Langs() view.Slice[string]          { return view.SliceOf(view.Shared(v.r).Langs) }
func (v memberView) Next() memberView                   { return memberView{view.To(view.Shared(v.r).Next)} }

// base has what all views of a crew here have.
type base struct{ r view.Ref[crew] }

func (b base) Valid() bool                   { return b.r.Valid() }
func (b base) Name() string                  { return b.p().Name }
func (b base) At() time.Time                 { return b.p().At }
func (b base) Zone() *time.Location          { return b.p().Zone }
func (b base) Err() error                    { return b.p().Err }
func (b base) Wake() func()                  { return b.p().Wake }
func (b base) Ready() chan int               { return b.p().Ready }
func (b base) Lead() memberView              { return memberView{view.To(b.p().Lead)} }
func (b base) Tags() []string                { return slices.Clone(b.p().Tags) }
func (b base) Text() fmt.Stringer            { return time.Second }
func (b base) Find(f func(string) bool) bool { return f(b.p().Name) }
func (b base) p() *crew                      { return view.Shared(b.r) }
func (b base) Keys() iter.Seq[string]        { return maps.Keys(b.p().By) }

// soundView gives nothing away.
type soundView struct{ base }

func (soundView) ViewOf(r view.Ref[crew]) soundView { return soundView{base{r}} }

func (v soundView) By(k string) (memberView, bool) {
	m, ok := v.p().By[k]
	return memberView{view.To(m)}, ok
}

func (v soundView) All() iter.Seq2[int, memberView] {
	return func(yield func(int, memberView) bool) {
		for i := range v.p().All {
			if !yield(i, memberView{view.To(&v.p().All[i])}) {
				return
			}
		}
	}
}

func TestSoundViewsPass(t *testing.T) {
	c := newCrew()
	r := sound.Check(t, soundView{base{view.To(c)}}, reflect.ValueOf(c))
	require.Equal(t, []string{"soundView.Find"}, r.Skipped)
	require.True(t, r.Called["soundView.All"])
	require.True(t, r.Called["memberView.Langs"])
	require.Greater(t, r.Views, 5)
	require.False(t, r.Deep)
	sound.Check(t, soundView{}, reflect.ValueOf(c))
}

// leaky is a view that leaks what its function returns.
type leaky struct {
	base
	f func(*crew) any
}

func (v leaky) ViewOf(r view.Ref[crew]) leaky { return leaky{base{r}, v.f} }
func (v leaky) Leak() any                     { return v.f(v.p()) }

// leakyOf is a view of what is in a view.
type leakyOf struct{ l leaky }

func (v leakyOf) ViewOf(view.Ref[crew]) leakyOf { return v }
func (v leakyOf) Slice() iter.Seq[leaky]        { return slices.Values([]leaky{v.l}) }

type inner struct{ hidden any }

// writer is a view with an accessor that writes.
type writer struct{ base }

func (writer) ViewOf(r view.Ref[crew]) writer { return writer{base{r}} }
func (v writer) Bump() int                    { v.p().Tags[0] += "x"; return 1 }

// endless is a view whose iterators do not stop, and that makes ever new views.
type endless struct {
	base
	n int
}

func (v endless) ViewOf(r view.Ref[crew]) endless { return endless{base{r}, v.n} }
func (v endless) More() endless                   { return endless{v.base, v.n + 1} }

type stubborn struct{ base }

func (stubborn) ViewOf(r view.Ref[crew]) stubborn { return stubborn{base{r}} }
func (stubborn) Values() iter.Seq[int] {
	return func(yield func(int) bool) {
		yield(1)
		yield(2)
	}
}

func TestLeaksAreFound(t *testing.T) {
	for name, f := range map[string]func(c *crew) any{
		"slice":              func(c *crew) any { return c.Tags },
		"part of a slice":    func(c *crew) any { return c.Tags[1:] },
		"empty slice":        func(c *crew) any { return c.Tags[:0] },
		"beyond the length":  func(c *crew) any { s := c.Lead.Next.Langs; return s[len(s):] },
		"map":                func(c *crew) any { return c.By },
		"pointer":            func(c *crew) any { return c.Lead },
		"root":               func(c *crew) any { return c },
		"copy of a struct":   func(c *crew) any { return *c.Lead },
		"map element":        func(c *crew) any { return maps.Clone(c.By) },
		"element of a slice": func(c *crew) any { return slices.Clone(c.All) },
		"interior pointer":   func(c *crew) any { return &c.All[0].Name },
		"pointer to a field": func(c *crew) any { return &c.Name },
		"in an interface":    func(c *crew) any { return c.Any },
		"in a pointer":       func(c *crew) any { return &inner{hidden: &[]any{c.Lead.Langs}} },
		"in a map key":       func(c *crew) any { return map[any]int{inner{c.Lead}: 1} },
		"in an array":        func(c *crew) any { return [2]any{1, c.Lead.Next} },
		"in a closure":       func(c *crew) any { return slices.Values([]any{c.Tags}) },
		"view in a struct":   func(c *crew) any { return &inner{leaky{base{view.To(c)}, func(c *crew) any { return c.Tags }}} },
		"spare of a slice":   func(c *crew) any { return append(make([]any, 0, 2), c.Lead)[:0] },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCrew()
			v := leaky{base{view.To(c)}, f}
			_, leaks := sound.Leaks(v, reflect.ValueOf(c))
			require.NotEmpty(t, leaks)
			_, leaks = sound.Leaks(leakyOf{v}, reflect.ValueOf(c))
			require.NotEmpty(t, leaks, "two levels down")
			_, leaks = sound.Leaks(soundView{base{view.To(c)}}, reflect.ValueOf(c), f(c))
			require.NotEmpty(t, leaks, "among more")
		})
	}
}

func TestWhatIsNoLeakPasses(t *testing.T) {
	for name, f := range map[string]func(c *crew) any{
		"nothing":             func(*crew) any { return nil },
		"text":                func(c *crew) any { return c.Name[:1] },
		"zone":                func(c *crew) any { return c.Zone },
		"type":                func(c *crew) any { return reflect.TypeOf(c) },
		"sentinel":            func(c *crew) any { return c.Err },
		"channel":             func(c *crew) any { return c.Ready },
		"function":            func(c *crew) any { return c.Wake },
		"copies":              func(c *crew) any { return [][]string{slices.Clone(c.Tags), slices.Clone(c.Lead.Langs)} },
		"slice of no room":    func(c *crew) any { return c.Tags[:0:0] },
		"views in a struct":   func(c *crew) any { return &inner{[]any{soundView{base{view.To(c)}}}} },
		"view of no value":    func(*crew) any { return memberView{} },
		"nil of all sorts":    func(*crew) any { return []any{nil, (*crew)(nil), []int(nil), map[int]int(nil), error(nil)} },
		"results that are it": func(*crew) any { a := []any{nil}; a[0] = a; return a },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCrew()
			sound.Check(t, leaky{base{view.To(c)}, f}, reflect.ValueOf(c))
		})
	}
}

func TestWhatAccessorsMustNotDoIsFound(t *testing.T) {
	c := newCrew()
	_, leaks := sound.Leaks(writer{base{view.To(c)}}, reflect.ValueOf(c))
	require.Contains(t, leaks[0], "changed")
	_, leaks = sound.Leaks(leaky{base{view.To(c)}, func(c *crew) any { panic("not supported") }}, reflect.ValueOf(c))
	require.Equal(t, []string{"sound_test.leaky.Leak() panics: not supported"}, leaks)
	_, leaks = sound.Leaks(leaky{base{view.To(c)}, func(c *crew) any { delete(c.By, "ada"); return 0 }}, reflect.ValueOf(c))
	require.Contains(t, leaks[0], "changed")
	_, leaks = sound.Leaks(stubborn{base{view.To(c)}}, reflect.ValueOf(c))
	require.Contains(t, leaks[0], "goes on")
	r, leaks := sound.Leaks(endless{base{view.To(c)}, 0}, reflect.ValueOf(c))
	require.True(t, r.Deep)
	require.Empty(t, leaks)
}

// partView lacks accessors, and has a wrong one.
type partView struct{ r view.Ref[member] }

func (partView) ViewOf(r view.Ref[member]) partView { return partView{r} }
func (partView) Name() string                       { return "wrong" }
func (partView) Linked() memberView                 { return memberView{} }

func TestMissingAccessorsAreFound(t *testing.T) {
	m := newCrew().Lead
	require.Empty(t, sound.Missing(soundMember{memberView{view.To(m)}}, reflect.ValueOf(m), nil, nil))
	require.Empty(t, sound.Missing(soundMember{memberView{view.To(m.Next)}}, reflect.ValueOf(m.Next), nil, nil))
	wrong := sound.Missing(partView{view.To(m)}, reflect.ValueOf(m), map[string]string{"Next": "Linked"}, nil)
	require.Len(t, wrong, 3)
	require.Contains(t, wrong[0], "another value")
	require.Contains(t, wrong[1], "no accessor")
	require.Contains(t, wrong[2], "not valid")

	h := &inner{[]int{1}}
	require.Len(t, sound.Missing(partView{}, reflect.ValueOf(h), nil, map[string]any{}), 1)
	require.Empty(t, sound.Missing(partView{}, reflect.ValueOf(h), nil, map[string]any{"hidden": []int{1}}))
	require.Len(t, sound.Missing(partView{}, reflect.ValueOf(h), nil, map[string]any{"hidden": []int{2}}), 1)
	require.Empty(t, sound.Missing(partView{}, reflect.ValueOf(h), nil, nil))
}

// soundMember is a memberView with a Clone, of which the rest follows.
type soundMember struct{ memberView }

func (v soundMember) Next() clonedMember { return clonedMember{v.memberView.Next()} }

type clonedMember struct{ memberView }

func (clonedMember) ViewOf(r view.Ref[member]) clonedMember { return clonedMember{memberView{r}} }

func (v clonedMember) Clone() member {
	m := *view.Shared(v.r)
	m.Langs = slices.Clone(m.Langs)
	return m
}
