package inspect_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/inspect"
	"github.com/cowstore/cowstore/cow/internal/sink"
)

type user struct {
	Name  string
	Age   int
	Tags  []string
	Extra any
}

// A shop is a DB with several tables.
type shop struct {
	db     cow.DB
	users  *cow.Table[string, user]
	orders *cow.Table[int, string]
	points *cow.Table[[2]float64, bool]
	byAge  *cow.Index[string, user, int]
}

func newShop(t testing.TB) *shop {
	s := new(shop)
	s.users = cow.NewTable[string](&s.db, "users", cow.Options[user]{})
	s.orders = cow.NewTable[int](&s.db, "orders / <all>", cow.Options[string]{})
	s.points = cow.NewTable[[2]float64](&s.db, "", cow.Options[bool]{})
	var err error
	s.byAge, err = cow.NewIndex(s.users, "age", func(r cow.Row[string, user]) int { return r.Shared().Age }, cow.IndexOptions[string]{})
	require.NoError(t, err)
	s.db.Retain(cow.Retention{Versions: 100})
	return s
}

// fill writes rows in a few versions.
func (s *shop) fill(t testing.TB) *shop {
	for i := range 130 {
		_, err := s.users.Set(fmt.Sprintf("user-%03d", i), user{Name: "Ada", Age: i % 50})
		require.NoError(t, err)
	}
	require.NoError(t, s.db.Pin("before", 120))
	require.NoError(t, s.db.Update(func(tx *cow.Tx) error {
		s.users.Edit(tx).Set("user-007", user{Name: "James", Age: 40, Tags: []string{"spy"}})
		s.users.Edit(tx).Delete("user-000")
		s.orders.Edit(tx).Set(-5, "tea")
		s.points.Edit(tx).Set([2]float64{1, -2}, true)
		return nil
	}))
	return s
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
		all = append(all, to.String())
	}
	return all
}

// Every link of every page leads to a page, under any prefix, in every form.
func TestEveryLinkLeadsToAPage(t *testing.T) {
	s := newShop(t).fill(t)
	for _, o := range []inspect.Options{{}, {Value: inspect.JSON, Slow: time.Nanosecond}, {Digest: []byte("secret")}} {
		mux := http.NewServeMux()
		mux.Handle("/debug/cow/", http.StripPrefix("/debug/cow", inspect.Handler(&s.db, o)))
		seen := map[string]bool{}
		kinds := map[string]int{}
		queue := []string{"/debug/cow/"}
		for len(queue) > 0 {
			address := queue[0]
			queue = queue[1:]
			if seen[address] {
				continue
			}
			seen[address] = true
			require.True(t, strings.HasPrefix(address, "/debug/cow/"), address)
			kind := regexp.MustCompile(`[0-9]+`).ReplaceAllString(strings.TrimPrefix(address, "/debug/cow/l/"+s.db.Lineage().ID), "N")
			kind, _, _ = strings.Cut(kind, "users/")
			most := 40
			if testing.Short() {
				most = 5
			}
			if kinds[kind]++; kinds[kind] > most {
				continue // there are thousands of pairs of versions
			}
			w := get(mux, address)
			require.Equal(t, 200, w.Code, "%s: %s", address, w.Body)
			if strings.HasSuffix(address, ".css") || strings.HasSuffix(address, ".svg") {
				require.Contains(t, w.Header().Get("Cache-Control"), "public")
				continue
			}
			require.Contains(t, w.Header().Get("Content-Security-Policy"), "default-src 'none'")
			require.NotContains(t, w.Body.String(), "style=")
			require.NotContains(t, w.Body.String(), "<script")
			queue = append(queue, links(t, address, w.Body.String())...)
			for accept, is := range map[string]string{"*/*": "text/plain", "application/json": "application/json"} {
				w := get(mux, address, "Accept", accept)
				require.Equal(t, 200, w.Code)
				require.Contains(t, w.Header().Get("Content-Type"), is)
				require.NotContains(t, w.Body.String(), "<html")
				if is == "application/json" {
					require.True(t, json.Valid(w.Body.Bytes()))
				}
			}
		}
		require.Greater(t, len(seen), 50)
	}
}

