package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/breaker"
	"github.com/lastmile-isp/lastmile/gateways/messagegateway"
	"github.com/lastmile-isp/lastmile/internal/benchtest"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/simulators/smsprovider"
)

// messagePlaces is how many messages the queue sends at once.
const messagePlaces = 16

// messageRow is how long a message run may take for each customer: 50,000 shall have their texts within ten minutes of
// the hour from which on they may get them. A provider takes about a hundred a second from one sender.
const messageRow = 10 * time.Minute / 50_000

// receiptSoon is how long a receipt may take while a run goes on.
const receiptSoon = 10 * time.Second

// BenchmarkMessageRun measures a message run in the whole program: a billing run has invoiced each customer at night,
// and from 08:00 on each of them gets a text about it. BENCH_MESSAGE_CUSTOMERS is the number of customers; 50000 is the
// full size.
//
// The limit of "time" is the time that it may take, until the last text is taken by the provider and recorded as sent.
// That of "provider" is to hand the same number of texts to the same provider, one after the other in as many places as
// the queue has, without a program. "receipt" is how long somebody who pays during the run waits for the receipt.
func BenchmarkMessageRun(b *testing.B) {
	n := max(benchtest.Size(b, "MESSAGE_CUSTOMERS", 5_000), leastRun)
	sms := smsprovider.New(smsprovider.Config{User: "acme", Key: "k3y"})
	if err := sms.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = sms.Stop(context.Background()) })
	address := strings.Replace(sms.URL(), "://", "://acme:k3y@", 1) + "?from=ACME"
	k := newBenchKit(b, "DEV_CLOCK=true", "SMS_URL="+address)
	k.messageHours("08:00", "20:00")
	k.withoutText("reminder_before", "reminder_due")
	month := k.firstOfMonth(2)
	k.measureTexts(b, sms, n/2, month) // what is usual, for the fuses
	whole := k.measureTexts(b, sms, n, month.AddDate(0, 0, 1))
	b.Run("time", func(b *testing.B) {
		b.ReportMetric(float64(whole.sent)/whole.took.Seconds(), "messages/s")
		benchtest.ReportTime(b, "run", whole.took, time.Duration(whole.sent)*messageRow, 1)
	})
	alone := handSame(b, address, whole.sent)
	b.Run("provider", func(b *testing.B) { benchtest.ReportTime(b, "run", whole.took, alone, benchtest.NoAim) })
	b.Run("receipt", func(b *testing.B) { benchtest.ReportTime(b, "receipt", whole.receipt, receiptSoon, 1) })
	b.Run("memory", func(b *testing.B) { benchtest.ReportSize(b, "run", whole.grew, runMemory, 1) })
}

// measuredTexts is how many texts the provider took, in which time, how long a receipt took among them, and how much
// more memory was in use after it than before, in bytes.
type measuredTexts struct {
	sent    int
	took    time.Duration
	receipt time.Duration
	grew    float64
}

// measureTexts has a billing run at night, and measures the texts about it from the first hour of messages on.
func (k *kit) measureTexts(b *testing.B, sms *smsprovider.Simulator, n int, until time.Time) measuredTexts {
	b.Helper()
	customers := k.billedMonthly(b, k.organizationID("acme"), n, until)
	k.phones(b, customers)
	day := until.AddDate(0, 0, -3)
	k.advance(map[string]any{"to": day.Add(time.Minute)})
	made := k.billed(b, day)
	k.rests(b)
	before, memory := sms.Calls(), heapInUse()
	began := time.Now()
	k.advance(map[string]any{"to": day.Add(8*time.Hour + time.Second)})
	looked, pays := began, runPayer{who: customers[n-1]}
	for limit := began.Add(10 * time.Minute); sms.Calls()-before < made; time.Sleep(20 * time.Millisecond) {
		switch now := time.Now(); {
		case now.After(limit):
			b.Fatalf("%d of %d texts", sms.Calls()-before, made)
		case now.Sub(looked) > 5*time.Second:
			k.releases(b)
			looked = now
		case sms.Calls()-before > made/4:
			pays.look(b, k)
		}
	}
	for pays.told == 0 {
		pays.look(b, k)
	}
	k.rests(b)
	took := time.Since(began)
	return measuredTexts{
		sent: sms.Calls() - before, took: took, receipt: pays.told, grew: max(heapInUse()-memory, leastGrowth),
	}
}

