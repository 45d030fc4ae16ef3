package main

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"
)

// asked waits until a customer is asked for an amount, with the prices of the services that begin with money.
func (k *kit) asked(customer, due string, prices ...string) {
	k.t.Helper()
	k.eventually("the customer to be asked for "+due, func(ctx context.Context) (bool, error) {
		c, err := k.admin.call(ctx, "GET", "/subscribers/"+customer, "", nil)
		list := c.list("toRenew")
		same := len(list) == len(prices) && number(c, "due") == due
		for i := 0; same && i < len(list); i++ {
			same = number(list[i], "price") == prices[i]
		}
		return same, err
	})
}

// voidFirst takes the first invoice of a customer back.
func (k *kit) voidFirst(customer string) {
	k.t.Helper()
	k.must(k.admin, "POST", "/invoices/"+k.issued(customer, 1)[0].text("id")+"/void", map[string]any{"reason": "wrong"})
}

// TestToRenew_IsThePriceOfTheNextPeriodWithItsExtras: a charge goes with the invoice that was voided, a discount is on
// the next one, and credit and debts count beside the price.
func TestToRenew_IsThePriceOfTheNextPeriodWithItsExtras(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	home := k.plan("home", 1500)
	charged, _ := k.subscriber("254711000931")
	k.must(k.admin, "POST", "/subscriptions", map[string]any{
		"subscriberId": charged, "planId": home,
		"charges": []map[string]any{{"description": "Installation", "amount": 2000}},
	})
	halved, _ := k.subscriber("254711000932")
	k.must(k.admin, "POST", "/subscriptions", map[string]any{
		"subscriberId": halved, "planId": home,
		"discounts": []map[string]any{{"description": "Welcome", "percent": 50}},
	})
	k.issued(charged, 1)
	k.asked(charged, "3500.00")
	k.voidFirst(charged)
	k.asked(charged, "1500.00", "1500.00")
	k.voidFirst(halved)
	k.asked(halved, "750.00", "750.00")

	k.must(k.admin, "POST", "/invoices", map[string]any{
		"subscriberId": halved, "lines": []map[string]any{{"description": "Visit", "quantity": 1, "unitPrice": 300}},
	})
	k.asked(halved, "1050.00", "750.00")
	row := k.found("0932")
	if _, told := row["due"]; told {
		t.Errorf("the list tells what is asked for: %v", row)
	}
}

// TestToRenew_WhoPaysWhatIsAskedAfterTheTaxWasLoweredIsServed: the last invoice was under the tax of before.
func TestToRenew_WhoPaysWhatIsAskedAfterTheTaxWasLoweredIsServed(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	tax := func(percent int) {
		k.must(k.admin, "PUT", "/settings/organization", map[string]any{"tax": map[string]any{
			"mode": "exclusive", "components": []map[string]any{{"name": "VAT", "rate": percent}},
		}})
	}
	tax(16)
	customer, _ := k.subscriber("254711000951")
	line := k.subscribe(customer, k.plan("home", 1500))
	k.issued(customer, 1)
	k.asked(customer, "1740.00")
	tax(8)
	k.voidFirst(customer)
	k.asked(customer, "1620.00", "1620.00")
	k.must(k.admin, "POST", "/payments/cash", map[string]any{
		"subscriberId": customer, "amount": 1620, "reference": "till 951",
	})
	k.paidUntil(line, "")
	k.asked(customer, "0.00")
}

// TestToRenew_WhoIsAskedForTogetherIsAskedForTheOwnDebt: at a front desk, many read and change customers at the same
// moment, and one reading of the read models answers several of them.
func TestToRenew_WhoIsAskedForTogetherIsAskedForTheOwnDebt(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	want := map[string]string{}
	home := k.plan("home", 1500)
	for n := range 6 {
		customer, _ := k.invoicedFor(940+n, 100*(n+1))
		want[customer] = fmt.Sprintf("%d.00", 100*(n+1))
		k.asked(customer, want[customer])
	}
	serviced, _ := k.subscriber("254711000939")
	k.must(k.admin, "POST", "/subscriptions", map[string]any{"subscriberId": serviced, "planId": home})
	k.voidFirst(serviced)
	want[serviced] = "1500.00"
	k.asked(serviced, "1500.00", "1500.00")
	nobody := uuid.NewString()
	var group errgroup.Group
	for range 20 {
		for customer, due := range want {
			group.Go(func() error {
				got, err := k.admin.call(t.Context(), "GET", "/subscribers/"+customer, "", nil)
				services := 0
				if customer == serviced {
					services = 1
				}
				if err != nil || got.text("id") != customer || number(got, "due") != due ||
					len(got.list("toRenew")) != services || len(got.list("services")) != services {
					return fmt.Errorf("%s, who owes %s: %v, %w", customer, due, got, err)
				}
				return nil
			})
		}
		group.Go(func() error {
			if got, err := k.admin.call(t.Context(), "GET", "/subscribers/"+nobody, "", nil); err == nil {
				return fmt.Errorf("a customer whom nobody has: %v", got)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
}
