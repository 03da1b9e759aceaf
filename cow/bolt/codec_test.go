package bolt_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/bolt"
)

type many struct {
	Text   string
	Bytes  []byte
	Signed int64
	Big    uint64
	Float  float64
	When   time.Time
	List   []string
	Map    map[string]int
	Next   *many
}

func TestCodecsReturnWhatTheyWereGiven(t *testing.T) {
	zone := time.FixedZone("", 3600)
	values := []many{{}, {
		"\x00é", []byte{0, 255}, math.MinInt64, math.MaxUint64, -0.1,
		time.Date(2026, 1, 2, 3, 4, 5, 678, zone), []string{"a", ""}, map[string]int{"": 1, "b": -1}, &many{Text: "x"},
	}}
	for _, c := range []cow.Codec[many]{cow.Versioned[many]{}, bolt.CBOR[many](), cow.Versioned[many]{Of: bolt.CBOR[many](), Version: 255}} {
		for _, v := range values {
			b, err := c.Append([]byte("before"), v)
			require.NoError(t, err)
			is, err := c.Decode(b[len("before"):])
			require.NoError(t, err)
			require.True(t, v.When.Equal(is.When))
			_, want := v.When.Zone()
			_, offset := is.When.Zone()
			require.Equal(t, want, offset)
			is.When = v.When
			require.Equal(t, v, is)
			b[len(b)-1]++
			_, _ = c.Decode(b[len("before"):]) // whatever it says
		}
		_, err := c.Decode(nil)
		require.Error(t, err)
	}
}

func TestOlderValuesAreUpgraded(t *testing.T) {
	type amount struct {
		Cents    int
		Currency string
	}
	path := temp(t)
	var old cow.DB
	prices := cow.NewTable[string](&old, "prices", cow.Options[int]{Codec: cow.Versioned[int]{}})
	_, err := bolt.Open(path, &old, bolt.Options{})
	require.NoError(t, err)
	_, err = prices.Set("1", 5)
	require.NoError(t, err)
	require.NoError(t, old.Close())

	codec := cow.Versioned[*amount]{Of: bolt.CBOR[*amount](), Version: 2, Other: func(version byte, b []byte) (*amount, error) {
		if version != 0 {
			return nil, fmt.Errorf("version %d", version)
		}
		var euros int
		err := json.Unmarshal(b, &euros)
		return &amount{100 * euros, "EUR"}, err
	}}
	for round := range 2 { // the older value stays as it is beside the newer
		var db cow.DB
		prices := cow.NewTable[string](&db, "prices", cow.Options[*amount]{Codec: codec})
		_, err = bolt.Open(path, &db, bolt.Options{})
		require.NoError(t, err)
		is, _ := prices.Get("1")
		require.Equal(t, &amount{500, "EUR"}, is)
		if round == 0 {
			_, err = prices.Set("2", &amount{199, "USD"})
			require.NoError(t, err)
		} else {
			is, _ = prices.Get("2")
			require.Equal(t, &amount{199, "USD"}, is)
		}
		require.NoError(t, db.Close())
	}
	for want, codec := range map[string]cow.Versioned[*amount]{
		"no Other":                   {Of: bolt.CBOR[*amount](), Version: 2},
		"version 2, now version 1 (": {Of: bolt.CBOR[*amount](), Version: 1, Other: func(byte, []byte) (*amount, error) { return nil, nil }},
	} {
		var db cow.DB
		cow.NewTable[string](&db, "prices", cow.Options[*amount]{Codec: codec})
		_, err = bolt.Open(path, &db, bolt.Options{})
		require.ErrorContains(t, err, want)
	}
}

var update = flag.Bool("update", false, "write the file of the current format to testdata")

// A file of each format is kept: each can be read, for ever.
func TestFilesOfOlderFormats(t *testing.T) {
	const current = 2
	fill := func(s *shop) {
		for i := range 40 {
			if err := s.add(fmt.Sprint("job", i%15), i*i, "all", fmt.Sprint("n", i%4)); err != nil {
				t.Fatal(err)
			}
		}
		_, err := s.jobs.Delete("job3")
		require.NoError(t, err)
	}
	name := func(format int) string { return filepath.Join("testdata", fmt.Sprintf("format%d.db", format)) }
	if *update {
		s := newShop()
		s.db.Retain(cow.Retention{Versions: 12})
		require.NoError(t, s.open(name(current), bolt.Options{}))
		fill(s)
		require.NoError(t, s.db.Close())
	}
	want := newShop()
	want.db.Retain(forever)
	fill(want)
	for format := 1; format <= current; format++ {
		path := temp(t)
		copyFile(t, name(format), path)
		_, err := bolt.Check(path)
		require.NoError(t, err)
		for range 2 {
			s := open(t, path, bolt.Options{}, forever)
			require.Equal(t, want.now(), s.now())
			for v := range s.db.Versions() {
				is, err := s.db.At(v)
				require.NoError(t, err)
				was, err := want.db.At(v)
				require.NoError(t, err)
				require.Equal(t, want.at(was), s.at(is))
			}
			_, err := s.db.At(30)
			require.NoError(t, err)
			require.NoError(t, s.db.Close())
			require.NoError(t, bolt.Compact(path)) // which writes it in the current format
		}
	}
}

// What cannot be decoded is an error of the update, and the file opens again.
func TestWhatIsEncodedCanBeDecoded(t *testing.T) {
	type held struct{ Value any }
	type failed struct{ E error }
	path := temp(t)
	open := func() (*cow.DB, *cow.Table[string, *held], *cow.Table[int, string], *cow.Table[string, *failed]) {
		db := new(cow.DB)
		values := cow.NewTable[string](db, "values", cow.Options[*held]{Codec: bolt.CBOR[*held]()})
		texts := cow.NewTable[int](db, "texts", cow.Options[string]{Codec: bolt.CBOR[string]()})
		errs := cow.NewTable[string](db, "errors", cow.Options[*failed]{Codec: cow.Versioned[*failed]{}})
		_, err := bolt.Open(path, db, bolt.Options{})
		require.NoError(t, err)
		return db, values, texts, errs
	}
	db, values, texts, errs := open()
	for _, v := range []any{
		map[[1]int]int{{1}: 1}, map[any]int{[2]int{1, 2}: 4}, time.Unix(1<<40, 0), time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(2000, 1, 1, 0, 0, 0, 0, time.FixedZone("", 100*60*60)),
	} {
		_, err := values.Set("k", &held{v})
		require.ErrorContains(t, err, `cow: table "values": k: `, "%v", v)
	}
	_, err := errs.Set("k", &failed{&os.PathError{Op: "open", Path: "x", Err: os.ErrNotExist}})
	require.ErrorContains(t, err, `cow: table "errors": k: the codec does not decode what it has encoded: `)
	_, err = errs.Set("k", &failed{})
	require.NoError(t, err)
	_, err = texts.Set(1, "a\xff\xfe")
	require.NoError(t, err)
	require.EqualValues(t, 2, db.Load().Version())
	require.NoError(t, db.Close())

	db, values, texts, errs = open()
	require.Zero(t, values.Len())
	require.Equal(t, 1, errs.Len())
	text, _ := texts.Get(1)
	require.Equal(t, "a\xff\xfe", text)
	require.NoError(t, db.Close())
}
