package billingapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/projections/billing"
)

// invoiceBody has the fields of an invoice that the tests compare.
type invoiceBody struct {
	ID      string      `json:"id"`
	Number  string      `json:"number"`
	State   string      `json:"state"`
	Total   json.Number `json:"total"`
	Paid    json.Number `json:"paid"`
	Noted   json.Number `json:"credited"`
	Lost    json.Number `json:"writtenOff"`
	Due     json.Number `json:"due"`
	DueDate string      `json:"dueDate"`
	Overdue bool        `json:"overdue"`
	Lines   []struct {
		Description string      `json:"description"`
		Net         json.Number `json:"net"`
	} `json:"lines"`
	Taxes []struct {
		Name   string      `json:"name"`
		Rate   json.Number `json:"rate"`
		Amount json.Number `json:"amount"`
	} `json:"taxes"`
	Allocations []struct {
		ReceiptID id.Receipt  `json:"receiptId"`
		Amount    json.Number `json:"amount"`
	} `json:"allocations"`
	CreditNotes []struct {
		Number string      `json:"number"`
		Amount json.Number `json:"amount"`
	} `json:"creditNotes"`
}

// newInvoice is the body of POST /invoices for one line of 1.5 pieces at a price in shillings.
func newInvoice(subscriber id.Subscriber, price int) string {
	return fmt.Sprintf(`{"subscriberId": %q, "lines": [{"description": "Router", "quantity": 1.5, "unitPrice": %d}]}`,
		subscriber, price)
}

// invoice makes an invoice for Amina; unless it is issued in time the test ends.
func (k *billingKit) invoice(t *testing.T, price int) invoiceBody {
	t.Helper()
	a := k.Do(t, apitest.Request{
		Method: "POST", Path: "/invoices", As: apitest.Admin, Body: newInvoice(k.amina, price),
	})
	if a.Status != 201 {
		t.Fatalf("POST /invoices: %d %s", a.Status, a.Body)
	}
	var out invoiceBody
	a.Into(t, &out)
	return out
}

// get reads an invoice as the support user.
func (k *billingKit) get(t *testing.T, invoice string) invoiceBody {
	t.Helper()
	a := k.Do(t, apitest.Request{Path: "/invoices/" + invoice, As: apitest.Support})
	if a.Status != 200 {
		t.Fatalf("GET /invoices/%s: %d %s", invoice, a.Status, a.Body)
	}
	var out invoiceBody
	a.Into(t, &out)
	return out
}

func TestInvoices_MadeByHandIsNumberedIssuedAndPaid(t *testing.T) {
	t.Parallel()
	k := newBillingKit(t, true)
	made := k.invoice(t, 1160)
	if made.Number != "ISP0-0001" || made.State != "issued" || made.Total != "1740.00" || made.Due != "1740.00" ||
		made.DueDate != "2026-03-10" {
		t.Errorf("made %+v", made)
	}
	if made.Taxes[0].Rate != "16" || made.Taxes[0].Amount != "240.00" || made.Lines[0].Net != "1500.00" {
		t.Errorf("taxes %+v, lines %+v", made.Taxes, made.Lines)
	}
	k.pay(t, 40000)
	if now := k.get(t, made.ID); now.State != "partially_paid" || now.Paid != "400.00" || now.Due != "1340.00" {
		t.Errorf("after a part %+v", now)
	}
	k.pay(t, 200000)
	if now := k.get(t, made.ID); now.State != "paid" || now.Due != "0.00" || len(now.Allocations) != 2 {
		t.Errorf("after the rest %+v", now)
	}
	if second := k.invoice(t, 100); second.Number != "ISP0-0002" || second.State != "paid" { // from credit
		t.Errorf("the second is %+v", second)
	}
}

