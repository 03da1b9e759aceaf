package inspect_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	cowinspect "github.com/cowstore/cowstore/cow/inspect"
	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/inspect"
)

// pages returns the pages of a memory, as a program has them.
func pages(m *memory.Memory, o inspect.Options, of cowinspect.Options) http.Handler {
	of.Parts = []cowinspect.Part{inspect.Part(m, o)}
	return cowinspect.Handler(m.DB(), of)
}

func get(h http.Handler, target string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "http://shop.example", nil)
	path, query, _ := strings.Cut(target, "?")
	r.URL.Path, r.URL.RawQuery = path, query
	r.Header.Set("Accept", "text/html")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

var href = regexp.MustCompile(`(?:href|action)="([^"]*)"`)

// links returns the addresses that a page leads to.
func links(t testing.TB, from, body string) (all []string) {
	base, err := url.Parse(from)
	require.NoError(t, err)
	for _, m := range href.FindAllStringSubmatch(body, -1) {
		to, err := base.Parse(html.UnescapeString(m[1]))
		require.NoError(t, err)
		to.Fragment = ""
		if !strings.HasSuffix(to.Path, ".css") && !strings.HasSuffix(to.Path, ".svg") {
			all = append(all, to.String())
		}
	}
	return all
}

// first returns the address of the first page about a memory, at its current version.
func first(m *memory.Memory) string { return at(m, m.Load().Version()) }

func at(m *memory.Memory, version uint64) string {
	return fmt.Sprintf("/l/%s/v/%d/memory", m.DB().Lineage().ID, version)
}

var names = regexp.MustCompile(`[0-9]+|[0-9a-f]{32,}`)

// walk gets a page and those about the memory that it leads to, in all forms: of each kind so many.
func walk(t testing.TB, h http.Handler, from string, most int, look func(address, form, body string)) (seen map[string]bool) {
	seen = make(map[string]bool)
	kinds := make(map[string]int)
	queue := []string{from}
	for len(queue) > 0 {
		address := queue[0]
		queue = queue[1:]
		kind := names.ReplaceAllString(address, "N")
		if seen[address] || kinds[kind] == most {
			continue
		}
		kinds[kind]++
		seen[address] = true
		for _, form := range []string{"html", "json", "text"} {
			sign := "?"
			if strings.Contains(address, "?") {
				sign = "&"
			}
			w := get(h, address+sign+"format="+form)
			require.Equal(t, 200, w.Code, "%s: %s", address, w.Body)
			look(address, form, w.Body.String())
			switch form {
			case "json":
				require.True(t, json.Valid(w.Body.Bytes()))
			case "html":
				for _, to := range links(t, address, w.Body.String()) {
					if strings.Contains(to, "/memory") && !strings.Contains(to, "/tables/") {
						queue = append(queue, to)
					}
				}
			}
		}
	}
	return seen
}

const secret = "S3CRET"

// filled returns a memory with spaces, a past, and a secret wherever one can be that is not shown.
func filled(t testing.TB) *memory.Memory {
	m := memory.New(memory.Options{})
	m.DB().Retain(cow.Retention{Versions: 1000})
	for i := range 130 {
		_, err := m.Space("agents", "countess").PutItem(fmt.Sprintf("note-%03d", i), memory.Item{Value: map[string]any{"text": fmt.Sprint("tea with ", i, " cups"), secret: secret},
			Metadata: map[string]any{secret: secret}, Vector: []float32{1, 2}, TTL: time.Hour})
		require.NoError(t, err)
	}
	for i := range 120 {
		_, err := m.Space("users", fmt.Sprintf("user-%03d", i), "notes").Put("manners", secret+" short answers")
		require.NoError(t, err)
	}
	for i := range 3 {
		_, err := m.Space("agents", "countess").Put("note-007", fmt.Sprint(secret, " licensed ", i))
		require.NoError(t, err)
	}
	_, err := m.Space("agents").Put("old", "the old plan "+secret)
	require.NoError(t, err)
	_, err = m.Space("agents").Supersede("old", "new", memory.Item{Value: "the new plan " + secret, Keep: true})
	require.NoError(t, err)
	_, err = m.Space().Put("of the root", secret)
	require.NoError(t, err)
	return m
}

