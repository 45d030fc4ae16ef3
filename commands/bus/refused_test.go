package bus_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/failure"
)

// TestExecute_WhatTheDatabaseCannotStoreIsNotRepeated: the values of the event are the cause, so the same append would
// be refused again. The next command of the same stream is not held up.
func TestExecute_WhatTheDatabaseCannotStoreIsNotRepeated(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{})
	c := w.opened()
	schema := pgx.Identifier{w.DB.Namespace.Schema("log")}.Sanitize()
	if _, err := w.DB.Owner.Exec(t.Context(), `alter table `+schema+`.events
		add check (`+schema+`.event_type(record) not like 'billing.InvoiceIssued.%') not valid`); err != nil {
		t.Fatal(err)
	}
	_, err := w.one.Execute(t.Context(), rename{ID: c, Names: []string{"n"}}, w.meta())
	if failure.KindOf(err) != failure.Internal {
		t.Errorf("got %v", err)
	}
	w.must(w.one, add{ID: c, Step: 1}, w.meta())
}
