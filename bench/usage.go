package main

import (
	"runtime/metrics"
	"time"
)

// A usage is what this process had used of the machine at some moment.
type usage struct {
	at    time.Time
	cpu   time.Duration
	gcSec float64 // of processor time
}

// usageNow stops nothing and nobody.
func usageNow() usage {
	s := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}}
	metrics.Read(s)
	u := usage{at: time.Now(), cpu: cpuTime()}
	if s[0].Value.Kind() == metrics.KindFloat64 {
		u.gcSec = s[0].Value.Float64()
	}
	return u
}

// until adds to f what was used from u to now: the processors that this process
// had on average, and the part of their time that the garbage collector took, in
// percent. The runtime accounts for a collection when it ends.
func (u usage) until(f figures) {
	now := usageNow()
	took, cpu := now.at.Sub(u.at), now.cpu-u.cpu
	if took <= 0 || cpu <= 0 {
		return
	}
	f["cpus"] = float64(cpu) / float64(took)
	f[colGC.ID] = min(100, 100*(now.gcSec-u.gcSec)/cpu.Seconds())
}
