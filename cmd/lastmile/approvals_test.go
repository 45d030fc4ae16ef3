package main

import (
	"context"
	"fmt"
	"sync"
	"testing"
)

// seated makes another administrator of acme, with a password of their own.
func (k *kit) seated(name string) apiClient {
	k.t.Helper()
	email := name + "@acme.test"
	k.must(k.admin, "POST", "/users", map[string]string{
		"email": email, "firstName": name, "role": "admin", "temporaryPassword": "temporary-1",
	})
	c, _ := k.login("acme", email, "temporary-1")
	k.must(c, "POST", "/auth/password", map[string]string{
		"currentPassword": "temporary-1", "newPassword": testPassword,
	})
	return c
}

// colleagues makes administrators, and moves the clock to where each of them counts as a second person.
func (k *kit) colleagues(names ...string) []apiClient {
	k.t.Helper()
	for _, name := range names {
		k.seated(name)
	}
	k.advance(map[string]any{"advance": "72h"})
	var signedIn []apiClient
	for _, name := range names {
		c, _ := k.login("acme", name+"@acme.test", testPassword)
		signedIn = append(signedIn, c)
	}
	return signedIn
}

// limitedTo sets how much one person may give away on a day.
func (k *kit) limitedTo(amount int) {
	k.t.Helper()
	k.must(k.admin, "PUT", "/settings/approvals", map[string]any{"limit": amount})
}

// invoicedFor makes a customer with an invoice of an amount, and gives both ids.
func (k *kit) invoicedFor(n, amount int) (customer, invoice string) {
	k.t.Helper()
	customer = k.must(k.admin, "POST", "/subscribers", map[string]any{
		"firstName": "Customer", "phone": fmt.Sprintf("+2547112%05d", n),
	}).text("id")
	made := k.must(k.admin, "POST", "/invoices", map[string]any{
		"subscriberId": customer, "lines": []map[string]any{
			{"description": "Installation", "quantity": 1, "unitPrice": amount},
		},
	})
	k.eventually("the invoice to be issued", func(ctx context.Context) (bool, error) {
		now, err := k.admin.call(ctx, "GET", "/invoices/"+made.text("id"), "", nil)
		return now.text("state") == "issued", err
	})
	return customer, made.text("id")
}

// askedFor does an act that needs a second person, and gives the approval.
func (k *kit) askedFor(c apiClient, path string, body any) string {
	k.t.Helper()
	out := k.must(c, "POST", path, body)
	if out.text("status") != "waiting" || out.text("approvalId") == "" {
		k.t.Fatalf("POST %s: got %v, want what waits for a second person", path, out)
	}
	k.approvalIs(out.text("approvalId"), "waiting")
	return out.text("approvalId")
}

// approvalIs waits until an approval is in a state.
func (k *kit) approvalIs(approval, state string) answer {
	k.t.Helper()
	var now answer
	k.eventually("approval "+state, func(ctx context.Context) (bool, error) {
		var err error
		now, err = k.admin.call(ctx, "GET", "/approvals/"+approval, "", nil)
		if no := asAPIError(err); no != nil && no.Status == 404 {
			return false, nil
		}
		return now.text("state") == state, err
	})
	return now
}

// approves agrees as a colleague, and waits for the end.
func (k *kit) approves(c apiClient, approval, state string) answer {
	k.t.Helper()
	k.must(c, "POST", "/approvals/"+approval+"/approve", nil)
	return k.approvalIs(approval, state)
}

// because is the body of an act with a reason alone.
func because() map[string]any { return map[string]any{"reason": "agreed on the phone"} }

