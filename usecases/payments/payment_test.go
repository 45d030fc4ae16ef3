package paymentscases_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/payments"
)

// want is a prompt for Amina on her own phone.
func (k *kit) want(amount usecases.Figure) paymentscases.PromptInput {
	return paymentscases.PromptInput{SubscriberID: k.amina, Amount: amount}
}

// begun has the events by which an attempt began: one, or none when it was refused.
func (k *kit) begun(t *testing.T, payment id.Payment) []events.PaymentInitiated {
	t.Helper()
	return recorded[events.PaymentInitiated](t, k, commands.PaymentCategory, payment.String())
}

// open has the prompts that Amina's account has reserved.
func (k *kit) open(t *testing.T) map[id.Payment]billing.Prompt {
	t.Helper()
	a, _, err := bus.LoadOwned[billing.Account](t.Context(), k.Bus, k.org, k.amina)
	if err != nil && failure.KindOf(err) != failure.NotFound {
		t.Fatal(err)
	}
	return a.Prompts
}

// named records the provider's id of an attempt.
func (k *kit) named(t *testing.T, payment id.Payment) {
	t.Helper()
	k.run(t, commands.BeginSubmission{PaymentID: payment})
	k.run(t, commands.AcceptPrompt{PaymentID: payment, CheckoutRequestID: "ws_" + payment.String()})
}

func TestInitiate_ReservesOnTheAccountAndBeginsTheAttempt(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	pending, err := k.prompts.Initiate(t.Context(), coretest.Keyed(k.org), k.want("1499.2"))
	if err != nil || pending.Amount != money.Major(1500, money.KES) || !pending.Asked {
		t.Fatalf("%+v, %v", pending, err)
	}
	list := k.begun(t, pending.PaymentID)
	if len(list) != 1 {
		t.Fatalf("begun %d times", len(list))
	}
	e := list[0]
	if e.Phone.Reveal() != "254712000000" || e.Shortcode != platformShortcode || e.Direct ||
		!e.CredentialsRef.IsZero() ||
		e.Environment != commands.EnvironmentSandbox || e.OrgID != k.org {
		t.Errorf("begun as %+v", e)
	}
	if _, open := k.open(t)[pending.PaymentID]; !open {
		t.Error("nothing is reserved")
	}
}

func TestInitiate_TheGatewayIsChosenFromTheLog(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	direct := paymentscases.GatewayInput{
		Direct: true, Shortcode: "600777", ConsumerKey: "k", ConsumerSecret: "s", Passkey: "p",
		Environment: commands.EnvironmentProduction,
	}
	shortcode := func(amount usecases.Figure) events.PaymentInitiated {
		t.Helper()
		k.clock.Advance(time.Hour) // resets the limit of the phone
		pending, err := k.prompts.Initiate(t.Context(), coretest.Keyed(k.org), k.want(amount))
		if err != nil {
			t.Fatal(err)
		}
		return k.begun(t, pending.PaymentID)[0]
	}
	inactive := func(amount usecases.Figure, when string) {
		t.Helper()
		k.clock.Advance(time.Hour)
		_, err := k.prompts.Initiate(t.Context(), coretest.Keyed(k.org), k.want(amount))
		if failure.CodeOf(err) != "payment_gateway_inactive" || failure.KindOf(err) != failure.Unavailable {
			t.Errorf("%s customers are asked on another shortcode: %v", when, err)
		}
	}
	if e := shortcode("1"); e.Direct || e.Shortcode != platformShortcode {
		t.Errorf("before any settings: %+v", e)
	}
	if _, err := k.gateways.Configure(t.Context(), coretest.Keyed(k.org), direct); err != nil {
		t.Fatal(err)
	}
	inactive("2", "before the registration")
	k.run(t, commands.FailGatewayRegistration{
		OrgID: k.org, Environment: direct.Environment, Shortcode: "600777", Error: "Bad credentials",
		CredentialsRef: k.gateway(t, k.org).Credentials,
	})
	inactive("2", "after a failed registration")
	ref := k.gateway(t, k.org).Credentials
	k.run(t, commands.RegisterGateway{
		OrgID: k.org, Environment: direct.Environment, Shortcode: "600777", CredentialsRef: ref,
	})
	if e := shortcode("2"); !e.Direct || e.Shortcode != "600777" || e.CredentialsRef != ref ||
		e.Environment != commands.EnvironmentProduction {
		t.Errorf("at once after the registration: %+v", e)
	}
	direct.ConsumerSecret = secrets.Text("another")
	if _, err := k.gateways.Configure(t.Context(), coretest.Keyed(k.org), direct); err != nil {
		t.Fatal(err)
	}
	inactive("3", "at once after its end")
	if _, err := k.gateways.Configure(t.Context(), coretest.Keyed(k.org), paymentscases.GatewayInput{}); err != nil {
		t.Fatal(err)
	}
	if e := shortcode("4"); e.Direct || e.Shortcode != platformShortcode {
		t.Errorf("centralized again: %+v", e)
	}
	k.prompts.Platform.Shortcode = ""
	_, err := k.prompts.Initiate(t.Context(), coretest.Keyed(k.org), k.want("4"))
	coretest.Refused(t, "no gateway", err, "payment_gateway_missing")
}

