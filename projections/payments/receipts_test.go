package paymentsviews_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/runner/projectiontest"
)

func TestReceipts_NobodysMoneyIsThePlatformsToSee(t *testing.T) {
	t.Parallel()
	q := paymentsviews.ReceiptsQuery{Views: told(t, paymentsStory())}
	unowned, err := q.Unowned(t.Context(), paymentsviews.ReceiptFilter{}, paymentsviews.ReceiptKey{}, 100)
	if err != nil || len(unowned) != 1 || unowned[0].ID != receipt("N") {
		t.Errorf("unowned %v, %v", unowned, err)
	}
	for number, want := range map[string]int{"n": 1, "M": 0} {
		found, err := q.Unowned(t.Context(), paymentsviews.ReceiptFilter{ReceiptNumber: number},
			paymentsviews.ReceiptKey{}, 100)
		if err != nil || len(found) != want {
			t.Errorf("unowned of number %s: %v, %v", number, found, err)
		}
	}
	if row, err := q.Get(t.Context(), acme, receipt("N")); err != nil || row != nil {
		t.Errorf("an organization sees %v, %v", row, err)
	}
	row, err := q.Get(t.Context(), acme, receipt("M"))
	if err != nil || row.State != "allocated" || len(row.Sightings) != 2 {
		t.Fatalf("receipt %v, %v", row, err)
	}
	pays, err := q.Allocations(t.Context(), acme, []id.Receipt{receipt("M"), receipt("N")})
	want := map[id.Receipt][]paymentsviews.AllocationRow{
		receipt("M"): {
			{ReceiptID: receipt("M"), InvoiceID: invoice, AmountMinor: 100000},
			{ReceiptID: receipt("M"), InvoiceID: lost, Loss: true, AmountMinor: 30000},
		},
	}
	if diff := cmp.Diff(want, pays); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if hidden, err := q.Allocations(t.Context(), other, []id.Receipt{receipt("M")}); err != nil || len(hidden) != 0 {
		t.Errorf("another organization sees %v, %v", hidden, err)
	}
	numbers, err := q.Numbers(t.Context(), acme, []id.Receipt{receipt("M"), receipt("N")})
	if err != nil || len(numbers) != 1 || numbers[receipt("M")] != row.ReceiptNumber {
		t.Errorf("numbers %v, %v", numbers, err)
	}
	if hidden, err := q.Numbers(t.Context(), other, []id.Receipt{receipt("M")}); err != nil || len(hidden) != 0 {
		t.Errorf("another organization sees %v, %v", hidden, err)
	}
	if count, err := q.Attention(t.Context(), began, began); err != nil || count.Suspense < 2 || count.Disputed < 1 {
		t.Errorf("attention %+v, %v", count, err)
	}
	suspense, err := q.List(t.Context(), acme, paymentsviews.ReceiptFilter{State: "suspense"},
		paymentsviews.ReceiptKey{}, 100)
	if err != nil || len(suspense) != 1 || suspense[0].ID != receipt("D") {
		t.Errorf("suspense %v, %v", suspense, err)
	}
}

func TestReceipts_EachNumberOnceWithAllItsSightings(t *testing.T) {
	t.Parallel()
	q := paymentsviews.ReceiptsQuery{Views: told(t, paymentsStory())}
	list := func(f paymentsviews.ReceiptFilter) map[string]paymentsviews.ReceiptRow {
		rows, err := q.List(t.Context(), acme, f, paymentsviews.ReceiptKey{}, 100)
		if err != nil {
			t.Fatal(err)
		}
		byNumber := map[string]paymentsviews.ReceiptRow{}
		for _, r := range rows {
			if _, twice := byNumber[r.ReceiptNumber]; twice {
				t.Errorf("%s is listed twice", r.ReceiptNumber)
			}
			byNumber[r.ReceiptNumber] = r
		}
		return byNumber
	}
	if r := list(paymentsviews.ReceiptFilter{})["R2"]; r.ID != receipt("P") || len(r.Sightings) != 2 {
		t.Errorf("the credit is shown as %+v", r)
	}
	if all := list(paymentsviews.ReceiptFilter{State: "absorbed"}); len(all) != 1 || len(all["R2"].Sightings) != 1 {
		t.Errorf("absorbed %v", all)
	}
}

