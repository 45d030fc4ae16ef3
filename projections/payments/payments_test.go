package paymentsviews_test

import (
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed/feedtest"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/runner/projectiontest"
)

// told starts the read models on the events of stories and waits until all are shown.
func told(t *testing.T, stories ...*projectiontest.Story) *runner.Views {
	t.Helper()
	log := feedtest.New()
	r := runner.New(runner.Config{Feed: feedtest.Start(t, log), DB: pgtest.New(t), Clock: clock.NewManual(began)})
	r.Register(paymentsviews.Payments{}, paymentsviews.Receipts{}, paymentsviews.Gateways{}, paymentsviews.Matching{},
		paymentsviews.Proof{}, paymentsviews.Refunds{})
	if err := r.Start(t.Context()); err != nil {
		t.Fatalf("start read models: %v", err)
	}
	t.Cleanup(r.Stop)
	var last uint64
	revisions := map[string]uint64{}
	for _, s := range stories {
		for _, e := range s.Events() {
			last = log.AppendAs(e.Stream, revisions[e.Stream], e.Meta, e.Event)
			revisions[e.Stream]++
		}
	}
	for _, name := range []string{
		paymentsviews.PaymentsName, paymentsviews.ReceiptsName, paymentsviews.GatewaysName, paymentsviews.MatchingName,
		paymentsviews.ProofName, paymentsviews.RefundsName,
	} {
		coretest.WaitFor(t, r.Views(), last, name)
	}
	return r.Views()
}

func TestPaymentNumbers_AreThoseOfTheirReceipts(t *testing.T) {
	t.Parallel()
	q := paymentsviews.PaymentsQuery{Views: told(t, paymentsStory())}
	asked := []id.Payment{payment("early"), payment("open")}
	numbers, err := q.Numbers(t.Context(), acme, asked)
	if err != nil || len(numbers) != 1 || numbers[payment("early")] != "R1" {
		t.Errorf("numbers %v, %v", numbers, err)
	}
	if hidden, err := q.Numbers(t.Context(), other, asked); err != nil || len(hidden) != 0 {
		t.Errorf("another organization sees %v, %v", hidden, err)
	}
}

func TestAttemptOf_MoneyOfAPrompt(t *testing.T) {
	t.Parallel()
	q := paymentsviews.PaymentsQuery{Views: told(t, paymentsStory())}
	text := func(s string) *string { return &s }
	base := paymentsviews.ReceiptRow{
		Channel: "c2b", Shortcode: "600100", AmountMinor: 150000, Currency: money.KES, PaidAt: began.Add(time.Hour),
	}
	for name, c := range map[string]struct {
		change   func(*paymentsviews.ReceiptRow)
		want     string
		conflict bool
	}{
		"by its own address": {func(r *paymentsviews.ReceiptRow) { r.PaymentID = payment("open") }, "open", false},
		"by the prompt's name": {
			func(r *paymentsviews.ReceiptRow) { r.CheckoutRequestID = text("ws_open") }, "open", false,
		},
		"another reference": {func(r *paymentsviews.ReceiptRow) { r.BillRef = text("PREFother") }, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := base
			c.change(&r)
			p, several, err := q.AttemptOf(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if got := p != nil && p.ID == payment(c.want); got != (c.want != "") || (several != nil) != c.conflict {
				t.Errorf("attempt %v, or one of %v", p, several)
			}
		})
	}
}

// referenced is an attempt with an account reference in the form of the product.
func referenced() *projectiontest.Story {
	e := initiated("real")
	e.AccountReference = "PK7M2Q9X4RTW"
	return projectiontest.NewStory(acme, began).Add("payment-real", e)
}