// By default nothing of values and metadata is anywhere, in whatever form, and nothing can be
// searched for; with a digest no key is anywhere either.
func TestSecretsAreNotShown(t *testing.T) {
	m, most := filled(t), 8
	if testing.Short() {
		most = 3
	}
	for name, of := range map[string]cowinspect.Options{"default": {}, "digest": {Digest: []byte("x")}} {
		h := pages(m, inspect.Options{}, of)
		seen := walk(t, h, first(m), most, func(address, form, body string) {
			require.NotContains(t, body, secret, address)
			require.NotContains(t, body, "licensed")
			require.NotContains(t, body, "<form")
			require.Equal(t, !strings.Contains(address, "/entry/"), strings.Contains(body, "Search: not offered, because values are not shown."), address)
			if name == "digest" {
				for _, key := range []string{"note-0", "manners", "agents", "countess", "user-0", "of the root"} {
					require.NotContains(t, body, key, address)
					require.NotContains(t, address, key)
				}
			}
		})
		require.Greater(t, len(seen), 30, name)
		for _, words := range []string{secret, "licensed", "nothing"} {
			w := get(h, first(m)+"?words="+words)
			require.Equal(t, get(h, first(m)).Body.String(), w.Body.String(), "one cannot ask")
		}
	}
	h := pages(m, inspect.Options{Value: inspect.JSON}, cowinspect.Options{Digest: []byte("x")})
	require.NotContains(t, get(h, first(m)).Body.String(), "<form", "or one could ask for a key")
	require.Contains(t, get(h, first(m)).Body.String(), "Search: not offered, because keys are shown as digests.")
	require.NotContains(t, get(h, first(m)+"?words=note").Body.String(), "note-0")
}

// The tree, the entries and the past are what the memory has.
func TestSpacesAndEntries(t *testing.T) {
	m := filled(t)
	h := pages(m, inspect.Options{Value: inspect.JSON}, cowinspect.Options{})
	body := get(h, "/").Body.String()
	require.Contains(t, links(t, "/", body), first(m), "the first page leads there")
	tenth := strings.TrimSuffix(at(m, 10), "/memory")
	require.Contains(t, links(t, tenth, get(h, tenth).Body.String()), at(m, 10), "and so does a version")

	root := section(t, get(h, first(m)+"?format=json"), "spaces")
	require.Equal(t, []texts{
		{"space": "agents", "entries": "2", "with those below": "132", "address": first(m)[1:] + "/space/agents"},
		{"space": "users", "entries": "0", "with those below": "120", "address": first(m)[1:] + "/space/users"},
	}, root)
	require.Equal(t, "of the root", section(t, get(h, first(m)+"?format=json"), "entries")[0]["key"])

	users := follow(t, h, first(m)+"/space/users", "spaces", "forward")
	require.Len(t, users, 120)
	require.Equal(t, "user-000", users[0]["space"])
	require.Equal(t, "user-119", users[119]["space"])

	ada := first(m) + "/space/agents/countess"
	notes := follow(t, h, ada, "entries", "forward")
	require.Len(t, notes, 130)
	require.Equal(t, "note-000", notes[0]["key"])
	require.Contains(t, notes[0]["value"], "tea with 0 cups")
	require.Contains(t, notes[0]["value"], `"metadata"`)
	require.Regexp(t, `^\d{4}-\d\d-\d\d .* UTC, in (1h0m0s|59m5\ds)$`, notes[0]["expires"])
	require.Equal(t, "vector of 2, metadata", notes[0]["with"])
	back := follow(t, h, ada+"?before=note-129", "entries", "back")
	require.Len(t, back, 129)

	entry := get(h, first(m)+"/entry/agents/countess/note-007?format=text").Body.String()
	require.Contains(t, entry, "licensed 2")
	require.Regexp(t, `Before version 8 it was not there`, entry)
	past := section(t, get(h, first(m)+"/entry/agents/countess/note-007?format=json"), "history")
	require.Len(t, past, 4)
	require.Contains(t, past[1]["value"], "licensed 1")
	require.Contains(t, past[3]["value"], "tea with 7")
	require.Equal(t, at(m, 8)[1:]+"/entry/agents/countess/note-007", past[3]["address"])

	was := get(h, "/"+past[3]["address"]).Body.String()
	require.Contains(t, was, "tea with 7")
	require.NotContains(t, was, "licensed")
	require.Contains(t, was, "The entry was written again since.")
	require.Contains(t, links(t, "/"+past[3]["address"], was), first(m)+"/entry/agents/countess/note-007")

	old := get(h, first(m)+"/entry/agents/old").Body.String()
	require.Contains(t, old, "superseded by")
	require.Contains(t, links(t, first(m)+"/entry/agents/old", old), first(m)+"/entry/agents/new")
	require.Contains(t, get(h, first(m)+"/entry/agents/new").Body.String(), "kept")

	_, err := m.Space("agents").Delete("new")
	require.NoError(t, err)
	require.Contains(t, get(h, at(m, m.Load().Version()-1)+"/entry/agents/new").Body.String(), "no longer has this entry")
	require.Equal(t, 404, get(h, first(m)+"/entry/agents/new").Code)
}

