package text_test

import (
	"fmt"
	"slices"

	"github.com/cowstore/cowstore/memory/text"
)

// Each Set and Delete makes another Index. The one before is still searched as it was.
func Example() {
	words := func(s ...string) text.Words { return text.Tokenize(slices.Values(s)) }

	var x *text.Index
	x = x.Set("ann/tea", words("Ann likes green tea."))
	x = x.Set("ann/trip", words("Ann's trip", "Kyoto in May, for the tea gardens"))
	before := x
	x = x.Set("bob/tea", words("Bob drinks tea, and only tea."))
	x = x.Delete("ann/tea")

	for _, v := range []*text.Index{x, before} {
		hits, err := v.Search("green TEA", text.Options{K: 2})
		if err != nil {
			panic(err)
		}
		for _, h := range hits {
			fmt.Printf("%-8s %.3f\n", h.Key, h.Score)
		}
		fmt.Println()
	}
	// Output:
	// bob/tea  0.112
	// ann/trip 0.091
	//
	// ann/tea  1.027
	// ann/trip 0.203
}
