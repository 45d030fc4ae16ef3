package documentsapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases/documents"
)

// invoiceBody has the fields of an invoice that are compared with its document.
type invoiceBody struct {
	ID     id.Invoice  `json:"id"`
	Number string      `json:"number"`
	Total  json.Number `json:"total"`
	Paid   json.Number `json:"paid"`
	Noted  json.Number `json:"credited"`
	Due    json.Number `json:"due"`
	Taxes  []struct {
		Amount json.Number `json:"amount"`
	} `json:"taxes"`
	CreditNotes []struct {
		ID     id.Receipt `json:"id"`
		Number string     `json:"number"`
	} `json:"creditNotes"`
}

// post sends a body as the administrator; another status than 200 and 201 ends the test.
func (k *documentsKit) post(t *testing.T, path, body string) apitest.Answer {
	t.Helper()
	a := k.Do(t, apitest.Request{Method: "POST", Path: path, As: apitest.Admin, Body: body})
	if a.Status != 200 && a.Status != 201 {
		t.Fatalf("POST %s: %d %s", path, a.Status, a.Body)
	}
	return a
}

// invoice makes an invoice for Amina.
func (k *documentsKit) invoice(t *testing.T, description string, price int) (out invoiceBody) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"subscriberId": k.amina, "lines": []map[string]any{
		{"description": description, "quantity": 1.5, "unitPrice": price},
	}})
	if err != nil {
		t.Fatal(err)
	}
	k.post(t, "/invoices", string(body)).Into(t, &out)
	return out
}

// read gives an invoice as the support user sees it.
func (k *documentsKit) read(t *testing.T, invoice id.Invoice) (out invoiceBody) {
	t.Helper()
	k.Do(t, apitest.Request{Path: "/invoices/" + invoice.String(), As: apitest.Support}).Into(t, &out)
	return out
}

// kes writes an amount of the API as documents do, with a sign before it for what is taken off.
func kes(sign string, n json.Number) string {
	digits, cents, _ := strings.Cut(n.String(), ".")
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return "KES " + sign + digits + "." + cents
}

func TestInvoicePDF_HasTheAmountsOfTheAPI(t *testing.T) {
	t.Parallel()
	k := newDocumentsKit(t)
	made := k.invoice(t, "Router", 1160)
	k.pay(t, 40000, "Book 7 page 12")
	k.post(t, "/invoices/"+made.ID.String()+"/credit-note", `{"amount": 100, "reason": "too slow"}`)
	i := k.read(t, made.ID)
	got := k.document(t, "/invoices/"+made.ID.String()+"/pdf")
	expects(t, got, []string{"The acme", "Invoice"}, []string{"Tax PIN: P05100000A", i.Number},
		[]string{"Somebody Wanjiru", "Due: 10 March 2026"}, []string{"Account number: 10000008"},
		[]string{"Tax PIN: A012345678Z"}, []string{"Plot 7"}, []string{"Ngong Road"},
		[]string{"Router", "1.5", "1,160.00", "240.00", "1,740.00"},
		[]string{"Net", "KES 1,500.00"}, []string{"VAT 16 %", kes("", i.Taxes[0].Amount)},
		[]string{"Total", kes("", i.Total)}, []string{"Paid", kes("-", i.Paid)},
		[]string{"Credited", kes("-", i.Noted)},
		[]string{"Due", kes("", i.Due)}, []string{"3 March 2026", "Payment Book 7 page 12", "-400.00"},
		[]string{"3 March 2026", "Credit note " + i.CreditNotes[0].Number, "-100.00"},
		[]string{"Pay to the paybill 600100 with the account " + i.Number + "."}, []string{"Page 1 of 1"})
	if i.Due != "1240.00" {
		t.Errorf("due is %s", i.Due)
	}
}

func TestInvoicePDF_IsAFileOfItsNumberForThoseWhoMayReadTheInvoice(t *testing.T) {
	t.Parallel()
	k := newDocumentsKit(t)
	path := "/invoices/" + k.invoice(t, "Router", 1160).ID.String() + "/pdf"
	first := k.Do(t, apitest.Request{Path: path, As: apitest.Support})
	if first.Header.Get("Content-Disposition") != `attachment; filename="invoice-ISP0-0001.pdf"` ||
		first.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("headers %v", first.Header)
	}
	k.clock.Advance(time.Hour)
	if again := k.Do(t, apitest.Request{Path: path, As: apitest.Admin}); !bytes.Equal(first.Body, again.Body) {
		t.Error("the same invoice has other bytes an hour later")
	}
	apitest.Sends(t, k.Kit, "another tenant", apitest.Request{Host: apitest.Other, Path: path, As: apitest.OtherAdmin},
		apitest.Is(404, "invoice_not_found"))
	apitest.Sends(t, k.Kit, "another customer", apitest.Request{Path: path, As: apitest.Subscriber},
		apitest.Is(404, "invoice_not_found"))
	k.CustomerSees(k.amina)
	if own := k.Do(t, apitest.Request{Path: path, As: apitest.Subscriber}); !bytes.Equal(first.Body, own.Body) {
		t.Errorf("the customer gets %d", own.Status)
	}
	apitest.Sends(t, k.Kit, "no sign-in", apitest.Request{Path: path}, apitest.Is(401, "unauthenticated"))
	apitest.Sends(t, k.Kit, "no id", apitest.Request{Path: "/invoices/x/pdf", As: apitest.Support},
		apitest.Is(404, "invoice_not_found"))
}

