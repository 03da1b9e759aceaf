//go:build race

package cow_test

const raceEnabled = true
