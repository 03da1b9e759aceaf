package main_test

// must panics if there is an error: a benchmark cannot go on.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
