package paymentsapi_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/moneytest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/simulators/provider"
)

// staffName is a member of staff as an answer names them.
type staffName struct {
	ID   string  `json:"id"`
	Name *string `json:"name"`
}

// named has the fields of payments and receipts that name something.
type named struct {
	ID            string     `json:"id"`
	InvoiceNumber *string    `json:"invoiceNumber"`
	Phone         *string    `json:"phone"`
	By            *staffName `json:"by"`
	TakenBy       *staffName `json:"takenBy"`
	RecordedAt    time.Time  `json:"recordedAt"`
	Allocations   []struct {
		Number *string `json:"number"`
	} `json:"allocations"`
}

// rows reads a list of Acme, or of another host, as text of a path.
func (k *moneyKit) rows(t *testing.T, as, path string) []named {
	t.Helper()
	var page struct{ Data []named }
	a := k.Do(t, apitest.Request{Path: path, As: as})
	a.Into(t, &page)
	if a.Status != http.StatusOK {
		t.Fatalf("%s: %d %s", path, a.Status, a.Body)
	}
	return page.Data
}

// TestPayments_StaffSeesWhichPhoneWasAskedAndByWhom: a customer, whose money may have been asked from the phone of
// somebody else, sees neither.
func TestPayments_StaffSeesWhichPhoneWasAskedAndByWhom(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	k.behave(t, "pay", provider.Faults{})
	admin := k.Named(t, apitest.Admin, "Wanjiku").String()
	ask := map[string]any{"subscriberId": k.Amina, "amount": 10, "phone": "0722000111"}
	k.Post(t, apitest.Acme, apitest.Admin, "/payments/initiate", ask, 202)
	k.Post(t, apitest.Acme, apitest.Subscriber, "/payments/initiate",
		map[string]any{"subscriberId": k.Amina, "amount": 20}, 202)
	k.Post(t, apitest.Acme, apitest.Admin, "/payments/cash",
		map[string]any{"subscriberId": k.Amina, "amount": 30, "reference": "Book 17/3"}, 201)
	k.Quiet(t)
	by := &staffName{ID: admin, Name: new("Wanjiku Doe")}
	var got []named
	for _, p := range k.rows(t, apitest.Support, "/payments") {
		got = append(got, named{Phone: p.Phone, By: p.By})
	}
	if diff := cmp.Diff([]named{
		{By: by}, {Phone: new("254712345678")}, {Phone: new("254722000111"), By: by},
	}, got); diff != "" {
		t.Error(diff)
	}
	for _, p := range k.rows(t, apitest.Subscriber, "/payments") {
		if p.Phone != nil || p.By != nil {
			t.Errorf("a customer sees %+v", p)
		}
	}
}

// TestReceipts_AreFoundByChannelAndByWhoTookTheCash: the sums of collections lead to the rows that they are made of.
func TestReceipts_AreFoundByChannelAndByWhoTookTheCash(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	admin := k.Named(t, apitest.Admin, "Wanjiku").String()
	k.Paybill(t, moneytest.PlatformShortcode, "254712345678", commands.AccountNumber(1_000_000), 400)
	k.Post(t, apitest.Acme, apitest.Admin, "/payments/cash",
		map[string]any{"subscriberId": k.Amina, "amount": 30, "reference": "Book 17/3"}, 201)
	k.Quiet(t)
	for query, want := range map[string]int{
		"": 2, "?channel=cash": 1, "?channel=c2b": 1, "?channel=stk": 0, "?takenBy=" + admin: 1,
		"?takenBy=" + k.Amina.String(): 0, "?channel=c2b&takenBy=" + admin: 0,
	} {
		if rows := k.rows(t, apitest.Support, "/receipts"+query); len(rows) != want {
			t.Errorf("%s: %d receipts", query, len(rows))
		}
	}
	cash := k.rows(t, apitest.Support, "/receipts?channel=cash")[0]
	if diff := cmp.Diff(&staffName{ID: admin, Name: new("Wanjiku Doe")}, cash.TakenBy); diff != "" {
		t.Error(diff)
	}
	for _, query := range []string{"?channel=voucher", "?takenBy=me", "?sort=amount"} {
		if a := k.Do(t, apitest.Request{Path: "/receipts" + query, As: apitest.Support}); a.Status != 422 {
			t.Errorf("%s: %d", query, a.Status)
		}
	}
	var page struct{ Data []named }
	k.Do(t, apitest.Request{Host: apitest.Other, Path: "/receipts?takenBy=" + admin, As: apitest.OtherAdmin}).
		Into(t, &page)
	if len(page.Data) != 0 {
		t.Errorf("another organization finds %+v", page.Data)
	}
}

