package billingviews_test

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed/feedtest"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// till writes a random course of events of an organization's receipts and vouchers, a minute apart, as their accounts
// and processes would, and remembers why each row counts.
type till struct {
	random *rand.Rand
	log    *feedtest.Log
	org    id.Organization
	next   int         // number of the next receipt
	on     []onAccount // receipts that are on accounts
	why    map[int64]string
}

// onAccount is the money of a receipt that an account still has.
type onAccount struct {
	n       int
	who     id.Subscriber
	channel string
	minor   int64
	parted  bool // a part was withdrawn, so that it moves no more
}

// writes appends an event, by a clerk.
func (b *till) writes(e events.Event) int64 {
	at := began.Add(time.Duration(len(b.log.Events())) * time.Minute)
	clerk := []id.User{jane, id.Derive[id.User]("test", "joe")}[b.random.IntN(2)]
	return int64(b.log.Append(events.Metadata{ //nolint:gosec // positions fit
		OrgID: b.org, At: at, Actor: events.Actor{Kind: events.ActorUser, ID: clerk.String()},
	}, e))
}

// counts appends an event that makes a row.
func (b *till) counts(why string, e events.Event) { b.why[b.writes(e)] = why }

// credits puts money on an account, and takes puts it off again.
func (b *till) credits(why string, r onAccount) {
	e := credited(r.n, r.who, r.minor, r.channel, r.n)
	e.OrgID = b.org
	b.counts(why, e)
}

// takes puts some of the money off its account.
func (b *till) takes(why string, r onAccount, minor int64) {
	e := withdrawn(r.n, r.who, minor)
	e.OrgID, e.Left = b.org, kes(r.minor-minor)
	if why == "withdrawn" {
		e.WithdrawalID = id.New[id.Withdrawal]()
	}
	b.counts(why, e)
}

// comes has a payer pay, by any way; one of three payments waits in suspense first.
func (b *till) comes() {
	people := []id.Subscriber{amina, brian}
	r := onAccount{
		n: b.next, who: people[b.random.IntN(2)], minor: 1 + b.random.Int64N(500_000),
		channel: []string{"stk", "c2b", "cash", "bill_manager"}[b.random.IntN(4)],
	}
	b.next++
	b.writes(taken(r.n, b.org, r.channel))
	why := "paid"
	if r.channel != "cash" && b.random.IntN(3) == 0 {
		b.writes(events.ReceiptHeld{ReceiptID: receiptID(r.n), Reason: "no_match"})
		why = "placed"
	}
	b.credits(why, r)
	b.on = append(b.on, r)
}

// goes on with a receipt that is on an account: it is reversed, absorbed, moved, refunded in part, or a part of it is
// withdrawn.
func (b *till) goes() {
	at := b.random.IntN(len(b.on))
	r := b.on[at]
	b.on = append(b.on[:at:at], b.on[at+1:]...)
	part := 1 + b.random.Int64N(r.minor)
	switch what := b.random.IntN(5); {
	case what == 0:
		b.writes(events.ReceiptReversed{ReceiptID: receiptID(r.n), OrgID: b.org, SubscriberID: r.who})
		b.takes("reversed", r, r.minor)
	case what == 1:
		b.writes(events.ReceiptAbsorbed{ReceiptID: receiptID(r.n), OrgID: b.org, CreditedTo: r.who})
		b.takes("absorbed", r, r.minor)
	case what == 2 && !r.parted:
		to := []id.Subscriber{amina, brian}[b.random.IntN(2)]
		moved := reattributed(r.n, r.who, to, r.minor)
		moved.OrgID = b.org
		b.writes(moved)
		b.takes("reattributed", r, r.minor)
		r.who = to
		b.credits("reattributed", r)
		b.on = append(b.on, r)
	case what == 3:
		b.counts("set_aside", events.CreditSetAside{
			SubscriberID: r.who, OrgID: b.org, ReceiptID: receiptID(r.n), Amount: kes(part),
		})
		b.counts("refund_failed", events.SetAsideReturned{
			SubscriberID: r.who, OrgID: b.org, ReceiptID: receiptID(r.n), Amount: kes(part),
		})
		b.on = append(b.on, r)
	default:
		b.takes("withdrawn", r, part)
		r.minor, r.parted = r.minor-part, true
		if r.minor > 0 {
			b.on = append(b.on, r)
		}
	}
}

