//go:build !linux && !darwin && !freebsd

package bolt

// room says that it is not known.
func room(string) (bytes uint64, ok bool) { return 0, false }
