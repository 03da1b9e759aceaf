package etcd

import (
	"errors"
	"fmt"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/cowstore/cowstore/cow/internal/sink"
)

// A revision is what one transaction did: the commits of a group.
type revision struct {
	position
	commits []*sink.Commit
}

// errTorn says that a revision is not whole.
var errTorn = errors.New("a part of a revision is missing")

// decodeRevision decodes the events of one revision. It returns false if that has no
// commits, as when a receipt is removed.
func (r *Replica) decodeRevision(events []*clientv3.Event, cluster uint64) (is revision, ok bool, err error) {
	var raw *clientv3.Event
	receipts := make(map[string][]byte)
	var rows []*clientv3.Event
	for _, e := range events {
		switch key := r.relative(e); {
		case key == headKey:
			raw = e
		case strings.HasPrefix(key, writers):
			if e.Type == clientv3.EventTypePut {
				receipts[key[len(writers):]] = e.Kv.Value
			}
		case key == schemaKey: // before what was written by it
			if err := r.takes(e.Kv.Value); err != nil {
				return is, false, err
			}
		default:
			rows = append(rows, e)
		}
	}
	if raw == nil {
		if len(rows) > 0 {
			return is, false, r.damage(rows[0], errors.New("it was written without a head"))
		}
		return is, false, nil
	}
	if raw.Type != clientv3.EventTypePut {
		return is, false, r.damage(raw, errNoHead)
	}
	if is.position, err = r.decodePosition(raw.Kv.Value, raw.Kv.ModRevision, cluster); err != nil {
		return is, false, err
	}
	encoded, found := receipts[is.writer]
	if !found {
		return is, false, errTorn
	}
	of, err := decodeReceipt(is.writer, encoded)
	if err == nil && (of.group != is.group || of.last() != is.version) {
		err = fmt.Errorf("group %d, up to version %d, and the head says group %d and version %d", of.group, of.last(), is.group, is.version)
	}
	if err != nil {
		return is, false, &Damage{r.prefix + writers + is.writer, err}
	}
	is.commits, err = r.decodeCommits(is.lineage, of, rows)
	return is, err == nil, err
}

// decodeCommits returns the commits that a receipt tells of, with the rows of its events.
func (r *Replica) decodeCommits(lineage string, of receipt, rows []*clientv3.Event) ([]*sink.Commit, error) {
	commits := make([]*sink.Commit, len(of.commits))
	missing := uint64(0) // rows that were set
	removed, erased := make(map[string]*sink.Commit), make(map[string]*sink.Commit)
	for i, c := range of.commits {
		commits[i] = &sink.Commit{Lineage: lineage, Version: of.version + uint64(i), Time: time.Unix(0, c.at)}
		missing += c.set
		for _, key := range c.removed {
			removed[rowsDir+key] = commits[i]
		}
		for _, key := range c.erased {
			erased[rowsDir+key] = commits[i]
		}
	}
	for _, e := range rows {
		key := r.relative(e)
		if e.Type != clientv3.EventTypePut {
			c, ok := removed[key]
			if !ok && erased[key] != nil {
				continue // see below
			}
			if !ok {
				return nil, r.damage(e, errors.New("it was removed, and the receipt does not say so"))
			}
			delete(removed, key)
			dir, name, err := splitRow(key)
			if err != nil {
				return nil, r.damage(e, err)
			}
			if t, ok := r.byDir[dir]; ok {
				c.Rows = append(c.Rows, sink.Row{Table: t, Key: []byte(name), Removed: true, Revision: c.Version})
			}
			continue
		}
		row, known, err := r.decodeRow(key, e.Kv.Value)
		i := row.Revision - of.version
		if err == nil && i >= uint64(len(commits)) {
			err = fmt.Errorf("it is of version %d, and the receipt of %d to %d", row.Revision, of.version, of.last())
		}
		if err != nil {
			return nil, r.damage(e, err)
		}
		missing--
		if known {
			row.Erased = erased[key] == commits[i]
			commits[i].Rows = append(commits[i].Rows, row)
		}
		delete(erased, key)
	}
	for key, c := range erased { // and not set again
		dir, name, err := splitRow(key)
		if err != nil {
			return nil, &Damage{r.prefix + key, err}
		}
		if t, ok := r.byDir[dir]; ok {
			c.Rows = append(c.Rows, sink.Row{Table: t, Key: []byte(name), Removed: true, Erased: true, Revision: c.Version})
		}
	}
	if missing != 0 || len(removed) > 0 {
		return nil, errTorn
	}
	return commits, nil
}

func (r *Replica) relative(e *clientv3.Event) string { return string(e.Kv.Key[len(r.prefix):]) }

func (r *Replica) damage(e *clientv3.Event, err error) error { return &Damage{string(e.Kv.Key), err} }
