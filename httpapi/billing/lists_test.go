package billingapi_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/internal/id"
)

func TestInvoices_RolesTenantsAndHosts(t *testing.T) {
	t.Parallel()
	k := newBillingKit(t, true)
	made := k.invoice(t, 100)
	paths := map[string]string{
		"/invoices": "POST", "/invoices/" + made.ID + "/void": "POST", "/invoices/" + made.ID + "/credit-note": "POST",
		"/invoices/" + made.ID: "GET", "/subscribers/" + k.amina.String() + "/statement": "GET",
	}
	for path, method := range paths {
		low, status := apitest.Support, 403
		if method == "GET" {
			low, status = apitest.Subscriber, 404 // it is not the customer's
		}
		below := k.Do(t, apitest.Request{Method: method, Path: path, As: low, Body: bodyOf(method)})
		if below.Status != status {
			t.Errorf("%s %s as %s: %d", method, path, low, below.Status)
		}
		if a := k.Do(t, apitest.Request{Method: method, Path: path, Body: bodyOf(method)}); a.Status != 401 {
			t.Errorf("%s %s by nobody: %d", method, path, a.Status)
		}
		if a := k.Do(t, apitest.Request{Method: method, Path: path, Host: apitest.Domain, As: apitest.Super,
			Body: bodyOf(method)}); a.Status != 404 {
			t.Errorf("%s %s on the root host: %d", method, path, a.Status)
		}
		if path == "/invoices" {
			continue
		}
		if a := k.Do(t, apitest.Request{Method: method, Path: path, Host: apitest.Other, As: apitest.OtherAdmin,
			Body: bodyOf(method)}); a.Status != 404 {
			t.Errorf("%s %s by another tenant: %d %s", method, path, a.Status, a.Body)
		}
	}
	for _, path := range []string{
		"/invoices/nonsense", "/invoices/" + id.New[id.Invoice]().String(), "/subscribers/nonsense/statement",
	} {
		if a := k.Do(t, apitest.Request{Path: path, As: apitest.Support}); a.Status != 404 {
			t.Errorf("GET %s: %d", path, a.Status)
		}
	}
}

// bodyOf is a body that every action here can read, nil for GET.
func bodyOf(method string) any {
	if method == "GET" {
		return nil
	}
	return `{"reason": "x"}`
}

func TestInvoices_ListPagesAndOverdue(t *testing.T) {
	t.Parallel()
	k := newBillingKit(t, true)
	for n := range 3 {
		k.invoice(t, 100+n)
	}
	var page struct {
		Data       []invoiceBody
		NextCursor *string
		HasMore    bool
	}
	var numbers []string
	for path := "/invoices?limit=2"; ; path = "/invoices?limit=2&cursor=" + *page.NextCursor {
		k.Do(t, apitest.Request{Path: path, As: apitest.Support}).Into(t, &page)
		for _, i := range page.Data {
			numbers = append(numbers, i.Number)
		}
		if !page.HasMore {
			break
		}
	}
	if diff := cmp.Diff([]string{"ISP0-0003", "ISP0-0002", "ISP0-0001"}, numbers); diff != "" {
		t.Errorf("numbers (-want +got):\n%s", diff)
	}
	k.Do(t, apitest.Request{Path: "/invoices?overdue=true", As: apitest.Support}).Into(t, &page)
	if len(page.Data) != 0 {
		t.Errorf("overdue are %+v", page.Data)
	}
}

func TestStatement_ExplainsTheBalance(t *testing.T) {
	t.Parallel()
	k := newBillingKit(t, true)
	made := k.invoice(t, 1000)
	k.pay(t, 200000)
	type line struct {
		Kind        string      `json:"kind"`
		Number      string      `json:"number"`
		Description string      `json:"description"`
		Debit       json.Number `json:"debit"`
		Credit      json.Number `json:"credit"`
		Balance     json.Number `json:"balance"`
		Cause       struct{ Type, ID string }
	}
	var page struct{ Data []line }
	k.Do(t, apitest.Request{Path: "/subscribers/" + k.amina.String() + "/statement", As: apitest.Support}).Into(t,
		&page)
	if len(page.Data) != 2 {
		t.Fatalf("lines %+v", page.Data)
	}
	want := line{
		Kind: "invoice", Number: "ISP0-0001", Description: "Invoice ISP0-0001", Debit: "1500.00",
		Credit: "0.00", Balance: "1500.00",
	}
	want.Cause.Type, want.Cause.ID = "invoice", made.ID
	if diff := cmp.Diff(want, page.Data[1]); diff != "" {
		t.Errorf("first line (-want +got):\n%s", diff)
	}
	if top := page.Data[0]; top.Kind != "payment" || top.Credit != "2000.00" || top.Balance != "-500.00" ||
		top.Cause.Type != "receipt" {
		t.Errorf("newest line %+v", top)
	}
	k.Do(t, apitest.Request{Path: "/subscribers/" + k.brian.String() + "/statement", Host: apitest.Other,
		As: apitest.OtherAdmin}).Into(t, &page)
	if len(page.Data) != 0 {
		t.Errorf("a new subscriber's lines are %+v", page.Data)
	}
}
