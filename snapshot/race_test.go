package snapshot

import (
	"runtime/debug"
	"slices"
	"testing"
)

// raceEnabled says that the race detector is on.
var raceEnabled = func() bool {
	info, _ := debug.ReadBuildInfo()
	for _, s := range info.Settings {
		if s.Key == "-race" {
			return s.Value == "true"
		}
	}
	return false
}()

// inlined says that functions are inlined: make test does without.
var inlined = func() bool {
	info, _ := debug.ReadBuildInfo()
	return !slices.ContainsFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == "-gcflags" })
}()

// inShort returns short in short mode, and else long.
func inShort(short, long int) int {
	if testing.Short() {
		return short
	}
	return long
}
