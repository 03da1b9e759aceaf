package etcd

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/cowstore/cowstore/cow"
)

// everyAnswer returns each error of etcd, as its source has them, and each code of gRPC.
func everyAnswer(t *testing.T) (all []error) {
	byName := make(map[string]codes.Code)
	for c := codes.Canceled; c <= codes.Unauthenticated; c++ {
		byName[c.String()] = c
		all = append(all, status.Error(c, "of gRPC"))
	}
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", "go.etcd.io/etcd/api/v3/v3rpc/rpctypes").Output()
	require.NoError(t, err)
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(strings.TrimSpace(string(dir)), "error.go"), nil, 0)
	require.NoError(t, err)
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 2 {
			return true
		}
		of, ok1 := call.Args[0].(*ast.SelectorExpr)
		text, ok2 := call.Args[1].(*ast.BasicLit)
		if !ok1 || !ok2 {
			return true
		}
		code, ok := byName[of.Sel.Name]
		require.True(t, ok, of.Sel.Name)
		is, err := strconv.Unquote(text.Value)
		require.NoError(t, err)
		all = append(all, status.Error(code, is))
		return true
	})
	require.Greater(t, len(all), 70)
	require.ErrorIs(t, rpctypes.Error(all[len(all)-1]), rpctypes.Error(rpctypes.ErrGRPCDeadlineExceeded))
	return all
}

// What becomes of a transaction that is answered with an error.
const (
	happens   = "happens"
	never     = "never happens"
	meanwhile = "happens before the next request"
	later     = "happens when the update has its answer"
)

// What is answered to the transactions after it.
const (
	once    = "once"
	noPuts  = "to each that writes"
	forever = "to each"
)

// Whatever etcd answers, and whatever it does, what an update returns is so.
func TestNoErrorIsAProof(t *testing.T) {
	for i, answer := range everyAnswer(t) {
		for _, fate := range []string{happens, never, meanwhile, later} {
			for _, again := range []string{once, noPuts, forever} {
				if testing.Short() && again != once && i%8 != 0 {
					continue
				}
				t.Run(fmt.Sprint(answer, ", ", fate, ", ", again), func(t *testing.T) {
					testProof(t, answer, fate, again)
				})
			}
		}
	}
}

func testProof(t *testing.T, answer error, fate, again string) {
	f, client := newFake(t)
	a := openAccount(t, client, Options{})
	require.NoError(t, a.deposit(t.Context()))

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var mu sync.Mutex
	var delayed []*pb.TxnRequest
	n := 0
	release := func() {
		for _, of := range delayed {
			f.apply(of)
		}
		delayed = nil
	}
	f.answer(func(of *pb.TxnRequest) (*pb.TxnResponse, error) {
		mu.Lock()
		defer mu.Unlock()
		if n++; n == 1 {
			switch fate {
			case happens:
				f.apply(of)
			case meanwhile, later:
				delayed = append(delayed, of)
			}
			return nil, answer
		}
		if fate == meanwhile {
			release()
		}
		if n == 4 {
			cancel() // it is asked for ever, so that the caller loses patience
		}
		if again == forever || again == noPuts && of.Success[0].GetRequestPut() != nil {
			return nil, answer
		}
		return nil, nil
	})
	err := a.deposit(ctx)
	mu.Lock()
	release()
	mu.Unlock()
	f.answer(nil)
	least, most := 1, 1
	switch {
	case err == nil:
		least, most = 2, 2
	case errors.Is(err, cow.ErrUnknownOutcome):
		require.NotEqual(t, once, again, "it can be known")
		require.True(t, again == forever || ctx.Err() != nil, "it can be called off: %v", err)
		most = 2
	}
	if fate == happens && ctx.Err() == nil {
		require.NoError(t, err, "the line tells")
	}
	check := func() {
		n := balance(t, client)
		require.True(t, least <= n && n <= most, "%d, and not %d to %d, after: %v", n, least, most, err)
	}
	check()

	// Whoever is told that it did not happen does it again.
	require.NoError(t, a.deposit(t.Context()))
	least, most = least+1, most+1
	check()
}
