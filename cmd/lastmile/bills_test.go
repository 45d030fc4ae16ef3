package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/simulators/provider"
)

// newBillKit is newKit with the platform's credentials at the bill manager, and a clock that can be moved.
func newBillKit(t testing.TB) *kit {
	t.Helper()
	return newKit(t, "DEV_CLOCK=true", "BILL_MANAGER_CONSUMER_KEY=bill-key", "BILL_MANAGER_CONSUMER_SECRET=bill-secret",
		"BILL_MANAGER_SHORTCODE="+testShortcode, "BILL_MANAGER_EMAIL=bills@lastmile.test",
		"BILL_MANAGER_PHONE=254700000009")
}

// turnBills opts in, and has acme's invoices go to the bill manager.
func (k *kit) turnBills() {
	k.t.Helper()
	if out := k.must(k.root, "POST", "/bill-manager/opt-in", nil); out.text("state") != "opted_in" {
		k.t.Fatalf("opt in: %v", out)
	}
	k.must(k.admin, "PUT", "/settings/bill-manager", map[string]any{"enabled": true, "reminders": true})
}

// billState waits until an invoice's bill has a state.
func (k *kit) billState(invoice, want string) (row answer) {
	k.t.Helper()
	k.eventually("bill of "+invoice+" to be "+want, func(ctx context.Context) (bool, error) {
		list, err := k.admin.call(ctx, "GET", "/bill-manager/invoices?limit=100", "", nil)
		for _, b := range list.list("data") {
			if b.text("invoiceId") == invoice {
				row = b
				return b.text("state") == want, err
			}
		}
		return false, err
	})
	return row
}

// openBills counts the bills that customers are asked to pay, by the number of their invoice.
func (k *kit) openBills() map[string]int {
	open := map[string]int{}
	for _, b := range k.sim.Bills() {
		if b.State == "open" {
			open[b.AccountReference]++
		}
	}
	return open
}

// billFor gives the newest bill that the bill manager has of an invoice's number.
func (k *kit) billFor(number string) (found provider.Bill) {
	for _, b := range k.sim.Bills() {
		if b.AccountReference == number {
			found = b
		}
	}
	return found
}

// TestBills_WhatTheProviderRefusesChangesNothing: the state tells what the next opt-in gives, and since when the last
// one counts.
func TestBills_WhatTheProviderRefusesChangesNothing(t *testing.T) {
	t.Parallel()
	k := newBillKit(t).start().signIn()
	state := func(want string) answer {
		t.Helper()
		out := k.must(k.root, "GET", "/bill-manager/opt-in", nil)
		if out.text("state") != want || out.text("shortcode") != testShortcode || out.text("phone") != "254700000009" ||
			out.text("email") != "bills@lastmile.test" ||
			!strings.HasSuffix(out.text("callbackUrl"), "/webhooks/billmanager/payment") ||
			(out["since"] == nil) != (want == "not_opted_in") {
			t.Errorf("want %s: %v", want, out)
		}
		return out
	}
	state("not_opted_in")
	k.faults(provider.Faults{RefuseOptIn: true})
	k.refused(k.root, "POST /bill-manager/opt-in", nil, 502, "provider_refused")
	state("not_opted_in")
	k.faults(provider.Faults{})
	k.must(k.root, "POST", "/bill-manager/opt-in", map[string]any{"reminders": true})
	before := state("opted_in")
	k.faults(provider.Faults{RefuseOptIn: true})
	k.refused(k.root, "POST /bill-manager/opt-in", map[string]any{"reminders": false}, 502, "provider_refused")
	if after := state("opted_in"); after.text("since") != before.text("since") || after["reminders"] != true {
		t.Errorf("from %v to %v", before, after)
	}
	k.refused(k.admin, "GET /bill-manager/opt-in", nil, 404, "")
}

