package main

func Example() {
	main()
	// Output: <nil> false true Ada [admin dev] 0 1
}
