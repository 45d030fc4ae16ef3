package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/benchtest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/jobs/payments"
)

// Numbers of parallel callers in the benchmarks.
const (
	benchReaders = 16
	benchWriters = 64
)

// wantedCommands is how many commands a second of benchWriters clients are wanted. Unlike other limits it is not
// measured: it is a number for a machine with two processors, which the clients and PostgreSQL share with the program.
const wantedCommands = 2000

// visibleWithin is the longest time from a command's answer to its visibility in a read that 99 of 100 cases may take.
const visibleWithin = 50 * time.Millisecond

// newBenchKit starts the whole program as in an installation, with every request logged, and with rate limits that are
// never reached. Its nightly check of the books is left out, which a clock that is moved a day would start beside what
// is measured.
func newBenchKit(b *testing.B, settings ...string) *kit {
	b.Helper()
	k := newKit(b, append(settings, "DATABASE_MAX_CONNS=24", "RATE_LIMIT_USER=1000000000",
		"RATE_LIMIT_LOGIN=1000000000", "RATE_LIMIT_WEBHOOK=1000000000")...)
	lock, free, err := k.db.TryLock(b.Context(), booksLock)
	if err != nil || !free {
		b.Fatal("the check of the books cannot be kept away: ", err)
	}
	b.Cleanup(lock.Unlock)
	app, err := StartApp(b.Context(), k.config(), allRoles, slog.New(slog.NewJSONHandler(io.Discard, nil)),
		appOptions{})
	if err != nil {
		b.Fatalf("start: %v", err)
	}
	b.Cleanup(app.Stop)
	k.app, k.addr = app, app.Addr()
	return k.signIn()
}

// appendRate measures the events a second that the log of a running program takes from parallel writers, each with a
// stream of its own.
func appendRate(b *testing.B, store *eventstore.Store) float64 {
	b.Helper()
	org := id.New[id.Organization]()
	return benchtest.Rate(b, benchWriters, func(ctx context.Context, _ int) error {
		plan := id.New[id.Plan]()
		_, err := store.Append(ctx, "bench-"+plan.String(), eventstore.NoStream, []eventstore.New{{
			Event: events.PlanArchived{PlanID: plan, Reason: "measured"},
			Meta: events.Metadata{
				EventID: id.New[id.Event](), CommandID: id.New[id.Command](), OrgID: org, Action: "bench",
				At: time.Now().UTC(), Actor: events.Actor{Kind: events.ActorOperator},
			},
		}})
		return err
	})
}

// rest waits until every read model shows what was appended to the log beside the program, as a limit was measured.
func (k *kit) rest(b *testing.B) {
	b.Helper()
	var models []string
	for _, model := range k.app.engines.projections.Status() {
		models = append(models, model.Name)
	}
	k.caughtUp(models...)
}

// BenchmarkCommands measures writes a second over HTTP, each with sign-in check, claims, event, and an answer that
// waits for the read model. The limit is wantedCommands; the same log takes appends/s of as many writers.
func BenchmarkCommands(b *testing.B) {
	k := newBenchKit(b)
	lines := dialMany(b, k.addr, benchWriters)
	var serial atomic.Int64
	for b.Loop() {
		written := func() float64 {
			k.rest(b)
			return benchtest.Rate(b, benchWriters, func(_ context.Context, caller int) error {
				body := fmt.Sprintf(`{"firstName":"Bench","phone":"+2547%08d"}`, serial.Add(1))
				return lines[caller].expect(http.StatusCreated, request(http.MethodPost, "/subscribers", k.admin, body))
			})
		}
		var appends []float64
		benchtest.Compare(b, "commands/s", 1, written, func() float64 {
			appends = append(appends, appendRate(b, k.app.storage.store))
			return wantedCommands
		})
		b.ReportMetric(benchtest.Quantile(appends, 50), "appends/s")
		k.rest(b)
		benchtest.ReportProcessors(b, k.db.Owner, func() float64 {
			rate := written()
			k.rest(b) // what follows from the commands belongs to them
			return rate
		})
	}
}

