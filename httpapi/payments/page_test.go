package paymentsapi_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/moneytest"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/simulators/provider"
)

// owes issues an invoice of 1500.00 for Amina.
func (k *moneyKit) owes(t *testing.T) {
	t.Helper()
	k.invoiced(t, false)
}

// invoiced issues an invoice of 1500.00 for Amina, which may be that of an order.
func (k *moneyKit) invoiced(t *testing.T, order bool) {
	t.Helper()
	k.Run(t, commands.DraftInvoice{
		SubscriberID: k.Amina, OrgID: k.Org, InvoiceID: id.New[id.Invoice](), Order: order,
		Lines: []commands.LineInput{{
			Description: "Home", Quantity: "1", UnitPrice: money.Major(1500, money.KES),
		}},
		Currency: money.KES, Prefix: "ISP0", DueOn: calendar.On(time.Now(), time.UTC),
	}, k.Org)
	k.Until(t, "the invoice is issued", func() bool { return k.Account(t, k.Amina).Balance().Positive() })
	k.Quiet(t)
}

// pay sends POST /pay as JSON; another status than 202 ends the test.
func (k *moneyKit) pay(t *testing.T, host string, body any) apitest.Answer {
	t.Helper()
	return k.Post(t, host, "", "/pay", body, http.StatusAccepted)
}

// form is a request as the page's form makes it.
func form(values url.Values) apitest.Request {
	return apitest.Request{Method: "POST", Path: "/pay", Body: values.Encode(), Header: map[string]string{
		"Content-Type": "application/x-www-form-urlencoded",
	}}
}

// phones lists the phones that were prompted, in order.
func (k *moneyKit) phones() []string {
	var list []string
	for _, p := range k.Sim.Prompts() {
		list = append(list, p.MSISDN)
	}
	return list
}

// aminasAccount is Amina's account number.
var aminasAccount = commands.AccountNumber(1_000_000)

// aminasPhone is her phone in the provider's form.
const aminasPhone = "254712345678"

func TestPay_PromptsTheSubscribersOwnPhoneForWhatIsDue(t *testing.T) {
	t.Parallel()
	for name, account := range map[string]string{
		"account number": aminasAccount, "phone": "0712 345 678", "phone of the world": "+254712345678",
		"account number as typed": aminasAccount[:4] + " " + aminasAccount[4:],
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newMoneyKit(t, moneytest.Options{})
			k.owes(t)
			a := k.pay(t, "", map[string]any{"account": account, "phone": "0799999999", "amount": 1, "frob": []int{1}})
			k.Quiet(t)
			prompts := k.Sim.Prompts()
			if len(prompts) != 1 || prompts[0].MSISDN != aminasPhone ||
				prompts[0].Amount.Amount != money.Major(1500, money.KES) {
				t.Fatalf("prompts %+v after %s", prompts, a.Body)
			}
			if got := k.Account(t, k.Amina).Balance(); got.Positive() {
				t.Errorf("after the payment %v is due", got)
			}
		})
	}
}

func TestPay_AsksForNoOrder(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	k.invoiced(t, true)
	k.pay(t, "", map[string]any{"account": aminasAccount})
	k.Quiet(t)
	if prompts := k.Sim.Prompts(); len(prompts) > 0 {
		t.Errorf("prompts %+v", prompts)
	}
}

