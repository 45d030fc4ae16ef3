package billingapi_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/billing"
)

// taxed executes a command about a signature and waits until it is shown.
func (k *billingKit) taxed(t *testing.T, c commands.Command) {
	t.Helper()
	done := k.do(t, c, k.Orgs["acme"].ID)
	coretest.WaitFor(t, k.views, done.Position, billingviews.SignaturesName)
}

// queued queues an invoice for its signature, as the process does.
func (k *billingKit) queued(t *testing.T, invoice id.Invoice, number string) id.Signature {
	t.Helper()
	which := id.As[id.Signature](invoice)
	k.taxed(t, commands.QueueSignature{
		SignatureSubject: events.SignatureSubject{
			SignatureID: which, OrgID: k.Orgs["acme"].ID, SubscriberID: k.amina, Document: events.TaxInvoice,
			InvoiceID: invoice, Number: number,
		}, Total: money.Of(116000, money.KES), IssuedAt: k.clock.Now(),
	})
	return which
}

// taxDocument has the fields of a document that these tests compare.
type taxDocument struct {
	ID            string  `json:"id"`
	State         string  `json:"state"`
	Late          bool    `json:"late"`
	Retries       int     `json:"retries"`
	Code          *string `json:"code"`
	Message       *string `json:"message"`
	ControlNumber *string `json:"controlNumber"`
}

// refusedInvoice makes an invoice that the tax authority has refused.
func (k *billingKit) refusedInvoice(t *testing.T) (invoice string, which id.Signature) {
	t.Helper()
	made := k.invoice(t, 1160)
	which = k.queued(t, id.Must[id.Invoice](made.ID), made.Number)
	k.taxed(t, commands.BeginSigning{SignatureID: which})
	k.taxed(t, commands.RefuseSignature{SignatureID: which, Code: "buyer_pin_invalid", Message: "The PIN is wrong"})
	return made.ID, which
}

