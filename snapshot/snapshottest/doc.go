// Package snapshottest makes values of all shapes, for tests that put them into a
// map or a store and look at what comes back.
//
// [Types] are some two hundred types. [Graph] fills one of them at random with
// pointers into objects, slices of one array, cycles and shared parts. [Compare]
// compares two such values as graphs of memory, and [Spoil] modifies all that a
// value leads to.
package snapshottest
