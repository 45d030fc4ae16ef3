package messagingcases_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/messaging"
	"github.com/lastmile-isp/lastmile/usecases/messaging"
)

// chat is the gateway of WhatsApp.
type chat struct {
	sent []messagingcases.Outgoing
	says error
}

// Send takes a message, or says what is wrong.
func (c *chat) Send(_ context.Context, m messagingcases.Outgoing) (messagingcases.Handed, error) {
	if c.says == nil || errors.Is(c.says, messagingcases.ErrUnclear) {
		c.sent = append(c.sent, m)
	}
	return messagingcases.Handed{Reference: "wamid.1"}, c.says
}

// Once is false: WhatsApp sends again what it is handed again.
func (c *chat) Once() bool { return false }

// newChatKit has a customer who chose WhatsApp, at an organization that reminds there.
func newChatKit(t *testing.T) (*kit, *chat) {
	t.Helper()
	details := phone()
	details.WhatsApp = true
	k, c := newKit(t, details), &chat{}
	k.repeats = true
	k.delivery.Offers = coretest.NewVault(t, vault.Config{Clock: k.clock}).Offers
	k.delivery.Gateways[events.ChannelWhatsApp] = c
	k.Run(t, commands.Meta{
		CommandID: id.New[id.Command](), OrgID: k.args.OrgID, Actor: events.Actor{Kind: events.ActorOperator},
	}, commands.SetMessageSettings{
		OrgID: k.args.OrgID, Language: events.English,
		Texts: map[events.Language]map[events.MessageTemplate]events.MessageTexts{
			events.English: {events.ReminderBefore: {SMS: "{amount} is due", WhatsApp: "pay_soon {amount} {account}"}},
		},
	})
	return k, c
}

// report has WhatsApp say what became of the one message.
func (k *kit) report(t *testing.T, delivered bool) {
	t.Helper()
	k.WaitForAll(t, k.delivery.Views, messagingviews.MessagesName)
	found, err := messagingcases.Reports{Bus: k.Bus, Views: k.delivery.Views}.Take(t.Context(),
		commands.TakeMessageReport{Reference: "wamid.1", Delivered: delivered, Reason: "no such account"},
		commands.Meta{CommandID: id.New[id.Command](), Actor: events.Actor{Kind: events.ActorProcess}})
	if err != nil || !found {
		t.Fatalf("found %v, %v", found, err)
	}
}

// row is the one message in the list, with its way and why it took the way back.
func (k *kit) row(t *testing.T) (state, channel, back string) {
	t.Helper()
	k.WaitForAll(t, k.delivery.Views, messagingviews.MessagesName)
	rows, err := messagingviews.MessagesQuery{Views: k.delivery.Views}.List(t.Context(), k.args.OrgID,
		messagingviews.MessageFilter{}, messagingviews.MessageKey{}, 10)
	if err != nil || len(rows) != 1 || rows[0].Channel == nil {
		t.Fatalf("%+v, %v", rows, err)
	}
	if rows[0].Back != nil {
		back = *rows[0].Back
	}
	return rows[0].State, *rows[0].Channel, back
}

// TestSend_WhoChoseWhatsAppIsToldThere: by an approved text, and by nothing else when it has arrived.
func TestSend_WhoChoseWhatsAppIsToldThere(t *testing.T) {
	t.Parallel()
	k, c := newChatKit(t)
	again, err := k.send(t, "one")
	if err != nil || !again.Equal(noon.Add(time.Minute)) {
		t.Fatalf("again %v, %v", again, err)
	}
	want := messagingcases.Approved{
		Name: "pay_soon", Language: events.English, Values: []string{"KES 1500.00", "10000016"},
	}
	if len(c.sent) != 1 || c.sent[0].To != "+254711000001" || c.sent[0].Approved.Name != want.Name ||
		!slices.Equal(c.sent[0].Approved.Values, want.Values) || c.sent[0].Approved.Language != want.Language {
		t.Fatalf("sent %+v", c.sent)
	}
	k.report(t, true)
	k.clock.Advance(time.Minute)
	again, err = k.send(t, "one")
	must(t, again, err)
	if state, channel, _ := k.row(t); state != "delivered" || channel != "whatsapp" || len(k.sent) > 0 {
		t.Errorf("%s by %s; by SMS %+v", state, channel, k.sent)
	}
}

// TestSend_WhatDoesNotArriveThereGoesBySMS, once, also when the log takes no record of that at first, and when WhatsApp
// says so again.
func TestSend_WhatDoesNotArriveThereGoesBySMS(t *testing.T) {
	t.Parallel()
	k, c := newChatKit(t)
	if _, err := k.send(t, "one"); err != nil {
		t.Fatal(err)
	}
	k.report(t, false)
	if state, _, _ := k.row(t); state != "undelivered" {
		t.Errorf("it is %s", state)
	}
	k.clock.Advance(time.Minute)
	if _, err := k.sendUntil(t, "one", "back: confirm"); err == nil {
		t.Error("the log took the record")
	}
	for range 3 {
		if _, err := k.send(t, "one"); err != nil {
			t.Fatal(err)
		}
	}
	again, err := k.send(t, "another")
	must(t, again, err)
	if state, channel, back := k.row(t); state != "sent" || channel != "sms" || back != "undelivered" {
		t.Errorf("%s by %s, %s", state, channel, back)
	}
	if len(c.sent) != 1 || len(k.sent) != 1 || k.sent[0].Text != "KES 1500.00 is due" {
		t.Errorf("sent %+v, then %+v", c.sent, k.sent)
	}
}

