package webhooksjobs_test

import (
	"bytes"
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lastmile-isp/lastmile/jobs/webhooks"
	"github.com/lastmile-isp/lastmile/projections/webhooks"
)

// lossy is a connection to the database that breaks once when it is armed: with the answer to a claim of a delivery
// about an invoice, after the database has committed it.
type lossy struct {
	net.Conn
	armed *atomic.Bool

	mu     sync.Mutex
	answer []byte
}

// Write sends what the answer will be about.
func (l *lossy) Write(b []byte) (int, error) {
	l.mu.Lock()
	l.answer = nil
	l.mu.Unlock()
	return l.Conn.Write(b)
}

// Read gives the answer, or breaks at its end.
func (l *lossy) Read(b []byte) (int, error) {
	n, err := l.Conn.Read(b)
	if err != nil || !l.armed.Load() {
		return n, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answer = append(l.answer, b[:n]...)
	claims := bytes.Contains(l.answer, []byte("ACME-")) // the number of an invoice
	idle := []byte{'Z', 0, 0, 0, 5, 'I'}                // nothing is open any more
	if claims && bytes.Contains(l.answer, []byte("UPDATE ")) && bytes.HasSuffix(l.answer, idle) &&
		l.armed.CompareAndSwap(true, false) {
		_ = l.Close()
		return 0, net.ErrClosed
	}
	return n, nil
}

// losing gives the kit a store whose connections break when the answer is armed.
func (k *kit) losing() (armed *atomic.Bool) {
	k.t.Helper()
	armed = &atomic.Bool{}
	config := k.DB.Owner.Config()
	dial := config.ConnConfig.DialFunc
	config.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &lossy{Conn: conn, armed: armed}, nil
	}
	pool, err := pgxpool.NewWithConfig(k.t.Context(), config)
	if err != nil {
		k.t.Fatal(err)
	}
	k.t.Cleanup(pool.Close)
	db := *k.DB
	db.Owner = pool
	if k.store, err = webhooksjobs.OpenStore(k.t.Context(), &db); err != nil {
		k.t.Fatal(err)
	}
	k.deliverer = k.another()
	return armed
}

// TestDeliveries_AClaimWhoseAnswerWasLostIsTakenBack: what it began is tried once, by the same program, and what was
// begun before stays under way.
func TestDeliveries_AClaimWhoseAnswerWasLostIsTakenBack(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	armed := k.losing()
	k.run()
	slow, slowURL := k.register(k.acme, "slow")
	let := make(chan struct{})
	k.answer(slowURL, hangs(let))
	k.invoice(k.acme, 1)
	for len(k.called(slowURL)) == 0 {
		k.until(k.acme, slow, "under way", all(1, webhooksviews.Pending, 0))
	}
	hook, url := k.register(k.acme, "one")
	armed.Store(true)
	k.invoice(k.acme, 1)
	k.until(k.acme, hook, "delivered", all(1, webhooksviews.Delivered, 1))
	if armed.Load() {
		t.Error("no answer was lost")
	}
	close(let)
	k.until(k.acme, slow, "delivered", all(2, webhooksviews.Delivered, 1))
	if one, two := len(k.called(url)), len(k.called(slowURL)); one != 1 || two != 2 {
		t.Errorf("%d calls and %d, want 1 and 2", one, two)
	}
}
