//go:build !linux

package load

import "time"

// A pacer waits for instants.
type pacer struct{}

func newPacer() pacer { return pacer{} }

// wait returns at due, or at once if that is past.
func (pacer) wait(due time.Time) { time.Sleep(time.Until(due)) }

func (pacer) close() {}
