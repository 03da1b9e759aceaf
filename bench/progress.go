package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"golang.org/x/term"
)

// A progress tells a person how far a run is: on a terminal in one line that
// changes, otherwise in a few lines that do not.
type progress struct {
	mu       sync.Mutex
	w        io.Writer
	terminal bool
	shown    time.Time
}

func newProgress(w io.Writer) *progress {
	f, ok := w.(interface{ Fd() uintptr })
	return &progress{w: w, terminal: ok && term.IsTerminal(int(f.Fd()))}
}

// clearLine goes to the beginning of the line and empties it.
const clearLine = "\r\x1b[K"

// live shows what changes often, on a terminal.
func (p *progress) live(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.terminal || time.Since(p.shown) < 50*time.Millisecond {
		return
	}
	p.shown = time.Now()
	fmt.Fprintf(p.w, clearLine+format, args...)
}

// line prints what stays.
func (p *progress) line(format string, args ...any) {
	p.clear()
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.w, format+"\n", args...)
}

// step prints a line where there is no terminal, and so no live.
func (p *progress) step(format string, args ...any) {
	if !p.terminal {
		p.line(format, args...)
	}
}

// clear takes the line that changes away.
func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.terminal && !p.shown.IsZero() {
		fmt.Fprint(p.w, clearLine)
		p.shown = time.Time{}
	}
}

// fail prints an error and returns code.
func (p *progress) fail(err error, code int) int {
	p.line("bench: %v", err)
	return code
}
