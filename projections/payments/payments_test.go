package paymentsviews_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed/feedtest"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
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
	r.Register(paymentsviews.Payments{}, paymentsviews.Receipts{}, paymentsviews.Gateways{}, paymentsviews.Matching{})
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
	} {
		if err := r.Views().WaitFor(t.Context(), name, last); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	return r.Views()
}

func TestMatching_RulesInTheirOrder(t *testing.T) {
	t.Parallel()
	q := paymentsviews.MatchingQuery{Views: told(t, payersStory())}
	shared := id.Organization{}
	for name, c := range map[string]struct {
		org       id.Organization
		ref       string
		phone     string
		want      id.Subscriber
		by        string
		ambiguous bool
	}{
		"invoice number":                     {shared, "ACME-0007", "", amina, "invoice_number", false},
		"invoice number as people type it":   {shared, " acme 0007", "", amina, "invoice_number", false},
		"invoice number without zeros":       {shared, "acme 7", "", amina, "invoice_number", false},
		"voided invoice":                     {shared, "OTH-0001", "", id.Subscriber{}, "", false},
		"bare sequence":                      {shared, "0007", "", id.Subscriber{}, "", false},
		"account number":                     {shared, "1000 0008", "", amina, "account_number", false},
		"prefix and account number":          {shared, "ACME 10000008", "", amina, "prefixed_account", false},
		"another's prefix":                   {shared, "OTH 10000008", "", id.Subscriber{}, "", false},
		"a prefix given up":                  {shared, "AC 10000024", "", id.Subscriber{}, "", false},
		"account kept in dollars":            {shared, "10000032", "", id.Subscriber{}, "", false},
		"phone":                              {shared, "0712345678", "", amina, "phone", false},
		"phone of two tenants":               {shared, "0733333333", "", id.Subscriber{}, "", true},
		"phone of two tenants, own paybill":  {acme, "0733333333", "", brian, "phone", false},
		"corrected phone":                    {shared, "0722222222", "", id.Subscriber{}, "", false},
		"username":                           {shared, "amina.home", "", amina, "username", false},
		"username of two tenants":            {shared, "SHOP", "", id.Subscriber{}, "", true},
		"username on an own paybill":         {other, "shop", "", chege, "username", false},
		"account of another, on own paybill": {other, "10000008", "", id.Subscriber{}, "", false},
		"payer's own phone last":             {shared, "rent", "254712345678", amina, "payer_phone", false},
		"what was typed beats who typed":     {acme, "shop", "254712345678", brian, "username", false},
		"masked payer":                       {shared, "rent", "2547*****678", id.Subscriber{}, "", false},
		"nothing":                            {shared, "", "", id.Subscriber{}, "", false},
		"too long":                           {shared, string(make([]byte, 200)), "", id.Subscriber{}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := q.Find(t.Context(), paymentsviews.Reference{
				OrgID: c.org, BillRef: c.ref, Phone: c.phone, Currency: money.KES,
			})
			if err != nil {
				t.Fatal(err)
			}
			var got id.Subscriber
			by := ""
			if found.Payer != nil {
				got, by = found.Payer.SubscriberID, found.Payer.By
			}
			if got != c.want || by != c.by || found.Ambiguous != c.ambiguous {
				t.Errorf("want %v by %q (ambiguous %v), have %v by %q (%v)", c.want, c.by, c.ambiguous, got, by,
					found.Ambiguous)
			}
		})
	}
}

func TestSuggestions_StayWithinTheOrganization(t *testing.T) {
	t.Parallel()
	q := paymentsviews.MatchingQuery{Views: told(t, payersStory())}
	list, err := q.Suggest(t.Context(), paymentsviews.Reference{
		OrgID: acme, BillRef: "1000001", Phone: "254712345678", Currency: money.KES,
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []id.Subscriber
	for _, p := range list[0] {
		got = append(got, p.SubscriberID)
	}
	if len(got) == 0 || got[0] != amina || slices.Contains(got, chege) {
		t.Errorf("suggestions %v", list)
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
			p, conflict, err := q.AttemptOf(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if got := p != nil && p.ID == payment(c.want); got != (c.want != "") || conflict != c.conflict {
				t.Errorf("attempt %v, conflict %v", p, conflict)
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

func TestAttemptOf_ReferenceNeedsAmountShortcodeAndTime(t *testing.T) {
	t.Parallel()
	q := paymentsviews.PaymentsQuery{Views: told(t, referenced())}
	ref := "pk7m 2q9x 4rtw"
	base := paymentsviews.ReceiptRow{
		Channel: "c2b", BillRef: &ref, Shortcode: "600100", AmountMinor: 150000, Currency: money.KES, PaidAt: began,
	}
	for name, c := range map[string]struct {
		change   func(*paymentsviews.ReceiptRow)
		conflict bool
	}{
		"equal": {func(*paymentsviews.ReceiptRow) {}, false},
		"after two days": {
			func(r *paymentsviews.ReceiptRow) { r.PaidAt = began.Add(48*time.Hour - time.Second) }, false,
		},
		"too late": {
			func(r *paymentsviews.ReceiptRow) { r.PaidAt = began.Add(48*time.Hour + time.Second) }, true,
		},
		"clocks differ":     {func(r *paymentsviews.ReceiptRow) { r.PaidAt = began.Add(-59 * time.Second) }, false},
		"too early":         {func(r *paymentsviews.ReceiptRow) { r.PaidAt = began.Add(-61 * time.Second) }, true},
		"another amount":    {func(r *paymentsviews.ReceiptRow) { r.AmountMinor++ }, true},
		"another shortcode": {func(r *paymentsviews.ReceiptRow) { r.Shortcode = "600777" }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := base
			c.change(&r)
			p, conflict, err := q.AttemptOf(t.Context(), r)
			if err != nil || p == nil || conflict != c.conflict {
				t.Errorf("attempt %v, conflict %v, %v", p, conflict, err)
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

func TestReceipts_NobodysMoneyIsThePlatformsToSee(t *testing.T) {
	t.Parallel()
	q := paymentsviews.ReceiptsQuery{Views: told(t, paymentsStory())}
	unowned, err := q.Unowned(t.Context(), paymentsviews.ReceiptKey{}, 100)
	if err != nil || len(unowned) != 1 || unowned[0].ID != receipt("N") {
		t.Errorf("unowned %v, %v", unowned, err)
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
		receipt("M"): {{ReceiptID: receipt("M"), InvoiceID: invoice, AmountMinor: 100000}},
	}
	if diff := cmp.Diff(want, pays); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if hidden, err := q.Allocations(t.Context(), other, []id.Receipt{receipt("M")}); err != nil || len(hidden) != 0 {
		t.Errorf("another organization sees %v, %v", hidden, err)
	}
	if count, err := q.Attention(t.Context()); err != nil || count.Suspense < 2 || count.Disputed < 1 {
		t.Errorf("attention %+v, %v", count, err)
	}
	suspense, err := q.List(t.Context(), acme, paymentsviews.ReceiptFilter{State: "suspense"},
		paymentsviews.ReceiptKey{}, 100)
	if err != nil || len(suspense) != 1 || suspense[0].ID != receipt("D") {
		t.Errorf("suspense %v, %v", suspense, err)
	}
}

func TestShortcode_IsWhoeverRegisteredItLast(t *testing.T) {
	t.Parallel()
	q := paymentsviews.GatewaysQuery{Views: told(t, gatewayStory())}
	row, err := q.Shortcode(t.Context(), "600777")
	if err != nil || row == nil || row.OrgID != other || !row.Active {
		t.Errorf("shortcode %v, %v", row, err)
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