func TestTaxDocuments_AreOfTheirOrganizationAndSentAgainByItsAdministratorsForAReason(t *testing.T) {
	t.Parallel()
	k := newBillingKit(t, true)
	_, which := k.refusedInvoice(t)
	path, body := "/tax-documents/"+which.String(), map[string]string{"reason": "the PIN is mended"}
	for name, c := range map[string]struct {
		r    apitest.Request
		want apitest.Want
	}{
		"support":   {apitest.Request{As: apitest.Support, Body: body}, apitest.Is(403, "role_required")},
		"no reason": {apitest.Request{As: apitest.Admin, Body: map[string]string{}}, apitest.Is(400, "missing_field")},
		"another tenant": {
			apitest.Request{As: apitest.OtherAdmin, Host: apitest.Other, Body: body},
			apitest.Is(404, "signature_not_found"),
		},
	} {
		c.r.Method, c.r.Path = "POST", path+"/retry"
		if a := k.Do(t, c.r); a.Status != c.want.Status || c.want.Code != "" && a.Code() != c.want.Code {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
	apitest.Sends(t, k.Kit, "read by another tenant",
		apitest.Request{Path: path, As: apitest.OtherAdmin, Host: apitest.Other},
		apitest.Is(404, "signature_not_found"))
}

func TestTaxDocuments_ARefusedOneIsInTheInboxUntilItIsSentAgain(t *testing.T) {
	t.Parallel()
	k := newBillingKit(t, true)
	made, which := k.refusedInvoice(t)
	path, body := "/tax-documents/"+which.String(), map[string]string{"reason": "the PIN is mended"}
	list := func(query string) (page struct{ Data []taxDocument }) {
		k.Do(t, apitest.Request{Path: "/tax-documents" + query, As: apitest.Support}).Into(t, &page)
		return page
	}
	inbox := list("?state=refused").Data
	if len(inbox) != 1 || *inbox[0].Code != "buyer_pin_invalid" || *inbox[0].Message != "The PIN is wrong" {
		t.Fatalf("inbox %+v", inbox)
	}
	var invoice struct{ TaxSignature taxDocument }
	k.Do(t, apitest.Request{Path: "/invoices/" + made, As: apitest.Support}).Into(t, &invoice)
	if invoice.TaxSignature.State != "refused" || *invoice.TaxSignature.Message != "The PIN is wrong" {
		t.Errorf("invoice %+v", invoice)
	}
	var sent taxDocument
	k.Do(t, apitest.Request{Method: "POST", Path: path + "/retry", As: apitest.Admin, Body: body}).Into(t, &sent)
	if sent.State != "queued" || sent.Retries != 1 || len(list("?state=refused").Data) != 0 {
		t.Errorf("sent again: %+v", sent)
	}
	apitest.Sends(t, k.Kit, "again", apitest.Request{
		Method: "POST", Path: path + "/retry", As: apitest.Admin, Body: body,
	}, apitest.Is(409, "signature_not_refused"))
	if len(list("?late=true").Data) != 0 {
		t.Error("it is late at once")
	}
	k.clock.Advance(time.Hour)
	if late := list("?late=true&subscriberId=" + k.amina.String()).Data; len(late) != 1 || !late[0].Late {
		t.Errorf("late %+v", late)
	}
	k.taxed(t, commands.RecordSignature{
		SignatureID: which, ControlNumber: "C1", Verification: "https://tax.example", SignedAt: k.clock.Now(),
	})
	var rows struct {
		Data []struct{ TaxSignature *taxDocument }
	}
	k.Do(t, apitest.Request{Path: "/invoices", As: apitest.Support}).Into(t, &rows)
	if len(rows.Data) != 1 || rows.Data[0].TaxSignature == nil || *rows.Data[0].TaxSignature.ControlNumber != "C1" {
		t.Errorf("list %+v", rows.Data)
	}
}

func TestTaxGateway_ShowsNoSecretAndTakesItAsItWas(t *testing.T) {
	t.Parallel()
	k := newBillingKit(t, false)
	settings := func(method string, body any) (out map[string]any, a apitest.Answer) {
		a = k.Do(t, apitest.Request{Method: method, Path: "/settings/tax-gateway", As: apitest.Admin, Body: body})
		_ = json.Unmarshal(a.Body, &out)
		return out, a
	}
	if got, a := settings("GET", nil); a.Status != 200 || got["on"] != false || got["secret"] != "" ||
		a.Header.Get("ETag") == "" {
		t.Fatalf("at first %v %s", got, a.Header)
	}
	wanted := map[string]any{
		"on": true, "address": "https://gateway.example", "serial": "KRA-1", "branch": "00", "secret": "very-secret",
	}
	if _, a := settings("PUT", wanted); a.Status != 422 || !strings.Contains(string(a.Body), "taxPin") {
		t.Errorf("without a PIN of its own: %d %s", a.Status, a.Body)
	}
	made := coretest.NewOrganization(k.Orgs["acme"].ID, "acme")
	made.Billing.InvoicePrefix, made.Billing.TaxPIN = "ISP0", "P051234567A"
	k.do(t, commands.AdoptBillingSettings{OrgID: k.Orgs["acme"].ID, Billing: made.Billing}, k.Orgs["acme"].ID)
	got, a := settings("PUT", wanted)
	version := got["secretVersion"]
	if a.Status != 200 || got["on"] != true || got["secret"] != "********" || version == nil {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	wanted["secret"], wanted["messages"] = "********", true
	got, a = settings("PUT", wanted)
	if a.Status != 200 || got["secretVersion"] != version || got["messages"] != true {
		t.Errorf("as it was: %d %s", a.Status, a.Body)
	}
	wanted["secret"] = "another-secret"
	if got, a := settings("PUT", wanted); a.Status != 200 || got["secretVersion"] == version {
		t.Errorf("another one: %d %s", a.Status, a.Body)
	}
	wanted["address"] = "http://inside"
	if _, a := settings("PUT", wanted); a.Status != 422 {
		t.Errorf("an address inside: %d %s", a.Status, a.Body)
	}
	got, a = settings("PUT", map[string]any{"on": false})
	if a.Status != 200 || got["on"] != false || got["address"] != "https://gateway.example" || got["secret"] == "" {
		t.Errorf("switched off: %d %s", a.Status, a.Body)
	}
	if strings.Contains(k.Log.String(), "-secret") {
		t.Error("a secret is in the log")
	}
	list, err := k.core.Store.Read(t.Context(), commands.TaxGatewayCategory+"-"+k.Orgs["acme"].ID.String(), 0)
	if err != nil || len(list) != 4 {
		t.Fatalf("%d events, %v", len(list), err)
	}
	for _, e := range list {
		if text, _ := json.Marshal(e.Event); strings.Contains(string(text), "-secret") {
			t.Errorf("a secret is in an event: %s", text)
		}
	}
	apitest.Sends(t, k.Kit, "support", apitest.Request{Path: "/settings/tax-gateway", As: apitest.Support},
		apitest.Is(403, "role_required"))
}
