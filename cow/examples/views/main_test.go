package main

import (
	"fmt"
	"os"
)

func Example() {
	fmt.Println(run(os.Stdout))
	// Output:
	// true Ada 2 true
	// Grace false
	// Grace Hopper what is held does not change
	// changed "ada" 0 1
	// Profile{Name: "Bob", Tags: nil, Boss: nil, Score: nil}
	// <nil>
}
