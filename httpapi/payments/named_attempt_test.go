package paymentsapi_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/moneytest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/simulators/provider"
)

// unclear has a prompt of Amina whose callback was lost, found by a status query and credited provisionally, an open
// prompt of her neighbour with the same reference, and a receipt that can be the money of either, since the provider
// hides the payer's phone.
type unclear struct {
	*moneyKit
	asked, neighbour string // the attempts
	receipt          string // its path
	number           string
}

// newUnclear has the money of one of two prompts wait in suspense.
func newUnclear(t *testing.T) *unclear {
	t.Helper()
	k := newMoneyKit(t, moneytest.Options{})
	k.Neighbour(t)
	k.behave(t, "pay", provider.Faults{DropCallbacks: 1})
	p := k.prompt(t, 1500)
	k.Quiet(t)
	k.Post(t, apitest.Acme, apitest.Admin, "/payments/query", map[string]any{"paymentId": p.PaymentID}, 200)
	k.Quiet(t)
	k.expectCredited(t, 1500, 1)
	k.behave(t, "silent", provider.Faults{})
	other := id.New[id.Payment]()
	k.Run(t, commands.InitiatePayment{
		PaymentID: other, OrgID: k.Org, SubscriberID: k.Chege, Amount: money.Major(1500, money.KES),
		Phone: personal.Of("254744000000"), Environment: commands.EnvironmentSandbox,
		Shortcode: moneytest.PlatformShortcode, AccountReference: commands.AccountNumber(1_000_000),
	}, k.Org)
	k.Quiet(t)
	u := &unclear{moneyKit: k, asked: p.PaymentID, neighbour: other.String(), number: "SJK4X7Q2P1"}
	u.receipt = k.paidNow(t, u.number, commands.AccountNumber(1_000_000))
	return u
}

// paidNow has the provider report 1,500 shillings at the shared paybill, and gives the path of the receipt.
func (k *moneyKit) paidNow(t *testing.T, number, reference string) string {
	t.Helper()
	body := confirmationBody(number, moneytest.PlatformShortcode, reference, "1500.00")
	at := k.Clock.Now().In(time.FixedZone("EAT", 3*60*60)).Format("20060102150405")
	k.Post(t, apitest.Unknown, "", bareConfirmation, strings.Replace(body, "20260302120000", at, 1), 200)
	k.Quiet(t)
	return "/receipts/" + commands.ReceiptID(commands.EnvironmentSandbox, number).String()
}

// attribute gives the receipt to a subscriber with what is said about its attempt.
func (u *unclear) attribute(t *testing.T, to id.Subscriber, word map[string]any, status int) apitest.Answer {
	t.Helper()
	body := map[string]any{"subscriberId": to}
	for name, said := range word {
		body[name] = said
	}
	a := u.Post(t, apitest.Acme, apitest.Admin, u.receipt+"/attribute", body, status)
	u.Quiet(t)
	return a
}

// expect compares what Amina and her neighbour have been credited.
func (u *unclear) expect(t *testing.T, amina, chege int64) {
	t.Helper()
	a, _ := u.Credited(t, u.Amina)
	c, _ := u.Credited(t, u.Chege)
	if a != amina || c != chege {
		t.Errorf("Amina has %d, Chege %d; want %d and %d", a, c, amina, chege)
	}
}

