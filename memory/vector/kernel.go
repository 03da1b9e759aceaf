package vector

import "math"

// dotPortable returns the dot product of x and y, which are of one length, in
// float32. Four sums, because one would wait for itself.
func dotPortable(x, y []float32) float32 {
	y = y[:len(x)]
	var a, b, c, d float32
	i := 0
	for ; i+4 <= len(x); i += 4 {
		a += x[i] * y[i]
		b += x[i+1] * y[i+1]
		c += x[i+2] * y[i+2]
		d += x[i+3] * y[i+3]
	}
	for ; i < len(x); i++ {
		a += x[i] * y[i]
	}
	return (a + b) + (c + d)
}

// dot64 returns the dot product of x and y in float64. The products of float32
// are exact there, so only the sum is rounded, and always in the same order:
// equal vectors have equal dot products on every machine.
func dot64(x, y []float32) float64 {
	y = y[:len(x)]
	var a, b, c, d float64
	i := 0
	for ; i+4 <= len(x); i += 4 {
		a += float64(x[i]) * float64(y[i])
		b += float64(x[i+1]) * float64(y[i+1])
		c += float64(x[i+2]) * float64(y[i+2])
		d += float64(x[i+3]) * float64(y[i+3])
	}
	for ; i < len(x); i++ {
		a += float64(x[i]) * float64(y[i])
	}
	return (a + b) + (c + d)
}

// distance64 returns the Euclidean distance of x and y, summed up directly:
// nothing cancels, as it would in |x|² + |y|² - 2xy.
func distance64(x, y []float32) float64 {
	y = y[:len(x)]
	var a, b float64
	i := 0
	for ; i+2 <= len(x); i += 2 {
		d, e := float64(x[i])-float64(y[i]), float64(x[i+1])-float64(y[i+1])
		a += d * d
		b += e * e
	}
	if i < len(x) {
		d := float64(x[i]) - float64(y[i])
		a += d * d
	}
	return math.Sqrt(a + b)
}

// norm64 returns the Euclidean norm of x. The square of a float32 neither
// overflows nor vanishes in float64.
func norm64(x []float32) float64 { return math.Sqrt(dot64(x, x)) }
