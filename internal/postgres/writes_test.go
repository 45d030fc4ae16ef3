package postgres_test

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
)

// watched is a watch whose attempts end as the test says.
type watched struct {
	*postgres.WriteWatch
	clock *clock.Manual
	err   error
}

// newWatched makes one that has not written yet.
func newWatched() *watched {
	w := &watched{clock: clock.NewManual(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC))}
	w.WriteWatch = postgres.NewWriteWatch(func(context.Context) error { return w.err }, w.clock,
		slog.New(slog.DiscardHandler))
	return w
}

// looks makes an attempt that ends with err, and checks the state and who is still served afterwards.
func (w *watched) looks(t *testing.T, err error, want postgres.Writes, reads, writes bool) {
	t.Helper()
	w.err = err
	_ = w.Look(t.Context())
	if got := w.State(); got != want {
		t.Errorf("after %v: state %s, want %s", err, got, want)
	}
	if got := w.Until(false).Err() == nil; got != reads {
		t.Errorf("after %v: reads are served: %v, want %v", err, got, reads)
	}
	if got := w.Until(true).Err() == nil; got != writes {
		t.Errorf("after %v: writes are served: %v, want %v", err, got, writes)
	}
}

func TestWrites_ARefusalCountsAtOnceAndReadsGoOn(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]postgres.Writes{"25006": postgres.WritesReadOnly, "53100": postgres.WritesFull} {
		w, lost := newWatched(), 0
		w.Watch(func() { lost++ })
		under := w.Until(true) // a request that writes at that moment
		w.looks(t, nil, postgres.WritesTaken, true, true)
		w.looks(t, &pgconn.PgError{Code: code}, want, true, false)
		if under.Err() == nil {
			t.Errorf("%s: a request that was writing goes on", code)
		}
		w.looks(t, nil, postgres.WritesTaken, true, true)
		if lost != 1 {
			t.Errorf("%s: one refusal is told %d times", code, lost)
		}
	}
}

func TestWrites_SilenceCountsOnlyWhenItLasts(t *testing.T) {
	t.Parallel()
	w, lost := newWatched(), errors.New("connection refused")
	w.looks(t, lost, postgres.WritesTaken, true, true)
	w.clock.Advance(2 * time.Second)
	w.looks(t, lost, postgres.WritesTaken, true, true)
	w.looks(t, nil, postgres.WritesTaken, true, true)
	w.clock.Advance(6 * time.Second)
	w.looks(t, lost, postgres.WritesTaken, true, true) // one attempt alone may have met a busy moment
	w.looks(t, lost, postgres.WritesAway, false, false)
	w.looks(t, nil, postgres.WritesTaken, true, true)
}

// TestWrites_SilenceCountsAlsoWhenTheMachinesClockIsPutBack.
func TestWrites_SilenceCountsAlsoWhenTheMachinesClockIsPutBack(t *testing.T) {
	t.Parallel()
	w, lost := newWatched(), errors.New("connection refused")
	w.looks(t, nil, postgres.WritesTaken, true, true)
	w.clock.Set(w.clock.Now().Add(-3 * time.Hour))
	w.looks(t, lost, postgres.WritesTaken, true, true)
	w.clock.Advance(6 * time.Second)
	w.looks(t, lost, postgres.WritesAway, false, false)
}

// TestWrites_ABackupIsNoOutage: pg_dump holds each table until its end, so that nobody may empty it.
func TestWrites_ABackupIsNoOutage(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	w, err := db.WatchWrites(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	table := db.Namespace.Schema("probe") + ".write_probe"
	rows := func() (n int) {
		t.Helper()
		if err := w.Look(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := db.Owner.QueryRow(t.Context(), `select count(*) from `+table).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	rows()
	dump, err := db.Owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dump.Exec(t.Context(), `lock table `+table+` in access share mode`); err != nil {
		t.Fatal(err)
	}
	if first, second := rows(), rows(); first != 2 || second != 3 { // a further page each time
		t.Errorf("during the dump: %d rows, then %d", first, second)
	}
	if err := dump.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := rows(); n != 1 {
		t.Errorf("after the dump: %d rows", n)
	}
}

func TestWrites_AReadOnlyDatabaseIsNoticed(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	address, ns := pgtest.URL(t), db.Namespace
	w, err := db.WatchWrites(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for range 3 { // the page is replaced
		if err := w.Look(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	var rows int
	err = db.Owner.QueryRow(t.Context(), `select count(*) from `+ns.Schema("probe")+`.write_probe`).Scan(&rows)
	if err != nil || rows != 1 {
		t.Errorf("%d rows, %v; want 1", rows, err)
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("default_transaction_read_only", "on")
	u.RawQuery = q.Encode()
	readOnly := postgres.NewWriteWatch(postgres.ProbeWrites(pgtest.Open(t, u.String(), ns)), clock.System(),
		slog.New(slog.DiscardHandler))
	if err := readOnly.Look(t.Context()); err == nil || readOnly.State() != postgres.WritesReadOnly {
		t.Errorf("error %v, state %s; want read_only", err, readOnly.State())
	}
}
