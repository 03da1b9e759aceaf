package kernel

import "math"

// A Rounding approximates numbers by integers, and what these lack by integers of finer
// steps: a number is about c·Step + f·FineStep. It counts what Round makes. The
// assembly knows where its fields lie.
type Rounding struct {
	Step, Inverse         float64 // Inverse is 1/Step
	FineStep, FineInverse float64 // or 0, both: no finer steps

	lack, fineLack [4]float64 // squares, added up in four lanes
	sum, fineSum   [4]int32
}

// Sums returns what the integers of Round add up to.
func (r *Rounding) Sums() (coarse, fine int32) {
	for i := range r.sum {
		coarse, fine = coarse+r.sum[i], fine+r.fineSum[i]
	}
	return coarse, fine
}

// Lacks returns the Euclidean norms of what the coarse integers lack, and of what both do.
func (r *Rounding) Lacks() (coarse, both float64) {
	return lanes(&r.lack), lanes(&r.fineLack)
}

func lanes(squares *[4]float64) float64 {
	return math.Sqrt(squares[0] + squares[1] + (squares[2] + squares[3]))
}

// Round sets coarse and fine, which are as long as x, to the integers of x. These must be
// int8: no element of x may be greater than 127 steps. The numbers of one Rounding can be
// given in parts, of which all but the last are of a multiple of four.
// All Sets do the same, to the bit.
func (s *Set) Round(r *Rounding, coarse, fine []int8, x []float32) {
	coarse, fine = coarse[:len(x)], fine[:len(x)]
	whole := 0
	if s != portable {
		whole = len(x) &^ 3
		nativeRound(r, coarse[:whole], fine[:whole], x[:whole])
	}
	portableRound(r, coarse[whole:], fine[whole:], x[whole:])
}

// portableRound goes from lane to lane. It rounds by the addition of a number beside which
// the last bit of a float64 counts as 1. The conversions forbid fused operations, which
// some machines have.
func portableRound(r *Rounding, coarse, fine []int8, x []float32) {
	const whole = 3 << 51
	step, inverse, fineStep, fineInverse := r.Step, r.Inverse, r.FineStep, r.FineInverse
	coarse, fine = coarse[:len(x)], fine[:len(x)]
	for lane := range r.lack {
		lack, fineLack, sum, fineSum := r.lack[lane], r.fineLack[lane], r.sum[lane], r.fineSum[lane]
		for i := lane; i < len(x); i += len(r.lack) {
			f := float64(x[i])
			c := float64(f*inverse) + whole - whole
			f -= float64(step * c)
			lack += float64(f * f)
			d := float64(f*fineInverse) + whole - whole
			f -= float64(fineStep * d)
			fineLack += float64(f * f)
			coarse[i], fine[i] = int8(c), int8(d)
			sum, fineSum = sum+int32(c), fineSum+int32(d)
		}
		r.lack[lane], r.fineLack[lane], r.sum[lane], r.fineSum[lane] = lack, fineLack, sum, fineSum
	}
}