func TestApprovals_AnActAboveTheLimitWaitsForAColleague(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	k.limitedTo(1000)
	colleague := k.colleagues("cara")[0]
	other, support := k.strangers()
	_, key := k.apiKey(nil)
	customer, invoice := k.invoicedFor(1, 3000)
	some := func(amount int) map[string]any { return map[string]any{"amount": amount, "reason": "agreed"} }
	if got := k.must(k.admin, "POST", "/subscribers/"+customer+"/write-off", some(400)); got.at("balance") != "2600" {
		t.Errorf("within the limit: %v", got)
	}
	note := "/invoices/" + invoice + "/credit-note"
	k.refused(k.admin, "POST "+note, some(9000), 409, "credit_note_too_large") // and nobody is asked
	approval := k.askedFor(key, note, some(700))
	at := "/approvals/" + approval
	if a := k.approvalIs(approval, "waiting"); a.at("amount") != "700" || a.text("kind") != "credit_note" ||
		a.at("what.invoiceId") != invoice || a.at("subscriber.id") != customer || a.at("requestedBy.name") == "" {
		t.Errorf("waits: %v", a)
	}
	k.todayShows(k.admin, map[string]string{"pending.approvals": "1"})
	for call, body := range map[string]any{
		"POST " + at + "/approve": nil, "POST " + at + "/refuse": because(), "POST " + at + "/withdraw": nil,
	} {
		k.refused(other, call, body, 404, "approval_not_found")
		k.refused(support, call, body, 403, "role_required")
	}
	k.refused(colleague, "POST "+at+"/withdraw", nil, 403, "approval_of_another")
	k.refused(k.admin, "POST "+at+"/approve", nil, 403, "approval_own")
	k.refused(k.admin, "POST "+at+"/refuse", because(), 403, "approval_own")
	k.refused(key, "POST "+at+"/approve", nil, 403, "api_key_not_allowed")
	k.refused(key, "POST "+at+"/refuse", because(), 403, "api_key_not_allowed")
	k.refused(other, "GET "+at, nil, 404, "approval_not_found")
	if list := k.all(other, "/approvals"); len(list) != 0 {
		t.Errorf("another organization sees %v", list)
	}
	k.approves(colleague, approval, "carried_out")
	k.refused(colleague, "POST "+at+"/approve", nil, 409, "approval_decided")
	k.eventually("the credit note", func(ctx context.Context) (bool, error) {
		now, err := k.admin.call(ctx, "GET", "/subscribers/"+customer, "", nil)
		return now.at("balance") == "1900", err
	})
	refused := k.askedFor(k.admin, "/subscribers/"+customer+"/write-off", because())
	k.must(colleague, "POST", "/approvals/"+refused+"/refuse", because())
	withdrawn := k.askedFor(k.admin, "/invoices/"+invoice+"/credit-note", some(1000))
	k.must(k.admin, "POST", "/approvals/"+withdrawn+"/withdraw", nil)
	k.refused(colleague, "POST /approvals/"+withdrawn+"/approve", nil, 409, "approval_decided")
	k.approvalIs(refused, "refused")
	k.settled()
	k.soundBooks()
	if now := k.must(k.admin, "GET", "/subscribers/"+customer, nil); now.at("balance") != "1900" {
		t.Errorf("afterwards: %v", now)
	}
	k.timelineTells(customer, "approval_requested", "approval_granted", "approval_refused", "approval_withdrawn")
	k.audited("billing.RequestApproval")
	k.audited("billing.GrantApproval")
	k.correctionsAre("credit_note 1 700 1", "write_off 1 400 0")
}

// timelineTells waits until a customer's timeline has sentences.
func (k *kit) timelineTells(customer string, codes ...string) {
	k.t.Helper()
	for _, code := range codes {
		k.eventually("the timeline to tell "+code, func(ctx context.Context) (bool, error) {
			rows, err := k.admin.call(ctx, "GET", "/subscribers/"+customer+"/timeline?limit=100", "", nil)
			for _, r := range rows.list("data") {
				if r.text("code") == code {
					return true, err
				}
			}
			return false, err
		})
	}
}