func TestInvoicePDF_KeepsTheNameAndThePinOfItsIssue(t *testing.T) {
	t.Parallel()
	k := newDocumentsKit(t)
	before := k.invoice(t, "Router", 1160)
	k.clock.Advance(time.Minute)
	settings := coretestBilling()
	settings.TaxPIN, settings.Timezone = "P999", "UTC"
	k.do(t, k.org, commands.AdoptBillingSettings{OrgID: k.org, Billing: settings})
	k.do(t, k.org, commands.RenameOrganization{OrgID: k.org, Name: "Acme Networks"})
	k.clock.Advance(time.Minute)
	after := k.invoice(t, "Router", 1160)
	expects(t, k.document(t, "/invoices/"+before.ID.String()+"/pdf"), []string{"The acme", "Invoice"},
		[]string{"Tax PIN: P05100000A", before.Number}, []string{"Issued: 3 March 2026"})
	expects(t, k.document(t, "/invoices/"+after.ID.String()+"/pdf"), []string{"Acme Networks", "Invoice"},
		[]string{"Tax PIN: P999", after.Number}, []string{"Issued: 2 March 2026"})
}

// coretestBilling are the settings that the kit gives to Acme.
func coretestBilling() events.BillingSettings {
	return events.BillingSettings{
		Timezone: "Africa/Nairobi", Currency: money.KES, Country: "KE", InvoicePrefix: "ISP0", TaxPIN: "P05100000A",
		Tax: events.TaxRule{Inclusive: true, Components: []events.TaxComponent{{Name: "VAT", BasisPoints: 1600}}},
	}
}

func TestInvoicePDF_AVoidedOneSaysSoAndAsksForNothing(t *testing.T) {
	t.Parallel()
	k := newDocumentsKit(t)
	voided := k.invoice(t, "Router", 1160)
	path := "/invoices/" + voided.ID.String()
	k.post(t, path+"/void", `{"reason": "made twice"}`)
	got := k.document(t, path+"/pdf")
	expects(t, got, []string{"VOIDED"}, []string{"Total", "KES 1,740.00"})
	if text := got.Text(); strings.Contains(text, "How to pay") || strings.Contains(text, "Due") ||
		!strings.Contains(text, "Reason: made twice") {
		t.Errorf("a voided invoice asks for money:\n%s", text)
	}
}

func TestInvoicePDF_ADraftHasNone(t *testing.T) {
	t.Parallel()
	k := newDraftsKit(t)
	draft := id.New[id.Invoice]()
	k.do(t, k.org, commands.DraftInvoice{
		SubscriberID: k.amina, OrgID: k.org, InvoiceID: draft, Currency: money.KES, Prefix: "ISP0",
		DueOn: calendar.On(k.clock.Now(), time.UTC), Lines: []commands.LineInput{{
			Description: "Router", Quantity: "1", UnitPrice: money.Of(100, money.KES),
		}},
	})
	a := k.Do(t, apitest.Request{Path: "/invoices/" + draft.String() + "/pdf", As: apitest.Support})
	if a.Code() != "document_not_issued" || a.Status != 409 {
		t.Errorf("a draft: %d %.200s", a.Status, a.Body)
	}
}

func TestInvoicePDF_NamesOfAllKindsAreDrawn(t *testing.T) {
	t.Parallel()
	k := newDocumentsKit(t)
	i := k.invoice(t, "<script>alert(1)</script> "+strings.Repeat("long ", 34), 100)
	path := "/invoices/" + i.ID.String() + "/pdf"
	for last, want := range map[string]string{
		"שלום": "Ms םולש", "علي": "Ms \uFEF2\uFEE0\uFECB", "👩‍👩‍👧‍👦": "Ms \uFFFD", "<b>": "Ms <b>",
	} {
		k.named(t, "Ms", last)
		got := k.document(t, path)
		expects(t, got, []string{want})
		if !strings.Contains(got.Text(), "<script>alert(1)</script>") {
			t.Errorf("the description is not drawn:\n%s", got.Text())
		}
	}
}

