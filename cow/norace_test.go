//go:build !race

package cow_test

const raceEnabled = false
