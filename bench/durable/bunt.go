package durable

import (
	"errors"

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
	return b.db.Update(func(tx *buntdb.Tx) error {
		_, _, err := tx.Set(key, string(Row{Value: value}.Append(nil)), nil)
		return err
	})
}

func (b *bunt) SetAll(rows func(yield func(key, value string) bool)) error {
	return b.db.Update(func(tx *buntdb.Tx) (err error) {
		rows(func(key, value string) bool {
			_, _, err = tx.Set(key, string(Row{Value: value}.Append(nil)), nil)
			return err == nil
		})
		return err
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
