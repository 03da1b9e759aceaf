package etcd

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/cowstore/cowstore/cow/internal/door"
)

// A script is an etcd that takes down transactions and answers them as it is told.
type script struct {
	clientv3.KV
	answers []error
	guards  [][]clientv3.Cmp
	puts    [][]clientv3.Op
	ended   func() // called when there are no answers left
}

func (s *script) Txn(context.Context) clientv3.Txn {
	s.guards, s.puts = append(s.guards, nil), append(s.puts, nil)
	return scriptTxn{s}
}

type scriptTxn struct{ s *script }

func (x scriptTxn) If(c ...clientv3.Cmp) clientv3.Txn {
	x.s.guards[len(x.s.guards)-1] = c
	return x
}

func (x scriptTxn) Then(ops ...clientv3.Op) clientv3.Txn {
	x.s.puts[len(x.s.puts)-1] = ops
	return x
}

func (x scriptTxn) Else(...clientv3.Op) clientv3.Txn { return x }

func (x scriptTxn) Commit() (*clientv3.TxnResponse, error) {
	if len(x.s.answers) == 0 {
		x.s.ended()
		return new(clientv3.TxnResponse), nil
	}
	err := x.s.answers[0]
	x.s.answers = x.s.answers[1:]
	return nil, err
}

// A rebased is a line that takes down what it is told.
type rebased struct {
	door.Line
	n      int
	failed error
}

func (l *rebased) Fail(err error) { l.failed = err }

func (l *rebased) Rebase(...*door.Commit) error { l.n++; return nil }

func TestTheSameTransactionIsSentAgain(t *testing.T) {
	lost := errors.New("no answer")
	for _, is := range []struct {
		name    string
		answers []error
		sent    int
		refused error
	}{
		{"answered", nil, 1, nil},
		{"lost", []error{lost, context.DeadlineExceeded, rpctypes.ErrLeaderChanged}, 4, nil},
		{"refused", []error{rpctypes.ErrPermissionDenied}, 1, rpctypes.ErrPermissionDenied},
		{"no space", []error{rpctypes.ErrNoSpace}, 1, rpctypes.ErrNoSpace},
		{"too large", []error{rpctypes.ErrRequestTooLarge}, 1, ErrTooLarge},
		{"too large for the client", []error{status.Error(codes.ResourceExhausted, "trying to send message larger than max")}, 1, ErrTooLarge},
		{"too many requests", []error{rpctypes.ErrTooManyRequests}, 2, nil},
		// The first may have happened, or happen yet: nobody may be told that it did not.
		{"lost and refused", []error{lost, rpctypes.ErrNoSpace, rpctypes.ErrPermissionDenied}, 4, nil},
	} {
		t.Run(is.name, func(t *testing.T) {
			line, s := new(rebased), &script{answers: is.answers}
			r := replica(Options{})
			r.line, r.client = line, &clientv3.Client{KV: s}
			r.propose(t, []door.Row{set(0, "a", "1")})
			g := r.group(r.now(), 1)
			s.ended = g.done
			r.commit(g)
			require.Len(t, s.guards, is.sent)
			for i := range s.guards {
				require.Len(t, s.guards[i], 1)
				require.Equal(t, "p/head", string(s.guards[i][0].KeyBytes()))
				require.Equal(t, "raw", string(s.guards[i][0].ValueBytes()))
				require.Equal(t, g.put, s.puts[i])
			}
			if is.refused == nil {
				require.NoError(t, r.refusal())
				require.Zero(t, line.n)
				return
			}
			require.ErrorIs(t, r.refusal(), is.refused)
			require.Equal(t, is.refused == ErrTooLarge, errors.Is(r.refusal(), ErrTooLarge))
			require.ErrorIs(t, sink{r}.Room(t.Context(), 1), is.refused)
			require.NoError(t, sink{r}.Room(t.Context(), 0), "others may try")
			require.Equal(t, 1, line.n)
		})
	}
}

// A group on its way may happen, although the replica fails.
func TestAFailureWhileAGroupIsOnItsWay(t *testing.T) {
	for _, sent := range []bool{false, true} {
		line := new(rebased)
		r := ending(t)
		r.line = line
		r.propose(t, []door.Row{set(0, "a", "1")})
		if sent {
			require.NotNil(t, r.next(newTurns()))
		}
		r.fail(ErrRestored)
		require.ErrorIs(t, line.failed, ErrRestored)
		require.Equal(t, sent, errors.As(line.failed, new(door.Undecided)))
		require.Nil(t, r.next(newTurns()))
	}
}
