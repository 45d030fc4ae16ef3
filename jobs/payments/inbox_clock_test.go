package paymentsjobs_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/jobs/payments"
	"github.com/lastmile-isp/lastmile/projections/payments"
)

// TestInbox_MoneyWaitsForNoTimeFromWhichTheClockWasPutBack: a machine starts three hours ahead, a payment comes while
// the event store is not there yet, and then the clock is put right.
func TestInbox_MoneyWaitsForNoTimeFromWhichTheClockWasPutBack(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	without, right := k.withoutLog(t), k.clock.Now()
	k.clock.Set(right.Add(3 * time.Hour))
	k.stored(t, vault.Callback{
		Kind: paymentsjobs.CallbackConfirmation, Shortcode: shortcode, Verified: true,
		Body: paid("SJK4X7Q2P9", shortcode, "x", 100),
	})
	if n, err := without.HandleDue(t.Context(), nil); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	k.clock.Set(right)
	if n, err := k.workers.HandleDue(t.Context(), nil); n != 1 || err != nil {
		t.Errorf("%d taken, %v; cuts wait ten minutes at most", n, err)
	}
	k.WaitForAll(t, k.views, paymentsviews.ReceiptsName)
	if n := k.receipts(t); n != 1 {
		t.Errorf("%d receipts", n)
	}
}

// TestTill_MoneyWaitsForNoTimeFromWhichTheClockWasPutBack: money comes to a shortcode whose registration may still be
// recorded, and the clock is put back.
func TestTill_MoneyWaitsForNoTimeFromWhichTheClockWasPutBack(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	at, right := k.token(t, k.org, here, "600888"), k.clock.Now()
	k.clock.Set(right.Add(3 * time.Hour))
	k.arrived(t, at, paid("SJK4X7Q2P1", "600888", "x", 1500))
	if n := k.receipts(t); n != 0 {
		t.Fatalf("%d receipts while the registration may still be recorded", n)
	}
	k.clock.Set(right)
	if n, err := k.workers.HandleDue(t.Context(), nil); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	k.WaitForAll(t, k.views, paymentsviews.ReceiptsName)
	if n := k.receipts(t); n != 1 {
		t.Errorf("%d receipts", n)
	}
}
