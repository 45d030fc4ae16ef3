package billingapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/moneytest"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/billing"
)

// The report of collections and its parts, as a client reads them.
type (
	// ShownSides is embedded in the others, so its name has to be seen by what compares them.
	ShownSides struct {
		Total, Received, TakenBack json.Number
	}
	shownChannel struct {
		Channel string
		ShownSides
		Count int64
	}
	shownStaff struct {
		UserID string
		Name   *string
		ShownSides
		Count int64
	}
	shownDay struct {
		Date string
		ShownSides
		Channels []shownChannel
		Staff    []shownStaff
	}
	shownCollections struct {
		From, To, Currency string
		ShownSides
		Days     []shownDay
		Channels []shownChannel
		Staff    []shownStaff
		Suspense struct {
			Amount json.Number
			Count  int64
		}
	}
)

// collections reads the report once its read model shows the whole log.
func (k *moneyKit) collections(t *testing.T, query string) (out shownCollections) {
	t.Helper()
	k.Shows(t, billingviews.CollectionsName)
	a := k.Do(t, apitest.Request{Path: "/reports/collections" + query, As: apitest.Support})
	if a.Status != http.StatusOK {
		t.Fatalf("report %s: %d %s", query, a.Status, a.Body)
	}
	a.Into(t, &out)
	return out
}

// localToday is the date of Clock in Nairobi, the organization's zone.
func (k *moneyKit) localToday(t *testing.T) calendar.Date {
	t.Helper()
	zone, err := time.LoadLocation("Africa/Nairobi")
	if err != nil {
		t.Fatal(err)
	}
	return calendar.On(k.Clock.Now(), zone)
}

// statementCredits sums the credits of the subscribers' statements, in minor units.
func (k *moneyKit) statementCredits(t *testing.T, who ...id.Subscriber) (minor int64) {
	t.Helper()
	k.Shows(t, billingviews.StatementName)
	for _, s := range who {
		lines, err := billingviews.StatementQuery{Views: k.Views}.Lines(t.Context(), k.Org, s,
			billingviews.StatementKey{}, 1000)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range lines {
			minor += l.CreditMinor
		}
	}
	return minor
}

// cash records money taken by hand and gives the receipt's id.
func (k *moneyKit) cash(t *testing.T, who id.Subscriber, amount float64, reference string) string {
	t.Helper()
	var p moneytest.ShownPayment
	k.Post(t, apitest.Acme, apitest.Admin, "/payments/cash",
		map[string]any{"subscriberId": who, "amount": amount, "reference": reference}, 201).Into(t, &p)
	return *p.ReceiptID
}

// unplaced has somebody pay to the platform's shortcode for an account that nobody has. The platform gives the money to
// the organization, in whose suspense it stays. It gives the receipt and its number.
func (k *moneyKit) unplaced(t *testing.T, shillings int64) (id.Receipt, string) {
	t.Helper()
	r := k.Paybill(t, moneytest.PlatformShortcode, "254733000000", "10000", shillings)
	receipt := commands.ReceiptID(commands.EnvironmentSandbox, r.ReceiptNumber)
	k.Post(t, apitest.Domain, apitest.Super, "/receipts/"+receipt.String()+"/assign",
		map[string]any{"orgId": k.Org}, 200)
	return receipt, r.ReceiptNumber
}

// expectTable compares the report as a table. Its amounts add up to what statements credit, and with what is in
// suspense to all that came in.
func (k *moneyKit) expectTable(t *testing.T, query, want string) {
	t.Helper()
	a := k.Do(t, apitest.Request{Path: "/reports/collections" + query + "&format=csv", As: apitest.Support})
	if diff := cmp.Diff(want, string(a.Body)); diff != "" || a.Status != http.StatusOK {
		t.Errorf("table: %d (-want +got):\n%s", a.Status, diff)
	}
}

// expectNothingElsewhere reads the report of the other organization, which was paid nothing since a day before today.
func (k *moneyKit) expectNothingElsewhere(t *testing.T, since calendar.Date) {
	t.Helper()
	var shown shownCollections
	if other := k.Do(t, apitest.Request{Path: "/reports/collections?from=" + since.String(), Host: apitest.Other,
		As: apitest.OtherAdmin}); other.Status != 200 {
		t.Errorf("another tenant: %d", other.Status)
	} else if other.Into(t, &shown); shown.Total != "0.00" || len(shown.Days) != 2 ||
		len(shown.Channels)+len(shown.Staff) != 0 || shown.Suspense.Amount != "0.00" || shown.Suspense.Count != 0 {
		t.Errorf("another tenant sees %+v", shown)
	}
}

