package etcd

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/internal/layout"
	"github.com/cowstore/cowstore/cow/internal/sink"
)

// A Replica is a DB that is the same on many machines, by a store in etcd. It is made by
// Open, must not be copied, and is safe for concurrent use. Closing the DB closes it, but
// not the client, which must be closed after it.
type Replica struct {
	client *clientv3.Client
	prefix string // ends with a slash
	db     *cow.DB
	line   sink.DB
	stored []sink.Table
	strict bool           // rows of a table that db does not have are an error: in Open
	tables []string       // the directories of db's tables
	byDir  map[string]int // the reverse
	name   string         // of this replica, random
	o      Options

	ctx     context.Context // ends when the replica does; its cause says why
	end     context.CancelCauseFunc
	running sync.WaitGroup

	sent    uint64 // groups; used by send alone
	known   known
	queue   queue
	telling sync.Mutex                // held while the line is told what became of a group
	fresh   atomic.Pointer[time.Time] // everything acknowledged before is published
}

// Open makes db a replica of the store under prefix, until db.Close, and loads what that
// has. If there is no store there, it begins one; of several replicas that begin, one
// does. Db must be at version 0, with all its tables made; those of NewDerived are
// not stored, but derived again. A prefix gets a slash at its end if it has none, and nobody
// else may write under it.
//
// The schema of each table is recorded in the store. One that the store has with another
// schema, see [cow.ErrSchema], or, unless Options.KeepUnknown is set, one that db does not have
// is an error that wraps [cow.ErrSchema]. A replica with more fields in a table records these,
// and one that runs and would lose them fails with that error before it sees any.
//
// From then on db follows. An update of db returns when etcd has its commit, and db has
// published it, and so will all replicas: as the same version, over all tables. While etcd
// cannot be reached, reads go on with what is known, and updates wait until their contexts
// end; see [cow.ErrUnknownOutcome]. If what is under the prefix is not what replicas wrote,
// or etcd no longer has what it told, all updates fail from then on, and the versions
// stay as they are: Status says so.
//
// Open returns when db has everything that was acknowledged before it was called. While
// etcd cannot be reached it tries, until ctx ends, for which nothing else is used. On an
// error db is unchanged; what was begun under the prefix stays. It wraps [ErrDamaged],
// [ErrFormat], [ErrNotEmpty], [cow.ErrSchema] or ctx's cause, or is one of etcd, of a codec, or of an index.
func Open(ctx context.Context, client *clientv3.Client, prefix string, db *cow.DB, o Options) (*Replica, error) {
	line := sink.For(db)
	tables, err := line.Tables()
	if err != nil {
		return nil, err
	}
	if strings.Trim(prefix, "/") == "" {
		return nil, fmt.Errorf("etcd: prefix %q: it must have a name", prefix)
	}
	r := &Replica{
		client: client,
		prefix: strings.TrimRight(prefix, "/") + "/",
		db:     db,
		line:   line,
		stored: tables,
		byDir:  make(map[string]int),
		name:   rand.Text(),
		o:      o.withDefaults(),
	}
	for i, t := range tables {
		dir := tableDir(t.Name)
		r.tables, r.byDir[dir] = append(r.tables, dir), i
	}
	r.ctx, r.end = context.WithCancelCause(context.Background())
	r.running.Add(1) // a Close before start waits for it
	defer r.running.Done()
	if err := r.open(ctx); err != nil {
		r.end(err)
		return nil, fmt.Errorf("etcd: %s: %w", r.prefix, err)
	}
	r.running.Go(r.follow)
	r.running.Go(r.send)
	r.running.Go(r.check)
	return r, nil
}

func (r *Replica) open(ctx context.Context) error {
	r.strict = !r.o.KeepUnknown
	defer func() { r.strict = false }()
	for {
		begun := time.Now()
		at, err := r.begin(ctx)
		if err != nil {
			return err
		}
		r.moved(at) // before the DB has a sink, which may be asked at once
		is, err := r.recorded(ctx, at)
		if err == nil && r.strict {
			err = r.unknown(is.was)
		}
		if err == nil {
			err = r.line.Attach(replicaSink{r}, sink.Contents{
				Lineage: at.lineage,
				Version: at.version,
				Time:    time.Unix(0, at.at),
				Rows:    r.rows(ctx, at),
			}, func(yield func(*sink.Commit, error) bool) {
				if err := r.record(ctx, is, at); err != nil { // when all rows were decoded
					yield(nil, err)
				}
			})
		}
		switch {
		case code(err) == codes.OutOfRange, errors.Is(err, errSchemaMoved): // compacted, or changed, meanwhile
			continue
		case errors.Is(err, sink.ErrLineage) || errors.Is(err, sink.ErrBehind):
			return fmt.Errorf("%w: open the store with a new one: %w", ErrNotEmpty, err)
		case err != nil:
			return err
		}
		r.told(begun)
		r.forgetWriters(ctx, at)
		return nil
	}
}

// begin returns the latest position. It begins a store if there is none.
func (r *Replica) begin(ctx context.Context) (at position, err error) {
	at, found, err := r.latest(ctx)
	if err != nil || found {
		return at, err
	}
	c := r.line.Contents()
	if c.Version != 0 {
		return at, fmt.Errorf("%w: it is at version %d", ErrNotEmpty, c.Version)
	}
	first := head{lineage: c.Lineage}
	schema, err := layout.Record(nil).Join(r.stored)
	if err != nil {
		return at, err
	}
	var other *clientv3.TxnResponse
	err = r.ask(ctx, func(ctx context.Context) (err error) {
		// Whoever is second finds what the first has written, be it this replica itself,
		// which did not hear of it.
		other, err = r.client.Txn(ctx).
			If(clientv3.Compare(clientv3.CreateRevision(r.prefix), "=", 0).WithPrefix()).
			Then(clientv3.OpPut(r.prefix+headKey, string(first.encode())), r.putSchema(schema)).
			Else(clientv3.OpGet(r.prefix, clientv3.WithPrefix(), clientv3.WithLimit(1), clientv3.WithKeysOnly())).
			Commit()
		return err
	})
	if err != nil {
		return at, err
	}
	if at, found, err = r.latest(ctx); err != nil || found {
		return at, err
	}
	if !other.Succeeded {
		if kvs := other.Responses[0].GetResponseRange().Kvs; len(kvs) > 0 {
			return at, &Damage{r.prefix + headKey, fmt.Errorf("%w, and %q is there", errNoHead, kvs[0].Key)}
		}
	}
	return at, &Damage{r.prefix + headKey, errNoHead}
}
