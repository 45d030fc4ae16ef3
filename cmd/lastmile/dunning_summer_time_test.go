package main

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
)

// night is a night in New York in which the clocks change at 02:00.
type night struct {
	name  string
	start string // some days before the payment, in UTC
	paid  string // when the customer pays for a month, in local time
	hours string // the beginning of the message hours
	from  string // Sunday's time from which nobody is cut, in another policy
	// The instants of the cut, of its message, and of the cut under the other policy, in UTC.
	cut, told, moved string
}

// The clock jumps over months to nights in which an hour is skipped or comes twice, and a customer's grace ends in it.
func TestDunning_InTheSkippedAndInTheDoubledHour(t *testing.T) {
	t.Parallel()
	for _, n := range []night{
		// 02:30 does not exist: days end at the instant of the change, and hours begin at 03:30.
		{
			name: "skipped", start: "2040-02-01T12:00:00Z", paid: "2040-02-08 02:30", hours: "02:30", from: "02:00",
			cut: "2040-03-11T07:00:00Z", told: "2040-03-11T07:30:00Z", moved: "2040-03-12T04:00:00Z",
		},
		// 01:30 comes twice, and the first one counts.
		{
			name: "doubled", start: "2040-09-25T12:00:00Z", paid: "2040-10-01 01:30", hours: "01:30", from: "01:30",
			cut: "2040-11-04T05:30:00Z", told: "2040-11-04T05:30:00Z", moved: "2040-11-05T05:00:00Z",
		},
	} {
		t.Run(n.name, func(t *testing.T) {
			t.Parallel()
			n.check(t)
		})
	}
}

// near reports whether an instant is another one, or right after it: people pay a moment after the clock was moved.
func near(at, want time.Time) bool { return !at.Before(want) && at.Before(want.Add(2*time.Minute)) }

// check has a customer whose grace ends in the night, under policies with and without a time without cuts.
func (n night) check(t *testing.T) {
	k := newKit(t, "DEV_CLOCK=true")
	k.clock = clock.NewMovable(clock.System(), time.Until(instant(t, n.start)))
	k.start().signIn()
	k.paybillReady()
	k.must(k.admin, "PUT", "/settings/organization", map[string]any{"timezone": "America/New_York"})
	policy := func(noCutAfter map[string]string) {
		t.Helper()
		k.dunningDays(map[string]any{
			"noCutAfter": noCutAfter, "messageHours": map[string]string{"from": n.hours, "to": "23:00"},
		})
	}
	policy(map[string]string{})
	c := payer{phone: "254711000951"}
	c.customer, c.account = k.subscriber(c.phone)
	c.line = k.subscribe(c.customer, k.plan("home", 1500))
	k.issued(c.customer, 1)
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	paid, err := time.ParseInLocation("2006-01-02 15:04", n.paid, zone)
	if err != nil {
		t.Fatal(err)
	}
	k.advance(map[string]any{"to": paid})
	k.pay(c.phone, c.account, 1500)
	k.advance(map[string]any{"to": instant(t, k.paidUntil(c.line, "")).Add(time.Minute)})
	cut, told := instant(t, n.cut), instant(t, n.told)
	next := func(want time.Time) {
		t.Helper()
		k.eventually("the cut to be at "+want.String(), func(context.Context) (bool, error) {
			return near(k.dunning(c.line, events.DunningReminding).Reviewed.NextAt, want), nil
		})
	}
	next(cut)
	policy(map[string]string{"sunday": n.from})
	next(instant(t, n.moved))
	policy(map[string]string{})
	next(cut)

	k.advance(map[string]any{"to": cut.Add(-20 * time.Second)}) // the clock runs on
	k.dunning(c.line, events.DunningReminding)
	k.advance(map[string]any{"to": cut.Add(4 * time.Minute)})
	garden := k.dunning(c.line, events.DunningWalledGarden)
	if !garden.Since.Before(cut.Add(10*time.Minute)) || garden.Since.Before(cut) {
		t.Errorf("cut at %v", garden.Since)
	}
	if told.After(cut) {
		k.advance(map[string]any{"to": told.Add(-10 * time.Second)})
	}
	k.advance(map[string]any{"to": told.Add(6 * time.Minute)})
	for _, later := range []time.Duration{65 * time.Minute, 2 * time.Hour, 26 * time.Hour} {
		k.toldOnce(c, told)
		k.advance(map[string]any{"to": told.Add(later)})
	}
	k.toldOnce(c, told)
}

// instant reads RFC 3339.
func instant(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// toldOnce waits until a customer has been told of the cut, once, and not before an instant.
func (k *kit) toldOnce(c payer, from time.Time) {
	k.t.Helper()
	k.eventually("one message about the cut", func(ctx context.Context) (bool, error) {
		got, err := k.toldOfCuts(ctx, c)
		return slices.Equal(got, []string{"walled_garden"}), err
	})
	list, err := k.devMessages(k.t.Context(), "+"+c.phone)
	if err != nil {
		k.t.Fatal(err)
	}
	for _, m := range list {
		at, err := time.Parse(time.RFC3339Nano, m.text("at"))
		if err != nil || m.text("template") == "walled_garden" && at.Before(from) {
			k.t.Errorf("told at %v, the hours begin at %v: %v", at, from, err)
		}
	}
}
