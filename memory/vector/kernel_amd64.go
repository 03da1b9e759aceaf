package vector

import (
	"github.com/viterin/vek"
	"github.com/viterin/vek/vek32"
)

// simd reports whether dot32 uses vector instructions: AVX2 and FMA.
var simd = vek.Info().Acceleration

// dot32 returns the dot product of x and y, which are of one length, in float32.
// Below 32 elements, vek takes them one by one and is slower than we are.
func dot32(x, y []float32) float32 {
	if simd && len(x) >= 32 {
		return vek32.Dot(x, y)
	}
	return dotPortable(x, y)
}
