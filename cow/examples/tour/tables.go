package main

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/cowstore/cowstore/cow"
)

var errPoor = errors.New("not enough money")

// tables shows two tables that agree in every snapshot: accounts, and how many transfers each
// account has been part of. Four writers transfer, and four readers add up.
func tables() error {
	var db cow.DB
	accounts := cow.NewTable[string](&db, "accounts", cow.Options[int]{})
	moves := cow.NewTable[string](&db, "moves", cow.Options[int]{})
	names := []string{"ada", "bob", "eve", "kim"}
	for _, name := range names {
		if _, err := accounts.Set(name, 100); err != nil {
			return err
		}
	}

	add := func(n int) func(v *int, found bool) error {
		return func(v *int, _ bool) error {
			if *v+n < 0 {
				return errPoor
			}
			*v += n
			return nil
		}
	}
	transfer := func(from, to string, amount int) error {
		return db.Update(func(tx *cow.Tx) error { // an error publishes nothing
			a, m := accounts.Edit(tx), moves.Edit(tx)
			return errors.Join(
				a.Upsert(to, add(amount)), m.Upsert(to, add(1)),
				a.Upsert(from, add(-amount)), m.Upsert(from, add(1)))
		})
	}

	var writers, readers sync.WaitGroup
	var wrong, failed atomic.Int32
	done := make(chan struct{})
	for i := range 4 {
		writers.Go(func() {
			for n := range 250 {
				if err := transfer(names[i], names[(i+1+n%3)%4], n%7); err != nil && !errors.Is(err, errPoor) {
					failed.Add(1)
				}
			}
		})
		readers.Go(func() {
			for {
				now := db.Load() // both tables at one version
				sum, ends := 0, 0
				for _, v := range accounts.In(now).All() {
					sum += v
				}
				for _, n := range moves.In(now).All() {
					ends += n
				}
				if sum != 400 || ends%2 != 0 {
					wrong.Add(1)
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()
	fmt.Println("snapshots in which the tables disagree:", wrong.Load())

	before := db.Load()
	err := transfer("ada", "bob", 1000)
	fmt.Println("a transfer that fails:", errors.Is(err, errPoor))
	fmt.Println("and leaves the version as it was:", db.Load() == before)
	if failed.Load() > 0 {
		return fmt.Errorf("%d transfers failed", failed.Load())
	}
	return nil
}