// follow returns the keys that pages of rows list, from one to the next by a link of that name.
func follow(t *testing.T, h http.Handler, address, name string) (keys []string) {
	next := regexp.MustCompile(`<a href="([^"]*)">` + name + `</a>`)
	key := regexp.MustCompile(`<td class=""><a href="[^"]*">(user-[0-9]+)</a>`)
	for range 20 {
		w := get(h, address)
		require.Equal(t, 200, w.Code, w.Body)
		for _, m := range key.FindAllStringSubmatch(w.Body.String(), -1) {
			keys = append(keys, m[1])
		}
		m := next.FindStringSubmatch(w.Body.String())
		if m == nil {
			return keys
		}
		base, err := url.Parse(address)
		require.NoError(t, err)
		to, err := base.Parse(html.UnescapeString(m[1]))
		require.NoError(t, err)
		address = to.String()
	}
	require.Fail(t, "there is no end")
	return nil
}

func TestPagesOfRows(t *testing.T) {
	s := newShop(t).fill(t)
	h := inspect.Handler(&s.db, inspect.Options{})
	table := "/l/" + s.db.Lineage().ID + "/v/131/tables/users"
	var all []string
	for key := range s.users.Load().Keys() {
		all = append(all, key)
	}
	require.Equal(t, all, follow(t, h, table, "forward"))
	last := all[len(all)-1]
	back := follow(t, h, table+"?before="+last, "back")
	require.Len(t, back, len(all)-1)
	require.ElementsMatch(t, all[:len(all)-1], back)

	var byAge []string
	for _, row := range s.byAge.In(s.users.Load()).All() {
		byAge = append(byAge, row.Key())
	}
	require.Equal(t, byAge, follow(t, h, table+"?index=age", "forward"))
	again := follow(t, h, table+"?index=age&skip=125", "back")
	slices.Sort(again)
	require.Len(t, slices.Compact(again), len(all))

	for _, bad := range []string{"?index=no", "?index=age&skip=-1", "?index=age&skip=x", "?after=~zz", "?key=nobody"} {
		require.Equal(t, 404, get(h, table+bad).Code, bad)
	}
	require.Equal(t, 200, get(h, table+"?index=age&skip=99999").Code)
	for query, format := range map[string]string{"": "", "&format=json": "?format=json"} {
		w := get(h, table+"?key=user-007"+query)
		require.Equal(t, 303, w.Code)
		require.Equal(t, "../../../../../"+"l/"+s.db.Lineage().ID+"/v/131/tables/users/user-007"+format, w.Header().Get("Location"))
	}
	row := `(?m)^user-\d+ .* l/[A-Z2-7]+/v/131/tables/users/user-\d+$`
	require.Regexp(t, row, get(h, table, "Accept", "*/*").Body.String(), "an address is the last of its row")
}