func TestAttemptOf_ReferenceNeedsAmountShortcodeTimeAndPhone(t *testing.T) {
	t.Parallel()
	q := paymentsviews.PaymentsQuery{Views: told(t, referenced())}
	ref := "pk7m 2q9x 4rtw"
	from := func(phone string) func(*paymentsviews.ReceiptRow) {
		return func(r *paymentsviews.ReceiptRow) { r.PayerPhone = &phone }
	}
	base := paymentsviews.ReceiptRow{
		Channel: "c2b", BillRef: &ref, Shortcode: "600100", AmountMinor: 150000, Currency: money.KES, PaidAt: began,
	}
	for name, c := range map[string]struct {
		change func(*paymentsviews.ReceiptRow)
		found  bool
	}{
		"equal": {func(*paymentsviews.ReceiptRow) {}, true},
		"after two days": {
			func(r *paymentsviews.ReceiptRow) { r.PaidAt = began.Add(48*time.Hour - time.Second) }, true,
		},
		"too late": {
			func(r *paymentsviews.ReceiptRow) { r.PaidAt = began.Add(48*time.Hour + time.Second) }, false,
		},
		"clocks differ":     {func(r *paymentsviews.ReceiptRow) { r.PaidAt = began.Add(-59 * time.Second) }, true},
		"too early":         {func(r *paymentsviews.ReceiptRow) { r.PaidAt = began.Add(-61 * time.Second) }, false},
		"another amount":    {func(r *paymentsviews.ReceiptRow) { r.AmountMinor++ }, false},
		"another shortcode": {func(r *paymentsviews.ReceiptRow) { r.Shortcode = "600777" }, false},
		"another phone":     {from("254712345679"), false},
		"another phone, with the zero of the country": {from("0712 345 679"), false},
		"the same phone":              {from("254712345678"), true},
		"the same phone as one dials": {from("0712 345-678"), true},
		"the same phone with a plus":  {from("+254712345678"), true},
		"masked phone":                {from("2547*****679"), true},
		"hashed phone": {
			from("3c5d1f0b7e2a49c8b1d64f7093ae58216cbb0d1ef24a7539608c1de2f5a4b790"), true,
		},
		"no phone": {from(""), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := base
			c.change(&r)
			p, several, err := q.AttemptOf(t.Context(), r)
			if err != nil || (p != nil) != c.found || several != nil {
				t.Errorf("attempt %v, or one of %v, %v", p, several, err)
			}
		})
	}
}

// sharing are attempts with one reference, of which the provider has told about some.
func sharing(told ...events.Event) *projectiontest.Story {
	s := projectiontest.NewStory(acme, began)
	for _, name := range []string{"one", "two"} {
		e := initiated(name)
		e.AccountReference = "ACME-0007"
		s.Add("payment-"+name, e)
	}
	return s.Add("payment-one", told...)
}

func TestAttemptOf_AReferenceThatIsTypedAgainIsAPaymentOfItsOwn(t *testing.T) {
	t.Parallel()
	ref := "Acme 0007"
	typed := paymentsviews.ReceiptRow{
		Channel: "c2b", BillRef: &ref, Shortcode: "600100", AmountMinor: 150000, Currency: money.KES, PaidAt: began,
	}
	exact := "ACME-0007"
	echoed := typed
	echoed.BillRef = &exact
	paid := events.PaymentSucceeded{
		PaymentID: payment("one"), Amount: kes(1500), ReceiptID: receipt("R"), ReceiptNumber: "R", At: began,
	}
	query := paid
	query.ReceiptNumber, query.Provisional = "", true
	for name, c := range map[string]struct {
		story    *projectiontest.Story
		receipt  paymentsviews.ReceiptRow
		want     string
		conflict bool
	}{
		"one is paid, the other waits":            {sharing(paid), echoed, "two", false},
		"both wait: the account gets it anyway":   {sharing(), echoed, "", false},
		"one may be paid already: a person looks": {sharing(query), echoed, "", true},
		"typed without the dash":                  {sharing(paid), typed, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := paymentsviews.PaymentsQuery{Views: told(t, c.story)}
			p, several, err := q.AttemptOf(t.Context(), c.receipt)
			if err != nil || (len(several) == 2) != c.conflict || (p != nil) != (c.want != "") ||
				p != nil && p.ID != payment(c.want) {
				t.Errorf("attempt %v, or one of %v, %v", p, several, err)
			}
		})
	}
}

