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

func TestProof_ForgettingErasesMessagesAndReasons(t *testing.T) {
	t.Parallel()
	const message = "0195a000-0000-7000-8000-0000000000aa"
	story := projectiontest.NewStory(acme, began).
		With(func(m *events.Metadata) { m.CorrelationID = message }).
		Add("receipt-X", recorded("X"), events.ReceiptHeld{ReceiptID: receipt("X"), Reason: "no_match", At: began},
			matched("X", "operator", "c2b"),
			events.ReceiptReversed{
				ReceiptID: receipt("X"), OrgID: acme, SubscriberID: amina, Amount: kes(1500),
				Reason: personal.Of("her husband"), At: began,
			})
	steps := func(s *projectiontest.Story) []paymentsviews.ProofStep {
		list, err := paymentsviews.ProofQuery{Views: told(t, s)}.Steps(t.Context(), acme, receipt("X"), 10)
		if err != nil || len(list) != 4 {
			t.Fatalf("%+v, %v", list, err)
		}
		return list
	}
	before := steps(story)
	if !before[0].MessageID.Valid || before[3].Reason == nil || before[0].Erased {
		t.Errorf("before: %+v", before)
	}
	after := steps(story.Add("subscriber-gone", events.SubscriberForgotten{SubscriberID: amina, Reason: "asked"}))
	if after[0].MessageID.Valid || !after[0].Erased || after[3].Reason != nil || after[1].Reason == nil {
		t.Errorf("after: %+v", after)
	}
}

// What another organization was told of the same receipt number is its own to see.
func TestProof_HidesWhatAnotherOrganizationWasTold(t *testing.T) {
	t.Parallel()
	mine := recorded("C")
	mine.OrgID, mine.Shortcode = acme, "600777"
	theirs := events.ReceiptDisputed{
		ReceiptID: receipt("C"), OrgID: other, Sighting: "c2b_confirmation", Amount: kes(9), Shortcode: "600888",
		At: began,
	}
	own := theirs
	own.OrgID, own.Shortcode = acme, "600777"
	q := paymentsviews.ProofQuery{Views: told(t, projectiontest.NewStory(acme, began).
		With(func(m *events.Metadata) { m.CorrelationID = "0195a000-0000-7000-8000-0000000000aa" }).
		Add("receipt-C", mine, theirs, own))}
	list, err := q.Steps(t.Context(), acme, receipt("C"), 10)
	if err != nil || len(list) != 3 {
		t.Fatalf("%+v, %v", list, err)
	}
	if s := list[1]; s.AmountMinor != nil || s.Shortcode != "" || s.MessageID.Valid {
		t.Errorf("another organization's report is shown: %+v", s)
	}
	if s := list[2]; s.AmountMinor == nil || *s.AmountMinor != 900 || s.Shortcode != "600777" || !s.MessageID.Valid {
		t.Errorf("the own report is hidden: %+v", s)
	}
	if hidden, err := q.Steps(t.Context(), other, receipt("C"), 10); err != nil || len(hidden) != 0 {
		t.Errorf("another organization sees %+v, %v", hidden, err)
	}
}