// section returns the rows of a section of a page in JSON.
func section(t testing.TB, w *httptest.ResponseRecorder, name string) []texts {
	t.Helper()
	require.Equal(t, 200, w.Code, w.Body)
	return decoded(t, w.Body.Bytes()).Sections[name].Rows
}

// texts are the cells of a row by column, whatever JSON has them as.
type texts map[string]string

func (t *texts) UnmarshalJSON(b []byte) error {
	var cells map[string]json.RawMessage
	err := json.Unmarshal(b, &cells)
	*t = make(texts)
	for name, is := range cells {
		var text string
		if json.Unmarshal(is, &text) != nil {
			text = string(is)
		}
		(*t)[name] = text
	}
	return err
}

type shown struct {
	Title    string
	Sections map[string]struct {
		Notes []string
		Rows  []texts
		Links map[string]string
	}
}

func decoded(t testing.TB, b []byte) (s shown) {
	t.Helper()
	require.NoError(t, json.Unmarshal(b, &s))
	return s
}

// follow returns the rows of a section, from one page to the next by a link of that name.
func follow(t testing.TB, h http.Handler, address, name, link string) (rows []texts) {
	t.Helper()
	for range 20 {
		w := get(h, address, "Accept", "application/json")
		require.Equal(t, 200, w.Code, w.Body)
		s := decoded(t, w.Body.Bytes()).Sections[name]
		rows = append(rows, s.Rows...)
		if s.Links[link] == "" {
			return rows
		}
		address = "/" + s.Links[link]
	}
	require.Fail(t, "there is no end")
	return nil
}

// A search finds what the memory finds, with scores and the words that matched, at its version.
func TestSearch(t *testing.T) {
	m := memory.New(memory.Options{})
	m.DB().Retain(cow.Retention{Versions: 10})
	_, err := m.Space("a").Put("k", "Deploys are on Tuesdays, never on Fridays")
	require.NoError(t, err)
	_, err = m.Space("a", "b").Put("k", "green tea <b>")
	require.NoError(t, err)
	h := pages(m, inspect.Options{Value: inspect.JSON}, cowinspect.Options{})
	body := get(h, first(m)).Body.String()
	require.Contains(t, body, `<input name="words"`)
	require.NotContains(t, body, "<script")
	found := section(t, get(h, first(m)+"?words=deploys+tuesday&format=json"), "found")
	require.Len(t, found, 1)
	require.Equal(t, "k", found[0]["key"])
	require.Equal(t, "a", found[0]["space"])
	require.Contains(t, found[0]["words"], "Deploys")
	require.Regexp(t, `^[0-9]`, found[0]["score"])
	require.Equal(t, first(m)[1:]+"/entry/a/k", found[0]["address"])
	require.Equal(t, "a / b", section(t, get(h, first(m)+"/space/a?words=tea&format=json"), "found")[0]["space"])
	require.Empty(t, section(t, get(h, at(m, 1)+"?words=tea&format=json"), "found"), "not yet")
	require.Empty(t, section(t, get(h, first(m)+"/space/a/b?words=deploys&format=json"), "found"), "not there")
	for _, words := range []string{"", "+", "%00", "%ff", "%22", "%22deploys+are%22", strings.Repeat("x", 5000), "<script>", "-", "*"} {
		w := get(h, first(m)+"?words="+words)
		require.Equal(t, 200, w.Code, words)
		require.NotContains(t, w.Body.String(), "<script>")
		require.NotContains(t, w.Body.String(), "<b>")
	}
}

