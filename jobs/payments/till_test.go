package paymentsjobs_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/jobs/payments"
	"github.com/lastmile-isp/lastmile/projections/payments"
)

// token issues the token of an organization's shortcode in an environment, and gives its owner.
func (k *kit) token(t *testing.T, org id.Organization, environment, shortcode string) vault.CallbackOwner {
	t.Helper()
	urls, err := paymentsjobs.Addresses{Prompt: "http://127.0.0.1:9/stk", Tokens: k.Vault.CallbackSecrets}.OfPaybill(
		t.Context(), org, environment, shortcode)
	if err != nil {
		t.Fatal(err)
	}
	token := urls.Confirmation[strings.LastIndex(urls.Confirmation, "/")+1:]
	owner, err := k.Vault.CallbackSecrets.Lookup(t.Context(), secrets.Text(token))
	if err != nil {
		t.Fatal(err)
	}
	return owner
}

// arrived handles a confirmation that came with a token.
func (k *kit) arrived(t *testing.T, at vault.CallbackOwner, body []byte) {
	t.Helper()
	k.stored(t, vault.Callback{
		Kind: paymentsjobs.CallbackConfirmation, Verified: true, Ref: at.Ref, Shortcode: at.Shortcode, Body: body,
	})
	_, _ = k.workers.HandleDue(t.Context(), nil)
	k.WaitForAll(t, k.views, paymentsviews.ReceiptsName)
}

// place searches the payer of a receipt and gives the receipt as it is then.
func (k *kit) place(t *testing.T, r id.Receipt) payments.Receipt {
	t.Helper()
	if err := k.workers.FindPayer(t.Context(), commands.FindPayer{ReceiptID: r}, newCause()); err != nil {
		t.Fatal(err)
	}
	return k.receipt(t, r)
}

// The two environments, and the number that two organizations have: one in each.
const (
	here   = commands.EnvironmentSandbox // the environment of the platform in these tests
	there  = commands.EnvironmentProduction
	number = "600777"
)

func TestBareAddress_MoneyIsThatOfThePlatformsEnvironment(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	stranger := id.New[id.Organization]()
	k.direct(t, k.org, here, number)
	k.direct(t, stranger, there, number)
	keys := id.New[id.Secret]()
	for _, c := range []struct {
		name    string
		receipt string
		now     commands.ConfigureGateway
		owner   id.Organization
		waits   bool // in suspense, for a person of the platform
	}{
		{"the owner uses it", "SJK4X7Q2P1", commands.ConfigureGateway{}, k.org, false},
		{"between two credentials", "SJK4X7Q2P2", commands.ConfigureGateway{
			OrgID: k.org, Direct: true, Environment: here, Shortcode: number, CredentialsRef: keys,
		}, k.org, false},
		{"given up", "SJK4X7Q2P3", commands.ConfigureGateway{OrgID: k.org, Environment: here}, id.Organization{}, true},
		{"wanted again, without a proof", "SJK4X7Q2P4", commands.ConfigureGateway{
			OrgID: k.org, Direct: true, Environment: here, Shortcode: number, CredentialsRef: keys,
		}, id.Organization{}, true},
	} {
		if !c.now.OrgID.IsZero() {
			k.execute(t, c.now)
		}
		k.confirmed(t, paid(c.receipt, number, "x", 1500))
		if r := k.receipt(t, commands.ReceiptID(there, c.receipt)); r.Standing != payments.StandingNone {
			t.Errorf("%s: it is money of the other environment: %+v", c.name, r)
		}
		r := k.receipt(t, commands.ReceiptID(here, c.receipt))
		if r.Org != c.owner || r.Amount != money.Major(1500, money.KES) {
			t.Errorf("%s: %+v", c.name, r)
			continue
		}
		if c.waits {
			if r = k.place(t, r.ID); r.Standing != payments.StandingHeld || !r.Org.IsZero() {
				t.Errorf("%s: it does not wait for the platform: %+v", c.name, r)
			}
		}
	}
}

func TestBareAddress_ANumberOfTheOtherEnvironmentAloneIsNotServed(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	stranger := id.New[id.Organization]()
	k.direct(t, stranger, there, number)
	k.confirmed(t, paid("SJK4X7Q2P1", number, "x", 1500))
	if n := k.receipts(t); n != 0 {
		t.Errorf("%d receipts at the bare address", n)
	}
	k.arrived(t, k.token(t, stranger, there, number), paid("SJK4X7Q2P1", number, "x", 1500))
	if r := k.receipt(t, commands.ReceiptID(there, "SJK4X7Q2P1")); r.Org != stranger {
		t.Errorf("at its own address: %+v", r)
	}
}

