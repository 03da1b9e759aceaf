package main

import "fmt"

func show(f func() error) {
	if err := f(); err != nil {
		fmt.Println("failed:", err)
	}
}

func Example_cache() {
	show(cache)
	// Output:
	// profile: "profile of Ada", made
	// profile: "profile of Ada", from the cache
	// orders: "orders of Ada", made
	// 2 pages dropped
	// orders: "orders of Lady Lovelace", made too late, and not kept
	// orders: "orders of Countess Lovelace", made
}

func Example_tables() {
	show(tables)
	// Output:
	// snapshots in which the tables disagree: 0
	// a transfer that fails: true
	// and leaves the version as it was: true
}

func Example_undo() {
	show(undo)
	// Output:
	// after a mistake:
	//   milk: "" false
	//   tea: "green" true
	// without it:
	//   milk: "two bottles" true
	//   tea: "green" true
	// with it again:
	//   milk: "" false
	//   tea: "green" true
	// a conflict: true
	//   cow: milk: changed on both sides
	// and nothing happened:
	//   milk: "one bottle" true
	//   tea: "green" true
}

func Example_forks() {
	show(forks)
	// Output:
	// cake: 2
	// bread: 2
	// biscuits: 6
	// flour in stock meanwhile: 1000
	// flour 100
	// butter 0
	// sugar 140
	// salt 20
}

func Example_audit() {
	show(audit)
	// Output:
	// version 1, ada: first day
	//   added limit: "10", was ""
	//   added mail: "ada@example.com", was ""
	// version 2, bob: too many complaints
	//   changed limit: "100", was "10"
	// the limit of version 1: 10
	// without the address:
	// version 1, ada: first day
	//   added limit: "10", was ""
	// version 2, bob: too many complaints
	//   changed limit: "100", was "10"
	// version 3, eve: she asked for it
	//   erased mail: "", was ""
}

func Example_resume() {
	show(resume)
	// Output:
	// from the beginning:
	//   1 build queued
	//   2 build running
	// after a pause:
	//   3 build done
	// after a long pause:
	//   the commits are gone: begin again with all rows
	//   8 build done
	//   8 test done
	// and from there:
	//   9 build archived
}
