package paymentsviews_test

import (
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/runner/projectiontest"
)

// The account refused the money, so that no account had it when it was reversed.
func TestForgottenSubscriber_TheReasonGoesAlsoWhenTheirAccountRefusedTheMoney(t *testing.T) {
	t.Parallel()
	q := paymentsviews.ReceiptsQuery{Views: told(t, projectiontest.NewStory(acme, began).
		Add("receipt-X", recorded("X"), matched("X", "phone", "c2b"),
			events.ReceiptHeld{ReceiptID: receipt("X"), Reason: "not_credited", At: began},
			events.ReceiptReversed{
				ReceiptID: receipt("X"), OrgID: acme, Amount: kes(1500), Reason: personal.Of("her husband"), At: began,
			}).
		Add("subscriber-gone", events.SubscriberForgotten{SubscriberID: amina, Reason: "asked for it"}))}
	if row, err := q.Get(t.Context(), acme, receipt("X")); err != nil || row.State != "reversed" || row.Reason != "" {
		t.Errorf("%+v, %v", row, err)
	}
}

// Money at a paybill has no row in the list of payments. The reason of its reversal is about the person all the same.
func TestForgottenSubscriber_TheReasonOfAReversedPaybillReceiptGoes(t *testing.T) {
	t.Parallel()
	const remark = "her husband Otieno pays late"
	reversed := events.ReceiptReversed{
		ReceiptID: receipt("X"), OrgID: acme, SubscriberID: amina, Amount: kes(1500), Reason: personal.Of(remark),
		At: began,
	}
	ofBrian := reversed
	ofBrian.SubscriberID = brian
	moved := events.ReceiptReattributed{
		ReceiptID: receipt("X"), OrgID: acme, From: amina, To: brian, Amount: kes(1500), Move: 1, At: began,
	}
	inSuspense := reversed
	inSuspense.SubscriberID = id.Subscriber{}
	for name, c := range map[string]struct {
		story []events.Event
		who   id.Subscriber
	}{
		"reversed":                    {[]events.Event{reversed}, amina},
		"moved, then reversed":        {[]events.Event{moved, ofBrian}, brian},
		"moved, refused and reversed": {[]events.Event{moved, inSuspense}, brian},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := pgtest.New(t)
			s, err := runner.NewScratch(t.Context(), db, paymentsviews.Payments{}, "f")
			if err != nil {
				t.Fatal(err)
			}
			story := projectiontest.NewStory(acme, began).
				Add("receipt-X", append([]events.Event{matched("X", "account_number", "c2b")}, c.story...)...)
			if err := s.Apply(t.Context(), story.Events()); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(projectiontest.Dump(t, db, s.Schema()), remark) {
				t.Fatal("the reason is not kept for a prompt that succeeds later")
			}
			story.Add("subscriber-gone", events.SubscriberForgotten{SubscriberID: c.who, Reason: "asked for it"})
			if err := s.Apply(t.Context(), story.Events()); err != nil {
				t.Fatal(err)
			}
			if dump := projectiontest.Dump(t, db, s.Schema()); strings.Contains(dump, remark) {
				t.Error(dump)
			}
		})
	}
}
