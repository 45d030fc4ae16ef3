package billingviews_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed/feedtest"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/runner/projectiontest"
)

// jane is the user who takes cash.
var jane = id.Derive[id.User]("test", "jane")

// taken is a receipt of 100 shillings by a channel.
func taken(n int, org id.Organization, channel string) events.ReceiptRecorded {
	return events.ReceiptRecorded{ReceiptID: receiptID(n), OrgID: org, Channel: channel, Amount: kes(100)}
}

// withdrawn takes a receipt's money off an account again.
func withdrawn(n int, who id.Subscriber, minor int64) events.ReceiptWithdrawn {
	return events.ReceiptWithdrawn{
		SubscriberID: who, OrgID: acme, ReceiptID: receiptID(n), Amount: kes(minor), Reason: personal.Of("reversed"),
	}
}

// reattributed moves a receipt from one account to another.
func reattributed(n int, from, to id.Subscriber, minor int64) events.ReceiptReattributed {
	return events.ReceiptReattributed{
		ReceiptID: receiptID(n), OrgID: acme, From: from, To: to, Amount: kes(minor), Reason: personal.Of("hers"),
		Move: 1,
	}
}

// addCauses adds rows of each other cause: money that waited in suspense, of which a part was withdrawn after it was
// moved, a refund that failed, a reversal, and money that another receipt carries.
func addCauses(s *projectiontest.Story) {
	part := withdrawn(10, brian, 300)
	part.WithdrawalID, part.Left = id.Derive[id.Withdrawal]("test", "part"), kes(600)
	s.Add("receipt-10", events.ReceiptHeld{ReceiptID: receiptID(10), Reason: "no_match"}).
		Add("account-story", credited(10, amina, 900, "c2b", 70)).
		Add("receipt-10", reattributed(10, amina, brian, 900)).
		Add("account-story", withdrawn(10, amina, 900), credited(10, brian, 900, "c2b", 72), part,
			events.CreditSetAside{SubscriberID: brian, ReceiptID: receiptID(10), Amount: kes(200)},
			events.SetAsideReturned{SubscriberID: brian, ReceiptID: receiptID(10), Amount: kes(200)}).
		Add("receipt-10", events.ReceiptReversed{ReceiptID: receiptID(10), OrgID: acme, SubscriberID: brian}).
		Add("account-story", withdrawn(10, brian, 600), credited(11, brian, 70, "stk", 75)).
		Add("receipt-11", events.ReceiptAbsorbed{ReceiptID: receiptID(11), OrgID: acme, CreditedTo: brian}).
		Add("account-story", withdrawn(11, brian, 70))
}

func TestCollections_StoryEndsInTheseRows(t *testing.T) {
	t.Parallel()
	user := events.Actor{Kind: events.ActorUser, ID: jane.String(), Role: "admin"}
	by := func(a events.Actor) func(*events.Metadata) { return func(m *events.Metadata) { m.Actor = a } }
	moved := credited(3, brian, 150000, "cash", 32)
	moved.SubscriberID, moved.Move = amina, 1
	s := projectiontest.NewStory(acme, began).With(by(user)).
		Add("receipt-3", taken(3, acme, "cash")).
		Add("receipt-2", taken(2, acme, "stk")).                   // not cash: no user took it
		Add("receipt-9", taken(9, id.Organization{}, "cash")).     // without an organization
		With(by(events.Actor{Kind: events.ActorAPIKey, ID: "k"})). // an API key is no user
		Add("receipt-8", taken(8, acme, "cash")).
		With(by(events.Actor{Kind: events.ActorProcess, ID: "receipts"}))
	for _, e := range story() {
		s.Add("account-story", e)
	}
	s.Add("account-story", credited(8, brian, 500, "cash", 60)).
		Add("receipt-3", reattributed(3, brian, amina, 150000)).
		Add("account-story", withdrawn(3, brian, 150000), moved, withdrawn(77, amina, 5))
	addCauses(s)
	s.Add("account-story", carriedAndBack(dora)...)
	sold := events.VoucherRedeemed{
		VoucherSubject: events.VoucherSubject{
			OrgID: acme, VoucherID: id.Derive[id.Voucher]("test", "v"),
			BatchID: id.Derive[id.VoucherBatch]("test", "b"),
		}, Price: kes(2000), MadeBy: jane, At: at(90),
	}
	s.Add("voucher-1", sold, events.VoucherMoved{}, events.VoucherVoided{Redeemed: true})
	sold.MadeBy = id.User{} // by an API key
	s.Add("voucher-2", sold)
	s.Add("voucher-3", events.VoucherVoided{At: at(91)}, sold) // the sign-in was recorded after the voiding
	projectiontest.Check(t, billingviews.Collections{}, s)
}

