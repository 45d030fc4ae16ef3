package main

import (
	"context"
	"net/http"
	"testing"
	"time"
)

// TestWebhooks_AKillLosesNoDeliveryAndNoAttempt kills the program with SIGKILL while an endpoint is being called: the
// log has that attempt, without an outcome, and the message comes again under its id. A delivery that waits for its
// next attempt keeps the instant of it.
func TestWebhooks_AKillLosesNoDeliveryAndNoAttempt(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true")
	program := k.spawn(freePort(t))
	k.signIn()
	failing, hanging := newReceiver(t), newReceiver(t)
	failing.answer(http.StatusInternalServerError)
	waits, _ := k.hook(failing, "invoice.created")
	hangs, _ := k.hook(hanging, "invoice.created")
	let := hanging.hang()
	subscriber, _ := k.subscriber("254711000001")
	k.subscribe(subscriber, k.plan("home", 1000))
	before := k.delivery(waits, "invoice.created", "pending", 1)
	k.told(hanging, "invoice.created", 1)
	program.kill9()
	let()
	k.spawn(program.addr)
	k.admin, _ = k.login("acme", testAdminEmail, testPassword)
	k.root, _ = k.login("", testRootEmail, testPassword)
	after := k.delivery(waits, "invoice.created", "pending", 1)
	if at := after.text("nextAttemptAt"); at != before.text("nextAttemptAt") {
		t.Errorf("next attempt at %s, before the kill at %s", at, before.text("nextAttemptAt"))
	}
	again := k.delivery(hangs, "invoice.created", "delivered", 2).list("attempts")
	if again[0].text("error") != "unknown" || again[0]["status"] != nil || again[1]["error"] != nil {
		t.Errorf("attempts %v", again)
	}
	list := k.told(hanging, "invoice.created", 2)
	if list[0].header.Get("Webhook-Id") != list[1].header.Get("Webhook-Id") {
		t.Errorf("another id: %v", list)
	}
	failing.answer(http.StatusOK)
	k.advance(map[string]any{"advance": time.Minute.String()})
	k.delivery(waits, "invoice.created", "delivered", 2)
}

// hang has the receiver answer nothing until the returned function is called.
func (r *receiver) hang() (let func()) {
	ctx, cancel := context.WithCancel(context.Background())
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hangs = ctx
	return cancel
}
