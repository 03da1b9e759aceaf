package stores

import "github.com/cowstore/cowstore/cow"

// views is this project read through the views that cowview generates. Where they are
// not asked for it is as cowstore.
type views struct {
	cowstore
	views cow.Views[string, Record, RecordView]
}

func newViews() Store { return viewsOf(cow.New[string](cow.Options[Record]{})) }

func viewsOf(s *cow.Store[string, Record]) Store {
	return views{cowstore{s}, cow.NewViews[RecordView](s)}
}

func (c views) View(key string) (RecordView, bool) { return c.views.Get(key) }
func (c views) Fork() Store                        { return viewsOf(c.s.Fork(c.s.Load())) }
