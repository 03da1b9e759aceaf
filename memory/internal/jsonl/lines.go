// Package jsonl reads and writes the lines of exports and backups. It knows no Memory.
package jsonl

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
)

// lines are the lines to import.
type lines struct {
	in  *bufio.Reader
	max int // bytes in one of them
}

func newLines(r io.Reader, max int) *lines { return &lines{bufio.NewReaderSize(r, 1<<16), max} }

// next returns the next line, valid until the one after, and io.EOF after the last.
func (l *lines) next() ([]byte, error) {
	line, err := l.in.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		line, err = l.long(line)
	}
	if err == io.EOF && len(line) > 0 {
		err = nil
	}
	if err != nil {
		return nil, err
	}
	if line = bytes.TrimSuffix(line, []byte{'\n'}); len(line) > l.max {
		return nil, l.tooLong()
	}
	return line, nil
}

// long returns a line of several buffers, of which the first is there. It takes twice
// as much memory as the line, where to append would take more.
func (l *lines) long(first []byte) ([]byte, error) {
	parts, n := [][]byte{slices.Clone(first)}, len(first)
	for {
		part, err := l.in.ReadSlice('\n')
		parts, n = append(parts, slices.Clone(part)), n+len(part)
		switch {
		case n > l.max+1:
			return nil, l.tooLong()
		case err == bufio.ErrBufferFull:
			continue
		}
		return slices.Concat(parts...), err
	}
}

func (l *lines) tooLong() error {
	return fmt.Errorf("%w: longer than %d bytes, which is Options.MaxLine", ErrMalformed, l.max)
}
