package mobilemoney_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/simulators/provider"
)

// bills is a client of the sandbox's bill manager, with the account that its opt-in gave.
func (k *kit) bills() (*mobilemoney.Bills, mobilemoney.Account) {
	k.t.Helper()
	b := mobilemoney.NewBills(k.Client, mobilemoney.Sandbox)
	key, err := b.OptIn(k.t.Context(), creds, mobilemoney.OptIn{
		Email: "bills@isp.test", Phone: "0700000009", Reminders: true, CallbackURL: k.hook.URL + "/bill",
	})
	if err != nil || key.IsZero() {
		k.t.Fatalf("opt in: %v", err)
	}
	return b, mobilemoney.Account{Credentials: creds, AppKey: key}
}

// aBill asks Amina for 1,159.50 shillings, which the provider rounds up.
func aBill(reference string) mobilemoney.Bill {
	return mobilemoney.Bill{
		Reference: reference, Name: "Amina Wanjiru", Phone: "+254700000001", Period: "March 2026",
		InvoiceName: "Invoice ACME-0001", DueOn: calendar.Date{Year: 2026, Month: 3, Day: 11},
		AccountReference: "ACME-0001", Amount: money.Of(115950, money.KES),
		Items: []mobilemoney.BillItem{{Name: "Internet", Amount: money.Of(115950, money.KES)}},
	}
}

func TestBills_AreTakenAloneAndInBatches(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{})
	b, by := k.bills()
	if answer, err := b.Send(t.Context(), by, []mobilemoney.Bill{aBill("r-1")}); err != nil ||
		answer.Outcome != mobilemoney.BillTaken {
		t.Fatalf("one: %+v, %v", answer, err)
	}
	var many []mobilemoney.Bill
	for i := range mobilemoney.MaxBills {
		many = append(many, aBill(fmt.Sprint("m-", i)))
	}
	if answer, err := b.Send(t.Context(), by, many); err != nil || answer.Outcome != mobilemoney.BillTaken {
		t.Fatalf("a batch: %+v, %v", answer, err)
	}
	list := k.sim.Bills()
	if len(list) != 1001 || list[0].Amount.Amount != money.Major(1160, money.KES) || list[0].Phone != payer ||
		list[0].DueDate != "2026-03-11" || k.sim.BillCalls("bulk-invoicing") != 1 {
		t.Errorf("the provider has %d bills, the first %+v", len(list), list[0])
	}
	if _, err := b.Send(t.Context(), by, append(many, aBill("more"))); failure.KindOf(err) != failure.Invalid {
		t.Errorf("1,001 bills: %v", err)
	}
	if answer, err := b.Acknowledge(t.Context(), by, mobilemoney.BillPayment{
		PaidAt: start, Amount: money.Major(1160, money.KES), AccountReference: "ACME-0001", TransactionID: "SJK4H7L2P9",
		Phone: payer, Name: "Amina", InvoiceName: "Invoice", Reference: "r-1",
	}); err != nil || answer.Outcome != mobilemoney.BillTaken || len(k.sim.BillReceipts()) != 1 {
		t.Errorf("acknowledge: %+v, %v", answer, err)
	}
}

func TestBills_ACancellationThatHappenedBeforeIsASuccess(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{})
	b, by := k.bills()
	if _, err := b.Send(t.Context(), by, []mobilemoney.Bill{aBill("r-1")}); err != nil {
		t.Fatal(err)
	}
	for reference, want := range map[string]mobilemoney.BillOutcome{
		"r-1": mobilemoney.BillTaken, "unknown": mobilemoney.BillUnknown,
	} {
		for range 2 { // the second one is answered with 409
			if answer, err := b.Cancel(t.Context(), by, reference); err != nil || answer.Outcome != want {
				t.Errorf("%s: %+v, %v", reference, answer, err)
			}
		}
	}
	if list := k.sim.Bills(); list[0].State != "cancelled" {
		t.Errorf("the provider has %+v", list)
	}
}

// TestBills_WhatIsNotCertainIsInDoubt: a refusal is in the body of an answer that looks good, and is certain for a
// single bill alone.
func TestBills_WhatIsNotCertainIsInDoubt(t *testing.T) {
	t.Parallel()
	one, two := []mobilemoney.Bill{aBill("a")}, []mobilemoney.Bill{aBill("a"), aBill("b")}
	for name, c := range map[string]struct {
		faults provider.Faults
		bills  []mobilemoney.Bill
		want   mobilemoney.BillOutcome
		has    int // bills that the provider has afterwards
	}{
		"refused":        {provider.Faults{BillRescode: "400"}, one, mobilemoney.BillRefused, 0},
		"batch refused":  {provider.Faults{BillRescode: "400"}, two, mobilemoney.BillRefused, 0},
		"internal error": {provider.Faults{BillRescode: "500"}, one, mobilemoney.BillInDoubt, 0},
		"half taken":     {provider.Faults{TakeHalfOfBatch: true}, two, mobilemoney.BillInDoubt, 1},
		"answer lost":    {provider.Faults{LoseBills: 1}, one, mobilemoney.BillInDoubt, 1},
		"no answer":      {provider.Faults{ErrorRate: 1}, one, mobilemoney.BillInDoubt, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t, provider.Config{})
			b, by := k.bills()
			k.faults(c.faults)
			answer, err := b.Send(t.Context(), by, c.bills)
			if err != nil || answer.Outcome != c.want || len(k.sim.Bills()) != c.has {
				t.Errorf("%+v, %v; the provider has %d", answer, err, len(k.sim.Bills()))
			}
		})
	}
}

