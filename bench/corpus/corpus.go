// Package corpus reads the records of the main job: the documented symbols of the Go
// installation at hand.
package corpus

import (
	"context"
	"errors"
	"fmt"
	"go/build"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cowstore/cowstore/bench/stores"
)

// ErrNoSource is what Load returns where the Go installation has no
// sources to read.
var ErrNoSource = errors.New("found no source of the Go standard library")

// Root returns the root of the Go installation at hand.
func Root() (string, error) {
	if out, err := exec.Command("go", "env", "GOROOT").Output(); err == nil {
		if root := strings.TrimSpace(string(out)); root != "" {
			return root, nil
		}
	}
	if root := os.Getenv("GOROOT"); root != "" {
		return root, nil
	}
	return "", fmt.Errorf("%w: the go command is not in PATH and GOROOT is not set", ErrNoSource)
}

// Load returns a record of each documented symbol of the Go installation
// under root, those of the go command's own packages included, ordered by
// package.
//
// The packages are read as built for linux/amd64 wherever it is read, so that one
// Go version is one corpus.
func Load(ctx context.Context, root string) ([]stores.Record, error) {
	src := filepath.Join(root, "src")
	dirs, err := packageDirs(src)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoSource, err)
	}
	target := build.Default
	target.GOROOT, target.GOPATH = root, ""
	target.GOOS, target.GOARCH, target.CgoEnabled = "linux", "amd64", true

	found := make([][]stores.Record, len(dirs))
	errs := make([]error, len(dirs))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(dirs) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				found[i], errs[i] = packageRecords(&target, src, dirs[i])
			}
		})
	}
	wg.Wait()
	if err := errors.Join(append(errs, ctx.Err())...); err != nil {
		return nil, err
	}
	records := slices.Concat(found...)
	if len(records) == 0 {
		return nil, fmt.Errorf("%w in %s", ErrNoSource, src)
	}
	return records, nil
}

// packageDirs returns the directories below src that may hold a package, in order,
// relative to src.
func packageDirs(src string) (dirs []string, err error) {
	err = filepath.WalkDir(src, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() || path == src {
			return err
		}
		rel, err := filepath.Rel(src, path)
		if err != nil {
			return err
		}
		name := d.Name()
		if name == "testdata" || name == "vendor" || name[0] == '.' || name[0] == '_' {
			return filepath.SkipDir
		}
		dirs = append(dirs, rel)
		return nil
	})
	return dirs, err
}

// Resize returns n of the records: a sample if there are more, and otherwise
// also copies of them under packages of other names. The same seed gives the
// same sample.
func Resize(records []stores.Record, n int, seed uint64) []stores.Record {
	if n < len(records) {
		chosen := rand.New(rand.NewPCG(seed, 0)).Perm(len(records))[:n]
		slices.Sort(chosen)
		sample := make([]stores.Record, n)
		for i, j := range chosen {
			sample[i] = records[j]
		}
		return sample
	}
	all := slices.Clip(records)
	for i := len(records); i < n; i++ {
		r := records[i%len(records)]
		r.Package = fmt.Sprintf("gen%d/%s", i/len(records), r.Package)
		all = append(all, r.Reindexed(0))
	}
	return all
}