// A page ends with a row that has an address, or there would be no way on: a key that is too long
// has none.
func TestPagesOfRowsWithLongKeys(t *testing.T) {
	for _, o := range []inspect.Options{{}, {Digest: []byte("x")}} {
		table := cow.New[string](cow.Options[any]{})
		require.NoError(t, table.Update(func(e *cow.Editor[string, any]) error {
			for i := range 400 {
				key := fmt.Sprintf("user-%03d", i)
				if i%20 > 0 {
					key += strings.Repeat("x", 2000)
				}
				e.Set(key, i)
			}
			return nil
		}))
		h := inspect.Handler(table.DB(), o)
		address := "/l/" + table.DB().Lineage().ID + "/v/1/tables/~"
		for _, way := range []string{"forward", "back"} { // there and back
			seen, pages := map[string]bool{}, 0
			for ; ; pages++ {
				var page struct {
					Sections map[string]struct {
						Rows  []texts
						Links map[string]string
					}
				}
				require.NoError(t, json.Unmarshal(get(h, address+sign(address)+"format=json").Body.Bytes(), &page))
				list := page.Sections["rows"]
				require.LessOrEqual(t, len(list.Rows), 500)
				for _, row := range list.Rows {
					seen[row["key"]] = true
				}
				if list.Links[way] == "" {
					break
				}
				address = "/" + list.Links[way]
			}
			require.GreaterOrEqual(t, len(seen), 399, way) // the way back may pass over the key that the last page is after
			require.LessOrEqual(t, pages, 8)
		}

		all := cow.New[string](cow.Options[any]{})
		require.NoError(t, all.Update(func(e *cow.Editor[string, any]) error {
			for i := range 501 {
				e.Set(fmt.Sprint(i, strings.Repeat("x", 2000)), i)
			}
			return nil
		}))
		w := get(inspect.Handler(all.DB(), o), "/l/"+all.DB().Lineage().ID+"/v/1/tables/~")
		require.Contains(t, w.Body.String(), "No link leads to them")
	}
}

// sign returns what is between an address and a parameter more.
func sign(address string) string {
	if strings.Contains(address, "?") {
		return "&"
	}
	return "?"
}

// keeper is a sink that takes nothing, and has not said so.
type keeper struct{}

func (keeper) Room(context.Context, int) error { return errors.New("only read") }
func (keeper) Propose(*sink.Commit) error      { return errors.New("only read") }
func (keeper) Trim(uint64)                     {}
func (keeper) Close() error                    { return nil }

// The line of versions says how many rows each changed, and how many bytes of the past that holds.
func TestTheLineOfVersions(t *testing.T) {
	s := newShop(t).fill(t)
	require.True(t, s.db.Unpin("before"))
	var line struct {
		Sections struct {
			Line struct {
				Versions []struct {
					Version        uint64
					Changes, Bytes int
				}
			}
		}
	}
	require.NoError(t, json.Unmarshal(get(inspect.Handler(&s.db, inspect.Options{}), "/", "Accept", "application/json").Body.Bytes(), &line))
	is := line.Sections.Line.Versions
	require.Len(t, is, 100)
	last, before := is[99], is[98]
	require.Equal(t, s.db.Load().Version(), last.Version)
	require.Equal(t, 4, last.Changes)
	require.Equal(t, 1, before.Changes)
	require.Greater(t, last.Bytes, before.Bytes, "two rows are gone, and two records more of changes are there")
	sum := 0
	for _, v := range is {
		require.Positive(t, v.Bytes)
		sum += v.Bytes
	}
	require.LessOrEqual(t, sum, s.db.Stats().HeldBytes) // which has whole snapshots too
	s.db.Compact(last.Version)
	require.Contains(t, get(inspect.Handler(&s.db, inspect.Options{}), "/").Body.String(), "No version before this one is retained")
}

// Where it is known which old versions readers hold, the first page names them.
func TestHeldSnapshotsAreNamed(t *testing.T) {
	table := cow.New[string](cow.Options[any]{})
	db := table.DB()
	h := inspect.Handler(db, inspect.Options{})
	shown := func() bool {
		runtime.GC()
		return strings.Contains(get(h, "/").Body.String(), "Held snapshots")
	}
	db.TrackSnapshots(true)
	before := db.Load()
	_, err := table.Set("a", 1)
	require.NoError(t, err)
	require.Eventually(t, shown, time.Minute, time.Millisecond)
	runtime.KeepAlive(before)
	require.Eventually(t, func() bool { return !shown() }, time.Minute, time.Millisecond)
}

