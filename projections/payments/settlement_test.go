package paymentsviews_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed/feedtest"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/runner/projectiontest"
)

// creditedTo puts a receipt of 1,500 shillings on an account.
func creditedTo(name string, who id.Subscriber) events.ReceiptCredited {
	return events.ReceiptCredited{
		SubscriberID: who, OrgID: acme, ReceiptID: receipt(name), Number: name, Amount: kes(1500),
	}
}

// takenBack takes shillings of a receipt off an account, and leaves others on it.
func takenBack(name string, who id.Subscriber, units, left int64) events.ReceiptWithdrawn {
	return events.ReceiptWithdrawn{
		SubscriberID: who, OrgID: acme, ReceiptID: receipt(name), Number: name, Amount: kes(units), Left: kes(left),
	}
}

// settlementStory has money on the shared paybill and on a direct one, and cash. The events are a minute apart.
func settlementStory() *projectiontest.Story {
	own, cash := recorded("OWN"), recorded("CASH")
	own.Shortcode, own.Environment, own.OrgID = "600777", "sandbox", acme
	cash.Shortcode, cash.Provider, cash.Channel = "", "cash", "cash"
	return projectiontest.NewStory(acme, began).
		Add("receipt-A", recorded("A")).Add("receipt-B", recorded("B")).Add("receipt-OWN", own).
		Add("receipt-CASH", cash).Add("receipt-HELD", recorded("HELD")).
		Add("account-amina", creditedTo("A", amina), creditedTo("B", amina), creditedTo("OWN", amina),
			creditedTo("CASH", amina), takenBack("A", amina, 500, 1000), takenBack("B", amina, 1500, 0),
			events.CreditSetAside{SubscriberID: amina, ReceiptID: receipt("A"), Number: "A", Amount: kes(300)},
			events.SetAsideReturned{SubscriberID: amina, ReceiptID: receipt("A"), Number: "A", Amount: kes(300)}).
		Add("account-brian", creditedTo("B", brian))
}

func TestSettlement_StoryEndsInTheseRows(t *testing.T) {
	t.Parallel()
	projectiontest.Check(t, paymentsviews.Settlement{}, settlementStory())
}

// settled tells a story to the read model and waits until it shows the end.
func settled(t *testing.T, s *projectiontest.Story) paymentsviews.SettlementQuery {
	t.Helper()
	log := feedtest.New()
	for _, e := range s.Events() {
		log.Append(e.Meta, e.Event)
	}
	r := runner.New(runner.Config{Feed: feedtest.Start(t, log), DB: pgtest.New(t), Clock: clock.NewManual(began)})
	r.Register(paymentsviews.Settlement{})
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	last := uint64(len(log.Events()))
	coretest.WaitFor(t, r.Views(), last, paymentsviews.SettlementName)
	return paymentsviews.SettlementQuery{Views: r.Views()}
}

// The rest of a receipt is taken back, and then the refund of the other part fails: the receipt is counted while
// something of it is there, and taken back once.
func TestSettlement_AReceiptWhoseRefundFailsIsTakenBackOnce(t *testing.T) {
	t.Parallel()
	aside := events.CreditSetAside{SubscriberID: amina, ReceiptID: receipt("A"), Number: "A", Amount: kes(300)}
	returned := events.SetAsideReturned{SubscriberID: amina, ReceiptID: receipt("A"), Number: "A", Amount: kes(300)}
	course := []events.Event{
		creditedTo("A", amina), aside, takenBack("A", amina, 1200, 0), returned, takenBack("A", amina, 300, 0),
		takenBack("A", amina, 0, 0), creditedTo("A", brian),
	}
	for told, count := range []int64{0, 1, 1, 0, 1, 0, 0, 1} {
		s := projectiontest.NewStory(acme, began).Add("receipt-A", recorded("A"))
		q := settled(t, s.Add("account-amina", course[:told]...))
		var counted int64
		sums, err := q.Sums(t.Context(), id.Organization{}, paymentsviews.SettlementTime{
			From: began, Until: began.Add(time.Hour), Currency: money.KES,
		})
		for _, sum := range sums {
			counted += sum.Count
		}
		if err != nil || counted != count {
			t.Errorf("after %d events %d receipts, want %d: %v", told, counted, count, err)
		}
	}
}

// The sums of a time and their rows are those of the shortcodes that are asked for, and of no other organization.
func TestSettlement_SumsAreTheirRows(t *testing.T) {
	t.Parallel()
	q := settled(t, settlementStory())
	until := began.Add(time.Hour)
	sums, err := q.Sums(t.Context(), id.Organization{}, paymentsviews.SettlementTime{
		From: began, Until: until, Currency: money.KES,
	})
	want := []paymentsviews.SettlementSum{
		{OrgID: acme, Shortcode: "600100", CameMinor: 480000, LeftMinor: 230000, Count: 2},
		{OrgID: acme, Shortcode: "600777", Environment: "sandbox", CameMinor: 150000, Count: 1},
	}
	if diff := cmp.Diff(want, sums); diff != "" || err != nil {
		t.Errorf("sums (-want +got): %v\n%s", err, diff)
	}
	part := paymentsviews.SettlementPart{
		OrgID: acme, Tills: []paymentsviews.Till{{Shortcode: "600100"}},
		SettlementTime: paymentsviews.SettlementTime{From: began, Until: until, Currency: money.KES},
	}
	var sum int64
	var after paymentsviews.SettlementKey
	for pages := 0; ; pages++ {
		rows, err := q.Rows(t.Context(), part, after, 3)
		if err != nil || pages > 5 {
			t.Fatal(pages, err)
		}
		if len(rows) == 0 {
			break
		}
		for _, row := range rows {
			sum += row.AmountMinor
		}
		after = rows[len(rows)-1].Key()
	}
	if sum != 250000 {
		t.Errorf("the rows sum to %d", sum)
	}
	part.OrgID = other
	if rows, err := q.Rows(t.Context(), part, paymentsviews.SettlementKey{}, 10); err != nil || len(rows) > 0 {
		t.Errorf("of another organization: %+v, %v", rows, err)
	}
}