func TestInvoicePDF_OfAForgottenCustomerHasTheAccountNumberAlone(t *testing.T) {
	t.Parallel()
	k := newDocumentsKit(t)
	i := k.invoice(t, "Router of Somebody", 1160)
	stream := commands.SubscriberCategory + "-" + k.amina.String()
	done, err := k.core.Store.Append(t.Context(), stream, 0, []eventstore.New{{
		Event: events.SubscriberForgotten{SubscriberID: k.amina, Reason: "asked for it"},
		Meta: events.Metadata{
			EventID: id.New[id.Event](), CommandID: id.New[id.Command](), AggregateID: id.Any(k.amina),
			Action: "subscribers.Forget", OrgID: k.org, At: k.clock.Now(),
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	coretest.WaitFor(t, k.views, done.Position, billingviews.InvoicesName, subscribersviews.SubscribersName)
	got := k.document(t, "/invoices/"+i.ID.String()+"/pdf")
	expects(t, got, []string{"Account number: 10000008", "Due: 10 March 2026"}, []string{"1.5", "1,160.00"})
	if text := got.Text(); strings.Contains(text, "Somebody") || strings.Contains(text, "Ngong") ||
		strings.Contains(text, "A012345678Z") {
		t.Errorf("the document knows the person:\n%s", text)
	}
}

func TestCreditNotePDF_NamesItsInvoiceAndGivesItsAmount(t *testing.T) {
	t.Parallel()
	k := newDocumentsKit(t)
	i := k.invoice(t, "Router", 1160)
	k.post(t, "/invoices/"+i.ID.String()+"/credit-note", `{"amount": 100, "reason": "too slow"}`)
	note := k.read(t, i.ID).CreditNotes[0]
	path := "/credit-notes/" + note.ID.String() + "/pdf"
	expects(t, k.document(t, path), []string{"The acme", "Credit note"}, []string{"Tax PIN: P05100000A", note.Number},
		[]string{"Somebody Wanjiru", "For invoice: ISP0-0001"},
		[]string{"Invoice ISP0-0001, in part", "too slow", "100.00"}, []string{"Total", "KES 100.00"})
	apitest.Sends(t, k.Kit, "another tenant", apitest.Request{Host: apitest.Other, Path: path, As: apitest.OtherAdmin},
		apitest.Is(404, "credit_note_not_found"))
}

func TestReceiptPDF_SaysWhatWasPaidAndWhatIsLeft(t *testing.T) {
	t.Parallel()
	k := newDocumentsKit(t)
	k.invoice(t, "Router", 100)
	receipt := k.pay(t, 40000, "Book 7 page 12")
	path := "/receipts/" + receipt.String() + "/pdf"
	expects(t, k.document(t, path), []string{"The acme", "Receipt"}, []string{"Tax PIN: P05100000A", "Book 7 page 12"},
		[]string{"Customer", "Received: 3 March 2026, 00:30"}, []string{"Received: KES 400.00"},
		[]string{"Invoice ISP0-0001", "150.00"}, []string{"Not used for an invoice", "250.00"},
		[]string{"Credit on the account after this payment", "KES 250.00"})
	a := k.Do(t, apitest.Request{Path: path, As: apitest.Support})
	if a.Header.Get("Content-Disposition") != `attachment; filename="receipt-Book-7-page-12.pdf"` {
		t.Errorf("headers %v", a.Header)
	}
	apitest.Sends(t, k.Kit, "another tenant", apitest.Request{Host: apitest.Other, Path: path, As: apitest.OtherAdmin},
		apitest.Is(404, "receipt_not_found"))
	k.do(t, k.org, commands.ReverseReceipt{ReceiptID: receipt, OrgID: k.org, Reason: "bounced"})
	expects(t, k.document(t, path), []string{"REVERSED"})
}

func TestStatementPDF_SumsToTheStatementOfTheAPI(t *testing.T) {
	t.Parallel()
	k := newDocumentsKit(t)
	k.invoice(t, "Router", 1000)
	k.clock.Advance(24 * time.Hour)
	k.pay(t, 50000, "One")
	k.invoice(t, "Cable", 200)
	k.clock.Advance(24 * time.Hour)
	k.pay(t, 200000, "Two")
	var page struct {
		Data []struct {
			Description string      `json:"description"`
			Balance     json.Number `json:"balance"`
		} `json:"data"`
	}
	statement := "/subscribers/" + k.amina.String() + "/statement"
	k.Do(t, apitest.Request{Path: statement, As: apitest.Support}).Into(t, &page)
	all := k.document(t, statement+"/pdf")
	expects(t, all, []string{"3 March 2026", "Balance brought forward", "0.00"},
		[]string{"3 March 2026", "Invoice ISP0-0001", "1,500.00", "1,500.00"}, []string{"Charges", "KES 1,800.00"},
		[]string{"Payments", "KES 2,500.00"}, []string{"Credit on 5 March 2026", "KES 700.00"})
	if len(page.Data) != 4 || page.Data[0].Balance != "-700.00" {
		t.Fatalf("the API has %+v", page.Data)
	}
	for _, line := range page.Data {
		if !strings.Contains(all.Text(), line.Description) {
			t.Errorf("no %q in\n%s", line.Description, all.Text())
		}
	}
	part := k.document(t, statement+"/pdf?from=2026-03-04&to=2026-03-04")
	expects(t, part, []string{"4 March 2026", "Balance brought forward", "1,500.00"},
		[]string{"4 March 2026", "Payment One by cash", "500.00", "1,000.00"},
		[]string{"4 March 2026", "Invoice ISP0-0002", "300.00", "1,300.00"},
		[]string{"Owed on 4 March 2026", "KES 1,300.00"},
		[]string{"Pay to the paybill 600100 with the account 10000008."})
	if text := part.Text(); strings.Contains(text, "ISP0-0001") || strings.Contains(text, "Two") {
		t.Errorf("lines of other days:\n%s", text)
	}
	expects(t, k.document(t, statement+"/pdf?from=2026-03-06&to=2026-03-07"),
		[]string{"6 March 2026", "Balance brought forward", "-700.00"}, []string{"Charges", "KES 0.00"})
	for _, query := range []string{"?from=2026-03-05&to=2026-03-04", "?from=soon"} {
		a := k.Do(t, apitest.Request{Path: statement + "/pdf" + query, As: apitest.Support})
		if a.Status != 422 || a.Code() != "invalid_input" {
			t.Errorf("%s: %d %s", query, a.Status, a.Body)
		}
	}
	apitest.Sends(t, k.Kit, "another tenant", apitest.Request{
		Host: apitest.Other, Path: statement + "/pdf", As: apitest.OtherAdmin,
	}, apitest.Is(404, "subscriber_not_found"))
}

func TestInvoicePDF_Of200LinesHasAllOfThem(t *testing.T) {
	t.Parallel()
	k := newDocumentsKit(t)
	lines := make([]string, 200)
	for n := range lines {
		lines[n] = fmt.Sprintf(`{"description": "Part %d", "quantity": 1, "unitPrice": 116}`, n)
	}
	var made invoiceBody
	k.post(t, "/invoices", fmt.Sprintf(`{"subscriberId": %q, "lines": [%s]}`, k.amina, strings.Join(lines, ","))).
		Into(t, &made)
	got := k.document(t, "/invoices/"+made.ID.String()+"/pdf")
	for n := range lines {
		expects(t, got, []string{fmt.Sprintf("Part %d", n), "1", "116.00", "16.00", "116.00"})
	}
	expects(t, got, []string{"Total", "KES 23,200.00"}, []string{fmt.Sprintf("Page 1 of %d", got.Pages())})
}

func TestStatementPDF_IsRefusedAboveItsBound(t *testing.T) {
	t.Parallel()
	k := newDocumentsKit(t)
	k.invoice(t, "Router", 1000)
	k.core.WaitForAll(t, k.views, billingviews.StatementName)
	const most = documentscases.MostLines
	fill := k.views.SQL(billingviews.StatementName, `
		insert into {schema}.statement_lines
		select subscriber_id, position + n, org_id, at + n * interval '1 minute', kind, number || n, invoice, channel,
			remark, outcome, reference, currency, debit_minor, credit_minor, balance_minor + n * debit_minor,
			cause_type, cause_id
		from {schema}.statement_lines, generate_series($1::int, $2::int) n
		where kind = 'invoice' and position = (select min(position) from {schema}.statement_lines)`)
	if _, err := k.core.DB.Owner.Exec(t.Context(), fill, 1, most-1); err != nil {
		t.Fatal(err)
	}
	k.clock.Advance(30 * 24 * time.Hour)
	path := "/subscribers/" + k.amina.String() + "/statement/pdf"
	got := k.document(t, path)
	if last := got[len(got)-1]; last.Text != fmt.Sprintf("Page %d of %[1]d", got.Pages()) || got.Pages() < 100 {
		t.Errorf("%d pages end with %q", got.Pages(), last.Text)
	}
	expects(t, got, []string{"Charges", "KES 7,500,000.00"})
	if _, err := k.core.DB.Owner.Exec(t.Context(), fill, most, most); err != nil {
		t.Fatal(err)
	}
	a := k.Do(t, apitest.Request{Path: path, As: apitest.Support})
	if a.Status != 409 || a.Code() != "statement_too_long" {
		t.Errorf("%d %.200s", a.Status, a.Body)
	}
	k.document(t, path+"?to=2026-03-04")
}
