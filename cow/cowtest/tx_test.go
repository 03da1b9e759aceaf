package cowtest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
)

// ends ends the recorder's test, and returns what it was told.
func (r *recorder) ends() []string {
	for _, f := range r.cleanup {
		f()
	}
	return r.errors
}

func TestNoTx(t *testing.T) {
	table := cow.New[string](cow.Options[any]{})
	db := table.DB()
	fine := new(recorder)
	NoTx(fine, db)
	db.Begin().Abort()
	require.NoError(t, db.Begin().Commit())
	require.Empty(t, fine.ends())

	open := new(recorder)
	NoTx(open, db)
	tx := db.Begin()
	require.Len(t, open.ends(), 1)
	require.Regexp(t, "cowtest: a transaction is open, which began .* ago:(?s:.*)TestNoTx", open.errors[0])
	tx.Abort()

	dropped := new(recorder)
	NoTx(dropped, db)
	done := make(chan struct{})
	go func() { table.Edit(db.Begin()).Set("a", 1); close(done) }()
	<-done
	require.Len(t, dropped.ends(), 1)
	require.Regexp(t, "cowtest: transactions dropped without Commit or Abort: 1; the last began here:(?s:.*)TestNoTx", dropped.errors[0])
	_, err := table.Set("b", 1)
	require.NoError(t, err)
}
