package inspect_test

import (
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	cowinspect "github.com/cowstore/cowstore/cow/inspect"
	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/inspect"
)

// A person reads one page after another, and goes on by what is on it.
type person struct {
	t       *testing.T
	address *url.URL
	page    string
	seen    map[string]string // what addresses of versions showed that stays
}

var (
	heading = regexp.MustCompile(`<h1>(.*)</h1>`)
	pinned  = regexp.MustCompile(`^/debug/l/[A-Z2-7]{26}/(v|diff)/\d+`)
	stays   = regexp.MustCompile(`(?s)<h1>.*?</h1>|<table>.*?</table>|<pre.*?</pre>`)
	tags    = regexp.MustCompile(`<[^>]*>`)
)

// open opens a page, which is called so.
func (p *person) open(address, called string) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, address, nil)
	require.NoError(p.t, err)
	r.Header.Set("Accept", "text/html,application/xhtml+xml")
	w, err := http.DefaultClient.Do(r) // which follows redirects, as browsers do
	require.NoError(p.t, err)
	defer w.Body.Close()
	body, err := io.ReadAll(w.Body)
	require.NoError(p.t, err)
	require.Equal(p.t, http.StatusOK, w.StatusCode, "%s: %s", address, body)
	p.address, p.page = w.Request.URL, string(body)
	require.Equal(p.t, called, html.UnescapeString(heading.FindStringSubmatch(p.page)[1]), p.address)
	if called != "agency" {
		require.Regexp(p.t, pinned, p.address.Path, "lineage and version are in the address")
		is := strings.Join(stays.FindAllString(p.page, -1), "\n")
		if was, ok := p.seen[p.address.String()]; ok {
			require.Equal(p.t, was, is, "%s shows what it showed", p.address)
		}
		p.seen[p.address.String()] = is
	}
}

func (p *person) to(address string) string {
	p.t.Helper()
	to, err := p.address.Parse(html.UnescapeString(address))
	require.NoError(p.t, err)
	return to.String()
}

// follow follows the first link of that text, to a page that is called so.
func (p *person) follow(text, called string) {
	p.t.Helper()
	link := regexp.MustCompile(`<a href="([^"]*)">` + regexp.QuoteMeta(html.EscapeString(text)) + `</a>`).FindStringSubmatch(p.page)
	require.NotNil(p.t, link, "%s has no link %q:\n%s", p.address, text, p.page)
	p.open(p.to(link[1]), called)
}

// send sends a text with the form of that label.
func (p *person) send(label, text, called string) {
	p.t.Helper()
	form := regexp.MustCompile(`<form action="([^"]*)"><label>` + label + ` <input name="([^"]*)"`).FindStringSubmatch(p.page)
	require.NotNil(p.t, form, "%s has no form %q:\n%s", p.address, label, p.page)
	p.open(p.to(form[1])+"?"+url.Values{form[2]: {text}}.Encode(), called)
}

// sees looks that the page has lines of such texts. A row of a table is a line, with a space after
// each cell.
func (p *person) sees(patterns ...string) {
	p.t.Helper()
	text := strings.NewReplacer("</td>", " ", "</th>", " ", "</dt>", " ", "</dd>", "\n").Replace(p.page)
	text = html.UnescapeString(tags.ReplaceAllString(text, ""))
	for _, pattern := range patterns {
		require.Regexp(p.t, `(?m)^`+pattern+`$`, text, p.address)
	}
}

type task struct {
	State string
	Tries int
}

// From the first page links lead to all that a person asks for: what a version changed, what a row
// was before, what a memory has, how an entry became what it is. Each address shows the same later.
func TestAWalk(t *testing.T) {
	var db cow.DB
	tasks := cow.NewTable[string](&db, "tasks", cow.Options[task]{})
	m := memory.On(&db, memory.Options{})
	db.Retain(cow.Retention{Versions: 1000})
	write := func(n int) {
		require.NoError(t, db.Update(func(tx *cow.Tx) error {
			e := tasks.Edit(tx)
			for i := 0; n == 1 && i < 120; i++ {
				e.Set(fmt.Sprintf("task-%03d", i), task{"ready", 0})
			}
			e.Set("task/007", task{"done", n})
			return m.BatchIn(tx, func(b *memory.Batch) error {
				return errors.Join(b.Space("agents", "ada & co").Put("note <1>", fmt.Sprint("tea at ", n)), b.Space("agents", "bob").Put("note", "coffee"))
			})
		}))
	}
	for n := 1; n <= 3; n++ {
		write(n)
	}
	pages := cowinspect.Handler(&db, cowinspect.Options{Title: "agency", Value: cowinspect.JSON, Parts: []cowinspect.Part{inspect.Part(m, inspect.Options{Value: inspect.JSON})}})
	mux := http.NewServeMux()
	mux.Handle("/debug/", http.StripPrefix("/debug", pages))
	server := httptest.NewServer(mux)
	defer server.Close()
	p := &person{t: t, seen: make(map[string]string)}

	p.open(server.URL+"/debug/", "agency")
	p.sees("version 3", "tasks 121 .*")
	write(4)
	p.follow("3", "Version 3")
	p.sees("versions since 1")
	p.follow("what it changed", "From version 2 to 3")
	p.sees("task/007 changed 2 3 .*")
	p.follow("task/007", "task/007")
	p.sees("written by version 3", "Tries 2 3 ", `Version 3 \(before: 2\)`, "Tries 1 2 ", "Before version 1 it was not there.")
	p.follow("the row as it was at version 2", "task/007")
	p.sees(`  "Tries": 2`, "The row was written again since.")
	p.follow("the row as it was at version 1", "task/007")
	p.sees(`  "Tries": 1`)
	p.follow("tasks", "tasks")
	p.follow("forward", "tasks")
	p.send("Go to key", "task/007", "task/007")
	p.follow("version 1", "Version 1")
	p.send("Compare with version", "3", "From version 3 to 1")
	p.follow("the other way around", "From version 1 to 3")
	p.follow("version 3", "Version 3")

	p.follow("memory", "memory")
	p.sees("agents 0 2 ")
	p.follow("agents", "agents")
	p.send("Search", "tea", "agents")
	p.sees("note <1> agents / ada & co .* tea tea at 3 ")
	require.Contains(t, p.page, `value="tea"`, "it can be changed")
	p.follow("the entries", "agents")
	p.follow("ada & co", "ada & co")
	p.sees("note <1> tea at 3 .*")
	p.send("Search", "TEA", "ada & co")
	p.follow("note <1>", "note <1>")
	p.sees("tea at 3", "3 .* tea at 3 ", "2 .* tea at 2 ", "1 .* tea at 1 ", "The entry was written again since.", "Before version 1 it was not there.")
	p.follow("2", "note <1>")
	p.sees("tea at 2")
	p.follow("as it is now", "note <1>")
	p.sees("tea at 4")
	p.follow("agency", "agency")
	p.send("Go to version", "2", "Version 2")

	require.Greater(t, len(p.seen), 18)
	write(5)
	for address := range p.seen {
		called := html.UnescapeString(heading.FindStringSubmatch(p.seen[address])[1])
		p.open(address, called)
	}
}
