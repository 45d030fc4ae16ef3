package billingapi_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/moneytest"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/payments"
)

// shownCollected is a row behind a sum of collections, as a client reads it.
type shownCollected struct {
	ReceiptID, ReceiptNumber, VoucherID *string
	Subscriber                          *struct{ ID, Name, AccountNumber string }
	Side, Why, Currency                 string
	Amount                              float64
	Channel                             *string
	TakenBy                             *struct{ Name *string }
	PaidAt                              *time.Time
	At                                  time.Time
}

// text is one line: why it counts, how much, the receipt's number, the customer, the channel, and who took it.
func (r shownCollected) text() string {
	who, by := "", ""
	if r.Subscriber != nil {
		who = r.Subscriber.AccountNumber
	}
	if r.TakenBy != nil {
		by = null.Zero(r.TakenBy.Name)
	}
	return fmt.Sprintf("%s %s %.2f %s %s %s %s", r.Side, r.Why, r.Amount, null.Zero(r.ReceiptNumber), who,
		null.Zero(r.Channel), by)
}

// behind reads all rows behind a sum, two in a page.
func (k *moneyKit) behind(t *testing.T, query string) (all []shownCollected) {
	t.Helper()
	for cursor := ""; ; {
		var page struct {
			Data       []shownCollected
			NextCursor *string
		}
		a := k.Do(t, apitest.Request{
			Path: "/reports/collections/receipts" + query + "&limit=2" + cursor, As: apitest.Support,
		})
		if a.Into(t, &page); a.Status != 200 {
			t.Fatalf("%s: %d %s", query, a.Status, a.Body)
		}
		if all = append(all, page.Data...); page.NextCursor == nil {
			return all
		}
		cursor = "&cursor=" + *page.NextCursor
	}
}

// texts are the lines of rows.
func texts(rows []shownCollected) (list []string) {
	for _, r := range rows {
		list = append(list, r.text())
	}
	return list
}

