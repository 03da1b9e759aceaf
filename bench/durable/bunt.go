package durable

import (
	"errors"
	"iter"

	"github.com/tidwall/buntdb"
)

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
