package local

import (
	"net/http"
	"time"

	"github.com/cowstore/cowstore/cow/inspect"
	"github.com/cowstore/cowstore/memory"
	memoryinspect "github.com/cowstore/cowstore/memory/inspect"
)

// slow is how long a write takes that the pages list.
const slow = 100 * time.Millisecond

// Pages returns pages about a memory, with what is stored or, without values, its types and sizes
// alone.
func Pages(m *memory.Memory, values bool) http.Handler {
	o, of := inspect.Options{Title: "cowmemory", Slow: slow}, memoryinspect.Options{}
	if values {
		o.Value, of.Value = inspect.JSON, memoryinspect.JSON
	}
	o.Parts = []inspect.Part{memoryinspect.Part(m, of)}
	return inspect.Handler(m.DB(), o)
}
