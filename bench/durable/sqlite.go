package durable

import (
	"database/sql"
	"errors"
	"iter"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

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