// TestBills_AnInvoiceIsPaidThroughTheBillManager: the money is reported twice, and is one receipt; the customer gets
// one receipt from the bill manager, and nobody sees its key.
func TestBills_AnInvoiceIsPaidThroughTheBillManager(t *testing.T) {
	t.Parallel()
	k := newBillKit(t).start().signIn()
	k.paybillReady()
	k.refused(k.admin, "PUT /settings/bill-manager", map[string]any{"enabled": true}, 409, "bill_manager_not_ready")
	customer, _ := k.subscriber("254711000911")
	before := k.billedByHand(customer, 300)
	k.turnBills()
	invoice := k.billedByHand(customer, 1160)
	k.billState(invoice.text("id"), "sent")
	bill := k.billFor(invoice.text("number"))
	if len(k.sim.Bills()) != 1 || bill.Amount.Amount != money.Major(1160, money.KES) || bill.Phone != "254711000911" ||
		bill.Name != "Customer 0911" || bill.Sent != 1 {
		t.Fatalf("the bill manager has %+v", k.sim.Bills())
	}
	number, err := k.sim.PayBill(provider.BillPayment{Reference: bill.Reference, AlsoPaybill: true})
	if err != nil {
		t.Fatal(err)
	}
	k.billState(invoice.text("id"), "acknowledged")
	if paid := k.must(k.admin, "GET", "/invoices/"+invoice.text("id"), nil); paid.text("state") != "paid" {
		t.Errorf("the invoice is %v", paid)
	}
	receipts := k.all(k.admin, "/receipts")
	if len(receipts) != 1 || receipts[0].text("receiptNumber") != number {
		t.Errorf("receipts %v", receipts)
	}
	if list := k.sim.BillReceipts(); len(list) != 1 || list[0].TransactionID != number {
		t.Errorf("the customer got %+v", list)
	}
	out := k.must(k.admin, "POST", "/bill-manager/invoices", map[string]any{
		"invoiceIds": []string{before.text("id"), invoice.text("id")},
	})
	if items := out.list("data"); items[0].text("state") != "queued" || items[1].text("error") != "invoice_not_open" {
		t.Errorf("sent by hand: %v", out)
	}
	k.billState(before.text("id"), "sent")
	k.audited("payments.ConfigureBillManager", "payments.QueueBill")
	k.eventually("the opt-in to be in the platform's audit log", func(ctx context.Context) (bool, error) {
		log, err := k.root.call(ctx, "GET", "/audit-log?limit=100", "", nil)
		for _, e := range log.list("data") {
			if e.text("action") == "payments.RecordBillOptIn" {
				return true, err
			}
		}
		return false, err
	})
	k.soundBooks()
	for _, secret := range []string{"bill-secret", "AK-"} {
		if strings.Contains(k.log.String(), secret) {
			t.Errorf("%s is in the log", secret)
		}
	}
}

// TestBills_HalfOfABatchAndNoAnswer: what was taken of a batch is not known; in the end each invoice is at the bill
// manager once, with a clear state here.
func TestBills_HalfOfABatchAndNoAnswer(t *testing.T) {
	t.Parallel()
	k := newBillKit(t).start().signIn()
	customer, _ := k.subscriber("254711000912")
	var ids []string
	numbers := map[string]int{}
	for n := range 7 {
		i := k.billedByHand(customer, 100+n)
		ids = append(ids, i.text("id"))
		numbers[i.text("number")] = 1
	}
	k.turnBills()
	k.faults(provider.Faults{TakeHalfOfBatch: true})
	k.must(k.admin, "POST", "/bill-manager/invoices", map[string]any{"invoiceIds": ids})
	k.eventually("a batch to be in doubt twice", func(context.Context) (bool, error) {
		return k.sim.BillCalls("bulk-invoicing") >= 2, nil
	})
	k.faults(provider.Faults{})
	k.advance(map[string]any{"advance": "6m"}) // what is not known there by now was not taken
	for _, i := range ids {
		k.billState(i, "sent")
	}
	if got := k.openBills(); fmt.Sprint(got) != fmt.Sprint(numbers) {
		t.Errorf("customers are asked for %v", got)
	}
	for _, b := range k.sim.Bills() {
		if b.Sent != 1 {
			t.Errorf("sent twice: %+v", b)
		}
	}
}

