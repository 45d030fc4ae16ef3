package paymentsjobs_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/jobs/payments"
)

// TestInbox_WhatTheEventStoreDidNotTakeIsTriedSoonAfterItsReturn: cuts wait for it from the first try on, and not only
// when nobody has tried it for half a minute.
func TestInbox_WhatTheEventStoreDidNotTakeIsTriedSoonAfterItsReturn(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	without := k.withoutLog(t)
	untaken := func(want bool, when string) {
		t.Helper()
		got, err := paymentsjobs.Untaken(t.Context(), k.Vault.Inbox, 10*time.Minute, 30*time.Second)
		if err != nil || got != want {
			t.Errorf("%s: untaken %v, %v", when, got, err)
		}
	}
	k.stored(t, vault.Callback{
		Kind: paymentsjobs.CallbackConfirmation, Shortcode: shortcode, Verified: true,
		Body: []byte(`{"TransactionType":"Pay Bill","TransID":"SJK4X7Q2P9","TransTime":"20260302120000",
			"TransAmount":"100.00","BusinessShortCode":"` + shortcode + `",
			"BillRefNumber":"x","MSISDN":"254712345678"}`),
	})
	untaken(false, "before the first try")
	for try := range 20 {
		if n, err := without.HandleDue(t.Context(), nil); n != 1 || err != nil {
			t.Fatalf("try %d: %d handled, %v", try, n, err)
		}
		untaken(true, "after a try")
		k.clock.Advance(15 * time.Second)
	}
	if n, err := k.workers.HandleDue(t.Context(), nil); n != 1 || err != nil {
		t.Errorf("after the return of the event store: %d handled, %v", n, err)
	}
	untaken(false, "after it was counted")
}

// withoutLog are workers for which the event store is away.
func (k *kit) withoutLog(t *testing.T) *paymentsjobs.Workers {
	t.Helper()
	return k.withFault(t, failure.NewUnavailable("eventstore_unavailable", "away", time.Second, nil))
}

// withFault are workers whose commands on receipts fail.
func (k *kit) withFault(t *testing.T, fault error) *paymentsjobs.Workers {
	t.Helper()
	receipts := payments.Receipts()
	receipts.Decide = func(payments.Receipt, commands.ReceiptCommand, time.Time) ([]events.ReceiptEvent, error) {
		return nil, fault
	}
	away := bus.New(bus.Config{
		Store: k.Store, Claims: storetest.ClaimKey, Clock: k.clock, Logger: storetest.Quiet(),
	})
	bus.Register(away, receipts)
	bus.Register(away, payments.Gateways())
	return paymentsjobs.New(paymentsjobs.Config{
		Bus: away, Views: k.views, Inbox: k.Vault.Inbox, Access: k.access, Clock: k.clock, Logger: storetest.Quiet(),
	})
}

// TestInbox_WhatTheDatabaseDidNotServeKeepsCutsWaiting: a page of a table is damaged for a while.
func TestInbox_WhatTheDatabaseDidNotServeKeepsCutsWaiting(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.stored(t, vault.Callback{
		Kind: paymentsjobs.CallbackConfirmation, Shortcode: shortcode, Verified: true,
		Body: paid("SJK4X7Q2PA", shortcode, "x", 1500),
	})
	broken := k.withFault(t, &pgconn.PgError{Code: "XX001"})
	for _, try := range []struct {
		workers *paymentsjobs.Workers
		want    bool
	}{{broken, true}, {k.workers, false}} {
		if n, err := try.workers.HandleDue(t.Context(), nil); n != 1 || err != nil {
			t.Fatalf("%d handled, %v", n, err)
		}
		got, err := paymentsjobs.Untaken(t.Context(), k.Vault.Inbox, 10*time.Minute, 30*time.Second)
		if err != nil || got != try.want {
			t.Errorf("untaken %v, %v", got, err)
		}
		k.clock.Advance(15 * time.Second)
	}
}