// sells a voucher, whose first sign-in may have been a while ago.
func (b *till) sells() {
	ago := b.random.IntN(20)
	b.counts("sold", events.VoucherRedeemed{
		VoucherSubject: events.VoucherSubject{OrgID: b.org, VoucherID: id.New[id.Voucher]()},
		Price:          kes(b.random.Int64N(5000)), MadeBy: []id.User{jane, {}}[b.random.IntN(2)],
		At: began.Add(time.Duration(len(b.log.Events())-ago) * time.Minute),
	})
}

// collected starts the read model on a log and waits until it shows all of it.
func collected(t *testing.T, log *feedtest.Log) (billingviews.CollectionsQuery, *postgres.DB) {
	t.Helper()
	db := pgtest.New(t)
	r := runner.New(runner.Config{Feed: feedtest.Start(t, log), DB: db, Clock: clock.NewManual(began)})
	r.Register(billingviews.Collections{})
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	if n := len(log.Events()); n > 0 {
		coretest.WaitFor(t, r.Views(), log.Events()[n-1].Position, billingviews.CollectionsName)
	}
	return billingviews.CollectionsQuery{Views: r.Views()}, db
}

// behind reads all rows of a filter, a few at a time. They come newest first, each once.
func behind(
	t *testing.T, q billingviews.CollectionsQuery, org id.Organization, f billingviews.CollectedFilter,
) (all []billingviews.CollectedRow) {
	t.Helper()
	var after billingviews.CollectedKey
	for {
		rows, err := q.Rows(t.Context(), org, f, after, 7)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			if r.At.After(after.At) && !after.At.IsZero() || r.At.Equal(after.At) && r.Position >= after.Position {
				t.Fatalf("%+v comes after %+v", r, after)
			}
			after = r.Key()
		}
		if all = append(all, rows...); len(rows) < 7 {
			return all
		}
	}
}

// sides sums up rows in minor units: what was received, and what was taken back.
func sides(rows []billingviews.CollectedRow) (sum [2]int64) {
	for _, r := range rows {
		if r.TakenBack {
			sum[1] -= r.AmountMinor
		} else {
			sum[0] += r.AmountMinor
		}
	}
	return sum
}

// The rows of each sum add up to it, whatever became of the money, and those of another organization are not among
// them.
func TestCollections_RowsAddUpToTheirSumsInAnyCourse(t *testing.T) {
	t.Parallel()
	seed := uint64(began.Unix())
	t.Logf("seed %d", seed)
	log := feedtest.New()
	random := rand.New(rand.NewPCG(seed, 2)) //nolint:gosec // no secret
	tills := []*till{
		{random: random, log: log, org: acme, why: map[int64]string{}},
		{random: random, log: log, org: other, why: map[int64]string{}, next: 1000},
	}
	for range 400 {
		b := tills[random.IntN(2)]
		switch what := random.IntN(5); {
		case what == 0:
			b.sells()
		case what < 3 && len(b.on) > 0:
			b.goes()
		default:
			b.comes()
		}
	}
	q, _ := collected(t, log)
	until := began.AddDate(0, 0, 7)
	for _, b := range tills {
		got := map[int64]string{}
		all := billingviews.CollectedFilter{From: began.AddDate(0, 0, -1), Until: until}
		for _, r := range behind(t, q, b.org, all) {
			got[r.Position] = r.Why
		}
		if diff := cmp.Diff(b.why, got); diff != "" {
			t.Errorf("why rows count, by their position (-want +got):\n%s", diff)
		}
	}
	for range 3 {
		days := []time.Time{began.Add(time.Duration(random.IntN(200)) * time.Minute)} // "days" of two to five hours
		for len(days) < 4 {
			days = append(days, days[len(days)-1].Add(time.Duration(120+random.IntN(180))*time.Minute))
		}
		expectRows(t, q, days)
	}
}

