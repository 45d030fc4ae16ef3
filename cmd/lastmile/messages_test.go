package main

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// devMessages reads the kept messages to an address, the oldest first.
func (k *kit) devMessages(ctx context.Context, to string) ([]answer, error) {
	r, err := k.admin.call(ctx, "GET", "/dev/messages?to="+url.QueryEscape(to), "", nil)
	list := r.list("data")
	slices.Reverse(list)
	return list, err
}

// templates waits until the messages to an address have these templates, the oldest first.
func (k *kit) templates(to string, want ...string) {
	k.t.Helper()
	var got []string
	k.eventually("messages "+strings.Join(want, ", "), func(ctx context.Context) (bool, error) {
		list, err := k.devMessages(ctx, to)
		got = nil
		for _, m := range list {
			got = append(got, m.text("template"))
		}
		return slices.Equal(got, want), err
	})
}

// messageHours sets the hours in which messages of dunning and of caps go, and lets every hour cut.
func (k *kit) messageHours(from, to string) {
	k.t.Helper()
	k.must(k.admin, "PUT", "/settings/dunning", map[string]any{"default": map[string]any{
		"noCutDays": []string{}, "noCutAfter": map[string]string{}, "skipHolidays": false,
		"messageHours": map[string]string{"from": from, "to": to},
	}})
}

// paidMonth makes a customer with a phone who has paid for a month, until an instant.
func (k *kit) paidMonth(phone string) (customer, account string, until time.Time) {
	k.t.Helper()
	k.paybillReady()
	customer, account = k.subscriber(phone[1:])
	subscription := k.subscribe(customer, k.plan("home", 1500))
	k.issued(customer, 1)
	k.pay(phone[1:], account, 1500)
	until, err := time.Parse(time.RFC3339Nano, k.paidUntil(subscription, ""))
	if err != nil {
		k.t.Fatal(err)
	}
	return customer, account, until
}

// TestMessages_ACustomerIsToldOfEachStep moves the clock through the whole circle: each message goes once, within the
// message hours, and what is no longer true is not sent.
func TestMessages_ACustomerIsToldOfEachStep(t *testing.T) {
	t.Parallel()
	const phone = "+254711000401"
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	k.messageHours("08:00", "20:00")
	k.withoutText("invoice")
	customer, account, until := k.paidMonth(phone)
	zone, err := time.LoadLocation("Africa/Nairobi")
	if err != nil {
		t.Fatal(err)
	}
	last := until.Add(-1).In(zone)
	on := func(days, hour, minute int) time.Time {
		return time.Date(last.Year(), last.Month(), last.Day()+days, hour, minute, 0, 0, zone)
	}
	told := []string{"receipt"}
	k.templates(phone, told...)
	tells := func(more ...string) {
		t.Helper()
		told = append(told, more...)
		k.templates(phone, told...)
	}
	for i, day := range []int{-3, -1, 0} {
		k.advance(map[string]any{"to": on(day, 8, 1)})
		tells([]string{"reminder_before", "reminder_before", "reminder_due"}[i])
	}
	k.advance(map[string]any{"to": on(4, 9, 0)})
	tells("walled_garden")
	k.advance(map[string]any{"to": on(11, 21, 0)}) // suspended, but nothing goes at night
	k.advance(map[string]any{"to": on(12, 8, 1)})
	tells("suspended")
	k.withoutText("invoice", "receipt")
	k.pay(phone[1:], account, 1500)
	tells("restored")

	k.checkTexts(phone, account, zone, "KES 1500.00 received", "Paid until "+last.Format("2 Jan 2006"))
	k.eventually("seven messages in the list of what was sent", func(ctx context.Context) (bool, error) {
		page, err := k.admin.call(ctx, "GET", "/messages?state=sent&channel=sms&subscriberId="+customer, "", nil)
		rows := page.list("data")
		return len(rows) == 7 && rows[0].text("to") == phone, err
	})
	for template, want := range map[string]int{"reminder_before": 2, "restored": 1, "receipt": 1, "cap_warned": 0} {
		rows := k.all(k.admin, "/messages?subscriberId="+customer+"&template="+template)
		other := slices.ContainsFunc(rows, func(m answer) bool { return m.text("template") != template })
		if len(rows) != want || other {
			t.Errorf("messages of %s: %v", template, rows)
		}
	}
}

// TestMessages_InvoicesOfARunAreToldOnceWhenItIsOver has the run worked again, too.
func TestMessages_InvoicesOfARunAreToldOnceWhenItIsOver(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	k.messageHours("00:00", "24:00")
	plan := k.onFirst("later", "postpaid")
	var phones []string
	for n := range 3 {
		phone := fmt.Sprintf("+25471100042%d", n)
		who, _ := k.subscriber(phone[1:])
		k.subscribe(who, plan)
		k.issued(who, 1)
		phones = append(phones, phone)
	}
	k.advance(map[string]any{"advance": "16m"})
	for _, phone := range phones {
		k.templates(phone, "invoice")
	}
	k.withoutText("reminder_before", "reminder_due", "reminder_overdue", "walled_garden", "suspended")
	month := k.firstOfMonth(1)
	date := month.Format(time.DateOnly)
	k.advance(map[string]any{"to": month.Add(9 * time.Hour)})
	for range 2 {
		k.billingRun(date, "finished")
		k.advance(map[string]any{"advance": "16m"})
		for _, phone := range phones {
			k.templates(phone, "invoice", "invoice")
		}
		k.must(k.admin, "POST", "/billing/runs", map[string]string{"date": date})
	}
}

// withoutText stops messages that an organization has no text for.
func (k *kit) withoutText(names ...string) {
	k.t.Helper()
	texts := map[string]any{}
	for _, name := range names {
		texts[name] = map[string]any{"sms": "", "email": map[string]string{"subject": "", "text": ""}}
	}
	k.must(k.admin, "PUT", "/settings/messages", map[string]any{"templates": texts})
}

// checkTexts wants every message to an address by SMS, in one text, by day, and about an account. The first one has
// further parts.
func (k *kit) checkTexts(phone, account string, zone *time.Location, parts ...string) {
	k.t.Helper()
	list, err := k.devMessages(k.t.Context(), phone)
	if err != nil {
		k.t.Fatal(err)
	}
	for _, m := range list {
		at, err := time.Parse(time.RFC3339Nano, m.text("at"))
		if err != nil {
			k.t.Fatal(err)
		}
		hour := at.In(zone).Hour()
		quiet := (hour < 8 || hour >= 20) && m.text("template") != "receipt" // which waits for no hours
		if quiet || m.text("channel") != "sms" || m.text("to") != phone ||
			!strings.Contains(m.text("text"), account) || len(m.text("text")) > 160 {
			k.t.Errorf("message %v", m)
		}
	}
	for _, part := range parts {
		if !strings.Contains(list[0].text("text"), part) {
			k.t.Errorf("%q has no %s", list[0].text("text"), part)
		}
	}
}

// TestMessages_WhatFellDueWhileTheProgramWasOffIsToldOnlyIfItIsTrue moves the clock over weeks at once.
func TestMessages_WhatFellDueWhileTheProgramWasOffIsToldOnlyIfItIsTrue(t *testing.T) {
	t.Parallel()
	const phone = "+254711000402"
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	k.messageHours("00:00", "24:00")
	k.withoutText("invoice", "receipt")
	_, account, until := k.paidMonth(phone)
	k.advance(map[string]any{"to": until.AddDate(0, 0, 5)})
	k.templates(phone, "walled_garden")
	k.pay(phone[1:], account, 1500)
	k.templates(phone, "walled_garden", "restored")
}
