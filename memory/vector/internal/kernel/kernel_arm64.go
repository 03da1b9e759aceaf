package kernel

import (
	"unsafe"

	"github.com/tphakala/simd/i8"
)

// native returns the instruction sets of this machine, the best first. There is a call
// for each code, of SDOT where the machine has it.
func native() []*Set {
	return []*Set{{Name: "neon", Most: 127, Flip: signs, dots: dotsSigned}}
}

const (
	signs    = 0x8080808080808080 // makes a byte c the int8 c-128
	signBias = 128
)

// dotsSigned adds to Σ(c-128)k what it lacks of Σck. What overflows on the way comes
// back: the result fits.
func dotsSigned(out []int32, codes []Pair, q *Query) {
	n := len(q.elements)
	all := unsafe.Slice((*int8)(unsafe.Pointer(&codes[0])), len(out)*n)
	for i := range out {
		out[i] = i8.DotProduct(all[i*n:(i+1)*n], q.elements) + signBias*q.sum
	}
}

func nativeSums(x, y []float32, sums *[16]float64) { portableSums(x, y, sums) }

func nativeRound(r *Rounding, coarse, fine []int8, x []float32) { portableRound(r, coarse, fine, x) }
