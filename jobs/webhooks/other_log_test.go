package webhooksjobs_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs/webhooks"
	"github.com/lastmile-isp/lastmile/projections/outbox"
	"github.com/lastmile-isp/lastmile/projections/webhooks"
)

// refusals signals the errors of a log.
type refusals struct {
	slog.Handler
	errors chan string
}

// Handle implements slog.Handler.
func (r refusals) Handle(_ context.Context, line slog.Record) error {
	line.Attrs(func(a slog.Attr) bool {
		if err, ok := a.Value.Any().(error); ok {
			select {
			case r.errors <- err.Error():
			default:
			}
		}
		return true
	})
	return nil
}

// Enabled implements slog.Handler.
func (refusals) Enabled(context.Context, slog.Level) bool { return true }

// With another log than that of before, which has grown beyond what was delivered, nothing is delivered until a person
// has looked: its messages up to there would be left out. The same log goes on.
func TestDeliveries_OfAnotherLogWaitForAPerson(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	hook, url := k.register(k.acme, "one")
	coretest.Start(t, "first", k.deliverer)
	k.invoice(k.acme, 1)
	k.until(k.acme, hook, "delivered", all(1, webhooksviews.Delivered, 1))
	k.deliverer.Stop()
	progress := k.DB.Namespace.Schema("webhooks") + ".progress"
	change := func(sql string, args ...any) {
		t.Helper()
		if tag, err := k.DB.Owner.Exec(t.Context(), `update `+progress+` set mark = `+sql, args...); err != nil ||
			tag.RowsAffected() != 1 {
			t.Fatal(tag, err)
		}
	}
	had := id.New[id.Event]()
	change(`split_part(mark, ' ', 1) || ' ' || $1`, had.String())

	said := refusals{slog.DiscardHandler, make(chan string, 1)}
	k.deliverer = webhooksjobs.New(webhooksjobs.Config{
		Store: k.store, DB: k.DB, Views: k.views, Bus: k.execute, Secrets: k.Vault.Secrets, Gateway: k.gateway,
		Clock: k.clock, Gate: &k.gate, Logger: slog.New(said),
	})
	k.invoice(k.acme, 1)
	k.run()
	select {
	case text := <-said.errors:
		if !strings.Contains(text, "deliveries of webhooks") || !strings.Contains(text, had.String()) {
			t.Errorf("it says %q", text)
		}
	case <-time.After(patience):
		t.Fatal("it says nothing")
	}
	if n := len(k.called(url)); n != 1 {
		t.Errorf("%d calls", n)
	}
	change(`null`)
	k.until(k.acme, hook, "delivered once a person has looked", all(2, webhooksviews.Delivered, 1))
	k.deliverer.Stop()
	k.invoice(k.acme, 1)
	k.deliverer = k.another()
	k.run()
	k.until(k.acme, hook, "the same log goes on", all(3, webhooksviews.Delivered, 1))
}

// TestDeliveries_TheirMarkIsNotNewerThanTheirPlace: an event that the outbox has had since may be of a part of the log
// that is lost, while what was delivered is not. Then deliveries go on.
func TestDeliveries_TheirMarkIsNotNewerThanTheirPlace(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	hook, _ := k.register(k.acme, "one")
	k.invoice(k.acme, 1)
	delivered, err := k.Store.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	k.register(k.acme, "two")
	end, err := k.Store.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := k.views.WaitFor(t.Context(), outbox.Name, end); err != nil {
		t.Fatal(err)
	}
	if newest := k.views.Mark(outbox.Name).Position; newest <= delivered {
		t.Fatalf("the outbox knows no event after %d, but %d", delivered, newest)
	}
	k.run()
	k.until(k.acme, hook, "delivered", all(1, webhooksviews.Delivered, 1))
	at, err := k.store.Progress(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if at.Mark.Position != delivered || at.Mark.IsZero() {
		t.Errorf("delivered up to %d, with the mark %v", delivered, at.Mark)
	}
	if err := k.views.Covers(t.Context(), delivered, at.Mark); err != nil {
		t.Errorf("it is of the log: %v", err)
	}
}
