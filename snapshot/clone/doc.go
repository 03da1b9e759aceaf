// Package clone makes deep copies of Go values that have the shape of the original.
//
// [Of] compiles a function once per type. The clone has the dynamic types, nil and empty,
// unexported fields, cycles, shared and interior pointers of its original; it neither
// exhausts the stack nor takes more than n log n time for n objects. [NatureOf] says of
// which types the values stay themselves, and which must not be copied.
//
// # Reading the source
//
// From the ground up: ground.go, the memory that was met; memo.go, what became of it;
// nature.go, all that is known about particular types; state.go, one run of a plan;
// layout.go and overlap.go, what lies within what; error.go; fix.go, any.go and known.go,
// which mend a copy of one value each; compile.go, from a type to its plan; clone.go, from
// a plan to a function; size.go.
package clone
