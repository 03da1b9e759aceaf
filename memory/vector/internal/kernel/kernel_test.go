package kernel

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// pack returns codes for s whose address is some words above a multiple of 64, with
// bytes around them that must not be read.
func pack(s *Set, codes []byte, more int) []Pair {
	room := make([]Pair, len(codes)/16+8)
	for i := range room {
		room[i] = Pair{math.MaxUint64, math.MaxUint64}
	}
	at := more % 4
	ps := room[at : at+len(codes)/16]
	for i := range ps {
		ps[i] = Pair{binary.LittleEndian.Uint64(codes[16*i:]) ^ s.Flip, binary.LittleEndian.Uint64(codes[16*i+8:]) ^ s.Flip}
	}
	if more >= 4 { // between two Pairs, as on a machine where that is possible
		return unsafe.Slice((*Pair)(unsafe.Pointer(shift(room[at:], len(ps)))), len(ps))
	}
	return ps
}

// shift moves n Pairs up by a word and returns where the first lies then.
func shift(room []Pair, n int) *uint64 {
	all := unsafe.Slice(&room[0][0], 2*n+1)
	copy(all[1:], all[:2*n])
	return &all[1]
}

// requireDots compares a Set with the definition.
func requireDots(t *testing.T, s *Set, codes []byte, more int, elements []int8) {
	t.Helper()
	n := len(codes) / len(elements)
	sum := int32(0)
	for _, e := range elements {
		sum += int32(e)
	}
	q := s.NewQuery(elements, sum)
	out := make([]int32, n+1)
	out[n] = 123
	q.Dots(out[:n], pack(s, codes, more%8))
	for i := range n {
		var want int64
		for j, e := range elements {
			want += int64(codes[i*len(elements)+j]) * (int64(e) + int64(q.Bias()))
		}
		if want != int64(out[i]) {
			t.Fatalf("%s: code %d of %d, of length %d: %d, not %d", s.Name, i, n, len(elements), out[i], want)
		}
	}
	require.EqualValues(t, 123, out[n])

	// Of two queries at once: this one, and it in reverse.
	reversed := slices.Clone(elements)
	slices.Reverse(reversed)
	fine := s.NewQuery(reversed, sum)
	want, fineWant := slices.Clone(out), make([]int32, n+1)
	fine.Dots(fineWant[:n], pack(s, codes, more%8))
	fineOut := make([]int32, n+1)
	clear(out[:n])
	q.DotsBoth(fine, out[:n], fineOut[:n], pack(s, codes, more%8))
	require.Equal(t, want, out)
	require.Equal(t, fineWant, fineOut)
}

// Every length, at every alignment, of random and of extreme values.
func TestDots(t *testing.T) {
	for _, s := range Sets() {
		r := rand.New(rand.NewPCG(1, 1))
		most := s.Most
		fills := []struct {
			code func() byte
			elem func() int8
		}{
			{func() byte { return byte(r.IntN(MaxCode + 1)) }, func() int8 { return int8(r.IntN(2*most+1) - most) }},
			{func() byte { return MaxCode }, func() int8 { return int8(most) }},
			{func() byte { return MaxCode }, func() int8 { return int8(-most) }},
			{func() byte { return byte(r.IntN(2) * MaxCode) }, func() int8 { return int8((r.IntN(2)*2 - 1) * most) }},
			{func() byte { return 0 }, func() int8 { return int8(most) }},
		}
		for stride := Unit; stride <= 2112; stride += Unit {
			for i, f := range fills {
				n, more := 1+(stride/Unit+i)%5, stride/Unit*7+i*13
				codes, elements := make([]byte, n*stride), make([]int8, stride)
				for i := range codes {
					codes[i] = f.code()
				}
				for i := range elements {
					elements[i] = f.elem()
				}
				requireDots(t, s, codes, more, elements)
			}
		}
		for more := range 8 {
			codes, elements := make([]byte, 3*96), make([]int8, 96)
			for i := range codes {
				codes[i] = byte(i * more % (MaxCode + 1))
			}
			for i := range elements {
				elements[i] = int8(i*more%(2*most) - most)
			}
			requireDots(t, s, codes, more, elements)
		}
		// The longest, at its extremes.
		codes, elements := bytes.Repeat([]byte{MaxCode}, MaxLen), make([]int8, MaxLen)
		for i := range elements {
			elements[i] = int8(most)
		}
		requireDots(t, s, codes, 0, elements)
	}
}