func TestPayments_OutsideStatusesAndFilters(t *testing.T) {
	t.Parallel()
	views := told(t, paymentsStory())
	q := paymentsviews.PaymentsQuery{Views: views}
	for status, want := range map[string]int{"PENDING": 3, "SUCCESS": 3, "CANCELLED": 1, "FAILED": 2, "": 9} {
		rows, err := q.List(t.Context(), acme, paymentsviews.PaymentFilter{Status: status}, paymentsviews.PaymentKey{},
			100)
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) != want {
			t.Errorf("%s: %d rows, want %d", status, len(rows), want)
		}
		for _, r := range rows {
			if status != "" && r.Status() != status {
				t.Errorf("%s lists %s", status, r.Status())
			}
		}
	}
	if rows, err := q.List(t.Context(), other, paymentsviews.PaymentFilter{}, paymentsviews.PaymentKey{},
		100); err != nil || len(rows) != 0 {
		t.Errorf("another tenant sees %d, %v", len(rows), err)
	}
	if rows, err := q.List(t.Context(), acme, paymentsviews.PaymentFilter{SubscriberIDs: []id.Subscriber{}},
		paymentsviews.PaymentKey{}, 100); err != nil || len(rows) != 0 {
		t.Errorf("a customer without a link sees %d, %v", len(rows), err)
	}
	if row, err := q.Get(t.Context(), acme, payment("expire")); err != nil || row.Reason() != "expired" {
		t.Errorf("expired: %v, %v", row, err)
	}
}

// A list of successes sums to the money that accounts have, whatever a person did with it, and each customer's list to
// the money of that customer.
func TestPayments_TheListFollowsTheMoney(t *testing.T) {
	t.Parallel()
	move := func(to id.Subscriber, move int) events.Event {
		return events.ReceiptReattributed{
			ReceiptID: receipt("R1"), OrgID: acme, From: amina, To: to, PaymentID: payment("early"), Amount: kes(1000),
			Move: move, Reason: personal.Of("x"), At: began,
		}
	}
	success := events.PaymentSucceeded{
		PaymentID: payment("early"), Amount: kes(1000), ReceiptID: receipt("R1"), ReceiptNumber: "R1", By: "operator",
		At: began,
	}
	gone := events.ReceiptReversed{ReceiptID: receipt("R1"), OrgID: acme, Reason: personal.Of("x"), At: began}
	refused := events.ReceiptHeld{ReceiptID: receipt("R1"), Reason: "not_credited", At: began}
	waits := events.ReceiptHeld{ReceiptID: receipt("R1"), Reason: "no_match", At: began}
	byHand := matched("R1", "operator", "c2b")
	byHand.PaymentID = payment("early")
	nobodys := events.ReceiptReversed{ReceiptID: receipt("R1"), Reason: personal.Of("x"), At: began}
	for name, c := range map[string]struct {
		receipt        []events.Event
		status, reason string
		whose          id.Subscriber
	}{
		"stays":              {nil, "SUCCESS", "", amina},
		"to another":         {[]events.Event{move(brian, 1)}, "SUCCESS", "reattributed", brian},
		"there and back":     {[]events.Event{move(brian, 1), move(amina, 2)}, "SUCCESS", "", amina},
		"taken back":         {[]events.Event{gone}, "FAILED", "reversed", amina},
		"moved, then taken":  {[]events.Event{move(brian, 1), gone}, "FAILED", "reversed", brian},
		"matched once again": {[]events.Event{move(brian, 1), matched("R1", "operator", "c2b")}, "SUCCESS", "", amina},
		"of nobody":          {[]events.Event{nobodys}, "SUCCESS", "", amina},
		"refused by its account": {
			[]events.Event{byHand, refused}, "FAILED", "not_credited", amina,
		},
		"refused, then matched again": {
			[]events.Event{byHand, refused, byHand}, "SUCCESS", "", amina,
		},
		"refused, then taken back": {
			[]events.Event{byHand, refused, gone}, "FAILED", "reversed", amina,
		},
		"waits in suspense first": {[]events.Event{waits, byHand}, "SUCCESS", "", amina},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, late := range []bool{false, true} { // the news of the success may come after the move
				story := projectiontest.NewStory(acme, began).Add("payment-early", initiated("early"))
				if !late {
					story.Add("payment-early", success)
				}
				story.Add("receipt-R1", c.receipt...)
				if late {
					story.Add("payment-early", success)
				}
				checkListed(t, story, c.whose, c.status, c.reason)
			}
		})
	}
}

