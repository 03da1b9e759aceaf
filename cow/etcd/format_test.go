package etcd

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func heads() []head {
	return []head{
		{},
		{lineage: "L", version: 1, at: 1, writer: "w", group: 1},
		{lineage: "LINEAGE", version: math.MaxUint64, at: math.MinInt64, writer: "\x00/", group: math.MaxUint64},
	}
}

func receipts() []receipt {
	return []receipt{
		{group: 1, version: 1, commits: []receiptCommit{{}}},
		{group: 7, version: 9, commits: []receiptCommit{{at: 5, set: 3}, {at: 4, removed: []string{"a", "", "\xff"}}, {at: math.MaxInt64, set: math.MaxUint64}}},
	}
}

func TestFormat(t *testing.T) {
	for _, h := range heads() {
		is, err := decodeHead(h.encode())
		require.NoError(t, err)
		require.Equal(t, h, is)
	}
	for _, r := range receipts() {
		b := r.encode("w")
		is, err := decodeReceipt("w", b)
		require.NoError(t, err)
		require.Equal(t, r, is)
		_, err = decodeReceipt("other", b)
		require.ErrorIs(t, err, errSum)
	}
	b := encodeRow("rows/t/a", 300, []byte("value"))
	version, value, err := decodeRow("rows/t/a", b)
	require.NoError(t, err)
	require.Equal(t, uint64(300), version)
	require.Equal(t, "value", string(value))
	_, _, err = decodeRow("rows/t/b", b)
	require.ErrorIs(t, err, errSum, "at another key")
}

func TestEveryBitCounts(t *testing.T) {
	flipped := func(b []byte, decode func(b []byte) error) {
		require.NoError(t, decode(b))
		for i := range b {
			for bit := range 8 {
				is := bytes.Clone(b)
				is[i] ^= 1 << bit
				require.Error(t, decode(is), "byte %d bit %d", i, bit)
			}
			require.Error(t, decode(b[:i]), "cut at %d", i)
		}
	}
	flipped(heads()[1].encode(), func(b []byte) error { _, err := decodeHead(b); return err })
	flipped(receipts()[1].encode("w"), func(b []byte) error { _, err := decodeReceipt("w", b); return err })
	flipped(encodeRow("k", 1, []byte("v")), func(b []byte) error { _, _, err := decodeRow("k", b); return err })
}

func TestANewerFormat(t *testing.T) {
	_, err := decodeHead([]byte{format + 1, 1, 2, 3})
	require.ErrorIs(t, err, ErrFormat)
	_, err = decodeHead(seal(headKey, []byte{0}))
	require.ErrorIs(t, err, ErrFormat)
}

func TestAReceiptOfNothing(t *testing.T) {
	for _, r := range []receipt{
		{group: 1, version: 1},
		{group: 1, commits: []receiptCommit{{}}},
		{group: 1, version: math.MaxUint64, commits: []receiptCommit{{}, {}}},
	} {
		_, err := decodeReceipt("w", r.encode("w"))
		require.Error(t, err)
	}
}

func TestKeysOfRows(t *testing.T) {
	seen := map[string]bool{}
	for _, table := range []string{"", "a", "a/b", "a%2Fb", "é", "\xff\x00", ".."} {
		for _, key := range []string{"", "/", "a", "\x00"} {
			full := tableDir(table) + key
			require.False(t, seen[full], full)
			seen[full] = true
			dir, is, err := splitRow(full)
			require.NoError(t, err)
			require.Equal(t, tableDir(table), dir)
			require.Equal(t, key, is)
		}
	}
	for _, foreign := range []string{"", "row", "rows", "rows/a", "rows/%2f/a", "rows/%zz/a", "rows/%61/a", "writers/a"} {
		_, _, err := splitRow(foreign)
		require.True(t, errors.Is(err, errForeign), foreign)
	}
}

func FuzzDecode(f *testing.F) {
	for _, h := range heads() {
		f.Add(h.encode())
	}
	for _, r := range receipts() {
		f.Add(r.encode("w"))
	}
	f.Add(encodeRow("rows/t/k", 1, []byte("v")))
	f.Fuzz(func(t *testing.T, b []byte) {
		// What has the right checksum must decode, or be refused, without a panic too.
		for _, b := range [][]byte{b, seal(headKey, bytes.Clone(b)), seal(writers+"w", bytes.Clone(b)), seal("rows/t/k", bytes.Clone(b))} {
			if h, err := decodeHead(b); err == nil {
				is, err := decodeHead(h.encode())
				require.NoError(t, err)
				require.Equal(t, h, is)
			}
			if r, err := decodeReceipt("w", b); err == nil {
				is, err := decodeReceipt("w", r.encode("w"))
				require.NoError(t, err)
				require.Equal(t, r, is)
			}
			if version, value, err := decodeRow("rows/t/k", b); err == nil {
				v, is, err := decodeRow("rows/t/k", encodeRow("rows/t/k", version, value))
				require.NoError(t, err)
				require.Equal(t, version, v)
				require.Equal(t, value, is)
			}
		}
		if dir, key, err := splitRow(string(b)); err == nil {
			require.Equal(t, string(b), dir+key)
		}
	})
}