// Nobody learns from the answer whether an account exists, owes something, is another organization's, or was asked too
// often: the bytes are the same, and so is the work before them.
func TestPay_AnswersTheSameForEveryAccount(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	k.owes(t)
	k.Neighbour(t)
	k.Quiet(t)
	jobs := func() (n int) {
		err := k.Core.DB.Owner.QueryRow(t.Context(), `select count(*) from `+k.Core.DB.Namespace.Schema("river")+
			`.river_job where kind = 'payments_ask_to_pay'`).Scan(&n)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	var first apitest.Answer
	sent := 0
	for name, request := range map[string]struct{ host, account string }{
		"who owes": {"", aminasAccount}, "again": {"", aminasAccount}, "nobody": {"", "99999998"},
		"who owes nothing": {"", commands.AccountNumber(1_000_009)}, "an unknown phone": {"", "0799999999"},
		"another organization's": {"", commands.AccountNumber(1_000_001)}, "words": {"", "<script>alert(1)</script>"},
		"at another organization": {apitest.Other, aminasAccount}, "SQL": {"", "' or 1=1 --"},
	} {
		a := k.pay(t, request.host, map[string]any{"account": request.account})
		sent++
		if first.Body == nil {
			first = a
		}
		if string(a.Body) != string(first.Body) {
			t.Errorf("%s: %s, not %s", name, a.Body, first.Body)
		}
		for _, header := range []string{"Content-Type", "Content-Length", "Cache-Control", "Content-Security-Policy"} {
			if a.Header.Get(header) != first.Header.Get(header) {
				t.Errorf("%s: %s is %q", name, header, a.Header.Get(header))
			}
		}
		if got := jobs(); got != sent {
			t.Errorf("%s: %d jobs after %d requests", name, got, sent)
		}
	}
	k.Quiet(t)
	for _, phone := range k.phones() {
		if phone != aminasPhone {
			t.Errorf("the phone %s was prompted", phone)
		}
	}
	if len(k.phones()) == 0 {
		t.Error("nobody was prompted")
	}
}

func TestPay_AFourthPromptInTenMinutesIsSilent(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	k.owes(t)
	k.behave(t, "cancel", provider.Faults{})
	for range 5 {
		k.pay(t, "", map[string]any{"account": aminasAccount})
		k.Quiet(t)
	}
	if n := len(k.phones()); n != 3 {
		t.Errorf("%d prompts in ten minutes", n)
	}
}

func TestPay_SecondRequestWhileThePhoneRingsAsksNoSecondTime(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	k.owes(t)
	k.behave(t, "silent", provider.Faults{})
	for range 2 {
		k.pay(t, "", map[string]any{"account": aminasAccount})
		k.Quiet(t)
	}
	if diff := cmp.Diff([]string{aminasPhone}, k.phones()); diff != "" {
		t.Error(diff)
	}
}

func TestPay_PageWorksWithoutScriptsOnACheapPhone(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	k.owes(t)
	get := k.Do(t, apitest.Request{Path: "/pay?account=" + url.QueryEscape(`"><script>alert(1)</script>`)})
	posted := k.Do(t, form(url.Values{"account": {aminasAccount}, "phone": {"0799999999"}, "csrf": {"x"}}))
	empty := k.Do(t, form(url.Values{}))
	unknown := k.Do(t, form(url.Values{"account": {"99999998"}}))
	attack := k.Do(t, form(url.Values{"account": {`"><script>alert(1)</script>`}}))
	for name, a := range map[string]apitest.Answer{"get": get, "posted": posted, "empty": empty, "attack": attack} {
		text := string(a.Body)
		for _, forbidden := range []string{"<script", "http://", "https://", "src=", "@import"} {
			if strings.Contains(text, forbidden) {
				t.Errorf("%s has %s", name, forbidden)
			}
		}
		if len(text) > 10<<10 || !strings.Contains(text, `<form method="post" action="/pay?lang=en">`) {
			t.Errorf("%s: %d bytes: %s", name, len(text), text)
		}
		policy := a.Header.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none'; style-src 'sha256-") || strings.Contains(policy, "unsafe") ||
			a.Header.Get("Content-Type") != "text/html; charset=utf-8" ||
			a.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %v", name, a.Header)
		}
	}
	if get.Status != 200 || posted.Status != 202 || unknown.Status != 202 || attack.Status != 202 ||
		empty.Status != 400 {
		t.Errorf("statuses %d %d %d %d %d", get.Status, posted.Status, unknown.Status, attack.Status, empty.Status)
	}
	if string(posted.Body) != string(unknown.Body) || string(posted.Body) != string(attack.Body) {
		t.Error("the pages tell accounts apart")
	}
	k.Quiet(t)
	if diff := cmp.Diff([]string{aminasPhone}, k.phones()); diff != "" {
		t.Error(diff)
	}
	head := k.Do(t, apitest.Request{Method: "HEAD", Path: "/pay"})
	if head.Status != 200 || len(head.Body) > 0 {
		t.Errorf("HEAD: %d, %d bytes", head.Status, len(head.Body))
	}
}

