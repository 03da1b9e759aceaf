package jsonl

import (
	"errors"
	"time"

	"github.com/cowstore/cowstore/memory/internal/data"
)

// How the options of a space are written in a line of an export.

type optionsInLines struct {
	limitsInLine
	All  limitsInLine `json:"all,omitzero"` // without a TTL
	Each limitsInLine `json:"each,omitzero"`
}

type limitsInLine struct {
	MaxEntries int    `json:"max_entries,omitempty"`
	MaxBytes   int64  `json:"max_bytes,omitempty"`
	TTL        string `json:"ttl,omitempty"` // as time.Duration writes it, or never
}

// never is how Never is written.
const never = "never"

func newOptionsInLines(o *data.Config) optionsInLines {
	return optionsInLines{
		limitsInLine{o.MaxEntries, o.MaxBytes, ttlText(o.TTL)},
		limitsInLine{o.All.MaxEntries, o.All.MaxBytes, ""},
		limitsInLine{o.Each.MaxEntries, o.Each.MaxBytes, ttlText(o.Each.TTL)},
	}
}

// options returns what was read.
func (l optionsInLines) options() (*data.Config, error) {
	if l.All.TTL != "" {
		return nil, errors.New("a ttl in all: each has one")
	}
	ttl, err1 := parseTTL(l.TTL)
	each, err2 := parseTTL(l.Each.TTL)
	o := &data.Config{
		MaxEntries: l.MaxEntries,
		MaxBytes:   l.MaxBytes,
		TTL:        ttl,
		All:        data.Limits{MaxEntries: l.All.MaxEntries, MaxBytes: l.All.MaxBytes},
		Each:       data.Defaults{MaxEntries: l.Each.MaxEntries, MaxBytes: l.Each.MaxBytes, TTL: each},
	}
	err := errors.Join(err1, err2)
	if err == nil && !data.Valid(*o) {
		err = errors.New("a negative limit")
	}
	return o, err
}

func ttlText(ttl time.Duration) string {
	switch ttl {
	case 0:
		return ""
	case data.Never:
		return never
	}
	return ttl.String()
}

func parseTTL(text string) (time.Duration, error) {
	switch text {
	case "":
		return 0, nil
	case never:
		return data.Never, nil
	}
	return time.ParseDuration(text)
}
