package paymentsapi_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/moneytest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/simulators/provider"
)

// TestCorrections_RacedTheMoneyIsInOnePlace lets several people attribute, move and reverse the same money at the same
// time while the provider repeats its callback. In the end the money is on the account that the receipt names, or on
// none when it was reversed.
func TestCorrections_RacedTheMoneyIsInOnePlace(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	k.Neighbour(t)
	dice := rand.New(rand.NewPCG(4, 2)) //nolint:gosec // a repeatable test
	people := []id.Subscriber{k.Amina, k.Chege}
	var receipts []id.Receipt
	var all sync.WaitGroup
	for n := range 6 {
		number := fmt.Sprintf("SJK4X7Q2R%d", n)
		receipts = append(receipts, commands.ReceiptID(commands.EnvironmentSandbox, number))
		body := confirmationBody(number, moneytest.PlatformShortcode, commands.AccountNumber(1_000_000), "100.00")
		k.Post(t, apitest.Unknown, "", bareConfirmation, body, 200)
		for range 4 {
			path, to := "/receipts/"+receipts[n].String(), people[dice.IntN(len(people))]
			action, what := "/reattribute", map[string]any{"subscriberId": to, "reason": "raced"}
			switch dice.IntN(6) {
			case 0:
				action, what = "/attribute", map[string]any{"subscriberId": to}
			case 1:
				action, what = "/reverse", map[string]any{"reason": "raced"}
			}
			all.Go(func() {
				for range 3 {
					k.Do(t, apitest.Request{Method: "POST", Path: path + action, As: apitest.Admin, Body: what})
					k.Do(t, apitest.Request{Method: "POST", Host: apitest.Unknown, Path: bareConfirmation, Body: body})
				}
			})
		}
	}
	all.Wait()
	k.Quiet(t)
	want := map[id.Subscriber]int64{}
	for _, receipt := range receipts {
		r, _, err := bus.LoadUnchecked[payments.Receipt](t.Context(), k.Core.Bus, receipt)
		if err != nil {
			t.Fatal(err)
		}
		want[r.Subscriber] += 100
	}
	for _, s := range people {
		if sum, _ := k.Credited(t, s); sum != want[s] || k.Account(t, s).Credit().Minor != 100*sum {
			t.Errorf("%s has %d in receipts and %s of credit, want %d", s, sum, k.Account(t, s).Credit(), want[s])
		}
	}
}

// referenceOf is the account reference with which a prompt was sent to the provider, "" for an unknown prompt.
func (k *moneyKit) referenceOf(checkout string) string {
	for _, sent := range k.Sim.Prompts() {
		if sent.CheckoutRequestID == checkout {
			return sent.AccountReference
		}
	}
	return ""
}

// TestPrompt_EveryOrderOfNewsCreditsOnce reports the same payment by query, callback and paybill at the same time, with
// a refusal among them.
func TestPrompt_EveryOrderOfNewsCreditsOnce(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	k.behave(t, "silent", provider.Faults{})
	var all sync.WaitGroup
	const prompts = 8
	for n := range prompts {
		var p initiated
		k.ask(t, apitest.Admin, map[string]any{"amount": 101 + n, "phone": fmt.Sprintf("07000000%02d", n)}, 202).Into(t,
			&p)
		payment, checkout := id.Must[id.Payment](p.PaymentID), *p.CheckoutRequestID
		reference := k.referenceOf(checkout)
		number, amount := fmt.Sprintf("SJK4X7Q2N%d", n), money.Major(int64(101+n), money.KES)
		news := []func(){
			func() {
				k.Run(t, commands.RecordReceipt{
					ReceiptID: commands.ProvisionalReceiptID(checkout), OrgID: k.Org,
					Provider: commands.ProviderProvisional, Channel: commands.ChannelPrompt,
					Shortcode: moneytest.PlatformShortcode, Amount: amount, PaidAt: k.Clock.Now(),
					CheckoutRequestID: checkout, PaymentID: payment, Provisional: true,
					Sighting: commands.SightingQuery,
				}, id.Organization{})
			},
			func() {
				k.Run(t, commands.RecordVerdict{PaymentID: payment, Code: "1032", By: commands.ByQuery},
					id.Organization{})
			},
			func() {
				body := fmt.Sprintf(`{"Body":{"stkCallback":{"MerchantRequestID":"m","CheckoutRequestID":%q,
					"ResultCode":0,"ResultDesc":"ok","CallbackMetadata":{"Item":[
					{"Name":"Amount","Value":%d},{"Name":"MpesaReceiptNumber","Value":%q}]}}}}`, checkout, 101+n,
					number)
				k.Post(t, apitest.Unknown, "", barePrompt, body, 200)
			},
			func() {
				now := time.Now().In(time.FixedZone("EAT", 3*3600)).Format("20060102150405")
				body := fmt.Sprintf(`{"TransID":%q,"TransTime":%q,"TransAmount":"%d.00",
					"BusinessShortCode":%q,"BillRefNumber":%q,"MSISDN":"x"}`,
					number, now, 101+n, moneytest.PlatformShortcode, reference)
				k.Post(t, apitest.Unknown, "", bareConfirmation, body, 200)
			},
		}
		rand.Shuffle(len(news), func(i, j int) { news[i], news[j] = news[j], news[i] })
		for _, tell := range news {
			all.Go(tell)
		}
	}
	all.Wait()
	k.Quiet(t)
	want := int64(prompts * (101 + 101 + prompts - 1) / 2)
	if sum := k.Account(t, k.Amina).Credit().Minor / 100; sum != want {
		t.Errorf("%d of %d credited", sum, want)
	}
	for _, p := range k.receipts(t, apitest.Acme, apitest.Admin, "?state=suspense") {
		t.Errorf("in suspense: %+v", p)
	}
}
