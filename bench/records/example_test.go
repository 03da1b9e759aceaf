package records_test

import (
	"fmt"
	"strings"

	"github.com/cowstore/cowstore/bench/records"
	"github.com/cowstore/cowstore/memory"
)

func Example() {
	all, err := records.Load(strings.NewReader(`
		{"space":["user","42"],"key":"name","value":"The user is called Ines"}
		{"space":["user","42"],"key":"trip","value":"Takes the night train to Lyon"}
		{"space":["user","42"],"key":"seat","value":"Likes to sit at the window"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	queries, err := records.Queries(strings.NewReader(`
		{"space":["user","42"],"key":"name"}
		{"space":["user","42"],"text":"Book the train","relevant":["trip","seat"]}`), all)
	if err != nil {
		fmt.Println(err)
		return
	}

	m := memory.New(memory.Options{})
	for _, r := range all {
		if _, err := m.Space(r.Space...).Put(r.Key, r.Value); err != nil {
			fmt.Println(err)
			return
		}
	}
	for _, q := range queries {
		space := m.Space(q.Space...)
		if q.Text == "" {
			v, _ := space.Get(q.Key)
			fmt.Println(v)
			continue
		}
		hits, err := space.SearchText(q.Text, memory.SearchOptions{K: 1})
		if err != nil {
			fmt.Println(err)
			return
		}
		found := []string{hits[0].Key}
		fmt.Println(found, records.Recall(found, q.Relevant))
	}
	// Output:
	// The user is called Ines
	// [trip] 0.5
}