func TestContradiction_ShowsEachOrganizationItsOwnSighting(t *testing.T) {
	t.Parallel()
	mine := recorded("C")
	mine.OrgID, mine.Shortcode, mine.Environment = acme, "600777", "production"
	theirs := mine
	theirs.ReceiptID, theirs.OrgID, theirs.Shortcode, theirs.Contradicts = receipt("C of other"), other, "600888",
		receipt("C")
	disputed := events.ReceiptDisputed{
		ReceiptID: receipt("C"), OrgID: other, Sighting: "c2b_confirmation", Amount: kes(1500), Shortcode: "600888",
		At: began,
	}
	own := disputed
	own.OrgID, own.Shortcode, own.Amount = acme, "600777", kes(9)
	q := paymentsviews.ReceiptsQuery{Views: told(t, projectiontest.NewStory(acme, began).
		Add("receipt-C", mine, matched("C", "phone", "c2b"), disputed, own).
		Add("receipt-other", theirs, events.ReceiptHeld{
			ReceiptID: theirs.ReceiptID, Reason: "disputed", At: began,
		}))}
	row, err := q.Get(t.Context(), acme, receipt("C"))
	if err != nil || row == nil || !row.Disputed || len(row.Sightings) != 3 {
		t.Fatalf("receipt %+v, %v", row, err)
	}
	if s := row.Sightings[1]; !s.Disputes || s.Shortcode != "" || s.AmountMinor != nil {
		t.Errorf("another organization's sighting is shown: %+v", s)
	}
	if s := row.Sightings[2]; !s.Disputes || s.Shortcode != "600777" || s.AmountMinor == nil || *s.AmountMinor != 900 {
		t.Errorf("the own sighting is hidden: %+v", s)
	}
	row, err = q.Get(t.Context(), other, theirs.ReceiptID)
	if err != nil || row == nil || row.State != "suspense" || !row.Disputed || row.Contradicts != receipt("C") {
		t.Errorf("the other organization sees %+v, %v", row, err)
	}
}

func TestUnplacedMoney_IsWhatNoAccountNorPersonHas(t *testing.T) {
	t.Parallel()
	credited := func(s id.Subscriber, name string) events.ReceiptCredited {
		return events.ReceiptCredited{
			SubscriberID: s, OrgID: acme, ReceiptID: receipt(name), Amount: kes(1500), At: began,
		}
	}
	moved := events.ReceiptReattributed{
		ReceiptID: receipt("moved"), OrgID: acme, From: amina, To: brian, Amount: kes(1500), Move: 1, At: began,
	}
	story := projectiontest.NewStory(acme, began).
		Add("receipt-lost", recorded("lost")).
		Add("receipt-matched", recorded("matched"), matched("matched", "phone", "c2b")).
		Add("receipt-credited", recorded("credited"), matched("credited", "phone", "c2b")).
		Add("receipt-moved", recorded("moved"), matched("moved", "phone", "c2b"), moved).
		Add("receipt-held", recorded("held"), events.ReceiptHeld{ReceiptID: receipt("held"), Reason: "no_match"}).
		Add("account-amina", credited(amina, "credited"), credited(amina, "moved")).
		Add("account-brian", credited(brian, "moved")).
		Add("account-amina", events.ReceiptWithdrawn{SubscriberID: amina, ReceiptID: receipt("moved"), At: began})
	q := paymentsviews.ReceiptsQuery{Views: told(t, story)}
	var got []string
	rows, err := q.Unplaced(t.Context(), began.Add(time.Second), id.Receipt{}, 10)
	for _, r := range rows {
		got = append(got, r.ReceiptNumber)
	}
	slices.Sort(got)
	if diff := cmp.Diff([]string{"lost", "matched"}, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if count, err := q.Attention(t.Context(), began.Add(time.Second), began); err != nil || count.Unplaced != 2 {
		t.Errorf("attention %+v, %v", count, err)
	}
	if count, err := q.Attention(t.Context(), began, began); err != nil || count.Unplaced != 0 {
		t.Errorf("what is on its way counts: %+v, %v", count, err)
	}
}

func TestPrompts_OfUncertainEndAreCounted(t *testing.T) {
	t.Parallel()
	q := paymentsviews.PaymentsQuery{Views: told(t, paymentsStory())}
	end := began.Add(24 * time.Hour)
	for at, want := range map[time.Time]paymentsviews.PromptAttention{
		end: {InDoubt: 1}, end.Add(time.Second): {InDoubt: 1, NoVerdict: 3},
	} {
		got, err := q.Attention(t.Context(), at)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Error(err, diff)
		}
		rows, err := q.Overdue(t.Context(), at, paymentsviews.OverdueKey{}, 10)
		if err != nil || int64(len(rows)) != want.NoVerdict {
			t.Errorf("overdue %v, %v", rows, err)
		}
	}
}