// A DB cannot know that its sink takes no commits before there is one.
func TestASinkWithoutAnErrorIsNotSaidToTakeCommits(t *testing.T) {
	var db cow.DB
	cow.NewTable[string](&db, "t", cow.Options[user]{Codec: cow.Versioned[user]{}})
	line := sink.For(&db)
	require.NoError(t, line.Attach(keeper{}, line.Contents(), nil))
	w := get(inspect.Handler(&db, inspect.Options{}), "/", "Accept", "*/*")
	require.Regexp(t, `(?m)^sink +no error$`, w.Body.String())
	require.NotContains(t, w.Body.String(), "connected")
}

// A row is shown as it was at the version of the address, with what it was before.
func TestARowAndItsPast(t *testing.T) {
	s := newShop(t).fill(t)
	h := inspect.Handler(&s.db, inspect.Options{Value: inspect.JSON})
	at := "/l/" + s.db.Lineage().ID + "/v/"
	now := get(h, at+"131/tables/users/user-007").Body.String()
	require.Contains(t, now, "James")
	require.Contains(t, now, "no longer retained")
	before := get(h, at+"130/tables/users/user-007").Body.String()
	require.NotContains(t, before, "James")
	require.Contains(t, before, "The row was written again since.")

	_, err := s.users.Set("user-007", user{Name: "James", Age: 41, Tags: []string{"spy", "retired"}})
	require.NoError(t, err)
	is := get(h, at+"132/tables/users/user-007", "Accept", "text/plain").Body.String()
	require.Regexp(t, `Age +40 +41`, is)
	require.Regexp(t, `Tags\[1\] +"?retired`, is)
	require.NotRegexp(t, `Name +James`, is, "it is the same")
	require.Equal(t, 404, get(h, at+"131/tables/users/user-000").Code, "it was removed")
	require.Equal(t, 200, get(h, at+"130/tables/users/user-000").Code)
	require.Contains(t, get(h, at+"130/tables/users/user-000").Body.String(), "no longer has this row")

	diff := get(h, "/l/"+s.db.Lineage().ID+"/diff/130/131", "Accept", "application/json").Body.Bytes()
	var page struct {
		Sections map[string]struct {
			Rows []texts
		}
	}
	require.NoError(t, json.Unmarshal(diff, &page))
	users := page.Sections["table users"].Rows
	require.Len(t, users, 2)
	slices.SortFunc(users, func(a, b texts) int { return strings.Compare(a["key"], b["key"]) })
	require.Equal(t, "removed", users[0]["what"])
	require.Equal(t, "changed", users[1]["what"])
	require.JSONEq(t, `[{"field":"Age","before":"7","after":"40"},{"field":"Name","before":"\"Ada\"","after":"\"James\""},{"field":"Tags","before":"null"},{"field":"Tags[0]","after":"\"spy\""}]`, users[1]["difference"])
	require.Equal(t, "added", page.Sections["table orders / <all>"].Rows[0]["what"])
}

func TestVersionsThatAreNotThere(t *testing.T) {
	s := newShop(t).fill(t)
	h := inspect.Handler(&s.db, inspect.Options{})
	id := s.db.Lineage().ID
	w := get(h, "/l/"+id+"/v/3")
	require.Equal(t, http.StatusGone, w.Code)
	require.Contains(t, w.Body.String(), "the nearest is 31")
	w = get(h, "/l/"+id+"/v/9999")
	require.Equal(t, 404, w.Code)
	require.Contains(t, w.Body.String(), "the latest is 131")
	w = get(h, "/l/ABCDEFGHIJKLMNOPQRSTUVWXYZ/v/1")
	require.Equal(t, 404, w.Code)
	require.Contains(t, w.Body.String(), id)
	require.NoError(t, s.db.Compact(131))
	require.Equal(t, 200, get(h, "/l/"+id+"/v/120").Code, "it is pinned")
	w = get(h, "/l/"+id+"/v/121")
	require.Equal(t, http.StatusGone, w.Code)
	require.Contains(t, w.Body.String(), "the nearest is 120")
	for _, bad := range []string{"/x", "/l", "/l/" + id + "/", "/l/" + id + "/x", "/l/" + id + "/v", "/l/" + id + "/v/", "/l/" + id + "/v/01", "/l/" + id + "/v/+1",
		"/l/" + id + "/v/-1", "/l/" + id + "/v/18446744073709551616", "/l/" + id + "/v/131/", "/l/" + id + "/v/131/tables", "/l/" + id + "/v/131/tables/no",
		"/l/" + id + "/v/131/tables/users/../users", "/l/" + id + "/v/131/tables/users/user-001/x", "/l/" + id + "/diff/1", "/l/" + id + "/diff/131/x", "//", "/style-.css"} {
		require.Equal(t, 404, get(h, bad).Code, bad)
	}
}

