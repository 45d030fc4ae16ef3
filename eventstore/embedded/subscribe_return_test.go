package embedded_test

import (
	"context"
	"sync"
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lastmile-isp/lastmile/eventstore/contract"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
)

// beforePage does something once, before the first page of a stream is read.
type beforePage struct {
	stream string
	once   sync.Once
	do     func()
}

// TraceQueryStart looks for the statement.
func (b *beforePage) TraceQueryStart(
	ctx context.Context, _ *pgx.Conn, of pgx.TraceQueryStartData,
) context.Context {
	if len(of.Args) == 4 && of.Args[0] == b.stream { // stream, from, rows, bytes
		b.once.Do(b.do)
	}
	return ctx
}

// TraceQueryEnd does nothing.
func (*beforePage) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TestSubscription_AStreamThatComesBackWhileItIsReadLosesNoEvent: it was deleted when the subscriber looked at what it
// may see of it, and has a new event when it reads the first page.
func TestSubscription_AStreamThatComesBackWhileItIsReadLosesNoEvent(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	config, err := pgxpool.ParseConfig(pgtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	var client *esdb.Client
	config.ConnConfig.Tracer = &beforePage{stream: "s", do: func() {
		mustAppend(t, client, "s", esdb.Any{}, oneEvent())
	}}
	if cfg.Pool, err = pgxpool.NewWithConfig(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cfg.Pool.Close)
	n := start(t, cfg)
	client = contract.Connect(t, n.URL())
	mustAppend(t, client, "s", esdb.NoStream{}, several(3)...)
	deleteStream(t, client, "s")
	sub, err := client.SubscribeToStream(t.Context(), "s", esdb.SubscribeToStreamOptions{From: esdb.Start{}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sub.Close() }()
	if got, _ := caughtUp(t, sub); len(got) != 1 {
		t.Errorf("the subscriber gets %d events", len(got))
	}
}