func TestVersionsAndPagesThatAreNotThere(t *testing.T) {
	m := memory.New(memory.Options{})
	m.DB().Retain(cow.Retention{Versions: 2})
	for i := range 10 {
		_, err := m.Space("a").Put("k", i)
		require.NoError(t, err)
	}
	h := pages(m, inspect.Options{Value: inspect.JSON}, cowinspect.Options{})
	require.Equal(t, http.StatusGone, get(h, at(m, 3)).Code)
	require.Equal(t, http.StatusGone, get(h, at(m, 3)+"/entry/a/k").Code)
	require.Equal(t, http.StatusNotFound, get(h, at(m, 11)).Code)
	require.Contains(t, get(h, first(m)+"/entry/a/k").Body.String(), "is no longer retained")
	for _, bad := range []string{"/x", "/", "/space", "/space/", "/space/x", "/space/a/x", "/entry", "/entry/a", "/entry/a/x", "/entry/k", "/entry/a/k/", "/space/%41", "/space/~41",
		"?after=~zz", "?before=~zz", "?below=~zz", "x"} {
		require.Equal(t, http.StatusNotFound, get(h, first(m)+bad).Code, bad)
	}
	require.Equal(t, http.StatusOK, get(h, first(m)+"/space/a").Code)
	require.Equal(t, http.StatusOK, get(pages(memory.New(memory.Options{}), inspect.Options{}, cowinspect.Options{}), "/").Code)
	empty := memory.New(memory.Options{})
	require.Equal(t, http.StatusOK, get(pages(empty, inspect.Options{}, cowinspect.Options{}), first(empty)).Code, "an empty one has a first page")
}

var hostile = []string{"", ".", "..", "/", "a/b", "../../etc/passwd", "%2e%2e", "~", "~41", "<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`,
	"javascript:alert(1)", "\x00", "a\x00b", "\x00\x01\x7f", "\xff\xfe", "\u202egnp.exe", "\u2028", "?x=1#y", "ä€😀", strings.Repeat("long", 400), "user\nname", " a ", `"`, "&amp;", "space", "entry"}

// Whatever spaces, keys and values are: each has one address, which leads to it, and nothing of
// them gets into a page but as text.
func TestHostileContent(t *testing.T) {
	m, n := memory.New(memory.Options{}), 0
	require.NoError(t, m.Batch(func(b *memory.Batch) error {
		for i, name := range hostile {
			for _, path := range [][]string{{name}, {"x", name}} {
				for j, key := range hostile {
					if testing.Short() && i != j && (i+j)%6 != 0 {
						continue
					}
					if len(name)+len(key) < 1000 { // else it is too long for an address
						n++
					}
					if err := b.Space(path...).PutItem(key, memory.Item{Value: map[string]any{key: key}, Metadata: map[string]any{"m": key}}); err != nil && !strings.Contains(err.Error(), "UTF-8") {
						return err
					}
				}
			}
		}
		return nil
	}))
	h := pages(m, inspect.Options{Value: inspect.JSON, Name: "memory"}, cowinspect.Options{})
	entries := make(map[string]bool)
	walk(t, h, first(m), 10_000, func(address, form, body string) {
		require.Less(t, len(body), 256<<10)
		for _, r := range body {
			if r < ' ' && r != '\n' || r == 0x7f || r == 0x202e || r == 0x2028 {
				require.Fail(t, "a character that is not seen", "%x in %s", r, address)
			}
		}
		if form != "html" {
			return
		}
		require.NotContains(t, body, "<script")
		require.NotContains(t, body, "<img")
		require.NotContains(t, body, `href="javascript`)
		if strings.Contains(address, "/entry/") {
			entries[address] = true
		}
	})
	require.Len(t, entries, n)
}

// A page ends with what has an address, or there would be no way on: a key that is too long has none.
func TestPagesWithLongKeys(t *testing.T) {
	m := memory.New(memory.Options{NoText: true})
	require.NoError(t, m.Batch(func(b *memory.Batch) error {
		for i := range 200 {
			key := fmt.Sprintf("%03d", i)
			if i%100 > 5 {
				key += strings.Repeat("x", 2000)
			}
			if err := errors.Join(b.Space("a").Put(key, 1), b.Space("b", key).Put("k", 1)); err != nil {
				return err
			}
		}
		for i := range 501 {
			if err := b.Space("c").Put(fmt.Sprint(i, strings.Repeat("x", 2000)), 1); err != nil {
				return err
			}
		}
		return nil
	}))
	for _, of := range []cowinspect.Options{{}, {Digest: []byte("x")}} {
		h := pages(m, inspect.Options{}, of)
		for i, name := range []string{"entries", "spaces"} {
			space := "/" + decoded(t, get(h, first(m)+"?format=json").Body.Bytes()).Sections["spaces"].Rows[i]["address"]
			seen := make(map[string]bool)
			for _, row := range follow(t, h, space, name, "forward") {
				seen[cmp.Or(row["key"], row["space"])] = true
			}
			require.Equal(t, 200, len(seen), name) // Len would print all keys
		}
	}
	require.Contains(t, get(pages(m, inspect.Options{}, cowinspect.Options{}), first(m)+"/space/c").Body.String(), "No link leads to them")
}