func TestTokenOfAShortcode_ReachesItsEnvironmentAlone(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.direct(t, k.org, there, number)
	play := k.token(t, k.org, here, number)
	k.direct(t, k.org, here, number) // the same organization plays with its number now
	if real := k.token(t, k.org, there, number); play.Ref == real.Ref {
		t.Fatal("both environments have one address")
	}
	k.arrived(t, play, paid("SJK4X7Q2P1", number, "x", 1500))
	k.arrived(t, k.token(t, k.org, there, number), paid("SJK4X7Q2P1", number, "x", 900))
	for environment, amount := range map[string]int64{here: 1500, there: 900} {
		r := k.receipt(t, commands.ReceiptID(environment, "SJK4X7Q2P1"))
		if r.Org != k.org || r.Amount != money.Major(amount, money.KES) || r.Disputed {
			t.Errorf("%s: %+v", environment, r)
		}
	}
}

func TestTokenOfAShortcode_FromBeforeTokensHadAnEnvironmentStillServes(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.direct(t, k.org, there, number)
	old := id.Derive[id.Shortcode]("shortcode", k.org.String(), number).UUID()
	if _, err := k.Vault.CallbackSecrets.Issue(t.Context(), vault.CallbackOwner{
		Kind: paymentsjobs.TokenPaybill, Ref: old, OrgID: k.org, Shortcode: number,
	}); err != nil {
		t.Fatal(err)
	}
	k.arrived(t, vault.CallbackOwner{Ref: old, Shortcode: number}, paid("SJK4X7Q2P1", number, "x", 1500))
	if r := k.receipt(t, commands.ReceiptID(there, "SJK4X7Q2P1")); r.Org != k.org {
		t.Errorf("receipt %+v", r)
	}
}

func TestPaybill_MoneyOfAnotherTillSettlesNoPrompt(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	stranger, victims := id.New[id.Organization](), id.New[id.Payment]()
	k.direct(t, k.org, here, number)
	k.direct(t, stranger, there, number)
	k.execute(t, commands.InitiatePayment{
		PaymentID: victims, OrgID: k.org, SubscriberID: k.sub, Amount: money.Major(1500, money.KES), Direct: true,
		Phone: personal.Of("254712345678"), Environment: here, Shortcode: number, AccountReference: "ACME-0007",
		CredentialsRef: id.New[id.Secret](),
	})
	k.arrived(t, k.token(t, stranger, there, number), paid("SJK4X7Q2P1", number, "ACME-0007", 1500))
	foreign := commands.ReceiptID(there, "SJK4X7Q2P1")
	if r := k.place(t, foreign); r.Org != stranger || !r.Payment.IsZero() || r.Standing != payments.StandingHeld {
		t.Errorf("the stranger's money: %+v", r)
	}
	if types := k.history(t, commands.PaymentCategory, id.Any(victims)); len(types) != 1 {
		t.Errorf("the prompt was settled by the stranger's money: %v", types)
	}
}

func TestBareAddress_APromptOfTheOtherEnvironmentIsOnlyAskedAbout(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	p := id.New[id.Payment]()
	k.execute(t, commands.InitiatePayment{
		PaymentID: p, OrgID: k.org, SubscriberID: k.sub, Amount: money.Major(1500, money.KES), Direct: true,
		Phone: personal.Of("254712345678"), Environment: there, Shortcode: number, AccountReference: "ACME-0007",
		CredentialsRef: id.New[id.Secret](),
	})
	k.execute(t, commands.BeginSubmission{PaymentID: p})
	k.execute(t, commands.AcceptPrompt{PaymentID: p, CheckoutRequestID: "ws_CO_there"})
	body := success("ws_CO_there", "SJK4X7Q2P1")
	k.stored(t, vault.Callback{Kind: paymentsjobs.CallbackPrompt, Verified: true, Body: body})
	_, _ = k.workers.HandleDue(t.Context(), nil)
	if r := k.receipt(t, commands.ReceiptID(there, "SJK4X7Q2P1")); r.Standing != payments.StandingNone {
		t.Errorf("a bare address made money of the other environment: %+v", r)
	}
	k.stored(t, vault.Callback{
		Kind: paymentsjobs.CallbackPrompt, Verified: true, Ref: p.UUID(), Shortcode: number, Body: body,
	})
	_, _ = k.workers.HandleDue(t.Context(), nil)
	if r := k.receipt(t, commands.ReceiptID(there, "SJK4X7Q2P1")); r.Org != k.org {
		t.Errorf("at its own address: %+v", r)
	}
}