// expectRows compares the sums of days with the rows behind them: by day, by day and channel, and by day, channel and
// taker.
func expectRows(t *testing.T, q billingviews.CollectionsQuery, days []time.Time) {
	t.Helper()
	days, until := days[:len(days)-1], days[len(days)-1]
	sums, err := q.ByDay(t.Context(), acme, days, until)
	if err != nil || len(sums) == 0 {
		t.Fatalf("%d sums, %v", len(sums), err)
	}
	want := map[billingviews.CollectedFilter][2]int64{}
	for _, s := range sums {
		if s.TotalMinor != s.ReceivedMinor-s.TakenBackMinor {
			t.Errorf("%+v is not the difference of its sides", s)
		}
		end := append(days[1:len(days):len(days)], until)[s.Day]
		f := billingviews.CollectedFilter{From: days[s.Day], Until: end}
		each := []billingviews.CollectedFilter{{From: days[0], Until: until}, f}
		f.Channel = s.Channel
		if each = append(each, f); !s.TakenBy.IsZero() {
			f.TakenBy = s.TakenBy
			each = append(each, f)
		}
		for _, f := range each {
			sum := want[f]
			want[f] = [2]int64{sum[0] + s.ReceivedMinor, sum[1] + s.TakenBackMinor}
		}
	}
	for f, sum := range want {
		got := sides(behind(t, q, acme, f))
		f.Side = billingviews.SideReceived
		received := behind(t, q, acme, f)
		f.Side = billingviews.SideTakenBack
		back := behind(t, q, acme, f)
		if got != sum || sides(received) != [2]int64{sum[0], 0} || sides(back) != [2]int64{0, sum[1]} {
			t.Errorf("%+v: the sums are %v, all rows have %v, those of one side %v and %v", f, sum, got,
				sides(received), sides(back))
		}
	}
}

// brings takes a customer in who had paid ahead elsewhere or owes something there, and may undo that.
func (b *till) brings() {
	who, ahead := id.New[id.Subscriber](), kes(1+b.random.Int64N(500_000))
	carried := events.BalanceCarriedOver{
		SubscriberID: who, OrgID: b.org, ReceiptID: events.CarriedCredit(who), Amount: ahead.Neg(),
	}
	back := events.Event(events.ReceiptWithdrawn{
		SubscriberID: who, OrgID: b.org, ReceiptID: carried.ReceiptID, Amount: ahead, Reason: personal.Of("wrong file"),
	})
	if b.random.IntN(3) == 0 {
		carried.ReceiptID, carried.InvoiceID, carried.Amount = id.Receipt{}, events.CarriedDebt(who), ahead
		back = events.InvoiceVoided{SubscriberID: who, InvoiceID: carried.InvoiceID, Total: ahead, WasIssued: true}
	}
	b.writes(carried)
	if b.random.IntN(2) == 0 {
		b.writes(back)
	}
}

// What an import brings never came in here, so the sums of each day, channel and member of staff are those of a course
// without the import and its undo.
func TestCollections_AnImportAndItsUndoLeaveThemUntouched(t *testing.T) {
	t.Parallel()
	seed := uint64(began.Unix())
	t.Logf("seed %d", seed)
	log, random := feedtest.New(), rand.New(rand.NewPCG(seed, 3)) //nolint:gosec // no secret
	b := &till{random: random, log: log, org: acme, why: map[int64]string{}}
	imports := map[int]bool{} // places of events of imports in the log
	for range 150 {
		before := len(log.Events())
		switch what := random.IntN(4); {
		case what == 0:
			b.brings()
			for i := before; i < len(log.Events()); i++ {
				imports[i] = true
			}
		case what == 1 && len(b.on) > 0:
			b.goes()
		default:
			b.comes()
		}
	}
	without := feedtest.New()
	for i, e := range log.Events() {
		if !imports[i] {
			without.Append(e.Meta, e.Event)
		}
	}
	days := make([]time.Time, 48) // of ten minutes
	for i := range days {
		days[i] = began.Add(time.Duration(10*i) * time.Minute)
	}
	var sums [2][]billingviews.CollectionsRow
	for i, l := range []*feedtest.Log{without, log} {
		q, _ := collected(t, l)
		var err error
		if sums[i], err = q.ByDay(t.Context(), acme, days, began.AddDate(0, 0, 9)); err != nil || len(sums[i]) == 0 {
			t.Fatalf("%d sums, %v", len(sums[i]), err)
		}
	}
	if diff := cmp.Diff(sums[0], sums[1]); diff != "" {
		t.Errorf("the imports change (-without +with):\n%s", diff)
	}
}

