package inspect_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"

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

	address := "/debug/cow/l/" + db.Lineage().ID + "/v/1/tables/users/ada?format=json"
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
	pages := inspect.Handler(users.DB(), inspect.Options{Parts: []inspect.Part{ages}})

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
