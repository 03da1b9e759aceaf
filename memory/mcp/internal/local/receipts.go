package local

import (
	"encoding/json"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory/mcp/internal/store"
)

// A receipt says that a request was done, and what came of it. A request that is sent
// again is answered by it, as long as it is kept: for the latest 4096 requests that wrote,
// and as long as their results have at most 32 MiB together.
type receipt struct {
	Age       uint64 // the version that did it, which no other receipt has
	Namespace string
	Result    string
	Erased    bool // the result is gone, since it told of what was erased

	Bytes int64 // of all results: in the row "" alone
}

const (
	maxReceipts     = 4096
	maxReceiptBytes = 32 << 20
	dropAtOnce      = 64 // receipts that one write removes at most
)

func receiptAge(r cow.Row[string, receipt], add func(uint64)) {
	if age := r.Value().Age; age != 0 {
		add(age)
	}
}

// result returns what came of a request.
func (r receipt) result() (json.RawMessage, error) {
	if r.Erased {
		return nil, store.Errorf(store.Gone, "this was done; its result is no longer kept")
	}
	return json.RawMessage(r.Result), nil
}

// receipt returns the result of a request that was done already, nil of any other.
func (l *line) receipt(id string) (json.RawMessage, error) {
	if id == "" {
		return nil, nil
	}
	r, ok := l.receipts.Get(id)
	if !ok {
		return nil, nil
	}
	return r.result()
}

// eraseResults erases the results of some requests, in an update that erases. They stay done.
func (l *line) eraseResults(tx *cow.Tx, ids map[string]bool) {
	e := l.receipts.Edit(tx)
	sum, _ := e.Get("")
	for id := range ids {
		r, ok := e.Get(id)
		l.receipts.Erase(tx, id)
		if ok {
			sum.Bytes -= int64(len(r.Result))
			e.Set(id, receipt{Age: r.Age, Namespace: r.Namespace, Erased: true})
		}
	}
	if len(ids) > 0 {
		e.Set("", sum)
	}
}

// keep stores a receipt, and removes some of the oldest, if there are too many.
func (l *line) keep(e *cow.Editor[string, receipt], id string, r receipt) {
	e.Set(id, r)
	sum, _ := e.Get("")
	sum.Bytes += int64(len(r.Result))
	var old []string
	rows := e.Len()
	for _, row := range l.order.During(e).All() {
		if len(old) == dropAtOnce || rows <= maxReceipts && sum.Bytes <= maxReceiptBytes || row.Key() == id {
			break
		}
		old = append(old, row.Key())
		sum.Bytes -= int64(len(row.Value().Result))
		rows--
	}
	for _, id := range old {
		e.Delete(id)
	}
	e.Set("", sum)
}
