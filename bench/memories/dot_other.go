//go:build !amd64

package memories

// dot returns the dot product of x and y, which must be of one length. It has four
// sums, as package vector of this project has where there are no vector
// instructions, because one would wait for itself.
func dot(x, y []float32) float32 {
	if len(x) != len(y) {
		panic("memories: vectors of different dimensions")
	}
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
