package inspect

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A page is what one address shows, in whatever form.
type page struct {
	Title    string
	Path     []link // to where it belongs
	Sections []section
	status   int // 0: 200
}

// A section is a part of a page: whatever of these is there, in this order.
type section struct {
	ID      string // a name for JSON
	In      string // the section that has this one in a list there; "": none
	Heading string
	Notes   []string
	Facts   []fact
	Chart   []bar
	Form    *form
	Columns []column
	Rows    [][]cell
	Text    string
	Links   []link
}

// A link leads to another page. To is relative to the root of the pages.
type link struct{ Text, To string }

// A fact is a name and what it is.
type fact struct {
	Name string
	cell
}

type column struct {
	Name    string
	Numeric bool
}

// A cell is a text, and where it leads.
type cell struct {
	Text string
	To   string // "": nowhere
	Mark string // added, removed or changed; "": none

	value any // for JSON; nil: the text
}

// A form asks for a text, which it sends to the address of its page.
type form struct {
	Label, Name, Action string
	Value               string // what was sent
}

// A bar is one version in the picture of the line.
type bar struct {
	Version uint64
	At      time.Time
	Changes int
	Bytes   int // that they hold back, about
}

func text(s string) cell { return cell{Text: s} }

func number[N int | int64 | uint64](n N) cell {
	return cell{Text: grouped(strconv.FormatInt(int64(n), 10)), value: n}
}

// grouped returns digits with a space after each three.
func grouped(digits string) string {
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	var b strings.Builder
	b.WriteString(sign)
	for i, c := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteRune('\u202f')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// size returns a number of bytes.
func size(n int) cell {
	is := cell{value: n}
	switch {
	case n < 1<<10:
		is.Text = fmt.Sprintf("%d B", n)
	case n < 1<<20:
		is.Text = fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		is.Text = fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	default:
		is.Text = fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	}
	return is
}

// moment returns a time.
func moment(t time.Time) cell {
	if t.IsZero() {
		return text("not known")
	}
	return cell{Text: t.UTC().Format("2006-01-02 15:04:05.000 UTC"), value: t.UTC()}
}

// age returns how long ago a time was.
func age(t, now time.Time) cell {
	if t.IsZero() {
		return text("not known")
	}
	return text(now.Sub(t).Round(time.Millisecond).String())
}

// cut returns the first bytes of a text, at most so many and whole characters, and what says how
// long it is if that is not all.
func cut(s string, most int) (begin, rest string) {
	if len(s) <= most {
		return s, ""
	}
	n := most
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n], fmt.Sprintf("… (%s bytes)", grouped(strconv.Itoa(len(s))))
}

// printable returns a text of at most so many bytes, in quotes if a reader would not see what it
// is: where it is empty, ends in spaces, or has control characters, or marks that change the
// direction of writing.
func printable(s string, most int) string {
	s, rest := cut(s, most)
	odd := func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }
	if s == "" || strings.TrimSpace(s) != s || strings.ContainsFunc(s, odd) || strings.HasPrefix(s, `"`) {
		s = strconv.Quote(s)
	}
	return s + rest
}

// block returns a text of several lines of at most so many bytes, without what could hide or move
// what stands around it.
func block(s string, most int) string {
	s, rest := cut(s, most)
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n' || r == '\t' || unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String() + rest
}
