package jsonl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
	"unsafe"

	"github.com/cowstore/cowstore/memory/internal/data"
	"github.com/cowstore/cowstore/memory/internal/jsontext"
	"github.com/cowstore/cowstore/memory/internal/tuple"
	"github.com/cowstore/cowstore/memory/value"
)

func memberSpace(text []byte) (string, error) {
	var path []byte
	err := jsontext.EachElement(text, func(text []byte) error {
		s, err := jsontext.ParseString(text)
		path = tuple.AppendElement(path, s)
		return err
	})
	if err == nil {
		err = tuple.CheckDepth(string(path))
	}
	return string(path), err
}

func memberVector(text []byte) ([]float32, error) {
	n := 0
	_ = jsontext.EachElement(text, func([]byte) error { n++; return nil })
	v := make([]float32, 0, n)
	err := jsontext.EachElement(text, func(text []byte) error {
		f, err := strconv.ParseFloat(unsafe.String(&text[0], len(text)), 32)
		if err != nil {
			err = fmt.Errorf("%.40q is not a float32", text)
		}
		v = append(v, float32(f))
		return err
	})
	return v, err
}

// memberTime returns a time as ns since 1970.
func memberTime(text []byte) (int64, error) {
	var t time.Time
	if err := json.Unmarshal(text, &t); err != nil {
		return 0, err
	}
	ns := t.UnixNano()
	if ns == data.Unset || !time.Unix(0, ns).Equal(t) {
		return 0, errors.New("it is out of range, which is from 1677 to 2262")
	}
	return ns, nil
}

// maxGrowth is how much more memory a value may take than the longest line: with the
// text of the line and what it takes to read it, four times as much.
const maxGrowth = 3

// memberValue returns a value of a line that is not longer than Options.MaxLine.
func memberValue(text []byte, max int) (value.Value, error) {
	v, err := value.Parse(text, maxGrowth*min(int64(max), math.MaxInt64/maxGrowth))
	if errors.Is(err, value.ErrTooLarge) {
		err = fmt.Errorf("%w, which is %d times Options.MaxLine", err, maxGrowth)
	}
	return v, err
}

// memberOptions returns how a space is configured.
func memberOptions(text []byte) (*data.Config, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var o optionsInLines
	if err := d.Decode(&o); err != nil {
		return nil, err
	}
	return o.options()
}
