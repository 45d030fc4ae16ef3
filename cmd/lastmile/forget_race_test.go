package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/lastmile-isp/lastmile/simulators/smsprovider"
)

// plain is a customer with a name and a phone, as unnamed looks for them.
func (k *kit) plain(phone, name string) household {
	k.t.Helper()
	s := k.must(k.admin, "POST", "/subscribers", map[string]any{
		"firstName": name, "lastName": "Wanjohi", "phone": phone, "email": strings.ToLower(name) + "@home.test",
	})
	return household{
		phone: phone, name: name, mail: strings.ToLower(name) + "@home.test", username: strings.ToLower(name) + "-none",
		subscriber: s.text("id"), account: s.text("accountNumber"),
	}
}

// TestForget_RacesWithMoneyThatComesIn: each payment is in one place. Either the customer has the credit, and is not
// forgotten, or the customer is forgotten, and the money waits in suspense.
func TestForget_RacesWithMoneyThatComesIn(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	k.paybillReady()
	const customers = 8
	var phones, accounts, ids, numbers [customers]string
	var refusals [customers]error
	for n := range customers {
		phones[n] = fmt.Sprintf("2547110008%02d", 50+n)
		ids[n], accounts[n] = k.subscriber(phones[n])
	}
	var all sync.WaitGroup
	for n := range customers {
		all.Go(func() {
			out, err := k.simCall("POST", "/sim/paybill", map[string]any{
				"shortCode": testShortcode, "msisdn": phones[n], "amount": 900, "billRefNumber": accounts[n],
			})
			if numbers[n] = out.text("receiptNumber"); err != nil || numbers[n] == "" {
				t.Errorf("pay: %v, %v", out, err)
			}
		})
		all.Go(func() {
			_, refusals[n] = k.admin.call(t.Context(), "POST", forgetPath(ids[n]), "once-"+ids[n], because3March())
		})
	}
	all.Wait()
	k.settled()
	for n := range customers {
		want := "suspense"
		if no := asAPIError(refusals[n]); no != nil &&
			(no.Code == "forget_credit_left" || no.Code == "forget_receipt_in_doubt") {
			want = "attributed"
		} else if refusals[n] != nil {
			t.Fatalf("customer %d: %v", n, refusals[n])
		}
		k.moneyIs(numbers[n], ids[n], want)
	}
	k.soundBooks()
}

// moneyIs waits until a payment of 900 is credit of a customer who is there, or waits in suspense of one who is not.
func (k *kit) moneyIs(receipt, customer, state string) {
	k.t.Helper()
	k.eventually("the money to be "+state, func(ctx context.Context) (bool, error) {
		s, err := k.admin.call(ctx, "GET", "/subscribers/"+customer, "", nil)
		if err != nil {
			return false, err
		}
		if state != "suspense" {
			return s.text("status") == "active" && number(s, "credit") == "900.00", nil
		}
		for _, c := range []apiClient{k.admin, k.root} {
			page, err := c.call(ctx, "GET", "/receipts?state=suspense&receiptNumber="+receipt, "", nil)
			if err != nil || len(page.list("data")) == 1 {
				return s.text("status") == "forgotten" && number(s, "credit") == "0.00", err
			}
		}
		return false, nil
	})
}

// held is a way to the SMS provider on which calls wait.
type held struct {
	begun chan struct{} // one for each call
	goOn  chan struct{} // closed when they may go on
}

// newHeld gives such a way, and its address.
func newHeld(t *testing.T, to string) (*held, string) {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	target.Path = ""
	h := &held{begun: make(chan struct{}, 100), goOn: make(chan struct{})}
	proxy := httputil.NewSingleHostReverseProxy(target)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("read a text: %v", err)
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		h.begun <- struct{}{}
		<-h.goOn
		proxy.ServeHTTP(w, r)
	}))
	atEnd(t, server.Close)
	return h, server.URL
}

