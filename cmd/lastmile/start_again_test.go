package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// startsAgain is the line of a program whose start has failed and is tried again.
const startsAgain = "the start is tried again"

// says waits until the log of a program that starts has a text.
func (s *starting) says(text string) {
	s.k.t.Helper()
	s.k.eventually("the start to say "+text, func(context.Context) (bool, error) {
		select {
		case err := <-s.ended:
			s.k.t.Fatalf("the start ends with %v", err)
		default:
		}
		return strings.Contains(s.log.String(), text), fmt.Errorf("it says %s", s.log.String())
	})
}

// comes waits until the program has started and has stopped again.
func (s *starting) comes() {
	s.k.t.Helper()
	if err := <-s.ended; err != nil {
		s.k.t.Errorf("the start ends with %v", err)
	}
}

// writable lets the transactions of new connections to a server write, or not.
func writable(t *testing.T, c *postgres.Cluster, on bool) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), c.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	for _, sql := range []string{
		"set default_transaction_read_only = off",
		fmt.Sprintf("alter database %s set default_transaction_read_only = %v",
			pgx.Identifier{conn.Config().Database}.Sanitize(), !on),
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
}

// TestStart_WaitsForADatabaseThatIsReadOnly: it is the standby that takes over in a moment. Meanwhile the program says
// on /readyz what is wrong, and keeps callbacks. The event store alone waits, too.
func TestStart_WaitsForADatabaseThatIsReadOnly(t *testing.T) {
	t.Parallel()
	cluster := startCluster(t)
	k := newKit(t, "DATABASE_URL="+cluster.URL())
	addr := freePort(t)
	customer, account := k.tookMoney(addr, "254711000903")
	writable(t, cluster, false)

	ctx, stop := context.WithCancel(t.Context())
	var log logBuffer
	code := make(chan int, 1)
	go func() {
		environ := append(k.environ[:len(k.environ):len(k.environ)], "DATABASE_NAMESPACE=other")
		code <- programOf(environ, &log).run(ctx, []string{"eventstore"})
	}()
	k.eventually("the event store alone to wait", func(context.Context) (bool, error) {
		return strings.Contains(log.String(), startsAgain), fmt.Errorf("it says %s", log.String())
	})
	stop()
	if got := <-code; got != 0 {
		t.Errorf("the signal ends the event store alone with %d", got)
	}

	k.launch(addr)
	k.eventually("what is waited for", func(ctx context.Context) (bool, error) {
		_, err := k.client("").call(ctx, http.MethodGet, "/readyz", "", nil)
		no := asAPIError(err)
		return no != nil && strings.Contains(no.Body, `"writes":{"status":"down","detail":"The database is read-only`),
			err
	})
	before := len(k.sim.Deliveries())
	k.pay("254711000903", account, 100)
	k.eventually("the answer to the callback", func(context.Context) (bool, error) {
		list := k.sim.Deliveries()
		return len(list) > before && list[len(list)-1].Status == http.StatusOK, fmt.Errorf("%+v", list)
	})
	writable(t, cluster, true)
	k.eventually("service to be ready", func(context.Context) (bool, error) {
		return k.statusOf(k.client(""), "/readyz") == http.StatusOK, nil
	})
	k.admin, _ = k.login("acme", testAdminEmail, testPassword)
	k.received(customer, 2)
}

// programOf makes a program that writes all it says to a log.
func programOf(environ []string, log *logBuffer) program {
	return program{environ: environ, out: log, err: log}
}

// TestStart_SaysThatItsDatabaseIsFrozen: it takes connections and answers none.
func TestStart_SaysThatItsDatabaseIsFrozen(t *testing.T) {
	t.Parallel()
	frozen, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = frozen.Close() }()
	k := newKit(t, "DATABASE_URL=postgres://nobody:x@"+frozen.Addr().String()+"/nowhere?sslmode=disable")
	l := newLifecycle(slog.New(slog.DiscardHandler))
	defer l.stop()
	ctx, stop := context.WithCancel(t.Context())
	var told *awaited
	err = (&storage{}).openDatabase(ctx, k.config(), l, storageMode{awaits: true, awaiting: func(what *awaited) {
		told = what
		stop()
	}}, runtimeFile{})
	if !errors.Is(err, errInterrupted) || told == nil || told.part != "postgres" {
		t.Errorf("%v, waits for %+v", err, told)
	}
}

// way is a way to a server that admits so many connections, and then cuts all.
type way struct {
	listener net.Listener
	target   string

	cut chan struct{} // has an element when all were cut

	mu    sync.Mutex
	left  int // connections until all are cut; -1 = they go on
	conns []net.Conn
}

// newWay begins to admit connections.
func newWay(t *testing.T, target string) *way {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &way{listener: l, target: target, cut: make(chan struct{}, 1), left: -1}
	atEnd(t, func() { _ = l.Close(); w.admit(0) })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			w.join(conn)
		}
	}()
	return w
}

// admit cuts all connections, and then lets so many come; -1 = all.
func (w *way) admit(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left = n
	w.cutAll()
}

// cutAll ends all connections. The lock is held.
func (w *way) cutAll() {
	for _, c := range w.conns {
		_ = c.Close()
	}
	w.conns = nil
}

// join connects one with the server, or cuts all when it is one too many.
func (w *way) join(from net.Conn) {
	w.mu.Lock()
	full := w.left == 0
	if full {
		w.cutAll()
	}
	w.mu.Unlock()
	if full {
		_ = from.Close()
		loop.Wake(w.cut)
		return
	}
	to, err := net.Dial("tcp", w.target)
	if err != nil {
		_ = from.Close()
		return
	}
	w.mu.Lock()
	w.left = max(-1, w.left-1)
	w.conns = append(w.conns, from, to)
	w.mu.Unlock()
	for _, pair := range [][2]net.Conn{{from, to}, {to, from}} {
		go func() {
			_, _ = io.Copy(pair[0], pair[1]) // its end is the end of both
			_, _ = pair[0].Close(), pair[1].Close()
		}()
	}
}

// TestStart_BeginsAgainWhenTheDatabaseGoesAwayInIt: at whatever step, in a program that has run before. The first start
// of a new place ends instead.
func TestStart_BeginsAgainWhenTheDatabaseGoesAwayInIt(t *testing.T) {
	t.Parallel()
	cluster := startCluster(t)
	address, err := url.Parse(cluster.URL())
	if err != nil {
		t.Fatal(err)
	}
	w := newWay(t, address.Host)
	address.Host = w.listener.Addr().String()
	k := newKit(t, "DATABASE_URL="+address.String())
	disk := "DATA_DIR=" + t.TempDir()
	k.startBeside(allRoles, disk).Stop()
	for _, connections := range []int{1, 2, 4, 7, 11, 16} {
		w.admit(connections)
		s := k.starts(allRoles, disk)
		select {
		case <-w.cut:
		case err := <-s.ended: // on a quick machine with fewer connections
			if err != nil || connections < 7 {
				t.Errorf("the start ends with %v after %d connections", err, connections)
			}
			w.admit(-1)
			continue
		}
		if connections <= 2 {
			s.says(startsAgain)
		}
		for len(w.cut) > 0 {
			<-w.cut
		}
		w.admit(-1)
		s.comes()
	}
	w.admit(2)
	s := k.starts(allRoles, "DATA_DIR="+t.TempDir())
	if err := <-s.ended; err == nil || errors.Is(err, errInterrupted) {
		t.Errorf("the first start of a place ends with %v", err)
	}
}
