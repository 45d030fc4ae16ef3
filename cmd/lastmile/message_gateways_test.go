package main

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/simulators/smsprovider"
	"github.com/lastmile-isp/lastmile/simulators/whatsapp"
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
	atEnd(t, func() { _ = sms.Stop(context.Background()) })
	k := newKit(t, "DEV_CLOCK=true", "SMS_REPORT_TOKEN="+reportToken,
		"SMS_URL="+strings.Replace(sms.URL(), "://", "://acme:k3y@", 1)+"?from=ACME").start().signIn()
	k.messageHours("08:00", "20:00")
	k.withoutText("invoice", "receipt")
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
	k.checkCosts()
}

// checkCosts wants a price for each message that went, and none for the one that was refused.
func (k *kit) checkCosts() {
	k.t.Helper()
	const year = "?from=2020-01-01&to=2099-01-01"
	all := k.must(k.root, "GET", "/reports/messages/organizations"+year, nil).list("organizations")
	if len(all) != 1 || all[0].text("slug") != "acme" {
		k.t.Fatalf("organizations with messages: %v", all)
	}
	for _, of := range []answer{k.must(k.admin, "GET", "/reports/messages"+year, nil), all[0]} {
		ways := of.list("ways")
		if len(ways) != 1 || ways[0].text("channel") != "sms" {
			k.t.Fatalf("costs: %v", of)
		}
		if count(ways[0], "handed") != 1 || count(ways[0], "delivered") != 1 || count(ways[0], "failed") != 1 ||
			number(ways[0].list("costs")[0], "amount") != "0.80" {
			k.t.Errorf("costs: %v", of)
		}
	}
}

// appSecret signs what WhatsApp reports in these tests.
const appSecret = "secret-of-the-app"

// TestReports_OfWhatsAppSendAMessageTheWayBack: a receipt goes there, and by SMS when WhatsApp says that it does not
// arrive. What it has not signed says nothing.
func TestReports_OfWhatsAppSendAMessageTheWayBack(t *testing.T) {
	t.Parallel()
	chat := whatsapp.New(whatsapp.Config{
		Number: "1065", Token: "EAAG", Secret: appSecret, Texts: map[string]int{"money_came": 2},
	})
	if err := chat.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	atEnd(t, func() { _ = chat.Stop(context.Background()) })
	k := newKit(t, "DEV_CLOCK=true", "WHATSAPP_URL="+chat.URL(), "WHATSAPP_REPORT_TOKEN="+reportToken,
		"WHATSAPP_APP_SECRET="+appSecret).start().signIn()
	k.must(k.admin, "PUT", "/settings/messages", map[string]any{"templates": map[string]any{"receipt": map[string]any{
		"sms": "{amount} came", "email": map[string]string{"subject": "", "text": ""},
		"whatsApp": "money_came {amount} {code}",
	}}})
	customer, _ := k.subscriber("254711000432")
	k.must(k.admin, "PATCH", "/subscribers/"+customer, map[string]any{"whatsApp": true})
	k.seen(customer, map[string]string{})
	k.must(k.admin, "POST", "/payments/cash", map[string]any{
		"subscriberId": customer, "amount": 250, "reference": "till 1",
	})
	row := k.messageOf(customer, "sent", 1)
	got := chat.Messages()
	if len(got) != 1 || got[0].To != "254711000432" || got[0].Values[0] != "KES 250.00" ||
		row.text("channel") != "whatsapp" {
		t.Fatalf("taken %+v; %v", got, row)
	}
	address := "http://" + k.addr + "/webhooks/whatsapp/"
	report := func(of *whatsapp.Simulator, token string, want int) {
		t.Helper()
		status := whatsapp.Status{ID: got[0].ID, Status: "failed", Error: 131026}
		read := whatsapp.Status{ID: "wamid.other", Status: "read"}
		if got, err := of.Report(t.Context(), address+token, read, status); err != nil || got != want {
			t.Errorf("report: %d, %v, want %d", got, err, want)
		}
	}
	report(chat, "wrong", 404)
	report(whatsapp.New(whatsapp.Config{Secret: "another"}), reportToken, 401)
	k.advance(map[string]any{"advance": "2m"})
	k.messageOf(customer, "sent", 1) // still there
	report(chat, reportToken, 200)
	report(chat, reportToken, 200)
	k.messageOf(customer, "undelivered", 1)
	k.advance(map[string]any{"advance": "5m"})
	row = k.messageOf(customer, "sent", 1)
	if row.text("channel") != "sms" || row.text("back") != "undelivered" || len(chat.Messages()) != 1 {
		t.Errorf("the way back: %v", row)
	}
	k.subscribes(address)
}

// subscribes sets the address up as WhatsApp does.
func (k *kit) subscribes(address string) {
	k.t.Helper()
	for query, want := range map[string]string{
		"hub.mode=subscribe&hub.challenge=4711&hub.verify_token=" + reportToken: "4711",
		"hub.mode=subscribe&hub.challenge=4711&hub.verify_token=wrong":          "",
	} {
		r, err := http.Get(address + reportToken + "?" + query)
		if err != nil {
			k.t.Fatal(err)
		}
		text, err := io.ReadAll(r.Body)
		_ = r.Body.Close()
		if said := string(text); err != nil || (r.StatusCode == http.StatusOK) != (want != "") ||
			want != "" && said != want {
			k.t.Errorf("%s: %d %s", query, r.StatusCode, text)
		}
	}
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
