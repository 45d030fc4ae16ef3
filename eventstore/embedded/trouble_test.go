package embedded_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lastmile-isp/lastmile/eventstore/contract"
	"github.com/lastmile-isp/lastmile/eventstore/embedded"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
)

// lossyProxy stands between a node and its database. When armed, it passes the next request on, waits for the server's
// answer and closes the connection without the answer. So the statement was executed, but the node does not know.
type lossyProxy struct {
	listener net.Listener
	server   func() (net.Conn, error)
	armed    atomic.Bool
	struck   atomic.Int32
	pipes    sync.WaitGroup
}

// newLossyProxy starts a proxy in front of a server, on a free loopback port.
func newLossyProxy(t *testing.T, server func() (net.Conn, error)) *lossyProxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &lossyProxy{listener: l, server: server}
	p.pipes.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			p.pipes.Go(func() { p.carry(c) })
		}
	})
	t.Cleanup(func() { _ = l.Close(); p.pipes.Wait() })
	return p
}

// carry copies the bytes of one connection in both directions.
func (p *lossyProxy) carry(client net.Conn) {
	defer client.Close()
	server, err := p.server()
	if err != nil {
		return
	}
	defer server.Close()
	var lose atomic.Bool
	p.pipes.Go(func() {
		defer server.Close()
		buffer := make([]byte, 64<<10)
		for {
			n, err := client.Read(buffer)
			if n > 0 {
				if p.armed.CompareAndSwap(true, false) {
					lose.Store(true)
				}
				if _, err := server.Write(buffer[:n]); err != nil {
					return
				}
			}
			if err != nil {
				return
			}
		}
	})
	buffer := make([]byte, 64<<10)
	for {
		n, err := server.Read(buffer)
		if lose.Load() {
			p.struck.Add(1)
			return
		}
		if n > 0 {
			if _, err := client.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// TestOutage_CommitWithUnknownOutcomeIsSettled: the answers to ten commits are lost. Each append is in the log once and
// acknowledged with its place in the log.
func TestOutage_CommitWithUnknownOutcomeIsSettled(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	through, err := pgxpool.ParseConfig(pgtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	network, address := pgconn.NetworkAddress(through.ConnConfig.Host, through.ConnConfig.Port)
	proxy := newLossyProxy(t, func() (net.Conn, error) { return net.Dial(network, address) })
	through.ConnConfig.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", proxy.listener.Addr().String())
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), through)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	direct := cfg.Pool
	cfg.Pool = pool
	n := start(t, cfg)
	client := contract.Connect(t, n.URL())
	var want, got []string
	for i := range 10 {
		expected := esdb.ExpectedRevision(esdb.NoStream{})
		if i > 0 {
			expected = esdb.Revision(uint64(i - 1))
		}
		e := oneEvent()
		proxy.armed.Store(true)
		r := mustAppend(t, client, "in-doubt", expected, e)
		want = append(want, fmt.Sprint(r.NextExpectedVersion, " ", r.CommitPosition, " ", e.EventID))
	}
	rows, err := direct.Query(t.Context(),
		`select concat(revision, ' ', position, ' ', event_id) from `+cfg.Schema+
			`.readable_events where stream = 'in-doubt' order by revision`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		got = append(got, line)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("log and acknowledgements differ (-acknowledged +log):\n%s", diff)
	}
	if proxy.struck.Load() < 10 {
		t.Errorf("only %d answers were lost", proxy.struck.Load())
	}
	wantAlive(t, n)
}

// TestCommit_OneBadWriteDoesNotFailItsGroup: when the database refuses one write, only that write fails.
func TestCommit_OneBadWriteDoesNotFailItsGroup(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	n := start(t, cfg)
	if _, err := cfg.Pool.Exec(t.Context(),
		`alter table `+cfg.Schema+`.events add check (`+cfg.Schema+`.event_type(record) <> 'poison')`); err != nil {
		t.Fatal(err)
	}
	client := contract.Connect(t, n.URL())
	var group sync.WaitGroup
	for i := range 24 {
		group.Go(func() {
			for range 10 {
				e := oneEvent()
				if i%8 == 0 {
					e.EventType = "poison"
				}
				_, err := client.AppendToStream(t.Context(), fmt.Sprint("s-", i),
					esdb.AppendToStreamOptions{ExpectedRevision: esdb.Any{}}, e)
				if (err != nil) != (i%8 == 0) {
					t.Errorf("%s: %v", e.EventType, err)
				}
			}
		})
	}
	group.Wait()
	wantAlive(t, n)
}

// TestNode_ReadsThroughAnyQueryMode: the node can also decode results in text form.
func TestNode_ReadsThroughAnyQueryMode(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	config := cfg.Pool.Config()
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	cfg.Pool = pool
	client := contract.Connect(t, start(t, cfg).URL())
	given := oneEvent()
	given.Data, given.Metadata = []byte{0, 1, 254, '\\', '"', '{'}, []byte(`{"a":"\u0000"}`)
	mustAppend(t, client, "s", esdb.NoStream{}, given)
	r, err := client.ReadStream(t.Context(), "s", esdb.ReadStreamOptions{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	e, err := r.Recv()
	if err != nil {
		t.Fatal(err)
	}
	if e.Event.EventID != given.EventID || !bytes.Equal(e.Event.Data, given.Data) ||
		!bytes.Equal(e.Event.UserMetadata, given.Metadata) {
		t.Errorf("got %+v, want %+v", e.Event, given)
	}
}

// TestNode_StopEndsOpenBatchCalls: Stop does not wait for them, since clients keep them open all the time.
func TestNode_StopEndsOpenBatchCalls(t *testing.T) {
	t.Parallel()
	n, err := embedded.Start(t.Context(), testConfig(t))
	if err != nil {
		t.Fatal(err)
	}
	call := contract.OpenBatchCall(t, n.URL())
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if err := n.Stop(ctx); err != nil {
		t.Errorf("stop: %v", err)
	}
	if _, err := call.Recv(); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("the call ended with %v", err)
	}
}

// TestErrors_NamesOutsideASCIIReachTheClient: the client reads the name from a trailer that must exist.
func TestErrors_NamesOutsideASCIIReachTheClient(t *testing.T) {
	t.Parallel()
	client := contract.Connect(t, start(t, testConfig(t)).URL())
	for _, stream := range []string{"café-Ω", "line\nbreak", "tab\tbed"} {
		if _, err := client.TombstoneStream(t.Context(), stream,
			esdb.TombstoneStreamOptions{ExpectedRevision: esdb.Any{}}); err != nil {
			t.Fatalf("%q: %v", stream, err)
		}
		_, err := client.AppendToStream(t.Context(), stream, esdb.AppendToStreamOptions{}, oneEvent())
		wantCode(t, err, esdb.ErrorCodeStreamDeleted)
	}
	for _, stream := range []string{"", "$$", "nul\x00", string(make([]byte, 2000))} {
		_, err := client.AppendToStream(t.Context(), stream, esdb.AppendToStreamOptions{}, oneEvent())
		wantCode(t, err, esdb.ErrorCodeUnknown)
	}
	mustAppend(t, client, "$$$weird", esdb.Any{}, oneEvent())
}