// TestBills_OneThatIsRefusedDoesNotHoldTheOthersUp: the batch is halved until it is found, and a person sends it again.
func TestBills_OneThatIsRefusedDoesNotHoldTheOthersUp(t *testing.T) {
	t.Parallel()
	k := newBillKit(t).start().signIn()
	customer, _ := k.subscriber("254711000913")
	var ids []string
	for n := range 5 {
		ids = append(ids, k.billedByHand(customer, 100+n).text("id"))
	}
	bad := k.billedByHand(customer, 999)
	k.turnBills()
	k.faults(provider.Faults{RefuseBillOf: bad.text("number")})
	k.must(k.admin, "POST", "/bill-manager/invoices", map[string]any{"invoiceIds": append(ids, bad.text("id"))})
	for _, i := range ids {
		k.billState(i, "sent")
	}
	row := k.billState(bad.text("id"), "failed")
	if n := k.sim.BillCalls("cancel-single-invoice"); n != 0 {
		t.Errorf("%d bills were cancelled that were never made", n)
	}
	if row.text("code") != "400" || row.text("error") == "" {
		t.Errorf("failed as %v", row)
	}
	failed := k.must(k.admin, "GET", "/bill-manager/invoices?state=failed", nil).list("data")
	if len(failed) != 1 || failed[0].text("invoiceId") != bad.text("id") {
		t.Errorf("failed %v", failed)
	}
	k.faults(provider.Faults{})
	k.must(k.admin, "POST", "/bill-manager/invoices", map[string]any{"invoiceIds": []string{bad.text("id")}})
	k.billState(bad.text("id"), "sent")
	if got := k.openBills(); len(got) != 6 || got[bad.text("number")] != 1 {
		t.Errorf("customers are asked for %v", got)
	}
}

// TestBills_OneBillForEachInvoiceThroughKills: the program is killed while bills are sent to a bill manager that is
// slow and loses answers.
func TestBills_OneBillForEachInvoiceThroughKills(t *testing.T) {
	t.Parallel()
	k := newBillKit(t)
	c := k.spawn(freePort(t))
	k.signIn()
	customer, _ := k.subscriber("254711000914")
	k.turnBills()
	numbers := map[string]int{}
	var ids []string
	for round := range 3 {
		k.faults(provider.Faults{LoseBills: 1, LateBillsMs: 200 * round})
		calls := k.sim.BillCalls("bulk-invoicing") + k.sim.BillCalls("single-invoicing")
		for n := range 3 {
			i := k.billedByHand(customer, 100*(round+1)+n)
			ids, numbers[i.text("number")] = append(ids, i.text("id")), 1
		}
		k.eventually("a call", func(context.Context) (bool, error) {
			made := k.sim.BillCalls("bulk-invoicing") + k.sim.BillCalls("single-invoicing")
			return made > calls, nil
		})
		c.kill9()
		c = k.spawn(c.addr)
	}
	k.faults(provider.Faults{})
	k.advance(map[string]any{"advance": "6m"}) // what is not known there by now was not taken
	for _, i := range ids {
		k.billState(i, "sent")
	}
	if got := k.openBills(); fmt.Sprint(got) != fmt.Sprint(numbers) {
		t.Errorf("customers are asked for %v, want %v", got, numbers)
	}
}

// TestBills_ABatchThatIsWorkedOnMakesNoTwoBills: the connection is lost, and the bill manager takes the bills some
// seconds later, when it has said already that it knows none of them.
func TestBills_ABatchThatIsWorkedOnMakesNoTwoBills(t *testing.T) {
	t.Parallel()
	k := newBillKit(t).start().signIn()
	customer, _ := k.subscriber("254711000918")
	ids := []string{k.billedByHand(customer, 100).text("id"), k.billedByHand(customer, 200).text("id")}
	k.turnBills()
	k.faults(provider.Faults{TakeBillsLateMs: 8_000})
	k.must(k.admin, "POST", "/bill-manager/invoices", map[string]any{"invoiceIds": ids})
	k.eventually("a call", func(context.Context) (bool, error) { return k.sim.BillCalls("bulk-invoicing") > 0, nil })
	k.faults(provider.Faults{})
	k.eventually("each to be asked about", func(context.Context) (bool, error) {
		return k.sim.BillCalls("cancel-single-invoice") >= len(ids), nil
	})
	k.eventually("them to be taken", func(context.Context) (bool, error) { return len(k.openBills()) == len(ids), nil })
	k.advance(map[string]any{"advance": "6m"})
	for _, i := range ids {
		k.billState(i, "sent")
	}
	for number, open := range k.openBills() {
		if open != 1 {
			t.Errorf("the customer is asked %d times for %s", open, number)
		}
	}
}

// TestBills_ACreditNoteOverAPartAsksForTheRest: the bill that is there is taken back, and sent again.
func TestBills_ACreditNoteOverAPartAsksForTheRest(t *testing.T) {
	t.Parallel()
	k := newBillKit(t).start().signIn()
	customer, _ := k.subscriber("254711000919")
	k.turnBills()
	i := k.billedByHand(customer, 300)
	k.billState(i.text("id"), "sent")
	k.must(k.admin, "POST", "/invoices/"+i.text("id")+"/credit-note", map[string]any{"amount": 120, "reason": "slow"})
	k.eventually("another bill", func(context.Context) (bool, error) {
		return k.billFor(i.text("number")).Amount.Decimal() == "180.00", fmt.Errorf("%+v", k.sim.Bills())
	})
	k.billState(i.text("id"), "sent")
	if got := k.openBills(); got[i.text("number")] != 1 {
		t.Errorf("customers are asked for %+v", k.sim.Bills())
	}
}

