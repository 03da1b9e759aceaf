package bolt_test

import (
	"maps"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/bolt"
)

// The lines of the README do what they say.
func TestReadme(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("backups", 0o700))
	type Job struct{ State string }
	lines := func() error {
		var db cow.DB
		jobs := cow.NewTable[string](&db, "jobs", cow.Options[Job]{Codec: cow.Versioned[Job]{}})
		db.Retain(cow.Retention{Versions: 1000}) // before Open: the past survives too

		file, err := bolt.Open("jobs.db", &db, bolt.Options{})
		if err != nil {
			return err
		}
		defer db.Close()

		_, err = jobs.Set("a", Job{State: "ready"}) // on disk when it returns

		require.NoError(t, err)
		version, err := file.BackupFile("backups/jobs-" + time.Now().UTC().Format("20060102T150405") + ".db")

		require.Equal(t, db.Load().Version(), version)
		return err
	}
	require.NoError(t, lines())

	back := func(db *cow.DB, jobs *cow.Table[string, Job], rows map[string]Job) error {
		return db.Update(func(tx *cow.Tx) error {
			e := jobs.Edit(tx)
			e.Clear()
			e.SetAll(maps.All(rows))
			return nil
		})
	}
	jobs := cow.New[string](cow.Options[Job]{})
	_, err := jobs.Set("gone", Job{})
	require.NoError(t, err)
	rows := map[string]Job{"a": {State: "ready"}}
	require.NoError(t, back(jobs.DB(), jobs, rows))
	require.Equal(t, rows, maps.Collect(jobs.All()))
	backups, err := os.ReadDir("backups")
	require.NoError(t, err)
	require.Len(t, backups, 1)
	for _, path := range []string{"jobs.db", "backups/" + backups[0].Name()} {
		info, err := bolt.Check(path)
		require.NoError(t, err, path)
		require.Len(t, info.Tables, 1)
		require.EqualValues(t, 1, info.Tables[0].Rows)
	}
}
