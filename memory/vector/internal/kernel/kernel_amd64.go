package kernel

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// native returns the instruction sets of this machine, the best first.
func native() (sets []*Set) {
	if cpu.X86.HasAVX2 && cpu.X86.HasAVX512F && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512VNNI {
		sets = append(sets, &Set{Name: "avx512vnni", Most: 127, dots: callDots(dotsVNNI), both: callBothVNNI})
	}
	if cpu.X86.HasAVX2 {
		// Two products add up to an int16: at most 2·254·64 = 32,512.
		sets = append(sets, &Set{Name: "avx2", Most: 64, dots: callDots(dotsAVX2)})
	}
	return sets
}

func callDots(dots func(codes *byte, stride, n int, query *int8, out *int32)) func([]int32, []Pair, *Query) {
	return func(out []int32, codes []Pair, q *Query) {
		dots((*byte)(unsafe.Pointer(&codes[0])), len(q.elements), len(out), &q.elements[0], &out[0])
	}
}

func callBothVNNI(out, fineOut []int32, codes []Pair, q, fine *Query) {
	bothVNNI((*byte)(unsafe.Pointer(&codes[0])), len(q.elements), len(out), &q.elements[0], &fine.elements[0], &out[0], &fineOut[0])
}

// nativeSums is portableSums for machines with AVX2.
func nativeSums(x, y []float32, sums *[16]float64) {
	if len(x) > 0 {
		sumsAVX2(&x[0], &y[0], len(x), sums)
	}
}

// nativeRound is portableRound for machines with AVX2, and a multiple of four elements.
func nativeRound(r *Rounding, coarse, fine []int8, x []float32) {
	if len(x) > 0 {
		roundAVX2((*byte)(unsafe.Pointer(r)), &coarse[0], &fine[0], &x[0], len(x))
	}
}
