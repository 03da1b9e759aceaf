package durable

import (
	"iter"
	"time"

	"go.etcd.io/bbolt"
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
