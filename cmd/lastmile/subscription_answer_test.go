package main

import (
	"fmt"
	"testing"
)

// TestSubscribe_TheInvoiceInTheAnswerCanBeReadAtOnce reads the invoice that the answer to a write names. A process
// drafts it after the write, and another read model shows it.
func TestSubscribe_TheInvoiceInTheAnswerCanBeReadAtOnce(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	plan, named := k.plan("home", 1500), 0
	for i := range 10 {
		subscriber, _ := k.subscriber(fmt.Sprintf("25471100010%d", i))
		made := k.must(k.admin, "POST", "/subscriptions", map[string]string{"subscriberId": subscriber, "planId": plan})
		invoice := made.text("openInvoiceId")
		if invoice == "" {
			continue // not drafted within the wait on a busy machine: the answer names none
		}
		named++
		read := k.must(k.admin, "GET", "/invoices/"+invoice, nil)
		if read.text("subscriberId") != subscriber {
			t.Errorf("invoice %s is of %s", invoice, read.text("subscriberId"))
		}
		periods := made.list("periods")
		if len(periods) != 1 || periods[0].text("invoiceId") != invoice || periods[0].text("state") != "due" {
			t.Errorf("periods %v", periods)
		}
	}
	if named == 0 {
		t.Error("no answer names its invoice")
	}
}
