package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/simulators/smsprovider"
)

// reportToken ends the address of delivery reports in these tests.
const reportToken = "a-token-of-thirty-two-characters-"

// TestReports_OfTheProviderEndAMessage: a reminder goes through the SMS provider, and is delivered when it says so. The
// next one is refused for the phone, and that is the end of it.
func TestReports_OfTheProviderEndAMessage(t *testing.T) {
	t.Parallel()
	const phone = "+254711000431"
	sms := smsprovider.New(smsprovider.Config{User: "acme", Key: "k3y"})
	if err := sms.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sms.Stop(context.Background()) })
	k := newKit(t, "DEV_CLOCK=true", "SMS_REPORT_TOKEN="+reportToken,
		"SMS_URL="+strings.Replace(sms.URL(), "://", "://acme:k3y@", 1)+"?from=ACME").start().signIn()
	k.messageHours("08:00", "20:00")
	customer, _, until := k.paidMonth(phone)
	zone, err := time.LoadLocation("Africa/Nairobi")
	if err != nil {
		t.Fatal(err)
	}
	last := until.Add(-1).In(zone)
	at := func(days int) time.Time {
		return time.Date(last.Year(), last.Month(), last.Day()+days, 8, 1, 0, 0, zone)
	}
	k.advance(map[string]any{"to": at(-3)})
	row := k.messageOf(customer, "sent", 1)
	texts := sms.Texts()
	if len(texts) != 1 || texts[0].To != phone || texts[0].From != "ACME" || row.text("cost") != "KES 0.8000" {
		t.Fatalf("taken %+v; %v", texts, row)
	}

	address := "http://" + k.addr + "/webhooks/sms/"
	report := func(token, reference, status string, want int) {
		t.Helper()
		if got, err := sms.Report(t.Context(), address+token, reference, status, ""); err != nil || got != want {
			t.Errorf("report %s of %s: %d, %v", status, reference, got, err)
		}
	}
	report("wrong", texts[0].ID, "Success", 404)
	report(reportToken, "", "Success", 400)
	report(reportToken, "of somebody else", "Failed", 200)
	report(reportToken, texts[0].ID, "Buffered", 200)
	report(reportToken, texts[0].ID, "Success", 200)
	report(reportToken, texts[0].ID, "Failed", 200) // an older one that comes late
	k.messageOf(customer, "delivered", 1)

	sms.SetFault(smsprovider.Blocked)
	k.advance(map[string]any{"to": at(-1)})
	if row := k.messageOf(customer, "failed", 1); row.text("error") != "opted_out" {
		t.Errorf("refused: %v", row)
	}
	k.messageOf(customer, "delivered", 1)
}

// messageOf waits until a customer has a number of messages in a state, and gives the newest of them.
func (k *kit) messageOf(customer, state string, count int) (row answer) {
	k.t.Helper()
	k.eventually("messages that are "+state, func(ctx context.Context) (bool, error) {
		page, err := k.admin.call(ctx, "GET", "/messages?subscriberId="+customer+"&state="+state, "", nil)
		rows := page.list("data")
		if len(rows) == count {
			row = rows[0]
		}
		return len(rows) == count, err
	})
	return row
}
