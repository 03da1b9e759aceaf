//lint:file-ignore SA1019 Deprecated types are values like any other.

package main

import (
	"bytes"
	"encoding/base32"
	"encoding/base64"
	"encoding/json"
	goimporter "go/importer"
	"go/token"
	"go/types"
	"hash/crc32"
	"hash/crc64"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"
	"unique"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/snapshot/clone"
)

// needsClone reports whether values of T need a clone.
func needsClone[T any]() (needs bool) {
	defer func() { needs = needs || recover() != nil }()
	return clone.Of[T]() != nil
}

type known struct {
	typ    reflect.Type
	cloned bool
}

// What a view hands out as it is, a clone would share.
func TestKnownAgreesWithClone(t *testing.T) {
	all := []known{
		of[time.Time](), of[time.Location](), of[time.Duration](), of[regexp.Regexp](), of[unicode.RangeTable](), of[unicode.Range16](),
		of[crc32.Table](), of[crc64.Table](), of[http.ProtocolError](), of[http.Header](), of[slog.Value](), of[slog.Attr](), of[slog.Record](),
		of[slog.Level](), of[netip.Addr](), of[netip.Prefix](), of[url.URL](), of[url.Userinfo](), of[big.Int](), of[base32.Encoding](),
		of[base64.Encoding](), of[strings.Replacer](), of[types.Basic](), of[os.PathError](), of[json.RawMessage](), of[bytes.Buffer](),
		of[http.HandlerFunc](), of[reflect.StructField](), of[reflect.Method](), of[os.SyscallError](), of[unicode.CaseRange](),
	}
	pointers := []known{
		of[*time.Location](), of[*base64.Encoding](), of[*base32.Encoding](), of[*strings.Replacer](), of[*types.Basic](),
		of[*regexp.Regexp](), of[*unicode.RangeTable](), of[*crc32.Table](), of[*crc64.Table](), of[*http.ProtocolError](),
		of[*time.Time](), of[*slog.Value](), of[*slog.Record](), of[*os.PathError](), of[*os.SyscallError](),
	}
	imported := importStd(t)
	find := func(typ reflect.Type) types.Type {
		o := imported(typ.PkgPath()).Scope().Lookup(typ.Name())
		require.NotNil(t, o, typ)
		return o.Type()
	}
	for _, k := range all {
		require.Equal(t, k.cloned, !isImmutable(find(k.typ)), k.typ)
	}
	for _, k := range pointers {
		require.Equal(t, k.cloned, !isImmutable(types.NewPointer(find(k.typ.Elem()))), k.typ)
	}
	instance := func(path, name string, arg types.Type) types.Type {
		n, err := types.Instantiate(nil, imported(path).Scope().Lookup(name).Type(), []types.Type{arg}, false)
		require.NoError(t, err)
		return n
	}
	integer := types.Typ[types.Int]
	for _, k := range []struct {
		typ    types.Type
		cloned bool
	}{
		{instance("unique", "Handle", integer), needsClone[unique.Handle[int]]()},
		{instance("unique", "Handle", types.NewPointer(integer)), needsClone[unique.Handle[*int]]()},
		{instance("unique", "Handle", types.Universe.Lookup("any").Type()), needsClone[unique.Handle[any]]()},
		{instance("unique", "Handle", find(reflect.TypeFor[netip.Addr]())), needsClone[unique.Handle[netip.Addr]]()},
		{instance("weak", "Pointer", types.NewSlice(integer)), needsClone[weak.Pointer[[]int]]()},
		{find(reflect.TypeFor[reflect.Type]()), needsClone[reflect.Type]()},
	} {
		require.Equal(t, k.cloned, !isImmutable(k.typ), k.typ)
	}
}

func of[T any]() known { return known{reflect.TypeFor[T](), needsClone[T]()} }

// importStd returns an importer of packages of the standard library.
func importStd(t *testing.T) func(path string) *types.Package {
	imp := goimporter.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		out, err := exec.Command("go", "list", "-export", "-f", "{{.Export}}", path).Output()
		if err != nil {
			return nil, err
		}
		return os.Open(strings.TrimSpace(string(out)))
	})
	return func(path string) *types.Package {
		pkg, err := imp.Import(path)
		require.NoError(t, err)
		return pkg
	}
}
