package telemetry_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/benchtest"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// errNotDurable ends a benchmark.
var errNotDurable = errors.New("not durable")

// BenchmarkRecorder compares durable starts and interims with the least that a durable report can cost: its row goes
// with the others that wait into a plain table, by one statement and one commit. The server waits for the disk.
func BenchmarkRecorder(b *testing.B) {
	server, err := pgtest.StartScratch(b.Context(), pgtest.ScratchConfig{Durable: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(server.Stop)
	db, err := postgres.Open(b.Context(), postgres.Config{URL: server.URL(), Namespace: "bench", MaxConns: 4})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(db.Close)
	k := openOn(b, db)
	k.Bound(math.MaxInt32) // all are of one router and subscription
	k.BoundDay(1, 1, math.MaxInt32)
	r := telemetry.NewRecorder(telemetry.Config{Store: k.Store, Directory: k.directory(), SpoolDir: b.TempDir()})
	if err := r.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(r.Stop)
	bare := newBare(b, db)
	k.begin(b)
	var serial atomic.Int64
	send := func(ctx context.Context, report telemetry.Report) error {
		done := make(chan bool, 1)
		r.Record(report, func(durable bool) { done <- durable })
		select {
		case durable := <-done:
			if !durable {
				return errNotDurable
			}
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	kinds := map[string]func(n int64) telemetry.Report{
		"starts": func(n int64) telemetry.Report { return k.numbered(telemetry.Start, benchSessions+n, 0) },
		"interims": func(n int64) telemetry.Report {
			return k.numbered(telemetry.Interim, n*7919%benchSessions, time.Duration(n/benchSessions+1)*time.Second)
		},
	}
	for _, flight := range []int{64, 256} {
		for kind, report := range kinds {
			b.Run(fmt.Sprintf("%s/%d", kind, flight), func(b *testing.B) {
				benchtest.Compare(b, kind+"/s", benchtest.NoAim, func() float64 {
					return benchtest.Rate(b, flight, func(ctx context.Context, _ int) error {
						return send(ctx, report(serial.Add(1)))
					})
				}, func() float64 {
					return benchtest.Rate(b, flight, func(ctx context.Context, _ int) error {
						return bare.insert(ctx, report(serial.Add(1)))
					})
				})
			})
		}
	}
}

// benchSessions is the number of sessions that interims are about. It has no common divisor with 7919, which spreads
// the reports over the table.
const benchSessions = 50_000

// begin makes the sessions.
func (k *kit) begin(b *testing.B) {
	b.Helper()
	for n := int64(0); n < benchSessions; n += 2000 {
		var group []telemetry.Report
		for i := range int64(2000) {
			group = append(group, k.numbered(telemetry.Start, n+i, 0))
		}
		k.commit(b, group...)
	}
	if _, err := k.db.Owner.Exec(b.Context(), "vacuum analyze "+k.schema()+".sessions"); err != nil {
		b.Fatal(err)
	}
}

// numbered is a report of session n.
func (k *kit) numbered(kind telemetry.Kind, n int64, online time.Duration) telemetry.Report {
	r := k.at(kind, online, uint64(online), uint64(online)) //nolint:gosec // not negative
	r.Session, r.User, r.MAC = fmt.Sprintf("%x", n), fmt.Sprintf("user%d", n), fmt.Sprintf("%012x", n)
	return r
}

// bare writes groups of rows into a table without an index.
type bare struct {
	db      *postgres.DB
	waiting chan bareRow
}

// bareRow is a row and who waits for it.
type bareRow struct {
	report telemetry.Report
	done   chan error
}

// newBare makes the table and starts the one writer, which ends with the benchmark.
func newBare(b *testing.B, db *postgres.DB) *bare {
	b.Helper()
	if _, err := db.Owner.Exec(b.Context(), `create table bare_reports (session text, username text, mac text,
		at timestamptz, down bigint, up bigint)`); err != nil {
		b.Fatal(err)
	}
	w := &bare{db: db, waiting: make(chan bareRow, 10_000)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for first := range w.waiting {
			w.group(first)
		}
	}()
	b.Cleanup(func() {
		close(w.waiting)
		<-ended
	})
	return w
}

// group writes all rows that wait.
func (w *bare) group(first bareRow) {
	group := []bareRow{first}
	for len(group) < 2000 && len(w.waiting) > 0 {
		group = append(group, <-w.waiting)
	}
	var session, user, mac []string
	var at []time.Time
	var down, up []int64
	for _, g := range group {
		session, user, mac = append(session, g.report.Session), append(user, g.report.User), append(mac, g.report.MAC)
		at = append(at, g.report.At)
		down, up = append(down, int64(g.report.Down)), append(up, int64(g.report.Up)) //nolint:gosec // small
	}
	_, err := w.db.Owner.Exec(context.Background(), `insert into bare_reports select * from unnest(@session::text[],
		@user::text[], @mac::text[], @at::timestamptz[], @down::bigint[], @up::bigint[])`, pgx.NamedArgs{
		"session": session, "user": user, "mac": mac, "at": at, "down": down, "up": up,
	})
	for _, g := range group {
		g.done <- err
	}
}

// insert waits until a row is durable.
func (w *bare) insert(ctx context.Context, r telemetry.Report) error {
	done := make(chan error, 1)
	w.waiting <- bareRow{r, done}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