func TestApprovals_ManyActsAtOnceStayWithinTheLimit(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	k.limitedTo(1000)
	_, key := k.apiKey(nil)
	const acts = 8
	var invoices [acts]string
	for n := range acts {
		_, invoices[n] = k.invoicedFor(n, 300)
	}
	var done, waits int
	var mu sync.Mutex
	var all sync.WaitGroup
	for n, invoice := range invoices {
		c := k.admin
		if n%2 == 0 {
			c = key
		}
		all.Go(func() {
			out, err := c.call(t.Context(), "POST", "/invoices/"+invoice+"/void", "void-"+invoice, because())
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				t.Errorf("void: %v", err)
			case out.text("status") == "waiting":
				waits++
			case out.text("state") == "voided":
				done++
			default:
				t.Errorf("void: %v", out)
			}
		})
	}
	all.Wait()
	if done != 3 || waits != acts-3 {
		t.Errorf("%d were done and %d wait, want 3 and %d", done, waits, acts-3)
	}
	k.eventually("the list to show all that wait", func(context.Context) (bool, error) {
		return len(k.all(k.admin, "/approvals?state=waiting")) == acts-3, nil
	})
	// A repeat under its key is the same act, and asks nobody again.
	for _, invoice := range invoices {
		out, err := k.admin.call(t.Context(), "POST", "/invoices/"+invoice+"/void", "again-"+invoice, because())
		second, errAgain := k.admin.call(t.Context(), "POST", "/invoices/"+invoice+"/void", "again-"+invoice, because())
		if err != nil || errAgain != nil || out.text("approvalId") != second.text("approvalId") {
			t.Errorf("a repeat: %v, %v, %v, %v", out, err, second, errAgain)
		}
	}
}

func TestApprovals_OfTwoWordsAtOnceOneCounts(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	k.limitedTo(0)
	colleagues := k.colleagues("cara", "dan")
	for n := range 4 {
		customer, _ := k.invoicedFor(n, 500)
		approval := k.askedFor(k.admin, "/subscribers/"+customer+"/write-off", because())
		words := map[string]apiClient{"/approve": colleagues[0], "/withdraw": k.admin}
		if n%2 == 0 {
			words = map[string]apiClient{"/approve": colleagues[0], "/approve?": colleagues[1]}
		}
		var all sync.WaitGroup
		var mu sync.Mutex
		counted := 0
		for word, c := range words {
			all.Go(func() {
				_, err := c.call(t.Context(), "POST", "/approvals/"+approval+word, "", nil)
				mu.Lock()
				defer mu.Unlock()
				if no := asAPIError(err); err == nil {
					counted++
				} else if no == nil || no.Code != "approval_decided" {
					t.Errorf("%s: %v", word, err)
				}
			})
		}
		all.Wait()
		if counted != 1 {
			t.Errorf("%d words counted, want 1", counted)
		}
	}
	k.settled()
	k.soundBooks()
}

func TestApprovals_WhatIsNotSoAnyMoreDoesNothing(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	k.limitedTo(1000)
	colleague := k.colleagues("cara")[0]
	customer, _ := k.invoicedFor(1, 1500)
	another, _ := k.invoicedFor(2, 1500)
	approval := k.askedFor(k.admin, "/subscribers/"+customer+"/write-off", because())
	receipt := k.must(k.admin, "POST", "/payments/cash", map[string]any{
		"subscriberId": customer, "amount": 900, "reference": "till 1",
	})
	id := receipt.text("receiptId")
	if id == "" {
		id = receipt.text("id")
	}
	if failed := k.approves(colleague, approval, "failed"); failed.text("failure") != "write_off_too_large" {
		t.Errorf("what is paid by now: %v", failed)
	}
	k.must(k.admin, "POST", "/subscribers/"+another+"/write-off", map[string]any{"amount": 200, "reason": "agreed"})
	reversal := k.askedFor(k.admin, "/receipts/"+id+"/reverse", because())
	k.must(colleague, "POST", "/receipts/"+id+"/reattribute", map[string]any{
		"subscriberId": another, "reason": "another's", "noPrompt": true,
	})
	if failed := k.approves(colleague, reversal, "failed"); failed.text("failure") != "approval_outdated" {
		t.Errorf("what was moved by now: %v", failed)
	}
	// Who has asked is no administrator any more.
	lost := k.askedFor(colleague, "/subscribers/"+customer+"/write-off", because())
	me := k.must(colleague, "GET", "/auth/me", nil).text("id")
	k.must(k.admin, "PATCH", "/users/"+me, map[string]any{"role": "support"})
	if failed := k.approves(k.admin, lost, "failed"); failed.text("failure") != "approval_role_lost" {
		t.Errorf("whose role was lost: %v", failed)
	}
	k.settled()
	k.soundBooks()
}