func TestCollections_AreTheCreditsOfStatements(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	seed := uint64(began.Unix())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // no secret
	channels := []string{"stk", "c2b", "cash", "bill_manager"}
	people := []id.Subscriber{amina, brian}
	var on []events.ReceiptCredited // credits that were not withdrawn
	var list []events.Event
	for n := range 60 {
		if len(on) > 0 && random.IntN(3) == 0 {
			at := random.IntN(len(on))
			c := on[at]
			on = append(on[:at:at], on[at+1:]...)
			list = append(list, events.ReceiptWithdrawn{
				SubscriberID: c.SubscriberID, OrgID: acme, ReceiptID: c.ReceiptID, Amount: c.Amount,
				Reason: personal.Of("x"),
			})
			if random.IntN(2) == 0 { // reattributed, by chance to the same subscriber
				c.Move++
				c.SubscriberID = people[random.IntN(2)]
				on, list = append(on, c), append(list, c)
			}
			continue
		}
		c := credited(n, people[random.IntN(2)], 1+random.Int64N(500_000), channels[random.IntN(4)], n)
		on, list = append(on, c), append(list, c)
		if n%7 == 0 { // it changes what a customer owes, and is no money received
			list = append(list, carriedAndBack(people[random.IntN(2)])...)
		}
		if n%5 == 0 {
			list = append(list, issued(n, c.SubscriberID, 1000, n, 10)) // a debit, which is no money received
		}
	}
	k.tell(t, acme, list...)
	for range 20 {
		from := at(random.IntN(len(list)))
		minutes := 1 + random.IntN(len(list))
		days := make([]time.Time, minutes) // "days" of a minute: the query only knows their beginnings
		for i := range days {
			days[i] = from.Add(time.Duration(i) * time.Minute)
		}
		until := from.Add(time.Duration(minutes) * time.Minute)
		got, err := k.collections.ByDay(t.Context(), acme, days, until)
		if err != nil {
			t.Fatal(err)
		}
		want, have := k.credits(t, from, until), map[time.Time]int64{}
		for _, r := range got {
			have[days[r.Day]] += r.TotalMinor
		}
		if diff := cmp.Diff(want, have); diff != "" {
			t.Errorf("money from %s to %s (-statements +collections):\n%s", from, until, diff)
		}
		if rows, err := k.collections.ByDay(t.Context(), other, days, until); len(rows) > 0 || err != nil {
			t.Errorf("another tenant got %v, %v", rows, err)
		}
	}
}

// credits sums the credits of all statements between two instants by time, in minor units.
func (k *kit) credits(t *testing.T, from, until time.Time) map[time.Time]int64 {
	t.Helper()
	sums := map[time.Time]int64{}
	for _, who := range []id.Subscriber{amina, brian} {
		lines, err := k.statement.Lines(t.Context(), acme, who, billingviews.StatementKey{}, 1000)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range lines {
			if l.CreditMinor != 0 && !l.At.Before(from) && l.At.Before(until) {
				sums[l.At.UTC()] += l.CreditMinor
			}
		}
	}
	return sums
}

