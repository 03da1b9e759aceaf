// Command cowview generates views and clones of Go types.
package main

func main() {}