// By default no value is anywhere, in whatever form, and with Digest no key.
func TestSecretsAreNotShown(t *testing.T) {
	const secret = "S3CRET"
	var db cow.DB
	users := cow.NewTable[string](&db, "users", cow.Options[user]{})
	_, err := cow.NewIndex(users, "name", func(r cow.Row[string, user]) string { return r.Shared().Name }, cow.IndexOptions[string]{})
	require.NoError(t, err)
	db.Retain(cow.Retention{Versions: 10})
	for range 3 {
		_, err := users.Set("KEY", user{Name: secret, Tags: []string{secret}, Extra: map[string]any{secret: []byte(secret)}})
		require.NoError(t, err)
	}
	for name, o := range map[string]inspect.Options{"default": {Slow: time.Nanosecond}, "digest": {Digest: []byte("x"), Slow: time.Nanosecond}} {
		h := inspect.Handler(&db, o)
		seen := make(map[string]bool)
		var visit func(address string)
		visit = func(address string) {
			if seen[address] {
				return
			}
			seen[address] = true
			for _, form := range []string{"html", "json", "text"} {
				w := get(h, address+sign(address)+"format="+form)
				require.Equal(t, 200, w.Code)
				require.NotContains(t, w.Body.String(), secret, address)
				if name == "digest" {
					require.NotContains(t, w.Body.String(), "KEY", address)
				} else if strings.HasSuffix(address, "/v/3/tables/users") {
					require.Contains(t, w.Body.String(), "KEY")
				}
				if form == "html" {
					for _, to := range links(t, address, w.Body.String()) {
						if !strings.HasSuffix(to, ".css") && !strings.HasSuffix(to, ".svg") {
							visit(to)
						}
					}
				}
			}
		}
		visit("/")
		require.Greater(t, len(seen), 8)
	}
}

var hostile = []string{"", ".", "..", "...", "/", "a/b", "../../etc/passwd", "%2e%2e", "%00", "~", "~41", "<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`,
	"javascript:alert(1)", "\x00\x01\x7f", "\xff\xfe", "\u202egnp.exe", "\u2028", "a b", "?x=1#y", "ä€😀", strings.Repeat("long", 400), "user\nname", " a ", `"`, "&amp;"}

// Whatever keys, names and values are: each key has one address, which leads to it, and nothing
// of them gets into a page but as text.
func TestHostileContent(t *testing.T) {
	var db cow.DB
	tables := map[string]*cow.Table[string, any]{}
	for _, name := range hostile[:12] {
		tables[name] = cow.NewTable[string](&db, name, cow.Options[any]{})
	}
	require.NoError(t, db.Update(func(tx *cow.Tx) error {
		for _, table := range tables {
			for _, key := range hostile {
				table.Edit(tx).Set(key, key)
			}
			table.Edit(tx).Set("large", strings.Repeat("<b>", 3<<20))
		}
		return nil
	}))
	h := inspect.Handler(&db, inspect.Options{Value: inspect.JSON, Title: "<b>title</b>"})
	rows := 0
	for _, address := range links(t, "/", get(h, "/").Body.String()) {
		if !strings.Contains(address, "/tables/") {
			continue
		}
		body := get(h, address).Body.String()
		require.Less(t, len(body), 64<<10)
		requireText(t, body)
		for _, to := range links(t, address, body) {
			if strings.Count(to, "/") == 7 {
				w := get(h, to)
				require.Equal(t, 200, w.Code, "%s: %s", to, w.Body)
				require.Less(t, w.Body.Len(), 512<<10, "it is cut")
				requireText(t, w.Body.String())
				rows++
			}
		}
	}
	require.Equal(t, 12*len(hostile), rows, "all but one, which is too long for an address, and another is large")
}

