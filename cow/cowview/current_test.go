package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var ownLine = regexp.MustCompile(`(?m)^//go:generate .* (-type .*)$`)

// release126 says that the standard library is that of Go 1.26. Since Go 1.27 a
// json.RawMessage is a jsontext.Value, and what is generated for it differs.
var release126 = strings.HasPrefix(runtime.Version(), "go1.26")

// Every generated file of the library is what the generator writes now.
func TestGeneratedFilesAreCurrent(t *testing.T) {
	checked := 0
	for _, root := range []string{"internal/shapes", "../examples/views"} {
		require.NoError(t, filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
				return err
			}
			if !release126 && filepath.Base(path) == "std.go" {
				return nil
			}
			for _, line := range ownLine.FindAllStringSubmatch(read(t, "", path), -1) {
				args := strings.Fields(line[1])
				for i := range args {
					if args[i] == "-output" {
						args[i+1] = filepath.Base(args[i+1]) // from where the file is
					}
				}
				require.NoError(t, run(append(args, "-check"), filepath.Dir(path), io.Discard), path)
				checked++
			}
			return nil
		}))
	}
	require.Greater(t, checked, 20)
}