// The alarm ends by what docs/operations.md advises against it: the money is reversed, put into another receipt,
// claimed, or confirmed by a person.
func TestUnclaimed_TheAlarmEndsByItsCure(t *testing.T) {
	t.Parallel()
	story := projectiontest.NewStory(acme, began)
	alarm := func(name string, end ...events.Event) {
		provisional := recorded(name)
		provisional.OrgID, provisional.ReceiptNumber, provisional.Provisional = acme, "", true
		provisional.Channel, provisional.PaymentID = "stk", payment(name)
		story.Add("receipt-"+name, append([]events.Event{
			provisional, matched(name, "prompt", "stk"), events.ReceiptUnclaimed{ReceiptID: receipt(name), At: began},
		}, end...)...)
	}
	alarm("open")
	alarm("reversed", events.ReceiptReversed{
		ReceiptID: receipt("reversed"), OrgID: acme, SubscriberID: amina, Amount: kes(1500),
		Reason: personal.Of("the provider does not know it"), At: began,
	})
	alarm("absorbed", events.ReceiptAbsorbed{
		ReceiptID: receipt("absorbed"), OrgID: acme, SubscriberID: amina, PaymentID: payment("absorbed"),
		ProvisionalReceiptID: receipt("real"), Amount: kes(1500), At: began,
	})
	alarm("confirmed", confirmed("confirmed"))
	alarm("claimed", events.ReceiptClaimed{
		ReceiptID: receipt("claimed"), OrgID: acme, SubscriberID: amina, PaymentID: payment("claimed"),
		ClaimedBy: receipt("real"), ReceiptNumber: "REAL", At: began,
	})
	q, yes, no := paymentsviews.ReceiptsQuery{Views: told(t, story)}, true, false
	if count, err := q.Attention(t.Context(), began, began); err != nil || count.Unclaimed != 1 {
		t.Errorf("attention %+v, %v", count, err)
	}
	for unclaimed, want := range map[*bool]int{&yes: 1, &no: 3, nil: 4} { // the absorbed one is not listed
		list, err := q.List(t.Context(), acme, paymentsviews.ReceiptFilter{Unclaimed: unclaimed},
			paymentsviews.ReceiptKey{}, 10)
		if err != nil || len(list) != want || unclaimed == &yes && list[0].ID != receipt("open") {
			t.Errorf("list %v, %v", list, err)
		}
	}
	for _, name := range []string{"reversed", "absorbed", "confirmed", "claimed"} {
		if row, err := q.Get(t.Context(), acme, receipt(name)); err != nil || row.Unclaimed {
			t.Errorf("%s is still unclaimed, %v", name, err)
		}
	}
}

// confirmed is a person's word that the money of a receipt exists and is Amina's.
func confirmed(name string) events.ReceiptMatched {
	e := matched(name, "operator", "stk")
	e.Confirms = true
	return e
}

func TestReceipts_ShowTheAttemptThatAReportOfTheirOrganizationNamed(t *testing.T) {
	t.Parallel()
	disputed := func(name string, of id.Organization) events.ReceiptDisputed {
		return events.ReceiptDisputed{
			ReceiptID: receipt(name), OrgID: of, PaymentID: payment("named"), Sighting: "stk_callback",
			Amount: kes(9), Shortcode: "600100", At: began,
		}
	}
	story := projectiontest.NewStory(acme, began).
		Add("receipt-own", recorded("own"), matched("own", "phone", "c2b"), disputed("own", acme)).
		Add("receipt-foreign", recorded("foreign"), matched("foreign", "phone", "c2b"), disputed("foreign", other)).
		Add("receipt-moved", recorded("moved"), matched("moved", "phone", "c2b"), events.ReceiptReattributed{
			ReceiptID: receipt("moved"), OrgID: acme, From: amina, To: brian, PaymentID: payment("named"),
			Amount: kes(1500), Move: 1, At: began,
		})
	q := paymentsviews.ReceiptsQuery{Views: told(t, story)}
	for name, want := range map[string]id.Payment{
		"own": payment("named"), "foreign": {}, "moved": payment("named"),
	} {
		if r, err := q.Any(t.Context(), receipt(name)); err != nil || r == nil || r.PaymentID != want {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}