// checkListed expects one payment of 1,000 shillings on the list of a subscriber.
func checkListed(t *testing.T, s *projectiontest.Story, whose id.Subscriber, status, reason string) {
	t.Helper()
	q := paymentsviews.PaymentsQuery{Views: told(t, s)}
	rows, err := q.List(t.Context(), acme, paymentsviews.PaymentFilter{
		SubscriberIDs: []id.Subscriber{whose}, Status: status, ReceiptNumber: "r1",
	}, paymentsviews.PaymentKey{}, 10)
	if err != nil || len(rows) != 1 {
		t.Fatalf("%+v, %v", rows, err)
	}
	if row := rows[0]; row.Status() != status || row.Reason() != reason || row.Amount() != kes(1000) ||
		(reason == "reversed") != (row.Message == "x") {
		t.Errorf("%+v", row)
	}
}

// The money was matched to another account before its attempt was known, and the attempt succeeds by it later.
func TestPayments_MoneyThatIsElsewhereIsOnTheListOfWhoHasIt(t *testing.T) {
	t.Parallel()
	story := projectiontest.NewStory(acme, began).Add("payment-early", initiated("early"),
		events.PaymentPaidElsewhere{
			PaymentID: payment("early"), OrgID: acme, SubscriberID: amina, ReceiptID: receipt("R1"), PaidTo: brian,
			At: began,
		}, events.PaymentSucceeded{
			PaymentID: payment("early"), Amount: kes(1000), ReceiptID: receipt("R1"), ReceiptNumber: "R1",
			By: "operator", At: began,
		})
	row, err := paymentsviews.PaymentsQuery{Views: told(t, story)}.Get(t.Context(), acme, payment("early"))
	if err != nil || row == nil || row.HeldBy != brian || row.Reason() != "reattributed" {
		t.Errorf("%+v, %v", row, err)
	}
}

// The provisional receipt of a status query was reversed, so the real one is credited by itself.
func TestPayments_ARealReceiptAfterAReversedProvisionalOneIsASuccess(t *testing.T) {
	t.Parallel()
	real := matched("R2", "prompt", "stk")
	real.PaymentID = payment("query")
	provisional := matched("P", "prompt", "stk")
	provisional.PaymentID = payment("query")
	story := projectiontest.NewStory(acme, began).
		Add("payment-query", initiated("query"), events.PaymentSucceeded{
			PaymentID: payment("query"), Amount: kes(1500), ReceiptID: receipt("P"), Provisional: true, By: "query",
			At: began,
		}).
		Add("receipt-P", provisional,
			events.ReceiptReversed{ReceiptID: receipt("P"), OrgID: acme, Reason: personal.Of("x"), At: began}).
		Add("payment-query", events.ProvisionalClaimed{
			PaymentID: payment("query"), ReceiptID: receipt("R2"), ReceiptNumber: "R2",
			ProvisionalReceiptID: receipt("P"), At: began,
		})
	check := func(want string, carrier id.Receipt) {
		t.Helper()
		row, err := paymentsviews.PaymentsQuery{Views: told(t, story)}.Get(t.Context(), acme, payment("query"))
		if err != nil || row == nil || row.Status() != want || row.ReceiptID != carrier || row.HeldBy != amina {
			t.Errorf("want %s, have %+v, %v", want, row, err)
		}
	}
	check("FAILED", receipt("P"))
	story.Add("receipt-R2", real)
	check("SUCCESS", receipt("R2"))
	story.Add("receipt-R2", events.ReceiptReversed{ReceiptID: receipt("R2"), OrgID: acme, Reason: personal.Of("y"),
		At: began})
	check("FAILED", receipt("R2"))
}