// TestAllocations_HaveTheNumberOfTheInvoice: nobody has to read each invoice that a payment pays.
func TestAllocations_HaveTheNumberOfTheInvoice(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	k.owes(t)
	list, err := billingviews.InvoicesQuery{Views: k.Views}.List(t.Context(), k.Org, billingviews.InvoiceFilter{},
		billingviews.InvoiceKey{}, 2)
	if err != nil || len(list) != 1 || list[0].Number == "" {
		t.Fatalf("invoices %+v, %v", list, err)
	}
	k.Post(t, apitest.Acme, apitest.Admin, "/payments/cash",
		map[string]any{"subscriberId": k.Amina, "amount": 30, "reference": "Book 17/3", "invoiceId": list[0].ID}, 201)
	k.Quiet(t)
	number := &list[0].Number
	receipt, payment := k.rows(t, apitest.Support, "/receipts")[0], k.rows(t, apitest.Support, "/payments")[0]
	if len(receipt.Allocations) != 1 || cmp.Diff(number, receipt.Allocations[0].Number) != "" {
		t.Errorf("receipt %+v", receipt)
	}
	if diff := cmp.Diff(number, payment.InvoiceNumber); diff != "" {
		t.Error(diff)
	}
	others, err := billingviews.InvoicesQuery{Views: k.Views}.Numbers(t.Context(), k.Orgs["other"].ID,
		[]id.Invoice{list[0].ID})
	if err != nil || len(others) != 0 {
		t.Errorf("another organization reads %v, %v", others, err)
	}
}

// TestSuspense_SumsWhatItsListHas: the report has the count and the sum of the list, of each host its own, and the list
// can begin with the oldest.
func TestSuspense_SumsWhatItsListHas(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	type sum struct {
		Currency string  `json:"currency"`
		Amount   float64 `json:"amount"`
		Count    int     `json:"count"`
	}
	type report struct {
		Count    int        `json:"count"`
		Sums     []sum      `json:"sums"`
		OldestAt *time.Time `json:"oldestAt"`
	}
	read := func(host, as string) (r report) {
		t.Helper()
		a := k.Do(t, apitest.Request{Host: host, Path: "/reports/suspense", As: as})
		if a.Into(t, &r); a.Status != http.StatusOK {
			t.Fatalf("%s: %d %s", host, a.Status, a.Body)
		}
		return r
	}
	if diff := cmp.Diff(report{Sums: []sum{}}, read(apitest.Acme, apitest.Support)); diff != "" {
		t.Error(diff)
	}
	for _, amount := range []int64{250, 50} {
		r := k.Paybill(t, moneytest.PlatformShortcode, "254733000000", "10000", amount)
		k.Post(t, apitest.Domain, apitest.Super, "/receipts/"+
			commands.ReceiptID(commands.EnvironmentSandbox, r.ReceiptNumber).String()+"/assign",
			map[string]any{"orgId": k.Org}, 200)
		k.Clock.Advance(time.Minute)
	}
	k.Paybill(t, moneytest.PlatformShortcode, "254733000000", "10001", 7)
	k.Quiet(t)
	oldest := k.rows(t, apitest.Support, "/receipts?state=suspense&sort=oldest")
	newest := k.rows(t, apitest.Support, "/receipts?state=suspense")
	if len(oldest) != 2 || len(newest) != 2 || oldest[0].ID != newest[1].ID || oldest[1].ID != newest[0].ID ||
		oldest[1].RecordedAt.Before(oldest[0].RecordedAt) {
		t.Fatalf("oldest %+v, newest %+v", oldest, newest)
	}
	if diff := cmp.Diff(report{
		Count: 2, Sums: []sum{{"KES", 300, 2}}, OldestAt: &oldest[0].RecordedAt,
	}, read(apitest.Acme, apitest.Support)); diff != "" {
		t.Error(diff)
	}
	if r := read(apitest.Domain, apitest.Super); r.Count != 1 || r.Sums[0].Amount != 7 {
		t.Errorf("the platform's: %+v", r)
	}
	if r := read(apitest.Other, apitest.OtherAdmin); r.Count != 0 {
		t.Errorf("another organization sees %+v", r)
	}
	if a := k.Do(t, apitest.Request{Path: "/reports/suspense", As: apitest.Subscriber}); a.Status != 403 {
		t.Errorf("a customer: %d", a.Status)
	}
}
