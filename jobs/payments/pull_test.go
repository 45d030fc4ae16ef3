package paymentsjobs_test

import (
	"slices"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/simulators/provider"
)

// payLost makes a payment at a shortcode of which nobody is told, and gives its receipt number.
func (k *kit) payLost(t *testing.T, shortcode string, shillings int64) string {
	t.Helper()
	if err := k.sim.SetFaults(provider.Faults{DropCallbacks: 1}); err != nil {
		t.Fatal(err)
	}
	paid, err := k.sim.Pay(t.Context(), provider.Paybill{
		ShortCode: shortcode, MSISDN: "254712345678", BillRefNumber: "10000008",
		Amount: provider.Amount{Amount: money.Major(shillings, money.KES)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return paid.ReceiptNumber
}

// pull asks for the payments of the platform's shortcode.
func (k *kit) pull(t *testing.T, of commands.PullTill) {
	t.Helper()
	k.WaitForAll(t, k.views, paymentsviews.ReceiptsName, paymentsviews.GatewaysName)
	if err := k.workers.PullTill(t.Context(), of, newCause()); err != nil {
		t.Fatal(err)
	}
}

// receiptEvents reads the types, oldest first, by the provider's number.
func (k *kit) receiptEvents(t *testing.T, number string) []string {
	t.Helper()
	return k.history(t, commands.ReceiptCategory, id.Any(commands.ReceiptID(commands.EnvironmentSandbox, number)))
}

// platformTill is the platform's shortcode.
var platformTill = commands.PullTill{Environment: commands.EnvironmentSandbox, Shortcode: shortcode}

func TestPull_FindsPaymentsWhoseCallbacksWereLost(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	lost := k.payLost(t, shortcode, 1500)
	k.pull(t, platformTill)
	if list := k.receiptEvents(t, lost); len(list) != 0 {
		t.Errorf("its callback had no time to come: %v", list)
	}
	k.clock.Advance(11 * time.Minute)
	for range 2 {
		k.pull(t, platformTill)
	}
	if list := k.receiptEvents(t, lost); !slices.Equal(list, []string{"payments.ReceiptRecorded.v2"}) {
		t.Errorf("listed twice: %v", list)
	}
	receipt, _, err := bus.LoadUnchecked[payments.Receipt](t.Context(), k.Bus,
		commands.ReceiptID(commands.EnvironmentSandbox, lost))
	if err != nil || receipt.Amount != money.Major(1500, money.KES) || receipt.Shortcode != shortcode {
		t.Errorf("receipt: %+v, %v", receipt, err)
	}
	// The callback comes after all: a sighting of the same money.
	k.confirmed(t, paid(lost, shortcode, "10000008", 1500))
	if list := k.receiptEvents(t, lost); len(list) != 2 || list[1] != "payments.ReceiptSighted.v1" {
		t.Errorf("after its callback: %v", list)
	}
}

func TestPull_GoesBackOverATimeAway(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.clock.Advance(11 * time.Minute)
	k.pull(t, platformTill)
	tooOld := k.payLost(t, shortcode, 100)
	k.clock.Advance(2 * time.Hour)
	var lost []string
	for n := range 250 { // more than one answer lists
		lost = append(lost, k.payLost(t, shortcode, int64(200+n)))
	}
	k.clock.Advance(47 * time.Hour)
	k.pull(t, platformTill)
	for _, number := range []string{lost[0], lost[120], lost[249]} {
		if list := k.receiptEvents(t, number); len(list) != 1 {
			t.Errorf("%s: %v", number, list)
		}
	}
	if list := k.receiptEvents(t, tooOld); len(list) != 0 {
		t.Errorf("the provider lists no payment of 49 hours ago: %v", list)
	}
}

func TestPull_ARefusedShortcodeIsRegisteredAgain(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.clock.Advance(11 * time.Minute)
	k.pull(t, platformTill)
	lost := k.payLost(t, shortcode, 700)
	k.sim.ForgetPulls()
	k.clock.Advance(11 * time.Minute)
	k.pull(t, platformTill) // refused: the provider does not know the shortcode any more
	if list := k.receiptEvents(t, lost); len(list) != 0 {
		t.Fatalf("refused: %v", list)
	}
	families, err := k.metrics.Gather()
	if err != nil || len(families) != 1 {
		t.Fatal(families, err)
	}
	for _, one := range families[0].GetMetric() {
		what, n := one.GetLabel()[0].GetValue(), one.GetCounter().GetValue()
		if want := map[string]float64{"list": 1, "registration": 0}[what]; n != want {
			t.Errorf("%v refusals of %s are counted", n, what)
		}
	}
	k.pull(t, platformTill)
	if list := k.receiptEvents(t, lost); len(list) != 1 {
		t.Errorf("after the new registration: %v", list)
	}
}

// Nothing is asked for a shortcode that neither the platform nor the organization has.
func TestPull_AsksForNoShortcodeOfSomebodyElse(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	lost := k.payLost(t, "600777", 900)
	k.clock.Advance(11 * time.Minute)
	k.pull(t, commands.PullTill{OrgID: k.org, Environment: commands.EnvironmentSandbox, Shortcode: "600777"})
	k.pull(t, commands.PullTill{Environment: commands.EnvironmentSandbox, Shortcode: "600777"})
	if list := k.receiptEvents(t, lost); len(list) != 0 {
		t.Errorf("found: %v", list)
	}
}

// A statement that somebody uploaded took the number with another amount; the provider's own list disputes it.
func TestPull_AnotherAmountIsADisputeOnce(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	lost := k.payLost(t, shortcode, 900)
	k.confirmed(t, paid(lost, shortcode, "10000008", 400))
	k.clock.Advance(11 * time.Minute)
	for range 3 {
		k.pull(t, platformTill)
	}
	want := []string{"payments.ReceiptRecorded.v2", "payments.ReceiptDisputed.v2", "payments.ReceiptHeld.v1"}
	if list := k.receiptEvents(t, lost); !slices.Equal(list, want) {
		t.Errorf("events: %v", list)
	}
}

// TestPull_AnOrganizationsOwnPhoneAnswersForItsShortcode, and another one registers it again; the platform's shortcode
// keeps the platform's.
func TestPull_AnOrganizationsOwnPhoneAnswersForItsShortcode(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	for key, of := range map[string]string{"acme": "600777", "platform": shortcode} {
		if err := k.sim.AddCredentials(key, "secret", of, "pass"); err != nil {
			t.Fatal(err)
		}
	}
	credentials := id.New[id.Secret]()
	text := []byte(`{"consumerKey":"acme","consumerSecret":"secret","passkey":"pass"}`)
	if err := k.Vault.Secrets.Put(t.Context(), vault.Secret{
		Ref: credentials, OrgID: k.org, Purpose: commands.GatewayCredentialsPurpose,
	}, text); err != nil {
		t.Fatal(err)
	}
	own := commands.PullTill{OrgID: k.org, Environment: commands.EnvironmentSandbox, Shortcode: "600777"}
	names := func(numbers ...string) {
		t.Helper()
		for range 2 { // the second time it is known
			k.pull(t, own)
			k.pull(t, platformTill)
			k.clock.Advance(11 * time.Minute)
		}
		if got := k.sim.Nominated("600777"); !slices.Equal(got, numbers) {
			t.Errorf("named %v, want %v", got, numbers)
		}
		if got := k.sim.Nominated(shortcode); !slices.Equal(got, []string{"254700000000"}) {
			t.Errorf("for the platform %v", got)
		}
	}
	settle := func(nominated id.Secret) {
		k.execute(t, commands.ConfigureGateway{
			OrgID: k.org, Direct: true, Environment: commands.EnvironmentSandbox, Shortcode: "600777",
			CredentialsRef: credentials, NominatedRef: nominated,
		})
		k.execute(t, commands.RegisterGateway{
			OrgID: k.org, Environment: commands.EnvironmentSandbox, Shortcode: "600777", CredentialsRef: credentials,
		})
	}
	number := func(text string) id.Secret {
		ref := id.New[id.Secret]()
		if err := k.Vault.Secrets.Put(t.Context(), vault.Secret{
			Ref: ref, OrgID: k.org, Purpose: commands.NominatedNumberPurpose,
		}, []byte(text)); err != nil {
			t.Fatal(err)
		}
		return ref
	}
	settle(id.Secret{})
	names("254700000000")
	settle(number("+254711222333"))
	names("254700000000", "254711222333")
	settle(number("+254711222444"))
	names("254700000000", "254711222333", "254711222444")
	settle(id.Secret{})
	names("254700000000", "254711222333", "254711222444", "254700000000")
}