func TestInitiate_WhatIsRefusedReservesAndCountsNothing(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	strange := k.want("10")
	strange.Phone, strange.Customer = personal.Of("0733000000"), &paymentscases.Customer{}
	unknown := k.want("10")
	unknown.InvoiceID = id.New[id.Invoice]()
	for code, in := range map[string]paymentscases.PromptInput{
		"subscriber_not_found":   {SubscriberID: k.brian, Amount: "10"},
		"phone_not_yours":        strange,
		"currency_not_supported": {SubscriberID: k.dollar, Amount: "10"},
		"invoice_not_found":      unknown,
	} {
		_, err := k.prompts.Initiate(t.Context(), coretest.Keyed(k.org), in)
		coretest.Refused(t, code, err, code)
	}
	for _, amount := range []usecases.Figure{"0", "", "-1", "1e3", "250001", "ten"} {
		_, err := k.prompts.Initiate(t.Context(), coretest.Keyed(k.org), k.want(amount))
		coretest.Refused(t, "amount "+string(amount), err, "invalid_input")
	}
	k.readiness = failure.NewUnavailable("provider_unavailable", "Later.", time.Second, nil)
	_, err := k.prompts.Initiate(t.Context(), coretest.Keyed(k.org), k.want("10"))
	coretest.Refused(t, "no provider", err, "provider_unavailable")
	k.readiness = nil
	if n := len(k.open(t)); n != 0 {
		t.Fatalf("%d reserved", n)
	}
	if _, err := k.prompts.Initiate(t.Context(), coretest.Keyed(k.org), k.want("10")); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		_, err := k.prompts.Initiate(t.Context(), coretest.Keyed(k.org), k.want("10"))
		coretest.Refused(t, "the same amount", err, "payment_in_progress")
	}
	for _, amount := range []usecases.Figure{"20", "30"} { // the limit is three
		_, err := k.prompts.Initiate(t.Context(), coretest.Keyed(k.org), k.want(amount))
		coretest.Refused(t, "within the limit", err, "")
	}
}

func TestInitiate_OverTheLimitTheReservationIsGivenBack(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.prompts.Limit = 1
	if _, err := k.prompts.Initiate(t.Context(), coretest.Keyed(k.org), k.want("10")); err != nil {
		t.Fatal(err)
	}
	over := coretest.Keyed(k.org)
	var refused *failure.Error
	for range 3 {
		_, err := k.prompts.Initiate(t.Context(), over, k.want("20"))
		coretest.Refused(t, "over the limit", err, "too_many_prompts")
		errors.As(err, &refused)
	}
	if n := len(k.open(t)); n != 1 {
		t.Errorf("%d reserved", n)
	}
	k.clock.Advance(refused.RetryAfter)
	_, err := k.prompts.Initiate(t.Context(), over, k.want("20"))
	coretest.Refused(t, "the same again, after the time that was told", err, "")
}

func TestInitiate_ARepeatGoesOnWhereTheFirstTryWasCutOff(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	asked := coretest.Keyed(k.org)
	ctx, die := context.WithCancel(t.Context())
	limiter := k.prompts.Limiter
	k.prompts.Limiter = cut{die}
	if _, err := k.prompts.Initiate(ctx, asked, k.want("10")); !errors.Is(err, errCut) {
		t.Fatalf("the first try: %v", err)
	}
	k.prompts.Limiter = limiter
	if n := len(k.open(t)); n != 1 {
		t.Fatalf("%d reserved after the first try", n)
	}
	second, err := k.prompts.Initiate(t.Context(), asked, k.want("10"))
	if err != nil {
		t.Fatal(err)
	}
	third, err := k.prompts.Initiate(t.Context(), asked, k.want("10"))
	if err != nil || third != second {
		t.Errorf("a repeat after the end: %+v, %v, want %+v", third, err, second)
	}
	if n := len(k.begun(t, second.PaymentID)); n != 1 || len(k.open(t)) != 1 {
		t.Errorf("begun %d times, %d reserved", n, len(k.open(t)))
	}
}

