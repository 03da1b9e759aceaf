package main

import (
	"errors"
	"fmt"

	"github.com/cowstore/cowstore/cow"
)

// forks shows forks: plans are tried side by side, and the best one comes back.
func forks() error {
	stock := cow.New[string](cow.Options[int]{})
	db := stock.DB()
	for name, n := range map[string]int{"flour": 1000, "butter": 300, "sugar": 500} {
		if _, err := stock.Set(name, n); err != nil {
			return err
		}
	}

	bake := func(on *cow.Table[string, int], flour, butter, sugar int) error {
		return on.Update(func(e *cow.Editor[string, int]) error {
			for name, n := range map[string]int{"flour": flour, "butter": butter, "sugar": sugar} {
				err := e.Modify(name, func(v *int) error {
					if *v < n {
						return errors.New("there is too little")
					}
					*v -= n
					return nil
				})
				if err != nil {
					return err // and this one took nothing
				}
			}
			return nil
		})
	}

	base := db.Load()
	var best *cow.DB
	most := 0
	for _, p := range []struct {
		name                 string
		flour, butter, sugar int
	}{{"cake", 200, 150, 200}, {"bread", 450, 10, 5}, {"biscuits", 150, 50, 60}} {
		fork := db.Fork(base) // costs next to nothing: it shares what it does not change
		n := 0
		for bake(stock.Of(fork), p.flour, p.butter, p.sugar) == nil {
			n++
		}
		fmt.Printf("%s: %d\n", p.name, n)
		if n > most {
			best, most = fork, n
		}
	}
	n, _ := stock.Get("flour")
	fmt.Println("flour in stock meanwhile:", n)

	// Others may write while plans are tried. As long as they write other rows, nothing conflicts.
	if _, err := stock.Set("salt", 20); err != nil {
		return err
	}
	if _, err := db.Merge(base, best.Load()); err != nil {
		return err
	}
	for _, name := range []string{"flour", "butter", "sugar", "salt"} {
		n, _ := stock.Get(name)
		fmt.Println(name, n)
	}
	return nil // the forks that nobody holds are garbage
}
