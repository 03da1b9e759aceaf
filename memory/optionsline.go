package memory

import (
	"errors"
	"time"
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

func newOptionsInLines(o *SpaceOptions) optionsInLines {
	return optionsInLines{
		limitsInLine{o.MaxEntries, o.MaxBytes, ttlText(o.TTL)},
		limitsInLine{o.All.MaxEntries, o.All.MaxBytes, ""},
		limitsInLine{o.Each.MaxEntries, o.Each.MaxBytes, ttlText(o.Each.TTL)},
	}
}

// options returns what was read.
func (l optionsInLines) options() (*SpaceOptions, error) {
	if l.All.TTL != "" {
		return nil, errors.New("a ttl in all: each has one")
	}
	ttl, err1 := parseTTL(l.TTL)
	each, err2 := parseTTL(l.Each.TTL)
	o := &SpaceOptions{
		MaxEntries: l.MaxEntries,
		MaxBytes:   l.MaxBytes,
		TTL:        ttl,
		All:        Limits{l.All.MaxEntries, l.All.MaxBytes},
		Each:       SpaceDefaults{l.Each.MaxEntries, l.Each.MaxBytes, each},
	}
	err := errors.Join(err1, err2)
	if err == nil && !o.valid() {
		err = errors.New("a negative limit")
	}
	return o, err
}

func ttlText(ttl time.Duration) string {
	switch ttl {
	case 0:
		return ""
	case Never:
		return never
	}
	return ttl.String()
}

func parseTTL(text string) (time.Duration, error) {
	switch text {
	case "":
		return 0, nil
	case never:
		return Never, nil
	}
	return time.ParseDuration(text)
}
