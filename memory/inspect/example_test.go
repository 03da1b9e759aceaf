package inspect_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	cowinspect "github.com/cowstore/cowstore/cow/inspect"
	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/inspect"
)

// The pages of a DB include those of a memory in it. Here they are plain text, as curl gets them.
func ExamplePart() {
	m := memory.New(memory.Options{})
	_, _ = m.Space("user", "42").Put("style", "prefers short answers")
	_, _ = m.Space("user", "43").Put("tea", "drinks green tea")

	pages := cowinspect.Handler(m.DB(), cowinspect.Options{
		Parts: []cowinspect.Part{
			inspect.Part(m, inspect.Options{Value: inspect.JSON}),
		},
	})
	http.Handle("/debug/memory/", http.StripPrefix("/debug/memory", pages))

	address := "/debug/memory/l/" + m.DB().Lineage().ID + "/v/2/memory/space/user"
	for _, query := range []string{"", "?words=short+answers"} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, address+query, nil)
		http.DefaultServeMux.ServeHTTP(w, r)
		_, section, _ := strings.Cut(w.Body.String(), "\n\n")
		_, section, _ = strings.Cut(section, "\n\n")
		section, _, _ = strings.Cut(section, "\n\n")
		fmt.Println(strings.ReplaceAll(section, m.DB().Lineage().ID, "ID"))
	}
	// Output:
	// SPACES
	// space  entries  with those below  address
	// 42     1        1                 l/ID/v/2/memory/space/user/42
	// 43     1        1                 l/ID/v/2/memory/space/user/43
	// FOUND
	// searched for  short answers
	// key           space      score  words           value                  address
	// style         user / 42  1      short, answers  prefers short answers  l/ID/v/2/memory/entry/user/42/style
	// the entries   l/ID/v/2/memory/space/user
}
