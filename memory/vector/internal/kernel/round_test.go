package kernel

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// requireRound compares every Set with the definition, and with one another to the bit.
// What is given in parts, the first of n elements, is as what is given at once.
func requireRound(t *testing.T, x []float32, most int, finer bool, n int) {
	t.Helper()
	largest := 0.0
	for _, f := range x {
		largest = max(largest, math.Abs(float64(f)))
	}
	if largest < 1e-300 {
		largest = 1
	}
	step := largest / float64(most)
	fineStep, fineInverse := 0.0, 0.0
	if finer {
		fineStep, fineInverse = step/float64(2*most), float64(2*most)/step
	}
	begin := Rounding{Step: step, Inverse: 1 / step, FineStep: fineStep, FineInverse: fineInverse}
	want := begin
	coarse, fine := make([]int8, len(x)), make([]int8, len(x))
	portable.Round(&want, coarse, fine, x)
	var sum, fineSum int32
	var lacks, rests float64
	for i, f := range x {
		lack := float64(f) - step*float64(coarse[i])
		if math.Abs(lack) > step*0.5000001 {
			t.Fatalf("element %d: %d steps of %g for %g", i, coarse[i], step, f)
		}
		rest := lack - fineStep*float64(fine[i])
		if finer && math.Abs(rest) > fineStep*0.5000001 || !finer && fine[i] != 0 {
			t.Fatalf("element %d: %d and %d steps of %g for %g", i, coarse[i], fine[i], step, f)
		}
		sum, fineSum = sum+int32(coarse[i]), fineSum+int32(fine[i])
		lacks, rests = lacks+lack*lack, rests+rest*rest
	}
	gotSum, gotFine := want.Sums()
	require.Equal(t, [2]int32{sum, fineSum}, [2]int32{gotSum, gotFine})
	gotLack, gotRest := want.Lacks()
	require.InEpsilon(t, math.Sqrt(lacks)+1e-300, gotLack+1e-300, 1e-9)
	require.InEpsilon(t, math.Sqrt(rests)+1e-300, gotRest+1e-300, 1e-9)

	for _, s := range Sets() {
		room := make([]int8, 2*len(x)+2)
		c, f := room[:len(x)+1], room[len(x)+1:]
		c[len(x)], f[len(x)] = 77, 77
		r := begin
		n := min(n, len(x)) &^ 3
		s.Round(&r, c, f, x[:n])
		s.Round(&r, c[n:], f[n:], x[n:])
		if r != want {
			t.Fatalf("%s, %d elements from %d on: %v, not %v", s.Name, len(x), n, r, want)
		}
		require.Equal(t, coarse, c[:len(x)], s.Name)
		require.Equal(t, fine, f[:len(x)], s.Name)
		require.Equal(t, [2]int8{77, 77}, [2]int8{c[len(x)], f[len(x)]}, "more was written")
	}
}

// Every length, at every alignment, of numbers of every size.
func TestRound(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	x := make([]float32, 2200)
	for round, size := range []float64{1, 1e37, 1e-30, 0} {
		for i := range x {
			switch x[i] = float32(r.NormFloat64() * size); {
			case i%11 == 0:
				x[i] = 0
			case i%101 == 0:
				x[i] = float32(math.Copysign(5*size, float64(x[i])))
			}
		}
		step := 1
		if testing.Short() {
			step = 13
		}
		for n := 0; n <= 2100; n += step {
			from := (n + round) % 16
			requireRound(t, x[from:from+n], []int{32, 64, 127}[n%3], n%5 > 0, r.IntN(n+1))
		}
	}
}

func FuzzRound(f *testing.F) {
	f.Add([]byte("any bytes are floats, too, and as many as one likes"), uint8(1), uint8(3), true)
	f.Fuzz(func(t *testing.T, data []byte, most, n uint8, finer bool) {
		floats := make([]float32, 0, len(data)/4)
		for ; len(data) >= 4; data = data[4:] {
			if v := math.Float32frombits(binary.LittleEndian.Uint32(data)); v-v == 0 {
				floats = append(floats, v)
			}
		}
		requireRound(t, floats, 1+int(most)%127, finer, int(n))
	})
}

func BenchmarkRound(b *testing.B) {
	x, coarse, fine := make([]float32, 1536), make([]int8, 1536), make([]int8, 1536)
	for i := range x {
		x[i] = float32(i%100) - 50
	}
	for _, s := range Sets() {
		b.Run(s.Name, func(b *testing.B) {
			for b.Loop() {
				r := Rounding{Step: 1, Inverse: 1, FineStep: 1. / 254, FineInverse: 254}
				s.Round(&r, coarse, fine, x)
			}
		})
	}
}
