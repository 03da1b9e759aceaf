package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

const module = "github.com/cowstore/cowstore"

// findRoot returns the nearest directory above, or the working directory
// itself, with the root module.
func findRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(mod), "module "+module+"\n") {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", fmt.Errorf("no directory above has the module %s", module)
		}
		dir = up
	}
}

// moduleFiles returns the files of the module in root, and of the modules in it but
// this one, that git knows, or would add: what is not committed yet is tested too.
func moduleFiles(ctx context.Context, root string) ([]string, error) {
	out, err := command(ctx, root, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w: %s", err, out)
	}
	files := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	return slices.DeleteFunc(files, func(f string) bool { return strings.HasPrefix(f, "bench/") }), nil
}

// moduleOf returns the directory, below root, of the module that a package belongs to,
// and the package as seen from there.
func moduleOf(root, pkg string) (dir, rel string) {
	for at := path.Clean(pkg); at != "."; at = path.Dir(at) {
		dir := filepath.Join(root, filepath.FromSlash(at))
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, "./" + strings.TrimPrefix(path.Clean(pkg)[len(at):], "/")
		}
	}
	return root, pkg
}

func copyFiles(from, to string, files []string) error {
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(from, filepath.FromSlash(f)))
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted, and git does not know yet
		}
		if err != nil {
			return err
		}
		target := filepath.Join(to, filepath.FromSlash(f))
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(target, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
