//go:build !linux

package load

import "time"

// Pacer waits for instants.
type Pacer struct{}

// NewPacer returns a Pacer, which must be closed.
func NewPacer() Pacer { return Pacer{} }

// Wait returns at due, or at once if that is past.
func (Pacer) Wait(due time.Time) { time.Sleep(time.Until(due)) }

// Close ends it.
func (Pacer) Close() {}
