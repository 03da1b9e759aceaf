//go:build !unix || solaris || aix

package bolt

import "os"

// unlock does nothing: the lock ends with the closing of the file.
func unlock(*os.File) {}

// sameOwner is true where files have no owner that could be kept.
func sameOwner(_, _ os.FileInfo) bool { return true }

func chown(*os.File, os.FileInfo) error { return nil }

// sameDisk is false where it is not known.
func sameDisk(_, _ os.FileInfo) bool { return false }