// TestBills_WhoTurnsItOffAndThenTakesTheMoneyLeavesNone: first off, then a shortcode of their own; a person can take
// one back all the same.
func TestBills_WhoTurnsItOffAndThenTakesTheMoneyLeavesNone(t *testing.T) {
	t.Parallel()
	k := newBillKit(t).start().signIn()
	customer, _ := k.subscriber("254711000920")
	k.turnBills()
	sent, other := k.billedByHand(customer, 100), k.billedByHand(customer, 200)
	k.billState(sent.text("id"), "sent")
	k.billState(other.text("id"), "sent")
	k.must(k.admin, "PUT", "/settings/bill-manager", map[string]any{"enabled": false})
	k.settled()
	k.billState(sent.text("id"), "sent")
	k.must(k.admin, "PUT", "/settings/payment-gateway", map[string]any{
		"mode": "direct", "shortcode": "600998", "consumerKey": "own", "consumerSecret": "own-secret", "passkey": "p",
	})
	k.must(k.admin, "POST", "/bill-manager/invoices/"+other.text("id")+"/cancel", nil)
	k.billState(sent.text("id"), "cancelled")
	k.billState(other.text("id"), "cancelled")
	if got := k.openBills(); len(got) > 0 {
		t.Errorf("customers are asked for %v", got)
	}
}

// TestBills_WhatIsNotOwedAnyMoreIsTakenBack: voided, credited whole, paid in another way; a cancellation that happened
// before is a success.
func TestBills_WhatIsNotOwedAnyMoreIsTakenBack(t *testing.T) {
	t.Parallel()
	k := newBillKit(t)
	moving := clock.NewMovable(clock.System(), 0)
	k.clock = moving
	k.start().signIn()
	k.paybillReady()
	customer, _ := k.subscriber("254711000915")
	k.turnBills()
	voided, credited := k.billedByHand(customer, 100), k.billedByHand(customer, 200)
	paid, withdrawn := k.billedByHand(customer, 300), k.billedByHand(customer, 400)
	for _, i := range []answer{voided, credited, paid, withdrawn} {
		k.billState(i.text("id"), "sent")
	}
	k.faults(provider.Faults{CancelConflict: true, C2BAlso: true})
	k.must(k.admin, "POST", "/invoices/"+voided.text("id")+"/void", map[string]any{"reason": "twice"})
	k.billState(voided.text("id"), "cancelled")
	k.faults(provider.Faults{C2BAlso: true})
	k.must(k.admin, "POST", "/invoices/"+credited.text("id")+"/credit-note", map[string]any{
		"amount": 200, "reason": "slow",
	})
	k.billState(credited.text("id"), "cancelled")
	k.must(k.admin, "POST", "/bill-manager/invoices/"+withdrawn.text("id")+"/cancel", nil)
	k.billState(withdrawn.text("id"), "cancelled")
	k.pay("254711000915", paid.text("number"), 300)
	k.eventually("the invoice to be paid", func(ctx context.Context) (bool, error) {
		i, err := k.admin.call(ctx, "GET", "/invoices/"+paid.text("id"), "", nil)
		return i.text("state") == "paid", err
	})
	k.eventually("the bill to be known as settled", func(ctx context.Context) (bool, error) { // its pause begins there
		log := "/audit-log?action=payments.SettleBill&target=bill:" + paid.text("id")
		page, err := k.admin.call(ctx, "GET", log, "", nil)
		return len(page.list("data")) == 1, err
	})
	if state := k.billState(paid.text("id"), "sent"); state["leaving"] != false {
		t.Errorf("taken back at once: %v", state)
	}
	k.jump(moving, moving.Now().Add(6*time.Minute))
	k.billState(paid.text("id"), "cancelled")
	if got := k.openBills(); len(got) > 0 {
		t.Errorf("customers are asked for %v", got)
	}
	k.soundBooks()
}

