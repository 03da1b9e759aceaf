package durable

import (
	"database/sql"
	"errors"
	"iter"
	"time"

	"github.com/tidwall/buntdb"
	"go.etcd.io/bbolt"
	_ "modernc.org/sqlite" // the driver "sqlite"
)

var bucket = []byte("rows")

// raw is bbolt without anything of ours.
type raw struct {
	db  *bbolt.DB
	run func(func(tx *bbolt.Tx) error) error
}

// openBolt opens files whose Set calls Update, or Batch.
func openBolt(batch bool) func(path string) (Store, error) {
	return func(path string) (Store, error) {
		db, err := bbolt.Open(path, 0o600, &bbolt.Options{FreelistType: bbolt.FreelistMapType, NoFreelistSync: true})
		if err != nil {
			return nil, err
		}
		b := &raw{db, db.Update}
		if batch {
			b.run = db.Batch
		}
		return b, db.Update(func(tx *bbolt.Tx) error {
			_, err := tx.CreateBucketIfNotExists(bucket)
			return err
		})
	}
}

// SetBatch sets how a Batch collects calls: up to so many, for so long. Nobody may use it
// meanwhile.
func SetBatch(s Store, size int, delay time.Duration) {
	db := s.(*raw).db
	db.MaxBatchSize, db.MaxBatchDelay = size, delay
}

func (b *raw) Set(key, value string) error {
	return b.run(put(func(yield func(key, value string) bool) { yield(key, value) }))
}

func (b *raw) SetAll(rows iter.Seq2[string, string]) error { return b.db.Update(put(rows)) }

func put(rows iter.Seq2[string, string]) func(tx *bbolt.Tx) error {
	return func(tx *bbolt.Tx) error {
		for key, value := range rows {
			if err := tx.Bucket(bucket).Put([]byte(key), Row{Value: value}.Append(nil)); err != nil {
				return err
			}
		}
		return nil
	}
}

func (b *raw) Each(f func(key string, r Row)) error {
	return b.db.View(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucket).ForEach(func(key, value []byte) error {
			r, err := DecodeRow(value)
			if err == nil {
				f(string(key), r)
			}
			return err
		})
	})
}

func (b *raw) Close() error { return b.db.Close() }

type bunt struct{ db *buntdb.DB }

func openBunt(path string) (Store, error) {
	db, err := buntdb.Open(path)
	if err != nil {
		return nil, err
	}
	return &bunt{db}, db.SetConfig(buntdb.Config{SyncPolicy: buntdb.Always, AutoShrinkDisabled: true})
}

func (b *bunt) Set(key, value string) error {
	return b.SetAll(func(yield func(key, value string) bool) { yield(key, value) })
}

func (b *bunt) SetAll(rows iter.Seq2[string, string]) error {
	return b.db.Update(func(tx *buntdb.Tx) error {
		for key, value := range rows {
			if _, _, err := tx.Set(key, string(Row{Value: value}.Append(nil)), nil); err != nil {
				return err
			}
		}
		return nil
	})
}

func (b *bunt) Each(f func(key string, r Row)) error {
	return b.db.View(func(tx *buntdb.Tx) (err error) {
		return errors.Join(tx.Ascend("", func(key, value string) bool {
			var r Row
			if r, err = DecodeRow([]byte(value)); err == nil {
				f(key, r)
			}
			return err == nil
		}), err)
	})
}

func (b *bunt) Close() error { return b.db.Close() }

// sqlite has one connection: SQLite has one writer, and others would but wait for it.
type sqlite struct {
	db  *sql.DB
	set *sql.Stmt
}

const upsert = "INSERT INTO rows (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"

func openSQLite(path string) (Store, error) {
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	s := &sqlite{db: db}
	if _, err = db.Exec("CREATE TABLE IF NOT EXISTS rows (key TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID"); err == nil {
		s.set, err = db.Prepare(upsert)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

func (s *sqlite) Set(key, value string) error {
	_, err := s.set.Exec(key, Row{Value: value}.Append(nil))
	return err
}

func (s *sqlite) SetAll(rows iter.Seq2[string, string]) error {
	tx, err := s.db.Begin()
	if err != nil {
		return err
	}
	set := tx.Stmt(s.set)
	for key, value := range rows {
		if _, err := set.Exec(key, Row{Value: value}.Append(nil)); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	return tx.Commit()
}

func (s *sqlite) Each(f func(key string, r Row)) error {
	rows, err := s.db.Query("SELECT key, value FROM rows")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var key string
		var value []byte
		if err := rows.Scan(&key, &value); err != nil {
			return err
		}
		r, err := DecodeRow(value)
		if err != nil {
			return err
		}
		f(key, r)
	}
	return rows.Err()
}

func (s *sqlite) Close() error { return errors.Join(s.set.Close(), s.db.Close()) }
