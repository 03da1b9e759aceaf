//go:build linux || darwin || freebsd

package bolt

import "syscall"

// room returns how many bytes are free for files in a directory.
func room(dir string) (bytes uint64, ok bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil || s.Bsize <= 0 {
		return 0, false
	}
	return uint64(max(s.Bavail, 0)) * uint64(s.Bsize), true
}