// TestBills_AreForOrganizationsOnTheSharedPaybillAlone, and nobody reaches those of another one.
func TestBills_AreForOrganizationsOnTheSharedPaybillAlone(t *testing.T) {
	t.Parallel()
	k := newBillKit(t).start().signIn()
	other := k.organization("other", "admin@other.test")
	customer, _ := k.subscriber("254711000916")
	k.turnBills()
	sent := k.billedByHand(customer, 100)
	k.billState(sent.text("id"), "sent")
	k.refused(other, "POST /bill-manager/invoices", map[string]any{"invoiceIds": []string{sent.text("id")}}, 409,
		"bill_manager_off")
	k.must(other, "PUT", "/settings/bill-manager", map[string]any{"enabled": true})
	k.refused(other, "POST /bill-manager/invoices", map[string]any{"invoiceIds": []string{sent.text("id")}}, 404,
		"invoice_not_found")
	k.refused(other, "POST /bill-manager/invoices/"+sent.text("id")+"/cancel", nil, 404, "bill_not_found")
	if list := k.must(other, "GET", "/bill-manager/invoices", nil).list("data"); len(list) > 0 {
		t.Errorf("another organization sees %v", list)
	}
	k.must(k.admin, "PUT", "/settings/payment-gateway", map[string]any{
		"mode": "direct", "shortcode": "600999", "consumerKey": "own", "consumerSecret": "own-secret", "passkey": "p",
	})
	k.billState(sent.text("id"), "cancelled")
	k.refused(k.admin, "GET /settings/bill-manager", nil, 409, "bill_manager_centralized_only")
	k.refused(k.admin, "PUT /settings/bill-manager", map[string]any{"enabled": true}, 409,
		"bill_manager_centralized_only")
	last := k.billedByHand(customer, 200)
	k.settled()
	if got := k.openBills(); len(got) > 0 || got[last.text("number")] > 0 {
		t.Errorf("customers are asked for %v", got)
	}
}

// TestBills_ThatThePlatformIsRefusedIsTold, to the operator, until a key is taken.
func TestBills_ThatThePlatformIsRefusedIsTold(t *testing.T) {
	t.Parallel()
	k := newBillKit(t).start().signIn()
	customer, _ := k.subscriber("254711000924")
	k.turnBills()
	k.faults(provider.Faults{WrongAppKey: true})
	waits := k.billedByHand(customer, 100)
	k.eventually("the refusal to be told", func(ctx context.Context) (bool, error) {
		out, err := k.root.call(ctx, "GET", "/bill-manager/opt-in", "", nil)
		return out["refusedSince"] != nil && out.text("state") == "opted_in", err
	})
	k.faults(provider.Faults{})
	if out := k.must(k.root, "POST", "/bill-manager/opt-in", nil); out["refusedSince"] != nil {
		t.Errorf("with another key: %v", out)
	}
	k.billState(waits.text("id"), "sent")
	if out := k.must(k.root, "GET", "/bill-manager/opt-in", nil); out["refusedSince"] != nil {
		t.Errorf("afterwards: %v", out)
	}
}

// TestBills_WhatWaitsWhenItIsTurnedOffIsNotSent, and a platform without credentials says so.
func TestBills_WhatWaitsWhenItIsTurnedOffIsNotSent(t *testing.T) {
	t.Parallel()
	k := newBillKit(t).start().signIn()
	customer, _ := k.subscriber("254711000917")
	k.turnBills()
	k.faults(provider.Faults{WrongAppKey: true})
	waits := k.billedByHand(customer, 100)
	k.billState(waits.text("id"), "queued")
	k.must(k.admin, "PUT", "/settings/bill-manager", map[string]any{"enabled": false})
	k.billState(waits.text("id"), "cancelled")
	k.must(k.root, "POST", "/bill-manager/opt-in", map[string]any{"reminders": false})
	k.faults(provider.Faults{})
	k.must(k.admin, "PUT", "/settings/bill-manager", map[string]any{"enabled": true})
	k.must(k.admin, "POST", "/bill-manager/invoices", map[string]any{"invoiceIds": []string{waits.text("id")}})
	k.billState(waits.text("id"), "sent")

	bare := newKit(t).start().signIn()
	if out := bare.must(bare.root, "GET", "/bill-manager/opt-in", nil); out.text("state") != "not_configured" ||
		len(out["missing"].([]any)) != 4 {
		t.Errorf("without credentials: %v", out)
	}
	bare.refused(bare.root, "POST /bill-manager/opt-in", nil, 409, "bill_manager_not_configured")
}