// BenchmarkVisible measures, in an idle program, the time from a command's answer until two reads show it: the list of
// the resource, for which the answer has waited, and the audit log, for which it has not. The limit is one read that
// shows it at once.
func BenchmarkVisible(b *testing.B) {
	k := newBenchKit(b)
	subscriber, _ := k.subscriber("254711000777")
	line := dialMany(b, k.addr, 1)[0]
	for b.Loop() {
		var read, shown, audited []time.Duration
		for n := range benchtest.Size(b, "COMMANDS", 200) {
			name := fmt.Sprintf("Visible%d", n)
			requestID := uuid.NewString()
			change := request(http.MethodPatch, "/subscribers/"+subscriber, k.admin, `{"firstName":"`+name+`"}`,
				"X-Request-Id: "+requestID)
			if err := line.expect(http.StatusOK, change); err != nil {
				b.Fatal(err)
			}
			answered := time.Now()
			line.until(b, request(http.MethodGet, "/subscribers?q="+name, k.admin, ""), `"`+name+`"`)
			shown = append(shown, time.Since(answered))
			line.until(b, request(http.MethodGet, "/audit-log?limit=1", k.admin, ""), requestID)
			audited = append(audited, time.Since(answered))
			began := time.Now()
			line.until(b, request(http.MethodGet, "/subscribers?q="+name, k.admin, ""), `"`+name+`"`)
			read = append(read, time.Since(began))
		}
		benchtest.Latencies(b, "shown", shown, visibleWithin)
		benchtest.Latencies(b, "audited", audited, visibleWithin)
		benchtest.ReportTime(b, "read", benchtest.Quantile(shown, 50), benchtest.Quantile(read, 50), benchtest.NoAim)
	}
}

// BenchmarkCallbacks measures the provider's confirmations a second that are accepted, each stored before its answer,
// while the inbox processes them. The limit is appends a second to the same log.
func BenchmarkCallbacks(b *testing.B) {
	k := newBenchKit(b)
	owner := vault.CallbackOwner{Kind: paymentsjobs.TokenPaybill, Ref: uuid.New(), Shortcode: testShortcode}
	token, err := k.app.storage.vault.CallbackSecrets.Issue(b.Context(), owner)
	if err != nil {
		b.Fatal(err)
	}
	lines := dialMany(b, k.addr, benchWriters)
	path := "/webhooks/mobile-money/c2b/confirmation/" + token.Reveal()
	var serial atomic.Int64
	for b.Loop() {
		appends := appendRate(b, k.app.storage.store) // once: after this the inbox is busy
		var rates []float64
		for range benchtest.Rounds(b) {
			rates = append(rates, benchtest.Rate(b, benchWriters, func(_ context.Context, caller int) error {
				body := fmt.Sprintf(`{"TransactionType":"Pay Bill","TransID":"BN%08d","TransTime":"20261120101500",`+
					`"TransAmount":"100.00","BusinessShortCode":%q,"BillRefNumber":"nobody",`+
					`"MSISDN":"254711000001","FirstName":"BENCH"}`, serial.Add(1),
					testShortcode)
				return lines[caller].expect(http.StatusOK,
					request(http.MethodPost, path, apiClient{host: k.admin.host}, body))
			}))
		}
		benchtest.Report(b, "callbacks/s", benchtest.Quantile(rates, 50), appends, benchtest.NoAim)
	}
}

// request gives the bytes of an HTTP request; headers are whole lines.
func request(method, path string, c apiClient, body string, headers ...string) []byte {
	var w bytes.Buffer
	fmt.Fprintf(&w, "%s %s HTTP/1.1\r\nHost: %s\r\n", method, path, c.host)
	if c.token != "" {
		fmt.Fprintf(&w, "Authorization: Bearer %s\r\n", c.token)
	}
	for _, h := range headers {
		fmt.Fprintf(&w, "%s\r\n", h)
	}
	if body != "" {
		fmt.Fprintf(&w, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	fmt.Fprintf(&w, "\r\n%s", body)
	return w.Bytes()
}

// line is one kept-alive connection of a caller that costs little time itself, so that the server is measured. Not safe
// for concurrent use.
type line struct {
	conn net.Conn
	in   *bufio.Reader
	last []byte // the body of the last answer
}

// dialMany opens connections, which the end of the benchmark closes.
func dialMany(b *testing.B, addr string, count int) []*line {
	b.Helper()
	list := make([]*line, count)
	for i := range list {
		conn, err := (&net.Dialer{}).DialContext(b.Context(), "tcp", addr)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = conn.Close() })
		list[i] = &line{conn: conn, in: bufio.NewReader(conn)}
	}
	return list
}

// send sends a request and gives the status of its answer.
func (l *line) send(text []byte) (int, error) {
	if _, err := l.conn.Write(text); err != nil {
		return 0, err
	}
	res, err := http.ReadResponse(l.in, nil)
	if err != nil {
		return 0, err
	}
	l.last, err = io.ReadAll(res.Body)
	return res.StatusCode, err
}

// expect sends a request that must be answered with a status.
func (l *line) expect(status int, text []byte) error {
	got, err := l.send(text)
	if err == nil && got != status {
		err = fmt.Errorf("status %d, want %d: %s", got, status, l.last)
	}
	return err
}

// until repeats a read until its answer contains a text.
func (l *line) until(b *testing.B, text []byte, wanted string) {
	b.Helper()
	for end := time.Now().Add(patience); ; {
		if err := l.expect(http.StatusOK, text); err != nil {
			b.Fatal(err)
		}
		if bytes.Contains(l.last, []byte(wanted)) {
			return
		}
		if time.Now().After(end) {
			b.Fatalf("never showed %s: %s", wanted, l.last)
		}
	}
}