func TestInvoices_NewSubscriptionIsInvoicedAndPaidFromCredit(t *testing.T) {
	t.Parallel()
	k := newBillingKit(t, true)
	k.pay(t, 150000)
	subscription, org := id.New[id.Subscription](), k.Orgs["acme"].ID
	invoice := commands.PeriodInvoice(subscription, 1)
	k.do(t, commands.CreateSubscription{
		SubscriptionID: subscription, OrgID: org, SubscriberID: k.amina, PlanID: id.New[id.Plan](),
		PlanVersion: 1,
		Terms: events.PlanTerms{
			Name: "Home 10 Mbps", Kind: "pppoe", Price: money.Of(116000, money.KES), Mode: events.Prepaid,
			Period: calendar.Month, Rates: events.Rates{Down: 10_000, Up: 10_000},
		},
		Timezone: "Africa/Nairobi", StartsAt: k.clock.Now(), Username: personal.Of("amina"),
		PasswordRef: id.New[id.Secret](),
	}, org)
	paid, err := k.views.WaitUntil(t.Context(), billingviews.InvoicesName, func(ctx context.Context) (bool, error) {
		state, err := billingviews.InvoicesQuery{Views: k.views}.State(ctx, org, invoice)
		return state == "paid", err
	})
	if err != nil || !paid {
		t.Fatalf("the first period is not paid, %v", err)
	}
	now := k.get(t, invoice.String())
	if now.Number != "ISP0-0001" || now.Lines[0].Description != "Home 10 Mbps, 1 month" ||
		now.Lines[0].Net != "1000.00" || now.DueDate != "2026-03-03" {
		t.Errorf("it is %+v", now)
	}
}

func TestInvoices_NumbersHaveNoGapsUnderConcurrency(t *testing.T) {
	t.Parallel()
	k := newBillingKit(t, true)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			k.Do(t, apitest.Request{
				Method: "POST", Path: "/invoices", As: apitest.Admin, Body: newInvoice(k.amina, 100),
			})
		})
	}
	wg.Wait()
	last := k.invoice(t, 100) // its number comes after all others
	want := map[string]bool{}
	for n := range 9 {
		want[fmt.Sprintf("ISP0-%04d", n+1)] = true
	}
	got := map[string]bool{last.Number: true}
	var page struct{ Data []invoiceBody }
	k.Do(t, apitest.Request{Path: "/invoices", As: apitest.Support}).Into(t, &page)
	for _, i := range page.Data {
		got[i.Number] = true
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("numbers (-want +got):\n%s", diff)
	}
}

func TestInvoices_SameIdempotencyKeyMakesOne(t *testing.T) {
	t.Parallel()
	k := newBillingKit(t, true)
	r := apitest.Request{
		Method: "POST", Path: "/invoices", As: apitest.Admin, Body: newInvoice(k.amina, 100),
		Header: map[string]string{"Idempotency-Key": "one"},
	}
	first, second := k.Do(t, r), k.Do(t, r)
	if first.Status != 201 || string(first.Body) != string(second.Body) ||
		second.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("answers %d %s and %d %s", first.Status, first.Body, second.Status, second.Body)
	}
}

func TestInvoices_AnswerIsAcceptedWhileNumberingRests(t *testing.T) {
	t.Parallel()
	k := newBillingKit(t, false)
	a := k.Do(t, apitest.Request{Method: "POST", Path: "/invoices", As: apitest.Admin, Body: newInvoice(k.amina, 100)})
	var body struct{ ID, Status string }
	a.Into(t, &body)
	if a.Status != 202 || body.Status != "accepted" || k.get(t, body.ID).State != "draft" {
		t.Errorf("answer %d %s", a.Status, a.Body)
	}
}

// A program that starts later finds the draft in the log, numbers and issues it.
func TestInvoices_DraftLeftBehindIsIssuedLater(t *testing.T) {
	t.Parallel()
	k := newBillingKit(t, false)
	a := k.Do(t, apitest.Request{Method: "POST", Path: "/invoices", As: apitest.Admin, Body: newInvoice(k.amina, 100)})
	var body struct{ ID string }
	a.Into(t, &body)
	k.startProcesses(t)
	final, err := billingviews.InvoicesQuery{Views: k.views}.WaitFinal(t.Context(), k.Orgs["acme"].ID,
		id.Must[id.Invoice](body.ID))
	if err != nil || !final {
		t.Fatalf("still a draft, %v", err)
	}
	if now := k.get(t, body.ID); now.Number != "ISP0-0001" || now.State != "issued" {
		t.Errorf("it is %+v", now)
	}
}

