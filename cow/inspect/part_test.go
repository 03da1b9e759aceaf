package inspect_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/inspect"
)

// echo shows its address, and leads to pages of hostile keys.
func echo(p *inspect.Page) error {
	path := p.Path()
	if len(path) > 2 {
		return p.Missing("there is no page so deep")
	}
	if len(path) > 1 && path[1] == "panic" {
		panic("S3CRET")
	}
	if len(path) > 1 && path[1] == "gone" {
		return cow.ErrCompacted
	}
	if len(path) > 1 {
		p.Title(p.Key(path[1]), inspect.Link{Text: "echo", To: p.To(nil)})
		p.Text(map[string]any{"rows": p.Snapshot().Len()})
		return nil
	}
	p.Note("%d rows", p.Snapshot().Len())
	p.Fact("time", time.Time{})
	if sent, ok := p.Form("Go to", "key"); ok {
		p.Fact("sent", sent)
	}
	p.Section("Keys")
	p.Columns("key", "n", "score", "value")
	for i, key := range hostile {
		p.Row(inspect.Link{Text: p.Key(key), To: p.To(nil, "key", key)}, i, 0.5, []string{key})
	}
	p.Link(inspect.Link{Text: "the first version", To: p.At(1)})
	p.Link(inspect.Link{Text: "no version", To: p.At(1000)})
	p.Link(inspect.Link{Text: "with a parameter", To: p.To(url.Values{"key": {"a&b"}})})
	return nil
}

// A Part has the forms, the addresses and the links of the other pages.
func TestAPart(t *testing.T) {
	table := cow.New[string](cow.Options[any]{})
	db := table.DB()
	db.Retain(cow.Retention{Versions: 10})
	for range 3 {
		_, err := table.Set("k", 1)
		require.NoError(t, err)
	}
	for _, o := range []inspect.Options{{}, {Digest: []byte("x")}} {
		o.Parts = []inspect.Part{{Name: "echo / <b>", Show: echo}}
		h := inspect.Handler(db, o)
		first := "/l/" + db.Lineage().ID + "/v/3/echo~20~2F~20~3Cb~3E"
		body := get(h, "/").Body.String()
		require.Contains(t, links(t, "/", body), first)
		require.NotContains(t, body, "<b>")
		require.Contains(t, links(t, "/l/x/v/2", get(h, strings.TrimSuffix(first, "3/echo~20~2F~20~3Cb~3E")+"2").Body.String()), strings.Replace(first, "/v/3/", "/v/2/", 1))

		w := get(h, first+"?key=abc")
		require.Equal(t, 200, w.Code)
		requireText(t, w.Body.String())
		require.Equal(t, o.Digest == nil, strings.Contains(w.Body.String(), "<form"))
		require.Equal(t, o.Digest != nil, strings.Contains(w.Body.String(), "Go to: not offered"))
		require.Equal(t, o.Digest == nil, strings.Contains(w.Body.String(), "abc"), "nothing is sent where there is no form")
		require.NotContains(t, w.Body.String(), "no version")
		pages := 0
		for _, to := range links(t, first, w.Body.String()) {
			if strings.Contains(to, first+"/key/") {
				w := get(h, to, "Accept", "application/json")
				require.Equal(t, 200, w.Code, "%s: %s", to, w.Body)
				require.Contains(t, w.Body.String(), `\"rows\": 1`)
				pages++
			}
		}
		require.Equal(t, len(hostile)-1, pages, "all but one, which is too long for an address")
		require.Equal(t, 200, get(h, strings.Replace(first, "/v/3/", "/v/1/", 1)).Code)
		require.Equal(t, 404, get(h, first+"/key/~41").Code)
		require.Equal(t, 404, get(h, first+"x").Code)
		if o.Digest != nil {
			require.Contains(t, w.Body.String(), "/key/")
			require.NotContains(t, w.Body.String(), "/key/user")
			continue
		}
		require.Contains(t, get(h, first+"?format=text").Body.String(), `""`)
		require.NotContains(t, get(h, first+"?format=text").Body.String(), `"\"\""`, "in quotes once")
		require.Equal(t, 404, get(h, first+"/key/a/b").Code)
		require.Equal(t, http.StatusGone, get(h, first+"/key/gone").Code)
		w = get(h, first+"/key/panic")
		require.Equal(t, 500, w.Code)
		require.NotContains(t, w.Body.String(), "S3CRET")
	}
	for _, name := range []string{"tables", "a"} {
		require.Panics(t, func() {
			inspect.Handler(db, inspect.Options{Parts: []inspect.Part{{Name: "a", Show: echo}, {Name: name, Show: echo}}})
		})
	}
}
