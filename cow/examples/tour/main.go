// Tour is six short programs, a file each: what to do with a cow.DB.
//
//	go run ./cow/examples/tour undo    # one of them
//	go run ./cow/examples/tour         # all, in order
package main

import (
	"fmt"
	"log"
	"os"
)

var programs = []struct {
	name string
	run  func() error
}{
	{"cache", cache},
	{"tables", tables},
	{"undo", undo},
	{"forks", forks},
	{"audit", audit},
	{"resume", resume},
}

func main() {
	all := len(os.Args) < 2
	known := all
	for _, p := range programs {
		if !all && p.name != os.Args[1] {
			continue
		}
		if known = true; all {
			fmt.Printf("\n%s:\n", p.name)
		}
		if err := p.run(); err != nil {
			log.Fatalf("%s: %v", p.name, err)
		}
	}
	if !known {
		log.Fatalf("%q is none of cache, tables, undo, forks, audit and resume", os.Args[1])
	}
}
