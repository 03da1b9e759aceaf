package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var ownLine = regexp.MustCompile(`(?m)^//go:generate .* (-type .*)$`)

// Every generated file of the library is what the generator writes now.
func TestGeneratedFilesAreCurrent(t *testing.T) {
	checked := 0
	for _, root := range []string{"internal/shapes", "../examples/views"} {
		require.NoError(t, filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
				return err
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
