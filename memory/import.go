package memory

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
	"unicode/utf8"
)

// maxLine is how long a line to import may be.
const maxLine = 64 << 20

// Import stores the entries that Export has written, or anybody in that format,
// as one version, in place of those under the same keys, and returns how many
// lines there were. Empty lines are skipped. Of a value, whole numbers become
// int, or int64, uint64 or float64 where they do not fit, others float64; objects and
// lists become map[string]any and []any. Where created and updated are absent they
// are now; where expires is, the entry never expires.
//
// A line that is no such entry, has other members, or is longer than 64 MiB, is an
// error that wraps ErrMalformed and says which line, and nothing is imported.
func (m *Memory) Import(r io.Reader) (n int, err error) {
	var all []imported
	in := bufio.NewReaderSize(r, 1<<16)
	for line := 1; ; line++ {
		text, err := readLine(in)
		if err == io.EOF {
			break
		}
		if err == nil && len(bytes.TrimSpace(text)) > 0 {
			var i imported
			i, err = m.parse(text)
			i.line = line
			all = append(all, i)
		}
		if err != nil {
			return 0, lineError(line, err)
		}
	}
	if len(all) == 0 {
		return 0, nil
	}
	err = m.Batch(func(b *Batch) error {
		for _, i := range all {
			if err := b.editor(i.space).restore(i); err != nil {
				return lineError(i.line, err)
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return len(all), nil
}

// An imported is a line that was read.
type imported struct {
	draft
	line                      int
	space, key                string
	created, updated, expires int64
}

func lineError(line int, err error) error { return fmt.Errorf("memory: line %d: %w", line, err) }

// restore stores what was read, as it was.
func (e *Editor) restore(i imported) error {
	if err := e.fits(i.key, i.vector); err != nil {
		return err
	}
	next := &entry{created: i.created, updated: i.updated, expires: i.expires}
	e.value(next, i.value, i.words)
	e.vector(i.key, next, i.draft)
	e.b.store(e.name(i.key), next)
	return nil
}

// readLine returns the next line, and io.EOF after the last.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxLine:
			return nil, fmt.Errorf("%w: longer than %d bytes", ErrMalformed, maxLine)
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && len(line) > 0:
			return line, nil
		}
		return line, err
	}
}

// parse reads a line.
func (m *Memory) parse(line []byte) (i imported, err error) {
	if !utf8.Valid(line) {
		return i, fmt.Errorf("%w: %w", ErrMalformed, ErrUTF8)
	}
	members, err := object(line)
	if err != nil {
		return i, err
	}
	var it Item
	var space, key, value bool
	for name, text := range members {
		switch name {
		case "space":
			space = true
			var path []*string
			if err = strictly(text, &path); err == nil {
				i.space, err = encodePointers(path)
			}
		case "key":
			key = true
			var k *string
			if err = strictly(text, &k); err == nil && k == nil {
				err = fmt.Errorf("%w: key is null", ErrMalformed)
			} else if err == nil {
				i.key = *k
			}
		case "value":
			value = true
			it.Value, err = decode(text)
		case "vector":
			it.Vector, err = decodeVector(text)
		case "metadata":
			var v any
			if v, err = decode(text); err == nil {
				var ok bool
				if it.Metadata, ok = v.(map[string]any); !ok {
					err = fmt.Errorf("%w: metadata is no object", ErrMalformed)
				}
			}
		case "created":
			i.created, err = decodeTime(text)
		case "updated":
			i.updated, err = decodeTime(text)
		case "expires":
			i.expires, err = decodeTime(text)
		default:
			err = fmt.Errorf("%w: unknown member %q", ErrMalformed, name)
		}
		if err != nil {
			return i, err
		}
	}
	switch {
	case !space:
		return i, fmt.Errorf("%w: no space", ErrMalformed)
	case !key:
		return i, fmt.Errorf("%w: no key", ErrMalformed)
	case !value && it.Vector == nil:
		return i, fmt.Errorf("%w: neither value nor vector", ErrMalformed)
	}
	if i.draft, err = m.prepare(i.key, it); err != nil {
		return i, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if !value {
		i.value = Value{}
	}
	return i, nil
}

// object returns the members of a JSON object, each of which must be there but
// once. Unlike encoding/json it tells upper and lower case apart.
func object(text []byte) (map[string]json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.Join(fmt.Errorf("%w: no object", ErrMalformed), err)
	}
	members := make(map[string]json.RawMessage)
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
		}
		name, _ := t.(string) // the decoder sees to it
		if members[name] != nil {
			return nil, fmt.Errorf("%w: two members %q", ErrMalformed, name)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
		}
		members[name] = value
	}
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return members, ended(d)
}

// ended returns an error if there is something after what was decoded.
func ended(d *json.Decoder) error {
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("%w: more than one value", ErrMalformed)
	}
	return nil
}

// strictly decodes JSON with nothing after it.
func strictly(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return ended(d)
}

func encodePointers(path []*string) (string, error) {
	var b []byte
	if path == nil {
		return "", fmt.Errorf("%w: space is null", ErrMalformed)
	}
	for _, s := range path {
		if s == nil {
			return "", fmt.Errorf("%w: null in space", ErrMalformed)
		}
		b = appendElement(b, *s)
	}
	return string(b), nil
}

func decodeVector(text []byte) ([]float32, error) {
	var numbers []any // not []float32, of which null would be an element
	if err := strictly(text, &numbers); err != nil {
		return nil, err
	}
	v := make([]float32, len(numbers))
	for i, n := range numbers {
		number, _ := n.(json.Number) // "" is no number either
		f, err := strconv.ParseFloat(string(number), 32)
		if err != nil {
			return nil, fmt.Errorf("%w: vector: %w", ErrMalformed, err)
		}
		v[i] = float32(f)
	}
	return v, nil
}

// decodeTime returns a time as ns since 1970.
func decodeTime(text []byte) (int64, error) {
	var t *time.Time
	if err := strictly(text, &t); err != nil {
		return 0, err
	}
	if t == nil || t.UnixNano() == 0 || !time.Unix(0, t.UnixNano()).Equal(*t) {
		return 0, fmt.Errorf("%w: time %s is out of range", ErrMalformed, text)
	}
	return t.UnixNano(), nil
}

// decode decodes a value, its numbers as the Go type that fits them.
func decode(text []byte) (any, error) {
	var v any
	if err := strictly(text, &v); err != nil {
		return nil, err
	}
	return numbers(v)
}

// numbers replaces each json.Number in v. The decoder bounds how deep v is.
func numbers(v any) (_ any, err error) {
	switch v := v.(type) {
	case json.Number:
		if i, err := strconv.Atoi(string(v)); err == nil {
			return i, nil
		}
		if i, err := strconv.ParseInt(string(v), 10, 64); err == nil {
			return i, nil
		}
		if u, err := strconv.ParseUint(string(v), 10, 64); err == nil {
			return u, nil
		}
		f, err := v.Float64()
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
		}
		return f, nil
	case []any:
		for i := range v {
			if v[i], err = numbers(v[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for k := range v {
			if v[k], err = numbers(v[k]); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}