// requireText fails if a page has an element or a character that is none of its own.
func requireText(t *testing.T, body string) {
	t.Helper()
	require.NotContains(t, body, "<script")
	require.NotContains(t, body, "<img")
	require.NotContains(t, body, "<b>")
	require.NotContains(t, body, `href="javascript`)
	for _, r := range body {
		if r < ' ' && r != '\n' || r == 0x7f || r == 0x202e || r == 0x2028 {
			require.Fail(t, "a character that is not seen", "%x", r)
		}
	}
}

func TestRequestsThatChangeNothing(t *testing.T) {
	s := newShop(t).fill(t)
	h := inspect.Handler(&s.db, inspect.Options{})
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, "X"} {
		r := httptest.NewRequest(method, "http://shop.example/", nil)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		require.Equal(t, http.StatusMethodNotAllowed, w.Code)
	}
	at := "/l/" + s.db.Lineage().ID + "/v/131/tables/users/user-001"
	tag := get(h, at).Header().Get("ETag")
	require.NotEmpty(t, tag)
	for none, code := range map[string]int{tag: 304, `"x", ` + tag: 304, "W/" + tag + `,"x"`: 304, "*": 304, `"x"`: 200, "x": 200, "": 200} {
		w := get(h, at, "If-None-Match", none)
		require.Equal(t, code, w.Code, none)
		require.Equal(t, code == 304, w.Body.Len() == 0, none)
		require.Equal(t, tag, w.Header().Get("ETag"))
	}
	require.Equal(t, http.StatusBadRequest, get(h, at+"?format=xml").Code)
	require.Equal(t, uint64(131), s.db.Load().Version())
}

// What functions of the program do is an error of the page.
func TestFunctionsThatPanic(t *testing.T) {
	s := newShop(t).fill(t)
	h := inspect.Handler(&s.db, inspect.Options{Value: func(string, any) any { panic("a function") }})
	w := get(h, "/l/"+s.db.Lineage().ID+"/v/131/tables/users")
	require.Equal(t, 200, w.Code, "the other rows are shown")
	require.Contains(t, w.Body.String(), "a function of the program panicked")
	h = inspect.Handler(&s.db, inspect.Options{Value: func(string, any) any { return make(chan int) }})
	w = get(h, "/l/"+s.db.Lineage().ID+"/v/131/tables/users/user-001")
	require.Equal(t, 200, w.Code)
	require.Contains(t, w.Body.String(), "which is not shown")
}

// A value that is as deep as memory allows is an error of its page, and not the end of the process.
func TestADeepValue(t *testing.T) {
	s := newShop(t)
	deep := any("end")
	for range 100_000 {
		deep = []any{deep}
	}
	_, err := s.users.Set("deep", user{Extra: deep})
	require.NoError(t, err)
	h := inspect.Handler(&s.db, inspect.Options{Value: inspect.JSON})
	w := get(h, "/l/"+s.db.Lineage().ID+"/v/1/tables/users/deep")
	require.Equal(t, 200, w.Code)
	require.Contains(t, w.Body.String(), "nested too deeply")
}

