// Package tested has types in its tests.
package tested

// Part is a type of the package.
type Part struct{ S []int }