func TestAttribute_MoneyOfOneOfSeveralPromptsIsNotCreditedASecondTime(t *testing.T) {
	t.Parallel()
	u := newUnclear(t)
	list := u.receipts(t, apitest.Acme, apitest.Admin, "?state=suspense")
	if len(list) != 1 {
		t.Fatalf("suspense %+v", list)
	}
	var offered []string
	for _, s := range list[0].Suggestions {
		if s.PaymentID != "" {
			offered = append(offered, s.PaymentID)
		}
	}
	if !slices.Contains(offered, u.asked) || !slices.Contains(offered, u.neighbour) || len(offered) != 2 {
		t.Errorf("offered are %v", offered)
	}
	for _, to := range []id.Subscriber{u.Amina, u.Chege} {
		var refusal struct {
			Attempts []struct{ PaymentID string }
		}
		a := u.attribute(t, to, nil, http.StatusConflict)
		a.Into(t, &refusal)
		if a.Code() != "attempt_not_named" || len(refusal.Attempts) != 2 {
			t.Errorf("refused with %s", a.Body)
		}
	}
	u.expect(t, 1500, 0)

	for range 2 {
		var shown shownReceipt
		u.attribute(t, u.Amina, map[string]any{"paymentId": u.asked}, http.StatusOK).Into(t, &shown)
		if shown.State != "absorbed" {
			t.Errorf("the answer shows the receipt as %s", shown.State)
		}
	}
	u.expect(t, 1500, 0)
	u.expectCredited(t, 1500, 1)
	if p := u.payment(t, u.asked); p.ReceiptNumber == nil || *p.ReceiptNumber != u.number || p.Status != "SUCCESS" {
		t.Errorf("the prompt is %+v", p)
	}
	a := u.attribute(t, u.Chege, map[string]any{"paymentId": u.neighbour}, http.StatusConflict)
	if a.Code() != "receipt_of_other_payment" {
		t.Errorf("as the neighbour's: %s", a.Body)
	}
}

func TestAttribute_WhatIsSaidAboutThePromptDecidesWhereTheMoneyIs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		own          bool // it is said to be Amina's prompt's
		none         bool // it is said to be no prompt's
		chege        bool // and given to the neighbour
		amina, other int64
	}{
		"hers, to another account":        {own: true, chege: true, other: 1500},
		"the neighbour's, to his account": {chege: true, amina: 1500, other: 1500},
		"none's, to her account":          {none: true, amina: 3000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUnclear(t)
			to, word := u.Amina, map[string]any{"paymentId": u.neighbour}
			if c.own {
				word["paymentId"] = u.asked
			}
			if c.none {
				word = map[string]any{"noPrompt": true}
			}
			if c.chege {
				to = u.Chege
			}
			u.attribute(t, to, word, http.StatusOK)
			u.expect(t, c.amina, c.other)
		})
	}
}

// Whatever was typed, money of the amount of a prompt whose receipt nobody has seen may be that prompt's.
func TestAttribute_MoneyForAnAccountWithAProvisionalCreditNeedsAWord(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	k.Neighbour(t)
	k.behave(t, "pay", provider.Faults{DropCallbacks: 1})
	p := k.prompt(t, 1500)
	k.Quiet(t)
	k.Post(t, apitest.Acme, apitest.Admin, "/payments/query", map[string]any{"paymentId": p.PaymentID}, 200)
	k.Quiet(t)
	receipt := k.paidNow(t, "SJK4X7Q2P1", "house 12")
	k.Post(t, apitest.Domain, apitest.Super, receipt+"/assign", map[string]any{"orgId": k.Org}, 200)
	if a := k.Post(t, apitest.Acme, apitest.Admin, receipt+"/attribute", map[string]any{"subscriberId": k.Amina},
		409); a.Code() != "attempt_not_named" {
		t.Errorf("attributed: %s", a.Body)
	}
	k.Post(t, apitest.Acme, apitest.Admin, receipt+"/attribute", map[string]any{"subscriberId": k.Chege}, 200)
	k.Quiet(t)
	move := map[string]any{"subscriberId": k.Amina, "reason": "typing error"}
	if a := k.Post(t, apitest.Acme, apitest.Admin, receipt+"/reattribute", move, 409); a.Code() != "attempt_not_named" {
		t.Errorf("moved: %s", a.Body)
	}
	k.expectCredited(t, 1500, 1)
	move["paymentId"] = p.PaymentID
	k.Post(t, apitest.Acme, apitest.Admin, receipt+"/reattribute", move, 200)
	k.Quiet(t)
	if sum, _ := k.Credited(t, k.Amina); sum != 1500 {
		t.Errorf("Amina has %d", sum)
	}
	if sum, _ := k.Credited(t, k.Chege); sum != 0 {
		t.Errorf("Chege has %d", sum)
	}
}
