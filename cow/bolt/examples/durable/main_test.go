package main

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "work" { // the test is its own child
		main()
		return
	}
	os.Exit(m.Run())
}

func Example() {
	main()
	// Output:
	// killed: 0 of the jobs that were done are lost, 0 are missing from the queue
	// killed: 0 of the jobs that were done are lost, 0 are missing from the queue
	// killed: 0 of the jobs that were done are lost, 0 are missing from the queue
	// ended: 0 of the jobs that were done are lost, 0 are missing from the queue
	// 0 wait, 1000 are done
}