func TestSlowUpdatesAreListed(t *testing.T) {
	s := newShop(t)
	h := inspect.Handler(&s.db, inspect.Options{Slow: time.Nanosecond, Value: inspect.JSON})
	for i := range 50 {
		_, err := s.orders.Set(i, "tea")
		require.NoError(t, err)
	}
	require.ErrorContains(t, s.db.Update(func(*cow.Tx) error { time.Sleep(5 * time.Millisecond); return fmt.Errorf("not <today>") }), "today")
	body := get(h, "/", "Accept", "application/json").Body.Bytes()
	var page struct {
		Sections map[string]struct {
			Rows []texts
		}
	}
	require.NoError(t, json.Unmarshal(body, &page))
	require.Len(t, page.Sections["slow"].Rows, 20)
	require.Equal(t, "not <today>", page.Sections["slow"].Rows[0]["error"])
}

// fixed is an error that has nothing in it of what is stored.
type fixed string

func (f fixed) Error() string { return string(f) }
func (fixed) Sentinel()       {}

// Errors and panics have values and keys in their texts: they are shown only where these are.
func TestErrorsTellNoSecrets(t *testing.T) {
	const secret = "S3CRET"
	var db cow.DB
	users := cow.NewTable[string](&db, "users", cow.Options[user]{})
	_, err := cow.NewIndex(users, "name", func(r cow.Row[string, user]) string { return r.Shared().Name }, cow.IndexOptions[string]{Unique: true})
	require.NoError(t, err)
	_, err = cow.NewIndexFunc(users, "panics", func(r cow.Row[string, user], add func(int)) error {
		if r.Shared().Age == 1 {
			panic("bad row " + r.Key())
		}
		return nil
	}, cow.IndexOptions[string]{})
	require.NoError(t, err)
	for _, o := range []inspect.Options{{Slow: 1}, {Slow: 1, Digest: []byte("x")}, {Slow: 1, Digest: []byte("x"), Value: func(string, any) any { panic(secret) }}} {
		h := inspect.Handler(&db, o)
		_, err = users.Set(secret, user{Name: secret})
		require.NoError(t, err)
		_, err = users.Set("other", user{Name: secret})
		require.ErrorContains(t, err, secret)
		_, err = users.Insert(secret, user{})
		require.ErrorContains(t, err, secret)
		require.Panics(t, func() { _, _ = users.Set("panics", user{Age: 1}) })
		w := get(h, "/", "Accept", "text/plain")
		require.Equal(t, 200, w.Code)
		require.NotContains(t, w.Body.String(), secret)
		require.Contains(t, w.Body.String(), cow.ErrExists.Error(), "of what kind it was is shown")
		for _, same := range []error{fixed("the file is another"), syscall.EIO} {
			err = fmt.Errorf("%s: %w", secret, same)
			require.ErrorIs(t, db.Update(func(*cow.Tx) error { return err }), err)
			w = get(h, "/", "Accept", "text/plain")
			require.NotContains(t, w.Body.String(), secret)
			require.Contains(t, w.Body.String(), same.Error(), "which is the same always")
		}
		if o.Digest != nil {
			w = get(h, fmt.Sprintf("/l/%s/v/%d/tables/users?key=%s", db.Lineage().ID, db.Load().Version(), secret))
			require.Equal(t, 200, w.Code, "a key is not looked up")
			require.NotContains(t, w.Body.String(), secret)
		}
	}
}

// What differs is shown, however little: numbers, kinds and names.
func TestDifferencesThatAreSmall(t *testing.T) {
	table := cow.New[string](cow.Options[any]{})
	db := table.DB()
	db.Retain(cow.Retention{Versions: 100})
	h := inspect.Handler(db, inspect.Options{Value: inspect.JSON})
	for _, pair := range [][2]any{
		{int64(9007199254740993), int64(9007199254740992)}, {"1", 1}, {nil, "null"}, {[]any{}, map[string]any{}}, {"a", "a\n"},
		{map[string]any{"a.b": 1, "a": map[string]any{"b": 2}}, map[string]any{"a.b": 1, "a": map[string]any{"b": 3}}},
	} {
		for _, v := range pair {
			_, err := table.Set("k", v)
			require.NoError(t, err)
		}
		w := get(h, fmt.Sprintf("/l/%s/v/%d/tables/~/k", db.Lineage().ID, db.Load().Version()), "Accept", "application/json")
		require.Equal(t, 200, w.Code)
		var page struct {
			Sections struct {
				History struct {
					List []struct {
						Facts map[string]any
						Rows  []texts
					}
				}
			}
		}
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &page))
		last := page.Sections.History.List[0] // the newest first
		require.EqualValues(t, db.Load().Version(), last.Facts["version"])
		require.NotEmpty(t, last.Rows, pair)
	}
}