// Each sum leads to the payments that it is made of: what was taken back, moved, and placed later than it came.
func TestCollections_LeadToThePaymentsBehindASum(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	jane := k.Named(t, apitest.Admin, "Jane").String()
	k.Neighbour(t)
	first := k.localToday(t)
	wrong := k.cash(t, k.Amina, 100.5, "Book 1")
	direct := k.Paybill(t, moneytest.PlatformShortcode, "254733000000", commands.AccountNumber(1_000_000), 20)
	waits, late := k.unplaced(t, 30)
	k.Clock.Advance(24 * time.Hour)
	second := k.localToday(t)
	k.Post(t, apitest.Acme, apitest.Admin, "/receipts/"+wrong+"/reverse", map[string]any{"reason": "not paid"}, 200)
	moved := k.cash(t, k.Amina, 7, "Book 3")
	k.Post(t, apitest.Acme, apitest.Admin, "/receipts/"+moved+"/reattribute",
		map[string]any{"subscriberId": k.Chege, "reason": "hers"}, 200)
	k.Post(t, apitest.Acme, apitest.Admin, "/receipts/"+waits.String()+"/attribute",
		map[string]any{"subscriberId": k.Chege}, 200)
	k.Quiet(t)
	k.Shows(t, billingviews.CollectionsName, paymentsviews.ReceiptsName)
	days := fmt.Sprintf("?from=%s&to=%s", first, second)
	amina, chege := commands.AccountNumber(1_000_000), commands.AccountNumber(1_000_009)
	paid, placed := "received paid 20.00 "+direct.ReceiptNumber+" "+amina+" c2b ",
		"received placed 30.00 "+late+" "+chege+" c2b "
	for query, want := range map[string][]string{
		days + "&side=takenBack": {
			"takenBack reattributed -7.00 Book 3 " + amina + " cash Jane Doe",
			"takenBack reversed -100.50 Book 1 " + amina + " cash Jane Doe",
		},
		days + "&channel=c2b": {placed, paid}, "?channel=c2b": {placed},
		days + "&channel=voucher": nil, days + "&takenBy=" + k.Amina.String(): nil,
		"?side=received&takenBy=" + jane: {
			"received reattributed 7.00 Book 3 " + chege + " cash Jane Doe",
			"received paid 7.00 Book 3 " + amina + " cash Jane Doe",
		},
	} {
		if diff := cmp.Diff(want, texts(k.behind(t, query))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
	if r := k.behind(t, "?channel=c2b")[0]; r.PaidAt == nil || r.At.Sub(*r.PaidAt) < 23*time.Hour ||
		null.Zero(r.ReceiptID) != waits.String() {
		t.Errorf("placed a day after it came: %+v", r)
	}
	k.expectSides(t, days)
}

// expectSides compares the sums of a report with the payments behind them, to the cent: in all, of each day, of each
// channel, and of each member of staff.
func (k *moneyKit) expectSides(t *testing.T, days string) {
	t.Helper()
	report := k.collections(t, days)
	want := map[string]ShownSides{days: report.ShownSides}
	for _, d := range report.Days {
		day := "?from=" + d.Date + "&to=" + d.Date
		want[day] = d.ShownSides
		for _, c := range d.Channels {
			want[day+"&channel="+c.Channel] = c.ShownSides
		}
	}
	for _, c := range report.Channels {
		want[days+"&channel="+c.Channel] = c.ShownSides
	}
	for _, s := range report.Staff {
		want[days+"&takenBy="+s.UserID] = s.ShownSides
	}
	for query, sum := range want {
		var total, received, takenBack float64
		for _, r := range k.behind(t, query) {
			total += r.Amount
		}
		for _, r := range k.behind(t, query+"&side=received") {
			received += r.Amount
		}
		for _, r := range k.behind(t, query+"&side=takenBack") {
			takenBack -= r.Amount
		}
		text := func(v float64) json.Number { return json.Number(fmt.Sprintf("%.2f", v+0)) }
		if diff := cmp.Diff(sum, ShownSides{text(total), text(received), text(takenBack)}); diff != "" {
			t.Errorf("%s: (-sums +rows)\n%s", query, diff)
		}
	}
}

// Who may read the report may read its rows, and nobody else; another organization has none of them.
func TestCollections_RowsAreTheOrganizationsAlone(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	k.cash(t, k.Amina, 5, "Book 1")
	const path = "/reports/collections/receipts"
	var page struct{ Data []shownCollected }
	a := k.Do(t, apitest.Request{
		Path: path + "?from=" + k.localToday(t).String(), Host: apitest.Other, As: apitest.OtherAdmin,
	})
	if a.Into(t, &page); a.Status != 200 || len(page.Data) != 0 {
		t.Errorf("another organization reads %d %s", a.Status, a.Body)
	}
	for name, c := range map[string]struct {
		as   string
		want apitest.Want
	}{
		"?":                              {apitest.Subscriber, apitest.Is(403, "role_required")},
		"?limit=1":                       {"", apitest.Is(401, "unauthenticated")},
		"?channel=sms":                   {apitest.Support, apitest.Is(422, "invalid_input")},
		"?side=left":                     {apitest.Support, apitest.Is(422, "invalid_input")},
		"?takenBy=me":                    {apitest.Support, apitest.Is(422, "invalid_input")},
		"?from=2026-03-02&to=2026-03-01": {apitest.Support, apitest.Is(422, "invalid_input")},
		"?channel=none":                  {apitest.Support, apitest.Is(200, "")},
	} {
		apitest.Sends(t, k.Kit.Kit, name, apitest.Request{Path: path + name, As: c.as}, c.want)
	}
	apitest.Sends(t, k.Kit.Kit, "the platform", apitest.Request{Path: path, Host: apitest.Domain, As: apitest.Super},
		apitest.Is(404, "not_found"))
}
