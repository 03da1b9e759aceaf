package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/cowstore/cowstore/bench/page"
	"github.com/cowstore/cowstore/bench/result"
)

// writable makes the folder for the report, so that one that cannot be is found out
// before anything is measured.
func writable(out string) error {
	if out == "" {
		return nil
	}
	if err := os.MkdirAll(out, 0o777); err != nil {
		return fmt.Errorf("-out: %w", err)
	}
	probe, err := os.CreateTemp(out, ".probe-*")
	if err != nil {
		return fmt.Errorf("-out: %w", err)
	}
	_ = probe.Close()
	return os.Remove(probe.Name())
}

// reportFile is where a report is that all else can be made from.
const reportFile = "report.json"

// writeReport writes report.json, report.html and a PNG a chart into out. The JSON
// comes first: all else can be made from it.
func writeReport(r *result.Report, out string) error {
	if err := writeFile(filepath.Join(out, reportFile), r.Write); err != nil {
		return err
	}
	if err := writeFile(filepath.Join(out, "report.html"), func(w io.Writer) error { return page.Write(w, r) }); err != nil {
		return err
	}
	for _, c := range page.Charts(r) {
		if err := writeFile(filepath.Join(out, c.Name+".png"), c.PNG); err != nil {
			return err
		}
	}
	return nil
}

// writeFile puts what write writes into a file, all of it or nothing.
func writeFile(name string, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(name), err)
	}
	part := name + ".part"
	if err := os.WriteFile(part, b.Bytes(), 0o666); err != nil {
		return err
	}
	return os.Rename(part, name)
}
