package etcd

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestHeadsThatNoStoreHas(t *testing.T) {
	r := replica(Options{})
	for _, is := range []struct {
		head head
		ok   bool
	}{
		{head{lineage: "L"}, true},
		{head{lineage: "L", version: maxVersion}, true},
		{head{lineage: "L", version: maxVersion + 1}, false},
		{head{lineage: "L", version: 1<<64 - 1}, false},
		{head{version: 1}, false},
	} {
		at, err := r.decodePosition(is.head.encode(), 3, 4)
		if is.ok {
			require.NoError(t, err)
			require.Equal(t, position{is.head, string(is.head.encode()), 3, 4}, at)
			continue
		}
		require.ErrorIs(t, err, ErrDamaged)
		require.ErrorContains(t, err, `"p/head"`)
	}
}

// Each thing that etcd must not forget is enough to tell.
func TestVerify(t *testing.T) {
	was := position{head{lineage: "L", version: 6}, "raw", 10, 5}
	for _, is := range []struct {
		name   string
		change func(at *position)
		ok     bool
	}{
		{"the same", func(*position) {}, true},
		{"a later revision", func(at *position) { at.revision++ }, true},
		{"a later version", func(at *position) { at.version++; at.revision++; at.raw = "new" }, true},
		{"another cluster", func(at *position) { at.cluster++ }, false},
		{"another cluster that went further", func(at *position) { at.cluster++; at.version++; at.revision++; at.raw = "new" }, false},
		{"an earlier revision", func(at *position) { at.revision-- }, false},
		{"another lineage", func(at *position) { at.lineage = "M" }, false},
		{"an earlier version", func(at *position) { at.version--; at.raw = "old" }, false},
		{"another version of that number", func(at *position) { at.raw = "other" }, false},
	} {
		t.Run(is.name, func(t *testing.T) {
			r := replica(Options{})
			r.known.at = was
			r.told(time.Now())
			at := was
			is.change(&at)
			err := r.verify(was, at)
			if !is.ok {
				require.ErrorIs(t, err, ErrRestored)
				require.Equal(t, was, r.now())
				return
			}
			require.NoError(t, err)
			require.Equal(t, at.version, r.Status().Latest)
			if at.version == was.version {
				require.Equal(t, at.revision, r.now().revision, "nothing has changed up to there")
			} else {
				require.Equal(t, was, r.now(), "that is not published yet")
			}
		})
	}
}