func TestApprovals_ToRaiseTheLimitWaitsForASecondAdministrator(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	k.limitedTo(1000)
	k.limitedTo(2000) // the only administrator
	colleague := k.colleagues("cara")[0]
	_, key := k.apiKey(nil)
	path := "/settings/approvals"
	k.refused(key, "PUT "+path, map[string]any{"limit": 10}, 403, "api_key_not_allowed")
	k.refused(k.admin, "PUT "+path, map[string]any{}, 422, "invalid_input")
	k.limitedTo(500)
	for _, wanted := range []any{600, nil} {
		out := k.must(k.admin, "PUT", path, map[string]any{"limit": wanted})
		if out.text("status") != "waiting" {
			t.Fatalf("to raise it to %v: %v", wanted, out)
		}
		approval := out.text("approvalId")
		k.approvalIs(approval, "waiting")
		if now := k.must(k.admin, "GET", path, nil); now.at("limit") == fmt.Sprint(wanted) {
			t.Errorf("raised alone: %v", now)
		}
		k.refused(k.admin, "POST /approvals/"+approval+"/approve", nil, 403, "approval_own")
		k.approves(colleague, approval, "carried_out")
	}
	if now := k.must(k.admin, "GET", path, nil); now["limit"] != nil {
		t.Errorf("afterwards: %v", now)
	}
}

// TestApprovals_NoSecondPersonIsMadeForTheAct: who makes a seat, or gives a colleague another password or a sign-in
// without the second factor, cannot agree with himself through it.
func TestApprovals_NoSecondPersonIsMadeForTheAct(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	k.limitedTo(100)
	colleague := k.colleagues("cara")[0]
	customer, _ := k.invoicedFor(1, 3000)
	puppet := k.seated("puppet")
	some := map[string]any{"amount": 700, "reason": "no"}
	approval := k.askedFor(k.admin, "/subscribers/"+customer+"/write-off", some)
	k.refused(puppet, "POST /approvals/"+approval+"/approve", nil, 403, "approver_too_new")
	me := k.must(colleague, "GET", "/auth/me", nil).text("id")
	k.must(k.admin, "POST", "/users/"+me+"/password", map[string]string{"temporaryPassword": "temporary-2"})
	taken, _ := k.login("acme", "cara@acme.test", "temporary-2")
	k.must(taken, "POST", "/auth/password", map[string]string{
		"currentPassword": "temporary-2", "newPassword": testPassword + "-2",
	})
	taken, _ = k.login("acme", "cara@acme.test", testPassword+"-2")
	k.refused(taken, "POST /approvals/"+approval+"/approve", nil, 403, "approver_too_new")

	// Nor does a refund that one record asks for and another one lets go.
	paid := k.must(k.admin, "POST", "/payments/cash", map[string]any{
		"subscriberId": customer, "amount": 4000, "reference": "till 1",
	})
	receipt := paid.text("receiptId")
	refund := k.must(k.admin, "POST", "/receipts/"+receipt+"/refund", map[string]any{
		"amount": 900, "reason": "paid too much", "by": "manual",
	}).text("id")
	k.eventually("the money of the refund to wait", func(ctx context.Context) (bool, error) {
		now, err := k.admin.call(ctx, "GET", "/refunds/"+refund, "", nil)
		return now["secured"] == true, err
	})
	k.refused(puppet, "POST /refunds/"+refund+"/approve", nil, 403, "approver_too_new")

	// Who has sent the others away raises the limit alone three days later.
	for _, name := range []string{"puppet", "cara"} {
		for _, u := range k.all(k.admin, "/users") {
			if u.text("email") == name+"@acme.test" {
				k.must(k.admin, "POST", "/users/"+u.text("id")+"/disable", because())
			}
		}
	}
	out := k.must(k.admin, "PUT", "/settings/approvals", map[string]any{"limit": 200})
	if out.text("status") != "waiting" {
		t.Errorf("raised by who sent the others away a moment ago: %v", out)
	}
	k.advance(map[string]any{"advance": "72h"})
	k.limitedTo(200)
	if now := k.must(k.admin, "GET", "/settings/approvals", nil); now.at("limit") != "200" {
		t.Errorf("raised by the only one: %v", now)
	}
}