func TestPay_RefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	post := func(body any, header ...string) apitest.Request {
		r := apitest.Request{Method: "POST", Path: "/pay", Body: body, Header: map[string]string{}}
		for i := 0; i+1 < len(header); i += 2 {
			r.Header[header[i]] = header[i+1]
		}
		return r
	}
	for name, c := range map[string]struct {
		request apitest.Request
		status  int
		code    string
	}{
		"nothing":       {post("{}"), 400, "missing_field"},
		"no body":       {post(nil), 400, "missing_field"},
		"null":          {post(`{"account":null}`), 400, "missing_field"},
		"blanks":        {post(`{"account":"  "}`), 400, "missing_field"},
		"a number":      {post(`{"account":7}`), 422, "invalid_input"},
		"long":          {post(`{"account":"` + strings.Repeat("9", 65) + `"}`), 422, "invalid_input"},
		"no object":     {post(`["x"]`), 400, "malformed_body"},
		"two values":    {post(`{} {}`), 400, "malformed_body"},
		"a large body":  {post(`{"account":"` + strings.Repeat("9", 9<<10) + `"}`), 413, "body_too_large"},
		"another type":  {post("account=1", "Content-Type", "text/plain"), 415, "unsupported_media_type"},
		"PUT":           {apitest.Request{Method: "PUT", Path: "/pay"}, 405, "method_not_allowed"},
		"DELETE":        {apitest.Request{Method: "DELETE", Path: "/pay"}, 405, "method_not_allowed"},
		"root host":     {apitest.Request{Path: "/pay", Host: apitest.Domain}, 404, "not_found"},
		"root host too": {apitest.Request{Method: "POST", Path: "/pay", Host: apitest.Domain}, 404, "not_found"},
		"nobody's host": {apitest.Request{Path: "/pay", Host: apitest.Unknown}, 404, "not_found"},
		"suspended":     {apitest.Request{Path: "/pay", Host: apitest.Gone}, 403, "organization_suspended"},
	} {
		if a := k.Do(t, c.request); a.Status != c.status || a.Code() != c.code {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
}

// Somebody who is signed in pays by the form of this host, and not by that of another one.
func TestPay_WithCookiesTheFormMustBeOfThisHost(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	for origin, status := range map[string]int{
		"http://" + apitest.Acme: 202, "http://" + apitest.Other: 403, "null": 403,
	} {
		r := form(url.Values{"account": {aminasAccount}})
		r.Cookie, r.Header["Origin"] = apitest.Admin, origin
		if a := k.Do(t, r); a.Status != status {
			t.Errorf("%s: %d %s", origin, a.Status, a.Body)
		}
	}
}

// The limit of sign-ins holds for what one client repeats, and not for reading the page: phones read it by themselves.
func TestPay_TheLimitOfSignInsHolds(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{Login: 2})
	for n, typed := range []string{"a 1", "A1", " a1", "a1"} {
		a := k.Do(t, apitest.Request{Method: "POST", Path: "/pay", Body: map[string]string{"account": typed}})
		if n < 2 && a.Status != 202 || n >= 2 && (a.Status != 429 || a.Header.Get("Retry-After") == "") {
			t.Errorf("request %d: %d %v", n, a.Status, a.Header)
		}
		if a := k.Do(t, apitest.Request{Path: "/pay"}); a.Status != 200 {
			t.Errorf("reading %d: %d", n, a.Status)
		}
	}
	elsewhere := apitest.Request{Method: "POST", Path: "/pay", Host: apitest.Other, Body: `{"account":"a1"}`}
	if a := k.Do(t, elsewhere); a.Status != 202 {
		t.Errorf("the page of another organization: %d", a.Status)
	}
	a := k.Do(t, form(url.Values{"account": {"a1"}}))
	if a.Status != 429 || a.Header.Get("Retry-After") == "" ||
		!strings.Contains(string(a.Body), "Please wait a minute") {
		t.Errorf("the form gets %d %v %s", a.Status, a.Header, a.Body)
	}
}

// Customers behind one address are walled in at once and pay at once. Whoever tries one account after the other from
// there has a bound, too, which is the same for accounts that exist and those that do not.
func TestPay_CustomersBehindOneAddressPayInTheSameMinutes(t *testing.T) {
	t.Parallel()
	const most = 50
	for name, account := range map[string]func(n int) string{
		"accounts": func(n int) string { return commands.AccountNumber(1_000_000 + n) },
		"nobody's": func(n int) string { return fmt.Sprint("nobody", n) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newMoneyKit(t, moneytest.Options{Login: 1})
			for n := range most {
				k.pay(t, "", map[string]any{"account": account(n)})
			}
			a := k.Do(t, form(url.Values{"account": {account(most)}}))
			if a.Status != 429 || a.Header.Get("Retry-After") == "" {
				t.Errorf("one more: %d %v", a.Status, a.Header)
			}
		})
	}
}

func TestPay_AnAddressOverItsLimitLeavesNoTraceOfWhatItTypes(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{Login: 1, Shared: true})
	for n := range 50 {
		k.pay(t, "", map[string]any{"account": fmt.Sprint("first", n)})
	}
	rows := func() (n int) {
		t.Helper()
		table := k.Core.DB.Namespace.Schema("vault") + ".limits"
		err := k.Core.DB.Owner.QueryRow(t.Context(), "select count(*) from "+table).Scan(&n)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := rows()
	for n := range 20 {
		if a := k.Do(t, form(url.Values{"account": {fmt.Sprint("more", n)}})); a.Status != 429 {
			t.Errorf("request %d: %d", n, a.Status)
		}
	}
	if after := rows(); after != before || before < 50 {
		t.Errorf("%d rows became %d", before, after)
	}
}