func TestInitiate_AtOnceOneOfAnAmountGoesOn(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.prompts.Limit = 100
	same := coretest.Keyed(k.org)
	if failed := atOnce(4, func(int) error {
		_, err := k.prompts.Initiate(t.Context(), same, k.want("10"))
		return err
	}); failed != nil {
		t.Errorf("the same request: %v", failed)
	}
	if n := len(k.begun(t, usecases.NewID[id.Payment](same, "payment"))); n != 1 {
		t.Errorf("begun %d times", n)
	}
	failed := atOnce(4, func(int) error {
		_, err := k.prompts.Initiate(t.Context(), coretest.Keyed(k.org), k.want("20"))
		return err
	})
	if !slices.Equal(failed, slices.Repeat([]string{"payment_in_progress"}, 3)) {
		t.Errorf("four requests for one amount: %v", failed)
	}
	if n := len(k.open(t)); n != 2 {
		t.Errorf("%d reserved", n)
	}
}

func TestCheck_AsksWhereThereIsSomethingToAsk(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	pending, err := k.prompts.Initiate(t.Context(), coretest.Keyed(k.org), k.want("10"))
	if err != nil {
		t.Fatal(err)
	}
	payment := pending.PaymentID
	check := func(asked usecases.Asked, payment id.Payment, code string, wantAsked bool) {
		t.Helper()
		got, err := k.prompts.Check(t.Context(), asked, payment)
		coretest.Refused(t, "check", err, code)
		if got.Asked != wantAsked {
			t.Errorf("asked: %v", got.Asked)
		}
	}
	k.readiness = failure.NewUnavailable("provider_unavailable", "Later.", time.Second, nil)
	check(coretest.Keyed(k.org), payment, "", false) // its id at the provider is not known
	k.named(t, payment)
	check(coretest.Keyed(k.org), payment, "provider_unavailable", false)
	k.readiness = nil
	asked := coretest.Keyed(k.org)
	check(asked, payment, "", true)
	check(asked, payment, "", false)
	if n := len(recorded[events.PromptCheckRequested](t, k, commands.PaymentCategory, payment.String())); n != 1 {
		t.Errorf("a repeat asked again: %d", n)
	}
	check(coretest.Keyed(k.other), payment, "payment_not_found", false)
	check(coretest.Keyed(k.org), id.New[id.Payment](), "payment_not_found", false)
	k.run(t, commands.SettlePayment{
		PaymentID: payment, ReceiptID: commands.ReceiptID(commands.EnvironmentSandbox, "SJK4X7Q2A0"),
		ReceiptNumber: "SJK4X7Q2A0",
		Amount:        money.Major(10, money.KES), By: commands.ByCallback,
	})
	check(coretest.Keyed(k.org), payment, "", false)
	cash, err := k.receipts.RecordCash(t.Context(), coretest.Keyed(k.org), paymentscases.CashInput{
		SubscriberID: k.amina, Amount: "5", Reference: "Book 1",
	})
	if err != nil {
		t.Fatal(err)
	}
	check(coretest.Keyed(k.org), id.As[id.Payment](cash.ReceiptID), "", false)
	check(coretest.Keyed(k.other), id.As[id.Payment](cash.ReceiptID), "payment_not_found", false)
	check(coretest.Keyed(k.org), id.As[id.Payment](k.held(t, "SJK4X7Q2A1", k.org)), "payment_not_found", false)
}

func TestAwaitAnswer_GivesTheRowOnceTheProviderAnswered(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.show(t)
	pending, err := k.prompts.Initiate(t.Context(), coretest.Keyed(k.org), k.want("10"))
	if err != nil {
		t.Fatal(err)
	}
	k.named(t, pending.PaymentID)
	row, err := k.prompts.AwaitAnswer(t.Context(), pending)
	if err != nil || row == nil || row.CheckoutRequestID == nil || row.Stage != "awaiting" {
		t.Fatalf("prompt: %+v, %v", row, err)
	}
	pending, err = k.prompts.Check(t.Context(), coretest.Keyed(k.org), pending.PaymentID)
	if err != nil {
		t.Fatal(err)
	}
	k.run(t, commands.RecordVerdict{PaymentID: pending.PaymentID, Code: "1032", By: commands.ByQuery})
	row, err = k.prompts.AwaitAnswer(t.Context(), pending)
	if err != nil || row == nil || row.Stage != "cancelled" {
		t.Fatalf("check: %+v, %v", row, err)
	}
	gone, die := context.WithCancel(t.Context())
	die()
	if _, err := k.prompts.AwaitAnswer(gone, pending); err == nil {
		t.Error("a caller that went away is waited for")
	}
}
