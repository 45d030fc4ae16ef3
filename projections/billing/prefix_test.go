package billingviews_test

import (
	"context"
	"errors"
	"testing"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/projections/billing"
)

// prefixes asks the read models, which show all that the kit was told.
func (k *kit) prefixes() billingviews.PrefixesQuery {
	return billingviews.PrefixesQuery{
		Views: k.invoices.Views, Head: func(context.Context) (uint64, error) { return 0, nil },
	}
}

func TestPrefix_IsOpenWhileSomethingIsDueOnAnInvoiceUnderIt(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	prefixes := k.prefixes()
	k.tell(t, acme, story()...)
	for prefix, want := range map[string]bool{"ACME": true, "ACM": false, "NET": false} {
		if got, err := prefixes.Open(t.Context(), acme, prefix); err != nil || got != want {
			t.Errorf("%s: open %v, %v", prefix, got, err)
		}
	}
	if got, err := prefixes.Open(t.Context(), other, "ACME"); err != nil || got {
		t.Errorf("another organization's invoices count: %v, %v", got, err)
	}
}

func TestPrefix_IsOpenFromTheDraftUntilAllIsPaid(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	prefixes := k.prefixes()
	for _, s := range []struct {
		then events.Event
		want bool
	}{
		{drafted(1, amina, 100, 1, 10), true},
		{numbered(1, 1), true},
		{issued(1, amina, 100, 2, 10), true},
		{events.InvoiceAllocated{
			InvoiceID: invoiceID(1), ReceiptID: receiptID(9), Amount: kes(100), Due: kes(0),
		}, false},
		{drafted(2, amina, 100, 1, 10), true},
		{numbered(2, 2), true},
		{events.InvoiceVoided{SubscriberID: amina, InvoiceID: invoiceID(2), Number: "ACME-0002", At: at(5)}, false},
	} {
		k.tell(t, acme, s.then)
		if got, err := prefixes.Open(t.Context(), acme, "ACME"); err != nil || got != s.want {
			t.Errorf("after %s: open %v, %v", s.then.EventType(), got, err)
		}
	}
}

func TestPrefix_IsOpenWhileNobodyKnows(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	behind := k.prefixes()
	behind.Head = func(context.Context) (uint64, error) { return 1 << 40, nil }
	if got, err := behind.Open(t.Context(), acme, "ACME"); err != nil || !got {
		t.Errorf("read models that are behind say that it is open: %v, %v", got, err)
	}
	away := errors.New("no log")
	behind.Head = func(context.Context) (uint64, error) { return 0, away }
	if _, err := behind.Open(t.Context(), acme, "ACME"); !errors.Is(err, away) {
		t.Errorf("without the log: %v", err)
	}
}
