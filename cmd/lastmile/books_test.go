package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/simulators/provider"
)

// sameBooks waits until the books equal the provider's transactions: every receipt of the provider is on its payer's
// account exactly once, and every balance follows from the events of its account. payers maps phones to subscribers.
func (k *kit) sameBooks(payers map[string]string) {
	k.t.Helper()
	defer func() {
		if k.t.Failed() {
			k.explain()
		}
	}()
	k.eventually("books to equal the provider's", func(ctx context.Context) (bool, error) {
		want := map[string]int64{}
		for _, tx := range k.sim.Transactions() {
			want[payers[tx.MSISDN]] += tx.Amount.Minor
		}
		for _, subscriber := range payers {
			got, err := k.credited(ctx, subscriber)
			if err != nil {
				return false, err
			}
			if got != want[subscriber] {
				return false, fmt.Errorf("account of %s has %d, the provider moved %d", subscriber, got,
					want[subscriber])
			}
		}
		return true, nil
	})
	k.eachReceiptOnce(k.sim.Transactions())
	for _, subscriber := range payers {
		k.balanceIsItsEvents(subscriber)
	}
}

// credited sums the credits of a subscriber's statement, in minor units.
func (k *kit) credited(ctx context.Context, subscriber string) (sum int64, err error) {
	for cursor := ""; ; {
		page, err := k.admin.call(ctx, "GET", "/subscribers/"+subscriber+"/statement?limit=100"+cursor, "", nil)
		if err != nil {
			return 0, err
		}
		for _, line := range page.list("data") {
			credit, _ := line["credit"].(float64)
			sum += int64(credit*100 + 0.5)
		}
		if page.text("nextCursor") == "" {
			return sum, nil
		}
		cursor = "&cursor=" + page.text("nextCursor")
	}
}

// eachReceiptOnce fails the test when the log credits a receipt twice, or lacks a receipt of the provider.
func (k *kit) eachReceiptOnce(transactions []provider.Transaction) {
	k.t.Helper()
	times := map[string]int{}
	for _, r := range k.creditedInLog() {
		times[r]++
	}
	for receipt, n := range times {
		if n != 1 {
			k.t.Errorf("receipt %s was credited %d times", receipt, n)
		}
	}
	if len(times) != len(transactions) {
		k.t.Errorf("%d receipts credited, the provider moved money %d times", len(times), len(transactions))
	}
	for _, tx := range transactions {
		if strings.TrimSpace(tx.ReceiptNumber) == "" {
			k.t.Errorf("the provider's transaction has no receipt number: %+v", tx)
		}
	}
}

// balanceIsItsEvents compares the read model's balance with the account folded from its stream.
func (k *kit) balanceIsItsEvents(subscriber string) {
	k.t.Helper()
	sid, err := id.Parse[id.Subscriber](subscriber)
	if err != nil {
		k.t.Fatalf("subscriber id: %v", err)
	}
	k.eventually("balance of "+subscriber, func(ctx context.Context) (bool, error) {
		shown, err := k.admin.call(ctx, "GET", "/subscribers/"+subscriber, "", nil)
		if err != nil {
			return false, err
		}
		account, _, err := bus.LoadUnchecked[billing.Account](ctx, k.app.engines.bus, sid)
		if err != nil {
			return false, err
		}
		folded := fmt.Sprintf("%.2f", float64(account.Balance().Minor)/100)
		if got := number(shown, "balance"); got != folded {
			return false, fmt.Errorf("balance shown %s, events say %s", got, folded)
		}
		return true, nil
	})
}

// creditedInLog lists the receipts that the log credits to an account for the first time; a double credit is there
// twice.
func (k *kit) creditedInLog() []string {
	k.t.Helper()
	var list []string
	for after := uint64(0); ; {
		page, next, err := k.app.storage.store.ReadAll(k.t.Context(), after, 500, []string{
			events.ReceiptCredited{}.EventType(),
		})
		if err != nil {
			k.t.Fatalf("read log: %v", err)
		}
		for _, e := range page {
			if c, ok := e.Event.(events.ReceiptCredited); ok && c.Move == 0 {
				list = append(list, c.ReceiptID.String())
			}
		}
		if next == after {
			return list
		}
		after = next
	}
}

// explain logs, for each transaction of the provider that is on no account, the state of its receipt in the books.
func (k *kit) explain() {
	known := map[string]answer{}
	for _, r := range append(k.all(k.admin, "/receipts"), k.all(k.root, "/receipts?state=suspense")...) {
		known[r.text("receiptNumber")] = r
	}
	for _, tx := range k.sim.Transactions() {
		if r := known[tx.ReceiptNumber]; r == nil || r.text("subscriberId") == "" {
			k.t.Logf("%s %s %d checkout %s: receipt %v", tx.Channel, tx.ReceiptNumber, tx.Amount.Minor,
				tx.CheckoutRequestID, r)
			for _, d := range k.sim.Deliveries() {
				if d.ID == tx.ReceiptNumber || d.ID == tx.CheckoutRequestID {
					k.t.Logf("  %s %s status %d %s", d.At.Format(time.TimeOnly), d.Kind, d.Status, d.Error)
				}
			}
		}
	}
	for _, p := range k.all(k.admin, "/payments") {
		if p.text("status") != "SUCCESS" {
			k.t.Logf("payment %v", p)
		}
	}
}