// Keys of interfaces have no address: what they hold says nothing of what they are.
func TestKeysWithoutAnAddress(t *testing.T) {
	table := cow.New[any](cow.Options[int]{})
	for i, key := range []any{"1", 1, true, 1.5} {
		_, err := table.Set(key, i)
		require.NoError(t, err)
	}
	h := inspect.Handler(table.DB(), inspect.Options{})
	address := "/l/" + table.DB().Lineage().ID + "/v/4/tables/~"
	body := get(h, address).Body.String()
	require.Contains(t, body, "1.5")
	for _, to := range links(t, address, body) {
		require.NotContains(t, to, "/tables/~/")
	}
}

// A value takes time proportional to its size, however deep it is.
func TestLargeAndDeepValues(t *testing.T) {
	table := cow.New[string](cow.Options[any]{})
	deep := any(strings.Repeat("x", 1000))
	for range 5000 {
		deep = []any{deep}
	}
	_, err := table.Set("deep", deep)
	require.NoError(t, err)
	_, err = table.Set("large", strings.Repeat("ä\n", 1<<20))
	require.NoError(t, err)
	h := inspect.Handler(table.DB(), inspect.Options{Value: inspect.JSON})
	at := "/l/" + table.DB().Lineage().ID + "/v/2/tables/~"
	for _, address := range []string{at, at + "/deep", at + "/large"} {
		w := get(h, address)
		require.Equal(t, 200, w.Code)
		require.Less(t, w.Body.Len(), 256<<10)
	}
	require.Contains(t, get(h, at).Body.String(), "3\u202f145\u202f728 bytes", "that of all of it")
}

// What an address has in it is not a command to a terminal.
func TestAnswersInPlainText(t *testing.T) {
	s := newShop(t).fill(t)
	h := inspect.Handler(&s.db, inspect.Options{})
	for _, path := range []string{"/l/\x1b[31mred\r\n\u202e", "/l/" + s.db.Lineage().ID + "/v/\x1b", "/l/" + s.db.Lineage().ID + "/v/131/tables/users/\x1b\u202e"} {
		w := get(h, path, "Accept", "*/*")
		require.Equal(t, 404, w.Code)
		require.NotContains(t, w.Body.String(), "\x1b")
		require.NotContains(t, w.Body.String(), "\u202e")
	}
}

// Whoever is asked for answers, and no request is answered by a panic or an error of the server.
func FuzzRequests(f *testing.F) {
	s := newShop(f).fill(f)
	id := s.db.Lineage().ID
	for _, key := range hostile {
		f.Add("/l/"+id+"/v/131/tables/users/"+key, "after="+key+"&key=x")
	}
	f.Add("/l/"+id+"/diff/120/131", "format=json")
	f.Add("/l/"+id+"/v/131/tables/users", "index=age&skip=5")
	plain, digest := inspect.Handler(&s.db, inspect.Options{Value: inspect.JSON}), inspect.Handler(&s.db, inspect.Options{Digest: []byte("x")})
	f.Fuzz(func(t *testing.T, path, query string) {
		path = strings.Replace(path, "LINEAGE", id, 1)
		for _, h := range []http.Handler{plain, digest} {
			w := get(h, path+"?"+query)
			require.Less(t, w.Code, 500, "%s", w.Body)
		}
	})
}
