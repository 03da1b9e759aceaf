package inspect_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/inspect"
)

// The pages are served under a prefix. This is one row of a table, as JSON.
func ExampleHandler() {
	var db cow.DB
	users := cow.NewTable[string](&db, "users", cow.Options[int]{})
	users.Set("ada", 36)

	mux := http.NewServeMux()
	pages := inspect.Handler(&db, inspect.Options{Value: inspect.JSON})
	mux.Handle("/debug/cow/", http.StripPrefix("/debug/cow", pages))

	address := "/debug/cow/l/" + db.Lineage().ID + "/v/1/tables/users/ada"
	address += "?format=json"
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, address, nil))
	var page struct {
		Title    string
		Sections struct{ Row struct{ Text string } }
	}
	err := json.Unmarshal(w.Body.Bytes(), &page)
	fmt.Println(w.Code, page.Title, page.Sections.Row.Text, err)
	// Output:
	// 200 ada 36 <nil>
}

// A Part adds pages about what a package keeps in the tables, here one page.
func ExamplePart() {
	users := cow.New[string](cow.Options[int]{})
	users.Set("ada", 36)
	users.Set("bob", 27)

	ages := inspect.Part{Name: "ages", Show: func(p *inspect.Page) error {
		if len(p.Path()) > 0 {
			return p.Missing("there is only one page of ages")
		}
		sum := 0
		for _, age := range users.In(p.Snapshot()).All() {
			sum += age
		}
		p.Fact("sum", sum)
		return nil
	}}
	pages := inspect.Handler(users.DB(),
		inspect.Options{Parts: []inspect.Part{ages}})

	address := "/l/" + users.DB().Lineage().ID + "/v/2/ages?format=json"
	w := httptest.NewRecorder()
	pages.ServeHTTP(w, httptest.NewRequest(http.MethodGet, address, nil))
	fmt.Println(w.Body)
	// Output:
	// {
	//   "sections": {
	//     "ages": {
	//       "facts": {
	//         "sum": 63
	//       }
	//     }
	//   },
	//   "title": "ages"
	// }
}

// A page of one user, with links to the page above it and to the same page at an earlier version.
func ExamplePage() {
	users := cow.New[string](cow.Options[int]{})
	users.DB().Retain(cow.Retention{Versions: 10})
	users.Set("ada", 35)
	users.Set("ada", 36)

	part := inspect.Part{Name: "people", Show: func(p *inspect.Page) error {
		if len(p.Path()) != 2 || p.Path()[0] != "user" {
			return p.Missing("a page is of one user")
		}
		key := p.Path()[1]
		row, ok := users.In(p.Snapshot()).Row(key)
		if !ok {
			return p.Missing("there is no user %s", p.Key(key))
		}
		p.Title("user "+p.Key(key), inspect.Link{Text: "people", To: p.To(nil)})
		p.Fact("written by", p.Version(row.Revision()))
		p.Text(row.Value())
		before := p.Snapshot().Version() - 1
		p.Link(inspect.Link{Text: "one version ago", To: p.At(before)})
		return nil
	}}
	fmt.Println(served(users.DB(), part, "/user/ada"))
	// Output:
	// 200 {
	//   "sections": {
	//     "people": {
	//       "facts": {
	//         "written by": "2"
	//       },
	//       "links": {
	//         "one version ago": "l/LINEAGE/v/1/people/user/ada"
	//       },
	//       "text": "36"
	//     }
	//   },
	//   "title": "user ada"
	// }
}

// A form that asks for a name, and a table of what is found. The address of each row has the key in
// a parameter: sealed, so that it is encrypted where keys are not to be seen.
func ExamplePage_form() {
	users := cow.New[string](cow.Options[int]{})
	users.Set("ada", 36)

	part := inspect.Part{Name: "people", Show: func(p *inspect.Page) error {
		m := users.In(p.Snapshot())
		key, asked := p.Form("Name", "name")
		if sealed := p.Query().Get("near"); sealed != "" {
			key, asked = p.Opened(sealed)
		}
		p.Note("users: %d", m.Len())
		p.Section("Found")
		p.Columns("user", "age")
		if age, ok := m.Get(key); asked && ok {
			sealed, _ := p.Sealed(key)
			near := p.To(url.Values{"near": {sealed}})
			p.Row(inspect.Link{Text: p.Key(key), To: near}, age)
		}
		return nil
	}}
	fmt.Println(served(users.DB(), part, "?name=ada"))
	// Output:
	// 200 {
	//   "sections": {
	//     "found": {
	//       "rows": [
	//         {
	//           "address": "l/LINEAGE/v/1/people?near=ada",
	//           "age": 36,
	//           "user": "ada"
	//         }
	//       ]
	//     },
	//     "people": {
	//       "notes": [
	//         "users: 1"
	//       ]
	//     }
	//   },
	//   "title": "people"
	// }
}

// served returns a page of a part as JSON, with LINEAGE for that of the DB.
func served(db *cow.DB, part inspect.Part, address string) string {
	pages := inspect.Handler(db, inspect.Options{Parts: []inspect.Part{part}})
	id, version := db.Lineage().ID, db.Load().Version()
	address = fmt.Sprintf("/l/%s/v/%d/%s%s", id, version, part.Name, address)
	r := httptest.NewRequest(http.MethodGet, address, nil)
	r.Header.Set("Accept", "application/json")
	w := httptest.NewRecorder()
	pages.ServeHTTP(w, r)
	text := strings.TrimSpace(w.Body.String())
	return fmt.Sprint(w.Code, " ", strings.ReplaceAll(text, id, "LINEAGE"))
}