// TestForget_AMessageOnItsWayLeavesNoTrace: the provider has the text and has not answered when its customer is
// forgotten. What it answers then is recorded, without the person.
func TestForget_AMessageOnItsWayLeavesNoTrace(t *testing.T) {
	t.Parallel()
	sms := smsprovider.New(smsprovider.Config{User: "acme", Key: "k3y"})
	if err := sms.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	atEnd(t, func() { _ = sms.Stop(context.Background()) })
	way, address := newHeld(t, sms.URL())
	free := sync.OnceFunc(func() { close(way.goOn) })
	atEnd(t, free)
	path, err := url.Parse(sms.URL())
	if err != nil {
		t.Fatal(err)
	}
	k := newKit(t, "DEV_CLOCK=true",
		"SMS_URL="+strings.Replace(address, "://", "://acme:k3y@", 1)+path.Path+"?from=ACME").start().signIn()
	who := k.plain("+254711000861", "Zainabu")
	request := k.must(k.admin, "POST", "/support-requests", map[string]any{
		"subscriberId": who.subscriber, "subject": "Slow at Zainabu", "text": "Zainabu says that it is slow.",
	}).text("id")
	k.must(k.admin, "POST", "/support-requests/"+request+"/messages", map[string]any{"text": "We look at it, Zainabu."})
	select {
	case <-way.begun:
	case <-k.t.Context().Done():
		t.Fatal("no message went")
	}
	k.must(k.admin, "POST", forgetPath(who.subscriber), because3March())
	k.erased(who.subscriber)
	free()
	k.eventually("the text to be taken", func(context.Context) (bool, error) { return len(sms.Texts()) > 0, nil })
	k.eventually("no message to wait", func(ctx context.Context) (bool, error) {
		page, err := k.admin.call(ctx, "GET", "/messages?subscriberId="+who.subscriber, "", nil)
		for _, m := range page.list("data") {
			if m.text("state") == "queued" || m.text("state") == "waiting" {
				return false, nil
			}
		}
		return err == nil, err
	})
	k.advance(map[string]any{"advance": "2h"}) // the second sweep
	k.eventually("the jobs about the person to be done", func(ctx context.Context) (done bool, err error) {
		err = k.db.Owner.QueryRow(ctx, `select count(*) = 2 and bool_and(state = 'completed') from `+
			k.db.Namespace.Schema("river")+`.river_job where kind = 'subscribers_erase_person'`).Scan(&done)
		return done, err
	})
	k.shown()
	k.unnamed(who)
	if texts := sms.Texts(); len(texts) != 1 {
		t.Errorf("%d texts were taken", len(texts))
	}
}

// TestForget_NoCodeOpensAnythingAfterwards: whatever the person had in hand: a session, a code that was not used yet,
// a choice at the root host, the codes for another address, and the account number on the payment page.
func TestForget_NoCodeOpensAnythingAfterwards(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	who := k.plain("+254711000871", "Makena")
	k.seen(who.subscriber, map[string]string{"phone": who.phone})
	acme, root := k.client("acme"), k.client("")
	ask := map[string]string{"identifier": who.phone}
	k.must(acme, "POST", "/auth/otp/send", ask)
	in := k.must(acme, "POST", "/auth/otp/verify", map[string]string{
		"identifier": who.phone, "code": k.codes("acme", who.phone, 1),
	})
	customer := acme
	customer.token = in.text("accessToken")
	k.must(root, "POST", "/auth/otp/send", ask)
	choice := k.must(root, "POST", "/auth/otp/verify", map[string]string{
		"identifier": who.phone, "code": k.codes("", who.phone, 2),
	})
	chosen := map[string]string{
		"verifiedToken": choice.text("verifiedToken"), "orgId": choice.list("organizations")[0].text("id"),
	}
	next := household{phone: "+254711009872", name: "nobody-else", mail: "none@home.test", username: "no-line-at-all"}
	k.must(customer, "POST", "/auth/contacts", map[string]any{"phone": next.phone})
	both := map[string]string{
		"oldCode": k.codes("acme", who.phone, 2), "newCode": k.codes("acme", next.phone, 1),
	}
	k.must(acme, "POST", "/auth/otp/send", ask)
	unused := map[string]string{"identifier": who.phone, "code": k.codes("acme", who.phone, 3)}

	k.must(k.admin, "POST", forgetPath(who.subscriber), because3March())
	k.erased(who.subscriber)
	k.eventually("the sign-in to be forgotten", func(ctx context.Context) (bool, error) {
		_, err := customer.call(ctx, "GET", "/auth/me", "", nil)
		no := asAPIError(err)
		return no != nil && no.Status == 401, nil
	})
	k.refused(acme, "POST /auth/otp/verify", unused, 401, "wrong_code")
	k.refused(root, "POST /auth/otp/verify", unused, 401, "wrong_code")
	k.refused(acme, "POST /auth/otp/complete", chosen, 401, "verified_token_invalid")
	k.refused(customer, "POST /auth/contacts/confirm", both, 401, "")
	k.refused(acme, "POST /auth/otp/verify", map[string]string{
		"identifier": next.phone, "code": both["newCode"],
	}, 401, "wrong_code")
	k.refused(acme, "POST /auth/refresh", map[string]string{"refreshToken": in.text("refreshToken")}, 401, "")
	k.refused(customer, "GET /subscribers/"+who.subscriber+"/personal-data", nil, 401, "")
	k.refused(customer, "GET /subscribers/"+who.subscriber+"/invoices", nil, 404, "")
	if said := k.must(acme, "POST", "/auth/otp/send", ask); said.text("message") == "" {
		t.Errorf("asked for another code: %v", said)
	}
	if status, page := k.payPage(who.account, true); status == http.StatusOK && strings.Contains(page, "Makena") {
		t.Errorf("the payment page: %d %s", status, page)
	}
	if n := len(k.sim.Prompts()); n != 0 {
		t.Errorf("a phone was asked to pay %d times", n)
	}
	k.unnamed(who)
	k.unnamed(next)
}
