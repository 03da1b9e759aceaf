// Command hello tells by running whether this machine runs programs of its kind.
package main

func main() {}