// Money whose channel is not known is found as "none".
func TestCollections_RowsOfNoChannelAndNoReceipt(t *testing.T) {
	t.Parallel()
	log := feedtest.New()
	log.Append(events.Metadata{OrgID: acme, At: at(0)}, withdrawn(1, amina, 500))
	log.Append(events.Metadata{OrgID: acme, At: at(1)}, credited(2, amina, 700, "c2b", 1))
	q, _ := collected(t, log)
	rows := behind(t, q, acme, billingviews.CollectedFilter{From: began, Until: at(9), Channel: "none"})
	if len(rows) != 1 || rows[0].AmountMinor != -500 || !rows[0].ReceiptID.IsZero() || rows[0].Why != "withdrawn" ||
		rows[0].SubscriberID != amina {
		t.Errorf("%+v", rows)
	}
}

// manyCollectedSQL adds 100,000 rows. One of 2,000 is cash of one member of staff, and another
// one was taken back.
const manyCollectedSQL = `insert into {schema}.collections (position, org_id, at, receipt_id, subscriber_id, channel,
		taken_by, amount_minor, receipts, why)
	select i, $1, timestamptz '2026-01-01' + i * interval '1 minute', gen_random_uuid(), gen_random_uuid(),
		case when i % 2000 = 0 then 'cash' else 'c2b' end, case when i % 2000 = 0 then $2::uuid end,
		case when i % 2000 = 7 then -100 else 100 end, 1, 'paid'
	from generate_series(1, 100000) i`

// wasteful matches a plan that reads rows which it does not show.
var wasteful = regexp.MustCompile(
	`Seq Scan on collections|Rows Removed by [A-Za-z ]+: [0-9]{3,}|Sort Key: (collections\.)?at`)

// Each filter has an index, also below the policy of the tenant.
func TestCollections_AnyListOfRowsReadsOnlyItsPageOf100000(t *testing.T) {
	t.Parallel()
	q, db := collected(t, feedtest.New())
	org, clerk := id.New[id.Organization](), id.New[id.User]()
	sql := func(text string) string { return q.Views.SQL(billingviews.CollectionsName, text) }
	if _, err := db.Owner.Exec(t.Context(), sql(manyCollectedSQL), org, clerk); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Owner.Exec(t.Context(), sql(`analyze {schema}.collections`)); err != nil {
		t.Fatal(err)
	}
	from := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	year := billingviews.CollectedFilter{From: from.AddDate(0, -1, 0), Until: from.AddDate(0, 11, 0)}
	for name, change := range map[string]func(*billingviews.CollectedFilter){
		"all": func(*billingviews.CollectedFilter) {},
		"of a month": func(f *billingviews.CollectedFilter) {
			f.From, f.Until = from, from.AddDate(0, 1, 0)
		},
		"received":        func(f *billingviews.CollectedFilter) { f.Side = billingviews.SideReceived },
		"taken back":      func(f *billingviews.CollectedFilter) { f.Side = billingviews.SideTakenBack },
		"cash":            func(f *billingviews.CollectedFilter) { f.Channel = "cash" },
		"no such channel": func(f *billingviews.CollectedFilter) { f.Channel = "bill_manager" },
		"a clerk's cash":  func(f *billingviews.CollectedFilter) { f.TakenBy, f.Channel = clerk, "cash" },
		"of nobody":       func(f *billingviews.CollectedFilter) { f.TakenBy = id.New[id.User]() },
		"taken back, over the paybill": func(f *billingviews.CollectedFilter) {
			f.Channel, f.Side = "c2b", billingviews.SideTakenBack
		},
		"taken back, a clerk's": func(f *billingviews.CollectedFilter) {
			f.TakenBy, f.Side = clerk, billingviews.SideTakenBack
		},
	} {
		f := year
		change(&f)
		for _, after := range []billingviews.CollectedKey{{}, {At: from.AddDate(0, 0, 20), Position: 1}} {
			text, args := billingviews.CollectedRowsSQL(org, f, after, 26)
			var plan []string
			err := q.Views.Tenant(t.Context(), org, func(reads *postgres.Reads) {
				postgres.Collect(reads, &plan, pgx.RowTo[string],
					sql("explain (analyze, costs off, timing off, summary off) "+text), args)
			})
			if shown := strings.Join(plan, "\n"); err != nil || wasteful.MatchString(shown) {
				t.Errorf("%s, after %v (%v):\n%s", name, after.At, err, shown)
			}
		}
	}
}
