// Package corpus reads the records of the main job: the documented symbols of the Go
// installation at hand.
package corpus

import (
	"errors"
	"fmt"
	"go/build"
	"io/fs"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/cowstore/cowstore/bench/stores"
)

// ErrNoSource is what Load returns where there is no source of Go to read.
var ErrNoSource = errors.New("found no source of the Go standard library")

// Load returns a record of each documented symbol of the Go installation at hand, those of
// the go command's own packages included, ordered by package.
//
// The packages are read as built for linux/amd64 wherever it is read, so that one
// Go version is one corpus.
func Load() ([]stores.Record, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoSource, err)
	}
	return load(strings.TrimSpace(string(root)))
}

func load(root string) ([]stores.Record, error) {
	src := filepath.Join(root, "src")
	dirs, err := packageDirs(src)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoSource, err)
	}
	target := build.Default
	target.GOROOT, target.GOPATH = root, ""
	target.GOOS, target.GOARCH, target.CgoEnabled = "linux", "amd64", true

	found := make([][]stores.Record, len(dirs))
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, dir := range dirs {
		g.Go(func() (err error) {
			found[i], err = packageRecords(&target, src, dir)
			return err
		})
	}
	err = g.Wait()
	return slices.Concat(found...), err
}

// packageDirs returns the directories below src that may hold a package, in order,
// relative to src.
func packageDirs(src string) (dirs []string, err error) {
	err = filepath.WalkDir(src, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() || path == src {
			return err
		}
		if name := d.Name(); name == "testdata" || name == "vendor" || name[0] == '.' || name[0] == '_' {
			return filepath.SkipDir
		}
		dirs = append(dirs, path[len(src)+1:])
		return nil
	})
	return dirs, err
}
