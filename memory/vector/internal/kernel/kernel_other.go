//go:build !amd64 && !arm64

package kernel

// native returns the instruction sets of this machine besides portable code.
func native() []*Set { return nil }

func nativeSums(x, y []float32, sums *[16]float64) { portableSums(x, y, sums) }

func nativeRound(r *Rounding, coarse, fine []int8, x []float32) { portableRound(r, coarse, fine, x) }