// runPayer pays once during a run.
type runPayer struct {
	who  id.Subscriber
	paid time.Time
	told time.Duration // from then until the receipt was sent; 0 = it was not yet
}

// look has the payer pay, and looks later whether the receipt was sent.
func (p *runPayer) look(b *testing.B, k *kit) {
	b.Helper()
	switch {
	case p.paid.IsZero():
		p.paid = time.Now()
		k.must(k.admin, "POST", "/payments/cash", map[string]any{
			"subscriberId": p.who.String(), "amount": 500, "reference": "till " + p.who.String(),
		})
	case p.told == 0:
		for _, m := range k.must(k.admin, "GET", "/messages?subscriberId="+p.who.String(), nil).list("data") {
			if m.text("template") == string(events.NoticeReceipt) && m.text("state") == "sent" {
				p.told = time.Since(p.paid)
			}
		}
	}
}

// billed waits for the end of the billing run of a day, which it releases when it is held, and gives the number of its
// invoices.
func (k *kit) billed(b *testing.B, day time.Time) int {
	b.Helper()
	for limit := time.Now().Add(5 * time.Minute); time.Now().Before(limit); time.Sleep(100 * time.Millisecond) {
		for _, run := range k.must(k.admin, "GET", "/billing/runs?limit=1", nil).list("data") {
			switch state := run.text("state"); {
			case run.text("date") != day.Format(time.DateOnly):
			case state == "held":
				k.must(k.admin, "POST", "/billing/runs/"+run.text("id")+"/release", because())
			case state == "finished":
				made, _ := strconv.Atoi(fmt.Sprint(run["done"]))
				return made
			}
		}
	}
	b.Fatal("the billing run does not end")
	return 0
}

// releases lets go what fuses hold.
func (k *kit) releases(b *testing.B) {
	b.Helper()
	for _, fuse := range k.must(k.admin, "GET", "/fuses", nil).list("data") {
		if fuse["held"] == true {
			k.must(k.admin, "POST", "/fuses/"+fuse.text("id")+"/release", because())
		}
	}
}

// phones gives each of the customers a phone.
func (k *kit) phones(b *testing.B, customers []id.Subscriber) {
	b.Helper()
	org := k.organizationID("acme")
	var group sync.WaitGroup
	for writer := range benchWriters {
		group.Go(func() {
			for i := writer; i < len(customers); i += benchWriters {
				err := k.append(b, "subscriber-"+customers[i].String(), org, events.SubscriberRegistered{
					SubscriberID: customers[i], OrgID: org, AccountNumber: fmt.Sprintf("%08d", i), Currency: money.KES,
					Details: events.SubscriberDetails{
						FirstName: personal.Of("Wanjiku"), Phone: personal.Of(fmt.Sprintf("+25471%07d", i)),
					},
					RegisteredAt: k.app.clock.Now().UTC(),
				})
				if err != nil {
					b.Error(err)
				}
			}
		})
	}
	group.Wait()
}

// handSame hands so many texts to the provider at an address, without a program.
func handSame(b *testing.B, address string, n int) time.Duration {
	b.Helper()
	texter, err := messagegateway.NewTexter(address, messagegateway.Config{
		Clock: clock.System(), Guard: breaker.New(breaker.Config{Clock: clock.System()}), Timeout: time.Minute,
	})
	if err != nil {
		b.Fatal(err)
	}
	defer texter.Close()
	began := time.Now()
	var group sync.WaitGroup
	for place := range messagePlaces {
		group.Go(func() {
			for i := place; i < n; i += messagePlaces {
				_, err := texter.Send(b.Context(), messagegateway.SMS{
					ID: id.New[id.Message]().String(), To: fmt.Sprintf("+25471%07d", i), Text: strings.Repeat("x", 120),
				})
				if err != nil {
					b.Error(err)
				}
			}
		})
	}
	group.Wait()
	return time.Since(began)
}
