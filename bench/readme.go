package main

import (
	"io"
	"os"
	"path/filepath"

	"github.com/cowstore/cowstore/bench/result"
)

// updateReadme puts the figures of the report in the folder out into a file.
func updateReadme(file, out string) error {
	r, err := read(filepath.Join(out, reportFile), result.Read)
	if err != nil {
		return err
	}
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	text, err := r.Fill(string(old))
	if err != nil {
		return err
	}
	return writeFile(file, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}