// What will expire is shown with its time, and is not there once it has.
func TestWhatExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Options{})
		_, err := m.Space("a").PutItem("k", memory.Item{Value: "soon gone", TTL: time.Minute})
		require.NoError(t, err)
		h := pages(m, inspect.Options{}, cowinspect.Options{})
		require.Contains(t, get(h, first(m)+"/space/a").Body.String(), "in 1m0s")
		require.Contains(t, get(h, first(m)+"/entry/a/k").Body.String(), "in 1m0s")
		time.Sleep(time.Minute)
		require.Equal(t, 404, get(h, first(m)+"/entry/a/k").Code)
		require.Equal(t, 404, get(h, first(m)+"/space/a").Code)
	})
}

// What functions of the program do is an error of the entry.
func TestFunctionsThatPanic(t *testing.T) {
	m := filled(t)
	for name, value := range map[string]func([]string, memory.Entry) any{
		"panicked":               func([]string, memory.Entry) any { panic(secret) },
		"which is not shown":     func([]string, memory.Entry) any { return make(chan int) },
		"an address and a value": func(space []string, e memory.Entry) any { return "an address and a value" },
	} {
		h := pages(m, inspect.Options{Value: value}, cowinspect.Options{})
		for _, path := range []string{"/space/agents/countess", "/entry/agents/countess/note-007", "?words=tea"} {
			w := get(h, first(m)+path)
			require.Equal(t, 200, w.Code)
			require.Contains(t, w.Body.String(), name)
			require.NotContains(t, w.Body.String(), secret)
		}
	}
}

func TestTwoMemoriesOfOneDB(t *testing.T) {
	db := new(cow.DB)
	a, b := memory.On(db, memory.Options{}), memory.On(db, memory.Options{Name: "other"})
	_, err := b.Space("x").Put("k", 1)
	require.NoError(t, err)
	two := []cowinspect.Part{inspect.Part(a, inspect.Options{}), inspect.Part(b, inspect.Options{Name: "an/other"})}
	h := cowinspect.Handler(db, cowinspect.Options{Parts: two})
	require.Empty(t, section(t, get(h, first(a)+"?format=json"), "spaces"))
	require.Len(t, section(t, get(h, strings.TrimSuffix(first(a), "memory")+"an~2Fother?format=json"), "spaces"), 1)
	two[1].Name = "memory"
	require.Panics(t, func() { cowinspect.Handler(db, cowinspect.Options{Parts: two}) })
}

// Whatever is asked for is answered, and not by an error of the server.
func FuzzRequests(f *testing.F) {
	m := filled(f)
	for _, key := range hostile {
		f.Add("/space/"+key, "after="+key)
		f.Add("/entry/agents/"+key, "format=json")
		f.Add("", "words="+key)
		f.Add("/space/agents", "below="+key)
	}
	plain, digest := pages(m, inspect.Options{Value: inspect.JSON}, cowinspect.Options{}), pages(m, inspect.Options{}, cowinspect.Options{Digest: []byte("x")})
	f.Fuzz(func(t *testing.T, path, query string) {
		for _, h := range []http.Handler{plain, digest} {
			w := get(h, first(m)+path+"?"+query)
			require.Less(t, w.Code, 500, "%s", w.Body)
		}
	})
}

// A page looks at as many entries as it shows, however many there are.
func TestALargeSpaceIsNotReadWhole(t *testing.T) {
	m := memory.New(memory.Options{})
	require.NoError(t, m.Batch(func(b *memory.Batch) error {
		for i := range 5000 {
			if err := b.Space("a").Put(fmt.Sprintf("%05d", i), "tea"); err != nil {
				return err
			}
			if err := b.Space("b", fmt.Sprintf("%05d", i)).Put("k", "tea"); err != nil {
				return err
			}
		}
		return nil
	}))
	looked := 0
	h := pages(m, inspect.Options{Value: func([]string, memory.Entry) any { looked++; return "" }}, cowinspect.Options{})
	for path, most := range map[string]int{"": 0, "/space/a": 50, "/space/a?after=02500": 50, "/space/a?before=02500": 50, "/space/b": 0, "/space/b?below=02500": 0,
		"/entry/a/02500": 2, "/space/a?words=tea": 20, "/space/b?words=tea": 0, "?words=tea": 0} {
		looked = 0
		w := get(h, first(m)+path)
		require.Equal(t, 200, w.Code)
		require.Equal(t, most, looked, path)
		require.Less(t, w.Body.Len(), 64<<10)
	}
	require.Contains(t, get(h, first(m)+"?words=tea").Body.String(), "more than 1000 spaces below")
}
