package messagingcases_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/messaging"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/usecases/messaging"
)

// handing is a kit whose gateway cannot recognize a repeat.
func handing(t *testing.T) *kit {
	t.Helper()
	k := newKit(t, events.SubscriberDetails{Phone: personal.Of("+254711000001")})
	k.repeats = true
	k.delivery.Offers = coretest.NewVault(t, vault.Config{Clock: k.clock}).Offers
	return k
}

// ended gives the last event of the only message.
func (k *kit) ended(t *testing.T) events.Event {
	t.Helper()
	which := k.sent[0].ID
	list, err := bus.HistoryUnchecked[messaging.Message](t.Context(), k.Bus, which)
	if err != nil || len(list) == 0 {
		t.Fatalf("no message: %v", err)
	}
	return list[len(list)-1].Event
}

// TestSend_WhatAGatewayMayHaveTakenIsNotHandedOverAgain: an answer that was lost leaves the message in doubt, for every
// later try, and for another program.
func TestSend_WhatAGatewayMayHaveTakenIsNotHandedOverAgain(t *testing.T) {
	t.Parallel()
	k := handing(t)
	k.says = messagingcases.ErrUnclear
	for range 2 {
		if _, err := k.send(t, "one"); err != nil {
			t.Fatal(err)
		}
	}
	if e, ok := k.ended(t).(events.MessageDoubted); !ok || e.Channel != events.ChannelSMS || len(k.sent) != 1 {
		t.Errorf("%#v; handed over %d times", k.ended(t), len(k.sent))
	}
}

// TestSend_AStopWhileAMessageIsHandedOver: before the gateway has answered nobody knows whether it took the message;
// afterwards its answer is recorded. So it is when the message is late by then, or its news does not hold any more.
func TestSend_AStopWhileAMessageIsHandedOver(t *testing.T) {
	t.Parallel()
	for what, happens := range map[string]func(*testing.T, *kit){
		"nothing happens":   func(*testing.T, *kit) {},
		"its moment passes": func(_ *testing.T, k *kit) { k.clock.Set(k.args.Until) },
		"it is paid":        func(t *testing.T, k *kit) { k.settled(t, k.args.SubscriptionID) },
	} {
		for _, answered := range []bool{false, true} {
			k := handing(t)
			k.stopsAtGateway(t, answered)
			happens(t, k)
			if _, err := k.send(t, "one"); err != nil {
				t.Fatal(err)
			}
			sent, recorded := k.ended(t).(events.MessageSent)
			_, doubted := k.ended(t).(events.MessageDoubted)
			if len(k.sent) != 1 || recorded != answered || doubted == answered ||
				recorded && sent.Reference != "ref-1" {
				t.Errorf("%s, answered %v: %#v; handed over %d times", what, answered, k.ended(t), len(k.sent))
			}
		}
	}
}

// stopsAtGateway hands the message over with a program that stops then, before or after it notes the answer, and has
// another program go on.
func (k *kit) stopsAtGateway(t *testing.T, answered bool) {
	t.Helper()
	if _, err := k.sendUntil(t, "one", "confirm"); err == nil { // the log takes no record
		t.Fatal("it was recorded")
	}
	offers := k.delivery.Offers
	if !answered {
		if err := offers.End(t.Context(), k.sent[0].ID); err != nil {
			t.Fatal(err)
		}
		if _, err := offers.Begin(t.Context(), k.sent[0].ID); err != nil {
			t.Fatal(err)
		}
	}
	k.delivery = messagingcases.Delivery{
		Bus: k.Bus, Views: k.delivery.Views, Clock: k.clock, PayLink: k.delivery.PayLink,
		Gateways: k.delivery.Gateways, Offers: offers,
	}
}

// TestSend_WhatAGatewayRefusesEndsAndWhatItDidNotTakeIsTriedAgain: the reasons are told apart.
func TestSend_WhatAGatewayRefusesEndsAndWhatItDidNotTakeIsTriedAgain(t *testing.T) {
	t.Parallel()
	k := handing(t)
	k.says = errDown
	if _, err := k.send(t, "one"); err == nil {
		t.Fatal("what was not taken is not tried again")
	}
	k.says = nil
	if _, err := k.send(t, "one"); err != nil {
		t.Fatal(err)
	}
	if e, ok := k.ended(t).(events.MessageSent); !ok || e.Reference != "ref-1" || e.Cost != "KES 0.80" {
		t.Errorf("%#v", k.ended(t))
	}
	k = handing(t)
	k.says = &messagingcases.Refusal{Code: "address_refused"}
	for range 2 {
		if _, err := k.send(t, "one"); err != nil {
			t.Fatal(err)
		}
	}
	if e, ok := k.ended(t).(events.MessageFailed); !ok || e.Code != "address_refused" || len(k.sent) != 1 {
		t.Errorf("%#v; handed over %d times", k.ended(t), len(k.sent))
	}
}
