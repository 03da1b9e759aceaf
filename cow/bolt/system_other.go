//go:build !unix || solaris || aix

package bolt

import "os"

// unlock does nothing: the lock ends with the closing of the file.
func unlock(*os.File) {}