func TestInvoices_VoidOnlyWhileUnpaid(t *testing.T) {
	t.Parallel()
	k := newBillingKit(t, true)
	void := func(invoice, body string) apitest.Answer {
		return k.Do(t, apitest.Request{
			Method: "POST", Path: "/invoices/" + invoice + "/void", As: apitest.Admin, Body: body,
		})
	}
	first, second := k.invoice(t, 1000), k.invoice(t, 1000)
	var voided invoiceBody
	void(first.ID, `{"reason": "typo"}`).Into(t, &voided)
	if voided.State != "voided" || voided.Due != "0.00" || voided.Number != first.Number {
		t.Errorf("voided %+v", voided)
	}
	if a := void(first.ID, `{}`); a.Status != 400 {
		t.Errorf("without a reason: %d %s", a.Status, a.Body)
	}
	k.pay(t, 100)
	if a := void(second.ID, `{"reason": "typo"}`); a.Status != 409 || a.Code() != "invoice_has_payments" {
		t.Errorf("after a payment: %d %s", a.Status, a.Body)
	}
}

func TestInvoices_CreditNote(t *testing.T) {
	t.Parallel()
	k := newBillingKit(t, true)
	made := k.invoice(t, 1000)
	note := func(body string) apitest.Answer {
		return k.Do(t, apitest.Request{
			Method: "POST", Path: "/invoices/" + made.ID + "/credit-note", As: apitest.Admin, Body: body,
		})
	}
	a := note(`{"amount": 500, "reason": "outage"}`)
	if a.Status != 201 || !strings.Contains(string(a.Body), `"number":"ISP0-CN-0001"`) {
		t.Fatalf("credit note: %d %s", a.Status, a.Body)
	}
	if now := k.get(t, made.ID); now.Due != "1000.00" || len(now.CreditNotes) != 1 ||
		now.CreditNotes[0].Amount != "500.00" {
		t.Errorf("invoice %+v", now)
	}
	for body, want := range map[string]string{
		`{"amount": 1000.01, "reason": "x"}`: "credit_note_too_large", `{"amount": 0, "reason": "x"}`: "invalid_input",
		`{"amount": -1, "reason": "x"}`: "invalid_input", `{"amount": 1.001, "reason": "x"}`: "invalid_input",
		`{"amount": 1}`: "missing_field",
	} {
		if a := note(body); a.Code() != want {
			t.Errorf("%s: %d %s, want %s", body, a.Status, a.Body, want)
		}
	}
}

// A credit note covers a part of an invoice, but it is no money and no receipt.
func TestInvoices_AllocationsArePaymentsAndSumToPaid(t *testing.T) {
	t.Parallel()
	k := newBillingKit(t, true)
	made := k.invoice(t, 1000)
	k.pay(t, 60000)
	a := k.Do(t, apitest.Request{
		Method: "POST", Path: "/invoices/" + made.ID + "/credit-note", As: apitest.Admin,
		Body: `{"amount": 500, "reason": "outage"}`,
	})
	if a.Status != 201 {
		t.Fatalf("credit note: %d %s", a.Status, a.Body)
	}
	now := k.get(t, made.ID)
	if now.Paid != "600.00" || now.Noted != "500.00" || now.Due != "400.00" || len(now.CreditNotes) != 1 ||
		len(now.Allocations) != 1 || now.Allocations[0].Amount != now.Paid {
		t.Errorf("invoice %+v", now)
	}
}

// A clerk finds an invoice by the number on the paper, however it is typed.
func TestInvoices_AreFoundByTheirNumber(t *testing.T) {
	t.Parallel()
	k := newBillingKit(t, true)
	made := k.invoice(t, 1000)
	k.invoice(t, 1000)
	typed := url.QueryEscape(" " + strings.ToLower(made.Number) + " ")
	for query, want := range map[string]int{typed: 1, made.Number: 1, "ISP0-9999": 0, "ISP0": 0} {
		a := k.Do(t, apitest.Request{Method: "GET", Path: "/invoices?number=" + query, As: apitest.Support})
		var got httpapi.Envelope[invoiceBody]
		a.Into(t, &got)
		if a.Status != 200 || len(got.Data) != want || want == 1 && got.Data[0].ID != made.ID {
			t.Errorf("%s: %d %s", query, a.Status, a.Body)
		}
	}
}

