package durable

import (
	"go.etcd.io/bbolt"
)

var bucket = []byte("rows")

// raw is bbolt without anything of ours.
type raw struct {
	db  *bbolt.DB
	run func(func(tx *bbolt.Tx) error) error
}

func openBolt(path string) (*raw, error) {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{FreelistType: bbolt.FreelistMapType, NoFreelistSync: true})
	if err != nil {
		return nil, err
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucketIfNotExists(bucket)
		return err
	})
	return &raw{db, db.Update}, err
}

func openUpdate(path string) (Store, error) { return openBolt(path) }

func openBatch(path string, batch Batch) (Store, error) {
	b, err := openBolt(path)
	if err != nil {
		return nil, err
	}
	b.run = b.db.Batch
	batch.Set(b)
	return b, nil
}

// Set sets a store of BatchOf, which nobody may use meanwhile.
func (b Batch) Set(s Store) {
	db := s.(*raw).db
	db.MaxBatchSize, db.MaxBatchDelay = b.Size, b.Delay
}

func (b *raw) Set(key, value string) error {
	return b.run(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucket).Put([]byte(key), Row{Value: value}.Append(nil))
	})
}

func (b *raw) SetAll(rows func(yield func(key, value string) bool)) error {
	return b.db.Update(func(tx *bbolt.Tx) (err error) {
		to := tx.Bucket(bucket)
		rows(func(key, value string) bool {
			err = to.Put([]byte(key), Row{Value: value}.Append(nil))
			return err == nil
		})
		return err
	})
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