// TestBills_AnotherKeyIsNeededAfterEachOptIn: the former key is of no use, and its refusal is none of the bills.
func TestBills_AnotherKeyIsNeededAfterEachOptIn(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{})
	b, former := k.bills()
	_, by := k.bills()
	list := []mobilemoney.Bill{aBill("a")}
	if _, err := b.Send(t.Context(), former, list); failure.CodeOf(err) != mobilemoney.CodeAppKeyRefused {
		t.Errorf("with the former key: %v", err)
	}
	if text := fmt.Sprintf("%v %+v %#v %s", by, by, by, by); strings.Contains(text, by.AppKey.Reveal()) ||
		strings.Contains(text, creds.ConsumerSecret) {
		t.Errorf("the account shows %s", text)
	}
	if answer, err := b.Send(t.Context(), by, list); err != nil || answer.Outcome != mobilemoney.BillTaken {
		t.Errorf("with the present one: %+v, %v", answer, err)
	}
	k.faults(provider.Faults{WrongAppKey: true})
	if _, err := b.Cancel(t.Context(), by, "a"); failure.CodeOf(err) != mobilemoney.CodeAppKeyRefused {
		t.Errorf("a key that is not accepted: %v", err)
	}
}

func TestBills_ProductionHasADoubledPrefix(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{})
	_, by := k.bills()
	b := mobilemoney.NewBills(k.Client, mobilemoney.Production)
	if _, err := b.Send(t.Context(), by, []mobilemoney.Bill{aBill("a")}); err != nil {
		t.Fatal(err)
	}
	const prefix = "/v1/billmanager-invoice/"
	if k.sim.BillCalls(prefix+"optin") != 1 || k.sim.BillCalls(prefix+"v1/billmanager-invoice/single-invoicing") != 1 {
		t.Error("the paths are others")
	}
}

func TestBills_WhatCannotBeSentIsNotSent(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{})
	b, by := k.bills()
	for name, change := range map[string]func(*mobilemoney.Bill){
		"phone":    func(b *mobilemoney.Bill) { b.Phone = "+44 20 7946 0000" },
		"name":     func(b *mobilemoney.Bill) { b.Name = " " },
		"amount":   func(b *mobilemoney.Bill) { b.Amount = money.Of(0, money.KES) },
		"currency": func(b *mobilemoney.Bill) { b.Amount.Currency = "UGX" },
		"due date": func(b *mobilemoney.Bill) { b.DueOn = calendar.Date{} },
	} {
		bill := aBill("a")
		change(&bill)
		if _, err := b.Send(t.Context(), by, []mobilemoney.Bill{aBill("b"), bill}); err == nil {
			t.Errorf("%s: sent", name)
		}
	}
	if n := len(k.sim.Bills()); n > 0 {
		t.Errorf("the provider has %d bills", n)
	}
	k.sim.Stop(context.Background()) //nolint:errcheck,gosec // only that nobody listens matters
	if answer, err := b.Send(t.Context(), by, []mobilemoney.Bill{aBill("a")}); err != nil ||
		answer.Outcome == mobilemoney.BillTaken || answer.Outcome == mobilemoney.BillRefused {
		t.Errorf("nobody listens: %+v, %v", answer, err)
	}
}

// FuzzBills_AnAnswerNeverPanicsAndIsTakenOnlyWithItsCode reads answers of any form.
func FuzzBills_AnAnswerNeverPanicsAndIsTakenOnlyWithItsCode(f *testing.F) {
	for _, body := range []string{
		`{"rescode":"200","resmsg":"Success"}`, `{"rescode":200}`, `{"rescode":"409"}`, `{"rescode":null}`, `[]`, ``,
		`{"errorCode":"404.001.03","errorMessage":"Invalid Access Token"}`,
	} {
		f.Add(200, body)
		f.Add(503, body)
	}
	f.Fuzz(func(t *testing.T, status int, body string) {
		if status < 200 || status > 599 {
			return
		}
		client := answering(t, status, body)
		by := mobilemoney.Account{Credentials: creds, AppKey: secrets.Text("k")}
		answer, _ := mobilemoney.NewBills(client.Client, mobilemoney.Sandbox).Send(t.Context(), by,
			[]mobilemoney.Bill{aBill("a")})
		if answer.Outcome == mobilemoney.BillTaken && (status >= http.StatusMultipleChoices ||
			!strings.Contains(body, "rescode") && !strings.Contains(strings.ToLower(body), "rescode")) {
			t.Errorf("status %d with %q counts as taken", status, body)
		}
	})
}