func TestCollections_WhatIsTakenBackLeavesChannelAndHandsThatTookIt(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	cash := events.Metadata{OrgID: acme, At: at(0), Actor: events.Actor{Kind: events.ActorUser, ID: jane.String()}}
	k.log.Append(cash, taken(1, acme, "cash"))
	k.tell(t, acme, credited(1, amina, 700, "cash", 1), credited(2, amina, 300, "c2b", 2), withdrawn(1, amina, 700))
	rows, err := k.collections.ByDay(t.Context(), acme, []time.Time{began, at(3)}, at(100))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rows {
		got = append(got, fmt.Sprintf("%d %s %v %d %d", r.Day, r.Channel, r.TakenBy == jane, r.TotalMinor, r.Count))
	}
	if diff := cmp.Diff([]string{"0 c2b false 300 1", "0 cash true 700 1", "1 cash true -700 -1"}, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

// TestCollections_CountEachKindOfCashByItself: a drawer has no cheques, and what is taken back leaves its own kind.
func TestCollections_CountEachKindOfCashByItself(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	cash := events.Metadata{OrgID: acme, At: at(0), Actor: events.Actor{Kind: events.ActorUser, ID: jane.String()}}
	for n, kind := range []string{"cheque", "cash", "bank_transfer", ""} {
		e := taken(n+1, acme, "cash")
		e.Kind, e.ReceivedOn = kind, calendar.Date{Year: 2026, Month: 1, Day: n + 1}
		k.log.Append(cash, e)
	}
	k.tell(t, acme, credited(1, amina, 700, "cash", 1), credited(2, amina, 300, "cash", 2),
		credited(3, brian, 50, "cash", 3), credited(4, brian, 5, "cash", 4), withdrawn(1, amina, 700))
	rows, err := k.collections.ByDay(t.Context(), acme, []time.Time{began}, at(100))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rows {
		got = append(got, fmt.Sprintf("%s %v %d %d", r.Channel, r.TakenBy == jane, r.ReceivedMinor, r.TakenBackMinor))
	}
	want := []string{"bank_transfer true 50 0", "cash true 305 0", "cheque true 700 700"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sums (-want +got):\n%s", diff)
	}
	list, err := k.collections.Rows(t.Context(), acme, billingviews.CollectedFilter{
		From: began, Until: at(100), Channel: "cheque",
	}, billingviews.CollectedKey{}, 10)
	if err != nil || len(list) != 2 || list[0].ReceivedOn != "2026-01-01" || list[1].ReceivedOn != "2026-01-01" {
		t.Errorf("%+v, %v", list, err)
	}
}

// A receipt is counted as long as something of it is on an account, and once: also when its refund fails after the rest
// was taken back, whether the money stays then or follows the rest.
func TestCollections_AReceiptWhoseRefundFailsIsTakenBackOnce(t *testing.T) {
	t.Parallel()
	aside := events.CreditSetAside{SubscriberID: amina, ReceiptID: receiptID(1), Amount: kes(150)}
	returned := events.SetAsideReturned{SubscriberID: amina, ReceiptID: receiptID(1), Amount: kes(150)}
	rest, last, nothing := withdrawn(1, amina, 250), withdrawn(1, amina, 150), withdrawn(1, amina, 0)
	anew := credited(1, brian, 400, "c2b", 2)
	for name, c := range map[string]struct {
		then         []events.Event
		total, count int64
	}{
		"asked":                {[]events.Event{aside}, 250, 1},
		"and taken back":       {[]events.Event{aside, rest}, 0, 0},
		"and returned":         {[]events.Event{aside, rest, returned}, 150, 1},
		"and follows":          {[]events.Event{aside, rest, returned, last}, 0, 0},
		"and again nothing":    {[]events.Event{aside, rest, returned, last, nothing}, 0, 0},
		"and is credited anew": {[]events.Event{aside, rest, returned, last, anew}, 400, 1},
		"returned at once":     {[]events.Event{aside, returned}, 400, 1},
	} {
		log, meta := feedtest.New(), events.Metadata{OrgID: acme, At: at(0)}
		log.Append(meta, credited(1, amina, 400, "c2b", 1))
		for _, e := range c.then {
			log.Append(meta, e)
		}
		q, _ := collected(t, log)
		rows, err := q.ByDay(t.Context(), acme, []time.Time{began}, at(100))
		var total, count int64
		for _, r := range rows {
			total, count = total+r.TotalMinor, count+r.Count
		}
		if err != nil || total != c.total || count != c.count {
			t.Errorf("%s: %d in %d receipts, want %d in %d, %v", name, total, count, c.total, c.count, err)
		}
	}
}