// A paid invoice that is given back whole is credited, not paid: its money is credit, and pays the next invoice.
func TestInvoices_GivenBackWholeIsCreditedAndNotPaid(t *testing.T) {
	t.Parallel()
	k := newBillingKit(t, true)
	made := k.invoice(t, 1000)
	k.pay(t, 150000)
	a := k.Do(t, apitest.Request{
		Method: "POST", Path: "/invoices/" + made.ID + "/credit-note", As: apitest.Admin, Body: `{"reason": "outage"}`,
	})
	if a.Status != 201 {
		t.Fatalf("credit note: %d %s", a.Status, a.Body)
	}
	now := k.get(t, made.ID)
	if now.State != "credited" || now.Paid != "0.00" || now.Noted != "1500.00" || now.Lost != "0.00" ||
		now.Due != "0.00" {
		t.Errorf("invoice %+v", now)
	}
	a = k.Do(t, apitest.Request{Method: "GET", Path: "/invoices?state=credited", As: apitest.Support})
	if a.Status != 200 || !strings.Contains(string(a.Body), made.ID) {
		t.Errorf("list: %d %s", a.Status, a.Body)
	}
	if next := k.invoice(t, 1000); next.State != "paid" || next.Paid != "1500.00" {
		t.Errorf("the next invoice is %+v", next)
	}
}

func TestInvoices_BadInput(t *testing.T) {
	t.Parallel()
	k := newBillingKit(t, false)
	line := func(quantity, price string) string {
		return fmt.Sprintf(`{"subscriberId": %q, "lines": [{"description": "x", "quantity": %s, "unitPrice": %s}]}`,
			k.amina, quantity, price)
	}
	for body, want := range map[string]int{
		``: 400, `{`: 400, `[]`: 400, `{"subscriberId": "` + k.amina.String() + `"}`: 400,
		fmt.Sprintf(`{"subscriberId": %q, "lines": []}`, k.amina):                     422,
		fmt.Sprintf(`{"subscriberId": %q, "lines": [{"description": "x"}]}`, k.amina): 400,
		fmt.Sprintf(`{"subscriberId": %q, "lines": [], "colour": 1}`, k.amina):        422,
		`{"subscriberId": "nobody", "lines": []}`:                                     422,
		newInvoice(id.New[id.Subscriber](), 100):                                      404,
		newInvoice(k.brian, 100):                                                      404, // another tenant's
		line("0", "1"):                                                                422, line("-1", "1"): 422,
		line("1e2", "1"): 422,
		line(`"x"`, "1"): 422, line("1", "1.001"): 422, line("1", "1e3"): 422, line("1", `"1"`): 422,
		line("1", "-1"):                  422, // less than nothing in sum
		line("999999999", "99999999999"): 422,
		strings.Replace(newInvoice(k.amina, 100), `{`, `{"dueDate": "2026-03-02", `, 1): 422, // yesterday in Nairobi
		strings.Replace(newInvoice(k.amina, 100), `{`, `{"dueDate": "soon", `, 1):       422,
	} {
		if a := k.Do(t, apitest.Request{Method: "POST", Path: "/invoices", As: apitest.Admin,
			Body: body}); a.Status != want {
			t.Errorf("%s: %d %s, want %d", body, a.Status, a.Body, want)
		}
	}
	for query, want := range map[string]int{
		"": 200, "?limit=0": 422, "?limit=101": 422, "?state=lost": 422, "?overdue=maybe": 422, "?subscriberId=x": 422,
		"?cursor=x": 400, "?overdue=true&state=issued&subscriberId=" + k.amina.String(): 200,
	} {
		if a := k.Do(t, apitest.Request{Path: "/invoices" + query, As: apitest.Support}); a.Status != want {
			t.Errorf("GET /invoices%s: %d %s, want %d", query, a.Status, a.Body, want)
		}
	}
}
