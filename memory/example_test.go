package memory_test

import (
	"fmt"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory"
)

// A frozen value is stored and read without a copy, by anybody.
func Example() {
	facts := cow.New[string](cow.Options[memory.Value]{Immutable: true})
	profile := map[string]any{
		"name":      "Ada",
		"languages": []string{"French", "English"},
		"address":   map[string]any{"city": "London"},
	}
	v, err := memory.Freeze(profile)
	if err != nil {
		return
	}
	facts.Set("profile", v)
	profile["name"] = "spoiled" // the value has its own

	v, _ = facts.Get("profile")
	fmt.Println(v.Key("name").String(), v.Path("address.city").String(), v.Path("languages.1").String())
	fmt.Printf("%T\n", v.Key("languages").Any())
	// Output:
	// Ada London English
	// []string
}

func ExampleAs() {
	v, _ := memory.Freeze(map[string]any{"name": "Ada", "age": 36})
	type person struct {
		Name string
		Age  int
	}
	p, err := memory.As[person](v)
	fmt.Println(p, err)
	// Output: {Ada 36} <nil>
}
