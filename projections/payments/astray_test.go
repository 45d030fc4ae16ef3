package paymentsviews_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/runner/projectiontest"
)

// onAccount has an account credit the whole of a receipt.
func onAccount(s id.Subscriber, name string) events.ReceiptCredited {
	return events.ReceiptCredited{SubscriberID: s, OrgID: acme, ReceiptID: receipt(name), Amount: kes(1500), At: began}
}

// offAccount takes a receipt, or with an id a part of it, off an account.
func offAccount(s id.Subscriber, name string, part id.Withdrawal, left int64) events.ReceiptWithdrawn {
	return events.ReceiptWithdrawn{
		SubscriberID: s, ReceiptID: receipt(name), WithdrawalID: part, Amount: kes(1500 - left), Left: kes(left),
		At: began,
	}
}

// reversed takes a receipt back from Amina.
func reversed(name string) events.ReceiptReversed {
	return events.ReceiptReversed{
		ReceiptID: receipt(name), OrgID: acme, SubscriberID: amina, Amount: kes(1500), At: began,
	}
}

func TestUnplacedMoney_CountsWhatAnAccountShouldNotHaveAndNoPart(t *testing.T) {
	t.Parallel()
	moved := events.ReceiptReattributed{
		ReceiptID: receipt("kept"), OrgID: acme, From: amina, To: brian, Amount: kes(1500), Move: 1, At: began,
	}
	part := id.New[id.Withdrawal]
	story := projectiontest.NewStory(acme, began).
		Add("receipt-part", recorded("part"), matched("part", "phone", "c2b")).
		Add("receipt-parts", recorded("parts"), matched("parts", "phone", "c2b")).
		Add("receipt-kept", recorded("kept"), matched("kept", "phone", "c2b"), moved).
		Add("receipt-stuck", recorded("stuck"), matched("stuck", "phone", "c2b"), reversed("stuck"),
			events.ReceiptStalled{ReceiptID: receipt("stuck"), HeldBy: amina, At: began}).
		Add("receipt-back", recorded("back"), matched("back", "phone", "c2b"), reversed("back")).
		Add("account-amina", onAccount(amina, "part"), onAccount(amina, "parts"), onAccount(amina, "kept"),
			onAccount(amina, "stuck"), onAccount(amina, "back"),
			offAccount(amina, "part", part(), 1400), offAccount(amina, "parts", part(), 900),
			offAccount(amina, "parts", part(), 0), offAccount(amina, "back", id.Withdrawal{}, 0))
	q := paymentsviews.ReceiptsQuery{Views: told(t, story)}
	var got []string
	rows, err := q.Unplaced(t.Context(), began.Add(time.Second), id.Receipt{}, 10)
	for _, r := range rows {
		got = append(got, r.ReceiptNumber)
		if r.CreditedTo != amina {
			t.Errorf("%s is at %s", r.ReceiptNumber, r.CreditedTo)
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff([]string{"kept", "stuck"}, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if count, err := q.Attention(t.Context(), began.Add(time.Second), began); err != nil || count.Unplaced != 2 {
		t.Errorf("attention %+v, %v", count, err)
	}
	first, err := q.Unplaced(t.Context(), began.Add(time.Second), id.Receipt{}, 1)
	if err != nil || len(first) != 1 {
		t.Fatal(first, err)
	}
	second, err := q.Unplaced(t.Context(), began.Add(time.Second), first[0].ID, 1)
	if err != nil || len(second) != 1 || second[0].ID == first[0].ID {
		t.Errorf("the second page: %+v, %v", second, err)
	}
}

// A late contradiction neither brings money back that has left nor waits for anybody.
func TestContradiction_AboutMoneyThatHasLeftWaitsForNobody(t *testing.T) {
	t.Parallel()
	disputed := func(name string) events.ReceiptDisputed {
		return events.ReceiptDisputed{
			ReceiptID: receipt(name), OrgID: acme, Sighting: "c2b_confirmation", Amount: kes(1600),
			Shortcode: "600100", At: began,
		}
	}
	story := projectiontest.NewStory(acme, began).
		Add("receipt-back", recorded("back"), matched("back", "phone", "c2b"), reversed("back"), disputed("back")).
		Add("receipt-real", recorded("real"), events.ReceiptAbsorbed{
			ReceiptID: receipt("real"), OrgID: acme, SubscriberID: amina, ProvisionalReceiptID: receipt("temporary"),
			Amount: kes(1500), At: began,
		}, disputed("real")).
		Add("receipt-waits", recorded("waits"), matched("waits", "phone", "c2b"), disputed("waits"))
	q := paymentsviews.ReceiptsQuery{Views: told(t, story)}
	for name, state := range map[string]string{"back": "reversed", "real": "absorbed", "waits": "suspense"} {
		r, err := q.Get(t.Context(), acme, receipt(name))
		if err != nil || r == nil || r.State != state || r.Disputed != (state == "suspense") {
			t.Errorf("%s: %+v, %v", name, r, err)
			continue
		}
		if last := r.Sightings[len(r.Sightings)-1]; !last.Disputes || *last.AmountMinor != 160000 {
			t.Errorf("%s does not tell the contradiction: %+v", name, last)
		}
	}
	count, err := q.Attention(t.Context(), began.Add(-time.Hour), began.Add(time.Hour))
	if err != nil || count.Suspense != 1 || count.SuspenseOld != 1 || count.Disputed != 1 {
		t.Errorf("attention %+v, %v", count, err)
	}
}