// cameOnTwoDays is the report of TestCollections_SumUpWhatStatementsCredit without what waits in suspense.
func cameOnTwoDays(jane id.User, first, second calendar.Date) shownCollections {
	name := "Jane Doe"
	hands := func(of ShownSides, count int64) []shownStaff {
		return []shownStaff{{UserID: jane.String(), Name: &name, ShownSides: of, Count: count}}
	}
	mobile, cash := ShownSides{"20.00", "20.00", "0.00"}, ShownSides{"150.50", "150.50", "0.00"}
	back, both := ShownSides{"-93.50", "14.00", "107.50"}, ShownSides{"57.00", "164.50", "107.50"}
	return shownCollections{
		From: first.String(), To: second.String(), Currency: "KES",
		ShownSides: ShownSides{"77.00", "184.50", "107.50"}, Days: []shownDay{
			{
				Date: first.String(), ShownSides: ShownSides{"170.50", "170.50", "0.00"},
				Channels: []shownChannel{{"c2b", mobile, 1}, {"cash", cash, 2}}, Staff: hands(cash, 2),
			},
			{
				Date: second.String(), ShownSides: back, Channels: []shownChannel{{"cash", back, 0}},
				Staff: hands(back, 0),
			},
		},
		Channels: []shownChannel{{"c2b", mobile, 1}, {"cash", both, 2}}, Staff: hands(both, 2),
	}
}

func TestCollections_SumUpWhatStatementsCredit(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	jane := k.Named(t, apitest.Admin, "Jane")
	k.Neighbour(t)
	first := k.localToday(t)
	wrong := k.cash(t, k.Amina, 100.5, "Book 1")
	// read after write, without a wait
	today := k.Do(t, apitest.Request{Path: "/reports/collections", As: apitest.Support})
	if today.Status != 200 || len(today.Body) == 0 {
		t.Fatalf("report: %d %s", today.Status, today.Body)
	}
	var at shownCollections
	if today.Into(t, &at); at.Total != "100.50" || at.From != first.String() || at.To != first.String() {
		t.Errorf("right after the payment: %+v", at)
	}
	k.cash(t, k.Chege, 50, "Book 2")
	k.Paybill(t, moneytest.PlatformShortcode, "254733000000", commands.AccountNumber(1_000_000), 20)
	k.unplaced(t, 30)
	k.Clock.Advance(24 * time.Hour)
	second := k.localToday(t)
	k.Post(t, apitest.Acme, apitest.Admin, "/receipts/"+wrong+"/reverse", map[string]any{"reason": "not paid"}, 200)
	moved := k.cash(t, k.Amina, 7, "Book 3")
	k.Post(t, apitest.Acme, apitest.Admin, "/receipts/"+moved+"/reattribute",
		map[string]any{"subscriberId": k.Chege, "reason": "hers"}, 200)
	k.Quiet(t)
	want := cameOnTwoDays(jane, first, second)
	want.Suspense.Amount, want.Suspense.Count = "30.00", 1
	days := fmt.Sprintf("?from=%s&to=%s", first, second)
	got := k.collections(t, days)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	if sum := k.statementCredits(t, k.Amina, k.Chege); got.Total != json.Number(fmt.Sprintf("%.2f", float64(sum)/100)) {
		t.Errorf("the report says %s, statements credit %d", got.Total, sum)
	}
	k.expectTable(t, days, fmt.Sprintf("date,channel,userId,name,amount,currency,count,suspense,suspenseCount,"+
		"received,takenBack\r\n%[1]s,c2b,,,20.00,KES,1,0.00,0,20.00,0.00\r\n"+
		"%[1]s,cash,%[3]s,Jane Doe,150.50,KES,2,0.00,0,150.50,0.00\r\n"+
		"%[2]s,cash,%[3]s,Jane Doe,-93.50,KES,0,0.00,0,14.00,107.50\r\n"+
		"%[1]s,c2b,,,0.00,KES,0,30.00,1,0.00,0.00\r\n", first, second, jane))
	if one := k.collections(t, "?to="+first.String()); len(one.Days) != 1 || one.From != first.String() ||
		one.Total != "170.50" {
		t.Errorf("the first day alone is %+v", one)
	}
	k.expectNothingElsewhere(t, first)
}

func TestCollections_DaysMustMakeSense(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	for query, w := range map[string]apitest.Want{
		"from=yesterday": apitest.Is(422, "invalid_input"), "from=2026-02-30": apitest.Is(422, "invalid_input"),
		"from=2026-03-02&to=2026-03-01": apitest.Is(422, "invalid_input"),
		"from=2024-01-01&to=2024-12-31": apitest.Is(200, ""),
		"from=2023-01-01&to=2024-01-02": apitest.Is(422, "invalid_input"),
		"from=0001-01-01":               apitest.Is(422, "invalid_input"), "to=9999-12-31": apitest.Is(200, ""),
		"from=2026-03-01&from=2026-03-01": apitest.Is(422, "invalid_input"),
		"from=9999-12-31":                 apitest.Is(422, "invalid_input"),
	} {
		apitest.Sends(t, k.Kit.Kit, query, apitest.Request{Path: "/reports/collections?" + query, As: apitest.Support},
			w)
	}
	empty := k.Do(t, apitest.Request{Path: "/reports/collections", As: apitest.Support})
	var raw struct {
		Days []struct{ Channels, Staff []any }
	}
	if empty.Into(t, &raw); len(raw.Days) != 1 || raw.Days[0].Channels == nil || raw.Days[0].Staff == nil {
		t.Errorf("a day without money is %s", empty.Body)
	}
}