// Dot is the same to the bit with all Sets, and near to the definition.
func TestDot(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	x, y := make([]float32, 2200), make([]float32, 2200)
	for round, size := range []float64{1, 1e38, 1e-38, 1e-44} {
		for i := range x {
			x[i], y[i] = float32(r.NormFloat64()*size), float32(r.NormFloat64()*size)
			if i%7 == 0 {
				x[i], y[i] = math.MaxFloat32, -math.SmallestNonzeroFloat32
			}
		}
		for n := 0; n <= 2100; n++ {
			from := (n + round) % 16 // any alignment
			a, b := x[from:from+n], y[from:from+n]
			want, size := 0.0, 0.0
			for i := range a {
				p := float64(a[i]) * float64(b[i])
				want, size = want+p, size+math.Abs(p)
			}
			is := portable.Dot(a, b)
			if math.Abs(is-want) > size*1e-12 {
				t.Fatalf("%d elements: %g, not %g", n, is, want)
			}
			for _, s := range Sets() {
				if got := s.Dot(a, b); math.Float64bits(got) != math.Float64bits(is) {
					t.Fatalf("%s, %d elements: %g, not %g", s.Name, n, got, is)
				}
			}
		}
	}
}

func TestMisuse(t *testing.T) {
	for _, s := range Sets() {
		for _, n := range []int{0, 1, Unit - 1, Unit + 8, MaxLen + Unit} {
			require.Panics(t, func() { s.NewQuery(make([]int8, n), 0) })
		}
		q := s.NewQuery(make([]int8, Unit), 0)
		q.Dots(nil, nil)
		require.Panics(t, func() { q.Dots(make([]int32, 2), make([]Pair, 6)) })
		q.DotsBoth(q, nil, nil, nil)
		require.Panics(t, func() { q.DotsBoth(q, make([]int32, 2), make([]int32, 2), make([]Pair, 6)) })
		require.Panics(t, func() { q.DotsBoth(q, make([]int32, 3), make([]int32, 2), make([]Pair, 6)) })
		require.Panics(t, func() {
			q.DotsBoth(s.NewQuery(make([]int8, 2*Unit), 0), make([]int32, 3), make([]int32, 3), make([]Pair, 6))
		})
	}
}

func FuzzDots(f *testing.F) {
	f.Add([]byte("some codes and a query, which are any bytes, as many as one needs"), uint8(0), uint8(3))
	f.Fuzz(func(t *testing.T, data []byte, units, more uint8) {
		stride := (int(units)%70 + 1) * Unit
		n := min(len(data)/stride, 40)
		if n == 0 {
			return
		}
		for _, s := range Sets() {
			codes, elements := make([]byte, n*stride), make([]int8, stride)
			for i := range codes {
				codes[i] = data[i] % (MaxCode + 1)
			}
			for i := range elements {
				if len(data) > 0 {
					elements[i] = int8(int(data[len(data)-1-i%len(data)])%(2*s.Most+1) - s.Most)
				}
			}
			requireDots(t, s, codes, int(more), elements)
		}
	})
}

func FuzzDot(f *testing.F) {
	f.Add([]byte("any bytes are floats, too, and as many as one likes"), uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, from uint8) {
		floats := make([]float32, 0, len(data)/4)
		for ; len(data) >= 4; data = data[4:] {
			if v := math.Float32frombits(binary.LittleEndian.Uint32(data)); v-v == 0 {
				floats = append(floats, v)
			}
		}
		x := floats[min(int(from%8), len(floats)):]
		y := floats[:len(x)]
		for _, s := range Sets() {
			if is, want := s.Dot(x, y), portable.Dot(x, y); math.Float64bits(is) != math.Float64bits(want) {
				t.Fatalf("%s: %g, not %g", s.Name, is, want)
			}
		}
	})
}

func BenchmarkDots(b *testing.B) {
	for _, s := range Sets() {
		for name, size := range map[string][2]int{"494×384": {494, 384}, "1k×1536": {1000, 1536}, "10k×768": {10_000, 768}, "100k×384": {100_000, 384}} {
			b.Run(s.Name+"/"+name, func(b *testing.B) {
				codes, q, out := make([]Pair, size[0]*size[1]/16), s.NewQuery(make([]int8, size[1]), 0), make([]int32, 256)
				for i := range codes {
					codes[i] = Pair{uint64(i), uint64(i)} // or all is one page of zeros
				}
				for b.Loop() {
					for i := 0; i < size[0]; i += len(out) {
						n := min(len(out), size[0]-i)
						q.Dots(out[:n], codes[i*size[1]/16:(i+n)*size[1]/16])
					}
				}
			})
		}
	}
}

func BenchmarkDot(b *testing.B) {
	x := make([]float32, 384)
	for _, s := range Sets() {
		b.Run(s.Name, func(b *testing.B) {
			for b.Loop() {
				s.Dot(x, x)
			}
		})
	}
}