// TestSend_WhatWhatsAppDoesNotTakeGoesBySMSAtOnce: whatever the reason is. What it may have taken does not.
func TestSend_WhatWhatsAppDoesNotTakeGoesBySMSAtOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		says                 error
		state, channel, back string
	}{
		{&messagingcases.Refusal{Code: "address_refused"}, "sent", "sms", "address_refused"},
		{&messagingcases.Refusal{Code: "template_refused"}, "sent", "sms", "template_refused"},
		{errDown, "sent", "sms", "gateway_failed"},
		{messagingcases.ErrUnclear, "in_doubt", "whatsapp", ""},
	} {
		k, chat := newChatKit(t)
		chat.says = c.says
		if _, err := k.send(t, "one"); err != nil {
			t.Fatal(err)
		}
		k.clock.Advance(time.Minute)
		again, err := k.send(t, "one")
		must(t, again, err)
		if state, channel, back := k.row(t); state != c.state || channel != c.channel || back != c.back {
			t.Errorf("%v: %s by %s, %s", c.says, state, channel, back)
		}
	}
}

// TestSend_AStopOnTheWayBackGoesOnThere: the SMS provider is down at first, and WhatsApp is not asked again.
func TestSend_AStopOnTheWayBackGoesOnThere(t *testing.T) {
	t.Parallel()
	k, c := newChatKit(t)
	c.says, k.down = errDown, true
	if _, err := k.send(t, "one"); !errors.Is(err, errDown) {
		t.Fatal(err)
	}
	c.says, k.down = nil, false
	again, err := k.send(t, "one")
	must(t, again, err)
	if state, channel, _ := k.row(t); state != "sent" || channel != "sms" || len(c.sent) > 0 {
		t.Errorf("%s by %s; %+v", state, channel, c.sent)
	}
}

// TestSend_NobodyWaitsForEverForAReport: a phone that is off has the message later. What is not true any more does not
// take the way back.
func TestSend_NobodyWaitsForEverForAReport(t *testing.T) {
	t.Parallel()
	k, _ := newChatKit(t)
	var waits []time.Duration
	for again, err := k.send(t, "one"); !again.IsZero(); again, err = k.send(t, "one") {
		if err != nil {
			t.Fatal(err)
		}
		waits = append(waits, again.Sub(noon))
		k.clock.Set(again)
	}
	if want := []time.Duration{ // its moment is over after eight hours
		time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 2 * time.Hour, 4 * time.Hour,
	}; !slices.Equal(waits, want) {
		t.Errorf("looks after %v", waits)
	}

	k, _ = newChatKit(t)
	if _, err := k.send(t, "one"); err != nil {
		t.Fatal(err)
	}
	k.report(t, false)
	k.clock.Set(k.args.Until)
	again, err := k.send(t, "one")
	must(t, again, err)
	if state, _, _ := k.row(t); state != "undelivered" || len(k.sent) > 0 {
		t.Errorf("%s; by SMS %+v", state, k.sent)
	}
}

// TestSend_AfterAnAbsenceTheWayBackIsTaken: the program was away for longer than the looks of the first hour, and the
// report comes when the job has looked once.
func TestSend_AfterAnAbsenceTheWayBackIsTaken(t *testing.T) {
	t.Parallel()
	k, _ := newChatKit(t)
	if _, err := k.send(t, "one"); err != nil {
		t.Fatal(err)
	}
	k.clock.Advance(90 * time.Minute)
	again, err := k.send(t, "one")
	if err != nil || !again.Equal(noon.Add(2*time.Hour)) {
		t.Fatalf("again %v, %v", again, err)
	}
	k.report(t, false)
	k.clock.Set(again)
	if _, err := k.send(t, "one"); err != nil {
		t.Fatal(err)
	}
	if state, channel, back := k.row(t); state != "sent" || channel != "sms" || back != "undelivered" {
		t.Errorf("%s by %s, %s", state, channel, back)
	}
}

// stubborn keeps an offer once, as a stop between the record of a message and the end of its offer does.
type stubborn struct {
	messagingcases.Offers
	ended int
}

// End fails the first time.
func (s *stubborn) End(ctx context.Context, m id.Message) error {
	if s.ended++; s.ended == 1 {
		return errors.New("killed")
	}
	return s.Offers.End(ctx, m)
}

// TestSend_AnOfferThatAStopHasLeftStopsNotTheWayBack: WhatsApp took it and the log says so, the offer is still there,
// and then WhatsApp says that it does not arrive.
func TestSend_AnOfferThatAStopHasLeftStopsNotTheWayBack(t *testing.T) {
	t.Parallel()
	k, _ := newChatKit(t)
	k.delivery.Offers = &stubborn{Offers: k.delivery.Offers}
	_, _ = k.send(t, "one") // its offer is left
	k.report(t, false)
	for range 2 {
		k.clock.Advance(time.Minute)
		if _, err := k.send(t, "one"); err != nil {
			t.Fatal(err)
		}
	}
	if state, channel, _ := k.row(t); len(k.sent) != 1 || state != "sent" || channel != "sms" {
		t.Errorf("%s by %s; by SMS %+v", state, channel, k.sent)
	}
}