func TestUnprovenShortcode_ItsTokenReachesNobodysCustomers(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	stranger := id.New[id.Organization]()
	for environment, receipt := range map[string]string{here: "SJK4X7Q2P1", there: "SJK4X7Q2P2"} {
		at := k.token(t, stranger, environment, "600888") // the provider has the address, but no proof was recorded
		k.arrived(t, at, paid(receipt, "600888", "x", 1500))
		if n := k.receipts(t); n != 0 {
			t.Errorf("%d receipts while the registration may still be recorded", n)
		}
		k.clock.Advance(3 * time.Minute)
		_, _ = k.workers.HandleDue(t.Context(), nil)
		k.WaitForAll(t, k.views, paymentsviews.ReceiptsName)
		r := k.place(t, commands.ReceiptID(environment, receipt))
		if r.Standing != payments.StandingHeld || !r.Org.IsZero() {
			t.Errorf("%s: %+v", environment, r)
		}
	}
}

func TestValidation_AtABareAddressIsForThePlatformsEnvironment(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	receiver := paymentsjobs.Receiver{Workers: k.workers, Inbox: paymentsjobs.NewInbox(k.workers), TrustBare: true}
	accepts := func(state string, want bool) {
		t.Helper()
		answer, err := receiver.Receive(t.Context(), paymentsjobs.CallbackValidation, "", "127.0.0.1",
			paid("SJK4X7Q2P1", number, "x", 1500), func(string) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(answer)
		if got := strings.Contains(string(text), "Accepted"); err != nil || got != want {
			t.Errorf("%s: answered %s, %v", state, text, err)
		}
	}
	k.direct(t, id.New[id.Organization](), there, number)
	accepts("only a stranger has it, in the other environment", false)
	k.direct(t, k.org, here, number)
	accepts("the owner uses it", true)
	k.execute(t, commands.ConfigureGateway{
		OrgID: k.org, Direct: true, Environment: here, Shortcode: number, CredentialsRef: id.New[id.Secret](),
	})
	accepts("between two credentials", true)
	k.execute(t, commands.ConfigureGateway{OrgID: k.org, Environment: here})
	accepts("given up", false)
}

func TestWebhookLimit_NobodyUsesUpThatOfAnother(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	stranger := id.New[id.Organization]()
	k.direct(t, k.org, here, number)
	k.direct(t, stranger, there, number)
	trusting := paymentsjobs.Receiver{Workers: k.workers, Inbox: paymentsjobs.NewInbox(k.workers), TrustBare: true}
	distrusting := trusting
	distrusting.TrustBare = false
	counted := map[string]string{} // the callback that was counted, by the key that it was counted under
	receive := func(name string, r paymentsjobs.Receiver, kind, token string, body []byte) {
		t.Helper()
		_, err := r.Receive(t.Context(), kind, token, "127.0.0.1", body, func(gateway string) error {
			if before, taken := counted[gateway]; taken {
				t.Errorf("%s and %s share the limit of %q", name, before, gateway)
			}
			counted[gateway] = name
			return nil
		})
		if err != nil {
			t.Error(name, err)
		}
	}
	body := paid("SJK4X7Q2P1", number, "x", 1500)
	receive("the owner's money", trusting, paymentsjobs.CallbackConfirmation, "", body)
	receive("anybody's claim", distrusting, paymentsjobs.CallbackConfirmation, "", body)
	receive("the stranger's money", trusting, paymentsjobs.CallbackConfirmation,
		k.secretOf(t, vault.CallbackOwner{
			Kind: paymentsjobs.TokenPaybill, Ref: uuid.New(), OrgID: stranger, Shortcode: number,
		}), body)
	for _, org := range []id.Organization{k.org, stranger} { // both prompt on the shared paybill
		receive("a prompt of "+org.String(), trusting, paymentsjobs.CallbackPrompt, k.secretOf(t, vault.CallbackOwner{
			Kind: paymentsjobs.TokenPrompt, Ref: uuid.New(), OrgID: org, Shortcode: shortcode,
		}), success("ws_CO_1", "SJK4X7Q2P2"))
	}
}

// secretOf issues a token and gives it in clear.
func (k *kit) secretOf(t *testing.T, owner vault.CallbackOwner) string {
	t.Helper()
	token, err := k.Vault.CallbackSecrets.Issue(t.Context(), owner)
	if err != nil {
		t.Fatal(err)
	}
	return token.Reveal()
}
