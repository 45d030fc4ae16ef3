package embedded_test

import (
	"context"
	"errors"
	"io"
	"math"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lastmile-isp/lastmile/eventstore/contract"
	"github.com/lastmile-isp/lastmile/eventstore/embedded"
)

// countedConn counts the bytes that it reads.
type countedConn struct {
	net.Conn
	read *atomic.Int64
}

// Read adds to the count.
func (c countedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.read.Add(int64(n))
	return n, err
}

// countedReads makes the node count the bytes that it reads from PostgreSQL.
func countedReads(t *testing.T, cfg *embedded.Config) *atomic.Int64 {
	t.Helper()
	read := &atomic.Int64{}
	pooled := cfg.Pool.Config()
	dial := pooled.ConnConfig.DialFunc
	pooled.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dial(ctx, network, addr)
		return countedConn{c, read}, err
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), pooled)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	cfg.Pool = pool
	return read
}

// keptBytes reads to the end and returns how many events there are and about how much memory they take.
func keptBytes(t *testing.T, call *esdb.ReadStream, err error) (n int, kept int64) {
	t.Helper()
	for err == nil {
		var e *esdb.ResolvedEvent
		if e, err = call.Recv(); err == nil {
			n++
			kept += int64(len(e.Event.Data) + len(e.Event.UserMetadata) + 200)
		}
	}
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	call.Close()
	return n, kept
}

// TestPage_ReadsFromPostgreSQLNoMoreThanItKeeps whatever the size of the events, in each direction.
func TestPage_ReadsFromPostgreSQLNoMoreThanItKeeps(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	read := countedReads(t, &cfg)
	client := contract.Connect(t, start(t, cfg).URL())
	const events, size = 60, 200_000
	for i := range events {
		e := oneEvent()
		e.ContentType, e.Data = esdb.ContentTypeBinary, make([]byte, size)
		if i%10 == 9 {
			e.Data = make([]byte, 1_000_000)
		}
		mustAppend(t, client, "large", esdb.Any{}, e)
	}
	for range 2 { // small events, one that is larger, and small ones again
		batch := make([]esdb.EventData, 3000)
		for i := range batch {
			batch[i] = oneEvent()
		}
		batch[2500].ContentType, batch[2500].Data = esdb.ContentTypeBinary, make([]byte, size)
		mustAppend(t, client, "small", esdb.Any{}, batch...)
	}
	options := func(d esdb.Direction, from esdb.StreamPosition) esdb.ReadStreamOptions {
		return esdb.ReadStreamOptions{Direction: d, From: from}
	}
	for name, open := range map[string]func() (*esdb.ReadStream, error){
		"forwards": func() (*esdb.ReadStream, error) {
			return client.ReadStream(t.Context(), "large", options(esdb.Forwards, esdb.Start{}), math.MaxInt32)
		},
		"backwards": func() (*esdb.ReadStream, error) {
			return client.ReadStream(t.Context(), "large", options(esdb.Backwards, esdb.End{}), math.MaxInt32)
		},
		"one": func() (*esdb.ReadStream, error) {
			return client.ReadStream(t.Context(), "large", options(esdb.Backwards, esdb.End{}), 1)
		},
		"small": func() (*esdb.ReadStream, error) {
			return client.ReadStream(t.Context(), "small", options(esdb.Forwards, esdb.Start{}), math.MaxInt32)
		},
		"all": func() (*esdb.ReadStream, error) {
			return client.ReadAll(t.Context(), esdb.ReadAllOptions{}, math.MaxInt32)
		},
		"all backwards": func() (*esdb.ReadStream, error) {
			return client.ReadAll(t.Context(), esdb.ReadAllOptions{
				Direction: esdb.Backwards, From: esdb.End{},
			}, math.MaxInt32)
		},
	} {
		before := read.Load()
		call, err := open()
		n, kept := keptBytes(t, call, err)
		want, counted := map[string]int{"one": 1, "small": 6000, "all": 6061, "all backwards": 6061}[name]
		if counted && n != want {
			t.Errorf("%s: %d events, not %d", name, n, want)
		}
		if got := read.Load() - before; got > kept+kept/20+20_000 {
			t.Errorf("%s: PostgreSQL sent %d bytes for %d", name, got, kept)
		}
	}
}

// TestNode_ALongAppendHearsWhyItIsRefused: the client is still sending when the node has decided.
func TestNode_ALongAppendHearsWhyItIsRefused(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.TLS, cfg.Username, cfg.Password = selfSigned(t), "admin", "secret"
	n := start(t, cfg)
	events := make([]esdb.EventData, 2000)
	for i := range events {
		events[i] = oneEvent()
		events[i].ContentType, events[i].Data = esdb.ContentTypeBinary, make([]byte, 5000)
	}
	client := contract.Connect(t, strings.Replace(n.URL(), "esdb://", "esdb://admin:wrong@", 1)+"&tlsVerifyCert=false")
	_, err := client.AppendToStream(t.Context(), "guarded", esdb.AppendToStreamOptions{}, events...)
	wantCode(t, err, esdb.ErrorCodeUnauthenticated)
}
