package stores

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNewPayloadIsIntact(t *testing.T) {
	for size, length := range map[int]int{0: 16, 15: 16, 16: 16, 17: 17, 100: 100, 1 << 16: 1 << 16} {
		r := NewPayload("user", "7", size)
		require.Len(t, r.Payload, length)
		require.Equal(t, "user.7", r.Key())
		require.True(t, r.Intact("user.7"))
		require.Zero(t, r.Generation())
	}
}

func TestPayloadReindexedIsIntactAndNew(t *testing.T) {
	old := NewPayload("user", "7", 100)
	r := old.Reindexed(41)
	require.True(t, r.Intact("user.7"))
	require.EqualValues(t, 41, r.Generation())
	require.NotEqual(t, old.Check, r.Check)
	require.Len(t, r.Payload, 100)
	require.Equal(t, old.Payload[8:92], r.Payload[8:92], "between the stamps nothing changes")

	clear(r.Payload)
	require.Equal(t, NewPayload("user", "7", 100), old, "a generation shares no memory with the one before")
	require.Zero(t, old.Generation())
}

// Whichever part comes from another generation or another record, it is seen.
func TestIntactDetectsDamagedPayloads(t *testing.T) {
	base := NewPayload("user", "7", 100)
	a, b := base.Reindexed(41), base.Reindexed(43)
	longer := NewPayload("user", "7", 101)
	longer = longer.Reindexed(41)
	damage := map[string]func(r *Record){
		"the first half of another generation":  func(r *Record) { copy(r.Payload[:50], b.Payload[:50]) },
		"the second half of another generation": func(r *Record) { copy(r.Payload[50:], b.Payload[50:]) },
		"the payload of another generation":     func(r *Record) { r.Payload = b.Payload },
		"the check of another generation":       func(r *Record) { r.Check = b.Check },
		"a payload cut off at the end":          func(r *Record) { r.Payload = r.Payload[:99] },
		"a payload cut off at the beginning":    func(r *Record) { r.Payload = r.Payload[1:] },
		"a payload with a hole":                 func(r *Record) { r.Payload = slices.Delete(r.Payload, 50, 51) },
		"a longer payload":                      func(r *Record) { r.Payload = longer.Payload },
		"the check of a longer payload":         func(r *Record) { r.Check = longer.Check },
		"too short for two stamps":              func(r *Record) { r.Payload = r.Payload[:8] },
		"an empty payload":                      func(r *Record) { r.Payload = r.Payload[:0] },
		"no payload":                            func(r *Record) { r.Payload = nil },
		"another name":                          func(r *Record) { r.Name = "8" },
		"another package":                       func(r *Record) { r.Package = "used" },
		"the names put elsewhere":               func(r *Record) { r.Package, r.Name = "use", "r.7" },
	}
	for name, damage := range damage {
		r := deepCopy(a)
		require.True(t, r.Intact("user.7"))
		damage(&r)
		require.False(t, r.Intact("user.7"), name)
	}
	for _, key := range []string{"", "user.", "user.8", "user.77", "user-7", "used.7", "ser.7"} {
		require.False(t, a.Intact(key), key)
	}
}

func TestIntactOfPayloadDoesNotAllocate(t *testing.T) {
	r := NewPayload("user", "7", 100)
	require.Zero(t, testing.AllocsPerRun(100, func() { r.Intact("user.7") }))
}