func TestCash_ThatItsAccountRefusesIsNoSuccess(t *testing.T) {
	t.Parallel()
	story := projectiontest.NewStory(acme, began).Add("receipt-CASH", matched("CASH", "cash", "cash"),
		events.ReceiptHeld{ReceiptID: receipt("CASH"), Reason: "not_credited", At: began})
	status := func() (status, reason string) {
		row, err := paymentsviews.PaymentsQuery{Views: told(t, story)}.Get(t.Context(), acme,
			id.As[id.Payment](receipt("CASH")))
		if err != nil || row == nil {
			t.Fatal(row, err)
		}
		return row.Status(), row.Reason()
	}
	if s, reason := status(); s != "FAILED" || reason != "not_credited" {
		t.Errorf("refused cash is %s, %s", s, reason)
	}
	story.Add("receipt-CASH", matched("CASH", "operator", "cash"))
	if s, reason := status(); s != "SUCCESS" || reason != "" {
		t.Errorf("cash that a person attributed again is %s, %s", s, reason)
	}
}

func TestReason_OfCode17IsAnInternalFailure(t *testing.T) {
	t.Parallel()
	if got := (paymentsviews.PaymentRow{Stage: "failed", Code: "17"}).Reason(); got != "internal_failure" {
		t.Errorf("told as %q", got)
	}
}

// TestReason_EachIsInTheListOfReasons: clients have a sentence for each word of the list, and the list no other words.
func TestReason_EachIsInTheListOfReasons(t *testing.T) {
	t.Parallel()
	rows := []paymentsviews.PaymentRow{
		{Stage: "expired"}, {Stage: "succeeded", TakenBack: true}, {Stage: "succeeded", Refused: true},
		{Stage: "succeeded", HeldBy: amina},
	}
	for code := range 10_000 {
		rows = append(rows, paymentsviews.PaymentRow{Stage: "failed", Code: strconv.Itoa(code)})
	}
	for _, code := range []string{"not_sent", "prompt_too_late", "provider_unavailable"} {
		rows = append(rows, paymentsviews.PaymentRow{Stage: "cancelled", Code: code})
	}
	told := map[string]bool{}
	for _, r := range rows {
		told[r.Reason()] = true
	}
	if diff := cmp.Diff(paymentsviews.PaymentReasons, slices.Sorted(maps.Keys(told))); diff != "" {
		t.Error(diff)
	}
}

func TestShortcode_IsWhoeverRegisteredItLast(t *testing.T) {
	t.Parallel()
	q := paymentsviews.GatewaysQuery{Views: told(t, gatewayStory())}
	rows, err := q.Shortcodes(t.Context(), "600777")
	want := []paymentsviews.ShortcodeRow{{Shortcode: "600777", Environment: "sandbox", OrgID: other, Active: true}}
	if diff := cmp.Diff(want, rows); err != nil || diff != "" {
		t.Errorf("shortcode %v, %s", err, diff)
	}
	g, err := q.Get(t.Context(), acme)
	if err != nil || g == nil || g.Active() || g.Error != "Bad credentials" {
		t.Errorf("settings %v, %v", g, err)
	}
}

func TestForgottenSubscriber_LeavesNothingPersonal(t *testing.T) {
	t.Parallel()
	gone := projectiontest.NewStory(acme, began).Add("subscriber-gone", events.SubscriberForgotten{
		SubscriberID: amina, Reason: "asked for it",
	})
	views := told(t, paymentsStory(), payersStory(), gone)
	for name, sql := range map[string]string{
		paymentsviews.PaymentsName: `select count(*) from {schema}.payments where phone is not null`,
		paymentsviews.ReceiptsName: `select count(*) from {schema}.receipts where subscriber_id = '` + amina.String() +
			`'
			and (payer_phone is not null or payer_name is not null or bill_ref is not null)`,
		paymentsviews.MatchingName: `select (select count(*) from {schema}.payers where phone = '254712345678')
			+ (select count(*) from {schema}.usernames where username = 'amina.home')`,
	} {
		var left int
		err := views.Platform(t.Context(), func(r *postgres.Reads) {
			postgres.CollectOne(r, &left, pgx.RowTo[int], views.SQL(name, sql))
		})
		if err != nil || left != 0 {
			t.Errorf("%s: %d left, %v", name, left, err)
		}
	}
}
