package local_test

import (
	"slices"
	"time"
)

const (
	waitFor = 30 * time.Second
	tick    = 5 * time.Millisecond
)

func sortDurations(list []time.Duration) { slices.Sort(list) }