// TestApprovals_APhoneThatAnotherTypesMakesNoSecondPerson: a code to the phone opens the seat of a colleague who has
// not proven the address.
func TestApprovals_APhoneThatAnotherTypesMakesNoSecondPerson(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	k.limitedTo(100)
	colleague := k.colleagues("cara")[0]
	customer, _ := k.invoicedFor(1, 3000)
	approval := k.askedFor(k.admin, "/subscribers/"+customer+"/write-off", because())
	me := k.must(colleague, "GET", "/auth/me", nil).text("id")
	const mine = "+254799000111"
	k.must(k.admin, "PATCH", "/users/"+me, map[string]any{"phone": mine})
	puppet := k.client("acme")
	k.must(puppet, "POST", "/auth/otp/send", map[string]string{"identifier": mine})
	puppet.token = k.must(puppet, "POST", "/auth/otp/verify", map[string]string{
		"identifier": mine, "code": k.codes("acme", mine, 1),
	}).text("accessToken")
	k.refused(puppet, "POST /approvals/"+approval+"/approve", nil, 403, "approver_too_new")
}

// TestApprovals_AKillBetweenApprovalAndActDoesItOnce: the program is killed while a colleague approves.
func TestApprovals_AKillBetweenApprovalAndActDoesItOnce(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true")
	program := k.spawn(freePort(t))
	k.signIn()
	k.limitedTo(100)
	k.colleagues("cara")
	customer, _ := k.invoicedFor(1, 1500)
	body := map[string]any{"amount": 700, "reason": "agreed"}
	approval := k.askedFor(k.admin, "/subscribers/"+customer+"/write-off", body)
	colleague, _ := k.login("acme", "cara@acme.test", testPassword)
	var all sync.WaitGroup
	all.Go(func() { _, _ = colleague.call(t.Context(), "POST", "/approvals/"+approval+"/approve", "once", nil) })
	for range 2 {
		program.kill9()
		all.Wait()
		program = k.spawn(freePort(t))
	}
	k.admin, _ = k.login("acme", testAdminEmail, testPassword)
	colleague, _ = k.login("acme", "cara@acme.test", testPassword)
	if now := k.must(k.admin, "GET", "/approvals/"+approval, nil); now.text("state") == "waiting" {
		k.must(colleague, "POST", "/approvals/"+approval+"/approve", nil)
	}
	k.approvalIs(approval, "carried_out")
	k.eventually("one write-off", func(ctx context.Context) (bool, error) {
		now, err := k.admin.call(ctx, "GET", "/subscribers/"+customer, "", nil)
		return now.at("balance") == "800", err
	})
	k.correctionsAre("write_off 1 700 1")
}
