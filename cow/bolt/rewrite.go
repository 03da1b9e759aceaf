package bolt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"runtime"
	"slices"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/internal/sink"
)

// Restore makes a new file at dst of what the file src had at a version, latest or
// retained, with the past before it. The new file is of a new lineage; src, which no DB
// may have open, stays as it is. It returns [cow.ErrCompacted] or [cow.ErrUnpublished] for a
// version that src does not have, and [fs.ErrExist] if there is a file at dst.
func Restore(dst, src string, version uint64) error {
	f, err := openFile(src, true)
	if err != nil {
		return refused(src, err)
	}
	s, err := f.scan(refuse)
	switch {
	case err != nil:
	case version < s.state.base.version:
		err = fmt.Errorf("version %d: %w", version, cow.ErrCompacted)
	case version > s.state.tip.version:
		err = fmt.Errorf("version %d: %w", version, cow.ErrUnpublished)
	default:
		err = s.rewrite(f, dst, sink.NewLineage(), version, (*builder).name)
	}
	if err = errors.Join(err, f.close()); err != nil {
		return refused(src, err)
	}
	return nil
}

// Compact writes the file at path anew, with what it has and no more: free space is given back,
// and with it what was deleted, if the retained past does not have it and the file was closed, or
// erased, by cow.DB.Erase. It takes the place of the old file in one step, with its owner, group
// and mode; who may not give it those gets an error, and the file stays as it was. Other
// attributes, such as access lists, and other names of the file are not kept. No DB may have
// it open: [ErrLocked]. A small file may get longer: a new one has some room to grow.
func Compact(path string) error {
	f, err := openFile(resolve(path), false)
	if err != nil {
		return refused(path, err)
	}
	closed := false
	closeOnce := func() (err error) {
		if !closed {
			err = f.close()
		}
		closed = true
		return err
	}
	s, err := f.scan(refuse)
	if err == nil {
		err = s.rewrite(f, f.path, s.state.lineage, math.MaxUint64, func(b *builder, path string) error {
			if runtime.GOOS == "windows" { // where an open file cannot be replaced
				if err := closeOnce(); err != nil {
					return err
				}
			}
			// Elsewhere the old file is locked until another has its name, so that
			// nobody writes to it in between.
			return os.Rename(b.temp, path)
		})
	}
	if err = errors.Join(err, closeOnce()); err != nil {
		return refused(path, err)
	}
	return nil
}

// Salvage makes a new file at dst of what can be read of the file src, which is damaged
// and stays as it is, and returns what it left out. The new file is of a new lineage, and has
// src's owner, group and mode. An error says that there is no new file; it is [fs.ErrExist] if there
// is a file at dst.
//
// Where no past was retained, the new file has all rows that are not damaged. Else it has those as
// they were at the oldest version that src knows, and each version after that up to the first that
// is missing. If there are sound ones behind that, the new file has one version more: each row that
// they wrote, as the last of them left it. It is none that there ever was, since the updates in
// between are not in it: tables may disagree, and a unique index may refuse it. The version before
// it is whole, but for damaged rows: Restore makes a file of that one.
func Salvage(dst, src string) (left []*Damage, err error) {
	f, err := openFile(src, true)
	if err != nil {
		return nil, named(src, err)
	}
	s, err := f.scan(func(err error) error {
		var d *Damage
		if !errors.As(err, &d) {
			return err
		}
		left = append(left, d)
		return nil
	})
	if err == nil && s.state == nil {
		err = s.guess()
	}
	if err == nil {
		err = s.rewrite(f, dst, sink.NewLineage(), math.MaxUint64, (*builder).name)
	}
	if err = errors.Join(err, f.close()); err != nil {
		return left, named(src, err)
	}
	return left, nil
}

// guess makes a state from what else there is.
func (s *scan) guess() error {
	is := &state{record: s.record}
	for name := range s.buckets {
		if id, title, ok := ofTable([]byte(name)); ok && id < maxKey {
			for len(is.tables) <= id {
				is.tables = append(is.tables, tableState{name: fmt.Sprintf("lost %d", len(is.tables))})
			}
			is.tables[id].name = title
		}
	}
	// The tables are as of the version before the first commit, or at the last revision.
	bad := s.bad
	defer func() {
		s.bad = bad
		s.forget()
	}()
	s.bad, s.state = func(error) error { return nil }, is
	first := uint64(math.MaxUint64)
	err := (&walk{pages: s.pages, bad: s.bad, visit: func(e element) error {
		if c, _, err := decodeRecord(sealOf(logBucket), e.key, e.value); err == nil {
			first = min(first, c.version)
		}
		return nil
	}}).bucket(s.buckets[string(logBucket)])
	for id, t := range is.tables {
		if err == nil {
			err = s.table(id, t, func(_ []byte, r row) error {
				is.base.version = max(is.base.version, r.revision)
				return nil
			})
		}
	}
	if first != math.MaxUint64 && first > 0 {
		is.base.version = first - 1
	}
	return err
}

// rewrite makes a new file of a lineage with what s reads of f, up to a version, and names
// it.
func (s *scan) rewrite(f *file, path, lineage string, upto uint64, name func(b *builder, path string) error) error {
	is := s.state.clone()
	is.erased = false
	if is.tip = is.base; lineage != is.lineage {
		is.lineage, is.early = lineage, false
	} else {
		is.early = s.renews()
	}
	info, err := f.under.Stat()
	if err != nil {
		return err
	}
	b, err := newBuilder(path, info.Mode(), info, is)
	if err != nil {
		return err
	}
	defer b.abort()
	for _, p := range s.state.pins {
		if p.version <= upto {
			b.state.pin(p.version).names = p.names
		}
	}
	var after remains
	err = s.all(b.row, b.pinned, func(c record) error {
		switch {
		case c.version > upto:
		case after.rows == nil && c.version == b.state.tip.version+1:
			b.state.tip = c.moment
			return b.commit(c)
		default:
			after.add(c)
		}
		return nil
	})
	// Of a damaged file some may be above what is left.
	b.state.pins = slices.DeleteFunc(b.state.pins, func(p *pin) bool { return p.version > b.state.tip.version })
	if err == nil {
		err = after.commit(b)
	}
	if err == nil {
		err = b.finish()
	}
	if err == nil {
		err = name(b, path)
	}
	if err == nil {
		err = syncDir(path)
	}
	return err
}

// Remains are what the commits have written that follow the first gap of a damaged log.
type remains struct {
	at   int64               // of the last
	rows map[string]sink.Row // by table and key, as the last has left them; nil: no gap yet
}

func (r *remains) add(c record) {
	if r.rows == nil {
		r.rows = make(map[string]sink.Row)
	}
	r.at = c.at
	for _, row := range c.rows {
		r.rows[string(binary.BigEndian.AppendUint32(nil, uint32(row.Table)))+string(row.Key)] = row
	}
}

// commit makes one commit of them, or several of a bounded size.
func (r *remains) commit(b *builder) error {
	const most = 64 << 20
	var rows []sink.Row
	n := 0
	keys := slices.Sorted(maps.Keys(r.rows))
	for i, key := range keys {
		row := r.rows[key]
		rows = append(rows, row)
		if n += len(row.Key) + len(row.Value); n < most && i < len(keys)-1 {
			continue
		}
		b.state.tip = moment{b.state.tip.version + 1, r.at}
		if err := b.commit(record{moment: b.state.tip, rows: rows}); err != nil {
			return err
		}
		rows, n = nil, 0
	}
	return nil
}
